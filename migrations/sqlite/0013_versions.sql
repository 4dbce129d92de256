-- Versions: the dense numbers 0, 1, 2 and so on of a dataset's snapshots, for protocols that number the versions of a table. A trigger
-- gives them, so that a host that does not know them gives them too.

-- Versions that the dataset was ever given, and the snapshot that has the last of them.
ALTER TABLE datasets ADD COLUMN versions INTEGER NOT NULL DEFAULT 0;
ALTER TABLE datasets ADD COLUMN newest_id TEXT;

ALTER TABLE snapshots ADD COLUMN version INTEGER;
-- That of the newer snapshot, which may have been dropped.
ALTER TABLE changes ADD COLUMN version INTEGER;

-- Version 0 is the oldest retained snapshot. Snapshots that were dropped between retained ones count: changes lead through them.
WITH numbers AS (
    SELECT dataset, number FROM snapshots UNION SELECT dataset, number FROM changes UNION SELECT dataset, from_number FROM changes
), numbered AS (
    SELECT number, ROW_NUMBER() OVER (PARTITION BY dataset ORDER BY number) - 1 AS version FROM numbers
)
UPDATE snapshots SET version = numbered.version FROM numbered WHERE numbered.number = snapshots.number;

WITH numbers AS (
    SELECT dataset, number FROM snapshots UNION SELECT dataset, number FROM changes UNION SELECT dataset, from_number FROM changes
), numbered AS (
    SELECT number, ROW_NUMBER() OVER (PARTITION BY dataset ORDER BY number) - 1 AS version FROM numbers
)
UPDATE changes SET version = numbered.version FROM numbered WHERE numbered.number = changes.number;

UPDATE datasets SET
    versions = COALESCE((SELECT MAX(version) + 1 FROM snapshots WHERE dataset = datasets.name), 0),
    newest_id = (SELECT id FROM snapshots WHERE dataset = datasets.name ORDER BY number DESC LIMIT 1);

CREATE UNIQUE INDEX snapshots_by_version ON snapshots (dataset, version);

-- A snapshot that is inserted anew, since its file was written anew, keeps its version: two versions that follow each other never have
-- the same id.
CREATE TRIGGER snapshot_version AFTER INSERT ON snapshots
BEGIN
    UPDATE datasets SET versions = versions + (newest_id IS NOT NEW.id), newest_id = NEW.id WHERE name = NEW.dataset;
    UPDATE snapshots SET version = (SELECT versions - 1 FROM datasets WHERE name = NEW.dataset) WHERE number = NEW.number;
END;

CREATE TRIGGER changes_version AFTER INSERT ON changes
BEGIN
    UPDATE changes SET version = (SELECT version FROM snapshots WHERE number = NEW.number) WHERE number = NEW.number;
END;

-- When each key was last used, to the minute. Not a column of `keys`, whose changes make every host forget what it knows of keys.
CREATE TABLE key_uses (
    key_id  TEXT    NOT NULL PRIMARY KEY REFERENCES keys (id),
    used_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
