//! The checks of the R client: a server with every demo dataset and tables of difficult values, and
//! `tests/external/clients-r`, which builds the package, runs its tests and recipes, compares every
//! value that it reads with the stored file and runs R's own checks.

use anyhow::Result;

use crate::checks::report::CheckCounts;
use crate::checks::served::ServerFixture;
use crate::repository::Repository;
use crate::{command, packages, tools};

/// Many requests from one address are the point here, so there is no burst limit.
const SETTINGS: [(&str, &str); 1] = [("YEARBOOK_LIMITS__BURST_PER_SECOND", "0")];

pub(super) fn check(repository: &Repository) -> Result<CheckCounts> {
    let python = tools::readers_python(repository)?;
    tools::r_client()?;
    let ground = ServerFixture::prepare(repository, "clients-r")?;
    ground.publish_demo()?;
    let difficult = ground.folder().join("difficult");
    command::run(ground.script(&python, "readers/difficult.py").arg(&difficult))?;
    ground.publish(&packages::descriptors(&difficult)?)?;
    let (enterprise, free) = (ground.key("enterprise")?, ground.key("free")?);

    ground.count(&SETTINGS, |server| {
        let mut run = ground.script(&python, "clients-r/main.py");
        run.args(["--base", &server.base(), "--work"])
            .arg(ground.folder().join("work"))
            .arg("--vectors")
            .arg(repository.root().join("tests/fixtures/result_digest.json"))
            .arg("--recipes")
            .arg(repository.root().join("docs/clients-r.part.md"));
        run.env("YEARBOOK_KEY", enterprise).env("YEARBOOK_FREE", free);
        Ok(run)
    })
}
