-- What a data package says of its licence and of each of its sources. Null in snapshots that were published before this migration, and by
-- hosts that do not know it.
ALTER TABLE snapshots ADD COLUMN licence_title TEXT;
ALTER TABLE snapshots ADD COLUMN licence_url TEXT;
-- `[{"title": …, "path": …}, …]` in the package's order, either of them null where it is not given.
ALTER TABLE snapshots ADD COLUMN sources TEXT;
