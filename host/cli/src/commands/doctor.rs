//! `yearbook doctor`: looks at everything that a server needs, and says what to do about what is
//! wrong. Changes nothing but what opening the database changes (it is brought up to date), and one
//! small object that it stores and removes. Owns which checks there are and how they are shown;
//! each area has a file.

mod connectivity;
mod hosts;
mod listeners;
mod local;
mod plugins;
mod public_url;
mod releases;
mod resources;
mod signup;
mod stored_files;

use anyhow::bail;
use serde::Serialize;

use crate::context::CommandContext;
use crate::output::TextTable;

/// Outcome of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    Ok,
    /// Works, and will not for long or for all.
    Warn,
    /// A server here does not start, or answers wrongly or not at all.
    Fail,
}

/// Result of a check: one line, with what to do where something is wrong.
type Finding = (Status, String);

/// One check.
#[derive(Debug, Serialize)]
struct Check {
    name: &'static str,
    status: Status,
    message: String,
}

/// All that was found so far.
#[derive(Debug, Default)]
struct CheckList(Vec<Check>);

impl CheckList {
    /// The outcome of a check; an error is a failure told by its chain.
    fn add(&mut self, name: &'static str, outcome: anyhow::Result<Finding>) {
        let (status, message) = outcome
            .unwrap_or_else(|error| (Status::Fail, crate::output::error_chain(&error).join(": ")));
        self.0.push(Check { name, status, message });
    }
}

/// Runs every check. `deep`: reads all that is stored.
pub(super) async fn run(context: &CommandContext, deep: bool) -> anyhow::Result<()> {
    let fresh = !context.settings.data_dir.exists();
    let values = &context.settings.values;
    let mut checks = CheckList::default();
    checks.add("settings", Ok(local::effective_settings(context)));
    checks.add("data directory", local::check_data_dir(&context.settings.data_dir));

    // A fresh data directory is made by `serve`, not by looking at it.
    let later = || Ok((Status::Ok, "nothing there yet; made when it is first needed".to_owned()));
    let mut store = None;
    let found = if fresh && values.database.url.is_none() {
        later()
    } else {
        connectivity::check_database(context, &mut store).await
    };
    checks.add("database", found);
    if let Some(store) = &store {
        checks.add("clocks", connectivity::check_clocks(store).await);
        checks.add("hosts", hosts::check_hosts(store).await);
        checks.add("history", connectivity::measure_history(store).await);
        checks.add("waiting releases", releases::check_waiting(context, store).await);
    }
    let mut files = None;
    let found = if fresh && values.storage.url.is_none() {
        later()
    } else {
        connectivity::check_object_store(context, &mut files).await
    };
    checks.add("object store", found);
    if let (Some(store), Some(files)) = (&store, &files) {
        let waiting = store.waiting_files(false).await.unwrap_or_default();
        files.waiting_files().replace(waiting);
        stored_files::snapshots(&mut checks, store, files, deep).await;
        plugins::releases(&mut checks, context, store, files).await;
    }
    checks.add("plugins", plugins::check_built_in(context, fresh).await);
    checks.add("cache", local::check_cache(&context.settings));
    checks.add("links", Ok(public_url::check_public_url(&values.server)));
    checks.add("sign-up", signup::check_signup(values, store.as_deref()).await);
    checks.add("memory", Ok(resources::check_memory(values)));
    checks.add("descriptors", Ok(resources::check_descriptors(values)));
    for (setting, address) in [
        ("server.listen", Some(values.server.listen)),
        ("server.admin_listen", values.server.admin_listen),
    ] {
        if let Some(address) = address {
            checks.add("listener", Ok(listeners::check_listener(setting, address).await));
        }
    }
    if let Some(store) = store {
        store.close().await;
    }
    report(context, &checks.0)
}

fn report(context: &CommandContext, checks: &[Check]) -> anyhow::Result<()> {
    context.output.print_result(&checks, || {
        let rows = checks.iter().map(|check| {
            let status = match check.status {
                Status::Ok => "ok",
                Status::Warn => "warn",
                Status::Fail => "FAIL",
            };
            [check.name.to_owned(), status.to_owned(), check.message.clone()]
        });
        TextTable::new(&["check", "", "finding"]).with_rows(rows).render()
    })?;
    match checks.iter().filter(|check| check.status == Status::Fail).count() {
        0 => Ok(()),
        1 => bail!("1 check failed"),
        failed => bail!("{failed} checks failed"),
    }
}
