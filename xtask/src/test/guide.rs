//! The guide's examples: a server with the demo datasets, and `tests/guide`, which runs what `docs/api.md` shows and compares what
//! it prints. Says so where the examples in R cannot run.

use anyhow::Result;

use super::report::Tally;
use super::served::Ground;
use super::tools;
use crate::python;
use crate::repository::Repository;

pub(super) fn check(repository: &Repository) -> Result<Tally> {
    let python = python::interpreter(repository)?;
    let with_r = tools::r();
    let ground = Ground::prepare(repository, "guide")?;
    ground.publish_demo()?;
    let (enterprise, free) = (ground.key("enterprise")?, ground.key("free")?);

    ground.count(&[], |server| {
        let mut run = ground.script(&python, "guide/main.py");
        run.arg(repository.root().join("docs/api.md"));
        if !with_r {
            run.args(["--without", "r"]);
        }
        run.env("YEARBOOK", server.base()).env("KEY", enterprise).env("FREE", free);
        Ok(run)
    })
}
