-- Links that stand for a key: how often they were ended. A link works while its number is this one.
ALTER TABLE keys ADD COLUMN link_epoch BIGINT NOT NULL DEFAULT 0;
