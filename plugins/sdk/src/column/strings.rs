//! Values of variable length, and bitmaps.

use std::borrow::Cow;

use crate::raw::{Pod, numbers};

/// Text or binary values: offsets into one buffer.
///
/// ```
/// use yearbook_sdk::Values;
/// use yearbook_sdk::testing::{Table, batches};
///
/// let table = Table::new().text("region", &[Some("north"), Some("south")]);
/// let batch = batches(&table, false)?.remove(0);
/// let column = batch.column(0);
/// let Values::Utf8(strings) = &column.values else { unreachable!("a column of text") };
/// assert_eq!(strings.bytes(1), b"south");
/// # Ok::<(), yearbook_sdk::Error>(())
/// ```
#[derive(Debug)]
pub struct Strings<'a, O: Pod> {
    offsets: Cow<'a, [O]>,
    bytes: &'a [u8],
}

/// An offset of Arrow's: 32 or 64 bits, never negative.
///
/// ```
/// use yearbook_sdk::column::Offset;
///
/// assert_eq!((7_i32.index(), 7_i64.index()), (7, 7));
/// ```
pub trait Offset: Pod {
    /// As an index.
    fn index(self) -> usize;
}

impl Offset for i32 {
    #[inline]
    fn index(self) -> usize {
        usize::try_from(self).unwrap_or(0)
    }
}

impl Offset for i64 {
    #[inline]
    fn index(self) -> usize {
        usize::try_from(self).unwrap_or(0)
    }
}

impl<'a, O: Offset> Strings<'a, O> {
    pub(crate) fn new(offsets: &'a [u8], bytes: &'a [u8]) -> Self {
        Self { offsets: numbers(offsets), bytes }
    }

    /// Position of a row's value in [`Strings::buffer`]: start and length.
    ///
    /// ```
    /// use yearbook_sdk::Values;
    /// use yearbook_sdk::testing::{Table, batches};
    ///
    /// let table = Table::new().text("region", &[Some("north"), Some("south")]);
    /// let batch = batches(&table, false)?.remove(0);
    /// let column = batch.column(0);
    /// let Values::Utf8(strings) = &column.values else { unreachable!("a column of text") };
    /// assert_eq!(strings.range(1), (5, 5));
    /// # Ok::<(), yearbook_sdk::Error>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn range(&self, row: usize) -> (usize, usize) {
        let start = self.offsets[row].index();
        (start, self.offsets[row + 1].index() - start)
    }

    /// The bytes of a row.
    ///
    /// ```
    /// use yearbook_sdk::Values;
    /// use yearbook_sdk::testing::{Table, batches};
    ///
    /// let table = Table::new().text("region", &[Some("north"), Some("south")]);
    /// let batch = batches(&table, false)?.remove(0);
    /// let column = batch.column(0);
    /// let Values::Utf8(strings) = &column.values else { unreachable!("a column of text") };
    /// assert_eq!(strings.bytes(0), b"north");
    /// # Ok::<(), yearbook_sdk::Error>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn bytes(&self, row: usize) -> &'a [u8] {
        let (start, length) = self.range(row);
        &self.bytes[start..start + length]
    }

    /// Start of each value in [`Strings::buffer`], and the end of the last one.
    ///
    /// ```
    /// use yearbook_sdk::Values;
    /// use yearbook_sdk::testing::{Table, batches};
    ///
    /// let table = Table::new().text("region", &[Some("north"), Some("south")]);
    /// let batch = batches(&table, false)?.remove(0);
    /// let column = batch.column(0);
    /// let Values::Utf8(strings) = &column.values else { unreachable!("a column of text") };
    /// assert_eq!(strings.offsets(), [0, 5, 10]);
    /// # Ok::<(), yearbook_sdk::Error>(())
    /// ```
    #[must_use]
    pub fn offsets(&self) -> &[O] {
        &self.offsets
    }

    /// All values, one after the other, without a mark between them.
    ///
    /// ```
    /// use yearbook_sdk::Values;
    /// use yearbook_sdk::testing::{Table, batches};
    ///
    /// let table = Table::new().text("region", &[Some("north"), Some("south")]);
    /// let batch = batches(&table, false)?.remove(0);
    /// let column = batch.column(0);
    /// let Values::Utf8(strings) = &column.values else { unreachable!("a column of text") };
    /// assert_eq!(strings.buffer(), b"northsouth");
    /// # Ok::<(), yearbook_sdk::Error>(())
    /// ```
    #[must_use]
    pub fn buffer(&self) -> &'a [u8] {
        let end = self.offsets.last().map_or(0, |end| end.index());
        &self.bytes[..end]
    }
}

/// A bitmap, least significant bit first.
///
/// ```
/// use yearbook_sdk::testing::{Table, batches};
///
/// let table = Table::new().integers("n", &[Some(1), None, Some(3)]);
/// let batch = batches(&table, false)?.remove(0);
/// let column = batch.column(0);
/// let validity = column.validity().expect("one row is null");
/// assert!(validity.get(0) && !validity.get(1));
/// # Ok::<(), yearbook_sdk::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Bits<'a> {
    bytes: &'a [u8],
    length: usize,
}

impl<'a> Bits<'a> {
    pub(crate) fn new(bytes: &'a [u8], length: usize) -> Self {
        Self { bytes, length }
    }

    /// The bit of a row.
    ///
    /// ```
    /// use yearbook_sdk::testing::{Table, batches};
    ///
    /// let table = Table::new().integers("n", &[Some(1), None, Some(3)]);
    /// let batch = batches(&table, false)?.remove(0);
    /// let column = batch.column(0);
    /// let validity = column.validity().expect("one row is null");
    /// assert!(!validity.get(1));
    /// # Ok::<(), yearbook_sdk::Error>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn get(&self, row: usize) -> bool {
        self.bytes[row / 8] >> (row % 8) & 1 == 1
    }

    /// The bytes, of which the last may be filled up with bits of any value.
    ///
    /// ```
    /// use yearbook_sdk::testing::{Table, batches};
    ///
    /// let table = Table::new().integers("n", &[Some(1), None, Some(3)]);
    /// let batch = batches(&table, false)?.remove(0);
    /// let column = batch.column(0);
    /// let validity = column.validity().expect("one row is null");
    /// assert_eq!(validity.bytes()[0] & 0b111, 0b101);
    /// # Ok::<(), yearbook_sdk::Error>(())
    /// ```
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Number of bits.
    ///
    /// ```
    /// use yearbook_sdk::testing::{Table, batches};
    ///
    /// let table = Table::new().integers("n", &[Some(1), None, Some(3)]);
    /// let batch = batches(&table, false)?.remove(0);
    /// let column = batch.column(0);
    /// let validity = column.validity().expect("one row is null");
    /// assert_eq!(validity.len(), 3);
    /// # Ok::<(), yearbook_sdk::Error>(())
    /// ```
    #[must_use]
    pub fn len(&self) -> usize {
        self.length
    }

    /// Returns whether there are none.
    ///
    /// ```
    /// use yearbook_sdk::testing::{Table, batches};
    ///
    /// let table = Table::new().integers("n", &[Some(1), None, Some(3)]);
    /// let batch = batches(&table, false)?.remove(0);
    /// let column = batch.column(0);
    /// let validity = column.validity().expect("one row is null");
    /// assert!(!validity.is_empty());
    /// # Ok::<(), yearbook_sdk::Error>(())
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }
}
