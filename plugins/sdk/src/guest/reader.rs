//! The reader world: bindings and the export.

use std::cell::RefCell;
use std::marker::PhantomData;

use super::encoder_world::yearbook::plugin::types;
use super::{install_log, options, parameter, wit_array, write_log};
use crate::Reader;
use crate::reader::reading::ReadingDriver;
use crate::reader::{ColumnRequest, FilePlace, ReadColumn, ReadFault, ReadRefusal, RequestedType};
use crate::wire::RawRows;
use reader_world::exports::yearbook::plugin::reader as wit;

/// Generated from the WIT package; shares `types` and `log` with the encoder world.
#[doc(hidden)]
pub mod reader_world {
    wit_bindgen::generate!({
        path: "wit/1.1.0",
        world: "reader-plugin",
        pub_export_macro: true,
        export_macro_name: "export_reader_world",
        with: {
            "yearbook:plugin/log@1.1.0": crate::guest::encoder_world::yearbook::plugin::log,
            "yearbook:plugin/types@1.1.0": crate::guest::encoder_world::yearbook::plugin::types,
        },
    });
}

/// The type that [`crate::export_reader!`] exports.
#[doc(hidden)]
#[derive(Debug)]
pub struct ReaderExport<R>(PhantomData<R>);

/// One file.
#[doc(hidden)]
pub struct Reading<R>(RefCell<ReadingDriver<R>>);

impl<R: Reader> wit::Guest for ReaderExport<R> {
    type Reading = Reading<R>;

    fn describe() -> wit::Description {
        install_log(write_log);
        let description = R::describe();
        wit::Description {
            format: description.format.into(),
            version: description.version.into(),
            title: description.title.into(),
            parameters: description.parameters.into_iter().map(parameter).collect(),
            example: description.example.to_vec(),
            docs: description.docs.into(),
        }
    }
}

impl<R: Reader> wit::GuestReading for Reading<R> {
    fn open(
        requests: Vec<wit::ColumnRequest>,
        chosen: Vec<types::OptionValue>,
    ) -> Result<wit::Reading, wit::Refusal> {
        install_log(write_log);
        let requests: Vec<ColumnRequest> = requests.into_iter().map(column_request).collect();
        let driver = ReadingDriver::<R>::open(&requests, &options(chosen)).map_err(wit_refusal)?;
        Ok(wit::Reading::new(Self(RefCell::new(driver))))
    }

    fn push(&self, bytes: Vec<u8>, last: bool) -> Result<(), wit::Refusal> {
        self.0.borrow_mut().push(&bytes, last).map_err(wit_refusal)
    }

    fn columns(&self) -> Option<Vec<wit::Column>> {
        let columns = self.0.borrow().columns()?;
        Some(columns.into_iter().map(wit_column).collect())
    }

    fn pull(&self) -> Result<Option<wit::Batch>, wit::Refusal> {
        let batch = self.0.borrow_mut().pull().map_err(wit_refusal)?;
        Ok(batch.map(wit_batch))
    }
}

fn column_request(request: wit::ColumnRequest) -> ColumnRequest {
    let requested_type = match request.type_ {
        wit::ColumnType::Text => RequestedType::Text,
        wit::ColumnType::Integer => RequestedType::Integer,
        wit::ColumnType::Number => RequestedType::Number,
        wit::ColumnType::Boolean => RequestedType::Boolean,
        wit::ColumnType::Date => RequestedType::Date,
        wit::ColumnType::Period => RequestedType::Period,
    };
    ColumnRequest { name: request.name, source: request.source, requested_type }
}

fn wit_column(column: ReadColumn) -> wit::Column {
    wit::Column {
        name: column.name,
        format: column.read_type.format().into(),
        role: column.role.map(|role| role.as_str().to_owned()),
        unit: column.unit,
        description: column.description,
    }
}

fn wit_batch(batch: RawRows) -> wit::Batch {
    let arrays = batch.arrays.into_iter().map(wit_array).collect();
    wit::Batch { rows: batch.rows, arrays, buffers: batch.buffers }
}

fn wit_refusal(refusal: ReadRefusal) -> wit::Refusal {
    let fault = |ReadFault { place: FilePlace { line, byte, path }, sentence }| wit::Fault {
        place: wit::Place { line, byte, path },
        sentence,
    };
    match refusal {
        ReadRefusal::Malformed(found) => wit::Refusal::Malformed(fault(found)),
        ReadRefusal::Unsupported(found) => wit::Refusal::Unsupported(fault(found)),
        ReadRefusal::InvalidOption(sentence) => wit::Refusal::InvalidOption(sentence),
        ReadRefusal::Internal(sentence) => wit::Refusal::Internal(sentence),
    }
}
