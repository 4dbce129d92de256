//! Checks of what is reached over a connection: the database, its clock, and the object store.

use std::sync::Arc;

use anyhow::{Context as _, bail};
use yearbook_catalog::{Catalog, FutureTimes};
use yearbook_domain::Millis;
use yearbook_storage::ObjectStorage;

use super::{Finding, Status};
use crate::context::{CommandContext, redact_password};

/// Largest difference between two clocks that needs no attention, milliseconds. Months of quotas,
/// `monthly` and retention go by clocks.
const MAX_CLOCK_SKEW_MS: i64 = 5_000;

pub(super) async fn check_database(
    context: &CommandContext,
    opened: &mut Option<Arc<Catalog>>,
) -> anyhow::Result<Finding> {
    let store = opened.insert(context.catalog().await?);
    store.check_writable().await?;
    let described = store.describe();
    let problems = store.check_integrity().await?;
    if let Some(first) = problems.first() {
        bail!("{} of {} {}: {first}", problems.len(), described.kind, described.location);
    }
    Ok((
        Status::Ok,
        format!("{} {} takes writes, is up to date and sound", described.kind, described.location),
    ))
}

/// Tells what the history of all datasets takes.
pub(super) async fn measure_history(store: &Catalog) -> anyhow::Result<Finding> {
    let (versions, bytes) = store.history_size().await?;
    Ok((
        Status::Ok,
        match versions {
            0 => "no version that retention dropped is kept yet".to_owned(),
            1 => format!("1 version that retention dropped can be read, by {bytes} bytes of files"),
            _ => format!(
                "{versions} versions that retention dropped can be read, by {bytes} bytes of files"
            ),
        },
    ))
}

pub(super) async fn check_clocks(store: &Catalog) -> anyhow::Result<Finding> {
    let before = yearbook_catalog::clock::now();
    let database = store.database_time().await?;
    let compared = compare_clocks(before, database, yearbook_catalog::clock::now());
    let future = store.future_times(MAX_CLOCK_SKEW_MS).await?;
    Ok(if compared.0 == Status::Ok { name_future_times(&future, compared) } else { compared })
}

/// Names what a clock that was ahead has left behind; `otherwise`: nothing.
fn name_future_times(future: &[FutureTimes], otherwise: Finding) -> Finding {
    let Some(latest) = future.iter().map(|times| times.latest).max() else { return otherwise };
    let found: Vec<String> =
        future.iter().map(|FutureTimes { what, rows, .. }| format!("{rows} {what}")).collect();
    let advice = "a clock was ahead, or this one is behind: set it by NTP; where it is right, leases, due times and bounds no longer follow those times, and snapshots keep their dates";
    let until = latest.to_rfc3339();
    (Status::Warn, format!("dated in the future, up to {until}: {}; {advice}", found.join(", ")))
}

/// Compares the time of the database with `before` and `after` of this machine's clock, between
/// which the database read its own.
fn compare_clocks(before: Millis, database: Millis, after: Millis) -> Finding {
    let apart =
        if database < before { database.0 - before.0 } else { (database.0 - after.0).max(0) };
    if apart.abs() <= MAX_CLOCK_SKEW_MS {
        return (Status::Ok, "this machine's clock agrees with the database's".to_owned());
    }
    let side = if apart < 0 { "behind" } else { "ahead of" };
    let seconds = apart.unsigned_abs() / 1000;
    let advice = "have both set by NTP, or months of quotas and retention begin at different times";
    (Status::Warn, format!("the database's clock is {seconds} s {side} this machine's; {advice}"))
}

pub(super) async fn check_object_store(
    context: &CommandContext,
    opened: &mut Option<ObjectStorage>,
) -> anyhow::Result<Finding> {
    let url = redact_password(&context.settings.storage_url());
    let files = opened.insert(context.files()?);
    files.ping().await?;
    files.probe().await.with_context(|| {
        format!("{url} answers, but what is written there does not come back; publishing needs it")
    })?;
    Ok((Status::Ok, format!("{url} takes, returns and removes an object")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_that_are_apart_are_named_with_the_side() {
        let check = |before, database, after, status, words: &str| {
            let found = compare_clocks(Millis(before), Millis(database), Millis(after));
            assert!(found.0 == status && found.1.contains(words), "{found:?}");
        };
        check(1_000, 1_500, 2_000, Status::Ok, "agrees");
        // However long the answer took.
        check(1_000, 60_000, 90_000, Status::Ok, "agrees");
        check(100_000, 40_000, 100_010, Status::Warn, "60 s behind");
        check(100_000, 160_010, 100_010, Status::Warn, "60 s ahead of");
    }

    #[test]
    fn times_of_the_future_are_named_with_the_latest_contract_6() {
        let fine = (Status::Ok, "agrees".to_owned());
        assert_eq!(name_future_times(&[], fine.clone()), fine);
        let times = |what, rows, latest| FutureTimes { what, rows, latest: Millis(latest) };
        let future = [times("snapshots", 2, 4_102_444_800_000), times("keys", 1, 0)];
        let (status, message) = name_future_times(&future, fine);
        assert_eq!(status, Status::Warn);
        assert!(message.contains("up to 2100-01-01T00:00:00"), "{message}");
        assert!(message.contains(": 2 snapshots, 1 keys; a clock was ahead"), "{message}");
    }
}
