-- What previews of a snapshot state, as JSON of 64 KiB at most. A snapshot that an older binary published has no row until
-- `yearbook migrate` runs.
CREATE TABLE preview_facts (
    snapshot INTEGER NOT NULL PRIMARY KEY REFERENCES snapshots (number) ON DELETE CASCADE,
    -- How they were computed: `migrate` replaces those of a smaller number.
    version  INTEGER NOT NULL,
    -- The digest of the whole result, as the facts have it.
    digest   TEXT NOT NULL,
    facts    TEXT NOT NULL
) STRICT;

-- Rows of a set of changes by kind. Null where an older binary published it, until `yearbook migrate` runs.
ALTER TABLE changes ADD COLUMN inserted INTEGER;
ALTER TABLE changes ADD COLUMN deleted INTEGER;
ALTER TABLE changes ADD COLUMN updated INTEGER;
