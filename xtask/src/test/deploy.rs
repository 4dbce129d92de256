//! The checks of `deploy/`: `tests/external/deploy` holds every flag, setting, port and path in it against
//! the binary, and the manifests against the schemas of Kubernetes.

use anyhow::Result;

use super::report::CheckCounts;
use super::served::ServerFixture;
use super::suites;
use super::tools;
use crate::python;
use crate::repository::Repository;

pub(super) fn check(repository: &Repository) -> Result<CheckCounts> {
    let python =
        python::environment(repository, "deploy", "tests/external/deploy/requirements.txt")?;
    let systemd = tools::systemd();
    let ground = ServerFixture::prepare(repository, "deploy")?;
    let mut run = ground.script(&python, "deploy/main.py");
    run.arg("--binary")
        .arg(ground.yearbook().get_program())
        .arg("--work")
        .arg(ground.folder().join("work"));
    Ok(suites::count(&mut run)?.and_tool(&systemd))
}
