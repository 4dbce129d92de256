//! Slots for connections: so many in all, and so many for one address, so that nobody fills the
//! server alone. Proxies that an operator trusts have no bound of their own, since all clients come
//! through them.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::process::{Resource, getrlimit};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::client_address::address_block;
use crate::metrics::ConnectionRefusal;
use crate::rate_limit::WAITING_REFUSALS;
use crate::settings::{ServerSettings, TrustedProxies};

/// Connections that may wait for a slot while all are taken: what comes within the second that the
/// next ones need to come free. More are closed at once, so that the queue holds few descriptors.
const QUEUE_LENGTH: usize = 64;

/// The slots of one listener.
pub(super) struct ConnectionSlots {
    all: Arc<Semaphore>,
    queue: Arc<Semaphore>,
    late: Arc<Semaphore>,
    per_address: usize,
    trusted_proxies: TrustedProxies,
    held: Mutex<HashMap<IpAddr, usize>>,
}

/// A connection that may have a slot, at once or when one comes free.
pub(super) struct ConnectionAdmission {
    place: SlotOrQueue,
    address: Option<AddressSlot>,
    all: Arc<Semaphore>,
}

enum SlotOrQueue {
    Slot(OwnedSemaphorePermit),
    Queue(OwnedSemaphorePermit),
}

/// A slot, until it is dropped.
pub(super) struct ConnectionSlot {
    _permit: OwnedSemaphorePermit,
    _address: Option<AddressSlot>,
}

/// One of an address's slots, until it is dropped.
struct AddressSlot {
    slots: Arc<ConnectionSlots>,
    household: IpAddr,
}

impl ConnectionSlots {
    /// As many as the settings say.
    pub(super) fn new(settings: &ServerSettings) -> Arc<Self> {
        let all = settings.connections.max(1);
        // However few slots there are, one address leaves half of them to others.
        let per_address = settings.connections_per_address.min(all / 2).max(1);
        Arc::new(Self {
            all: Arc::new(Semaphore::new(all)),
            queue: Arc::new(Semaphore::new(QUEUE_LENGTH)),
            late: Arc::new(Semaphore::new(late_places(all, getrlimit(Resource::Nofile).current))),
            per_address,
            trusted_proxies: settings.trusted_proxies.clone(),
            held: Mutex::default(),
        })
    }

    /// Lets a connection from `peer` in, never waiting.
    ///
    /// # Errors
    /// Fails when its address holds its share, or when all slots and places in the queue are taken.
    pub(super) fn admit(
        self: &Arc<Self>,
        peer: IpAddr,
    ) -> Result<ConnectionAdmission, ConnectionRefusal> {
        let address = self.acquire_for_address(peer)?;
        let slot = Arc::clone(&self.all).try_acquire_owned().map(SlotOrQueue::Slot);
        let place =
            slot.or_else(|_| Arc::clone(&self.queue).try_acquire_owned().map(SlotOrQueue::Queue));
        let place = place.map_err(|_| ConnectionRefusal::Full)?;
        Ok(ConnectionAdmission { place, address, all: Arc::clone(&self.all) })
    }

    /// Returns a place in which a connection without a slot may be held for a while, as long as
    /// there are enough descriptors for others.
    pub(super) fn late_place(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.late).try_acquire_owned().ok()
    }

    fn acquire_for_address(
        self: &Arc<Self>,
        peer: IpAddr,
    ) -> Result<Option<AddressSlot>, ConnectionRefusal> {
        if self.trusted_proxies.contains(peer.to_canonical()) {
            return Ok(None);
        }
        let household = address_block(peer);
        let mut held = self.held();
        let count = held.entry(household).or_default();
        if *count >= self.per_address {
            return Err(ConnectionRefusal::Address);
        }
        *count += 1;
        Ok(Some(AddressSlot { slots: Arc::clone(self), household }))
    }

    /// Counting cannot fail half-way, so a poisoned lock holds good counts.
    fn held(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Places for connections without a slot until they are closed late: half of the descriptors that
/// slots leave of those which this process may open, and no more than refusals may wait.
fn late_places(slots: usize, descriptors: Option<u64>) -> usize {
    let slots = u64::try_from(slots).unwrap_or(u64::MAX);
    let spare = descriptors.map_or(u64::MAX, |descriptors| descriptors.saturating_sub(slots) / 2);
    usize::try_from(spare).unwrap_or(usize::MAX).min(WAITING_REFUSALS)
}

impl ConnectionAdmission {
    /// The slot, as soon as one is free; first come, first served.
    pub(super) async fn wait_for_slot(self) -> ConnectionSlot {
        let permit = match self.place {
            SlotOrQueue::Slot(permit) => Some(permit),
            SlotOrQueue::Queue(_in_line) => self.all.acquire_owned().await.ok(),
        };
        match permit {
            Some(permit) => ConnectionSlot { _permit: permit, _address: self.address },
            // Nobody closes the semaphore.
            None => std::future::pending().await,
        }
    }
}

impl Drop for AddressSlot {
    fn drop(&mut self) {
        let mut held = self.slots.held();
        if let Some(count) = held.get_mut(&self.household) {
            *count -= 1;
            if *count == 0 {
                held.remove(&self.household);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use futures::FutureExt;

    use super::*;

    fn slots(connections: usize, connections_per_address: usize) -> Arc<ConnectionSlots> {
        let trusted_proxies = TrustedProxies::try_from(vec!["10.0.0.0/8".to_owned()]).unwrap();
        ConnectionSlots::new(&ServerSettings {
            connections,
            connections_per_address,
            trusted_proxies,
            ..ServerSettings::default()
        })
    }

    fn admit(
        slots: &Arc<ConnectionSlots>,
        peer: &str,
    ) -> Result<ConnectionAdmission, ConnectionRefusal> {
        slots.admit(peer.parse().unwrap())
    }

    #[test]
    fn an_address_has_its_share_of_slots_and_a_proxy_all_of_them() {
        // Connections, share, who asks from then on, and how many of 200 are let in.
        for (connections, share, peers, expected) in [
            (100, 3, &["192.0.2.1"][..], 3),
            (100, 3, &["192.0.2.1", "::ffff:192.0.2.1"], 3),
            (100, 3, &["2001:db8::1", "2001:db8::2"], 3),
            (100, 3, &["192.0.2.1", "192.0.2.2"], 6),
            (100, 3, &["2001:db8:0:1::1", "2001:db8:0:2::1"], 6),
            // However large the share, half is left to others; a share of nothing would be no
            // service.
            (8, 512, &["192.0.2.1"], 4),
            (1, 512, &["192.0.2.1"], 1),
            (100, 0, &["192.0.2.1"], 1),
            // A proxy has what there is, and the queue.
            (100, 3, &["10.0.0.1"], 100 + QUEUE_LENGTH),
            (100, 3, &["::ffff:10.0.0.1"], 100 + QUEUE_LENGTH),
        ] {
            let slots = slots(connections, share);
            let let_in: Vec<ConnectionAdmission> = peers
                .iter()
                .cycle()
                .take(200)
                .filter_map(|peer| admit(&slots, peer).ok())
                .collect();
            assert_eq!(let_in.len(), expected, "{connections} {share} {peers:?}");
            drop(let_in);
            assert!(slots.held().is_empty(), "an address that left takes no memory");
            assert_eq!(
                (slots.all.available_permits(), slots.queue.available_permits()),
                (connections, QUEUE_LENGTH)
            );
        }
    }

    #[test]
    fn connections_that_are_closed_late_leave_descriptors_to_others() {
        for (slots, descriptors, expected) in [
            (8_192, Some(65_536), 4_096),
            (8_192, Some(10_000), 904),
            (8_192, Some(1_024), 0),
            (8_192, None, 4_096),
            (usize::MAX, Some(65_536), 0),
        ] {
            assert_eq!(late_places(slots, descriptors), expected, "{slots} {descriptors:?}");
        }
    }

    #[test]
    fn who_waits_gets_the_next_slot_and_whoever_is_one_too_many_is_told_at_once() {
        let slots = slots(2, 1);
        let first = admit(&slots, "192.0.2.1").unwrap().wait_for_slot().now_or_never().unwrap();
        let _second = admit(&slots, "192.0.2.2").unwrap().wait_for_slot().now_or_never().unwrap();
        assert_eq!(
            admit(&slots, "192.0.2.1").err(),
            Some(ConnectionRefusal::Address),
            "though there is room in the queue"
        );
        let mut third = Box::pin(admit(&slots, "192.0.2.3").unwrap().wait_for_slot());
        assert!(third.as_mut().now_or_never().is_none());
        let queue: Vec<ConnectionAdmission> = (1..QUEUE_LENGTH)
            .map(|host| admit(&slots, &format!("192.0.3.{host}")).unwrap())
            .collect();
        assert_eq!(admit(&slots, "192.0.2.9").err(), Some(ConnectionRefusal::Full));
        drop(first);
        assert!(third.as_mut().now_or_never().is_some());
        drop(queue);
        assert!(admit(&slots, "192.0.2.9").is_ok());
    }
}
