//! The guide's examples: a server with the demo datasets, and `tests/external/guide`, which runs what
//! `docs/api.md` shows and compares what it prints. Fails where the examples in R cannot run.

use anyhow::Result;

use super::report::CheckCounts;
use super::served::ServerFixture;
use super::tools;
use crate::python;
use crate::repository::Repository;

pub(super) fn check(repository: &Repository) -> Result<CheckCounts> {
    let python = python::interpreter(repository)?;
    let r = tools::r();
    let ground = ServerFixture::prepare(repository, "guide")?;
    ground.publish_demo()?;
    let (enterprise, free) = (ground.key("enterprise")?, ground.key("free")?);

    let tally = ground.count(&[], |server| {
        let mut run = ground.script(&python, "guide/main.py");
        run.arg(repository.root().join("docs/api.md"));
        if r.is_err() {
            run.args(["--without", "r"]);
        }
        run.env("YEARBOOK", server.base()).env("KEY", enterprise).env("FREE", free);
        Ok(run)
    })?;
    Ok(tally.and_tool(&r))
}
