-- What lies in the object store, or is about to, without a row of the catalogue that names it: declared by whoever stores it before its
-- first byte is stored, let go by whatever named it last, or found there by `yearbook gc`. What commits a name takes the rows away.
CREATE TABLE loose_files (
    -- `snapshot` or `component`.
    kind      TEXT   NOT NULL,
    sha256    TEXT   NOT NULL,
    -- The process that declared it; empty: nobody did.
    declarer  TEXT   NOT NULL,
    -- Since when, by the database's clock.
    since     BIGINT NOT NULL,
    -- When `yearbook gc` began to remove it, by the same clock; null: it has not.
    condemned BIGINT,
    PRIMARY KEY (kind, sha256, declarer)
);
