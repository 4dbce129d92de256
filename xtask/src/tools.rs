//! Programs and packages that checks need: from Debian's archive, from PyPI and from npm. Owns how
//! they are installed and where they are kept. A program that is missing and cannot be installed is
//! a failure of the step that needs it.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::checks::postgres;
use crate::command;
use crate::repository::Repository;

/// Version of uv, of PyPI.
const UV: &str = "0.13.9";

/// Files that pin packages: the wanted ones, and all that these need, with digests.
const NODE_PINS: [&str; 2] = ["package.json", "package-lock.json"];

/// Makes sure that `there` holds, if need be by installing `packages`. `what` needs them.
///
/// # Errors
/// Fails when it does not hold after that; the message says what to run.
pub fn ensure_packages(what: &str, packages: &[&str], there: impl Fn() -> bool) -> Result<()> {
    if there() {
        return Ok(());
    }
    println!("{what} needs Debian's {}: installing", packages.join(" "));
    let install = || {
        let arguments = ["install", "--yes", "--quiet", "--no-install-recommends"];
        command::run(apt_get().args(arguments).args(packages))
    };
    // A new machine has no lists of packages, and an old one those of packages that are gone.
    let installed = install()
        .or_else(|_| command::run(apt_get().args(["update", "--quiet"])).and_then(|()| install()));
    if installed.is_err() || !there() {
        bail!(
            "{what} needs {}: run `apt-get install {}` and try again",
            packages.join(" "),
            packages.join(" ")
        );
    }
    Ok(())
}

/// Debian's package tool, with the rights that it needs. Waits for another step that is installing.
fn apt_get() -> Command {
    let root = rustix::process::geteuid().is_root();
    let mut command = Command::new(if root { "apt-get" } else { "sudo" });
    if !root {
        command.args(["-n", "apt-get"]);
    }
    command.args(["-o", "DPkg::Lock::Timeout=600"]);
    command
}

/// The interpreter of the readers' environment.
pub(crate) fn readers_python(repository: &Repository) -> Result<PathBuf> {
    check_python(repository, "readers")
}

/// The interpreter of the environment of the check called `name`, whose folder in `tests/external`
/// pins the packages.
///
/// # Errors
/// As [`python_environment`].
pub(crate) fn check_python(repository: &Repository, name: &str) -> Result<PathBuf> {
    python_environment(repository, name, &format!("tests/external/{name}/requirements.txt"))
}

/// The interpreter of the environment called `name`, with everything in the file `pins` (from the
/// top of the tree) installed. A file beside it that ends in `.lock` has the versions of what comes
/// with them, so that a later release of another project changes no check. An environment that is
/// there is not made again for it.
///
/// # Errors
/// Fails when the pins cannot be read, or a package cannot be installed.
pub fn python_environment(repository: &Repository, name: &str, pins: &str) -> Result<PathBuf> {
    let pins = repository.root().join(pins);
    let pinned =
        fs::read_to_string(&pins).with_context(|| format!("cannot read {}", pins.display()))?;
    let folder = repository.cache_dir().join(name);
    let python = folder.join("bin/python");
    let stamp = folder.join("requirements.txt");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == pinned) {
        return Ok(python);
    }
    let _lock = lock(repository, name)?;
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == pinned) {
        return Ok(python);
    }
    let installer = installer(repository)?;
    let uv = || {
        let mut uv = Command::new(&installer);
        uv.env("UV_CACHE_DIR", repository.cache_dir().join("python-packages"));
        // Certificates as every other program here: a network may have its own.
        uv.env("UV_SYSTEM_CERTS", "1").arg("--quiet");
        uv
    };
    // With pip, by which a check installs what it has built.
    let make =
        ["venv", "--clear", "--force", "--seed", "--no-python-downloads", "--python", "python3"];
    command::run(uv().args(make).arg(&folder))?;
    let mut install = uv();
    install.args(["pip", "install", "--python"]).arg(&python).arg("--requirement").arg(&pins);
    let versions = pins.with_extension("lock");
    if versions.is_file() {
        install.arg("--constraint").arg(&versions);
    }
    command::run(&mut install)?;
    // Last, so that an installation that failed is tried again.
    fs::write(&stamp, pinned).with_context(|| format!("cannot write {}", stamp.display()))?;
    Ok(python)
}

/// The program that installs Python's packages, in an environment of its own. An environment that
/// has what another has is made of links, in a tenth of the processor time that pip takes.
fn installer(repository: &Repository) -> Result<PathBuf> {
    let folder = repository.cache_dir().join("installer");
    let uv = folder.join("bin/uv");
    let is_there = || {
        command::output(Command::new(&uv).arg("--version"))
            .is_ok_and(|said| said.contains(&format!(" {UV} ")))
    };
    let _lock = lock(repository, "installer")?;
    if !is_there() {
        ensure_python()?;
        command::run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
        let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
        command::run(
            Command::new(folder.join("bin/python")).args(install).arg(format!("uv=={UV}")),
        )?;
    }
    Ok(uv)
}

/// Keeps other processes of this program from installing the environment called `name` until the
/// file is dropped.
fn lock(repository: &Repository, name: &str) -> Result<File> {
    let path = repository.cache_dir().join(name).with_extension("lock");
    fs::create_dir_all(repository.cache_dir())
        .with_context(|| format!("cannot make {}", repository.cache_dir().display()))?;
    let file = File::create(&path).with_context(|| format!("cannot make {}", path.display()))?;
    file.lock().with_context(|| format!("cannot lock {}", path.display()))?;
    Ok(file)
}

/// Debian splits `venv` off.
fn ensure_python() -> Result<()> {
    let packages = ["python3", "python3-venv"];
    ensure_packages("checking with other tools", &packages, || {
        command::exists("python3", &["-c", "import venv, ensurepip"])
    })
}

/// The `node_modules` of the environment called `name`, with what the folder `pins` (from the top
/// of the tree) asks for.
pub(crate) fn node_modules(repository: &Repository, name: &str, pins: &str) -> Result<PathBuf> {
    let folder = repository.cache_dir().join(name);
    let modules = folder.join("node_modules");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let _lock = lock(repository, name)?;
    let mut pinned = String::new();
    for file in NODE_PINS {
        let path = repository.root().join(pins).join(file);
        let text =
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        fs::write(folder.join(file), &text)
            .with_context(|| format!("cannot write into {}", folder.display()))?;
        pinned += &text;
    }
    let stamp = folder.join("installed");
    if modules.is_dir() && fs::read_to_string(&stamp).is_ok_and(|installed| installed == pinned) {
        return Ok(modules);
    }
    command::run(
        Command::new("npm")
            .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"])
            .current_dir(&folder),
    )?;
    // Last, so that an installation that failed is tried again.
    fs::write(&stamp, pinned).with_context(|| format!("cannot write {}", stamp.display()))?;
    Ok(modules)
}

/// R, with what the examples in the guide and the checks of readers need.
pub(crate) fn r() -> Result<()> {
    let load = ["-e", "library(httr2); library(jsonlite)"];
    require(
        "R as a reader and in examples",
        &["r-base-core", "r-cran-httr2", "r-cran-jsonlite"],
        "Rscript",
        &load,
    )
}

/// R, with what building, testing and checking the R client needs.
pub(crate) fn r_client() -> Result<()> {
    let packages = [
        "r-base-core",
        "r-cran-bit64",
        "r-cran-httr2",
        "r-cran-jsonlite",
        "r-cran-knitr",
        "r-cran-rmarkdown",
        "r-cran-sf",
        "r-cran-testthat",
        "r-cran-tibble",
        "r-cran-webfakes",
        "r-cran-withr",
        "iproute2",
        "pandoc",
        "qpdf",
        "tidy",
    ];
    let load = "for (package in c('bit64', 'httr2', 'jsonlite', 'knitr', 'rmarkdown', 'sf', \
        'testthat', 'tibble', 'webfakes', 'withr')) library(package, character.only = TRUE); \
        stopifnot(nzchar(Sys.which(c('ip', 'pandoc', 'qpdf', 'tidy'))))";
    require("the R client", &packages, "Rscript", &["-e", load])
}

/// LibreOffice Calc without a window, and `uno` for Debian's Python, which works it.
pub(crate) fn libreoffice() -> Result<()> {
    ensure_packages("a sheet that reads a link", &["libreoffice-calc-nogui", "python3-uno"], || {
        command::exists("soffice", &["--version"])
            && command::exists("/usr/bin/python3", &["-c", "import uno"])
    })
}

/// A browser, and a font for what it shows.
pub(crate) fn chromium() -> Result<()> {
    require("/docs in a browser", &["chromium", "fonts-dejavu-core"], "chromium", &["--version"])
}

/// nginx.
///
/// # Errors
/// Fails when it is missing and cannot be installed; the message has the command to run.
pub fn nginx() -> Result<()> {
    require("a fleet behind a proxy", &["nginx-light"], "nginx", &["-v"])
}

/// Debian's registry of images, which takes plugins too, and a tool that copies what is in it.
///
/// # Errors
/// Fails when one is missing and cannot be installed; the message has the command to run.
pub(crate) fn registry() -> Result<()> {
    for program in ["docker-registry", "skopeo"] {
        require("plugins from registries", &[program], program, &["--version"])?;
    }
    Ok(())
}

/// Node, with npm for its packages; `what` needs them.
pub(crate) fn node(what: &str) -> Result<()> {
    require(what, &["nodejs", "npm"], "npm", &["--version"])
}

/// systemd's judgement of a unit.
pub(crate) fn systemd() -> Result<()> {
    require("what systemd says of the unit", &["systemd"], "systemd-analyze", &["--version"])
}

/// Returns the folder of PostgreSQL's programs, which are installed if need be.
///
/// # Errors
/// Fails when they are missing and cannot be installed; the message has the command to run.
pub fn postgres() -> Result<PathBuf> {
    ensure_packages("the catalog in PostgreSQL", &["postgresql"], || {
        postgres::find_programs().is_some()
    })?;
    postgres::find_programs().context("PostgreSQL's programs are not where Debian puts them")
}

/// Prints the checks that a run with `--quick` leaves out, and returns the folder of PostgreSQL's
/// programs where they are installed.
pub(crate) fn installed_postgres() -> Option<PathBuf> {
    println!(
        "NOT CHECKED with --quick: lints, dependencies, a fleet behind nginx, a registry of another project, examples, instructions, a soak, and other programs as clients"
    );
    let programs = postgres::find_programs();
    if programs.is_none() {
        println!(
            "NOT CHECKED: the catalog in PostgreSQL, which is not here; a run without --quick installs it"
        );
    }
    programs
}

/// Succeeds where `program` does with `arguments`, if need be after installing `packages`.
fn require(what: &str, packages: &[&str], program: &str, arguments: &[&str]) -> Result<()> {
    ensure_packages(what, packages, || command::exists(program, arguments))
}
