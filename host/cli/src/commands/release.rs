//! `yearbook release`: what operators do with a release that waits (contract-21-releases).

use anyhow::{Context as _, bail};
use serde_json::json;
use yearbook_catalog::ChangeOfWaiting;

use crate::arguments::ReleaseCommand;
use crate::context::CommandContext;

pub(super) async fn run(context: &CommandContext, command: ReleaseCommand) -> anyhow::Result<()> {
    let catalog = context.catalog().await?;
    let (id, to, changed) = match command {
        ReleaseCommand::Withdraw { id } => (id, None, catalog.withdraw_release(id).await),
        ReleaseCommand::Move { id, time } => (id, Some(time), catalog.move_release(id, time).await),
    };
    catalog.close().await;
    match changed.with_context(|| format!("release {id} is as it was; try again"))? {
        ChangeOfWaiting::Done(name) => {
            let release_at = to.map(yearbook_domain::Millis::to_rfc3339);
            let report = json!({ "id": id, "name": name, "release_at": release_at });
            context.output.print_result(&report, || match &release_at {
                Some(at) => format!("release {id} of {name} waits until {at}"),
                None => format!("release {id} of {name} is withdrawn"),
            })
        }
        ChangeOfWaiting::Unknown => {
            bail!("no release {id} waits; `yearbook datasets releases` lists those that do")
        }
        ChangeOfWaiting::TooLate(at) => bail!(
            "release {id} is due at {}, and in its last ten seconds nobody changes it",
            at.to_rfc3339()
        ),
        ChangeOfWaiting::TooNear => {
            bail!("that is less than ten seconds ahead; every host must hear of it before")
        }
    }
}
