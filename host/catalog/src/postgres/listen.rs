//! Notifications between hosts that the revision has moved (`NOTIFY`, by a trigger in
//! `migrations/postgres`). They only make hosts poll earlier; without any, a host still polls twice
//! a second.

use std::time::Duration;

use sqlx::pool::CloseEvent;
use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions};
use tokio::sync::watch;

/// As in the trigger.
const CHANNEL: &str = "yearbook_revision";

const SCHEMA: &str = "SELECT current_schema()::text";

/// Delay before connecting again.
const RECONNECT_DELAY: Duration = Duration::from_secs(1);

/// Listens on a connection of its own until the last receiver is dropped or the pool is closed.
pub(super) fn start(options: PgConnectOptions, closing: CloseEvent) -> watch::Receiver<()> {
    let (sender, receiver) = watch::channel(());
    tokio::spawn(async move {
        tokio::select! {
            () = closing => {}
            () = sender.closed() => {}
            () = reconnect_loop(options, &sender) => {}
        }
    });
    receiver
}

async fn reconnect_loop(options: PgConnectOptions, sender: &watch::Sender<()>) {
    let pool = PgPoolOptions::new()
        .max_connections(1)
        .acquire_timeout(RECONNECT_DELAY)
        .connect_lazy_with(options);
    loop {
        // An outage is logged where requests fail.
        let ended = listen(&pool, sender).await;
        tracing::debug!(error = ?ended.err(), "nobody tells of changes; looking for them all the same");
        tokio::time::sleep(RECONNECT_DELAY).await;
    }
}

async fn listen(pool: &sqlx::PgPool, sender: &watch::Sender<()>) -> Result<(), sqlx::Error> {
    let mut listener = PgListener::connect_with(pool).await?;
    let ours: String = sqlx::query_scalar(SCHEMA).fetch_one(&mut listener).await?;
    listener.listen(CHANNEL).await?;
    loop {
        // None: the connection was lost and is there again; what happened in between is not known.
        if listener.try_recv().await?.is_none_or(|told| told.payload() == ours) {
            sender.send_replace(());
        }
    }
}
