-- Versions that retention dropped and that can still be read as of a time. Their tombstones stand in
-- `dropped_snapshots` as ever. Empty: no history was written yet.
CREATE TABLE past_versions (
    -- That of the snapshot.
    number      INTEGER NOT NULL PRIMARY KEY,
    dataset     TEXT NOT NULL REFERENCES datasets (name),
    version     INTEGER NOT NULL,
    id          TEXT NOT NULL,
    created_at  INTEGER NOT NULL,
    -- The snapshot as JSON, and the digest of its rows.
    snapshot    TEXT NOT NULL,
    digest      TEXT NOT NULL,
    -- Unit of the distances of its dates, as the preview facts have it, as JSON.
    axis        TEXT NOT NULL,
    -- Null: the rows are made again from the next version and what changed until then.
    file_sha256 TEXT,
    file_bytes  INTEGER
) STRICT;

CREATE INDEX past_versions_of_dataset ON past_versions (dataset, version);

-- Changes that no retained snapshot needs, and versions of the past do.
CREATE TABLE past_changes (
    -- Of the newer snapshot.
    number      INTEGER NOT NULL PRIMARY KEY,
    dataset     TEXT NOT NULL REFERENCES datasets (name),
    -- Of the older one.
    from_number INTEGER NOT NULL,
    version     INTEGER NOT NULL,
    file_sha256 TEXT NOT NULL,
    file_bytes  INTEGER NOT NULL CHECK (file_bytes >= 0),
    -- The changes as JSON.
    changes     TEXT NOT NULL
) STRICT;

CREATE INDEX past_changes_of_dataset ON past_changes (dataset, version);
