//! Where things are kept: the data directory, the database, the object store; and whether their
//! clocks agree with ours.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use yearbook_catalog::Catalog;
use yearbook_domain::Millis;
use yearbook_storage::ObjectStorage;

use super::{Finding, Status};
use crate::context::{CommandContext, redact_password};

/// How far clocks may be apart before somebody should look, milliseconds. Months of quotas,
/// `monthly` and retention go by clocks.
const MAX_CLOCK_SKEW_MS: i64 = 5_000;

pub(super) fn check_data_dir(path: &Path) -> anyhow::Result<Finding> {
    if !path.exists() {
        return Ok((Status::Ok, format!("{} is made when it is first needed", path.display())));
    }
    let probe = path.join(format!(".doctor-{}", std::process::id()));
    std::fs::write(&probe, b"")
        .with_context(|| format!("{} is not writable; give it to this user", path.display()))?;
    std::fs::remove_file(&probe).with_context(|| format!("cannot remove {}", probe.display()))?;
    let mode = std::fs::metadata(path)
        .with_context(|| format!("cannot look at {}", path.display()))?
        .permissions()
        .mode()
        & 0o777;
    if mode & 0o077 != 0 {
        return Ok((
            Status::Warn,
            format!(
                "{0} is open to other users (mode {mode:03o}); it holds secrets: chmod 700 {0}",
                path.display()
            ),
        ));
    }
    Ok((Status::Ok, format!("{} is writable", path.display())))
}

pub(super) async fn check_database(
    context: &CommandContext,
    opened: &mut Option<Arc<Catalog>>,
) -> anyhow::Result<Finding> {
    let store = opened.insert(context.catalogue().await?);
    store.ping().await?;
    let described = store.describe();
    let problems = store.check_integrity().await?;
    if let Some(first) = problems.first() {
        bail!("{} of {} {}: {first}", problems.len(), described.kind, described.location);
    }
    Ok((
        Status::Ok,
        format!("{} {} answers, is up to date and sound", described.kind, described.location),
    ))
}

pub(super) async fn check_clocks(store: &Catalog) -> anyhow::Result<Finding> {
    let asked = yearbook_catalog::clock::now();
    let told = store.database_time().await?;
    Ok(compare_clocks(asked, told, yearbook_catalog::clock::now()))
}

/// `told` is what the database's clock said between `asked` and `heard` of ours.
fn compare_clocks(asked: Millis, told: Millis, heard: Millis) -> Finding {
    let apart = if told < asked { told.0 - asked.0 } else { (told.0 - heard.0).max(0) };
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
        let check = |asked, told, heard, status, words: &str| {
            let found = compare_clocks(Millis(asked), Millis(told), Millis(heard));
            assert!(found.0 == status && found.1.contains(words), "{found:?}");
        };
        check(1_000, 1_500, 2_000, Status::Ok, "agrees");
        // However long the answer took.
        check(1_000, 60_000, 90_000, Status::Ok, "agrees");
        check(100_000, 40_000, 100_010, Status::Warn, "60 s behind");
        check(100_000, 160_010, 100_010, Status::Warn, "60 s ahead of");
    }
}
