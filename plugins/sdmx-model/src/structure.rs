//! Tables that are dataflows, and the parts that their columns have there.

mod attributes;
mod decline;

use crate::{component_id, encode};

use attributes::StatusOf;
pub use attributes::{Attribute, CONF_STATUS, OBS_STATUS};
pub use decline::Decline;

/// Id of the dimension of time.
pub const TIME_PERIOD: &str = "TIME_PERIOD";
/// Id of the one measure.
pub const OBS_VALUE: &str = "OBS_VALUE";
/// Id of the dimension that tells the columns of values of a wide table apart.
pub const MEASURE: &str = "MEASURE";
/// Values of a column of the key at most.
pub const MAX_CODES: u32 = 10_000;

/// Type of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueType {
    /// Text.
    Text,
    /// Integers.
    Integer,
    /// Numbers.
    Number,
    /// Booleans.
    Boolean,
    /// Dates.
    Date,
}

/// Purpose of a column, as far as SDMX cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The dates that `start` and `end` filter.
    Date,
    /// Period codes.
    Period,
    /// Measured values.
    Value,
    /// Geometry, which is never sent.
    Geometry,
    /// Flags of values.
    Status,
    /// Anything else.
    Other,
}

impl Role {
    /// The role of a name; one that is not known is [`Role::Other`].
    ///
    /// ```
    /// use yearbook_sdmx_model::Role;
    ///
    /// assert_eq!(Role::parse("status"), Role::Status);
    /// assert_eq!(Role::parse("key"), Role::Other);
    /// ```
    #[must_use]
    pub fn parse(name: &str) -> Self {
        match name {
            "date" => Self::Date,
            "period" => Self::Period,
            "value" => Self::Value,
            "geometry" => Self::Geometry,
            "status" => Self::Status,
            _ => Self::Other,
        }
    }
}

/// Facts about a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column<'a> {
    /// Name, snake_case.
    pub name: &'a str,
    /// Its purpose.
    pub role: Role,
    /// Type of its values.
    pub value_type: ValueType,
    /// Columns that a status speaks of; all columns of values where there is none.
    pub of: Vec<&'a str>,
}

/// A dimension that is a column of the key. Its values are codes by [`encode`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dimension {
    /// Its id.
    pub id: String,
    /// Position of the column.
    pub column: usize,
}

/// The columns of time. A value is the period code where [`crate::has_sdmx_form`], else the date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Time {
    /// Position of the dates.
    pub date: usize,
    /// Position of the period codes.
    pub period: Option<usize>,
}

/// A column of values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measure {
    /// Its code in [`MEASURE`].
    pub code: String,
    /// Position of the column.
    pub column: usize,
}

/// Form of a component's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Representation {
    /// By a codelist: values are ids by [`encode`].
    Coded,
    /// As they are.
    Plain(ValueType),
}

/// A table as a structure of SDMX.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Structure {
    /// Columns of the key but for the time, in the order of the columns.
    pub dimensions: Vec<Dimension>,
    /// Set where [`MEASURE`] is a dimension too, after those.
    pub is_wide: bool,
    /// The last dimension, where the table has one.
    pub time: Option<Time>,
    /// The columns of values.
    pub measures: Vec<Measure>,
    /// Type of [`OBS_VALUE`].
    pub value_type: ValueType,
    /// The other columns, without geometry.
    pub attributes: Vec<Attribute>,
}

impl Structure {
    /// Finds what the columns are. `key` are names of columns; `is_wide` is set where the table has
    /// several columns of values, of which `columns` may be a part.
    ///
    /// ```
    /// use yearbook_sdmx_model::{Column, Role, Structure, ValueType};
    ///
    /// let column = |name, role| Column {
    ///     name,
    ///     role: Role::parse(role),
    ///     value_type: ValueType::Text,
    ///     of: Vec::new(),
    /// };
    /// let columns = [column("date", "date"), column("region", "key"), column("price", "value")];
    /// let structure = Structure::new(&columns, &["date", "region"], false)?;
    /// assert_eq!(structure.dimension_ids(), ["REGION", "TIME_PERIOD"]);
    /// # Ok::<(), yearbook_sdmx_model::Decline>(())
    /// ```
    ///
    /// # Errors
    /// The reason for which the table is no dataflow.
    pub fn new(columns: &[Column<'_>], key: &[&str], is_wide: bool) -> Result<Self, Decline> {
        let statuses = columns.iter().filter(|column| column.role == Role::Status);
        let statuses = statuses.map(|column| (column.name, column.of.clone()));
        Self::with_statuses(columns, statuses, key, is_wide)
    }

    /// The same of a part of a table's columns, with all statuses of the table, which decide
    /// together which ids they have.
    pub(crate) fn with_statuses<'a>(
        columns: &[Column<'_>],
        statuses: impl Iterator<Item = (&'a str, Vec<&'a str>)>,
        key: &[&str],
        is_wide: bool,
    ) -> Result<Self, Decline> {
        if key.is_empty() {
            return Err(Decline::NoKey);
        }
        let position = |name: &&str| columns.iter().position(|column| column.name == *name);
        if let Some(name) = key.iter().find(|name| position(name).is_none()) {
            return Err(Decline::KeyColumn((*name).to_owned()));
        }
        let with = |role| columns.iter().position(|column| column.role == role);
        // A financial year is no period in SDMX: without dates, period codes are values as others.
        let time = with(Role::Date).map(|date| Time { date, period: with(Role::Period) });
        let is_time =
            |at: usize| time.is_some_and(|time| time.date == at || time.period == Some(at));
        let in_key = |at: usize| key.contains(&columns[at].name);
        let id = |at: usize| {
            let name = columns[at].name;
            component_id(name).ok_or_else(|| Decline::Name(name.to_owned()))
        };
        let others = || (0..columns.len()).filter(|at| !is_time(*at));
        let dimension = |column| Ok(Dimension { id: id(column)?, column });
        let dimensions =
            others().filter(|at| in_key(*at)).map(dimension).collect::<Result<_, _>>()?;
        let values = || others().filter(|at| !in_key(*at) && columns[*at].role == Role::Value);
        let measure =
            |column: usize| Measure { code: encode(columns[column].name).into_owned(), column };
        let measures: Vec<Measure> = values().map(measure).collect();
        if measures.is_empty() {
            return Err(Decline::NoValues);
        }
        let types = values().map(|at| columns[at].value_type);
        let value_type = types.reduce(common_type).unwrap_or(ValueType::Number);
        let rest = others().filter(|at| !in_key(*at));
        let statuses: Vec<_> = statuses.map(|(column, of)| StatusOf { column, of }).collect();
        let attributes = attributes::find(columns, rest, &measures, &statuses)?;
        let is_wide = is_wide || measures.len() > 1;
        Ok(Self { dimensions, is_wide, time, measures, value_type, attributes })
    }

    /// Ids of all dimensions, in the order of a key.
    ///
    /// ```
    /// use yearbook_sdmx_model::{Column, Role, Structure, ValueType};
    ///
    /// let column = |name, role| Column {
    ///     name,
    ///     role: Role::parse(role),
    ///     value_type: ValueType::Number,
    ///     of: Vec::new(),
    /// };
    /// let columns = [column("name", "key"), column("area", "value"), column("people", "value")];
    /// let structure = Structure::new(&columns, &["name"], true)?;
    /// assert_eq!(structure.dimension_ids(), ["NAME", "MEASURE"]);
    /// # Ok::<(), yearbook_sdmx_model::Decline>(())
    /// ```
    #[must_use]
    pub fn dimension_ids(&self) -> Vec<&str> {
        let mut ids: Vec<&str> = self.dimensions.iter().map(|dimension| &*dimension.id).collect();
        ids.extend(self.is_wide.then_some(MEASURE));
        ids.extend(self.time.map(|_| TIME_PERIOD));
        ids
    }

    /// Checks that every column of the key has few values. `distinct` is the number of a column's
    /// values, `None` where they are too many to be counted.
    ///
    /// ```
    /// use yearbook_sdmx_model::{Column, Role, Structure, ValueType};
    ///
    /// let column = |name, role| Column {
    ///     name,
    ///     role: Role::parse(role),
    ///     value_type: ValueType::Number,
    ///     of: Vec::new(),
    /// };
    /// let columns = [column("name", "key"), column("area", "value")];
    /// let structure = Structure::new(&columns, &["name"], false)?;
    /// assert!(structure.check_codes(|_| Some(10_000)).is_ok());
    /// assert!(structure.check_codes(|_| None).is_err());
    /// # Ok::<(), yearbook_sdmx_model::Decline>(())
    /// ```
    ///
    /// # Errors
    /// [`Decline::ManyValues`].
    pub fn check_codes(&self, distinct: impl Fn(usize) -> Option<u32>) -> Result<(), Decline> {
        let is_long = |dimension: &&Dimension| {
            distinct(dimension.column).is_none_or(|count| count > MAX_CODES)
        };
        match self.dimensions.iter().find(is_long) {
            None => Ok(()),
            Some(dimension) => Err(Decline::ManyValues(dimension.id.clone())),
        }
    }
}

/// The type that holds values of both.
fn common_type(one: ValueType, other: ValueType) -> ValueType {
    match (one, other) {
        _ if one == other => one,
        (ValueType::Integer | ValueType::Number, ValueType::Integer | ValueType::Number) => {
            ValueType::Number
        }
        _ => ValueType::Text,
    }
}

#[cfg(test)]
mod tests;
