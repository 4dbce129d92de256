//! Pauses between attempts, as Standard Webhooks proposes them.

use sha2::{Digest as _, Sha256};
use yearbook_catalog::{AfterFailure, DueWebhook};
use yearbook_domain::Millis;

/// Pauses after the first, the second and each further failed attempt, seconds: three days and
/// three hours in all.
const PAUSES: [i64; 9] = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];

/// Returns what becomes of `webhook`, whose attempt has failed at `now`.
pub(crate) fn after_failure(webhook: &DueWebhook, now: Millis) -> AfterFailure {
    let pause = usize::try_from(webhook.attempts).ok().and_then(|failed| PAUSES.get(failed));
    match pause {
        Some(seconds) => {
            let most = seconds * 1_000;
            // Up to a tenth more, so that what failed at one instant does not come back at one.
            let part = i64::from(Sha256::digest(format!("{} {now:?}", webhook.id))[0]);
            AfterFailure::Retry(Millis(now.0.saturating_add(most + most * part / 2_560)))
        }
        None => AfterFailure::End(now),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_a_day_and_end_after_three_contract_21_webhooks() {
        let after = |attempts| {
            let webhook = DueWebhook {
                id: "hook_1".to_owned(),
                url: "https://example.org/".to_owned(),
                attempts,
                entry: 0,
                due_at: Millis(0),
            };
            after_failure(&webhook, Millis(1_000_000))
        };
        let pauses = (0..9).map(|attempts| match after(attempts) {
            AfterFailure::Retry(at) => (at.0 - 1_000_000) / 1_000,
            AfterFailure::End(_) => 0,
        });
        for (pause, least) in pauses.zip(PAUSES) {
            assert!((least..=least + least / 10).contains(&pause), "{pause} of {least}");
        }
        assert_eq!(after(9), AfterFailure::End(Millis(1_000_000)));
        assert_eq!(PAUSES.iter().sum::<i64>() / 3_600, 75);
    }
}
