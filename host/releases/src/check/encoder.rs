//! The trial of an encoder: the SDK's conformance tables through the sandbox, each twice and, where
//! parts are promised to be independent, by an instance a part; a table with every allowed value of
//! every parameter likewise; and batches as large as the host sends.

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use yearbook_sandbox::{
    GuestError, OptionValue, PluginEncoder, TrialError, TrialResponse, with_codes,
};
use yearbook_sdk::testing::{Table, conformance, record_batches};

use super::allowed_values::allowed_values;
use super::report::ReportBuilder;

/// Rows of the batches that the budget is measured with: some 2 MB each, as the host sends.
const LARGE_ROWS: i32 = 20_000;

/// Differs from any length: rows that no reader of ours can count.
type Rows = Option<usize>;

pub(super) fn check(encoder: &PluginEncoder, tally: &mut ReportBuilder) {
    for case in conformance::cases() {
        let case = if needs_more_columns(encoder, &case.table) { case.furnished() } else { case };
        check_table(encoder, tally, &case);
    }
    check_options(encoder, tally);
    check_large_batches(encoder, tally);
}

/// Returns whether the format declines a table as it is: it may want columns of certain roles, such
/// as a geometry.
fn needs_more_columns(encoder: &PluginEncoder, table: &Table) -> bool {
    let Ok((schema, batches)) = batches_for(encoder, table) else { return false };
    let tried = encoder.trial(&schema, &[], &batches, false);
    matches!(tried, Err(TrialError { error: GuestError::Declined(_), .. }))
}

fn check_table(encoder: &PluginEncoder, tally: &mut ReportBuilder, case: &conformance::Case) {
    let name = format!("table `{}`", case.name);
    let rows = case.table.rows();
    let cut = case.table.clone().batches_of(rows.div_ceil(3).max(1));
    let Some((schema, batches)) = to_record_batches(encoder, &cut, &name, tally) else { return };
    match check_independence(encoder, tally, &name, (&schema, &[], &batches)) {
        Ok(one) => check_row_count(encoder, &name, &one, rows, tally),
        Err(failed) => report_decline(&name, case.optional, failed, tally),
    }
}

/// Encodes batches, again and, where parts are promised to be independent, each by an instance of
/// its own, and finds what differs. Returns the first response.
fn check_independence(
    encoder: &PluginEncoder,
    tally: &mut ReportBuilder,
    name: &str,
    (schema, options, batches): (&SchemaRef, &[OptionValue], &[RecordBatch]),
) -> Result<TrialResponse, TrialError> {
    let one = encoder.trial(schema, options, batches, false)?;
    tally.record_usage(one.usage);
    match encoder.trial(schema, options, batches, false) {
        Ok(again) => {
            tally.record_usage(again.usage);
            if let Some(difference) = first_difference(&one, &again) {
                let wrong =
                    format!("the same input gives other bytes the second time: {difference}");
                tally.find(name, wrong, "leave out whatever depends on memory addresses, hash order or what came before");
            }
        }
        Err(failed) => tally.find_failure(name, failed),
    }
    if encoder.description().separator.is_some() && batches.len() > 1 {
        match encoder.trial(schema, options, batches, true) {
            Ok(apart) => {
                tally.record_usage(apart.usage);
                if let Some(difference) = first_difference(&one, &apart) {
                    let wrong = format!(
                        "a separator is promised, but an instance that sees one batch alone writes something else: {difference}"
                    );
                    tally.find(name, wrong, "keep nothing from one part to the next (notes are for the tail), or say `separator: None`");
                }
            }
            Err(failed) => {
                tally.find_failure(&format!("{name}, each part by an instance of its own"), failed)
            }
        }
    }
    Ok(one)
}

/// Every value that a parameter says it allows must work on a plain table, and keep what the
/// description promises.
fn check_options(encoder: &PluginEncoder, tally: &mut ReportBuilder) {
    let plain = Table::new()
        .text("region", &[Some("north"), None])
        .numbers("value", &[Some(1.5), None])
        .integers("n", &[Some(1), Some(2)]);
    let plain = if needs_more_columns(encoder, &plain) { plain.furnished() } else { plain };
    // What depends on an earlier part shows in the second.
    let plain = plain.batches_of(1);
    let Some((schema, batches)) = to_record_batches(encoder, &plain, "options", tally) else {
        return;
    };
    let description = encoder.description();
    for (text, option) in allowed_values(&description.parameters) {
        let place = format!("option {}.{}={text}", description.format, option.name);
        let tried = check_independence(encoder, tally, &place, (&schema, &[option], &batches));
        if let Err(failed) = tried {
            tally.find_failure(&place, failed);
        }
    }
}

/// Four large batches, for the budget.
fn check_large_batches(encoder: &PluginEncoder, tally: &mut ReportBuilder) {
    let rows = 4 * LARGE_ROWS;
    let count = usize::try_from(LARGE_ROWS).unwrap_or_default();
    let texts: Vec<_> =
        (0..rows).map(|row| (row % 11 > 0).then(|| format!("series {row}, \"quoted\""))).collect();
    let few: Vec<_> = (0..rows)
        .map(|row| Some(["north", "south", "east"][usize::try_from(row % 3).unwrap_or_default()]))
        .collect();
    let dates: Vec<_> = (0..rows)
        .map(|row| {
            Some(format!("{:04}-{:02}-{:02}", 1900 + row / 700, row / 28 % 12 + 1, row % 28 + 1))
        })
        .collect();
    let numbers: Vec<_> =
        (0..rows).map(|row| (row % 7 > 0).then_some(f64::from(row) * 0.37)).collect();
    let integers: Vec<_> = (0..rows).map(|row| Some(i64::from(row) * 7919)).collect();
    let booleans: Vec<_> = (0..rows).map(|row| Some(row % 2 == 0)).collect();
    let table = Table::new()
        .text("date", &dates)
        .text("label", &texts)
        .dictionary("region", &few)
        .numbers("value", &numbers)
        .integers("count", &integers)
        .booleans("final", &booleans)
        .batches_of(count);
    let table = if needs_more_columns(encoder, &table) { table.furnished() } else { table };
    let Some((schema, batches)) = to_record_batches(encoder, &table, "large batches", tally) else {
        return;
    };
    match encoder.trial(&schema, &[], &batches, false) {
        Ok(trial) => {
            tally.record_usage(trial.usage);
            tally.record_amplification(&trial);
            check_row_count(encoder, "large batches", &trial, table.rows(), tally);
        }
        Err(failed) => tally.find_failure("large batches", failed),
    }
}

/// The rows of `table`, and their schema as `encoder` is given it.
///
/// # Errors
/// Fails for a type that this host does not know.
pub(super) fn batches_for(
    encoder: &PluginEncoder,
    table: &Table,
) -> Result<(SchemaRef, Vec<RecordBatch>), yearbook_sdk::Error> {
    let (schema, batches) = record_batches(table)?;
    let is_told = encoder.description().codes;
    Ok((if is_told { with_codes(&schema, table.codes()) } else { schema }, batches))
}

fn to_record_batches(
    encoder: &PluginEncoder,
    table: &Table,
    name: &str,
    tally: &mut ReportBuilder,
) -> Option<(SchemaRef, Vec<RecordBatch>)> {
    match batches_for(encoder, table) {
        Ok(made) => Some(made),
        Err(_) => {
            tally.add_skipped(name);
            None
        }
    }
}

/// A type that datasets do not have may be declined, if the column is named.
fn report_decline(name: &str, optional: bool, failed: TrialError, tally: &mut ReportBuilder) {
    match &failed.error {
        // This host hands no such column over; another one might.
        GuestError::Host(_) if optional => tally.add_skipped(name),
        GuestError::Declined(sentence) if optional => {
            if !sentence.contains("subject") {
                tally.find(
                    name,
                    format!("it declines without naming the column: {sentence}"),
                    "name the column (here `subject`): clients read the sentence",
                );
            }
        }
        _ => tally.find_failure(name, failed),
    }
}

/// First difference between two responses, in words.
fn first_difference(one: &TrialResponse, other: &TrialResponse) -> Option<String> {
    let differ = |place: String, one: &[u8], other: &[u8]| {
        let at =
            one.iter().zip(other).position(|(a, b)| a != b).unwrap_or(one.len().min(other.len()));
        (one != other).then(|| {
            format!(
                "{place} has {} and {} bytes and differs from byte {at} on",
                one.len(),
                other.len()
            )
        })
    };
    let parts = one.parts.iter().zip(&other.parts).enumerate();
    differ("the head".to_owned(), &one.head, &other.head)
        .or_else(|| {
            parts
                .into_iter()
                .find_map(|(at, (one, other))| differ(format!("part {}", at + 1), one, other))
        })
        .or_else(|| differ("the tail".to_owned(), &one.tail, &other.tail))
}

/// Reads the response back where this crate can, and counts its rows.
fn check_row_count(
    encoder: &PluginEncoder,
    name: &str,
    trial: &TrialResponse,
    rows: usize,
    tally: &mut ReportBuilder,
) {
    let description = encoder.description();
    let body = trial.response(description.separator.as_deref());
    let found: Result<Rows, String> = match description.essence() {
        "application/json" => serde_json::from_slice::<Vec<serde_json::Value>>(&body)
            .map(|rows| Some(rows.len()))
            .map_err(|e| e.to_string()),
        "application/vnd.apache.arrow.stream" => {
            arrow_rows(&body).map(Some).map_err(|error| error.to_string())
        }
        _ => Ok(None),
    };
    let wrong = match found {
        Ok(Some(found)) if found != rows => format!("{rows} rows become {found}"),
        Err(error) => {
            format!("what it writes cannot be read as {}: {error}", description.media_type)
        }
        Ok(_) => return,
    };
    tally.find(name, wrong, "read the plugin's output back with a library of that format");
}

fn arrow_rows(body: &[u8]) -> Result<usize, arrow::error::ArrowError> {
    let reader = arrow::ipc::reader::StreamReader::try_new(body, None)?;
    reader.map(|batch| batch.map(|batch| batch.num_rows())).sum()
}
