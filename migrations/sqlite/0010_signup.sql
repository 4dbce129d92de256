-- Sign-up for Free keys: accounts, the links that are mailed, and the queue of mails.

-- An address is here as its HMAC under a secret of this catalogue, and in no other form.
CREATE TABLE accounts (
    id           TEXT NOT NULL PRIMARY KEY,
    address_hmac BLOB NOT NULL UNIQUE CHECK (length(address_hmac) = 32),
    created_at   INTEGER NOT NULL,
    -- Set when its holder deleted it; the row stays until the month's count has ended.
    deleted_at   INTEGER
);

-- The account of a key, and the key under whose id its requests are counted: the first one of the account, so that a new key has no new
-- month. Null for the keys that an operator issued, which are counted by themselves.
ALTER TABLE keys ADD COLUMN account TEXT REFERENCES accounts (id);
ALTER TABLE keys ADD COLUMN usage_key TEXT REFERENCES keys (id);

CREATE INDEX keys_of_account ON keys (account);

-- Links of the last 24 hours, used or not, so that their number is that of the mails. The link itself is not here.
CREATE TABLE signup_links (
    hash         BLOB NOT NULL PRIMARY KEY CHECK (length(hash) = 32),
    address_hmac BLOB NOT NULL CHECK (length(address_hmac) = 32),
    network_hmac BLOB NOT NULL CHECK (length(network_hmac) = 32),
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL,
    used_at      INTEGER
);

CREATE INDEX signup_links_by_time ON signup_links (created_at);
CREATE INDEX signup_links_of_address ON signup_links (address_hmac, created_at);
CREATE INDEX signup_links_of_network ON signup_links (network_hmac, created_at);

-- One row, written by whoever is about to count links: of several hosts one counts at a time.
CREATE TABLE signup_gate (
    only_row INTEGER NOT NULL PRIMARY KEY CHECK (only_row = 1),
    passed   INTEGER NOT NULL
);

INSERT INTO signup_gate (only_row, passed) VALUES (1, 0);

-- Mails that are not handed over yet. Address and link are sealed, since a deleted row stays in logs and backups for a while.
CREATE TABLE mails (
    id           TEXT NOT NULL PRIMARY KEY,
    address_hmac BLOB NOT NULL CHECK (length(address_hmac) = 32),
    sealed       BLOB NOT NULL,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL,
    attempts     INTEGER NOT NULL,
    -- The next attempt; while a host sends it, the end of that host's lease.
    due_at       INTEGER NOT NULL
);

CREATE INDEX mails_by_due ON mails (due_at, id);
