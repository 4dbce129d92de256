-- What previews of a snapshot state, as JSON of 64 KiB at most. A snapshot that an older binary published has no row until
-- `yearbook migrate` runs.
CREATE TABLE preview_facts (
    snapshot BIGINT NOT NULL PRIMARY KEY REFERENCES snapshots (number) ON DELETE CASCADE,
    -- How they were computed: `migrate` replaces those of a smaller number.
    version  BIGINT NOT NULL,
    -- The digest of the whole result, as the facts have it.
    digest   TEXT NOT NULL,
    facts    TEXT NOT NULL
);

-- Rows of a set of changes by kind. Null where an older binary published it, until `yearbook migrate` runs.
ALTER TABLE changes ADD COLUMN inserted BIGINT;
ALTER TABLE changes ADD COLUMN deleted BIGINT;
ALTER TABLE changes ADD COLUMN updated BIGINT;
