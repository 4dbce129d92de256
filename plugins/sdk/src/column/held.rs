//! Columns whose values stay with the host, and buffers of any column.

use std::borrow::Cow;

use super::{Bits, buffer};
use crate::batch::{ColumnBuffers, HeldBuffers};
use crate::column::Offset as _;
use crate::raw::numbers;
use crate::{DataType, Field};

/// Text or binary values of which offsets crossed.
///
/// ```
/// use yearbook_sdk::testing::{Table, encode};
/// use yearbook_sdk::view::HeldText;
/// use yearbook_sdk::{
///     Batch, Description, Encoder, Error, Options, Output, Schema, Traits, Values, View,
/// };
///
/// struct Notes(usize);
///
/// impl Encoder for Notes {
/// #     fn describe() -> Description {
/// #         Description {
/// #             format: "notes",
/// #             version: "0.1.0",
/// #             media_type: "text/plain",
/// #             extension: "txt",
/// #             separator: Some(b""),
/// #             part_rows: None,
/// #             dictionaries: false,
/// #             compressible: true,
/// #             parameters: vec![],
/// #             docs: "Long notes.",
/// #         }
/// #     }
///     fn open(schema: Schema, _: &Options) -> Result<Self, Error> {
///         Ok(Self(schema.fields.len()))
///     }
///     fn views(&self) -> Vec<View> {
///         let text = HeldText { mean_bytes: 100, all: Traits::NONE, each: Traits::ASCII };
///         vec![View::held(text); self.0]
///     }
///     fn part(&mut self, batch: Batch, out: &mut Output) -> Result<(), Error> {
///         let column = batch.column(0);
///         assert!(matches!(&column.values, Values::Held(_)));
///         out.pass(&column, 0);
///         Ok(())
///     }
/// }
///
/// let long = "a note ".repeat(100);
/// let table = Table::new().text("note", &[Some(long.as_str())]);
/// assert_eq!(encode::<Notes>(&table, &[])?, long.as_bytes());
/// # Ok::<(), yearbook_sdk::Error>(())
/// ```
#[derive(Debug)]
pub struct HeldColumn<'a> {
    offsets: Offsets<'a>,
    each: Option<Bits<'a>>,
    /// Index of the values' buffer in the batch.
    pub(crate) buffer: u32,
}

#[derive(Debug)]
enum Offsets<'a> {
    Short(Cow<'a, [i32]>),
    Long(Cow<'a, [i64]>),
}

impl<'a> HeldColumn<'a> {
    pub(super) fn new(field: &Field, array: &'a ColumnBuffers, held: &HeldBuffers) -> Self {
        let offsets = match field.data_type {
            DataType::LargeUtf8 | DataType::LargeBinary => Offsets::Long(numbers(buffer(array, 1))),
            _ => Offsets::Short(numbers(buffer(array, 1))),
        };
        let each = array.buffers.get(3).map(|bits| Bits::new(bits, array.length));
        Self { offsets, each, buffer: held.first + 2 }
    }

    /// Position of a row's value among all values: start and length, bytes.
    ///
    /// ```
    /// use yearbook_sdk::testing::{Table, encode};
    /// use yearbook_sdk::view::HeldText;
    /// use yearbook_sdk::{
    ///     Batch, Description, Encoder, Error, Options, Output, Schema, Traits, Values, View,
    /// };
    ///
    /// struct Notes(usize);
    ///
    /// impl Encoder for Notes {
    /// #     fn describe() -> Description {
    /// #         Description {
    /// #             format: "notes",
    /// #             version: "0.1.0",
    /// #             media_type: "text/plain",
    /// #             extension: "txt",
    /// #             separator: Some(b""),
    /// #             part_rows: None,
    /// #             dictionaries: false,
    /// #             compressible: true,
    /// #             parameters: vec![],
    /// #             docs: "Long notes.",
    /// #         }
    /// #     }
    ///     fn open(schema: Schema, _: &Options) -> Result<Self, Error> {
    ///         Ok(Self(schema.fields.len()))
    ///     }
    ///     fn views(&self) -> Vec<View> {
    ///         let text = HeldText { mean_bytes: 100, all: Traits::NONE, each: Traits::ASCII };
    ///         vec![View::held(text); self.0]
    ///     }
    ///     fn part(&mut self, batch: Batch, out: &mut Output) -> Result<(), Error> {
    ///         let column = batch.column(0);
    ///         if let Values::Held(held) = &column.values {
    ///             assert_eq!(held.range(0), (0, 700));
    ///         }
    ///         out.pass(&column, 0);
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let long = "a note ".repeat(100);
    /// let table = Table::new().text("note", &[Some(long.as_str())]);
    /// assert_eq!(encode::<Notes>(&table, &[])?, long.as_bytes());
    /// # Ok::<(), yearbook_sdk::Error>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn range(&self, row: usize) -> (usize, usize) {
        let (start, end) = match &self.offsets {
            Offsets::Short(offsets) => (offsets[row].index(), offsets[row + 1].index()),
            Offsets::Long(offsets) => (offsets[row].index(), offsets[row + 1].index()),
        };
        (start, end - start)
    }

    /// Returns whether a row's value has all traits that were asked for each value; true where none
    /// was.
    ///
    /// ```
    /// use yearbook_sdk::testing::{Table, encode};
    /// use yearbook_sdk::view::HeldText;
    /// use yearbook_sdk::{
    ///     Batch, Description, Encoder, Error, Options, Output, Schema, Traits, Values, View,
    /// };
    ///
    /// struct Notes(usize);
    ///
    /// impl Encoder for Notes {
    /// #     fn describe() -> Description {
    /// #         Description {
    /// #             format: "notes",
    /// #             version: "0.1.0",
    /// #             media_type: "text/plain",
    /// #             extension: "txt",
    /// #             separator: Some(b""),
    /// #             part_rows: None,
    /// #             dictionaries: false,
    /// #             compressible: true,
    /// #             parameters: vec![],
    /// #             docs: "Long notes.",
    /// #         }
    /// #     }
    ///     fn open(schema: Schema, _: &Options) -> Result<Self, Error> {
    ///         Ok(Self(schema.fields.len()))
    ///     }
    ///     fn views(&self) -> Vec<View> {
    ///         let text = HeldText { mean_bytes: 100, all: Traits::NONE, each: Traits::ASCII };
    ///         vec![View::held(text); self.0]
    ///     }
    ///     fn part(&mut self, batch: Batch, out: &mut Output) -> Result<(), Error> {
    ///         let column = batch.column(0);
    ///         if let Values::Held(held) = &column.values {
    ///             assert!(held.has_each(0), "all of it is ASCII");
    ///         }
    ///         out.pass(&column, 0);
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let long = "a note ".repeat(100);
    /// let table = Table::new().text("note", &[Some(long.as_str())]);
    /// assert_eq!(encode::<Notes>(&table, &[])?, long.as_bytes());
    /// # Ok::<(), yearbook_sdk::Error>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn has_each(&self, row: usize) -> bool {
        self.each.is_none_or(|bits| bits.get(row))
    }
}

/// One buffer of a column.
///
/// ```
/// use yearbook_sdk::testing::{Table, batches};
///
/// let table = Table::new()
///     .text("region", &[Some("north"), None])
///     .numbers("value", &[Some(1.5), Some(2.0)]);
/// let batch = batches(&table, false)?.remove(0);
/// assert!(batch.column(1).buffers().all(|buffer| !buffer.is_held()));
/// # Ok::<(), yearbook_sdk::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct ColumnBuffer<'a> {
    /// Its length in bytes.
    pub length: usize,
    /// Index in the batch, where it stays with the host.
    pub(crate) held: Option<u32>,
    /// Its bytes, where it does not.
    pub(crate) bytes: &'a [u8],
}

impl<'a> ColumnBuffer<'a> {
    pub(super) fn all(array: &'a ColumnBuffers) -> impl Iterator<Item = Self> + use<'a> {
        let held = array.held.as_ref();
        array.buffers.iter().zip(0_u32..).enumerate().map(move |(place, (bytes, index))| {
            let stays = held.and_then(|held| Some((held.first, (*held.lengths.get(place)?)?)));
            match stays {
                Some((first, length)) => Self { length, held: Some(first + index), bytes: &[] },
                None => Self { length: bytes.len(), held: None, bytes },
            }
        })
    }

    /// Returns whether it stays with the host.
    ///
    /// ```
    /// use yearbook_sdk::testing::{Table, encode};
    /// use yearbook_sdk::view::HeldText;
    /// use yearbook_sdk::{
    ///     Batch, Description, Encoder, Error, Options, Output, Schema, Traits, Values, View,
    /// };
    ///
    /// struct Notes(usize);
    ///
    /// impl Encoder for Notes {
    /// #     fn describe() -> Description {
    /// #         Description {
    /// #             format: "notes",
    /// #             version: "0.1.0",
    /// #             media_type: "text/plain",
    /// #             extension: "txt",
    /// #             separator: Some(b""),
    /// #             part_rows: None,
    /// #             dictionaries: false,
    /// #             compressible: true,
    /// #             parameters: vec![],
    /// #             docs: "Long notes.",
    /// #         }
    /// #     }
    ///     fn open(schema: Schema, _: &Options) -> Result<Self, Error> {
    ///         Ok(Self(schema.fields.len()))
    ///     }
    ///     fn views(&self) -> Vec<View> {
    ///         let text = HeldText { mean_bytes: 100, all: Traits::NONE, each: Traits::ASCII };
    ///         vec![View::held(text); self.0]
    ///     }
    ///     fn part(&mut self, batch: Batch, out: &mut Output) -> Result<(), Error> {
    ///         let column = batch.column(0);
    ///         assert!(column.buffers().any(|buffer| buffer.is_held()));
    ///         out.pass(&column, 0);
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let long = "a note ".repeat(100);
    /// let table = Table::new().text("note", &[Some(long.as_str())]);
    /// assert_eq!(encode::<Notes>(&table, &[])?, long.as_bytes());
    /// # Ok::<(), yearbook_sdk::Error>(())
    /// ```
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.held.is_some()
    }
}
