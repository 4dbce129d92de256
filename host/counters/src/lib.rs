//! Counters that any thread adds to without a lock, and one way to declare a set of them together
//! with its reading. Relaxed throughout: each is true by itself, together they may be some
//! instructions apart. Never touches names, help texts or labels: those who show a reading own
//! them.

mod declare;

use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// A value that is counted, and that can be read at any time.
pub trait Metric {
    /// Its value at one moment.
    type Reading;

    /// Returns its value now.
    fn read(&self) -> Self::Reading;
}

/// A number that only grows.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds one, and returns the number before it.
    pub fn increment(&self) -> u64 {
        self.add(1)
    }

    /// Adds `more`, and returns the number before it.
    pub fn add(&self, more: u64) -> u64 {
        self.0.fetch_add(more, Ordering::Relaxed)
    }
}

impl Metric for Counter {
    type Reading = u64;

    fn read(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Durations, added up. 584 years fit.
#[derive(Debug, Default)]
pub struct TimeCounter(AtomicU64);

impl TimeCounter {
    /// Adds a duration.
    pub fn add(&self, time: Duration) {
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.0.fetch_add(nanoseconds, Ordering::Relaxed);
    }
}

impl Metric for TimeCounter {
    type Reading = Duration;

    fn read(&self) -> Duration {
        Duration::from_nanos(self.0.load(Ordering::Relaxed))
    }
}

/// A number of things that are there now, or the greatest size of one.
#[derive(Debug, Default)]
pub struct Gauge(AtomicUsize);

impl Gauge {
    /// Adds one.
    pub fn increment(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes one away.
    pub fn decrement(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }

    /// Sets it.
    pub fn set(&self, value: usize) {
        self.0.store(value, Ordering::Relaxed);
    }

    /// Sets it where `value` is greater. Written only while it grows: reading a line of memory that
    /// many cores share is cheap.
    pub fn raise_to(&self, value: usize) {
        if value > self.0.load(Ordering::Relaxed) {
            self.0.fetch_max(value, Ordering::Relaxed);
        }
    }
}

impl Metric for Gauge {
    type Reading = usize;

    fn read(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// A place in a reading for a value that nothing counts: its default until it was measured.
#[derive(Debug, Default)]
pub struct ReadingSlot<T>(PhantomData<fn() -> T>);

impl<T: Default> Metric for ReadingSlot<T> {
    type Reading = T;

    fn read(&self) -> T {
        T::default()
    }
}

impl<M: Metric, const N: usize> Metric for [M; N] {
    type Reading = [M::Reading; N];

    fn read(&self) -> Self::Reading {
        self.each_ref().map(M::read)
    }
}
