//! The checks of the machine description: a server with the demo datasets, and `tests/external/openapi`,
//! which validates the document, has schemathesis ask everything that it describes, right and
//! wrong, and opens the page that shows it in a browser.

use std::fs;

use anyhow::{Context as _, Result};

use super::report::CheckCounts;
use super::served::ServerFixture;
use super::tools;
use crate::repository::Repository;
use crate::{command, python};

/// Hundreds of requests a second from one address are the point here, so no burst limit.
const SETTINGS: [(&str, &str); 1] = [("YEARBOOK_LIMITS__BURST_PER_SECOND", "0")];

pub(super) fn check(repository: &Repository) -> Result<CheckCounts> {
    let python =
        python::environment(repository, "openapi", "tests/external/openapi/requirements.txt")?;
    let browser = tools::chromium();
    let ground = ServerFixture::prepare(repository, "openapi")?;
    ground.publish_demo()?;
    let key = ground.key("enterprise")?;

    let tally = ground.count(&SETTINGS, |server| {
        // What the command prints is what the server answers.
        let printed = ground.folder().join("printed.json");
        let document =
            command::output(ground.yearbook().envs(SETTINGS).args(["openapi", "--json"]))?;
        fs::write(&printed, document)
            .with_context(|| format!("cannot write {}", printed.display()))?;

        let mut run = ground.script(&python, "openapi/main.py");
        run.args(["--base", &server.base(), "--printed"])
            .arg(&printed)
            .arg("--work")
            .arg(ground.folder());
        if browser.is_err() {
            run.arg("--without-browser");
        }
        run.env("YEARBOOK_KEY", key);
        Ok(run)
    })?;
    Ok(tally.and_tool(&browser))
}
