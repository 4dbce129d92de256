//! The checks of the catalogue's pages: a server with the demo datasets and one of hostile words,
//! and `tests/external/pages`, which opens every page in a browser, has axe-core and html-validate
//! judge it, and uses it without a script and by keyboard.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::checks::report::CheckCounts;
use crate::checks::served::ServerFixture;
use crate::repository::Repository;
use crate::{command, tools};

/// One browser opens some hundred pages in a minute.
const SETTINGS: [(&str, &str); 1] = [("YEARBOOK_LIMITS__BURST_PER_SECOND", "0")];

/// Words that end elements, turn the direction of text and are longer than any screen.
const HOSTILE: &str = "</script><script>alert(1)</script><b onmouseover=x>\"'& \u{202e}abc 🌏";

pub(super) fn check(repository: &Repository) -> Result<CheckCounts> {
    let python = tools::check_python(repository, "pages")?;
    tools::chromium()?;
    tools::node("judging the catalogue's pages")?;
    let modules = tools::node_modules(repository, "pages-node", "tests/external/pages/node")?;
    let fixture = ServerFixture::prepare(repository, "pages")?;
    fixture.publish_demo()?;
    fixture.publish(&[hostile_package(fixture.folder())?])?;
    let yearbook = fixture.yearbook();
    fixture.count(&SETTINGS, |server| {
        let mut run = fixture.script(&python, "pages/main.py");
        run.args(["--base", &server.base(), "--modules"])
            .arg(&modules)
            .arg("--work")
            .arg(fixture.folder())
            .arg("--readme")
            .arg(repository.root().join("docs/pictures"));
        if !ServerFixture::is_shared() {
            run.arg("--pictures");
        }
        run.arg("--").arg(yearbook.get_program()).args(yearbook.get_args());
        Ok(run)
    })
}

/// A package whose every word is hostile; its descriptor.
fn hostile_package(folder: &std::path::Path) -> Result<PathBuf> {
    let folder = folder.join("hostile");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let long = format!("{HOSTILE} {}", "long ".repeat(2_000));
    let release = |day: &str| {
        let date = command::output(Command::new("date").args(["--utc", "--date", day, "+%FT%TZ"]))?;
        anyhow::Ok(serde_json::json!({"at": date.trim(), "title": HOSTILE}))
    };
    let descriptor = serde_json::json!({
        "name": "hostile_words",
        "title": HOSTILE,
        "description": long,
        "keywords": [HOSTILE],
        "licenses": [{"name": "CC-BY-4.0", "title": HOSTILE, "path": "https://creativecommons.org/licenses/by/4.0/"}],
        "sources": [{"title": HOSTILE, "path": "https://example.org/"}],
        "resources": [{
            "name": "hostile_words", "path": "hostile_words.csv", "format": "csv",
            "schema": {"fields": [
                {"name": "date", "type": "date"},
                {"name": "words", "type": "string", "description": HOSTILE},
                {"name": "value", "type": "number", "unit": HOSTILE},
            ], "primaryKey": ["date", "words"]},
        }],
        "yearbook": {
            "namespace": "hostile", "source": HOSTILE, "attribution_text": HOSTILE, "source_url_precision": "source",
            "refresh_cadence": "weekly", "date_filter_column": "date", "dimensions": ["words"], "bulk_redistribution": true,
            "releases": [release("yesterday")?, release("tomorrow")?],
        },
    });
    let rows = format!(
        "date,words,value\n2024-01-01,\"{0}\",1.5\n2024-02-01,\"{0}\",-2\n",
        HOSTILE.replace('"', "\"\"")
    );
    let write = |name: &str, text: String| {
        let path = folder.join(name);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        Ok::<PathBuf, anyhow::Error>(path)
    };
    write("hostile_words.csv", rows)?;
    write("datapackage.json", descriptor.to_string())
}
