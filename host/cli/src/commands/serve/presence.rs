//! Presence of a host: it says in the catalog that it serves, which release it is and what it knows
//! of the database's clock, for `yearbook doctor` (contract-21-release-clock).

use std::fs;
use std::net::SocketAddr;
use std::sync::{Arc, Weak};
use std::time::Duration;

use anyhow::Context as _;
use yearbook_catalog::{Catalog, CatalogCache, ClockReading, HostRecord, clock, key};

/// Interval at which a host says that it serves.
pub(in crate::commands) const INTERVAL: Duration = Duration::from_secs(10);

/// Host that says so until it stops.
pub(super) struct Presence {
    catalog: Arc<Catalog>,
    id: String,
}

impl Presence {
    /// Says from now on that this host serves at `address`, as long as `live` is there.
    ///
    /// # Errors
    /// Fails when the machine gives no random numbers.
    pub(super) fn start(
        catalog: &Arc<Catalog>,
        live: &Arc<CatalogCache>,
        address: SocketAddr,
    ) -> anyhow::Result<Self> {
        let id = key::new_record_id("host").context("this host has no name")?;
        let host = HostRecord {
            id: id.clone(),
            name: format!("{} {address}", machine_name()),
            release: env!("CARGO_PKG_VERSION").to_owned(),
            migration: Catalog::newest_migration(),
            seen_at: live.time(),
            clock: None,
        };
        tokio::spawn(send_heartbeats(Arc::clone(catalog), Arc::downgrade(live), host));
        Ok(Self { catalog: Arc::clone(catalog), id })
    }

    /// Says that this host has stopped.
    pub(super) async fn end(self) {
        if let Err(failure) = self.catalog.forget_host(&self.id).await {
            tracing::debug!(%failure, "nobody knows that this host has stopped");
        }
    }
}

async fn send_heartbeats(catalog: Arc<Catalog>, live: Weak<CatalogCache>, host: HostRecord) {
    loop {
        let Some(live) = live.upgrade() else { return };
        let host = HostRecord {
            seen_at: live.time(),
            clock: live.clock_reading().map(clock_of),
            ..host.clone()
        };
        drop(live);
        if let Err(failure) = catalog.note_host(&host).await {
            // Only operators miss it.
            tracing::debug!(%failure, "nobody knows that this host serves");
        }
        tokio::time::sleep(INTERVAL).await;
    }
}

/// Knowledge of the database's clock, beside that of this machine.
fn clock_of(reading: ClockReading) -> (i64, u64) {
    let uncertainty = u64::try_from(reading.uncertainty.as_millis()).unwrap_or(u64::MAX);
    (reading.least.0.saturating_sub(clock::now().0), uncertainty)
}

fn machine_name() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname");
    name.map_or_else(|_| "host".to_owned(), |name| name.trim().to_owned())
}
