//! The trial of a reader by its own example: whole, in pieces, twice, with every allowed value of
//! every parameter, cut off everywhere and damaged everywhere. A damaged file may be read or
//! refused; it may stop the guest nowhere.

use arrow::array::RecordBatch;
use arrow::compute::concat_batches;
use yearbook_domain::{SourceColumn, SourceType};
use yearbook_sandbox::{GuestError, OptionValue, PluginReader, TrialError};

use super::allowed_values::allowed_values;
use super::report::ReportBuilder;

/// Places at which an example is cut off, and at which it is damaged.
const DAMAGED_PLACES: usize = 64;

/// Bytes that take the place of others.
const DAMAGE: [u8; 7] = [0, 0xff, b'"', b'9', b'[', b'{', b'\n'];

/// Bytes of a piece.
const PIECES: [usize; 3] = [1, 7, 1000];

pub(super) fn check(reader: &PluginReader, tally: &mut ReportBuilder) {
    let example = &reader.description().example;
    let Some(whole) = read_example(reader, "the example", &[], example.len(), tally) else {
        return;
    };
    if whole.num_rows() == 0 {
        tally.find("the example", "it has no rows", "give an example with a few rows");
    }
    let again = read_example(reader, "the example once more", &[], example.len(), tally);
    compare(&whole, again, "the example once more", tally);
    for bytes in PIECES {
        let place = format!("the example in pieces of {bytes} bytes");
        let pieces = read_example(reader, &place, &[], bytes, tally);
        compare(&whole, pieces, &place, tally);
    }
    check_requests(reader, &whole, tally);
    check_options(reader, tally);
    check_damage(reader, tally);
}

/// Columns asked for by their names, in another order, must come as they were asked for.
fn check_requests(reader: &PluginReader, whole: &RecordBatch, tally: &mut ReportBuilder) {
    let example = &reader.description().example;
    let schema = whole.schema();
    let requests: Vec<SourceColumn> = (schema.fields().iter().rev())
        .map(|field| SourceColumn {
            name: format!("asked_{}", field.name()),
            source: Some(field.name().clone()),
            source_type: SourceType::Text,
        })
        .collect();
    match reader.trial(&requests, &[], &[example]) {
        Ok(trial) => {
            tally.record_usage(trial.usage);
            if trial.rows() != whole.num_rows() {
                tally.find(
                    "the example by requests",
                    format!("{} rows become {}", whole.num_rows(), trial.rows()),
                    "give the same rows whatever columns are asked for",
                );
            }
        }
        Err(failed) => tally.find_failure("the example by requests", failed),
    }
    let unknown = SourceColumn {
        name: "no_such_column".to_owned(),
        source: None,
        source_type: SourceType::Text,
    };
    if reader.trial(&[unknown], &[], &[example]).is_ok() {
        tally.find(
            "a request for a column that the example lacks",
            "it is answered",
            "refuse a column that the file does not have, and list those that it has",
        );
    }
}

fn check_options(reader: &PluginReader, tally: &mut ReportBuilder) {
    let description = reader.description();
    for (text, option) in allowed_values(&description.parameters) {
        let place = format!("option {}={text}", option.name);
        match reader.trial(&[], &[option], &[&description.example]) {
            Ok(trial) => tally.record_usage(trial.usage),
            // A value may be right for other files.
            Err(TrialError { error: GuestError::Declined(_), .. }) => {}
            Err(failed) => tally.find_failure(&place, failed),
        }
    }
}

fn check_damage(reader: &PluginReader, tally: &mut ReportBuilder) {
    let example = &reader.description().example;
    let step = example.len().div_ceil(DAMAGED_PLACES).max(1);
    for at in (0..example.len()).step_by(step) {
        let cut = example.get(..at).unwrap_or_default();
        check_damaged(reader, &format!("the example cut off at byte {at}"), cut, tally);
        for byte in DAMAGE {
            let mut damaged = example.clone();
            if let Some(place) = damaged.get_mut(at) {
                *place = byte;
            }
            check_damaged(reader, &format!("the example with byte {at} damaged"), &damaged, tally);
        }
    }
}

fn check_damaged(reader: &PluginReader, place: &str, file: &[u8], tally: &mut ReportBuilder) {
    match reader.trial(&[], &[], &[file]) {
        Ok(trial) => tally.record_usage(trial.usage),
        Err(TrialError { error: GuestError::Declined(sentence), .. }) if !sentence.is_empty() => {}
        Err(failed) => tally.find_failure(place, failed),
    }
}

fn read_example(
    reader: &PluginReader,
    place: &str,
    options: &[OptionValue],
    bytes: usize,
    tally: &mut ReportBuilder,
) -> Option<RecordBatch> {
    let chunks: Vec<&[u8]> = reader.description().example.chunks(bytes.max(1)).collect();
    let trial = match reader.trial(&[], options, &chunks) {
        Ok(trial) => trial,
        Err(failed) => {
            tally.find_failure(place, failed);
            return None;
        }
    };
    tally.record_usage(trial.usage);
    concat_batches(&trial.schema, &trial.batches).ok()
}

fn compare(
    whole: &RecordBatch,
    other: Option<RecordBatch>,
    place: &str,
    tally: &mut ReportBuilder,
) {
    if other.is_some_and(|other| other != *whole) {
        tally.find(
            place,
            "it becomes other rows",
            "keep what a chunk leaves over for the next one, and nothing from one file to the next",
        );
    }
}
