//! `verify_figure`: whether a claimed figure is published now, was published once, or is in no
//! version that was compared. Never says `never` of rows that it did not see.

use serde_json::{Value, json};
use yearbook_sdk::adapter::{
    Asked, Column, ColumnType, Dataset, Edition, Host, Refusal, Selection, Step, Table, Version,
};

use crate::arguments::{Arguments, Read, wrong};
use crate::claim::{Claim, Finding};
use crate::rows::table;
use crate::selection;

/// Rows of a version that are compared: as many as the host tells.
const ROWS: u64 = 200;
/// Older versions that are compared: a request has four reads, and one is of the current version.
const OLDER: usize = 3;
/// Most differences that are named.
const MOST_NAMED: usize = 5;

/// A version beside the claim.
struct Compared {
    table: Table,
    /// Relation of each row to the claim.
    findings: Vec<Option<Finding>>,
}

/// `verify_figure`.
pub(crate) fn figure(arguments: &Arguments<'_>, host: &mut Host) -> Step<Value> {
    let (claim, selection) = (Claim::read(arguments)?, selection::dated(arguments)?);
    let dataset = host.dataset(&selection.dataset)?;
    let column = column(arguments, &dataset)?;
    let columns = Some(columns(&dataset, &selection, column));
    let selection = Selection { limit: Some(ROWS), columns, ..selection };
    let now = compare(&claim, column, host.rows(selection.clone())?)?;
    if now.stands() {
        return Ok(verdict(&claim, column, &dataset, now, Vec::new()));
    }
    let older = dataset.editions.iter().filter(|edition| edition.id != now.table.known.snapshot);
    let older: Vec<_> = older.take(OLDER).collect();
    let asked = older.iter().map(|edition| {
        let version = Version::Snapshot(edition.id.clone());
        Asked::rows(Selection { version, ..selection.clone() }).or_refusal()
    });
    let told = host.ask(asked.collect::<Vec<_>>())?;
    let compared = older.iter().zip(told).map(|(edition, told)| {
        let compared = told.and_then(|table| compare(&claim, column, table));
        (Edition::clone(edition), compared)
    });
    let compared: Vec<_> = compared.collect();
    let has_rows = |compared: &Compared| !compared.table.rows.is_empty();
    if !has_rows(&now) && !compared.iter().any(|(.., one)| one.as_ref().is_ok_and(has_rows)) {
        let sentence = "no row is selected; see list_values and describe_dataset for what there is";
        return Err(wrong("where", sentence).into());
    }
    Ok(verdict(&claim, column, &dataset, now, compared))
}

/// The column that is compared: the one that is named, else the only one of values.
fn column<'a>(arguments: &Arguments<'_>, dataset: &'a Dataset) -> Read<&'a Column> {
    let named = arguments.text("column")?;
    let values = dataset.columns.iter().filter(|column| column.role == "value");
    let values: Vec<&Column> = values.collect();
    let names = || values.iter().map(|column| &*column.name).collect::<Vec<_>>().join(", ");
    let column = match (&named, &values[..]) {
        (None, [only]) => *only,
        (None, _) => return Err(wrong("column", format!("name one of {}", names()))),
        (Some(name), _) => {
            let found = dataset.columns.iter().find(|column| column.name == *name);
            let sentence = || format!("there is no such column; values are in {}", names());
            found.ok_or_else(|| wrong("column", sentence()))?
        }
    };
    if matches!(column.type_, ColumnType::Integer | ColumnType::Number) {
        Ok(column)
    } else {
        Err(wrong("column", format!("it holds no numbers; values are in {}", names())))
    }
}

/// Columns that tell the compared rows apart, and that of the figure.
fn columns(dataset: &Dataset, selection: &Selection, column: &Column) -> Vec<String> {
    let tells = |other: &&Column| {
        let is_named = selection.conditions.iter().any(|named| named.column == other.name);
        other.name == column.name
            || is_named
            || dataset.primary_key.contains(&other.name)
            || matches!(other.role.as_str(), "date" | "period" | "dimension")
    };
    dataset.columns.iter().filter(tells).map(|column| column.name.clone()).collect()
}

/// Compares every row of a version.
///
/// # Errors
/// A refusal where the rows are more than are compared, and none of those that are has the figure.
fn compare(claim: &Claim, column: &Column, table: Table) -> Read<Compared> {
    let position = table.known.columns.iter().position(|other| other.name == column.name);
    let finding = |row: &Vec<Option<yearbook_sdk::Value>>| {
        let published = match row.get(position?)?.as_ref()? {
            yearbook_sdk::Value::Integer(number) => number.to_string(),
            yearbook_sdk::Value::Number(number) => number.to_string(),
            _ => return None,
        };
        claim.compare(&published, column.unit.as_deref())
    };
    let findings = table.rows.iter().map(finding).collect();
    let compared = Compared { table, findings };
    if compared.table.known.next.is_some() && !compared.stands() {
        let sentence = format!("more than {ROWS} rows are selected; name those that are meant");
        return Err(wrong("where", sentence));
    }
    Ok(compared)
}

impl Compared {
    fn stands(&self) -> bool {
        self.findings.iter().flatten().any(|finding| finding.is_equal())
    }

    /// The version as a list of versions has it.
    fn listed(&self) -> Value {
        let matching = self.findings.iter().flatten().filter(|finding| finding.is_equal());
        json!({
            "snapshot": self.table.known.snapshot,
            "published_at": self.table.known.published_at,
            "rows": self.table.rows.len(),
            "matching_rows": matching.count(),
        })
    }

    /// Its rows with the figure.
    fn matching(self, dataset: &str) -> Value {
        let Self { mut table, findings } = self;
        let mut findings = findings.iter();
        table
            .rows
            .retain(|_| findings.next().is_some_and(|one| one.is_some_and(Finding::is_equal)));
        crate::rows::table(dataset, &table).into()
    }
}

/// An older version with what it has, or why it was not compared.
type Older = (Edition, Result<Compared, Refusal>);

fn verdict(
    claim: &Claim,
    column: &Column,
    dataset: &Dataset,
    now: Compared,
    older: Vec<Older>,
) -> Value {
    let mut compared = vec![now.listed()];
    // Of what was compared, the newest first: the figure stood until the version after the newest
    // one that has it, where that version was compared too.
    let known = &now.table.known;
    let current = dataset.editions.iter().find(|edition| edition.id == known.snapshot);
    let (mut after, mut version) =
        (known.published_at.clone(), current.map(|edition| edition.version));
    let (mut stood, mut refused, tried) = (None, 0, older.len());
    for (edition, told) in older {
        match told {
            Ok(one) => {
                compared.push(one.listed());
                if stood.is_none() && one.stands() {
                    let is_next = version == Some(edition.version + 1);
                    stood = Some((after.clone(), is_next, one));
                }
                (after, version) = (edition.published_at, Some(edition.version));
            }
            Err(refusal) => {
                refused += 1;
                compared.push(json!({
                    "snapshot": edition.id,
                    "published_at": edition.published_at,
                    "refused": crate::sentence(&refusal),
                }));
            }
        }
    }
    let named = now.findings.iter().enumerate().filter_map(|(row, finding)| {
        let published = now.table.known.columns.iter().position(|one| one.name == column.name);
        let cell = now.table.rows[row].get(published?)?;
        (*finding)?.named(&crate::rows::cell(cell))
    });
    let named: Vec<Value> = named.take(MOST_NAMED).collect();
    let is_current = now.stands();
    let editions = dataset.editions.len().saturating_sub(1);
    let skipped = if is_current { editions } else { editions.saturating_sub(tried) + refused };
    let unit = column.unit.as_deref();
    let (verdict, mut text) = match (&stood, is_current) {
        (_, true) => {
            let rows = now.table.rows.len();
            ("stands", format!("The current version has this figure; {rows} rows were compared."))
        }
        (Some((until, true, _)), _) => {
            ("stood", format!("This figure was published until {until}, and no longer is."))
        }
        (Some((gone, false, _)), _) => (
            "stood",
            format!(
                "This figure was published, and no longer is since {gone} or before: it is not \
                 known which version was the first without it."
            ),
        ),
        (None, _) => {
            let versions = tried - refused + 1;
            (
                "never",
                format!("None of the {versions} versions that were compared has this figure."),
            )
        }
    };
    if verdict == "never" && skipped > 0 {
        text += &format!(" {skipped} older versions were not compared.");
    }
    if !named.is_empty() {
        text += " Values that come close are named in differs_by.";
    }
    if claim.has_unit(unit) == Some(false) {
        text += " The unit of the claim is another one than that of the column: compare them.";
    }
    json!({
        "verdict": verdict,
        "explanation": text,
        "claim": { "column": column.name, "value": claim.text, "unit": claim.unit },
        "published_unit": unit,
        "unit_matches": claim.has_unit(unit),
        "differs_by": named,
        "stood_until": stood.as_ref().filter(|(_, is_next, _)| *is_next).map(|(until, ..)| until),
        "versions_compared": compared,
        "versions_not_compared": skipped,
        "published_then": stood.map(|(.., then)| then.matching(&dataset.name)),
        "published_now": table(&dataset.name, &now.table),
    })
}
