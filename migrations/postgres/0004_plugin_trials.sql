-- What hosts observe of plugin releases, added up over all of them: comparisons of a release that waits with the one that serves,
-- responses and failures of each, and how long a release that failed stays out of service.

-- When a quarantine ends, milliseconds; null: not by itself.
ALTER TABLE plugin_releases ADD COLUMN until BIGINT;
-- Quarantines since an operator promoted it last; each is longer than the one before.
ALTER TABLE plugin_releases ADD COLUMN quarantines BIGINT NOT NULL DEFAULT 0 CHECK (quarantines >= 0);

-- `promotion` is the number of the event that installed or promoted a release last, so that a release that waits is known to be newer than
-- the one that serves.
UPDATE plugin_releases SET promotion = COALESCE(
    (SELECT MAX(e.number) FROM plugin_events e
     WHERE e.kind = plugin_releases.kind AND e.name = plugin_releases.name AND e.digest = plugin_releases.digest AND e.what = 'installed'), 0)
WHERE state = 'installed';

CREATE TABLE plugin_trials (
    kind            TEXT COLLATE "C" NOT NULL,
    name            TEXT COLLATE "C" NOT NULL,
    -- The release that waits, and the one that served meanwhile.
    digest          TEXT COLLATE "C" NOT NULL,
    incumbent       TEXT COLLATE "C" NOT NULL,
    -- Responses that both made, and those of them with other bytes for the same values.
    samples         BIGINT NOT NULL CHECK (samples >= 0),
    rewritten       BIGINT NOT NULL CHECK (rewritten >= 0),
    -- Processor time of both over the same responses, nanoseconds, and their largest memory, bytes.
    cpu_ns          BIGINT NOT NULL,
    incumbent_ns    BIGINT NOT NULL,
    memory          BIGINT NOT NULL,
    incumbent_memory BIGINT NOT NULL,
    -- The first difference or failure, in words.
    fault           TEXT,
    first_at        BIGINT NOT NULL,
    PRIMARY KEY (kind, name, digest, incumbent)
);

CREATE TABLE plugin_use (
    kind      TEXT COLLATE "C" NOT NULL,
    name      TEXT COLLATE "C" NOT NULL,
    digest    TEXT COLLATE "C" NOT NULL,
    responses BIGINT NOT NULL CHECK (responses >= 0),
    failures  BIGINT NOT NULL CHECK (failures >= 0),
    last_at   BIGINT NOT NULL,
    PRIMARY KEY (kind, name, digest)
);
