//! When a release that serves has failed too often. Failures are kept with who asked for what; how many responses there were besides,
//! the sandbox's counters tell, so that a response that succeeds costs nothing here. One client must not be able to take a release from
//! all others: see `verdict`.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use yearbook_sandbox::{Counts, Outcome};

use crate::GuardSettings;

/// Failures of one release that are kept at most; the oldest go first.
const KEPT: usize = 256;

/// Readings of the counters in the time that counts.
const READINGS: u32 = 60;

/// Of a hundred responses, how many must have failed where no other release could serve.
const LAST_RESORT_PERCENT: u64 = 50;

/// One response that a release failed.
#[derive(Clone, Debug)]
pub(crate) struct Strike {
    /// Whose request it was.
    pub(crate) client: String,
    /// What was asked for: the same for the same bytes.
    pub(crate) request: String,
    /// Whether every option of the plugin had its default.
    pub(crate) plain: bool,
    /// In words.
    pub(crate) why: String,
}

/// Failures by the release's digest.
#[derive(Default)]
pub(crate) struct Strikes(Mutex<HashMap<String, VecDeque<(Instant, Strike)>>>);

impl Strikes {
    /// Adds one.
    pub(crate) fn add(&self, digest: &str, strike: Strike) {
        let mut all = self.all();
        let of = all.entry(digest.to_owned()).or_default();
        if of.len() >= KEPT {
            of.pop_front();
        }
        of.push_back((Instant::now(), strike));
    }

    /// What is left of the last `time`, by release.
    pub(crate) fn within(&self, time: Duration) -> HashMap<String, Vec<Strike>> {
        let mut all = self.all();
        all.retain(|_, strikes| {
            strikes.retain(|(at, _)| at.elapsed() <= time);
            !strikes.is_empty()
        });
        let of = |strikes: &VecDeque<(Instant, Strike)>| strikes.iter().map(|(_, strike)| strike.clone()).collect();
        all.iter().map(|(digest, strikes)| (digest.clone(), of(strikes))).collect()
    }

    /// A release begins anew.
    pub(crate) fn forget(&self, digest: &str) {
        self.all().remove(digest);
    }

    /// Nothing under the lock can fail half-way.
    fn all(&self) -> MutexGuard<'_, HashMap<String, VecDeque<(Instant, Strike)>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The counters as they were, from the beginning of the time that counts on.
#[derive(Default)]
pub(crate) struct Past(VecDeque<(Instant, Reading)>);

/// Responses begun and those made whole, by release.
type Reading = HashMap<String, (u64, u64)>;

impl Past {
    /// Notes the counters as they are now.
    pub(crate) fn note(&mut self, counts: &[Counts], time: Duration) {
        if self.0.back().is_some_and(|(at, _)| at.elapsed() < time / READINGS) {
            return;
        }
        // One from before the time that counts stays: what came since is the difference to it.
        while self.0.get(1).is_some_and(|(at, _)| at.elapsed() > time) {
            self.0.pop_front();
        }
        let reading = |counts: &Counts| (counts.release.digest.clone(), (counts.begun, counts.outcome(Outcome::Completed)));
        self.0.push_back((Instant::now(), counts.iter().map(reading).collect()));
    }

    /// Responses begun, and those made whole, since the oldest reading.
    pub(crate) fn since(&self, counts: &Counts) -> (u64, u64) {
        let before = self.0.front().and_then(|(_, readings)| readings.get(&counts.release.digest)).copied().unwrap_or_default();
        (counts.begun.saturating_sub(before.0), counts.outcome(Outcome::Completed).saturating_sub(before.1))
    }
}

/// Why a release is to be quarantined; none: it is not. `begun` responses, of which `whole` were made to their end.
///
/// The same request counts once however often it is sent. Failures of one client count only where nobody at all got a whole response and
/// no option was chosen: then the release is broken, and not some option of it.
pub(crate) fn verdict(strikes: &[Strike], begun: u64, whole: u64, replaceable: bool, settings: &GuardSettings) -> Option<String> {
    let different = |strikes: &mut dyn Iterator<Item = &Strike>| strikes.map(|strike| &strike.request).collect::<HashSet<_>>().len();
    if settings.strikes == 0 || different(&mut strikes.iter()) < settings.strikes {
        return None;
    }
    let percent = u64::from(settings.strike_percent);
    let percent = if replaceable { percent } else { percent.max(LAST_RESORT_PERCENT) };
    if (strikes.len() as u64).saturating_mul(100) < begun.saturating_mul(percent) {
        return None;
    }
    let clients: HashSet<&str> = strikes.iter().map(|strike| strike.client.as_str()).collect();
    let broken = whole == 0 && different(&mut strikes.iter().filter(|strike| strike.plain)) >= settings.strikes;
    if clients.len() < 2 && !broken {
        return None;
    }
    let last = strikes.last().map(|strike| strike.why.as_str()).unwrap_or_default();
    let (failed, begun) = (strikes.len(), begun.max(strikes.len() as u64));
    let who = if clients.len() == 1 { "1 client".to_owned() } else { format!("{} clients", clients.len()) };
    Some(format!("it failed {failed} of {begun} responses in {} s, of {who}; the last: {last}", settings.strike_seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strike(client: &str, request: &str, plain: bool) -> Strike {
        Strike { client: client.to_owned(), request: request.to_owned(), plain, why: "trapped".to_owned() }
    }

    fn is(strikes: &[Strike], begun: u64, whole: u64, replaceable: bool) -> bool {
        verdict(strikes, begun, whole, replaceable, &GuardSettings::default()).is_some()
    }

    #[test]
    fn three_different_requests_of_two_clients_are_enough_where_they_are_a_tenth_of_all() {
        let strikes = [strike("a", "1", true), strike("a", "2", true), strike("b", "3", false)];
        assert!(is(&strikes, 30, 27, true) && !is(&strikes, 31, 28, true));
        assert!(!is(&strikes[..2], 2, 0, true));
        assert!(is(&strikes, 6, 3, false) && !is(&strikes, 7, 4, false), "half of all where nothing else could serve");
        let reason = verdict(&strikes, 30, 27, true, &GuardSettings::default());
        assert_eq!(reason.as_deref(), Some("it failed 3 of 30 responses in 60 s, of 2 clients; the last: trapped"));
        assert_eq!(verdict(&strikes, 3, 0, true, &GuardSettings { strikes: 0, ..GuardSettings::default() }), None);
    }

    #[test]
    fn one_client_cannot_have_a_release_quarantined_that_works_for_others() {
        let repeated = vec![strike("a", "1", true); 100];
        assert!(!is(&repeated, 100, 0, true), "one request, however often");
        let many: Vec<Strike> = (0..100).map(|request| strike("a", &request.to_string(), true)).collect();
        assert!(!is(&many, 101, 1, true), "somebody got a whole response");
        assert!(is(&many, 100, 0, true), "nobody did");
        let chosen: Vec<Strike> = (0..100).map(|request| strike("a", &request.to_string(), false)).collect();
        assert!(!is(&chosen, 100, 0, true), "and an option may be why");
    }
}
