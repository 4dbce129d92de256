//! Views over a column's buffers, by Arrow type. They tolerate any alignment: a buffer that is not
//! aligned is copied once, when the view is made.

use std::borrow::Cow;

use crate::batch::ColumnBuffers;
use crate::raw::{self, numbers};
use crate::schema::{DataType, TimeUnit};
use crate::{Field, batch};

pub use held::{ColumnBuffer, HeldColumn};
pub use strings::{Bits, Offset, Strings};

mod cells;
mod held;
mod strings;

/// A column, or a child of one.
///
/// ```
/// use yearbook_sdk::testing::{Table, batches};
///
/// let table = Table::new()
///     .text("region", &[Some("north"), None])
///     .numbers("value", &[Some(1.5), Some(2.0)]);
/// let batch = batches(&table, false)?.remove(0);
/// let column = batch.column(0);
/// assert_eq!((column.length, column.null_count), (2, 1));
/// assert_eq!(column.field.name, "region");
/// # Ok::<(), yearbook_sdk::Error>(())
/// ```
#[derive(Debug)]
pub struct Column<'a> {
    /// The column's description.
    pub field: &'a Field,
    /// Rows, or elements of a child.
    pub length: usize,
    /// Number of nulls among them.
    pub null_count: usize,
    /// Values of the column. Where a row is null, the value is arbitrary.
    pub values: Values<'a>,
    validity: Option<Bits<'a>>,
    array: &'a ColumnBuffers,
}

/// A column's values. Signed and unsigned integers, dates and times hold what Arrow's columnar
/// format says, little-endian numbers already in place.
///
/// ```
/// use yearbook_sdk::testing::{Table, batches};
///
/// let table = Table::new()
///     .text("region", &[Some("north"), None])
///     .numbers("value", &[Some(1.5), Some(2.0)]);
/// let batch = batches(&table, false)?.remove(0);
/// use yearbook_sdk::Values;
///
/// let column = batch.column(1);
/// let Values::Float64(numbers) = &column.values else { unreachable!("a column of floats") };
/// assert_eq!(numbers.as_ref(), [1.5, 2.0]);
/// # Ok::<(), yearbook_sdk::Error>(())
/// ```
#[derive(Debug)]
#[expect(missing_docs, reason = "Arrow's own names; units as in DataType")]
pub enum Values<'a> {
    Null,
    Boolean(Bits<'a>),
    Int8(Cow<'a, [i8]>),
    UInt8(Cow<'a, [u8]>),
    Int16(Cow<'a, [i16]>),
    UInt16(Cow<'a, [u16]>),
    Int32(Cow<'a, [i32]>),
    UInt32(Cow<'a, [u32]>),
    Int64(Cow<'a, [i64]>),
    UInt64(Cow<'a, [u64]>),
    /// The bits of IEEE 754 binary16.
    Float16(Cow<'a, [u16]>),
    Float32(Cow<'a, [f32]>),
    Float64(Cow<'a, [f64]>),
    Utf8(Strings<'a, i32>),
    LargeUtf8(Strings<'a, i64>),
    Binary(Strings<'a, i32>),
    LargeBinary(Strings<'a, i64>),
    FixedSizeBinary {
        width: usize,
        bytes: &'a [u8],
    },
    Date32(Cow<'a, [i32]>),
    Date64(Cow<'a, [i64]>),
    Time32(TimeUnit, Cow<'a, [i32]>),
    Time64(TimeUnit, Cow<'a, [i64]>),
    Timestamp {
        unit: TimeUnit,
        zone: &'a str,
        values: Cow<'a, [i64]>,
    },
    Duration(TimeUnit, Cow<'a, [i64]>),
    Decimal32 {
        scale: i8,
        values: Cow<'a, [i32]>,
    },
    Decimal64 {
        scale: i8,
        values: Cow<'a, [i64]>,
    },
    Decimal128 {
        scale: i8,
        values: Cow<'a, [i128]>,
    },
    List {
        offsets: Cow<'a, [i32]>,
        items: Box<Column<'a>>,
    },
    LargeList {
        offsets: Cow<'a, [i64]>,
        items: Box<Column<'a>>,
    },
    FixedSizeList {
        width: usize,
        items: Box<Column<'a>>,
    },
    /// Its one child is a struct of key and value.
    Map {
        offsets: Cow<'a, [i32]>,
        entries: Box<Column<'a>>,
    },
    Struct(Vec<Column<'a>>),
    Dictionary(Dictionary<'a>),
    /// Text or binary values that stay with the host, where [`crate::Encoder::views`] allows it.
    Held(HeldColumn<'a>),
    /// Any values of which lengths alone crossed: [`Column::buffers`] has them. Nothing is known
    /// of any row.
    Lengths,
    /// All other types (views, unions, intervals, 256-bit decimals, run ends): buffers as they
    /// crossed, and children.
    Other {
        buffers: &'a [Vec<u8>],
        children: Vec<Column<'a>>,
    },
}

/// Dictionary-encoded values.
///
/// ```
/// use yearbook_sdk::Values;
/// use yearbook_sdk::testing::{Table, batches};
///
/// let table = Table::new().dictionary("region", &[Some("north"), Some("south"), Some("north")]);
/// let batch = batches(&table, true)?.remove(0);
/// let column = batch.column(0);
/// let Values::Dictionary(dictionary) = &column.values else { unreachable!("few values") };
/// assert_eq!(dictionary.keys.as_ref(), [0, 1, 0]);
/// assert_eq!(dictionary.values.text(1), Some("south"));
/// # Ok::<(), yearbook_sdk::Error>(())
/// ```
#[derive(Debug)]
pub struct Dictionary<'a> {
    /// Positions in `values`.
    pub keys: Cow<'a, [i32]>,
    /// The distinct values. They may hold nulls.
    pub values: Box<Column<'a>>,
    /// Changes when `values` do: what was made of them can be kept as long as it does not. Unique
    /// within a response, never 0.
    pub version: u64,
}

impl<'a> Column<'a> {
    pub(crate) fn new(field: &'a Field, array: &'a ColumnBuffers) -> Self {
        let has_validity = !matches!(
            field.data_type,
            DataType::Null
                | DataType::DenseUnion(_)
                | DataType::SparseUnion(_)
                | DataType::RunEndEncoded
        );
        let lengths_only =
            array.held.as_ref().is_some_and(|held| held.lengths.first() != Some(&None));
        let validity = (has_validity && array.null_count > 0 && !lengths_only)
            .then(|| Bits::new(buffer(array, 0), array.length));
        let values = if lengths_only {
            Values::Lengths
        } else if let (Some(values), Some(dictionary)) = (&field.dictionary, &array.dictionary) {
            let batch::DictionaryBuffers { values: array_of_values, version } = dictionary;
            let keys = numbers(buffer(array, 1));
            Values::Dictionary(Dictionary {
                keys,
                values: Box::new(Column::new(values, array_of_values)),
                version: *version,
            })
        } else if let Some(held) = &array.held {
            Values::Held(HeldColumn::new(field, array, held))
        } else {
            Values::new(field, array)
        };
        let (length, null_count) = (array.length, array.null_count);
        Self { field, length, null_count, values, validity, array }
    }

    /// Buffers of the column itself in the order of Arrow's columnar format (validity, offsets,
    /// values), held or not; not those of its children or its dictionary.
    ///
    /// ```
    /// use yearbook_sdk::testing::{Table, batches};
    ///
    /// let table = Table::new()
    ///     .text("region", &[Some("north"), None])
    ///     .numbers("value", &[Some(1.5), Some(2.0)]);
    /// let batch = batches(&table, false)?.remove(0);
    /// let lengths: Vec<_> = batch.column(1).buffers().map(|buffer| buffer.length).collect();
    /// assert_eq!(lengths.last(), Some(&16), "two floats");
    /// # Ok::<(), yearbook_sdk::Error>(())
    /// ```
    pub fn buffers(&self) -> impl Iterator<Item = ColumnBuffer<'a>> + use<'a> {
        ColumnBuffer::all(self.array)
    }

    /// Columns inside of it, where it is a list, a struct or a map; also where lengths alone
    /// crossed.
    ///
    /// ```
    /// use yearbook_sdk::testing::{Table, batches};
    ///
    /// let table = Table::new().lists("n", &[Some(vec![1, 2]), None]);
    /// let batch = batches(&table, false)?.remove(0);
    /// assert_eq!(batch.column(0).children().next().map(|items| items.length), Some(2));
    /// # Ok::<(), yearbook_sdk::Error>(())
    /// ```
    pub fn children(&self) -> impl Iterator<Item = Column<'a>> + use<'a> {
        let (fields, arrays) = (&self.field.children, &self.array.children);
        fields.iter().zip(arrays).map(|(field, array)| Column::new(field, array))
    }

    /// The values of a dictionary-encoded column, also where lengths alone crossed.
    ///
    /// ```
    /// use yearbook_sdk::Values;
    /// use yearbook_sdk::testing::{Table, batches};
    ///
    /// let regions = [Some("north"), Some("south"), Some("north")];
    /// let table = Table::new().dictionary("region", &regions);
    /// let batch = batches(&table, true)?.remove(0);
    /// let column = batch.column(0);
    /// assert_eq!(column.dictionary_values().map(|values| values.length), Some(2));
    /// # Ok::<(), yearbook_sdk::Error>(())
    /// ```
    #[must_use]
    pub fn dictionary_values(&self) -> Option<Column<'a>> {
        let (field, dictionary) =
            (self.field.dictionary.as_deref()?, self.array.dictionary.as_ref()?);
        Some(Column::new(field, &dictionary.values))
    }

    /// Returns whether the row is not null. (A dictionary's values may still say null where its
    /// keys don't.)
    ///
    /// ```
    /// use yearbook_sdk::testing::{Table, batches};
    ///
    /// let table = Table::new()
    ///     .text("region", &[Some("north"), None])
    ///     .numbers("value", &[Some(1.5), Some(2.0)]);
    /// let batch = batches(&table, false)?.remove(0);
    /// assert!(batch.column(0).is_valid(0) && !batch.column(0).is_valid(1));
    /// # Ok::<(), yearbook_sdk::Error>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn is_valid(&self, row: usize) -> bool {
        match &self.validity {
            Some(bits) => bits.get(row),
            None => !matches!(self.values, Values::Null),
        }
    }

    /// The text of a row; `None` when it is null, the column does not hold text, or the text stays
    /// with the host.
    ///
    /// ```
    /// use yearbook_sdk::testing::{Table, batches};
    ///
    /// let table = Table::new()
    ///     .text("region", &[Some("north"), None])
    ///     .numbers("value", &[Some(1.5), Some(2.0)]);
    /// let batch = batches(&table, false)?.remove(0);
    /// assert_eq!(batch.column(0).text(0), Some("north"));
    /// assert_eq!(batch.column(1).text(0), None);
    /// # Ok::<(), yearbook_sdk::Error>(())
    /// ```
    #[must_use]
    pub fn text(&self, row: usize) -> Option<&str> {
        if !self.is_valid(row) {
            return None;
        }
        match &self.values {
            Values::Utf8(strings) => Some(raw::text(strings.bytes(row))),
            Values::LargeUtf8(strings) => Some(raw::text(strings.bytes(row))),
            Values::Dictionary(dictionary) => {
                dictionary.values.text(usize::try_from(dictionary.keys[row]).ok()?)
            }
            _ => None,
        }
    }

    /// The validity bitmap; `None` when no row is null.
    ///
    /// ```
    /// use yearbook_sdk::testing::{Table, batches};
    ///
    /// let table = Table::new()
    ///     .text("region", &[Some("north"), None])
    ///     .numbers("value", &[Some(1.5), Some(2.0)]);
    /// let batch = batches(&table, false)?.remove(0);
    /// assert!(batch.column(0).validity().is_some() && batch.column(1).validity().is_none());
    /// # Ok::<(), yearbook_sdk::Error>(())
    /// ```
    #[must_use]
    pub fn validity(&self) -> Option<&Bits<'a>> {
        self.validity.as_ref()
    }
}

impl<'a> Values<'a> {
    fn new(field: &'a Field, array: &'a ColumnBuffers) -> Self {
        let first = buffer(array, 1);
        let child = |index: usize| Column::new(&field.children[index], &array.children[index]);
        let children = || {
            field
                .children
                .iter()
                .zip(&array.children)
                .map(|(field, array)| Column::new(field, array))
                .collect()
        };
        match &field.data_type {
            DataType::Null => Self::Null,
            DataType::Boolean => Self::Boolean(Bits::new(first, array.length)),
            DataType::Int8 => Self::Int8(numbers(first)),
            DataType::UInt8 => Self::UInt8(numbers(first)),
            DataType::Int16 => Self::Int16(numbers(first)),
            DataType::UInt16 => Self::UInt16(numbers(first)),
            DataType::Int32 => Self::Int32(numbers(first)),
            DataType::UInt32 => Self::UInt32(numbers(first)),
            DataType::Int64 => Self::Int64(numbers(first)),
            DataType::UInt64 => Self::UInt64(numbers(first)),
            DataType::Float16 => Self::Float16(numbers(first)),
            DataType::Float32 => Self::Float32(numbers(first)),
            DataType::Float64 => Self::Float64(numbers(first)),
            DataType::Utf8 => Self::Utf8(Strings::new(first, buffer(array, 2))),
            DataType::LargeUtf8 => Self::LargeUtf8(Strings::new(first, buffer(array, 2))),
            DataType::Binary => Self::Binary(Strings::new(first, buffer(array, 2))),
            DataType::LargeBinary => Self::LargeBinary(Strings::new(first, buffer(array, 2))),
            DataType::FixedSizeBinary(width) => {
                Self::FixedSizeBinary { width: *width, bytes: first }
            }
            DataType::Date32 => Self::Date32(numbers(first)),
            DataType::Date64 => Self::Date64(numbers(first)),
            DataType::Time(unit @ (TimeUnit::Second | TimeUnit::Millisecond)) => {
                Self::Time32(*unit, numbers(first))
            }
            DataType::Time(unit) => Self::Time64(*unit, numbers(first)),
            DataType::Timestamp(unit, zone) => {
                Self::Timestamp { unit: *unit, zone, values: numbers(first) }
            }
            DataType::Duration(unit) => Self::Duration(*unit, numbers(first)),
            DataType::Decimal { scale, bits: 32, .. } => {
                Self::Decimal32 { scale: *scale, values: numbers(first) }
            }
            DataType::Decimal { scale, bits: 64, .. } => {
                Self::Decimal64 { scale: *scale, values: numbers(first) }
            }
            DataType::Decimal { scale, bits: 128, .. } => {
                Self::Decimal128 { scale: *scale, values: numbers(first) }
            }
            DataType::List => Self::List { offsets: numbers(first), items: Box::new(child(0)) },
            DataType::LargeList => {
                Self::LargeList { offsets: numbers(first), items: Box::new(child(0)) }
            }
            DataType::FixedSizeList(width) => {
                Self::FixedSizeList { width: *width, items: Box::new(child(0)) }
            }
            DataType::Map => Self::Map { offsets: numbers(first), entries: Box::new(child(0)) },
            DataType::Struct => Self::Struct(children()),
            _ => Self::Other { buffers: &array.buffers, children: children() },
        }
    }
}

/// A buffer of an array; empty when the host left it out.
fn buffer(array: &ColumnBuffers, index: usize) -> &[u8] {
    array.buffers.get(index).map_or(&[], Vec::as_slice)
}
