//! The transform world: bindings and the export.

use std::cell::RefCell;
use std::marker::PhantomData;

use super::encoder_world::yearbook::plugin::types;
use super::{install_log, options, parameter, wire_array, wire_schema, wit_array};
use crate::calendar::{CalendarSpan, CalendarUnit};
use crate::log::Level;
use crate::transform::driver::TransformDriver;
use crate::transform::{
    Code, Codes, Form, MadeType, Need, Needs, OutputColumn, Priming, Relation, Source,
    TransformError, TransformOutput,
};
use crate::wire::{RawBatch, RawBuffer, RawInputRows, RawMadeRows};
use crate::{Schema, Transform};
use transform_world::exports::yearbook::plugin::transform as wit;
use transform_world::yearbook::plugin::log as wit_log;
use transform_world::yearbook::plugin::statistics as wit_statistics;

/// Generated from the WIT package. `types` are as they were in 1.1.0, and are shared with the
/// encoder world; `log` is an import, which has a version.
#[doc(hidden)]
pub mod transform_world {
    wit_bindgen::generate!({
        path: "wit/1.2.0",
        world: "transform-plugin",
        pub_export_macro: true,
        export_macro_name: "export_transform_world",
        with: {
            "yearbook:plugin/log@1.2.0": generate,
            "yearbook:plugin/statistics@1.2.0": generate,
            "yearbook:plugin/transform@1.2.0": generate,
            "yearbook:plugin/types@1.2.0": crate::guest::encoder_world::yearbook::plugin::types,
        },
    });
}

/// The type that [`crate::export_transform!`] exports.
#[doc(hidden)]
#[derive(Debug)]
pub struct TransformExport<T>(PhantomData<T>);

/// One response.
#[doc(hidden)]
pub struct Transforming<T>(RefCell<TransformDriver<T>>);

impl<T: Transform> wit::Guest for TransformExport<T> {
    type Transforming = Transforming<T>;

    fn describe() -> wit::Description {
        install_log(write_log);
        let description = T::describe();
        wit::Description {
            name: description.name.into(),
            version: description.version.into(),
            title: description.title.into(),
            independent: description.independent,
            parameters: description.parameters.into_iter().map(parameter).collect(),
            docs: description.docs.into(),
        }
    }

    fn plan(
        schema: types::Schema,
        chosen: Vec<types::OptionValue>,
    ) -> Result<wit::Needs, wit::Refusal> {
        install_log(write_log);
        let schema = read_schema(schema).map_err(wit_refusal)?;
        T::plan(&schema, &options(chosen)).map(wit_needs).map_err(wit_refusal)
    }
}

impl<T: Transform> wit::GuestTransforming for Transforming<T> {
    fn open(
        schema: types::Schema,
        codes: Vec<Option<Vec<wit_statistics::Code>>>,
        chosen: Vec<types::OptionValue>,
    ) -> Result<wit::Transforming, wit::Refusal> {
        install_log(write_log);
        let schema = read_schema(schema).map_err(wit_refusal)?;
        let code = |code: wit_statistics::Code| Code { value: code.value, label: code.label };
        let codes = codes.into_iter().map(|codes| Some(codes?.into_iter().map(code).collect()));
        let driver = TransformDriver::<T>::open(&schema, &Codes(codes.collect()), &options(chosen));
        Ok(wit::Transforming::new(Self(RefCell::new(driver.map_err(wit_refusal)?))))
    }

    fn output(&self) -> wit::Output {
        wit_output(self.0.borrow().output())
    }

    fn prime(&self, rows: wit::Batch) -> Result<(), wit::Refusal> {
        self.0.borrow_mut().prime(input_rows(rows)).map_err(wit_refusal)
    }

    fn push(&self, rows: wit::Batch) -> Result<Option<wit::MadeRows>, wit::Refusal> {
        let made = self.0.borrow_mut().push(input_rows(rows)).map_err(wit_refusal)?;
        Ok(made.map(wit_made_rows))
    }

    fn finish(&self) -> Result<Option<wit::MadeRows>, wit::Refusal> {
        let made = self.0.borrow_mut().finish().map_err(wit_refusal)?;
        Ok(made.map(wit_made_rows))
    }
}

fn read_schema(schema: types::Schema) -> Result<Schema, TransformError> {
    Ok(Schema::from_wire(wire_schema(schema))?)
}

fn input_rows(batch: wit::Batch) -> RawInputRows {
    let arrays = batch.arrays.into_iter().map(wire_array).collect();
    let buffers = batch.buffers.into_iter().map(RawBuffer::Bytes).collect();
    RawInputRows { batch: RawBatch { rows: batch.rows, arrays, buffers }, groups: batch.groups }
}

fn wit_made_rows(made: RawMadeRows) -> wit::MadeRows {
    let RawMadeRows { rows, take, groups } = made;
    let arrays = rows.arrays.into_iter().map(wit_array).collect();
    wit::MadeRows { rows: rows.rows, take, groups, arrays, buffers: rows.buffers }
}

fn wit_needs(needs: Needs) -> wit::Needs {
    let need = |need: Need| wit::Need {
        column: position(need.column),
        form: match need.form {
            Form::Plain => wit::Form::Plain,
            Form::Coded => wit::Form::Coded,
            Form::Days => wit::Form::Days,
        },
    };
    wit::Needs {
        columns: needs.columns.into_iter().map(need).collect(),
        groups: needs.groups.map(positions),
        before: needs.before.map(|CalendarSpan { count, unit }| wit::Span {
            count,
            unit: match unit {
                CalendarUnit::Day => wit_statistics::Unit::Day,
                CalendarUnit::Week => wit_statistics::Unit::Week,
                CalendarUnit::Month => wit_statistics::Unit::Month,
                CalendarUnit::Quarter => wit_statistics::Unit::Quarter,
                CalendarUnit::Half => wit_statistics::Unit::Half,
                CalendarUnit::Year => wit_statistics::Unit::Year,
            },
        }),
        prime: match needs.prime {
            Priming::None => wit::Priming::None,
            Priming::Dates { first, last } => wit::Priming::Dates((first, last)),
            Priming::All => wit::Priming::All,
        },
    }
}

fn wit_output(output: &TransformOutput) -> wit::Output {
    let column = |column: &OutputColumn| wit::Column {
        name: column.name.clone(),
        source: match column.source {
            Source::Passed(column) => wit::Source::Passed(position(column)),
            Source::Group(column) => wit::Source::Group(position(column)),
            Source::Made(made_type) => wit::Source::Made(match made_type {
                MadeType::Text => wit::Kind::Text,
                MadeType::Integer => wit::Kind::Integer,
                MadeType::Number => wit::Kind::Number,
                MadeType::Boolean => wit::Kind::Boolean,
                MadeType::Date => wit::Kind::Date,
            }),
        },
        role: column.role.map(|role| role.as_str().to_owned()),
        unit: column.unit.clone(),
        values_of: column.values_of.map(position),
    };
    wit::Output {
        columns: output.columns.iter().map(column).collect(),
        rows: match output.rows {
            Relation::Same => wit::Relation::Same,
            Relation::Chosen => wit::Relation::Chosen,
            Relation::New => wit::Relation::New,
        },
        order: positions(output.order.iter().copied()),
    }
}

fn positions(columns: impl IntoIterator<Item = usize>) -> Vec<u32> {
    columns.into_iter().map(position).collect()
}

/// A position that crosses. Beyond its range the host refuses it.
fn position(column: usize) -> u32 {
    u32::try_from(column).unwrap_or(u32::MAX)
}

fn wit_refusal(error: TransformError) -> wit::Refusal {
    match error {
        TransformError::UnsupportedSchema(sentence) => wit::Refusal::UnsupportedSchema(sentence),
        TransformError::InvalidOption { option, sentence } => {
            wit::Refusal::InvalidOption((option.to_owned(), sentence))
        }
        TransformError::TooLarge(sentence) => wit::Refusal::TooLarge(sentence),
        TransformError::UnsupportedRows(sentence) => wit::Refusal::UnsupportedRows(sentence),
        TransformError::Internal(sentence) => wit::Refusal::Internal(sentence),
    }
}

fn write_log(level: Level, message: &str) {
    let level = match level {
        Level::Trace => wit_log::Level::Trace,
        Level::Debug => wit_log::Level::Debug,
        Level::Info => wit_log::Level::Info,
        Level::Warn => wit_log::Level::Warn,
        Level::Error => wit_log::Level::Error,
    };
    wit_log::write(level, message);
}
