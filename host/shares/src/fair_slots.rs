//! Slots that callers share. Nobody holds more than its share; when all are taken, requests wait,
//! and a slot that comes free goes to the caller that holds the fewest, first come first served
//! among equals (decision 0226).

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use crate::caller_share::CallerShare;

/// Kind of slots. A caller's share of one says nothing about the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotKind {
    /// Responses whose body has not ended.
    Responses,
    /// Instances of the sandbox.
    Instances,
}

impl SlotKind {
    pub(crate) const COUNT: usize = 2;
}

/// Slots of one resource.
pub struct FairSlots {
    resource: SlotKind,
    total: usize,
    /// Free ones. Changed under the lock alone.
    free: AtomicUsize,
    waiting: Mutex<VecDeque<Waiter>>,
}

/// One slot, free again when this is dropped.
pub struct SlotPermit {
    slots: Arc<FairSlots>,
    holder: CallerShare,
}

/// Reason why there is no slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AcquireError {
    /// All are taken.
    AllTaken,
    /// There are free ones; the caller's share is used up.
    ShareExhausted,
}

struct Waiter {
    holder: CallerShare,
    sender: oneshot::Sender<SlotPermit>,
}

/// A request that waits, counted until this is dropped.
struct WaitingCount<'a> {
    holder: &'a CallerShare,
    resource: SlotKind,
}

impl FairSlots {
    /// So many free slots.
    #[must_use]
    pub fn new(resource: SlotKind, total: usize) -> Arc<Self> {
        Arc::new(Self { resource, total, free: AtomicUsize::new(total), waiting: Mutex::default() })
    }

    /// Their kind.
    #[must_use]
    pub fn resource(&self) -> SlotKind {
        self.resource
    }

    /// Slots that there are.
    #[must_use]
    pub fn total(&self) -> usize {
        self.total
    }

    /// Slots that nobody holds.
    #[must_use]
    pub fn free(&self) -> usize {
        self.free.load(Ordering::Relaxed)
    }

    /// A slot, where one can be had now.
    ///
    /// # Errors
    /// [`AcquireError`].
    pub fn try_acquire(self: &Arc<Self>, holder: &CallerShare) -> Result<SlotPermit, AcquireError> {
        // A caller that waits while slots are free has no share left, so nobody is overtaken.
        let _guard = self.lock();
        if self.free() == 0 || !self.has_share(holder) {
            return Err(self.reason(holder));
        }
        Ok(self.take(holder))
    }

    /// A slot, as soon as the caller's turn comes. Requests of one caller that wait at once are as
    /// many as its share has slots, unless `unbounded`. Dropping the future gives up the turn.
    ///
    /// # Errors
    /// [`AcquireError`] when too many of the caller's requests wait already.
    pub async fn acquire(
        self: &Arc<Self>,
        holder: &CallerShare,
        unbounded: bool,
    ) -> Result<SlotPermit, AcquireError> {
        let resource = self.resource;
        let granted = {
            let mut waiting = self.lock();
            if self.free() > 0 && self.has_share(holder) {
                return Ok(self.take(holder));
            }
            let crowded = holder.callers().any(|caller| {
                caller.waiting(resource).load(Ordering::Relaxed) >= caller.max_slots(self.total)
            });
            if crowded && !unbounded {
                return Err(self.reason(holder));
            }
            // Requests that gave up would pile up where no slot comes free.
            if waiting.len() == waiting.capacity() {
                waiting.retain(|waiter| !waiter.sender.is_closed());
            }
            let (sender, granted) = oneshot::channel();
            waiting.push_back(Waiter { holder: holder.clone(), sender });
            granted
        };
        let _waiting = WaitingCount::begin(holder, resource);
        granted.await.map_err(|_| AcquireError::AllTaken)
    }

    /// Returns the reason why a request waited in vain.
    #[must_use]
    pub fn reason(&self, holder: &CallerShare) -> AcquireError {
        if self.free() > 0 && !self.has_share(holder) {
            AcquireError::ShareExhausted
        } else {
            AcquireError::AllTaken
        }
    }

    fn has_share(&self, holder: &CallerShare) -> bool {
        holder.callers().all(|caller| caller.has_slot(self.resource, self.total))
    }

    /// Takes a free slot. Call it under the lock.
    fn take(self: &Arc<Self>, holder: &CallerShare) -> SlotPermit {
        self.free.fetch_sub(1, Ordering::Relaxed);
        holder.add(|caller| caller.held(self.resource), 1);
        SlotPermit { slots: Arc::clone(self), holder: holder.clone() }
    }

    /// Puts a slot back, and hands out what is free to those that wait.
    fn release(self: &Arc<Self>, holder: &CallerShare) {
        let mut granted = Vec::new();
        {
            let mut waiting = self.lock();
            self.free.fetch_add(1, Ordering::Relaxed);
            holder.subtract(|caller| caller.held(self.resource), 1);
            while self.free() > 0
                && let Some(next) = self.next(&mut waiting)
            {
                granted.push((next.sender, self.take(&next.holder)));
            }
        }
        // Without the lock: a slot whose request went away meanwhile comes back here.
        for (sender, slot) in granted {
            drop(sender.send(slot));
        }
    }

    /// The request whose turn it is: of those within their share the one whose callers hold the
    /// fewest.
    fn next(&self, waiting: &mut VecDeque<Waiter>) -> Option<Waiter> {
        if waiting.is_empty() {
            return None;
        }
        waiting.retain(|waiter| !waiter.sender.is_closed());
        let held = |waiter: &Waiter| {
            let each = waiter
                .holder
                .callers()
                .map(|caller| caller.held(self.resource).load(Ordering::Relaxed));
            each.max().unwrap_or(0)
        };
        let within =
            waiting.iter().enumerate().filter(|(_, waiter)| self.has_share(&waiter.holder));
        let (position, _) = within.min_by_key(|(_, waiter)| held(waiter))?;
        waiting.remove(position)
    }

    /// Nothing under the lock can fail half-way.
    fn lock(&self) -> MutexGuard<'_, VecDeque<Waiter>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for SlotPermit {
    fn drop(&mut self) {
        self.slots.release(&self.holder);
    }
}

impl<'a> WaitingCount<'a> {
    fn begin(holder: &'a CallerShare, resource: SlotKind) -> Self {
        holder.add(|caller| caller.waiting(resource), 1);
        Self { holder, resource }
    }
}

impl Drop for WaitingCount<'_> {
    fn drop(&mut self) {
        self.holder.subtract(|caller| caller.waiting(self.resource), 1);
    }
}

#[cfg(test)]
mod tests;
