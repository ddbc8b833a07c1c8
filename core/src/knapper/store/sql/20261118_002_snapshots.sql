-- What a file held before each change, and what it held after.

CREATE TABLE snapshot_blobs (
    vault_id TEXT NOT NULL,
    hash     TEXT NOT NULL,
    codec    TEXT NOT NULL CHECK (codec IN ('zlib', 'raw')),
    content  BLOB NOT NULL,
    size     INTEGER NOT NULL,
    PRIMARY KEY (vault_id, hash)
);

-- hash is NULL where there was no file before; after_hash is NULL where there is none after.
-- landed_at stays NULL while it is not known whether the change took place.
CREATE TABLE note_snapshots (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    vault_id   TEXT NOT NULL,
    path       TEXT NOT NULL,
    moved_to   TEXT,
    hash       TEXT,
    size       INTEGER,
    after_hash TEXT,
    landed_at  REAL,
    op         TEXT NOT NULL,
    session    TEXT,
    tool       TEXT,
    created_at REAL NOT NULL,
    FOREIGN KEY (vault_id, hash) REFERENCES snapshot_blobs (vault_id, hash)
);
CREATE INDEX note_snapshots_path ON note_snapshots (vault_id, path, id);
CREATE INDEX note_snapshots_session ON note_snapshots (vault_id, session, id);
CREATE INDEX note_snapshots_hash ON note_snapshots (vault_id, hash);
