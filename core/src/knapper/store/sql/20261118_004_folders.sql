-- The folder that a vault's id stands for: what is kept of its notes must not be put into another vault.
CREATE TABLE vault_folders (
    vault_id TEXT PRIMARY KEY NOT NULL,
    folder   BLOB NOT NULL
) WITHOUT ROWID;
