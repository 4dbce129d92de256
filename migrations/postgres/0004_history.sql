-- Versions that retention dropped and that can still be read as of a time. Their tombstones stand in
-- `dropped_snapshots` as ever. Empty: no history was written yet.
CREATE TABLE past_versions (
    -- That of the snapshot.
    number      BIGINT NOT NULL PRIMARY KEY,
    dataset     TEXT COLLATE "C" NOT NULL REFERENCES datasets (name),
    version     BIGINT NOT NULL,
    id          TEXT COLLATE "C" NOT NULL,
    created_at  BIGINT NOT NULL,
    -- The snapshot as JSON, and the digest of its rows.
    snapshot    TEXT NOT NULL,
    digest      TEXT NOT NULL,
    -- Unit of the distances of its dates, as the preview facts have it, as JSON.
    axis        TEXT NOT NULL,
    -- Null: the rows are made again from the next version and what changed until then.
    file_sha256 TEXT COLLATE "C",
    file_bytes  BIGINT
);

CREATE INDEX past_versions_of_dataset ON past_versions (dataset, version);

-- Changes that no retained snapshot needs, and versions of the past do.
CREATE TABLE past_changes (
    -- Of the newer snapshot.
    number      BIGINT NOT NULL PRIMARY KEY,
    dataset     TEXT COLLATE "C" NOT NULL REFERENCES datasets (name),
    -- Of the older one.
    from_number BIGINT NOT NULL,
    version     BIGINT NOT NULL,
    file_sha256 TEXT COLLATE "C" NOT NULL,
    file_bytes  BIGINT NOT NULL CHECK (file_bytes >= 0),
    -- The changes as JSON.
    changes     TEXT NOT NULL
);

CREATE INDEX past_changes_of_dataset ON past_changes (dataset, version);
