-- What becomes of plugin releases. `plugin_releases.state` is where a release stands now, `plugin_events` how it came there.
-- Defaults fit what an older host inserts, which knows built-in releases alone.
ALTER TABLE plugin_releases ADD COLUMN built_in INTEGER NOT NULL DEFAULT 1 CHECK (built_in IN (0, 1));
-- Number of the event that promoted it last; 0: none did. Of two promoted releases the higher number serves.
ALTER TABLE plugin_releases ADD COLUMN promotion INTEGER NOT NULL DEFAULT 0;
-- Whether it serves whatever is promoted later; of one release a name at most.
ALTER TABLE plugin_releases ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0 CHECK (pinned IN (0, 1));
-- Why the last event happened.
ALTER TABLE plugin_releases ADD COLUMN reason TEXT;

UPDATE plugin_releases SET state = 'promoted' WHERE state = 'active';

CREATE TABLE plugin_events (
    number   INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    kind     TEXT    NOT NULL,
    name     TEXT    NOT NULL,
    digest   TEXT    NOT NULL,
    -- A state that the release came into, or `pinned` or `unpinned`.
    what     TEXT    NOT NULL,
    by_whom  TEXT    NOT NULL,
    at       INTEGER NOT NULL,
    reason   TEXT
) STRICT;

CREATE INDEX events_of_plugin ON plugin_events (kind, name, number);
