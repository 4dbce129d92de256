-- Versions: the dense numbers 0, 1, 2 and so on of a dataset's snapshots, for protocols that number the versions of a table. A trigger
-- gives them, so that a host that does not know them gives them too.

-- Versions that the dataset was ever given, and the snapshot that has the last of them.
ALTER TABLE datasets ADD COLUMN versions BIGINT NOT NULL DEFAULT 0;
ALTER TABLE datasets ADD COLUMN newest_id TEXT COLLATE "C";

ALTER TABLE snapshots ADD COLUMN version BIGINT;
-- That of the newer snapshot, which may have been dropped.
ALTER TABLE changes ADD COLUMN version BIGINT;

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
CREATE FUNCTION snapshot_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE datasets SET versions = versions + CASE WHEN newest_id IS DISTINCT FROM NEW.id THEN 1 ELSE 0 END, newest_id = NEW.id
    WHERE name = NEW.dataset RETURNING versions - 1 INTO NEW.version;
    RETURN NEW;
END
$$;

CREATE TRIGGER snapshot_version BEFORE INSERT ON snapshots FOR EACH ROW EXECUTE FUNCTION snapshot_version();

CREATE FUNCTION changes_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    SELECT version INTO NEW.version FROM snapshots WHERE number = NEW.number;
    RETURN NEW;
END
$$;

CREATE TRIGGER changes_version BEFORE INSERT ON changes FOR EACH ROW EXECUTE FUNCTION changes_version();

-- When each key was last used, to the minute. Not a column of `keys`, whose changes make every host forget what it knows of keys.
CREATE TABLE key_uses (
    key_id  TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES keys (id),
    used_at BIGINT NOT NULL
);
