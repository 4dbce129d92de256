-- Checks of sources by `yearbook refresh`. A row may name a dataset that does not exist yet: its first check may have failed.
CREATE TABLE source_checks (
    dataset       TEXT    NOT NULL PRIMARY KEY,
    -- End of the lease of the refresh that asks the source now. Null: none does.
    claimed_until INTEGER,
    -- The last check that ended: its time, outcome, and, where it failed, kind and reason. Null: none ended yet.
    ended_at      INTEGER,
    outcome       TEXT,
    cause         TEXT,
    reason        TEXT,
    -- The answer that `snapshot` was published from: where and when it was read, its validators, and the digests of its bytes and of
    -- the descriptor. Null: nothing is known, so the source is asked without conditions.
    address       TEXT,
    fetched_at    INTEGER,
    etag          TEXT,
    last_modified TEXT,
    content       TEXT,
    descriptor    TEXT,
    snapshot      TEXT
) STRICT;

CREATE INDEX source_checks_by_outcome ON source_checks (outcome);
