//! The check that all peers return the same rows: a list of questions for
//! `tests/lab/peers/same.py`, which ends the benchmark at the first difference.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use yearbook_xtask::command;

use super::Bench;
use super::cases::BenchCase;
use super::peers::{DATASETTE, FASTAPI, ROAPI};

/// Comparison of an answer with the right one.
#[derive(Debug, Deserialize)]
pub(super) struct EquivalenceResult {
    case: String,
    who: String,
    found: String,
}

/// Remark on the answer of `who` in a case, where one is needed.
pub(super) fn remark(found: &[EquivalenceResult], case: &str, who: &str) -> Option<String> {
    let found = found.iter().find(|found| found.case == case && found.who == who)?;
    (!["the same rows in the same order", "the same values"].contains(&found.found.as_str()))
        .then(|| found.found.clone())
}

/// Sends all requests once, and compares the answers.
pub(super) fn check(
    bench: &Bench<'_>,
    tables: &Path,
    cases: &[BenchCase],
) -> Result<Vec<EquivalenceResult>> {
    let mut questions = Vec::new();
    for case in cases {
        let Some(asked) = &case.asked else { continue };
        for (who, ask) in case.asked() {
            let headers: Map<String, Value> = ask
                .headers
                .iter()
                .map(|(name, value)| ((*name).to_owned(), json!(value)))
                .collect();
            questions.push(json!({
                "case": case.name,
                "who": who,
                "url": ask.url,
                "headers": headers,
                "body": ask.body,
                "format": case.format,
                "asked": asked,
                "integers_for_booleans": who == DATASETTE,
                // They say nothing about the order of rows, and sorting would slow them down.
                "any_order": who == ROAPI || who == FASTAPI,
            }));
        }
    }
    let path = bench.folder.join("questions.json");
    fs::write(&path, Value::from(questions).to_string())
        .with_context(|| format!("cannot write {}", path.display()))?;
    let said = command::output(bench.script("same.py").arg(tables).arg(&path))?;
    said.lines()
        .map(|line| serde_json::from_str(line).with_context(|| format!("same.py printed {line:?}")))
        .collect()
}
