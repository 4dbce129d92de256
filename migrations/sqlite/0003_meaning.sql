-- What the publisher says of languages, notes, titles, statuses and labels, as JSON. Empty: nothing.
ALTER TABLE snapshots ADD COLUMN meaning TEXT NOT NULL DEFAULT '{}';
