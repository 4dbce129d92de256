//! The instances that make one response. One begins and ends it; further ones help where parts are
//! independent, as long as workers would be idle otherwise and instances are plenty: whatever is
//! made, no other response ever waits for these.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};
use yearbook_shares::{CallerShare, SlotPermit};

use super::PluginEncoder;
use crate::encode::EncoderInstance;

/// Time that a further instance stays idle: a client that reads slowly needs one only.
const IDLE: Duration = Duration::from_millis(100);

/// The instances of a response that make nothing at the moment, and a count of all.
pub(crate) struct InstancePool {
    /// The instance that made the head and will make the tail.
    first: Option<Box<EncoderInstance>>,
    spare: Vec<EncoderInstance>,
    /// Time at which the last of `spare` became idle.
    since: Instant,
    /// Instances alive, at work or not.
    held: usize,
    /// Instances at most.
    width: usize,
    /// Owner of the share that they count in.
    holder: CallerShare,
}

/// Instance for a chunk.
pub(crate) enum InstanceLease {
    /// An instance that has been opened; `first`: the one for the tail.
    Reused { instance: Box<EncoderInstance>, first: bool },
    /// A place for an instance that is still to be opened.
    New(SlotPermit),
}

impl InstancePool {
    /// `width`: how many instances there may be at once, on the account of `holder`.
    pub(crate) fn new(first: Box<EncoderInstance>, width: usize, holder: CallerShare) -> Self {
        Self {
            first: Some(first),
            spare: Vec::new(),
            since: Instant::now(),
            held: 1,
            width,
            holder,
        }
    }

    /// One that can begin a part now.
    pub(crate) fn take(&mut self, encoder: &PluginEncoder) -> Option<InstanceLease> {
        if let Some(instance) = self.first.take() {
            return Some(InstanceLease::Reused { instance, first: true });
        }
        // The first is at work, so this part can wait: it only goes ahead where nobody else would.
        if !encoder.host.admission.has_idle_worker() {
            return None;
        }
        if let Some(instance) = self.spare.pop() {
            return Some(InstanceLease::Reused { instance: Box::new(instance), first: false });
        }
        if self.held >= self.width {
            return None;
        }
        let permit = encoder.host.admission.try_extra_instance(&self.holder)?;
        self.held += 1;
        Some(InstanceLease::New(permit))
    }

    /// After its part.
    pub(crate) fn give_back(&mut self, instance: Box<EncoderInstance>, first: bool) {
        if first {
            self.first = Some(instance);
        } else {
            self.spare.push(*instance);
            self.since = Instant::now();
        }
    }

    /// The one for the tail; it is gone from here.
    pub(crate) fn first(&mut self) -> Option<Box<EncoderInstance>> {
        self.first.take()
    }

    /// Returns whether an instance is idle that is not needed for the footer.
    pub(crate) fn has_idle(&self) -> bool {
        !self.spare.is_empty()
    }

    /// Waits until they have rested long enough to be let go.
    pub(crate) async fn idle_timeout(&self) {
        sleep_until(self.since + IDLE).await;
    }

    /// Lets those go that rest.
    pub(crate) fn drop_idle(&mut self) {
        self.held -= self.spare.len();
        self.spare.clear();
    }
}
