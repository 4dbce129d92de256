//! Runs an encoder natively as a host would: with one instance, with one for each part, or with
//! several that take turns.

use std::ops::Range;
use std::rc::Rc;

use super::progress::EncodingDriver;
use super::{Table, chosen, held};
use crate::batch::Decoder;
use crate::{Batch, Encoder, Error, Note, Options, Schema, Value, View};

/// Output of an encoder for a table.
///
/// ```
#[doc = include_str!("example_encoder.txt")]
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
    #[doc = include_str!("example_encoder.txt")]
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
#[doc = include_str!("example_encoder.txt")]
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
#[doc = include_str!("example_encoder.txt")]
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
#[doc = include_str!("example_encoder.txt")]
/// use yearbook_sdk::testing::{self, Table};
///
/// let table = Table::new().text("region", &[Some("north"), Some("south")]).batches_of(1);
/// let mut response = Vec::new();
/// let batches = testing::batches(&table, false)?;
/// testing::respond::<Lines>(batches, &[], |chunk| response.extend(chunk))?;
/// assert_eq!(response, b"north\nsouth\n");
/// # Ok::<(), yearbook_sdk::Error>(())
/// ```
///
/// # Errors
/// The error with which the encoder declines.
///
/// # Panics
/// Panics when there are no batches.
pub fn respond<E: Encoder>(
    batches: Vec<Batch>,
    options: &[(&str, Value)],
    mut take: impl FnMut(Vec<u8>),
) -> Result<(), Error> {
    let separator = E::describe().separator.unwrap_or_default();
    let mut encoder = E::open(batches[0].schema().clone(), &chosen::<E>(options))?;
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
#[doc = include_str!("example_encoder.txt")]
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
#[doc = include_str!("example_encoder.txt")]
/// use yearbook_sdk::testing::{self, Table};
///
/// let table = Table::new().text("region", &[Some("north"), Some("south")]).batches_of(1);
/// let turns = testing::encode_round_robin::<Lines>(&table, &[], 2)?;
/// assert_eq!(turns, testing::encode_parts::<Lines>(&table, &[])?, "parts are independent");
/// # Ok::<(), yearbook_sdk::Error>(())
/// ```
///
/// # Errors
/// The error with which the encoder declines.
pub fn encode_round_robin<E: Encoder>(
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
pub(super) struct Instance<E> {
    pub(super) encoder: E,
    decoder: Decoder,
    /// As the batches cross.
    schema: Schema,
    views: Vec<View>,
    dictionaries: bool,
}

impl<E: Encoder> Instance<E> {
    pub(super) fn open(table: &Table, chosen: &Options) -> Result<Self, Error> {
        let dictionaries = E::describe().dictionaries;
        let schema = table.schema(dictionaries)?;
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

    pub(super) fn batch(
        &mut self,
        table: &Table,
        rows: Range<usize>,
        repeated: bool,
    ) -> Result<Batch, Error> {
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
