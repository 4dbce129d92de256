//! Snapshots that stay when a new one arrives (contract-6-retention, spec-4.3-freshness). Pure
//! rules, no SQL.

use yearbook_domain::{Millis, SnapshotSummary};

const HOUR_MS: i64 = 3_600_000;

/// Amount of history to keep. A snapshot stays when any rule keeps it; the current one and the one
/// that [`monthly_snapshot`] names always stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Keep this many of the newest, the current one included (`storage.retain_snapshots`).
    pub snapshots: u32,
    /// Keep everything younger than this many hours (`storage.retain_hours`).
    pub hours: u32,
    /// Keep what gives dropped versions back (`retention.history`).
    pub history: bool,
}

impl Default for Retention {
    /// The defaults of contract-6-retention: 12 snapshots, 24 hours, and the history.
    fn default() -> Self {
        Self { snapshots: 12, hours: 24, history: true }
    }
}

impl Retention {
    /// Positions in `history` that are no longer kept at `now`. `history` is oldest first and ends
    /// with the current snapshot.
    #[must_use]
    pub(crate) fn expired_indexes(self, history: &[Millis], now: Millis) -> Vec<usize> {
        let newest = usize::try_from(self.snapshots).unwrap_or(usize::MAX).max(1);
        let first_of_newest = history.len().saturating_sub(newest);
        let young_from = now.0.saturating_sub(i64::from(self.hours) * HOUR_MS);
        let monthly = monthly_index(history.iter().copied(), now);
        (0..first_of_newest)
            .filter(|&index| history[index].0 <= young_from && Some(index) != monthly)
            .collect()
    }
}

/// The snapshot that `freshness=monthly` names at `now`: the last one from before the first of this
/// month (UTC), or the oldest there is. `history` is oldest first; `None` only when it is empty.
#[must_use]
pub fn monthly_snapshot(history: &[SnapshotSummary], now: Millis) -> Option<&SnapshotSummary> {
    monthly_index(history.iter().map(|summary| summary.created_at), now)
        .map(|index| &history[index])
}

fn monthly_index(
    history: impl DoubleEndedIterator<Item = Millis> + ExactSizeIterator + Clone,
    now: Millis,
) -> Option<usize> {
    let this_month = now.month();
    // `YYYY-MM` sorts like the calendar.
    let before = history.clone().rposition(|created_at| created_at.month() < this_month);
    before.or((history.len() > 0).then_some(0))
}

#[cfg(test)]
mod tests {
    use yearbook_domain::{Digest, SnapshotId};

    use super::*;

    /// 2026-11-01T00:00:00Z.
    const NOVEMBER: i64 = 1_793_491_200_000;
    const DAY: i64 = 24 * HOUR_MS;

    fn check(retention: (u32, u32), history: &[i64], now: i64, dropped: &[usize]) {
        let history: Vec<Millis> = history.iter().map(|&at| Millis(at)).collect();
        let retention = Retention { snapshots: retention.0, hours: retention.1, history: false };
        assert_eq!(
            retention.expired_indexes(&history, Millis(now)),
            dropped,
            "{retention:?} {history:?} at {now}"
        );
    }

    #[test]
    fn the_newest_are_kept_contract_6() {
        let days: Vec<i64> = (1..=5).map(|day| NOVEMBER + day * DAY).collect();
        // The oldest is what `monthly` names, since nothing is from before this month.
        check((2, 0), &days, NOVEMBER + 5 * DAY, &[1, 2]);
        check((12, 0), &days, NOVEMBER + 5 * DAY, &[]);
    }

    #[test]
    fn the_current_one_is_kept_whatever_the_settings() {
        check(
            (0, 0),
            &[NOVEMBER - 40 * DAY, NOVEMBER - 2 * DAY, NOVEMBER + DAY],
            NOVEMBER + 9 * DAY,
            &[0],
        );
        check((0, 0), &[NOVEMBER], NOVEMBER + 9 * DAY, &[]);
    }

    #[test]
    fn the_young_are_kept_contract_6() {
        let now = NOVEMBER + 10 * DAY;
        // Exactly 24 hours is no longer younger than 24 hours.
        check((1, 24), &[NOVEMBER, now - DAY - 1, now - DAY, now - DAY + 1, now], now, &[1, 2]);
    }

    #[test]
    fn the_monthly_one_is_kept_contract_4() {
        let history =
            [NOVEMBER - 3 * DAY, NOVEMBER - 1, NOVEMBER, NOVEMBER + DAY, NOVEMBER + 2 * DAY];
        check((1, 0), &history, NOVEMBER + 2 * DAY, &[0, 2, 3]);
        // A month later it is another one.
        check((1, 0), &history, NOVEMBER + 40 * DAY, &[0, 1, 2, 3]);
    }

    #[test]
    fn monthly_is_the_last_from_before_this_month_or_the_oldest_contract_4() {
        let id = |label: &str| SnapshotId::from_digest(Digest::compute(label.as_bytes()));
        let summary = |label: &str, at| SnapshotSummary {
            id: id(label),
            version: 0,
            created_at: Millis(at),
            rows: 1,
            changes: None,
            largest_revision: None,
            held: false,
            bulk_redistribution: true,
        };
        let history = [
            summary("october", NOVEMBER - 1),
            summary("first", NOVEMBER),
            summary("second", NOVEMBER + DAY),
        ];
        let named = |history: &[SnapshotSummary], now| {
            monthly_snapshot(history, Millis(now)).map(|found| found.id)
        };
        assert_eq!(named(&history, NOVEMBER + 2 * DAY), Some(id("october")));
        assert_eq!(named(&history, NOVEMBER + 35 * DAY), Some(id("second")));
        assert_eq!(named(&history[1..], NOVEMBER + 2 * DAY), Some(id("first")));
        assert_eq!(named(&[], NOVEMBER), None);
    }
}
