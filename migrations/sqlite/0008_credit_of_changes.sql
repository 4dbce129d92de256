-- The credits of both snapshots of a row of `changes`, which outlives them: rows keep the credit that they were published with.
-- Null where a snapshot was dropped before this was kept; of one that is kept, an older binary may leave it out.
ALTER TABLE changes ADD COLUMN from_attribution TEXT;
ALTER TABLE changes ADD COLUMN from_licence TEXT;
ALTER TABLE changes ADD COLUMN to_attribution TEXT;
ALTER TABLE changes ADD COLUMN to_licence TEXT;

UPDATE changes SET
    from_attribution = (SELECT attribution FROM snapshots WHERE snapshots.number = changes.from_number),
    from_licence = (SELECT licence FROM snapshots WHERE snapshots.number = changes.from_number),
    to_attribution = (SELECT attribution FROM snapshots WHERE snapshots.number = changes.number),
    to_licence = (SELECT licence FROM snapshots WHERE snapshots.number = changes.number);
