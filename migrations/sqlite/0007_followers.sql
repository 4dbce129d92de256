-- The value that a version revised most, as JSON. Null: it revised none, or it is not known.
ALTER TABLE changes ADD COLUMN largest_revision TEXT;

-- Addresses that are told of each version, in the order of the log.
CREATE TABLE webhooks (
    id           TEXT NOT NULL PRIMARY KEY,
    -- Null: the operator's.
    account      TEXT REFERENCES accounts (id),
    url          TEXT NOT NULL,
    -- Null: every dataset. It need not exist yet.
    dataset      TEXT,
    created_at   INTEGER NOT NULL,
    -- Entry of the log from which on it is to be told.
    next_entry   INTEGER NOT NULL,
    -- Failed attempts for that entry.
    attempts     INTEGER NOT NULL DEFAULT 0,
    -- Time before which nobody attempts it: a pause, or the lease of the host that does.
    due_at       INTEGER NOT NULL DEFAULT 0,
    -- Why the last attempt failed. Null: it did not.
    last_failure TEXT,
    -- Null: it works.
    ended_at     INTEGER
) STRICT;

CREATE INDEX webhooks_of_account ON webhooks (account);

CREATE INDEX log_entries_by_dataset ON log_entries (dataset, entry);

-- Hosts that serve, as they last said: for operators alone.
CREATE TABLE hosts (
    -- Made anew at each start.
    id             TEXT NOT NULL PRIMARY KEY,
    -- Machine and address.
    name           TEXT NOT NULL,
    -- Release of the program, and the newest migration that it knows.
    release        TEXT NOT NULL,
    migration      INTEGER NOT NULL,
    -- By the database's clock as the host knows it.
    seen_at        INTEGER NOT NULL,
    -- By how much the database's clock is ahead of the machine's at least, and by how much more it
    -- may be, milliseconds. Null: the host does not know it.
    offset_ms      INTEGER,
    uncertainty_ms INTEGER
) STRICT;
