//! The integration checks: a server with a few demo datasets, and `tests/integrations`, which has it
//! generate projects and runs them with the tools that they are for.

use std::fs;
use std::process::Command;

use anyhow::{Context as _, Result};

use super::report::Tally;
use super::suites;
use crate::repository::{Profile, Repository};
use crate::server::{self, Server};
use crate::{command, demo, python};

/// What is published first: long, wide (the first of two versions), spatial, without a key.
const DATASETS: [&str; 5] = [
    "us_unemployment_by_industry",
    "us_macro_quarterly/1_to_2008_q4",
    "us_counties_unemployment",
    "us_wildlife_strikes",
    "london_boroughs",
];
/// What is published between two runs of each tool.
const LATER: &str = "us_macro_quarterly/2_to_2009_q3";

/// Pages and bursts small enough that every tool has to page and to wait.
const SETTINGS: [(&str, &str); 3] =
    [("YEARBOOK_PLANS__STARTER__ROW_CAP", "1000"), ("YEARBOOK_LIMITS__BURST_PER_SECOND", "4"), ("YEARBOOK_LIMITS__BURST_SIZE", "4")];

pub(super) fn check(repository: &Repository) -> Result<Tally> {
    let python = python::environment(repository, "integrations", "tests/integrations/requirements.txt")?;
    // Apart, since Meltano and the other tools don't agree on versions of what they share.
    let meltano = python::environment(repository, "meltano", "tests/integrations/meltano.txt")?.with_file_name("meltano");
    let binary = repository.build_product(Profile::Debug)?;
    let folder = repository.target().join("xtask").join("integrations");
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    let data_dir = folder.join("data");
    fs::create_dir_all(&data_dir).with_context(|| format!("cannot make {}", data_dir.display()))?;

    let descriptor = |name: &str| repository.root().join("datasets").join(name).join("datapackage.json");
    let publish = || {
        let mut publish = Command::new(&binary);
        publish.arg("--data-dir").arg(&data_dir).arg("publish");
        publish
    };
    command::run(publish().args(DATASETS.map(descriptor)))?;
    let (unlimited, starter) = (demo::enterprise_key(&binary, &data_dir)?, demo::key(&binary, &data_dir, "starter")?);

    let log = folder.join("server.log");
    let mut server = Server::start(&binary, &data_dir, server::free_address()?, Some(&log), &SETTINGS)?;
    let mut run = Command::new(python);
    run.arg(repository.root().join("tests/integrations/main.py"));
    run.args(["--base", &server.base(), "--meltano"]).arg(meltano).arg("--work").arg(folder.join("work")).arg("--");
    run.arg(&binary).args(publish().get_args()).arg(descriptor(LATER));
    // Compiled Python belongs into no source tree.
    run.env("PYTHONDONTWRITEBYTECODE", "1").env("YEARBOOK_KEY", unlimited).env("YEARBOOK_STARTER_KEY", starter);
    let tally = suites::count(&mut run);
    server.stop()?;
    tally
}
