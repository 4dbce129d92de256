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

/// An example: its plugin, the folder of `examples`, its source, and what it is built against.
struct Example {
    name: &'static str,
    folder: &'static str,
    source: &'static str,
    wit: &'static str,
    world: &'static str,
}

const PYTHON: [Example; 2] = [
    Example {
        name: "markdown",
        folder: "python-markdown",
        source: "encoder.py",
        wit: "wit/1.1.0",
        world: "encoder-plugin",
    },
    Example {
        name: "running-total",
        folder: "python-running-total",
        source: "transform.py",
        wit: "wit/1.2.0",
        world: "transform-plugin",
    },
];

const JAVASCRIPT: [Example; 2] = [
    Example {
        name: "javascript",
        folder: "javascript-fetch",
        source: "generator.js",
        wit: "wit/1.1.0",
        world: "generator-plugin",
    },
    Example {
        name: "rounded",
        folder: "javascript-rounded",
        source: "transform.js",
        wit: "wit/1.2.0",
        world: "transform-plugin",
    },
];

pub(super) fn check(repository: &Repository) -> Result<CheckCounts> {
    let python = tools::check_python(repository, "languages")?;
    let node = tools::node("plugins in JavaScript");
    let mut components = Vec::new();
    for example in &PYTHON {
        components.push(example.component(repository, |output| {
            componentize_python(repository, &python, example, output)
        })?);
    }
    if node.is_ok() {
        for example in &JAVASCRIPT {
            components.push(example.component(repository, |output| {
                componentize_javascript(repository, example, output)
            })?);
        }
    }
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
            .arg("--components")
            .args(components);
        let yearbook = fixture.yearbook();
        run.arg("--")
            .arg(yearbook.get_program())
            .args(yearbook.get_args())
            .env("SERVICE_API_KEY", key);
        Ok(run)
    })?;
    Ok(tally.and_tool(&node))
}

/// Builds with componentize-py.
fn componentize_python(
    repository: &Repository,
    python: &Path,
    example: &Example,
    output: &Path,
) -> Result<()> {
    // Whatever lies beside the source, a component of an author's say, must not go into this one.
    let work = repository.cache_dir().join("languages-python").join(example.name);
    fs::create_dir_all(&work).with_context(|| format!("cannot make {}", work.display()))?;
    let source = example.folder(repository.root()).join(example.source);
    fs::copy(&source, work.join(example.source))
        .with_context(|| format!("cannot copy {}", source.display()))?;
    let mut componentize = Command::new(python.with_file_name("componentize-py"));
    componentize
        .args(["--quiet", "--wit-path"])
        .arg(repository.root().join(example.wit))
        .args(["--world", example.world])
        .args(["componentize", "--stub-wasi", "--python-path"])
        .arg(&work)
        .arg("--output")
        .arg(output)
        .arg(example.source.trim_end_matches(".py"));
    // Its leftovers must not go into the component.
    command::run(componentize.env("PYTHONDONTWRITEBYTECODE", "1"))
}

/// Builds with componentize-js from npm.
fn componentize_javascript(
    repository: &Repository,
    example: &Example,
    output: &Path,
) -> Result<()> {
    let tools = repository.root().join("examples/javascript-fetch");
    // Node looks for packages beside the module that asks for them.
    let work = repository.cache_dir().join("languages-javascript");
    fs::create_dir_all(&work).with_context(|| format!("cannot make {}", work.display()))?;
    for name in ["build.mjs", "package.json"] {
        fs::copy(tools.join(name), work.join(name))
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
            .arg(repository.root().join(example.wit))
            .arg(example.world)
            .arg(example.folder(repository.root()).join(example.source))
            .arg(output)
            .current_dir(&work),
    )
}

impl Example {
    fn folder(&self, root: &Path) -> PathBuf {
        root.join("examples").join(self.folder)
    }

    /// The component, built unless the one in the cache was made of the same files and the same
    /// interface.
    fn component(
        &self,
        repository: &Repository,
        build: impl FnOnce(&Path) -> Result<()>,
    ) -> Result<PathBuf> {
        let folder = repository.cache_dir().join("components");
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let output = folder.join(self.name).with_extension("wasm");
        let stamp = output.with_extension("sources");
        let sources = self.made_of(repository.root())?;
        if output.exists() && fs::read_to_string(&stamp).is_ok_and(|built| built == sources) {
            return Ok(output);
        }
        build(&output)?;
        // Last, so that a build that failed is tried again.
        fs::write(&stamp, sources).with_context(|| format!("cannot write {}", stamp.display()))?;
        Ok(output)
    }

    /// Text of everything that the component is made of. The folder of the example may hold more:
    /// what an author who followed its page has built there.
    fn made_of(&self, root: &Path) -> Result<String> {
        let interface = root.join(self.wit);
        let entries = fs::read_dir(&interface)
            .with_context(|| format!("cannot read {}", interface.display()))?;
        let mut files: Vec<PathBuf> =
            entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file()).collect();
        files.sort();
        files.extend([
            root.join("tests/external/languages/requirements.txt"),
            root.join("examples/javascript-fetch/build.mjs"),
            root.join("examples/javascript-fetch/package.json"),
            self.folder(root).join(self.source),
        ]);
        let texts = files.iter().map(|file| {
            fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))
        });
        texts.collect()
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn what_an_author_builds_beside_the_source_is_no_part_of_it() {
        let root =
            std::env::temp_dir().join(format!("yearbook-xtask-languages-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        let example = &PYTHON[0];
        for file in [
            "tests/external/languages/requirements.txt",
            "examples/javascript-fetch/build.mjs",
            "examples/javascript-fetch/package.json",
            "examples/python-markdown/encoder.py",
            "wit/1.1.0/types.wit",
        ] {
            let file = root.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, file.file_name().unwrap().to_str().unwrap()).unwrap();
        }
        let before = example.made_of(&root).unwrap();
        assert!(before.contains("encoder.py") && before.contains("types.wit"), "{before}");
        // No text of any encoding.
        fs::write(example.folder(&root).join("markdown.wasm"), b"\0asm\xff\xfe").unwrap();
        assert_eq!(example.made_of(&root).unwrap(), before);
        fs::write(example.folder(&root).join(example.source), "other").unwrap();
        assert_ne!(example.made_of(&root).unwrap(), before);
        fs::remove_dir_all(&root).unwrap();
    }
}
