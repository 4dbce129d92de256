-- Versions that had other columns or another key than the one before, counted as they are published: those that
-- retention drops stay counted. A host that does not know the number counts none.
ALTER TABLE datasets ADD COLUMN column_changes BIGINT NOT NULL DEFAULT 0;

-- Of versions that were published before, as far as they are kept.
UPDATE datasets SET column_changes = (
    SELECT COUNT(*) FROM snapshots s
    JOIN snapshots b ON b.number = (
        SELECT MAX(p.number) FROM snapshots p WHERE p.dataset = s.dataset AND p.number < s.number
    )
    WHERE s.dataset = datasets.name AND (
        s.primary_key <> b.primary_key
        OR (SELECT COUNT(*) FROM columns c WHERE c.snapshot = s.number)
            <> (SELECT COUNT(*) FROM columns d WHERE d.snapshot = b.number)
        OR EXISTS (
            SELECT 1 FROM columns c JOIN columns d ON d.snapshot = b.number AND d.position = c.position
            WHERE c.snapshot = s.number
            AND (c.name <> d.name OR c.column_type <> d.column_type OR c.role <> d.role)
        )
    )
);
