//! The pace at which a client has to take a body: something within a while, a least rate, and all
//! of it within a total. Time that a body waits for us counts for the total alone. Pure; the clock
//! counts looks.

use std::time::Duration;

use crate::settings::ServerSettings;

/// Looks within the time that a client may take nothing: how exactly that is kept.
const CHECKS_PER_IDLE: u32 = 8;

/// The longest and the shortest time between two looks.
const CHECK_PERIODS: [Duration; 2] = [Duration::from_millis(10), Duration::from_secs(1)];

/// Reason for which a body is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutReason {
    /// The client took nothing for `server.write_idle_ms`.
    Idle,
    /// It took less than `server.body_rate_bytes` a second.
    Rate,
    /// `server.body_ms` have passed.
    Deadline,
}

/// Demands on clients, in checks.
pub(crate) struct PaceLimits {
    period: Duration,
    /// Looks after which a client has to have taken something.
    idle: u64,
    /// Bytes a look.
    rate: f64,
    /// Looks after which a body has ended.
    total: u64,
}

/// Progress of a body's client.
#[derive(Debug)]
pub(crate) struct PaceTracker {
    began: u64,
    /// Beginning of the present window, what had been taken then, and looks in it that found the
    /// body waiting for its client.
    window: u64,
    taken: u64,
    waited: u64,
}

impl CutReason {
    /// Every one.
    pub(crate) const ALL: [Self; 3] = [Self::Idle, Self::Rate, Self::Deadline];

    /// As a label.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Rate => "rate",
            Self::Deadline => "deadline",
        }
    }
}

impl PaceLimits {
    /// As the settings say.
    pub(crate) fn new(settings: &ServerSettings) -> Self {
        let idle = settings.write_idle();
        let [shortest, longest] = CHECK_PERIODS;
        let period = (idle / CHECKS_PER_IDLE).clamp(shortest, longest);
        let looks = |duration: Duration| {
            u64::try_from(duration.as_nanos().div_ceil(period.as_nanos()))
                .unwrap_or(u64::MAX)
                .max(1)
        };
        let rate = settings.body_rate_bytes as f64 * period.as_secs_f64();
        Self { period, idle: looks(idle), rate, total: looks(settings.body()) }
    }

    /// Time between two looks.
    pub(crate) fn period(&self) -> Duration {
        self.period
    }

    /// Looks over which the rate is taken: long enough that a pause is no slow client.
    fn window(&self) -> u64 {
        self.idle.saturating_mul(2)
    }
}

impl PaceTracker {
    /// A body that begins `now`.
    pub(crate) fn begin(now: u64) -> Self {
        Self { began: now, window: now, taken: 0, waited: 0 }
    }

    /// Looks at a body: `waits_since` when it waits for its client, with `taken` bytes handed out
    /// so far.
    pub(crate) fn check(
        &mut self,
        pace: &PaceLimits,
        now: u64,
        waits_since: Option<u64>,
        taken: u64,
    ) -> Option<CutReason> {
        if now.saturating_sub(self.began) > pace.total {
            return Some(CutReason::Deadline);
        }
        if waits_since.is_some_and(|since| now.saturating_sub(since) > pace.idle) {
            return Some(CutReason::Idle);
        }
        self.waited += u64::from(waits_since.is_some());
        if now.saturating_sub(self.window) < pace.window() {
            return None;
        }
        let (waited, more) = (self.waited, taken.saturating_sub(self.taken));
        (self.window, self.taken, self.waited) = (now, taken, 0);
        // A client that keeps up is found waiting for us now and then, and not the other way round.
        let mostly = waited * 2 >= pace.window();
        (mostly && (more as f64) < pace.rate * waited as f64).then_some(CutReason::Rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The defaults' looks are seconds.
    fn pace() -> PaceLimits {
        PaceLimits::new(&ServerSettings::default())
    }

    /// Time at which a body is cut whose client takes `bytes` every `every` seconds, within
    /// `seconds`.
    fn cut(bytes: u64, every: u64, seconds: u64) -> Option<(u64, CutReason)> {
        let (pace, mut judgement) = (pace(), PaceTracker::begin(0));
        (1..=seconds).find_map(|now| {
            let turns = now / every;
            judgement
                .check(&pace, now, Some(turns * every), bytes * turns)
                .map(|reason| (now, reason))
        })
    }

    #[test]
    fn a_client_that_takes_nothing_or_too_little_is_cut_and_a_slow_one_is_not() {
        assert_eq!(pace().period(), Duration::from_secs(1));
        for (bytes, every, expected) in [
            // Nothing at all.
            (0, 1_000, Some((31, CutReason::Idle))),
            // What kept instances for ever: 50 KB every 22 s.
            (50_000, 22, Some((60, CutReason::Rate))),
            // A byte a second.
            (1, 1, Some((60, CutReason::Rate))),
            (4_095, 1, Some((60, CutReason::Rate))),
            (4_097, 1, None),
            // A mobile client at 50 KB/s, in any rhythm that sockets give it.
            (50_000, 1, None),
            (250_000, 5, None),
            (1_000_000, 20, None),
        ] {
            assert_eq!(cut(bytes, every, 3_600), expected, "{bytes} bytes every {every} s");
        }
    }

    #[test]
    fn a_large_file_passes_at_fifty_kilobytes_a_second_and_no_body_is_open_for_ever() {
        // 700 MB.
        assert_eq!(cut(50_000, 1, 14_000), None);
        assert_eq!(cut(50_000, 1, 20_000), Some((14_401, CutReason::Deadline)));
    }

    #[test]
    fn waiting_for_us_is_not_the_clients_fault() {
        let (pace, mut judgement) = (pace(), PaceTracker::begin(0));
        assert!(
            (1..3_600).all(|now| judgement.check(&pace, now, None, 0).is_none()),
            "a scan that takes an hour"
        );
        let (mut judgement, mut now) = (PaceTracker::begin(0), 0);
        // A chunk a minute, which the client takes within ten seconds.
        for _ in 0..60 {
            for second in 0..60 {
                now += 1;
                let waits = (second < 10).then_some(now - second);
                assert_eq!(judgement.check(&pace, now, waits, now * 100), None, "{now}");
            }
        }
    }

    #[test]
    fn lowered_settings_are_looked_at_more_often() {
        let settings =
            ServerSettings { write_idle_ms: 400, body_ms: 1_000, ..ServerSettings::default() };
        let pace = PaceLimits::new(&settings);
        assert_eq!((pace.period(), pace.idle, pace.total), (Duration::from_millis(50), 8, 20));
        let least = PaceLimits::new(&ServerSettings { write_idle_ms: 0, ..settings });
        assert_eq!((least.period(), least.idle), (Duration::from_millis(10), 1));
    }
}
