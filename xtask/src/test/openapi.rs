//! The checks of the machine description: a server with the demo datasets, and `tests/openapi`, which validates the
//! document and has schemathesis ask everything that it describes, right and wrong.

use std::fs;
use std::process::Command;

use anyhow::{Context as _, Result};

use super::report::Tally;
use super::suites;
use crate::repository::{Profile, Repository};
use crate::server::{self, Server};
use crate::{command, demo, packages, python};

pub(super) fn check(repository: &Repository) -> Result<Tally> {
    let python = python::environment(repository, "openapi", "tests/openapi/requirements.txt")?;
    let binary = repository.build_product(Profile::Debug)?;
    let folder = repository.target().join("xtask").join("openapi");
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    let data_dir = folder.join("data");
    fs::create_dir_all(&data_dir).with_context(|| format!("cannot make {}", data_dir.display()))?;
    let descriptors = packages::descriptors(&repository.root().join("datasets"))?;
    command::run(Command::new(&binary).arg("--data-dir").arg(&data_dir).arg("publish").args(&descriptors))?;
    let key = demo::enterprise_key(&binary, &data_dir)?;

    // Hundreds of requests a second from one address are the point here, so no burst limit.
    let settings = [("YEARBOOK_LIMITS__BURST_PER_SECOND", "0")];
    let mut server = Server::start(&binary, &data_dir, server::free_address()?, Some(&folder.join("server.log")), &settings)?;
    // What the command prints is what the server answers.
    let mut print = Command::new(&binary);
    print.envs(settings).arg("--data-dir").arg(&data_dir).args(["openapi", "--json"]);
    let printed = folder.join("printed.json");
    fs::write(&printed, command::output(&mut print)?).with_context(|| format!("cannot write {}", printed.display()))?;

    let mut run = Command::new(python);
    run.arg(repository.root().join("tests/openapi/main.py")).args(["--base", &server.base(), "--printed"]).arg(&printed);
    run.arg("--work").arg(&folder);
    // Compiled Python belongs into no source tree.
    let tally = suites::count(run.env("PYTHONDONTWRITEBYTECODE", "1").env("YEARBOOK_KEY", key));
    server.stop()?;
    tally
}
