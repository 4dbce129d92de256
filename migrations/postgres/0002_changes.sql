-- What changed between a snapshot and the one that followed it in its dataset's history, in a stored file. A row outlives its
-- snapshots: it goes once no retained snapshot comes before it, so that changes can be followed across dropped ones.
CREATE TABLE changes (
    -- Of the newer snapshot.
    number       BIGINT NOT NULL PRIMARY KEY,
    dataset      TEXT COLLATE "C" NOT NULL REFERENCES datasets (name),
    -- Of the older one: where it is not the number of the row before, the history has a gap.
    from_number  BIGINT NOT NULL,
    from_id      TEXT NOT NULL,
    to_id        TEXT NOT NULL,
    committed_at BIGINT NOT NULL,
    row_count    BIGINT NOT NULL CHECK (row_count >= 0),
    file_sha256  TEXT COLLATE "C" NOT NULL,
    file_bytes   BIGINT NOT NULL CHECK (file_bytes >= 0),
    -- The newer snapshot's, as a JSON array: what the file's rows have.
    columns      TEXT NOT NULL
);

CREATE INDEX changes_of_dataset ON changes (dataset, number);
