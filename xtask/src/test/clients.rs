//! The client libraries: their own suites against a server with the demo datasets and the tables of
//! difficult values. Owns the server's settings; the scripts judge.

use anyhow::Result;

use crate::checks::report::CheckCounts;
use crate::checks::served::ServerFixture;
use crate::checks::suites;
use crate::repository::Repository;
use crate::{command, packages, tools};

/// Suites ask without a pause, and a small cap makes several pages of a small table.
const SETTINGS: [(&str, &str); 2] =
    [("YEARBOOK_LIMITS__BURST_PER_SECOND", "0"), ("YEARBOOK_PLANS__STARTER__ROW_CAP", "500")];

/// Checks `clients/python`: the suite on every Python, types, lints, the distribution, and the
/// recipes of `docs/clients.md`.
pub(super) fn python(repository: &Repository) -> Result<CheckCounts> {
    const NAME: &str = "clients-python";
    let python = tools::check_python(repository, NAME)?;
    let fixture = ServerFixture::prepare(repository, NAME)?;
    fixture.publish_demo()?;
    let difficult = fixture.folder().join("difficult");
    let readers = tools::readers_python(repository)?;
    command::run(fixture.script(&readers, "readers/difficult.py").arg(&difficult))?;
    fixture.publish(&packages::descriptors(&difficult)?)?;

    let log = fixture.folder().join("server.log");
    let mut server = fixture.serve(&log, &SETTINGS)?;
    let mut run = fixture.script(&python, "clients-python/main.py");
    let yearbook = fixture.yearbook();
    run.args(["--base", &server.base(), "--work"])
        .arg(repository.cache_dir().join("clients-python-work"))
        .arg("--")
        .arg(yearbook.get_program())
        .args(yearbook.get_args());
    let counts = suites::count(&mut run);
    server.stop()?;
    counts
}

/// Checks `clients/r`: builds the package, runs its tests and the recipes of
/// `docs/clients.md`, compares every value that it reads with the stored file, and runs R's
/// own checks.
pub(super) fn r(repository: &Repository) -> Result<CheckCounts> {
    // The recipes and the counts of requests want the plans as they are shipped.
    const R_SETTINGS: [(&str, &str); 1] = [("YEARBOOK_LIMITS__BURST_PER_SECOND", "0")];
    let python = tools::readers_python(repository)?;
    tools::r_client()?;
    let fixture = ServerFixture::prepare(repository, "clients-r")?;
    fixture.publish_demo()?;
    let difficult = fixture.folder().join("difficult");
    command::run(fixture.script(&python, "readers/difficult.py").arg(&difficult))?;
    fixture.publish(&packages::descriptors(&difficult)?)?;
    // A table with labels, statuses and two languages, which no demo dataset has.
    let rents = repository.root().join("tests/external/common/rents");
    fixture.publish(&packages::descriptors(&rents)?)?;
    let (enterprise, free) = (fixture.key("enterprise")?, fixture.key("free")?);

    fixture.count(&R_SETTINGS, |server| {
        let mut run = fixture.script(&python, "clients-r/main.py");
        run.args(["--base", &server.base(), "--work"])
            .arg(fixture.folder().join("work"))
            .arg("--vectors")
            .arg(repository.root().join("tests/fixtures/result_digest.json"))
            .arg("--recipes")
            .arg(repository.root().join("docs/clients.md"));
        run.env("YEARBOOK_KEY", enterprise).env("YEARBOOK_FREE", free);
        Ok(run)
    })
}
