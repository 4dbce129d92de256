-- Versions that wait for their time. They do not stand where hosts look for what is served: nobody
-- sees them before. `value` of the revision does not move with them; `waiting` does.
ALTER TABLE revision ADD COLUMN waiting INTEGER NOT NULL DEFAULT 0;

CREATE TABLE waiting_releases (
    id             INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    dataset        TEXT NOT NULL UNIQUE REFERENCES datasets (name),
    release_at     INTEGER NOT NULL,
    snapshot_id    TEXT NOT NULL,
    file_sha256    TEXT NOT NULL,
    file_bytes     INTEGER NOT NULL CHECK (file_bytes >= 0),
    -- Null: what it changed is not known.
    changes_sha256 TEXT,
    changes_bytes  INTEGER,
    -- The publication as JSON.
    publication    TEXT NOT NULL
) STRICT;

-- Files that lie under `waiting/` in the object store, of versions that wait and of released ones.
CREATE TABLE waiting_files (
    sha256 TEXT NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- Releases that were announced; they stay when the version is visible.
CREATE TABLE announcements (
    id           INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    dataset      TEXT NOT NULL REFERENCES datasets (name),
    title        TEXT NOT NULL,
    announced_at INTEGER NOT NULL,
    release_at   INTEGER NOT NULL,
    moves        INTEGER NOT NULL DEFAULT 0,
    -- Null: it waits.
    snapshot_id  TEXT
) STRICT;

CREATE INDEX announcements_by_time ON announcements (release_at);
