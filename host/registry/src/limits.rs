//! Bounds on what a registry may cost: bytes, time and number of answers.

use std::time::Duration;

/// Bounds of one transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegistryLimits {
    /// Largest component that is pulled, bytes. The host's `sandbox.component_bytes`.
    pub component_bytes: usize,
    /// Longest time for one transfer with everything that belongs to it. Default 5 minutes: 32 MiB
    /// over a line of 1 Mbit/s.
    pub total: Duration,
    /// Longest time in which no byte arrives. Default 20 s.
    pub idle: Duration,
}

impl RegistryLimits {
    /// The defaults, for components of up to `component_bytes`.
    #[must_use]
    pub fn new(component_bytes: usize) -> Self {
        Self { component_bytes, total: Duration::from_secs(300), idle: Duration::from_secs(20) }
    }
}

/// Largest manifest or index, bytes; registries take 4 MiB, and one of a component has 1 kB.
pub(crate) const MANIFEST_BYTES: usize = 1 << 20;

/// Largest answer with a token, bytes.
pub(crate) const TOKEN_BYTES: usize = 64 << 10;

/// Largest error body that is read for its sentence, bytes.
pub(crate) const ERROR_BYTES: usize = 16 << 10;

/// Largest signature, bytes; one of minisign has four lines.
pub(crate) const SIGNATURE_BYTES: usize = 4 << 10;

/// Signatures of one component that are read at most.
pub(crate) const SIGNATURES: usize = 8;

/// Redirects that are followed at most.
pub(crate) const REDIRECTS: usize = 5;

/// Longest time until a connection stands.
pub(crate) const CONNECT: Duration = Duration::from_secs(10);
