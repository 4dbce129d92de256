//! Report of a package that was not published, as a table for people and as members for machines.

use std::path::Path;

use serde_json::{Map, Value, json};
use yearbook_publish::{PublishError, SHOWN_FAULTS};

use crate::output::{DetailedError, TextTable, or_dash, pluralize};

/// The error of a run that stopped at `path` after publishing `done`, of `total` packages.
pub(super) fn explain(
    error: anyhow::Error,
    path: &Path,
    done: &[String],
    total: usize,
) -> anyhow::Error {
    let mut members = Map::new();
    members.insert("package".to_owned(), json!(path));
    members.insert("published".to_owned(), json!(done));
    let mut text = match error.downcast_ref::<PublishError>() {
        Some(PublishError::Descriptor { problems, .. }) => {
            members.insert("problems".to_owned(), json!(problems));
            let rows = problems
                .iter()
                .map(|problem| [or_dash(Some(&problem.at)), problem.message.clone()]);
            render_table(TextTable::new(&["place", "problem"]).with_rows(rows), 0)
        }
        Some(PublishError::Table { faults, total, .. }) => {
            members.insert("faults".to_owned(), json!(faults));
            members.insert("total_faults".to_owned(), Value::from(*total));
            let shown = &faults[..faults.len().min(SHOWN_FAULTS)];
            let rows = shown.iter().map(|fault| {
                let row = fault.row.map_or_else(|| "-".to_owned(), |row| row.to_string());
                [row, or_dash(fault.column.as_deref()), fault.message.clone()]
            });
            let table = TextTable::new(&["#row", "column", "fault"]).with_rows(rows);
            render_table(table, total.saturating_sub(shown.len() as u64))
        }
        _ => String::new(),
    };
    if total > 1 {
        let published = if done.is_empty() { "none".to_owned() } else { done.join(", ") };
        text.push_str(&format!(
            "\npublished before it: {published}; not tried: {}",
            total - done.len() - 1
        ));
    }
    let message = format!("{} was not published", path.display());
    match headline(&error) {
        Some(reason) => {
            DetailedError { message: format!("{message}: {reason}"), text, members }.into()
        }
        None => error.context(DetailedError { message, text, members }),
    }
}

/// One sentence in place of a list that is shown below it.
fn headline(error: &anyhow::Error) -> Option<String> {
    match error.downcast_ref::<PublishError>()? {
        PublishError::Descriptor { path, problems } => Some(format!(
            "{} in its descriptor {}",
            pluralize(problems.len() as u64, "problem"),
            path.display()
        )),
        PublishError::Table { path, total, .. } => {
            Some(format!("{} in its data {}", pluralize(*total, "fault"), path.display()))
        }
        _ => None,
    }
}

fn render_table(table: TextTable, more: u64) -> String {
    let more = if more > 0 { format!("… and {more} more") } else { String::new() };
    format!("\n{}{more}", table.render()).trim_end().to_owned()
}
