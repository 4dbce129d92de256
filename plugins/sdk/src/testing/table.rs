//! Tables from Rust values.

mod codes;

use std::ops::Range;

use super::data::Data;
use crate::view::Crossing;
use crate::{View, wire};

/// Places of a furnished table.
const PLACES: [&str; 8] = ["north", "south", "east", "west", "centre", "coast", "hills", "islands"];

/// Days of a furnished table: as many as a column may have values that are told.
const DAYS: usize = 10_000;

/// A table to encode. Columns are added one by one and must all have the same number of rows.
///
/// ```
/// use yearbook_sdk::testing::Table;
///
/// let table = Table::new().text("region", &[Some("north"), None]);
/// let table = table.integers("n", &[Some(1), Some(2)]);
/// assert_eq!(table.rows(), 2);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Table {
    columns: Vec<(String, Data)>,
    metadata: Vec<(String, String)>,
    /// Column, key and value.
    about: Vec<(String, String, String)>,
    /// Column and its values, where more are known than the rows have.
    known: Vec<(String, Vec<String>)>,
    rows: usize,
    batch_rows: Option<usize>,
}

impl Table {
    /// A table without columns.
    ///
    /// ```
    /// use yearbook_sdk::testing::Table;
    ///
    /// let table = Table::new();
    /// assert_eq!(table.rows(), 0);
    /// ```
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a text column.
    ///
    /// ```
    /// use yearbook_sdk::testing::Table;
    ///
    /// let table = Table::new().text("region", &[Some("north"), None]);
    /// assert_eq!(table.rows(), 2);
    /// ```
    #[must_use]
    pub fn text<T: AsRef<str>>(self, name: &str, values: &[Option<T>]) -> Self {
        self.with(name, Data::Variable { format: "u", cells: owned(values) })
    }

    /// Adds a text column that the host would dictionary-encode.
    ///
    /// ```
    /// use yearbook_sdk::testing::Table;
    ///
    /// let table = Table::new().dictionary("region", &[Some("north"), Some("north")]);
    /// assert_eq!(table.rows(), 2);
    /// ```
    #[must_use]
    pub fn dictionary<T: AsRef<str>>(self, name: &str, values: &[Option<T>]) -> Self {
        self.with(name, Data::dictionary(owned(values)))
    }

    /// Adds a column of 64-bit integers.
    ///
    /// ```
    /// use yearbook_sdk::testing::Table;
    ///
    /// let table = Table::new().integers("n", &[Some(1), None]);
    /// assert_eq!(table.rows(), 2);
    /// ```
    #[must_use]
    pub fn integers(self, name: &str, values: &[Option<i64>]) -> Self {
        let cells =
            values.iter().map(|value| value.map(|value| value.to_le_bytes().to_vec())).collect();
        self.fixed(name, "l", 8, cells)
    }

    /// Adds a column of 64-bit floats.
    ///
    /// ```
    /// use yearbook_sdk::testing::Table;
    ///
    /// let table = Table::new().numbers("value", &[Some(f64::NAN), None]);
    /// assert_eq!(table.rows(), 2);
    /// ```
    #[must_use]
    pub fn numbers(self, name: &str, values: &[Option<f64>]) -> Self {
        let cells =
            values.iter().map(|value| value.map(|value| value.to_le_bytes().to_vec())).collect();
        self.fixed(name, "g", 8, cells)
    }

    /// Adds a column of booleans.
    ///
    /// ```
    /// use yearbook_sdk::testing::Table;
    ///
    /// let table = Table::new().booleans("final", &[Some(true), None]);
    /// assert_eq!(table.rows(), 2);
    /// ```
    #[must_use]
    pub fn booleans(self, name: &str, values: &[Option<bool>]) -> Self {
        self.with(name, Data::Boolean(values.to_vec()))
    }

    /// Adds a column of any type of fixed width, by its format string in the Arrow C data interface
    /// and the little-endian bytes of each value.
    ///
    /// ```
    /// use yearbook_sdk::testing::Table;
    ///
    /// let table = Table::new().fixed("small", "s", 2, vec![Some(vec![1, 0]), None]);
    /// assert_eq!(table.rows(), 2);
    /// ```
    ///
    /// # Panics
    /// Panics when a value is not `width` bytes long.
    #[must_use]
    pub fn fixed(
        self,
        name: &str,
        format: &str,
        width: usize,
        cells: Vec<Option<Vec<u8>>>,
    ) -> Self {
        assert!(
            cells.iter().flatten().all(|cell| cell.len() == width),
            "a value of `{name}` is not {width} bytes long"
        );
        self.with(name, Data::Fixed { format: format.to_owned(), width, cells })
    }

    /// Adds a column of variable length: `u`, `U` (then the bytes must be UTF-8), `z` or `Z`.
    ///
    /// ```
    /// use yearbook_sdk::testing::Table;
    ///
    /// let table = Table::new().variable("blob", "z", vec![Some(vec![0xff]), None]);
    /// assert_eq!(table.rows(), 2);
    /// ```
    ///
    /// # Panics
    /// Panics when text is not UTF-8, or the format is another one.
    #[must_use]
    pub fn variable(self, name: &str, format: &'static str, cells: Vec<Option<Vec<u8>>>) -> Self {
        assert!(
            matches!(format, "u" | "U" | "z" | "Z"),
            "`{format}` is not a type of variable length"
        );
        let is_text = matches!(format, "u" | "U");
        assert!(
            !is_text || cells.iter().flatten().all(|cell| str::from_utf8(cell).is_ok()),
            "a value of `{name}` is not UTF-8"
        );
        self.with(name, Data::Variable { format, cells })
    }

    /// Adds a column of lists of integers.
    ///
    /// ```
    /// use yearbook_sdk::testing::Table;
    ///
    /// let table = Table::new().lists("n", &[Some(vec![1, 2]), None]);
    /// assert_eq!(table.rows(), 2);
    /// ```
    #[must_use]
    pub fn lists(self, name: &str, values: &[Option<Vec<i64>>]) -> Self {
        self.with(name, Data::List(values.to_vec()))
    }

    /// Adds a column of structs whose fields are the columns of another table.
    ///
    /// ```
    /// use yearbook_sdk::testing::Table;
    ///
    /// let point = Table::new().numbers("x", &[Some(1.0)]).numbers("y", &[Some(2.0)]);
    /// let table = Table::new().structs("point", point, &[true]);
    /// assert_eq!(table.rows(), 1);
    /// ```
    ///
    /// # Panics
    /// Panics when the other table has another number of rows.
    #[must_use]
    pub fn structs(self, name: &str, fields: Table, valid: &[bool]) -> Self {
        assert_eq!(fields.rows, valid.len(), "the fields of `{name}` have another number of rows");
        self.with(name, Data::Struct { fields: fields.columns, valid: valid.to_vec() })
    }

    /// Adds a column of nulls.
    ///
    /// ```
    /// use yearbook_sdk::testing::Table;
    ///
    /// let table = Table::new().nulls("nothing", 2);
    /// assert_eq!(table.rows(), 2);
    /// ```
    #[must_use]
    pub fn nulls(self, name: &str, rows: usize) -> Self {
        self.with(name, Data::Null(rows))
    }

    /// Adds an entry to the schema's metadata, such as `yearbook.source`.
    ///
    /// ```
    /// use yearbook_sdk::testing::Table;
    ///
    /// let table = Table::new().metadata("yearbook.source", "Stats NZ");
    /// assert_eq!(table.rows(), 0);
    /// ```
    #[must_use]
    pub fn metadata(mut self, key: &str, value: &str) -> Self {
        self.metadata.push((key.to_owned(), value.to_owned()));
        self
    }

    /// Adds an entry to a column's metadata, such as `yearbook.role`.
    ///
    /// ```
    /// use yearbook_sdk::testing::Table;
    ///
    /// let table = Table::new().text("day", &[Some("2026-01-31")]);
    /// let table = table.about("day", "yearbook.type", "date");
    /// assert_eq!(table.rows(), 1);
    /// ```
    ///
    /// # Panics
    /// Panics when there is no such column.
    #[must_use]
    pub fn about(mut self, column: &str, key: &str, value: &str) -> Self {
        assert!(
            self.columns.iter().any(|(name, _)| name == column),
            "there is no column `{column}`"
        );
        self.about.push((column.to_owned(), key.to_owned(), value.to_owned()));
        self
    }

    /// The same with what a format may ask of a dataset: a column each of the roles geometry, date,
    /// dimension and value, behind those that are there.
    ///
    /// ```
    /// use yearbook_sdk::generator::Role;
    /// use yearbook_sdk::testing::{Table, batches};
    ///
    /// let table = Table::new().integers("n", &[Some(1)]).furnished();
    /// let batch = batches(&table, false)?.remove(0);
    /// assert!(batch.schema().position(Role::Geometry).is_some());
    /// # Ok::<(), yearbook_sdk::Error>(())
    /// ```
    #[must_use]
    pub fn furnished(self) -> Self {
        let rows = 0..self.rows;
        let day_of = |number: usize| {
            let (year, month) = (number / 336 % 100, number / 28 % 12 + 1);
            Some(format!("20{year:02}-{month:02}-{:02}", number % 28 + 1))
        };
        let point = |row: usize| {
            (!row.is_multiple_of(5)).then(|| format!("MULTIPOINT ({}.5 -36.25)", row % 180))
        };
        // Day and place are a key of 80,000 rows: where days begin again, places have moved on.
        let day = |row: usize| day_of(row % DAYS);
        let place = |row: usize| Some(PLACES[(row + row / DAYS) % PLACES.len()]);
        let table = self
            .text("a_geometry", &rows.clone().map(point).collect::<Vec<_>>())
            .text("a_day", &rows.clone().map(day).collect::<Vec<_>>())
            .dictionary("a_place", &rows.clone().map(place).collect::<Vec<_>>())
            .numbers(
                "a_value",
                &rows.map(|row| (!row.is_multiple_of(3)).then_some(0.25)).collect::<Vec<_>>(),
            )
            .about("a_day", "yearbook.type", "date")
            .metadata("yearbook.primary_key", r#"["a_day","a_place"]"#);
        let roles = [
            ("a_geometry", "geometry"),
            ("a_day", "date"),
            ("a_place", "dimension"),
            ("a_value", "value"),
        ];
        roles
            .into_iter()
            .fold(table, |table, (column, role)| table.about(column, "yearbook.role", role))
    }

    /// Cuts the table into batches of so many rows; one batch otherwise.
    ///
    /// ```
    /// use yearbook_sdk::testing::{Table, batches};
    ///
    /// let table = Table::new().integers("n", &[Some(1), Some(2), Some(3)]).batches_of(2);
    /// assert_eq!(batches(&table, false)?.len(), 2);
    /// # Ok::<(), yearbook_sdk::Error>(())
    /// ```
    #[must_use]
    pub fn batches_of(mut self, rows: usize) -> Self {
        self.batch_rows = Some(rows.max(1));
        self
    }

    /// Number of its rows.
    ///
    /// ```
    /// use yearbook_sdk::testing::Table;
    ///
    /// let table = Table::new().integers("n", &[Some(1), None]);
    /// assert_eq!(table.rows(), 2);
    /// ```
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    pub(super) fn with(mut self, name: &str, data: Data) -> Self {
        let rows = data.rows();
        assert!(
            self.columns.is_empty() || self.rows == rows,
            "`{name}` has {rows} rows, the columns before it {}",
            self.rows
        );
        self.rows = rows;
        self.columns.push((name.to_owned(), data));
        self
    }

    pub(crate) fn batches(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let (rows, step) = (self.rows, self.batch_rows.unwrap_or(self.rows.max(1)));
        (0..rows).step_by(step).map(move |start| start..rows.min(start + step))
    }

    pub(crate) fn wire_schema(&self, dictionaries: bool) -> wire::RawSchema {
        let mut schema = wire::RawSchema { fields: Vec::new(), metadata: self.metadata.clone() };
        for (name, data) in &self.columns {
            let first = schema.fields.len();
            data.describe(name, dictionaries, &mut schema.fields);
            let about = self.about.iter().filter(|(column, ..)| column == name);
            schema.fields[first].metadata =
                about.map(|(_, key, value)| (key.clone(), value.clone())).collect();
        }
        schema
    }

    pub(crate) fn wire_batch(
        &self,
        rows: Range<usize>,
        dictionaries: bool,
        repeated: bool,
        views: &[View],
    ) -> wire::RawBatch {
        let mut batch =
            wire::RawBatch { rows: super::data::count(rows.len()), ..wire::RawBatch::default() };
        for (position, (_, data)) in self.columns.iter().enumerate() {
            let View { plain, crossing } = views.get(position).copied().unwrap_or(View::WHOLE);
            let repeated = repeated && crossing == Crossing::Whole;
            data.lower(rows.clone(), dictionaries && !plain, repeated, &mut batch);
        }
        batch
    }
}

fn owned<T: AsRef<str>>(values: &[Option<T>]) -> Vec<Option<Vec<u8>>> {
    values
        .iter()
        .map(|value| value.as_ref().map(|value| value.as_ref().as_bytes().to_vec()))
        .collect()
}
