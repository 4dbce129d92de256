//! Shares of callers in what all callers share: slots (open responses, sandbox instances), bytes of
//! bodies in flight and of selections, and processor time. Counts and queues, nothing else: knows
//! neither HTTP nor guests, and never waits for anything but a slot or bytes.

mod byte_budget;
mod caller_share;
mod fair_slots;
mod processor_time;

pub use byte_budget::{ByteBudget, ByteLease};
pub use caller_share::{CallerRegistry, CallerShare, SharePercent};
pub use fair_slots::{AcquireError, FairSlots, SlotKind, SlotPermit};
