-- What a call leaves behind: its idempotency key, the confirmations it needed, and its audit row.

CREATE TABLE idempotency_keys (
    vault_id     TEXT NOT NULL,
    key          TEXT NOT NULL,
    claim        TEXT NOT NULL,
    tool         TEXT NOT NULL,
    args_hash    TEXT NOT NULL,
    state        TEXT NOT NULL CHECK (state IN ('in_flight', 'effect_committed', 'completed', 'indeterminate')),
    started_at   REAL NOT NULL,
    completed_at REAL,
    result       BLOB,
    result_size  INTEGER,
    expires_at   REAL NOT NULL,
    PRIMARY KEY (vault_id, key)
);
CREATE INDEX idempotency_keys_expiry ON idempotency_keys (expires_at);

-- One row is one permission. A token is kept only as its SHA-256, so a backup holds nothing that can be spent.
CREATE TABLE confirmations (
    id          TEXT NOT NULL PRIMARY KEY,
    vault_id    TEXT NOT NULL,
    tool        TEXT NOT NULL,
    args_hash   TEXT NOT NULL,
    caller      TEXT NOT NULL,
    change      TEXT NOT NULL,
    diff        TEXT NOT NULL,
    state       TEXT NOT NULL CHECK (state IN ('pending', 'approved', 'denied', 'minted')),
    token_hash  TEXT UNIQUE,
    created_at  REAL NOT NULL,
    decided_at  REAL,
    expires_at  REAL NOT NULL,
    consumed_at REAL
);
CREATE INDEX confirmations_call ON confirmations (vault_id, tool, args_hash, caller);
CREATE INDEX confirmations_expiry ON confirmations (expires_at);

-- vault_id is NULL for events of the server itself.
CREATE TABLE event_log (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    ts          REAL NOT NULL,
    vault_id    TEXT,
    tool        TEXT,
    caller      TEXT,
    session     TEXT,
    duration_us INTEGER,
    result_size INTEGER,
    status      TEXT NOT NULL,
    error_code  TEXT,
    args_hash   TEXT,
    event_type  TEXT NOT NULL
);
CREATE INDEX event_log_ts ON event_log (ts);
CREATE INDEX event_log_tool_ts ON event_log (tool, ts);
