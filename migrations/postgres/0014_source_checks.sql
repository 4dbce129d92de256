-- Checks of sources by `yearbook refresh`. A row may name a dataset that does not exist yet: its first check may have failed.
CREATE TABLE source_checks (
    dataset       TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    -- End of the lease of the refresh that asks the source now. Null: none does.
    claimed_until BIGINT,
    -- The last check that ended: its time, outcome, and, where it failed, kind and reason. Null: none ended yet.
    ended_at      BIGINT,
    outcome       TEXT,
    cause         TEXT,
    reason        TEXT,
    -- The answer that `snapshot` was published from: where and when it was read, its validators, and the digests of its bytes and of
    -- the descriptor. Null: nothing is known, so the source is asked without conditions.
    address       TEXT,
    fetched_at    BIGINT,
    etag          TEXT,
    last_modified TEXT,
    content       TEXT,
    descriptor    TEXT,
    snapshot      TEXT
);

CREATE INDEX source_checks_by_outcome ON source_checks (outcome);
