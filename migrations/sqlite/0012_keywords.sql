-- Topics: the keywords of the data package, a JSON list of texts in its order. Null in snapshots that were published before this
-- migration, and by hosts that do not know it.
ALTER TABLE snapshots ADD COLUMN keywords TEXT;
