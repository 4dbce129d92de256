//! The system clock. The domain's rules take instants and never read it.

use yearbook_domain::Millis;

/// Returns the present instant by the system clock, milliseconds since the Unix epoch.
#[must_use]
pub fn now() -> Millis {
    Millis(jiff::Timestamp::now().as_millisecond())
}
