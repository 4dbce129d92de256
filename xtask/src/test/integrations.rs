//! The integration checks: a server with a few demo datasets, and `tests/external/integrations`,
//! which has it generate projects and runs them with the tools that they are for.

use anyhow::Result;

use crate::checks::report::CheckCounts;
use crate::checks::served::ServerFixture;
use crate::repository::Repository;
use crate::{command, server, tools};

/// Datasets that are published first: long, wide, revised later (the first of two versions),
/// spatial, without a key.
const DATASETS: [&str; 6] = [
    "us_unemployment_by_industry",
    "us_macro_quarterly",
    "synthetic_nz_retail_quarterly/1_to_2025_q3",
    "us_counties_unemployment",
    "us_wildlife_strikes",
    "london_boroughs",
];
/// The integrations that the product does not carry: an operator installs them.
const INSTALLED: [&str; 7] =
    ["airbyte", "dbt", "dlt", "frictionless", "power-query", "python", "r"];
/// Version that is published between two runs of each tool.
const LATER: &str = "synthetic_nz_retail_quarterly/2_to_2025_q4";

/// Pages and bursts small enough that every tool has to page and to wait.
const SETTINGS: [(&str, &str); 3] = [
    ("YEARBOOK_PLANS__STARTER__ROW_CAP", "1000"),
    ("YEARBOOK_LIMITS__BURST_PER_SECOND", "4"),
    ("YEARBOOK_LIMITS__BURST_SIZE", "4"),
];

pub(super) fn check(repository: &Repository) -> Result<CheckCounts> {
    let python = tools::check_python(repository, "integrations")?;
    // Apart, since Meltano and the other tools don't agree on versions of what they share.
    let meltano = tools::python_environment(
        repository,
        "meltano",
        "tests/external/integrations/meltano.txt",
    )?
    .with_file_name("meltano");
    // Likewise, each: dlt and dbt, and Airbyte's kit.
    let loaders = tools::python_environment(
        repository,
        "loaders",
        "tests/external/integrations/loaders.txt",
    )?;
    let airbyte = tools::python_environment(
        repository,
        "airbyte",
        "tests/external/integrations/airbyte.txt",
    )?
    .with_file_name("source-declarative-manifest");
    let (node, r) = (tools::node("Microsoft's parser of Power Query"), tools::r());
    let powerquery = if node.is_ok() {
        Some(tools::node_modules(
            repository,
            "powerquery",
            "tests/external/integrations/powerquery",
        )?)
    } else {
        None
    };
    let fixture = ServerFixture::prepare(repository, "integrations")?;
    for name in INSTALLED {
        let component = repository.root().join("plugins/dist").join(name).with_extension("wasm");
        command::run(fixture.yearbook().args(["plugin", "install"]).arg(component).arg("--now"))?;
    }
    let descriptor =
        |name: &str| repository.root().join("datasets").join(name).join("datapackage.json");
    fixture.publish(&DATASETS.map(descriptor))?;
    let (unlimited, starter) = (fixture.key("enterprise")?, fixture.key("starter")?);

    let admin = server::free_address()?.to_string();
    let mut settings = SETTINGS.to_vec();
    settings.push(("YEARBOOK_SERVER__ADMIN_LISTEN", &admin));
    let tally = fixture.count(&settings, |server| {
        let mut run = fixture.script(&python, "integrations/main.py");
        run.args(["--base", &server.base(), "--admin", &format!("http://{admin}")])
            .arg("--meltano")
            .arg(meltano)
            .arg("--loaders")
            .arg(loaders)
            .arg("--airbyte")
            .arg(airbyte);
        if let Some(powerquery) = powerquery {
            run.arg("--powerquery").arg(powerquery);
        }
        if r.is_ok() {
            run.arg("--r");
        }
        run.arg("--work").arg(fixture.folder().join("work")).arg("--");
        let yearbook = fixture.yearbook();
        run.arg(yearbook.get_program())
            .args(yearbook.get_args())
            .arg("publish")
            .arg(descriptor(LATER));
        run.env("YEARBOOK_KEY", unlimited).env("YEARBOOK_STARTER_KEY", starter);
        Ok(run)
    })?;
    Ok(tally.and_tool(&node).and_tool(&r))
}
