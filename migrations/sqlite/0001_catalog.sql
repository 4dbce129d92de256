-- The catalog: what is served, who may ask, what they used.
-- Times are milliseconds since the Unix epoch, UTC. Ids are text. Truth values are 0 or 1.
-- A migration expands the schema first, and contracts it in a later release: an older binary keeps
-- working on a newer catalog while a fleet is upgraded.

-- One row, moved by every transaction that a running server must notice. Usage does not move it.
CREATE TABLE revision (
    only_row        INTEGER NOT NULL PRIMARY KEY CHECK (only_row = 1),
    value           INTEGER NOT NULL,
    -- Moved whenever a key is revoked or altered, by whatever means: what hosts remember of keys
    -- outlives every other change.
    keys            INTEGER NOT NULL DEFAULT 0,
    -- The migration that a host must know to use this catalog. One that expands leaves it as it is;
    -- one that contracts sets it to its own number.
    least_migration INTEGER NOT NULL DEFAULT 0
) STRICT;

INSERT INTO revision (only_row, value) VALUES (1, 0);

CREATE TABLE datasets (
    name       TEXT NOT NULL PRIMARY KEY,
    namespace  TEXT NOT NULL,
    checked_at INTEGER NOT NULL,
    -- Null while the dataset is served.
    retired_at INTEGER,
    -- Versions that the dataset was ever given, and the snapshot that has the last of them.
    versions   INTEGER NOT NULL DEFAULT 0,
    newest_id  TEXT
) STRICT;

-- The retained history of each dataset. The order of history is `number`, never a clock; the
-- highest number of a dataset is current. An id may occur twice when data went back to what it was.
CREATE TABLE snapshots (
    number               INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    dataset              TEXT NOT NULL REFERENCES datasets (name),
    id                   TEXT NOT NULL,
    created_at           INTEGER NOT NULL,
    row_count            INTEGER NOT NULL CHECK (row_count >= 0),
    file_sha256          TEXT NOT NULL,
    file_bytes           INTEGER NOT NULL CHECK (file_bytes >= 0),
    title                TEXT,
    description          TEXT,
    source               TEXT NOT NULL,
    attribution          TEXT NOT NULL,
    licence              TEXT NOT NULL,
    source_url           TEXT,
    source_url_precision TEXT,
    refresh_cadence      TEXT,
    bulk_redistribution  INTEGER NOT NULL CHECK (bulk_redistribution IN (0, 1)),
    layout               TEXT NOT NULL,
    -- Names of columns, as JSON arrays of text: their order matters.
    primary_key          TEXT NOT NULL,
    dimensions           TEXT NOT NULL,
    date_column          TEXT,
    first_date           TEXT,
    last_date            TEXT,
    west                 REAL,
    south                REAL,
    east                 REAL,
    north                REAL,
    licence_title        TEXT,
    licence_url          TEXT,
    -- `[{"title": …, "path": …}, …]` in the package's order, either of them null where it is not
    -- given.
    sources              TEXT,
    -- Since when the snapshot is held: no rule on retention drops it. Null: it is not.
    held_at              INTEGER,
    -- Topics: a JSON array of text, in the package's order.
    keywords             TEXT,
    -- The dense numbers 0, 1, 2 and so on of a dataset's snapshots, for protocols that number the
    -- versions of a table. A trigger gives them.
    version              INTEGER
) STRICT;

CREATE INDEX snapshots_of_dataset ON snapshots (dataset, number);
CREATE UNIQUE INDEX snapshots_by_version ON snapshots (dataset, version);

CREATE TABLE columns (
    snapshot    INTEGER NOT NULL REFERENCES snapshots (number) ON DELETE CASCADE,
    position    INTEGER NOT NULL,
    name        TEXT NOT NULL,
    column_type TEXT NOT NULL,
    nullable    INTEGER NOT NULL CHECK (nullable IN (0, 1)),
    role        TEXT NOT NULL,
    unit        TEXT,
    description TEXT,
    few_values  INTEGER NOT NULL CHECK (few_values IN (0, 1)),
    -- Traits that every text of the column has: the bits of `TextTraits`.
    text_traits INTEGER,
    PRIMARY KEY (snapshot, position)
) STRICT, WITHOUT ROWID;

-- What previews of a snapshot state, as JSON of 64 KiB at most.
CREATE TABLE preview_facts (
    snapshot INTEGER NOT NULL PRIMARY KEY REFERENCES snapshots (number) ON DELETE CASCADE,
    -- How they were computed.
    version  INTEGER NOT NULL,
    -- The digest of the whole result, as the facts have it.
    digest   TEXT NOT NULL,
    facts    TEXT NOT NULL
) STRICT;

-- Tombstones: a snapshot that was dropped can be told from one that never was.
CREATE TABLE dropped_snapshots (
    dataset    TEXT NOT NULL REFERENCES datasets (name),
    id         TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    dropped_at INTEGER NOT NULL,
    -- What citations go on stating: the snapshot without its rows, as JSON, and the digest of
    -- these.
    snapshot   TEXT,
    digest     TEXT,
    PRIMARY KEY (dataset, id)
) STRICT, WITHOUT ROWID;

-- Rows that a snapshot changed of the one before it in its dataset's history, in a stored file. A
-- row outlives its snapshots: it goes once no retained snapshot comes before it, so that changes
-- can be followed across dropped ones.
CREATE TABLE changes (
    -- Of the newer snapshot.
    number           INTEGER NOT NULL PRIMARY KEY,
    dataset          TEXT NOT NULL REFERENCES datasets (name),
    -- Of the older one: where it is not the number of the row before, the history has a gap.
    from_number      INTEGER NOT NULL,
    from_id          TEXT NOT NULL,
    to_id            TEXT NOT NULL,
    committed_at     INTEGER NOT NULL,
    row_count        INTEGER NOT NULL CHECK (row_count >= 0),
    file_sha256      TEXT NOT NULL,
    file_bytes       INTEGER NOT NULL CHECK (file_bytes >= 0),
    -- The newer snapshot's, as a JSON array: those of the file's rows.
    columns          TEXT NOT NULL,
    -- The credits of both snapshots: rows keep the credit that they were published with.
    from_attribution TEXT,
    from_licence     TEXT,
    to_attribution   TEXT,
    to_licence       TEXT,
    -- Rows by kind.
    inserted         INTEGER,
    deleted          INTEGER,
    updated          INTEGER,
    -- That of the newer snapshot, which may have been dropped.
    version          INTEGER
) STRICT;

CREATE INDEX changes_of_dataset ON changes (dataset, number);
-- A client that follows a table asks for a few versions, however long the history is.
CREATE INDEX changes_by_version ON changes (dataset, version);

-- A snapshot that is inserted again, since its file was written again, keeps its version: two
-- versions that follow each other never have the same id.
CREATE TRIGGER snapshot_version AFTER INSERT ON snapshots
BEGIN
    UPDATE datasets SET versions = versions + (newest_id IS NOT NEW.id), newest_id = NEW.id WHERE name = NEW.dataset;
    UPDATE snapshots SET version = (SELECT versions - 1 FROM datasets WHERE name = NEW.dataset) WHERE number = NEW.number;
END;

CREATE TRIGGER changes_version AFTER INSERT ON changes
BEGIN
    UPDATE changes SET version = (SELECT version FROM snapshots WHERE number = NEW.number) WHERE number = NEW.number;
END;

-- Checks of sources by `yearbook refresh`. A row may name a dataset that does not exist yet: its
-- first check may have failed.
CREATE TABLE source_checks (
    dataset       TEXT NOT NULL PRIMARY KEY,
    -- End of the lease of the refresh that asks the source now. Null: none does.
    claimed_until INTEGER,
    -- The last check that ended: its time, outcome, and, where it failed, kind and reason. Null:
    -- none ended yet.
    ended_at      INTEGER,
    outcome       TEXT,
    cause         TEXT,
    reason        TEXT,
    -- The answer that `snapshot` was published from: where and when it was read, its validators,
    -- and the digests of its bytes and of the descriptor. Null: nothing is known, so the source is
    -- asked without conditions.
    address       TEXT,
    fetched_at    INTEGER,
    etag          TEXT,
    last_modified TEXT,
    content       TEXT,
    descriptor    TEXT,
    snapshot      TEXT
) STRICT;

CREATE INDEX source_checks_by_outcome ON source_checks (outcome);

-- Accounts of sign-up. An address is here as its HMAC under a secret of this catalog, and in no
-- other form.
CREATE TABLE accounts (
    id           TEXT NOT NULL PRIMARY KEY,
    address_hmac BLOB NOT NULL UNIQUE CHECK (length(address_hmac) = 32),
    created_at   INTEGER NOT NULL,
    -- Set when its holder deleted it; the row stays until the month's count has ended.
    deleted_at   INTEGER
);

-- Only the SHA-256 of a key is here; the key itself is shown once and forgotten.
CREATE TABLE keys (
    id         TEXT NOT NULL PRIMARY KEY,
    hash       BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
    label      TEXT,
    plan       TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER,
    -- The account of a key, and the key under whose id its requests are counted: the first one of
    -- the account, so that a new key has no new month. Null for the keys that an operator issued,
    -- which are counted by themselves.
    account    TEXT REFERENCES accounts (id),
    usage_key  TEXT REFERENCES keys (id)
) STRICT;

CREATE INDEX keys_of_account ON keys (account);

CREATE TRIGGER keys_altered AFTER UPDATE ON keys
BEGIN
    UPDATE revision SET keys = keys + 1 WHERE only_row = 1;
END;

CREATE TRIGGER keys_deleted AFTER DELETE ON keys
BEGIN
    UPDATE revision SET keys = keys + 1 WHERE only_row = 1;
END;

-- When each key was last used, to the minute. Not a column of `keys`, whose changes make every host
-- forget what it knows of keys.
CREATE TABLE key_uses (
    key_id  TEXT NOT NULL PRIMARY KEY REFERENCES keys (id),
    used_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Charged requests of a key in a calendar month (UTC, `2026-11`).
CREATE TABLE usage (
    key_id TEXT NOT NULL REFERENCES keys (id),
    month  TEXT NOT NULL,
    used   INTEGER NOT NULL CHECK (used >= 0),
    PRIMARY KEY (key_id, month)
) STRICT, WITHOUT ROWID;

-- Links of sign-up of the last 24 hours, used or not, so that their number is that of the mails.
-- The link itself is not here.
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

-- One row, written before links are counted: of several hosts one counts at a time.
CREATE TABLE signup_gate (
    only_row INTEGER NOT NULL PRIMARY KEY CHECK (only_row = 1),
    passed   INTEGER NOT NULL
);

INSERT INTO signup_gate (only_row, passed) VALUES (1, 0);

-- Mails that are not handed over yet. Address and link are sealed, since a deleted row stays in
-- logs and backups for a while.
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

-- Secrets that every host must share, such as the one that signs cursors.
CREATE TABLE secrets (
    name       TEXT NOT NULL PRIMARY KEY,
    value      BLOB NOT NULL CHECK (length(value) = 32),
    created_at INTEGER NOT NULL
) STRICT;

-- Plugin releases known to this catalog, embedded ones included. `state` is where a release stands
-- now, `plugin_events` how it came there.
CREATE TABLE plugin_releases (
    kind               TEXT NOT NULL,
    name               TEXT NOT NULL,
    digest             TEXT NOT NULL,
    version            TEXT NOT NULL,
    bytes              INTEGER NOT NULL CHECK (bytes >= 0),
    installed_by       TEXT NOT NULL,
    installed_at       INTEGER NOT NULL,
    state              TEXT NOT NULL,
    built_in           INTEGER NOT NULL DEFAULT 1 CHECK (built_in IN (0, 1)),
    -- Number of the event that installed or promoted it last; 0: none did. Of two promoted releases
    -- the higher number serves.
    promotion          INTEGER NOT NULL DEFAULT 0,
    -- Whether it serves whatever is promoted later; of one release a name at most.
    pinned             INTEGER NOT NULL DEFAULT 0 CHECK (pinned IN (0, 1)),
    -- Why the last event happened.
    reason             TEXT,
    -- When a quarantine ends; null: not by itself.
    until              INTEGER,
    -- Quarantines since an operator promoted it last; each is longer than the one before.
    quarantines        INTEGER NOT NULL DEFAULT 0 CHECK (quarantines >= 0),
    -- Where it was installed from: a reference to a registry as an operator wrote it, and the
    -- digest of the manifest that it named then. Null for files and for what is built in.
    reference          TEXT,
    reference_manifest TEXT,
    PRIMARY KEY (kind, name, digest)
) STRICT;

CREATE TABLE plugin_events (
    number  INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    kind    TEXT NOT NULL,
    name    TEXT NOT NULL,
    digest  TEXT NOT NULL,
    -- A state that the release came into, or `pinned` or `unpinned`.
    what    TEXT NOT NULL,
    by_whom TEXT NOT NULL,
    at      INTEGER NOT NULL,
    reason  TEXT
) STRICT;

CREATE INDEX events_of_plugin ON plugin_events (kind, name, number);

-- Comparisons of a release that waits with the one that serves, added up over all hosts.
CREATE TABLE plugin_trials (
    kind             TEXT NOT NULL,
    name             TEXT NOT NULL,
    -- The release that waits, and the one that served meanwhile.
    digest           TEXT NOT NULL,
    incumbent        TEXT NOT NULL,
    -- Responses that both made, and those of them with other bytes for the same values.
    samples          INTEGER NOT NULL CHECK (samples >= 0),
    rewritten        INTEGER NOT NULL CHECK (rewritten >= 0),
    -- Processor time of both over the same responses, nanoseconds, and their largest memory, bytes.
    cpu_ns           INTEGER NOT NULL,
    incumbent_ns     INTEGER NOT NULL,
    memory           INTEGER NOT NULL,
    incumbent_memory INTEGER NOT NULL,
    -- The first difference or failure, in words.
    fault            TEXT,
    first_at         INTEGER NOT NULL,
    PRIMARY KEY (kind, name, digest, incumbent)
) STRICT;

-- Responses and failures of each release, added up over all hosts.
CREATE TABLE plugin_use (
    kind      TEXT NOT NULL,
    name      TEXT NOT NULL,
    digest    TEXT NOT NULL,
    responses INTEGER NOT NULL CHECK (responses >= 0),
    failures  INTEGER NOT NULL CHECK (failures >= 0),
    last_at   INTEGER NOT NULL,
    PRIMARY KEY (kind, name, digest)
) STRICT;

-- Objects that lie in the object store, or are about to, without a row of the catalog that names
-- them: registered before their first byte is stored, let go by the last row that named them, or
-- found there by `yearbook gc`. A row that names an object takes these away.
CREATE TABLE loose_files (
    -- `snapshot` or `component`.
    kind      TEXT NOT NULL,
    sha256    TEXT NOT NULL,
    -- The process that registered it; empty: none did.
    declarer  TEXT NOT NULL,
    -- Since when, by the database's clock.
    since     INTEGER NOT NULL,
    -- When `yearbook gc` began to remove it, by the same clock; null: it has not.
    condemned INTEGER,
    PRIMARY KEY (kind, sha256, declarer)
) STRICT, WITHOUT ROWID;
