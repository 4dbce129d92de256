//! `[refresh]`: which packages are refreshed, and what one source may cost.

use std::num::{NonZeroU32, NonZeroU64};
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use yearbook_publish::MaxLoss;

/// Time beyond the answer for which a refresh keeps a source to itself: publishing what came.
const PUBLISHING_TIME: Duration = Duration::from_secs(600);

/// Packages, and bounds for each source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RefreshSettings {
    /// Data packages, or folders of them, that `yearbook refresh` takes without arguments.
    pub packages: Vec<PathBuf>,
    /// Bytes of a source at most, as sent and without its compression. Default 2 GiB: publishing
    /// holds a table in memory, so a larger one needs a larger machine first.
    pub max_bytes: NonZeroU64,
    /// Seconds for a whole answer, all attempts and waits included. Default 300.
    pub timeout_seconds: NonZeroU64,
    /// Sources that are asked at the same time. Default 4. Tables are published one at a time.
    pub parallel: NonZeroU32,
    /// Part of a table's rows, and of a column's values, that may be gone at once, 0 to 1. Default
    /// 0.5: a source that has lost more is more often broken than right. A descriptor may say
    /// otherwise.
    pub max_loss: MaxLoss,
    /// Allows addresses that lead to this machine or to private networks. Default false: a
    /// descriptor may come from somebody else, and what it names is served to everybody.
    pub allow_private: bool,
}

impl Default for RefreshSettings {
    fn default() -> Self {
        Self {
            packages: Vec::new(),
            max_bytes: const { NonZeroU64::new(2 << 30).unwrap() },
            timeout_seconds: const { NonZeroU64::new(300).unwrap() },
            parallel: const { NonZeroU32::new(4).unwrap() },
            max_loss: MaxLoss::default(),
            allow_private: false,
        }
    }
}

impl RefreshSettings {
    /// [`RefreshSettings::timeout_seconds`] as a duration.
    pub(crate) fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout_seconds.get())
    }

    /// Time for which nobody else asks a source that is being asked. A refresh that was killed
    /// holds it for as long.
    pub(crate) fn lease(&self) -> Duration {
        self.timeout().saturating_add(PUBLISHING_TIME)
    }
}
