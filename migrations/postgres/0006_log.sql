-- The log of what was published, in the order in which it became visible. Rows are only ever added: what hosts sign
-- covers every row before. Each is added in the transaction that makes its version visible.
CREATE TABLE log_entries (
    -- Dense, from 0.
    entry        BIGINT NOT NULL PRIMARY KEY CHECK (entry >= 0),
    dataset      TEXT COLLATE "C" NOT NULL,
    version      BIGINT NOT NULL,
    -- Id of the snapshot, and digest of its rows.
    snapshot     TEXT COLLATE "C" NOT NULL,
    digest       TEXT NOT NULL,
    committed_at BIGINT NOT NULL,
    -- Time from which everybody saw it.
    released_at  BIGINT NOT NULL
);

CREATE UNIQUE INDEX log_entries_by_version ON log_entries (dataset, version);

CREATE INDEX log_entries_by_snapshot ON log_entries (dataset, snapshot, entry);

-- Hashes of the tree over the log's entries: row n of level l is that of entries n * 256^l to (n + 1) * 256^l. They
-- follow from the entries, and any host adds those that are missing. Level 0 is not stored.
CREATE TABLE log_hashes (
    level  BIGINT NOT NULL CHECK (level > 0),
    number BIGINT NOT NULL CHECK (number >= 0),
    hash   BYTEA NOT NULL CHECK (length(hash) = 32),
    PRIMARY KEY (level, number)
);

-- Versions that were published before there was a log, as far as they can still be read.
INSERT INTO log_entries (entry, dataset, version, snapshot, digest, committed_at, released_at)
SELECT ROW_NUMBER() OVER (ORDER BY created_at, number) - 1, dataset, version, id, digest, created_at, created_at
FROM (
    SELECT s.number, s.dataset, s.version, s.id, f.digest, s.created_at
    FROM snapshots s JOIN preview_facts f ON f.snapshot = s.number
    UNION ALL
    SELECT p.number, p.dataset, p.version, p.id, p.digest, p.created_at FROM past_versions p
    WHERE NOT EXISTS (SELECT 1 FROM snapshots s WHERE s.dataset = p.dataset AND s.version = p.version)
) AS known;
