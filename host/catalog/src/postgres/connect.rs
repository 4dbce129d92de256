//! Opens PostgreSQL: reads the address, migrates on one connection, which also finds out whether
//! the server works, then makes a pool.

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{ConnectOptions, Connection};

use super::circuit_breaker::PostgresCircuitBreaker;
use super::{PostgresServer, listen};
use crate::migrations::migrate_postgres;
use crate::sql::with_timeout;
use crate::{CatalogError, DatabaseSettings};

/// Idle time after which a connection is pinged before it is used.
const PING_AFTER_IDLE: Duration = Duration::from_secs(1);

/// Time that the server waits for a host that has fallen silent inside a transaction before it
/// rolls that back and frees its locks.
const IDLE_IN_TRANSACTION_TIMEOUT: Duration = Duration::from_secs(10);

/// Parameters of an address after its `?`, beyond settings of the session as `options[name]`.
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

        let circuit_breaker = Arc::new(PostgresCircuitBreaker::new());
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
        let notifications = listen::start(options, pool.close_event());
        Ok(Self {
            pool,
            circuit_breaker,
            answer: settings.statement_timeout(),
            notifications,
            location,
        })
    }
}

/// Reads the address. Errors quote nothing of it: there may be a password anywhere.
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
        // The server stops statements that no client waits for.
        .options([
            ("statement_timeout", milliseconds(settings.statement_timeout())),
            ("idle_in_transaction_session_timeout", milliseconds(IDLE_IN_TRANSACTION_TIMEOUT)),
        ]);
    Ok(options.disable_statement_logging())
}

/// Returns host, port and database, for people.
fn describe_location(options: &PgConnectOptions) -> String {
    let database = options.get_database().unwrap_or_default();
    match options.get_socket() {
        Some(folder) => format!("{} in {}", database, folder.display()),
        None => format!("{}:{}/{database}", options.get_host(), options.get_port()),
    }
}
