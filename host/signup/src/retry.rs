//! Times between the attempts to send a mail (contract-10-smtp).

/// Time that a host has for one attempt, milliseconds, before another host may try. Twice as long
/// as an attempt can take.
pub(crate) const LEASE_MS: i64 = 60_000;

/// Pauses after the first attempts, milliseconds.
const PAUSES_MS: [i64; 4] = [10_000, 30_000, 2 * 60_000, 10 * 60_000];

/// Pause after every later attempt, milliseconds.
const LAST_PAUSE_MS: i64 = 30 * 60_000;

/// Pause after so many attempts, milliseconds.
pub(crate) fn pause_ms(attempts: u64) -> i64 {
    let index = usize::try_from(attempts.saturating_sub(1)).unwrap_or(usize::MAX);
    PAUSES_MS.get(index).copied().unwrap_or(LAST_PAUSE_MS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_half_an_hour_contract_10() {
        let seconds: Vec<i64> = (0..=8).map(|attempts| pause_ms(attempts) / 1000).collect();
        assert_eq!(seconds, [10, 10, 30, 120, 600, 1800, 1800, 1800, 1800]);
    }
}
