-- Since when a snapshot is held: no rule on retention drops it. Null: it is not.
ALTER TABLE snapshots ADD COLUMN held_at INTEGER;

-- What citations of a dropped snapshot go on stating: the snapshot without its rows, as JSON, and the digest of these. Null in
-- tombstones of older binaries.
ALTER TABLE dropped_snapshots ADD COLUMN snapshot TEXT;
ALTER TABLE dropped_snapshots ADD COLUMN digest TEXT;
