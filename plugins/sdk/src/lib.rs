//! Kit for authors of Yearbook plugins: implement [`Encoder`] (an output format), [`Generator`] (an
//! integration), [`Reader`] (an input format), [`Transform`] (a calculation) or [`Adapter`]
//! (another API), name the type in [`export_encoder!`], [`export_generator!`], [`export_reader!`],
//! [`export_transform!`] or [`export_adapter!`], and build the crate as a `cdylib` for
//! `wasm32-unknown-unknown`.
//!
//! Owns: the guest's half of `wit/1.1.0` and `wit/1.2.0`, views over the columns that the host
//! sends, the guest's allocator and panic hook, a toolkit for text formats ([`text`]), exact sums
//! and the calendar for transforms ([`exact`], [`calendar`]), and a test kit ([`testing`]).
//! Never touches: files, network, clock, randomness. A plugin is a pure function.
//!
//! Everything but the exports compiles natively, so that a plugin's logic is tested with `cargo
//! test`. All hand-written `unsafe` of the guest side stands in `raw.rs` and `raw/`.
//!
//! # A format in thirty lines
//! ```
//! use yearbook_sdk::testing::{self, Table};
//! use yearbook_sdk::{Batch, Description, Encoder, Error, Options, Output, Schema};
//!
//! /// One line a row: the first column's text.
//! struct Lines;
//!
//! impl Encoder for Lines {
//!     fn describe() -> Description {
//!         Description {
//!             format: "lines",
//!             version: "0.1.0",
//!             media_type: "text/plain; charset=utf-8",
//!             extension: "txt",
//!             separator: Some(b""), // parts are independent, nothing stands between them
//!             part_rows: None,      // as many rows at a time as the host likes
//!             dictionaries: false,  // text arrives plain
//!             compressible: true,
//!             parameters: vec![],
//!             docs: "The first column, one line a row.",
//!         }
//!     }
//!     fn open(_: Schema, _: &Options) -> Result<Self, Error> {
//!         Ok(Self)
//!     }
//!     fn part(&mut self, batch: Batch, out: &mut Output) -> Result<(), Error> {
//!         let column = batch.column(0);
//!         for row in 0..batch.rows() {
//!             out.extend_from_slice(column.text(row).unwrap_or("-").as_bytes());
//!             out.push(b'\n');
//!         }
//!         Ok(())
//!     }
//! }
//!
//! yearbook_sdk::export_encoder!(Lines);
//!
//! # fn main() {
//! let table = Table::new().text("region", &[Some("north"), None]);
//! assert_eq!(testing::encode::<Lines>(&table, &[]).unwrap(), b"north\n-\n");
//! # }
//! ```
//!
//! # A transform in sixty lines
//! Rows cross in batches, and the host numbers them by the columns that [`transform::Needs`] names:
//! the transform keeps something for each group and never sees a name. Columns that are passed on
//! do not cross.
//! ```
//! use yearbook_sdk::exact::Sum;
//! use yearbook_sdk::testing::{Table, transforming};
//! use yearbook_sdk::transform::{
//!     Codes, InputRows, MadeRows, MadeType, Need, Needs, OutputColumn, Relation,
//!     TransformDescription, TransformError, TransformOutput,
//! };
//! use yearbook_sdk::{Options, Schema, Transform};
//!
//! /// Running totals of the second column for each value of the first.
//! struct Totals {
//!     output: TransformOutput,
//!     sums: Vec<Sum>,
//! }
//!
//! impl Transform for Totals {
//!     fn describe() -> TransformDescription {
//!         TransformDescription {
//!             name: "totals",
//!             version: "0.1.0",
//!             title: "Running totals",
//!             independent: false, // a total depends on all rows before it
//!             parameters: vec![],
//!             docs: "Totals of the second column for each value of the first.",
//!         }
//!     }
//!     fn plan(schema: &Schema, _: &Options) -> Result<Needs, TransformError> {
//!         if schema.fields.len() != 2 || schema.fields[1].format != "g" {
//!             let sentence = "the second of two columns must hold numbers; choose with `columns`";
//!             return Err(TransformError::UnsupportedSchema(sentence.to_owned()));
//!         }
//!         Ok(Needs { columns: vec![Need::plain(1)], groups: Some(vec![0]), ..Needs::default() })
//!     }
//!     fn open(schema: &Schema, _: &Codes, _: &Options) -> Result<Self, TransformError> {
//!         let columns = vec![
//!             OutputColumn::passed(&schema.fields[0].name, 0),
//!             OutputColumn::made("total", MadeType::Number),
//!         ];
//!         let output = TransformOutput { columns, rows: Relation::Same, order: vec![] };
//!         Ok(Self { output, sums: vec![] })
//!     }
//!     fn output(&self) -> &TransformOutput {
//!         &self.output
//!     }
//!     fn push(&mut self, rows: &InputRows, made: &mut MadeRows) -> Result<(), TransformError> {
//!         let values = rows.column(0);
//!         for row in 0..rows.rows() {
//!             let group = rows.group(row);
//!             self.sums.resize(self.sums.len().max(group + 1), Sum::default());
//!             let value = values.number(row);
//!             value.into_iter().for_each(|value| self.sums[group].add(value));
//!             made.number(0, value.map(|_| self.sums[group].value()));
//!         }
//!         Ok(())
//!     }
//! }
//!
//! yearbook_sdk::export_transform!(Totals);
//!
//! # fn main() {
//! let table = Table::new()
//!     .text("region", &[Some("north"), Some("south"), Some("north")])
//!     .numbers("value", &[Some(0.1), Some(1.0), Some(0.2)]);
//! let totals = transforming::transform::<Totals>(&table, &[]).unwrap();
//! assert_eq!(totals.numbers("total"), [Some(0.1), Some(1.0), Some(0.1 + 0.2)]);
//! transforming::check_table::<Totals>(&table, &[]);
//! # }
//! ```

pub mod adapter;
#[cfg(feature = "arrow")]
pub mod arrow;
pub mod batch;
pub mod calendar;
mod capacity;
pub mod column;
pub mod describe;
pub mod encoder;
pub mod error;
pub mod exact;
pub mod generator;
#[cfg(target_family = "wasm")]
#[doc(hidden)]
pub mod guest;
pub mod log;
pub mod output;
mod raw;
pub mod reader;
pub mod schema;
pub mod testing;
pub mod text;
pub mod transform;
mod value_buffer;
pub mod view;
mod wire;

pub use adapter::Adapter;
pub use batch::Batch;
pub use column::{Column, Values};
pub use describe::{Description, Kind, Options, Parameter, Value};
pub use encoder::{Encoder, Note};
pub use error::Error;
pub use generator::Generator;
pub use output::Output;
pub use reader::Reader;
pub use schema::{Code, DataType, Field, Schema};
pub use transform::Transform;
pub use view::{Traits, View};

/// Exports a type that implements [`Encoder`] as the component's encoder. Once per crate; does
/// nothing in native builds.
///
/// ```
/// # use yearbook_sdk::{Batch, Description, Encoder, Error, Options, Output, Schema};
/// # struct Lines;
/// # impl Encoder for Lines {
/// #     fn describe() -> Description {
/// #         Description {
/// #             format: "lines",
/// #             version: "0.1.0",
/// #             media_type: "text/plain",
/// #             extension: "txt",
/// #             separator: Some(b""),
/// #             part_rows: None,
/// #             dictionaries: false,
/// #             compressible: true,
/// #             parameters: vec![],
/// #             docs: "The first column, one line a row.",
/// #         }
/// #     }
/// #     fn open(_: Schema, _: &Options) -> Result<Self, Error> {
/// #         Ok(Self)
/// #     }
/// #     fn part(&mut self, batch: Batch, out: &mut Output) -> Result<(), Error> {
/// #         for row in 0..batch.rows() {
/// #             out.extend_from_slice(batch.column(0).text(row).unwrap_or("-").as_bytes());
/// #             out.push(b'\n');
/// #         }
/// #         Ok(())
/// #     }
/// # }
/// yearbook_sdk::export_encoder!(Lines);
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! export_encoder {
    ($encoder:ty) => {
        #[cfg(target_family = "wasm")]
        mod __yearbook_export {
            use super::*;
            type Exported = $crate::guest::EncoderExport<$encoder>;
            $crate::guest::encoder_world::export_encoder_world!(Exported with_types_in $crate::guest::encoder_world);
        }
    };
}

/// Has the host tell the component's encoder the distinct values of columns, in [`Field::codes`],
/// before the first row. Beside [`export_encoder!`]; does nothing in native builds, where
/// [`testing`] finds the values of its tables.
///
/// ```
#[doc = include_str!("testing/example_encoder.txt")]
/// yearbook_sdk::export_encoder!(Lines);
/// yearbook_sdk::export_codelists!();
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! export_codelists {
    () => {
        #[cfg(target_family = "wasm")]
        mod __yearbook_export_codelists {
            type Exported = $crate::guest::CodelistsExport;
            $crate::guest::codelists_world::export_codelists_world!(Exported with_types_in $crate::guest::codelists_world);
        }
    };
}

/// Exports a type that implements [`Generator`] as the component's generator. Once per crate; does
/// nothing in native builds.
///
/// ```
/// use yearbook_sdk::generator::{Description, File, Project, Request};
/// use yearbook_sdk::{Error, Generator, Options};
///
/// struct Links;
///
/// impl Generator for Links {
///     fn describe() -> Description {
///         Description {
///             tool: "links",
///             version: "0.1.0",
///             title: "Links",
///             parameters: Vec::new(),
///             docs: "The address of each dataset.",
///         }
///     }
///     fn generate(request: &Request, _: &Options) -> Result<Project, Error> {
///         let links = request.datasets.iter().map(|set| set.data_url.as_str());
///         let links: Vec<&str> = links.collect();
///         let file = File::text("links.txt", "text/plain", links.join("\n"));
///         Ok(Project { files: vec![file], warnings: Vec::new() })
///     }
/// }
///
/// yearbook_sdk::export_generator!(Links);
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! export_generator {
    ($generator:ty) => {
        #[cfg(target_family = "wasm")]
        mod __yearbook_export {
            use super::*;
            type Exported = $crate::guest::GeneratorExport<$generator>;
            $crate::guest::generator_world::export_generator_world!(Exported with_types_in $crate::guest::generator_world);
        }
    };
}

/// Exports a type that implements [`Reader`] as the component's reader. Once per crate; does
/// nothing in native builds.
///
/// ```
/// # use yearbook_sdk::reader::{
/// #     ColumnMatch, ColumnRequest, ReadColumn, ReadRefusal, ReaderDescription, RowBuilder,
/// #     match_columns,
/// # };
/// # use yearbook_sdk::{Options, Reader};
/// # struct Lines {
/// #     columns: Vec<ColumnMatch>,
/// #     pending: String,
/// # }
/// # impl Reader for Lines {
/// #     fn describe() -> ReaderDescription {
/// #         ReaderDescription {
/// #             format: "lines",
/// #             version: "0.1.0",
/// #             title: "Lines of text",
/// #             parameters: vec![],
/// #             example: b"north\nsouth\n",
/// #             docs: "One line a row, in the column `line`.",
/// #         }
/// #     }
/// #     fn open(requests: &[ColumnRequest], _: &Options) -> Result<Self, ReadRefusal> {
/// #         Ok(Self { columns: match_columns(&["line"], requests)?, pending: String::new() })
/// #     }
/// #     fn push(&mut self, bytes: &[u8], _last: bool) -> Result<(), ReadRefusal> {
/// #         self.pending.push_str(&String::from_utf8_lossy(bytes));
/// #         Ok(())
/// #     }
/// #     fn columns(&self) -> Option<Vec<ReadColumn>> {
/// #         Some(self.columns.iter().map(ReadColumn::from).collect())
/// #     }
/// #     fn pull(&mut self, rows: &mut RowBuilder) -> Result<(), ReadRefusal> {
/// #         while let Some((line, rest)) = self.pending.split_once('\n') {
/// #             if rows.is_full() {
/// #                 break;
/// #             }
/// #             for at in 0..self.columns.len() {
/// #                 rows.text(at, line);
/// #             }
/// #             rows.end_row();
/// #             self.pending = rest.to_owned();
/// #         }
/// #         Ok(())
/// #     }
/// # }
/// yearbook_sdk::export_reader!(Lines);
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! export_reader {
    ($reader:ty) => {
        #[cfg(target_family = "wasm")]
        mod __yearbook_export {
            use super::*;
            type Exported = $crate::guest::ReaderExport<$reader>;
            $crate::guest::reader_world::export_reader_world!(Exported with_types_in $crate::guest::reader_world);
        }
    };
}

/// Exports a type that implements [`Transform`] as the component's transform. Once per crate; does
/// nothing in native builds.
///
/// ```
#[doc = include_str!("testing/example_transform.txt")]
/// yearbook_sdk::export_transform!(Double);
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! export_transform {
    ($transform:ty) => {
        #[cfg(target_family = "wasm")]
        mod __yearbook_export {
            use super::*;
            type Exported = $crate::guest::TransformExport<$transform>;
            $crate::guest::transform_world::export_transform_world!(Exported with_types_in $crate::guest::transform_world);
        }
    };
}

/// Exports a type that implements [`Adapter`] as the component's adapter. Once per crate; does
/// nothing in native builds. With [`export_encoder!`] beside it the component brings a format of
/// its own, named as the adapter is, for [`adapter::Rows::own_format`].
///
/// ```
#[doc = include_str!("testing/example_adapter.txt")]
/// yearbook_sdk::export_adapter!(Tables);
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! export_adapter {
    ($adapter:ty) => {
        #[cfg(target_family = "wasm")]
        mod __yearbook_export_adapter {
            use super::*;
            type Exported = $crate::guest::AdapterExport<$adapter>;
            $crate::guest::adapter_world::export_adapter_world!(Exported with_types_in $crate::guest::adapter_world);
        }
    };
}
