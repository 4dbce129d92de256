//! The SQL, in the words that SQLite and PostgreSQL share (`$1`, `ON CONFLICT`, `RETURNING`), so
//! that implementations differ in how they connect and begin transactions, not in what they ask.

/// Columns of a snapshot's row, named one by one: a newer host may add columns to the table while
/// this one is running.
macro_rules! snapshot_columns {
    () => {
        "s.number, s.dataset, s.id, s.created_at, s.row_count, s.file_sha256, s.file_bytes, s.title, s.description, s.source,
        s.attribution, s.licence, s.source_url, s.source_url_precision, s.refresh_cadence, s.bulk_redistribution, s.layout,
        s.primary_key, s.dimensions, s.date_column, s.first_date, s.last_date, s.west, s.south, s.east, s.north, s.licence_title,
        s.licence_url, s.sources"
    };
}

pub(crate) const PING: &str = "SELECT 1";

pub(crate) const REVISION: &str = "SELECT value, keys FROM revision WHERE only_row = 1";

pub(crate) const LEAST_MIGRATION: &str = "SELECT least_migration FROM revision WHERE only_row = 1";

pub(crate) const BUMP_REVISION: &str = "UPDATE revision SET value = value + 1 WHERE only_row = 1";

/// PostgreSQL alone.
pub(crate) const SCHEMA: &str = "SELECT current_schema()::text";

/// PostgreSQL alone: until the transaction ends, nobody else brings tables up to date.
pub(crate) const LOCK_MIGRATIONS: &str =
    "SELECT pg_advisory_xact_lock(79410001, hashtext(current_setting('search_path')))";

/// PostgreSQL alone: makes the schema that the address names, where it does not exist.
pub(crate) const MAKE_SCHEMA: &str = "
    DO $$ BEGIN
        IF current_schema() IS NULL THEN
            EXECUTE format('CREATE SCHEMA %I', btrim(split_part(current_setting('search_path'), ',', 1), ' \"'));
        END IF;
    END $$";

/// PostgreSQL alone: until the transaction ends, nobody else decides what becomes of plugin
/// releases.
pub(crate) const LOCK_RELEASES: &str =
    "SELECT pg_advisory_xact_lock(79410002, hashtext(current_schema()))";

/// PostgreSQL alone: until the transaction ends, nobody else decides what is named in the object
/// store.
pub(crate) const LOCK_OBJECTS: &str =
    "SELECT pg_advisory_xact_lock(79410003, hashtext(current_schema()))";

pub(crate) const CLOCK_OF_SQLITE: &str =
    "SELECT CAST((julianday('now') - 2440587.5) * 86400000.0 AS INTEGER)";

pub(crate) const CLOCK_OF_POSTGRES: &str =
    "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/// What is served, with current snapshots.
macro_rules! datasets {
    () => {
        concat!(
            "SELECT d.namespace, d.checked_at, ",
            snapshot_columns!(),
            " FROM datasets d
            JOIN snapshots s ON s.number = (SELECT MAX(number) FROM snapshots WHERE dataset = d.name)
            WHERE d.retired_at IS NULL"
        )
    };
}

pub(crate) const DATASETS: &str = datasets!();

pub(crate) const DATASET: &str = concat!(datasets!(), " AND d.name = $1");

/// What any change of a dataset changes: numbers of snapshots are never given twice.
macro_rules! marks {
    ($of:literal) => {
        concat!(
            "SELECT d.name, d.namespace, d.checked_at, MAX(s.number) AS current, COUNT(*) AS retained
            FROM datasets d JOIN snapshots s ON s.dataset = d.name
            WHERE d.retired_at IS NULL",
            $of,
            " GROUP BY d.name, d.namespace, d.checked_at"
        )
    };
}

pub(crate) const DATASET_VERSIONS: &str = marks!("");

pub(crate) const DATASET_VERSION: &str = marks!(" AND d.name = $1");

pub(crate) const CURRENT_COLUMNS: &str = "
    SELECT c.snapshot, c.name, c.column_type, c.nullable, c.role, c.unit, c.description, c.few_values
    FROM columns c
    WHERE c.snapshot IN (SELECT MAX(number) FROM snapshots GROUP BY dataset)
    ORDER BY c.snapshot, c.position";

pub(crate) const SUMMARIES: &str =
    "SELECT dataset, id, created_at, row_count FROM snapshots ORDER BY dataset, number";

pub(crate) const SUMMARIES_OF: &str =
    "SELECT dataset, id, created_at, row_count FROM snapshots WHERE dataset = $1 ORDER BY number";

/// An id may be in the history twice; the newest counts.
pub(crate) const SNAPSHOT: &str = concat!(
    "SELECT ",
    snapshot_columns!(),
    " FROM snapshots s WHERE s.dataset = $1 AND s.id = $2 ORDER BY s.number DESC LIMIT 1"
);

pub(crate) const COLUMNS: &str = "
    SELECT snapshot, name, column_type, nullable, role, unit, description, few_values
    FROM columns WHERE snapshot = $1 ORDER BY position";

pub(crate) const IS_RETAINED: &str =
    "SELECT COUNT(*) FROM snapshots WHERE dataset = $1 AND id = $2";

pub(crate) const WAS_DROPPED: &str =
    "SELECT COUNT(*) FROM dropped_snapshots WHERE dataset = $1 AND id = $2";

/// The dataset's row first, so that two publishers of one dataset follow each other.
/// [`SET_CHECKED_AT`] comes before the end of the transaction.
pub(crate) const UPSERT_DATASET: &str = "
    INSERT INTO datasets (name, namespace, checked_at, retired_at) VALUES ($1, $2, 0, NULL)
    ON CONFLICT (name) DO UPDATE SET namespace = excluded.namespace, retired_at = NULL";

/// Never turns the time back.
pub(crate) const SET_CHECKED_AT: &str =
    "UPDATE datasets SET checked_at = $2 WHERE name = $1 AND checked_at < $2";

pub(crate) const CURRENT: &str = "SELECT number, id, file_sha256, created_at FROM snapshots WHERE dataset = $1 ORDER BY number DESC LIMIT 1";

/// [`SNAPSHOT`] of the newest.
pub(crate) const CURRENT_SNAPSHOT: &str = concat!(
    "SELECT ",
    snapshot_columns!(),
    " FROM snapshots s WHERE s.dataset = $1 ORDER BY s.number DESC LIMIT 1"
);

/// Clocks may have been turned back, so the newest snapshot need not have the latest time.
pub(crate) const LATEST: &str = "SELECT MAX(created_at) FROM snapshots WHERE dataset = $1";

pub(crate) const INSERT_SNAPSHOT: &str = "
    INSERT INTO snapshots (
        dataset, id, created_at, row_count, file_sha256, file_bytes, title, description, source, attribution, licence,
        source_url, source_url_precision, refresh_cadence, bulk_redistribution, layout, primary_key, dimensions,
        date_column, first_date, last_date, west, south, east, north, licence_title, licence_url, sources
    ) VALUES (
        $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25,
        $26, $27, $28
    ) RETURNING number";

pub(crate) const INSERT_COLUMN: &str = "
    INSERT INTO columns (snapshot, position, name, column_type, nullable, role, unit, description, few_values)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";

pub(crate) const HISTORY: &str =
    "SELECT number, id, created_at FROM snapshots WHERE dataset = $1 ORDER BY number";

pub(crate) const INSERT_TOMBSTONE: &str = "
    INSERT INTO dropped_snapshots (dataset, id, created_at, dropped_at)
    SELECT dataset, id, created_at, $2 FROM snapshots WHERE number = $1
    ON CONFLICT (dataset, id) DO UPDATE SET created_at = excluded.created_at, dropped_at = excluded.dropped_at";

pub(crate) const DELETE_SNAPSHOT: &str =
    "DELETE FROM snapshots WHERE number = $1 RETURNING file_sha256";

pub(crate) const RETIRE: &str =
    "UPDATE datasets SET retired_at = $2 WHERE name = $1 AND retired_at IS NULL";

/// A file of changes that two datasets share, or that is a snapshot's too, is one file: `UNION`
/// lists it once.
pub(crate) const REFERENCED_FILES: &str = "
    SELECT file_sha256, file_bytes FROM snapshots UNION SELECT file_sha256, file_bytes FROM changes ORDER BY file_sha256";

pub(crate) const INSERT_CHANGES: &str = "
    INSERT INTO changes (number, dataset, from_number, from_id, to_id, committed_at, row_count, file_sha256, file_bytes, columns,
        from_attribution, from_licence, to_attribution, to_licence)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)";

/// The newer snapshot has another number now.
pub(crate) const RENUMBER_CHANGES: &str = "UPDATE changes SET number = $2 WHERE number = $1";

/// Those that lead to the oldest retained snapshot or to one before it.
pub(crate) const DROP_CHANGES: &str = "DELETE FROM changes WHERE dataset = $1 AND number <= (SELECT MIN(number) FROM snapshots WHERE dataset = $1) RETURNING file_sha256";

/// With the credits of its snapshots; where an older binary left them out, as long as the snapshots
/// are kept.
pub(crate) const CHANGES: &str = "
    SELECT c.number, c.from_number, c.from_id, c.to_id, c.committed_at, c.row_count, c.file_sha256, c.file_bytes, c.columns,
        COALESCE(c.from_attribution, f.attribution) AS from_attribution, COALESCE(c.from_licence, f.licence) AS from_licence,
        COALESCE(c.to_attribution, t.attribution) AS to_attribution, COALESCE(c.to_licence, t.licence) AS to_licence
    FROM changes c LEFT JOIN snapshots f ON f.number = c.from_number LEFT JOIN snapshots t ON t.number = c.number
    WHERE c.dataset = $1 ORDER BY c.number DESC";

pub(crate) const INSERT_KEY: &str = "INSERT INTO keys (id, hash, label, plan, created_at, revoked_at) VALUES ($1, $2, $3, $4, $5, $6)";

pub(crate) const KEYS: &str =
    "SELECT id, label, plan, created_at, revoked_at FROM keys ORDER BY created_at, id";

pub(crate) const KEY: &str =
    "SELECT hash, id, label, plan, created_at, revoked_at FROM keys WHERE hash = $1";

pub(crate) const REVOKE_KEY: &str =
    "UPDATE keys SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL";

/// One statement, so that no two hosts can both take the last request. No row: the limit was
/// reached. A limit of 0 must not come here.
pub(crate) const RESERVE_REQUEST: &str = "
    INSERT INTO usage (key_id, month, used) VALUES ($1, $2, 1)
    ON CONFLICT (key_id, month) DO UPDATE SET used = usage.used + 1 WHERE usage.used < $3
    RETURNING used";

pub(crate) const REFUND_REQUEST: &str =
    "UPDATE usage SET used = used - 1 WHERE key_id = $1 AND month = $2 AND used > 0";

pub(crate) const ADD_USAGE: &str = "
    INSERT INTO usage (key_id, month, used) VALUES ($1, $2, $3)
    ON CONFLICT (key_id, month) DO UPDATE SET used = usage.used + excluded.used";

pub(crate) const USED: &str = "SELECT used FROM usage WHERE key_id = $1 AND month = $2";

/// The first host to come makes the secret; the others find it.
pub(crate) const INSERT_SECRET_IF_ABSENT: &str = "
    INSERT INTO secrets (name, value, created_at) VALUES ($1, $2, $3) ON CONFLICT (name) DO NOTHING";

pub(crate) const SECRET: &str = "SELECT value FROM secrets WHERE name = $1";

pub(crate) const REGISTER_RELEASE: &str = "
    INSERT INTO plugin_releases (kind, name, digest, version, bytes, installed_by, installed_at, state, built_in, reason)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";

pub(crate) const RELEASE_STATE: &str = "SELECT state, pinned, quarantines FROM plugin_releases WHERE kind = $1 AND name = $2 AND digest = $3";

pub(crate) const CHANGE_RELEASE: &str = "
    UPDATE plugin_releases SET state = $4, reason = $5, until = $6, quarantines = $7 WHERE kind = $1 AND name = $2 AND digest = $3";

pub(crate) const SET_RELEASE_PROMOTION: &str =
    "UPDATE plugin_releases SET promotion = $4 WHERE kind = $1 AND name = $2 AND digest = $3";

pub(crate) const UNPIN_RELEASE: &str =
    "UPDATE plugin_releases SET pinned = FALSE WHERE kind = $1 AND name = $2 AND digest = $3";

pub(crate) const UNPIN_OTHERS: &str = "
    UPDATE plugin_releases SET pinned = FALSE WHERE kind = $1 AND name = $2 AND digest <> $3
    AND EXISTS (SELECT 1 FROM plugin_releases WHERE kind = $1 AND name = $2 AND digest = $3 AND state = 'promoted')";

pub(crate) const PIN_RELEASE: &str = "
    UPDATE plugin_releases SET pinned = $4
    WHERE kind = $1 AND name = $2 AND digest = $3 AND pinned <> $4 AND (state = $5 OR NOT $4)";

pub(crate) const RELEASES: &str = "
    SELECT kind, name, digest, version, bytes, installed_by, installed_at, state, built_in, promotion, pinned, reason, until, quarantines
    FROM plugin_releases ORDER BY kind, name, installed_at, digest";

pub(crate) const INSERT_EVENT: &str = "
    INSERT INTO plugin_events (kind, name, digest, what, by_whom, at, reason) VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING number";

pub(crate) const RELEASE_EVENTS: &str = "SELECT number, kind, name, digest, what, by_whom, at, reason FROM plugin_events ORDER BY number";

/// The first fault stays.
pub(crate) const ADD_CANARY_TOTALS: &str = "
    INSERT INTO plugin_trials (
        kind, name, digest, incumbent, samples, rewritten, cpu_ns, incumbent_ns, memory, incumbent_memory, fault, first_at
    ) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
    ON CONFLICT (kind, name, digest, incumbent) DO UPDATE SET
        samples = plugin_trials.samples + excluded.samples,
        rewritten = plugin_trials.rewritten + excluded.rewritten,
        cpu_ns = plugin_trials.cpu_ns + excluded.cpu_ns,
        incumbent_ns = plugin_trials.incumbent_ns + excluded.incumbent_ns,
        memory = CASE WHEN excluded.memory > plugin_trials.memory THEN excluded.memory ELSE plugin_trials.memory END,
        incumbent_memory = CASE WHEN excluded.incumbent_memory > plugin_trials.incumbent_memory
            THEN excluded.incumbent_memory ELSE plugin_trials.incumbent_memory END,
        fault = COALESCE(plugin_trials.fault, excluded.fault),
        first_at = CASE WHEN excluded.first_at < plugin_trials.first_at THEN excluded.first_at ELSE plugin_trials.first_at END
    RETURNING kind, name, digest, incumbent, samples, rewritten, cpu_ns, incumbent_ns, memory, incumbent_memory, fault, first_at";

pub(crate) const CANARY_TOTALS: &str = "
    SELECT kind, name, digest, incumbent, samples, rewritten, cpu_ns, incumbent_ns, memory, incumbent_memory, fault, first_at
    FROM plugin_trials ORDER BY kind, name, first_at, digest";

/// A release that is installed anew is tried anew.
pub(crate) const DELETE_CANARY_TOTALS: &str =
    "DELETE FROM plugin_trials WHERE kind = $1 AND name = $2 AND digest = $3";

pub(crate) const ADD_RELEASE_USAGE: &str = "
    INSERT INTO plugin_use (kind, name, digest, responses, failures, last_at) VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (kind, name, digest) DO UPDATE SET
        responses = plugin_use.responses + excluded.responses,
        failures = plugin_use.failures + excluded.failures,
        last_at = CASE WHEN excluded.last_at > plugin_use.last_at THEN excluded.last_at ELSE plugin_use.last_at END";

pub(crate) const RELEASE_USAGE: &str = "SELECT kind, name, digest, responses, failures, last_at FROM plugin_use ORDER BY kind, name, digest";

/// Everything in the object store that a row of the catalogue needs.
pub(crate) const REFERENCED_OBJECTS: &str = "
    SELECT CAST('snapshot' AS TEXT), file_sha256 FROM snapshots UNION SELECT CAST('snapshot' AS TEXT), file_sha256 FROM changes
    UNION SELECT CAST('component' AS TEXT), digest FROM plugin_releases WHERE state <> 'removed'";

pub(crate) const IS_REFERENCED: &str = "
    SELECT CASE
        WHEN $1 = 'snapshot' THEN (SELECT COUNT(*) FROM snapshots WHERE file_sha256 = $2) + (SELECT COUNT(*) FROM changes WHERE file_sha256 = $2)
        ELSE (SELECT COUNT(*) FROM plugin_releases WHERE digest = $2 AND state <> 'removed') END";

pub(crate) const UNREFERENCED_OBJECTS: &str = "SELECT kind, sha256, MAX(since), MAX(condemned) FROM loose_files GROUP BY kind, sha256 ORDER BY kind, sha256";

pub(crate) const MARKED_FOR_DELETION_AT: &str =
    "SELECT MAX(condemned) FROM loose_files WHERE kind = $1 AND sha256 = $2";

/// One that is being removed stays so.
pub(crate) const UPSERT_UNREFERENCED: &str = "
    INSERT INTO loose_files (kind, sha256, declarer, since, condemned) VALUES ($1, $2, $3, $4, NULL)
    ON CONFLICT (kind, sha256, declarer) DO UPDATE SET since = excluded.since";

pub(crate) const MARK_FOR_DELETION: &str =
    "UPDATE loose_files SET condemned = $3 WHERE kind = $1 AND sha256 = $2";

pub(crate) const TAKE_REGISTERED_UPLOAD: &str = "DELETE FROM loose_files WHERE kind = $1 AND sha256 = $2 AND declarer = $3 AND condemned IS NULL";

pub(crate) const DELETE_UNREFERENCED: &str =
    "DELETE FROM loose_files WHERE kind = $1 AND sha256 = $2";

pub(crate) const DELETE_MARKED: &str =
    "DELETE FROM loose_files WHERE kind = $1 AND sha256 = $2 AND condemned = $3";

pub(crate) const ALL_DATASETS: &str = "SELECT name FROM datasets ORDER BY name";

/// Whoever writes to a dataset's history passes here first.
pub(crate) const LOCK_DATASET: &str = "UPDATE datasets SET checked_at = checked_at WHERE name = $1";
