//! A test kit for plugin authors: build tables from Rust values, run an encoder natively as the
//! host would, and check it against the list of things that every encoder must hold
//! ([`conformance`]).
//!
//! Never needed at run time: it costs a guest nothing, since nothing there refers to it.

pub mod adapting;
pub mod conformance;
mod data;
mod encoding;
mod held;
mod progress;
pub mod project;
pub mod reading;
#[cfg(feature = "replay")]
mod replay;
pub mod sample;
mod table;
pub mod transforming;

pub use encoding::{Encoded, encode, encode_apart, encode_parts, encode_round_robin, respond};
#[cfg(feature = "replay")]
pub use replay::{AdapterResult, Replay, replay};
pub use table::Table;

use encoding::Instance;

use crate::batch::Decoder;
use crate::{Batch, Encoder, Error, Options, Schema, Value};

/// The batches of a table, for trying parts of a plugin. `dictionaries`: whether few-valued text
/// stays dictionary-encoded.
///
/// ```
/// use yearbook_sdk::testing::{Table, batches};
///
/// let table = Table::new().integers("n", &[Some(1), Some(2), Some(3)]).batches_of(2);
/// let rows: Vec<_> = batches(&table, false)?.iter().map(|batch| batch.rows()).collect();
/// assert_eq!(rows, [2, 1]);
/// # Ok::<(), yearbook_sdk::Error>(())
/// ```
///
/// # Errors
/// As the plugin would see them.
pub fn batches(table: &Table, dictionaries: bool) -> Result<Vec<Batch>, Error> {
    let (_, mut decoder) = start(table, dictionaries)?;
    table
        .batches()
        .enumerate()
        .map(|(position, rows)| {
            decoder.decode(table.wire_batch(rows, dictionaries, position > 0, &[]))
        })
        .collect()
}

/// The batches of a table as a host would hand them to an encoder with its default options: what
/// its views hold back stays behind, and is put in by [`respond`].
///
/// ```
#[doc = include_str!("testing/example_encoder.txt")]
/// use yearbook_sdk::testing::{self, Table};
///
/// let table = Table::new().text("region", &[Some("north"), Some("south")]).batches_of(1);
/// assert_eq!(testing::batches_for::<Lines>(&table)?.len(), 2);
/// # Ok::<(), yearbook_sdk::Error>(())
/// ```
///
/// # Errors
/// The error with which the encoder declines.
pub fn batches_for<E: Encoder>(table: &Table) -> Result<Vec<Batch>, Error> {
    let mut instance = Instance::<E>::open(table, &chosen::<E>(&[]))?;
    let batches = table.batches().enumerate();
    batches.map(|(position, rows)| instance.batch(table, rows, position > 0)).collect()
}

/// The batches of a table as a host has them before they cross, few-valued text dictionary-encoded:
/// what tries a built component with the tables that also try its source.
///
/// ```
/// use yearbook_sdk::testing::{Table, record_batches};
///
/// let (schema, batches) = record_batches(&Table::new().integers("n", &[Some(1)]))?;
/// assert_eq!((schema.field(0).name().as_str(), batches[0].num_rows()), ("n", 1));
/// # Ok::<(), yearbook_sdk::Error>(())
/// ```
///
/// # Errors
/// Fails when arrow-rs does not know a column's type.
#[cfg(feature = "arrow")]
pub fn record_batches(
    table: &Table,
) -> Result<(arrow_schema::SchemaRef, Vec<arrow_array::RecordBatch>), Error> {
    let (schema, mut decoder) = start(table, true)?;
    let arrow_schema = crate::arrow::schema(&schema)?;
    let batch = |(position, rows)| {
        let batch = decoder.decode(table.wire_batch(rows, true, position > 0, &[]))?;
        batch.into_record_batch(&arrow_schema)
    };
    let batches = table.batches().enumerate().map(batch).collect::<Result<_, Error>>()?;
    Ok((arrow_schema, batches))
}

/// The options of a response: what is named, and defaults for the rest.
///
/// ```
#[doc = include_str!("testing/example_encoder.txt")]
/// use yearbook_sdk::testing;
///
/// assert_eq!(testing::chosen::<Lines>(&[]).0, [], "it declares no parameter");
/// ```
///
/// # Panics
/// Panics when a default cannot be read as its kind.
#[must_use]
pub fn chosen<E: Encoder>(options: &[(&str, Value)]) -> Options {
    complete(&E::describe().parameters, options)
}

fn complete(declared: &[crate::Parameter], options: &[(&str, Value)]) -> Options {
    let value = |parameter: &crate::Parameter| {
        if let Some((_, value)) = options.iter().find(|(name, _)| *name == parameter.name) {
            return value.clone();
        }
        let default = parameter.default;
        parameter.kind.parse(default).unwrap_or_else(|| {
            panic!("the default `{default}` of `{}` is not of its kind", parameter.name)
        })
    };
    Options(
        declared.iter().map(|parameter| (parameter.name.to_owned(), value(parameter))).collect(),
    )
}

fn start(table: &Table, dictionaries: bool) -> Result<(Schema, Decoder), Error> {
    let schema = table.schema(dictionaries)?;
    let decoder = Decoder::new(schema.clone(), &[]);
    Ok((schema, decoder))
}
