//! Circuit breaker of each release: it trips where a release has failed too often. Failures are
//! recorded with client and request. The number of responses comes from the sandbox's counters, so
//! a response that succeeds costs nothing here. Neither one client nor the data of one dataset must
//! be able to take a release from all others: see `verdict`.

mod history;

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

pub(crate) use self::history::MetricsHistory;
use crate::ReleaseMonitorSettings;
use yearbook_domain::{Digest, KeyId};

/// Failures of one release that are kept at most; the oldest go first.
const MAX_FAILURES: usize = 256;

/// Of a hundred responses, how many must have failed where no other release could serve.
const LAST_RESORT_PERCENT: u64 = 50;

/// One response that a release failed.
#[derive(Clone, Debug)]
pub(crate) struct FailureRecord {
    /// Caller that made the request.
    pub(crate) client: KeyId,
    /// Request, the same for the same bytes.
    pub(crate) request: String,
    /// Datasets whose data was given.
    pub(crate) datasets: Vec<String>,
    /// In words.
    pub(crate) why: String,
}

/// Failures by the release's digest.
#[derive(Default)]
pub(crate) struct CircuitBreaker(Mutex<HashMap<Digest, VecDeque<(Instant, FailureRecord)>>>);

impl CircuitBreaker {
    /// Adds one. The same request of the same client counts once: it may have been answered from
    /// memory, without a response that the counters know of.
    pub(crate) fn add(&self, digest: &Digest, failure: FailureRecord) {
        let mut all = self.all();
        let of = all.entry(*digest).or_default();
        of.retain(|(_, other)| {
            (&other.client, &other.request) != (&failure.client, &failure.request)
        });
        if of.len() >= MAX_FAILURES {
            of.pop_front();
        }
        of.push_back((Instant::now(), failure));
    }

    /// Failures of the last `time`, by release.
    pub(crate) fn within(&self, time: Duration) -> HashMap<Digest, Vec<FailureRecord>> {
        let mut all = self.all();
        all.retain(|_, failures| {
            failures.retain(|(at, _)| at.elapsed() <= time);
            !failures.is_empty()
        });
        let of = |failures: &VecDeque<(Instant, FailureRecord)>| {
            failures.iter().map(|(_, failure)| failure.clone()).collect()
        };
        all.iter().map(|(digest, failures)| (*digest, of(failures))).collect()
    }

    /// A release begins again.
    pub(crate) fn reset(&self, digest: &Digest) {
        self.all().remove(digest);
    }

    /// Nothing under the lock can fail half-way.
    fn all(&self) -> MutexGuard<'_, HashMap<Digest, VecDeque<(Instant, FailureRecord)>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reason to quarantine a release; `None` if it stays. `begun` responses, of which `whole` were
/// made to their end.
///
/// The same request counts once however often it is sent, and so does a dataset however many
/// requests are for it: a row that breaks a release is asked for with every page. Failures of one
/// client count only where nobody at all got a whole response.
pub(crate) fn verdict(
    failures: &[FailureRecord],
    begun: u64,
    whole: u64,
    replaceable: bool,
    settings: &ReleaseMonitorSettings,
) -> Option<String> {
    let requests = failures.iter().map(|failure| &failure.request).collect::<HashSet<_>>().len();
    if settings.strikes == 0
        || requests < settings.strikes
        || count_independent_datasets(failures) < settings.strike_datasets
    {
        return None;
    }
    let percent = u64::from(settings.strike_percent);
    let percent = if replaceable { percent } else { percent.max(LAST_RESORT_PERCENT) };
    if (failures.len() as u64).saturating_mul(100) < begun.saturating_mul(percent) {
        return None;
    }
    let clients: HashSet<&str> = failures.iter().map(|failure| failure.client.as_str()).collect();
    if clients.len() < 2 && whole > 0 {
        return None;
    }
    let last = failures.last().map(|failure| failure.why.as_str()).unwrap_or_default();
    let (failed, begun) = (failures.len(), begun.max(failures.len() as u64));
    let who = if clients.len() == 1 {
        "1 client".to_owned()
    } else {
        format!("{} clients", clients.len())
    };
    Some(format!(
        "it failed {failed} of {begun} responses in {} s, of {who}; the last: {last}",
        settings.strike_seconds
    ))
}

/// Strikes at most that have no dataset in common, about: so many datasets, at least, must each
/// break the release.
fn count_independent_datasets(failures: &[FailureRecord]) -> usize {
    let mut seen: HashSet<&str> = HashSet::new();
    // A generator is given several at once, and any of them may be why.
    let mut by_number: Vec<&Vec<String>> =
        failures.iter().map(|failure| &failure.datasets).collect();
    by_number.sort_by_key(|datasets| datasets.len());
    let apart = by_number.into_iter().filter(|datasets| {
        let apart = datasets.iter().all(|dataset| !seen.contains(dataset.as_str()));
        if apart {
            seen.extend(datasets.iter().map(String::as_str));
        }
        apart
    });
    apart.count()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn failure(client: &str, request: &str, datasets: &str) -> FailureRecord {
        let datasets = datasets.split(',').map(str::to_owned).collect();
        FailureRecord {
            client: KeyId::parse(client).unwrap(),
            request: request.to_owned(),
            datasets,
            why: "trapped".to_owned(),
        }
    }

    fn is(failures: &[FailureRecord], begun: u64, whole: u64, replaceable: bool) -> bool {
        verdict(failures, begun, whole, replaceable, &ReleaseMonitorSettings::default()).is_some()
    }

    #[test]
    fn three_different_requests_of_two_clients_are_enough_where_they_are_a_tenth_of_all() {
        let failures = [failure("a", "1", "x"), failure("a", "2", "y"), failure("b", "3", "z")];
        assert!(is(&failures, 30, 27, true) && !is(&failures, 31, 28, true));
        assert!(!is(&failures[..2], 2, 0, true));
        assert!(
            is(&failures, 6, 3, false) && !is(&failures, 7, 4, false),
            "half of all where nothing else could serve"
        );
        let reason = verdict(&failures, 30, 27, true, &ReleaseMonitorSettings::default());
        assert_eq!(
            reason.as_deref(),
            Some("it failed 3 of 30 responses in 60 s, of 2 clients; the last: trapped")
        );
        assert_eq!(
            verdict(
                &failures,
                3,
                0,
                true,
                &ReleaseMonitorSettings { strikes: 0, ..ReleaseMonitorSettings::default() }
            ),
            None
        );
    }

    #[test]
    fn one_client_cannot_have_a_release_quarantined_that_works_for_others() {
        let repeated = vec![failure("a", "1", "x"); 100];
        assert!(!is(&repeated, 100, 0, true), "one request, however often");
        let many: Vec<FailureRecord> = (0..100)
            .map(|request| failure("a", &request.to_string(), &request.to_string()))
            .collect();
        assert!(!is(&many, 101, 1, true), "somebody got a whole response");
        assert!(is(&many, 100, 0, true), "nobody did");
    }

    #[test]
    fn the_data_of_two_datasets_convicts_no_release_however_many_clients_page_through_it() {
        let failures = |datasets: &[&str]| -> Vec<FailureRecord> {
            let client = |index: usize| if index.is_multiple_of(2) { "a" } else { "b" };
            datasets
                .iter()
                .enumerate()
                .map(|(index, names)| failure(client(index), &index.to_string(), names))
                .collect()
        };
        for (given, expected) in [
            (&["x", "x", "x", "x", "x", "x"][..], false),
            (&["x", "y", "x", "y", "x", "y"], false),
            (&["x", "y", "z"], true),
            // Of several datasets at once any may be why.
            (&["x,p", "x,q", "x,r", "x,s"], false),
            (&["x,y,z", "x,y", "z,y"], false),
            (&["x,y", "z", "p,q"], true),
            (&["p,q,x,y,z", "x", "y", "z"], true),
        ] {
            assert_eq!(is(&failures(given), 10, 0, true), expected, "{given:?}");
        }
        let fewer =
            ReleaseMonitorSettings { strike_datasets: 1, ..ReleaseMonitorSettings::default() };
        assert!(
            verdict(&failures(&["x", "x", "x"]), 3, 0, true, &fewer).is_some(),
            "where there is one dataset"
        );
    }

    #[test]
    fn the_same_request_of_the_same_client_is_one_strike() {
        let breaker = CircuitBreaker::default();
        for (client, request) in [("a", "1"), ("a", "1"), ("b", "1"), ("a", "2"), ("a", "1")] {
            breaker.add(&Digest::compute(b""), failure(client, request, "x"));
        }
        let recorded = breaker
            .within(Duration::from_secs(60))
            .remove(&Digest::compute(b""))
            .unwrap_or_default();
        let recorded: Vec<(&str, &str)> = recorded
            .iter()
            .map(|failure| (failure.client.as_str(), failure.request.as_str()))
            .collect();
        assert_eq!(recorded, [("b", "1"), ("a", "2"), ("a", "1")]);
    }
}
