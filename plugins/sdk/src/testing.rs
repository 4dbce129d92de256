//! A test kit for plugin authors: build tables from Rust values, run an encoder natively as the
//! host would, and check it against the list of things that every encoder must hold
//! ([`conformance`]).
//!
//! Never needed at run time: it costs a guest nothing, since nothing there refers to it.

pub mod conformance;
mod data;
mod held;
mod progress;
pub mod project;
pub mod reading;
mod table;

pub use table::Table;

use progress::EncodingDriver;

use std::ops::Range;
use std::rc::Rc;

use crate::batch::Decoder;
use crate::{Batch, Encoder, Error, Kind, Note, Options, Schema, Value, View};

/// Output of an encoder for a table.
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
/// use yearbook_sdk::testing::{self, Table};
///
/// let table = Table::new().text("region", &[Some("north"), Some("south")]).batches_of(1);
/// let encoded = testing::encode_parts::<Lines>(&table, &[])?;
/// assert_eq!(encoded.parts, [b"north\n", b"south\n"]);
/// # Ok::<(), yearbook_sdk::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Encoded {
    /// Bytes before the first row.
    pub head: Vec<u8>,
    /// Bytes of each batch.
    pub parts: Vec<Vec<u8>>,
    /// Notes of the parts for the tail.
    pub notes: Vec<Note>,
    /// Bytes after the last row.
    pub tail: Vec<u8>,
}

impl Encoded {
    /// The response as a client sees it.
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
    /// use yearbook_sdk::testing::{self, Table};
    ///
    /// let table = Table::new().text("region", &[Some("north"), Some("south")]).batches_of(1);
    /// let encoded = testing::encode_parts::<Lines>(&table, &[])?;
    /// assert_eq!(encoded.response(Some(b"")), b"north\nsouth\n");
    /// # Ok::<(), yearbook_sdk::Error>(())
    /// ```
    #[must_use]
    pub fn response(&self, separator: Option<&[u8]>) -> Vec<u8> {
        [self.head.as_slice(), &self.parts.join(separator.unwrap_or_default()), &self.tail].concat()
    }
}

/// Runs an encoder over a table with one instance, and returns the response.
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
/// use yearbook_sdk::testing::{self, Table};
///
/// let table = Table::new().text("region", &[Some("north"), Some("south")]).batches_of(1);
/// assert_eq!(testing::encode::<Lines>(&table, &[])?, b"north\nsouth\n");
/// # Ok::<(), yearbook_sdk::Error>(())
/// ```
///
/// # Errors
/// The error with which the encoder declines.
pub fn encode<E: Encoder>(table: &Table, options: &[(&str, Value)]) -> Result<Vec<u8>, Error> {
    Ok(encode_parts::<E>(table, options)?.response(E::describe().separator))
}

/// As [`encode`], with head, parts and tail apart.
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
/// use yearbook_sdk::testing::{self, Table};
///
/// let table = Table::new().text("region", &[Some("north"), Some("south")]).batches_of(1);
/// assert_eq!(testing::encode_parts::<Lines>(&table, &[])?.head, b"");
/// # Ok::<(), yearbook_sdk::Error>(())
/// ```
///
/// # Errors
/// The error with which the encoder declines.
pub fn encode_parts<E: Encoder>(
    table: &Table,
    options: &[(&str, Value)],
) -> Result<Encoded, Error> {
    let mut instance = Instance::<E>::open(table, &chosen::<E>(options))?;
    let mut response = Response::begin(&mut instance.encoder)?;
    for (position, rows) in table.batches().enumerate() {
        let batch = instance.batch(table, rows, position > 0)?;
        response.part(&mut instance.encoder, batch)?;
    }
    response.tail(&mut instance.encoder)
}

/// Runs an encoder with its default options over batches of one table as a host does, natively and
/// with one instance: each chunk of the response goes to `take` as soon as it is made, a separator
/// in front of its part, and nothing is kept.
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
/// use yearbook_sdk::testing::{self, Table};
///
/// let table = Table::new().text("region", &[Some("north"), Some("south")]).batches_of(1);
/// let mut response = Vec::new();
/// testing::respond::<Lines>(testing::batches(&table, false)?, |chunk| response.extend(chunk))?;
/// assert_eq!(response, b"north\nsouth\n");
/// # Ok::<(), yearbook_sdk::Error>(())
/// ```
///
/// # Errors
/// The error with which the encoder declines.
///
/// # Panics
/// When there are no batches.
pub fn respond<E: Encoder>(
    batches: Vec<Batch>,
    mut take: impl FnMut(Vec<u8>),
) -> Result<(), Error> {
    let separator = E::describe().separator.unwrap_or_default();
    let mut encoder = E::open(batches[0].schema().clone(), &chosen::<E>(&[]))?;
    let mut progress = EncodingDriver::<E>::default();
    take(progress.head(&mut encoder)?);
    for (position, batch) in batches.into_iter().enumerate() {
        if position > 0 && !separator.is_empty() {
            take(separator.to_vec());
        }
        take(progress.part(&mut encoder, batch)?);
    }
    take(progress.tail(&mut encoder)?);
    Ok(())
}

/// As [`encode_parts`], with an instance for each batch, as a host may do when a separator is
/// promised.
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
/// use yearbook_sdk::testing::{self, Table};
///
/// let table = Table::new().text("region", &[Some("north"), Some("south")]).batches_of(1);
/// let apart = testing::encode_apart::<Lines>(&table, &[])?;
/// assert_eq!(apart, testing::encode_parts::<Lines>(&table, &[])?, "parts are independent");
/// # Ok::<(), yearbook_sdk::Error>(())
/// ```
///
/// # Errors
/// The error with which the encoder declines.
pub fn encode_apart<E: Encoder>(
    table: &Table,
    options: &[(&str, Value)],
) -> Result<Encoded, Error> {
    let chosen = chosen::<E>(options);
    let mut ends = Instance::<E>::open(table, &chosen)?.encoder;
    let mut response = Response::begin(&mut ends)?;
    for rows in table.batches() {
        let mut instance = Instance::<E>::open(table, &chosen)?;
        let batch = instance.batch(table, rows, false)?;
        response.part(&mut instance.encoder, batch)?;
    }
    response.tail(&mut ends)
}

/// As [`encode_parts`], with several instances that take turns, the first of which makes head and
/// tail.
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
/// use yearbook_sdk::testing::{self, Table};
///
/// let table = Table::new().text("region", &[Some("north"), Some("south")]).batches_of(1);
/// let turns = testing::encode_by_turns::<Lines>(&table, &[], 2)?;
/// assert_eq!(turns, testing::encode_parts::<Lines>(&table, &[])?, "parts are independent");
/// # Ok::<(), yearbook_sdk::Error>(())
/// ```
///
/// # Errors
/// The error with which the encoder declines.
pub fn encode_by_turns<E: Encoder>(
    table: &Table,
    options: &[(&str, Value)],
    instances: usize,
) -> Result<Encoded, Error> {
    let chosen = chosen::<E>(options);
    let open = |_| Instance::<E>::open(table, &chosen);
    let mut all = (0..instances.max(1)).map(open).collect::<Result<Vec<_>, Error>>()?;
    let turns = all.len();
    let mut response = Response::begin(&mut all[0].encoder)?;
    for (position, rows) in table.batches().enumerate() {
        let instance = &mut all[position % turns];
        let batch = instance.batch(table, rows, position >= turns)?;
        response.part(&mut instance.encoder, batch)?;
    }
    response.tail(&mut all[0].encoder)
}

/// An encoder with what it needs to see batches, as its views say.
struct Instance<E> {
    encoder: E,
    decoder: Decoder,
    /// As the batches cross.
    schema: Schema,
    views: Vec<View>,
    dictionaries: bool,
}

impl<E: Encoder> Instance<E> {
    fn open(table: &Table, chosen: &Options) -> Result<Self, Error> {
        let dictionaries = E::describe().dictionaries;
        let schema = Schema::from_wire(table.wire_schema(dictionaries))?;
        let encoder = E::open(schema.clone(), chosen)?;
        let views = encoder.views();
        let columns = schema.fields.len();
        assert!(
            views.is_empty() || views.len() == columns,
            "{} views for {columns} columns",
            views.len()
        );
        let decoder = Decoder::new(schema.clone(), &views);
        Ok(Self { encoder, decoder, schema: schema.as_viewed(&views), views, dictionaries })
    }

    fn batch(&mut self, table: &Table, rows: Range<usize>, repeated: bool) -> Result<Batch, Error> {
        let batch = table.wire_batch(rows, self.dictionaries, repeated, &self.views);
        let (batch, kept) = held::hold(&self.schema, &self.views, batch);
        let mut batch = self.decoder.decode(batch)?;
        batch.kept = Rc::from(kept);
        Ok(batch)
    }
}

/// A response in the making, all of which is kept.
struct Response<E> {
    progress: EncodingDriver<E>,
    head: Vec<u8>,
    parts: Vec<Vec<u8>>,
}

impl<E: Encoder> Response<E> {
    fn begin(encoder: &mut E) -> Result<Self, Error> {
        let mut progress = EncodingDriver::default();
        let head = progress.head(encoder)?;
        Ok(Self { progress, head, parts: Vec::new() })
    }

    fn part(&mut self, encoder: &mut E, batch: Batch) -> Result<(), Error> {
        self.parts.push(self.progress.part(encoder, batch)?);
        Ok(())
    }

    fn tail(mut self, encoder: &mut E) -> Result<Encoded, Error> {
        let tail = self.progress.tail(encoder)?;
        Ok(Encoded { head: self.head, parts: self.parts, notes: self.progress.notes, tail })
    }
}

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
/// When arrow-rs does not know a column's type.
#[cfg(feature = "arrow")]
pub fn record_batches(
    table: &Table,
) -> Result<(::arrow::datatypes::SchemaRef, Vec<::arrow::array::RecordBatch>), Error> {
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
/// use yearbook_sdk::testing;
///
/// assert_eq!(testing::chosen::<Lines>(&[]).0, [], "it declares no parameter");
/// ```
///
/// # Panics
/// When a default cannot be read as its kind.
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
        let parsed = match parameter.kind {
            Kind::Text => Some(Value::Text(default.to_owned())),
            Kind::Integer => default.parse().ok().map(Value::Integer),
            Kind::Number => default.parse().ok().map(Value::Number),
            Kind::Boolean => default.parse().ok().map(Value::Boolean),
        };
        parsed.unwrap_or_else(|| {
            panic!("the default `{default}` of `{}` is not of its kind", parameter.name)
        })
    };
    Options(
        declared.iter().map(|parameter| (parameter.name.to_owned(), value(parameter))).collect(),
    )
}

fn start(table: &Table, dictionaries: bool) -> Result<(Schema, Decoder), Error> {
    let schema = Schema::from_wire(table.wire_schema(dictionaries))?;
    let decoder = Decoder::new(schema.clone(), &[]);
    Ok((schema, decoder))
}
