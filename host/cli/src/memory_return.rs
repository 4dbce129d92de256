//! Choice of a command when the allocator gives freed memory back. The program owns its allocator;
//! it hands in what sets it.

/// Time at which freed memory goes back to the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryReturn {
    /// As soon as it is freed.
    AtOnce,
    /// After a pause in which it may be needed again.
    Soon,
}

/// Tells the program's allocator.
pub type SetMemoryReturn = fn(MemoryReturn);
