//! The example plugins in other languages: builds the components with their languages' own tools,
//! and `tests/external/languages`, which installs them on a running server and reads what they
//! make. A component is built again when anything that it is made of changed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::checks::report::CheckCounts;
use crate::checks::served::ServerFixture;
use crate::repository::Repository;
use crate::{command, tools};

/// Datasets that are published: long, wide, and spatial.
const DATASETS: [&str; 3] =
    ["us_unemployment_by_industry", "us_macro_quarterly", "london_boroughs"];

/// Pages that take more than one request, and a burst limit that the generated module has to wait
/// for.
const SETTINGS: [(&str, &str); 3] = [
    ("YEARBOOK_PLANS__STARTER__ROW_CAP", "5000"),
    ("YEARBOOK_LIMITS__BURST_PER_SECOND", "4"),
    ("YEARBOOK_LIMITS__BURST_SIZE", "4"),
];

/// The interface that the examples are built against.
const WIT: &str = "wit/1.1.0";

pub(super) fn check(repository: &Repository) -> Result<CheckCounts> {
    let python = tools::check_python(repository, "languages")?;
    let markdown = markdown(repository, &python)?;
    let node = tools::node("plugins in JavaScript");
    let javascript = if node.is_ok() { Some(javascript(repository)?) } else { None };
    let fixture = ServerFixture::prepare(repository, "languages")?;
    fixture.publish(
        &DATASETS
            .map(|name| repository.root().join("datasets").join(name).join("datapackage.json")),
    )?;
    let key = fixture.key("starter")?;

    let tally = fixture.count(&SETTINGS, |server| {
        let mut run = fixture.script(&python, "languages/main.py");
        run.args(["--base", &server.base(), "--work"])
            .arg(fixture.folder().join("work"))
            .arg("--markdown")
            .arg(markdown);
        if let Some(javascript) = javascript {
            run.arg("--javascript").arg(javascript);
        }
        let yearbook = fixture.yearbook();
        run.arg("--")
            .arg(yearbook.get_program())
            .args(yearbook.get_args())
            .env("SERVICE_API_KEY", key);
        Ok(run)
    })?;
    Ok(tally.and_tool(&node))
}

/// `examples/python-markdown`, with componentize-py.
fn markdown(repository: &Repository, python: &Path) -> Result<PathBuf> {
    let example = repository.root().join("examples/python-markdown");
    let made_of = [
        example.join("encoder.py"),
        repository.root().join("tests/external/languages/requirements.txt"),
    ];
    component(repository, "markdown", &made_of, |output| {
        let mut componentize = Command::new(python.with_file_name("componentize-py"));
        componentize
            .args(["--quiet", "--wit-path"])
            .arg(repository.root().join(WIT))
            .args(["--world", "encoder-plugin"]);
        componentize
            .args(["componentize", "--stub-wasi", "--python-path"])
            .arg(&example)
            .arg("--output")
            .arg(output)
            .arg("encoder");
        // Its leftovers must not go into the component.
        command::run(componentize.env("PYTHONDONTWRITEBYTECODE", "1"))
    })
}

/// `examples/javascript-fetch`, with componentize-js from npm.
fn javascript(repository: &Repository) -> Result<PathBuf> {
    let example = repository.root().join("examples/javascript-fetch");
    let sources = ["generator.js", "build.mjs", "package.json"];
    component(repository, "javascript", &sources.map(|name| example.join(name)), |output| {
        // Node looks for packages beside the module that asks for them.
        let work = repository.cache_dir().join("languages-javascript");
        fs::create_dir_all(&work).with_context(|| format!("cannot make {}", work.display()))?;
        for name in sources {
            fs::copy(example.join(name), work.join(name))
                .with_context(|| format!("cannot copy {name}"))?;
        }
        command::run(
            Command::new("npm")
                .args(["install", "--no-audit", "--no-fund", "--silent"])
                .current_dir(&work),
        )?;
        command::run(
            Command::new("node")
                .arg("build.mjs")
                .arg(repository.root().join(WIT))
                .arg(output)
                .current_dir(&work),
        )
    })
}

/// The component called `name`, built unless the one in the cache was made of the same files and
/// the same interface.
fn component(
    repository: &Repository,
    name: &str,
    made_of: &[PathBuf],
    build: impl FnOnce(&Path) -> Result<()>,
) -> Result<PathBuf> {
    let folder = repository.cache_dir().join("components");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let (output, stamp) =
        (folder.join(format!("{name}.wasm")), folder.join(format!("{name}.sources")));
    let mut sources = String::new();
    for file in made_of.iter().chain([&repository.root().join(WIT).join("package.wit")]) {
        sources +=
            &fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    }
    if output.exists() && fs::read_to_string(&stamp).is_ok_and(|built| built == sources) {
        return Ok(output);
    }
    build(&output)?;
    // Last, so that a build that failed is tried again.
    fs::write(&stamp, sources).with_context(|| format!("cannot write {}", stamp.display()))?;
    Ok(output)
}
