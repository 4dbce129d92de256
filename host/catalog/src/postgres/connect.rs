//! How PostgreSQL is opened: the address, one connection to find out whether it works and to bring
//! the tables up to date, then a pool.

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{ConnectOptions, Connection};

use super::circuit_breaker::PostgresCircuitBreaker;
use super::{PostgresServer, listen};
use crate::database::sql::with_timeout;
use crate::migrations::migrate_postgres;
use crate::{CatalogError, DatabaseSettings};

/// A connection that nobody has used for so long is asked whether it still works before somebody
/// relies on it.
const PING_AFTER_IDLE: Duration = Duration::from_secs(1);

/// How long the server waits for a host that has fallen silent inside a transaction before it rolls
/// that back and frees what it holds.
const IDLE_IN_TRANSACTION_TIMEOUT: Duration = Duration::from_secs(10);

/// What an address may say after its `?`, beyond settings of the session as `options[name]`.
const PARAMETERS: [&str; 18] = [
    "sslmode",
    "ssl-mode",
    "sslrootcert",
    "ssl-root-cert",
    "ssl-ca",
    "sslcert",
    "ssl-cert",
    "sslkey",
    "ssl-key",
    "statement-cache-capacity",
    "host",
    "hostaddr",
    "port",
    "dbname",
    "user",
    "password",
    "application_name",
    "options",
];

impl PostgresServer {
    /// Connects to `postgres://user@host:port/database`, and migrates it.
    pub(crate) async fn open(url: &str, settings: &DatabaseSettings) -> Result<Self, CatalogError> {
        let options = parse_options(url, settings)?;
        let location = describe_location(&options);
        let unreachable = |source| CatalogError::Unreachable { location: location.clone(), source };
        // Not through the pool, which keeps its reasons to itself.
        let mut connection = with_timeout(
            settings.acquire_timeout().max(settings.statement_timeout()),
            options.connect(),
        )
        .await
        .map_err(unreachable)?;
        migrate_postgres(&mut connection, &location).await?;
        connection.close().await.map_err(unreachable)?;

        let presence = Arc::new(PostgresCircuitBreaker::new());
        let pool = PgPoolOptions::new()
            .max_connections(settings.connections.max(1))
            .acquire_timeout(settings.acquire_timeout())
            .test_before_acquire(false)
            .before_acquire(|connection, metadata| {
                Box::pin(async move {
                    if metadata.idle_for > PING_AFTER_IDLE {
                        connection.ping().await?;
                    }
                    Ok(true)
                })
            })
            .connect_lazy_with(options.clone());
        let moves = listen::start(options, pool.close_event());
        Ok(Self { pool, presence, answer: settings.statement_timeout(), moves, location })
    }
}

/// Reads the address. What it holds is never repeated: there may be a password anywhere in it.
fn parse_options(url: &str, settings: &DatabaseSettings) -> Result<PgConnectOptions, CatalogError> {
    let bad = |reason: &str| CatalogError::BadPostgresAddress { reason: reason.to_owned() };
    if let Some((_, query)) = url.split_once('?') {
        for name in query.split('&').filter_map(|pair| pair.split('=').next()) {
            let session = name.starts_with("options[") || name.starts_with("options%5B");
            if !session && !PARAMETERS.contains(&name) {
                return Err(bad("it has parameters that are not known"));
            }
        }
    }
    let options = PgConnectOptions::from_str(url)
        .map_err(|_| bad("it is no address, or one of its parameters has a wrong value"))?;
    if options.get_database().is_none() {
        return Err(bad("it names no database"));
    }
    let milliseconds = |duration: Duration| duration.as_millis().to_string();
    let name = options.get_application_name().unwrap_or("yearbook").to_owned();
    let options = options
        .application_name(&name)
        // The server stops what nobody waits for any more.
        .options([
            ("statement_timeout", milliseconds(settings.statement_timeout())),
            ("idle_in_transaction_session_timeout", milliseconds(IDLE_IN_TRANSACTION_TIMEOUT)),
        ]);
    Ok(options.disable_statement_logging())
}

/// Host, port and database.
fn describe_location(options: &PgConnectOptions) -> String {
    let database = options.get_database().unwrap_or_default();
    match options.get_socket() {
        Some(folder) => format!("{} in {}", database, folder.display()),
        None => format!("{}:{}/{database}", options.get_host(), options.get_port()),
    }
}
