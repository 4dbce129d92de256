//! The checks of the warehouse share: a server with every demo dataset and tables of difficult
//! values in two versions, and `tests/external/share`, which reads them with the official client.

use std::fs;

use anyhow::{Context as _, Result};

use crate::checks::report::CheckCounts;
use crate::checks::served::ServerFixture;
use crate::repository::Repository;
use crate::{command, packages, tools};

/// Life of an address, seconds: long enough to read any table on a busy machine, and over by the
/// time that all have been read.
const URL_SECONDS: &str = "60";

pub(super) fn check(repository: &Repository) -> Result<CheckCounts> {
    let python = tools::check_python(repository, "share")?;
    let fixture = ServerFixture::prepare(repository, "share")?;
    fixture.publish_demo()?;
    let difficult = fixture.folder().join("difficult");
    command::run(fixture.script(&python, "readers/difficult.py").arg(&difficult))?;
    fixture.publish(&packages::descriptors(&difficult)?)?;
    // Hundreds of requests a second with one key are wanted here, so there is no burst limit.
    let settings =
        [("YEARBOOK_LIMITS__BURST_PER_SECOND", "0"), ("YEARBOOK_SHARE__URL_SECONDS", URL_SECONDS)];
    fixture.count(&settings, |server| {
        let profile = fixture.folder().join("profile.share");
        let mut issue = fixture.yearbook();
        issue.env("YEARBOOK_SERVER__PUBLIC_URL", server.base());
        let text = command::output(issue.args(["share", "profile", "--label", "share", "--json"]))?;
        fs::write(&profile, text).with_context(|| format!("cannot write {}", profile.display()))?;
        let mut run = fixture.script(&python, "share/main.py");
        run.arg("--profile").arg(&profile);
        run.arg("--page").arg(repository.root().join("docs/share.md"));
        Ok(run)
    })
}
