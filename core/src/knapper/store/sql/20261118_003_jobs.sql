-- When each periodic job runs next, who runs it now, and how its runs went. vault_id is '' for the whole server.

CREATE TABLE job_schedule (
    vault_id             TEXT NOT NULL DEFAULT '',
    name                 TEXT NOT NULL,
    every_seconds        REAL NOT NULL,
    next_run_at          REAL NOT NULL,
    last_run_at          REAL,
    last_success_at      REAL,
    last_error           TEXT,
    consecutive_failures INTEGER NOT NULL DEFAULT 0,
    lease_owner          TEXT,
    lease_expires_at     REAL,
    PRIMARY KEY (vault_id, name)
);

CREATE TABLE job_runs (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    vault_id    TEXT NOT NULL DEFAULT '',
    name        TEXT NOT NULL,
    lease_owner TEXT NOT NULL,
    started_at  REAL NOT NULL,
    finished_at REAL,
    ok          INTEGER,
    detail      TEXT
);
CREATE INDEX job_runs_name ON job_runs (vault_id, name, id);
CREATE INDEX job_runs_finished ON job_runs (finished_at);
