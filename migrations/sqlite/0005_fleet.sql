-- What a fleet of hosts needs to know besides that something changed.

-- Moved whenever a key is revoked or altered, by whatever means, so that what hosts remember of keys outlives every other change.
ALTER TABLE revision ADD COLUMN keys INTEGER NOT NULL DEFAULT 0;

CREATE TRIGGER keys_altered AFTER UPDATE ON keys
BEGIN
    UPDATE revision SET keys = keys + 1 WHERE only_row = 1;
END;

CREATE TRIGGER keys_deleted AFTER DELETE ON keys
BEGIN
    UPDATE revision SET keys = keys + 1 WHERE only_row = 1;
END;

-- The migration that a host must know to use this catalogue. One that expands leaves it as it is; one that contracts, and so breaks
-- hosts that do not know it, sets it to its own number.
ALTER TABLE revision ADD COLUMN least_migration INTEGER NOT NULL DEFAULT 0;
