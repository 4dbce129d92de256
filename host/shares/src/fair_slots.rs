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
    count: usize,
    sender: oneshot::Sender<Vec<SlotPermit>>,
}

/// A request that waits, counted until this is dropped.
struct WaitingTurn<'a> {
    slots: &'a Arc<FairSlots>,
    holder: &'a CallerShare,
    count: usize,
    granted: oneshot::Receiver<Vec<SlotPermit>>,
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
        let slots = self.try_acquire_many(holder, 1)?;
        slots.into_iter().next().ok_or(AcquireError::AllTaken)
    }

    /// So many slots, where all of them can be had now.
    ///
    /// # Errors
    /// [`AcquireError`].
    pub fn try_acquire_many(
        self: &Arc<Self>,
        holder: &CallerShare,
        count: usize,
    ) -> Result<Vec<SlotPermit>, AcquireError> {
        let waiting = self.lock();
        if self.may_take(&waiting, holder, count) {
            Ok(self.take(holder, count))
        } else {
            Err(self.reason(holder, count))
        }
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
        let slots = self.wait_for(holder, 1, unbounded).await?;
        slots.into_iter().next().ok_or(AcquireError::AllTaken)
    }

    /// So many slots, all of them as soon as the caller's turn comes and they are free; nobody else
    /// takes one meanwhile. A caller that holds none may have more than its share.
    ///
    /// # Errors
    /// [`AcquireError`] when too many of the caller's requests wait already, or when there are not
    /// so many slots.
    pub async fn acquire_many(
        self: &Arc<Self>,
        holder: &CallerShare,
        count: usize,
    ) -> Result<Vec<SlotPermit>, AcquireError> {
        self.wait_for(holder, count, false).await
    }

    async fn wait_for(
        self: &Arc<Self>,
        holder: &CallerShare,
        count: usize,
        unbounded: bool,
    ) -> Result<Vec<SlotPermit>, AcquireError> {
        if count > self.total {
            return Err(AcquireError::AllTaken);
        }
        let granted = {
            let mut waiting = self.lock();
            if self.may_take(&waiting, holder, count) {
                return Ok(self.take(holder, count));
            }
            let crowded = holder.callers().any(|caller| {
                let waiting = caller.waiting(self.resource).load(Ordering::Relaxed);
                waiting >= caller.max_slots(self.total)
            });
            if crowded && !unbounded {
                return Err(self.reason(holder, count));
            }
            // Requests that gave up would pile up where no slot comes free.
            if waiting.len() == waiting.capacity() {
                waiting.retain(|waiter| !waiter.sender.is_closed());
            }
            let (sender, granted) = oneshot::channel();
            waiting.push_back(Waiter { holder: holder.clone(), count, sender });
            granted
        };
        let mut turn = WaitingTurn::begin(self, holder, count, granted);
        (&mut turn.granted).await.map_err(|_| AcquireError::AllTaken)
    }

    /// Returns the reason why a request for so many waited in vain.
    #[must_use]
    pub fn reason(&self, holder: &CallerShare, count: usize) -> AcquireError {
        if self.free() >= count && !self.has_share(holder, count) {
            AcquireError::ShareExhausted
        } else {
            AcquireError::AllTaken
        }
    }

    fn has_share(&self, holder: &CallerShare, count: usize) -> bool {
        holder.callers().all(|caller| caller.has_slots(self.resource, self.total, count))
    }

    /// Returns true when so many are free, and nobody waits for them. Call it under the lock.
    fn may_take(&self, waiting: &VecDeque<Waiter>, holder: &CallerShare, count: usize) -> bool {
        // A caller that waits for one while slots are free has no share left, so it is not
        // overtaken.
        let wanted = |waiter: &Waiter| {
            waiter.count > 1
                && !waiter.sender.is_closed()
                && self.has_share(&waiter.holder, waiter.count)
        };
        self.free() >= count && self.has_share(holder, count) && !waiting.iter().any(wanted)
    }

    /// Takes free slots. Call it under the lock.
    fn take(self: &Arc<Self>, holder: &CallerShare, count: usize) -> Vec<SlotPermit> {
        self.free.fetch_sub(count, Ordering::Relaxed);
        holder.add(|caller| caller.held(self.resource), count);
        let slot = || SlotPermit { slots: Arc::clone(self), holder: holder.clone() };
        std::iter::repeat_with(slot).take(count).collect()
    }

    /// Puts a slot back, and hands out what is free to those that wait.
    fn release(self: &Arc<Self>, holder: &CallerShare) {
        let waiting = self.lock();
        self.free.fetch_add(1, Ordering::Relaxed);
        holder.subtract(|caller| caller.held(self.resource), 1);
        self.hand_out(waiting);
    }

    /// Hands out what is free to those that wait.
    fn hand_out(self: &Arc<Self>, mut waiting: MutexGuard<'_, VecDeque<Waiter>>) {
        let mut granted = Vec::new();
        while self.free() > 0
            && let Some(next) = self.next(&mut waiting)
        {
            granted.push((next.sender, self.take(&next.holder, next.count)));
        }
        drop(waiting);
        // Without the lock: slots whose request went away meanwhile come back here.
        for (sender, slots) in granted {
            drop(sender.send(slots));
        }
    }

    /// The request whose turn it is: of those within their share the one whose callers hold the
    /// fewest. `None` where it waits for more slots than are free: they stay free for it.
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
        let within = waiting
            .iter()
            .enumerate()
            .filter(|(_, waiter)| self.has_share(&waiter.holder, waiter.count));
        let (position, waiter) = within.min_by_key(|(_, waiter)| held(waiter))?;
        if waiter.count > self.free() {
            return None;
        }
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

impl<'a> WaitingTurn<'a> {
    fn begin(
        slots: &'a Arc<FairSlots>,
        holder: &'a CallerShare,
        count: usize,
        granted: oneshot::Receiver<Vec<SlotPermit>>,
    ) -> Self {
        holder.add(|caller| caller.waiting(slots.resource), 1);
        Self { slots, holder, count, granted }
    }
}

impl Drop for WaitingTurn<'_> {
    fn drop(&mut self) {
        self.holder.subtract(|caller| caller.waiting(self.slots.resource), 1);
        // While it waited for several, free ones were kept for it; those that were granted and not
        // looked at go back with the receiver.
        if self.count > 1 {
            self.granted.close();
            self.slots.hand_out(self.slots.lock());
        }
    }
}

#[cfg(test)]
mod tests;
