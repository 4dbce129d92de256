//! The codelists world: bindings and the export. What arrives waits for the `open` that follows.

use std::cell::RefCell;

use super::encoder_world::yearbook::plugin::types;
use super::wire_schema;
use crate::{Code, Error, Schema};
use codelists_world::exports::yearbook::plugin::codelists as wit;
use codelists_world::yearbook::plugin::statistics as wit_statistics;

/// Generated from the WIT package.
#[doc(hidden)]
pub mod codelists_world {
    wit_bindgen::generate!({
        path: "wit/1.2.0",
        world: "codelists-plugin",
        pub_export_macro: true,
        export_macro_name: "export_codelists_world",
    });
}

thread_local! {
    /// Values of the columns of the next `open`.
    static RECEIVED: RefCell<Vec<Option<Vec<Code>>>> = const { RefCell::new(Vec::new()) };
}

/// The type that [`crate::export_codelists!`] exports.
#[doc(hidden)]
#[derive(Debug)]
pub struct CodelistsExport;

impl wit::Guest for CodelistsExport {
    fn receive(codes: Vec<Option<Vec<wit_statistics::Code>>>) {
        let code = |code: wit_statistics::Code| Code { value: code.value, label: code.label };
        let codes = codes.into_iter().map(|codes| Some(codes?.into_iter().map(code).collect()));
        RECEIVED.replace(codes.collect());
    }
}

/// The schema of an `open`, with the values that were received for it.
pub(super) fn schema_with_codes(schema: types::Schema) -> Result<Schema, Error> {
    Ok(Schema::from_wire(wire_schema(schema))?.with_codes(RECEIVED.take()))
}
