//! The trait behind an input format, and what it gives: columns, rows, and refusals with a place.

mod cell;
mod columns;
mod missing_values;
mod period;
pub(crate) mod reading;
mod refusal;
mod row_builder;

pub use columns::{ColumnMatch, match_columns, match_qualified_columns, snake_case};
pub use missing_values::MissingValues;
pub use period::{PeriodError, TimePeriod};
pub use refusal::{FilePlace, ReadFault, ReadRefusal};
pub use row_builder::RowBuilder;

use crate::generator::Role;
use crate::{Options, Parameter};

/// An input format: bytes of a file in, rows out. One value reads one file.
///
/// # Example
/// ```
/// use yearbook_sdk::reader::{
///     ColumnMatch, ColumnRequest, ReadColumn, ReadRefusal, ReaderDescription, RowBuilder,
///     match_columns,
/// };
/// use yearbook_sdk::testing::reading::read;
/// use yearbook_sdk::{Options, Reader};
///
/// /// One line a row, one column.
/// struct Lines {
///     columns: Vec<ColumnMatch>,
///     pending: String,
/// }
///
/// impl Reader for Lines {
///     fn describe() -> ReaderDescription {
///         ReaderDescription {
///             format: "lines",
///             version: "0.1.0",
///             title: "Lines of text",
///             parameters: vec![],
///             example: b"north\nsouth\n",
///             docs: "One line a row, in the column `line`.",
///         }
///     }
///     fn open(requests: &[ColumnRequest], _: &Options) -> Result<Self, ReadRefusal> {
///         Ok(Self { columns: match_columns(&["line"], requests)?, pending: String::new() })
///     }
///     fn push(&mut self, bytes: &[u8], _last: bool) -> Result<(), ReadRefusal> {
///         self.pending.push_str(&String::from_utf8_lossy(bytes));
///         Ok(())
///     }
///     fn columns(&self) -> Option<Vec<ReadColumn>> {
///         Some(self.columns.iter().map(ReadColumn::from).collect())
///     }
///     fn pull(&mut self, rows: &mut RowBuilder) -> Result<(), ReadRefusal> {
///         while let Some((line, rest)) = self.pending.split_once('\n') {
///             if rows.is_full() {
///                 break;
///             }
///             for at in 0..self.columns.len() {
///                 rows.text(at, line);
///             }
///             rows.end_row();
///             self.pending = rest.to_owned();
///         }
///         Ok(())
///     }
/// }
///
/// let table = read::<Lines>(b"north\nsouth\n", &[], &[]).unwrap();
/// assert_eq!(table.rows[1], [Some("south".to_owned())]);
/// ```
pub trait Reader: Sized + 'static {
    /// Says what the plugin reads. Called once when the plugin is loaded.
    fn describe() -> ReaderDescription;

    /// Begins a file. Without requests the reader gives every column, of whatever type it thinks.
    ///
    /// # Errors
    /// [`ReadRefusal::InvalidOption`] as a rule: nothing of the file is known yet.
    fn open(requests: &[ColumnRequest], options: &Options) -> Result<Self, ReadRefusal>;

    /// Takes the next bytes of the file; `last` where no more follow. The last bytes may be none.
    ///
    /// # Errors
    /// [`ReadRefusal`].
    fn push(&mut self, bytes: &[u8], last: bool) -> Result<(), ReadRefusal>;

    /// The columns, as soon as they are known, one for each request and in their order; at the
    /// latest after the last bytes. The same from then on.
    fn columns(&self) -> Option<Vec<ReadColumn>>;

    /// Adds rows until `rows` is full, more bytes are needed, or the file ends. Called after the
    /// columns are known, and again as long as it adds something.
    ///
    /// # Errors
    /// [`ReadRefusal`].
    fn pull(&mut self, rows: &mut RowBuilder) -> Result<(), ReadRefusal>;
}

/// Description of a reader; must be the same every time. The rules for each field stand in
/// `wit/1.1.0/reader.wit`, and the host checks them when the plugin is installed.
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
/// use yearbook_sdk::testing::reading;
///
/// assert_eq!(Lines::describe().format, "lines");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReaderDescription {
    /// Name that a data package writes in `resources[0].format`: `[a-z][a-z0-9_-]*`, at most 32
    /// characters.
    pub format: &'static str,
    /// The plugin's own version, semantic versioning.
    pub version: &'static str,
    /// The format's name as its makers write it.
    pub title: &'static str,
    /// Options of a data package under `yearbook.reader_options`, at most 32.
    pub parameters: Vec<Parameter>,
    /// A small file of the format, at most 64 KiB, that the reader reads with its default options.
    /// `yearbook plugin check` tries it whole, in pieces, cut off and damaged.
    pub example: &'static [u8],
    /// A paragraph for the documentation.
    pub docs: &'static str,
}

/// Type that the values of a requested column are to have.
///
/// ```
/// use yearbook_sdk::reader::{ReadType, RequestedType};
///
/// assert_eq!(ReadType::from(RequestedType::Date), ReadType::Text);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestedType {
    /// UTF-8, as the file has it.
    Text,
    /// A 64-bit integer.
    Integer,
    /// A 64-bit float.
    Number,
    /// A boolean.
    Boolean,
    /// Text `YYYY-MM-DD`. Of a period of time its first day, unless an option says otherwise.
    Date,
    /// Text `YYYY`, `YYYY-Qn`, `YYYY-MM` or `YYYY/YY`.
    Period,
}

/// A column that a data package asks for.
///
/// ```
/// use yearbook_sdk::reader::{ColumnRequest, RequestedType};
///
/// let request = ColumnRequest {
///     name: "area".to_owned(),
///     source: Some("REF_AREA".to_owned()),
///     requested_type: RequestedType::Text,
/// };
/// assert_eq!(request.source.as_deref(), Some("REF_AREA"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnRequest {
    /// Its name there: snake_case.
    pub name: String,
    /// Its name in the file, where the package says it; otherwise the column is found by `name`.
    pub source: Option<String>,
    /// Type of its values.
    pub requested_type: RequestedType,
}

/// Type of the values that a reader gives.
///
/// ```
/// use yearbook_sdk::reader::ReadType;
///
/// assert_eq!(ReadType::Number.format(), "g");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum ReadType {
    /// Dates and periods too.
    Text,
    Integer,
    Number,
    Boolean,
}

impl ReadType {
    /// The format string of the Arrow C data interface.
    ///
    /// ```
    /// use yearbook_sdk::reader::ReadType;
    ///
    /// assert_eq!(ReadType::Number.format(), "g");
    /// ```
    #[must_use]
    pub fn format(self) -> &'static str {
        match self {
            Self::Text => "u",
            Self::Integer => "l",
            Self::Number => "g",
            Self::Boolean => "b",
        }
    }
}

impl From<RequestedType> for ReadType {
    fn from(requested: RequestedType) -> Self {
        match requested {
            RequestedType::Text | RequestedType::Date | RequestedType::Period => Self::Text,
            RequestedType::Integer => Self::Integer,
            RequestedType::Number => Self::Number,
            RequestedType::Boolean => Self::Boolean,
        }
    }
}

/// A column that a reader gives.
///
/// ```
/// use yearbook_sdk::reader::{ReadColumn, ReadType};
///
/// let value = ReadColumn {
///     name: "value".to_owned(),
///     read_type: ReadType::Number,
///     role: None,
///     unit: Some("tonnes".to_owned()),
///     description: None,
/// };
/// assert_eq!(value.read_type.format(), "g");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadColumn {
    /// Name that was requested; without requests the file's own.
    pub name: String,
    /// Type of its values.
    pub read_type: ReadType,
    /// Role, where the file tells.
    pub role: Option<Role>,
    /// Unit of the values, where the file tells.
    pub unit: Option<String>,
    /// One sentence about it, where the file tells.
    pub description: Option<String>,
}

impl From<&ColumnMatch> for ReadColumn {
    fn from(found: &ColumnMatch) -> Self {
        Self {
            name: found.name.clone(),
            read_type: found.requested_type.into(),
            role: None,
            unit: None,
            description: None,
        }
    }
}
