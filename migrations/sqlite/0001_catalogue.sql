-- The catalogue: what is served, who may ask, what they used.
-- Times are milliseconds since the Unix epoch, UTC. Ids are text. Truth values are 0 or 1.
-- Migrations expand first and contract in a later release, so that an older binary keeps working
-- on a newer catalogue while a fleet is being upgraded.

-- One row, moved by every transaction that a running server must notice. Usage does not move it.
CREATE TABLE revision (
    only_row INTEGER NOT NULL PRIMARY KEY CHECK (only_row = 1),
    value    INTEGER NOT NULL
) STRICT;

INSERT INTO revision (only_row, value) VALUES (1, 0);

CREATE TABLE datasets (
    name       TEXT    NOT NULL PRIMARY KEY,
    namespace  TEXT    NOT NULL,
    checked_at INTEGER NOT NULL,
    -- Null while the dataset is served.
    retired_at INTEGER
) STRICT;

-- The retained history of each dataset. The order of history is `number`, never a clock; the
-- highest number of a dataset is current. An id may occur twice when data went back to what it was.
CREATE TABLE snapshots (
    number               INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    dataset              TEXT    NOT NULL REFERENCES datasets (name),
    id                   TEXT    NOT NULL,
    created_at           INTEGER NOT NULL,
    row_count            INTEGER NOT NULL CHECK (row_count >= 0),
    file_sha256          TEXT    NOT NULL,
    file_bytes           INTEGER NOT NULL CHECK (file_bytes >= 0),
    title                TEXT,
    description          TEXT,
    source               TEXT    NOT NULL,
    attribution          TEXT    NOT NULL,
    licence              TEXT    NOT NULL,
    source_url           TEXT,
    source_url_precision TEXT,
    refresh_cadence      TEXT,
    bulk_redistribution  INTEGER NOT NULL CHECK (bulk_redistribution IN (0, 1)),
    layout               TEXT    NOT NULL,
    -- Names of columns, as JSON arrays of text: their order matters.
    primary_key          TEXT    NOT NULL,
    dimensions           TEXT    NOT NULL,
    date_column          TEXT,
    first_date           TEXT,
    last_date            TEXT,
    west                 REAL,
    south                REAL,
    east                 REAL,
    north                REAL
) STRICT;

CREATE INDEX snapshots_of_dataset ON snapshots (dataset, number);

CREATE TABLE columns (
    snapshot    INTEGER NOT NULL REFERENCES snapshots (number) ON DELETE CASCADE,
    position    INTEGER NOT NULL,
    name        TEXT    NOT NULL,
    column_type TEXT    NOT NULL,
    nullable    INTEGER NOT NULL CHECK (nullable IN (0, 1)),
    role        TEXT    NOT NULL,
    unit        TEXT,
    description TEXT,
    few_values  INTEGER NOT NULL CHECK (few_values IN (0, 1)),
    PRIMARY KEY (snapshot, position)
) STRICT, WITHOUT ROWID;

-- Tombstones: a snapshot that was dropped can be told from one that never was.
CREATE TABLE dropped_snapshots (
    dataset    TEXT    NOT NULL REFERENCES datasets (name),
    id         TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    dropped_at INTEGER NOT NULL,
    PRIMARY KEY (dataset, id)
) STRICT, WITHOUT ROWID;

-- Only the SHA-256 of a key is here; the key itself is shown once and forgotten.
CREATE TABLE keys (
    id         TEXT    NOT NULL PRIMARY KEY,
    hash       BLOB    NOT NULL UNIQUE CHECK (length(hash) = 32),
    label      TEXT,
    plan       TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
) STRICT;

-- Charged requests of a key in a calendar month (UTC, `2026-11`).
CREATE TABLE usage (
    key_id TEXT    NOT NULL REFERENCES keys (id),
    month  TEXT    NOT NULL,
    used   INTEGER NOT NULL CHECK (used >= 0),
    PRIMARY KEY (key_id, month)
) STRICT, WITHOUT ROWID;

-- Secrets that every host must share, such as the one that signs cursors.
CREATE TABLE secrets (
    name       TEXT    NOT NULL PRIMARY KEY,
    value      BLOB    NOT NULL CHECK (length(value) = 32),
    created_at INTEGER NOT NULL
) STRICT;

-- Plugin releases known to this catalogue, embedded ones included.
CREATE TABLE plugin_releases (
    kind         TEXT    NOT NULL,
    name         TEXT    NOT NULL,
    digest       TEXT    NOT NULL,
    version      TEXT    NOT NULL,
    bytes        INTEGER NOT NULL CHECK (bytes >= 0),
    installed_by TEXT    NOT NULL,
    installed_at INTEGER NOT NULL,
    state        TEXT    NOT NULL,
    PRIMARY KEY (kind, name, digest)
) STRICT;
