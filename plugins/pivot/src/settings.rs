//! A request for a pivot: the options, and the columns of a table that they mean.

use yearbook_sdk::generator::Role;
use yearbook_sdk::transform::{MadeType, Need, Needs, TransformError};
use yearbook_sdk::{DataType, Field, Options, Schema};
use yearbook_series::{TimeAxis, is_status, position};

/// A request for a pivot: positions of columns.
#[derive(Debug)]
pub(crate) struct Settings {
    /// The column whose values become columns.
    pub(crate) column: usize,
    /// The column of the values in these columns.
    pub(crate) value: usize,
    pub(crate) value_type: MadeType,
    /// The dates and the periods of the rows; none where these become columns.
    pub(crate) date: Option<usize>,
    pub(crate) period: Option<usize>,
    /// The other columns, which tell rows apart.
    pub(crate) others: Vec<usize>,
}

impl Settings {
    pub(crate) fn new(schema: &Schema, options: &Options) -> Result<Self, TransformError> {
        let column = read_column(schema, options.text("column")?)?;
        let value = read_value(schema, column, options.text("value")?)?;
        let field = &schema.fields[value];
        let value_type = match field.value_type() {
            DataType::Utf8 | DataType::LargeUtf8 => MadeType::Text,
            DataType::Int64 => MadeType::Integer,
            DataType::Float64 => MadeType::Number,
            DataType::Boolean => MadeType::Boolean,
            _ => {
                let sentence = format!("`{}` has values that no column can have", field.name);
                return Err(TransformError::invalid_option("value", sentence));
            }
        };
        let TimeAxis { date, period, .. } = TimeAxis::from_schema(schema);
        let is_time = |at: usize| date == Some(at) || period == Some(at);
        // The time at which a revision ended follows from the next one.
        let is_of_revisions = schema.fields[column].name == "_valid_from";
        let is_other = |at: &usize| {
            let field = &schema.fields[*at];
            let goes = field.role() == Some(Role::Value)
                || is_status(field)
                || (is_of_revisions && field.name == "_valid_to");
            !goes && *at != column && *at != value && !is_time(*at)
        };
        let others = (0..schema.fields.len()).filter(is_other).collect();
        // Each date has one period as a rule, so one of them alone would keep rows apart.
        let (date, period) = if is_time(column) { (None, None) } else { (date, period) };
        let of_rows = |at: &usize| *at != value;
        let (date, period) = (date.filter(of_rows), period.filter(of_rows));
        Ok(Self { column, value, value_type, date, period, others })
    }

    pub(crate) fn needs(&self) -> Needs {
        let cell = [Need::coded(self.column), Need::plain(self.value)];
        let date = self.date.map(Need::days);
        let period = self.period.map(Need::plain);
        Needs {
            columns: cell.into_iter().chain(date).chain(period).collect(),
            groups: Some(self.others.clone()),
            ..Needs::default()
        }
    }
}

fn read_column(schema: &Schema, name: &str) -> Result<usize, TransformError> {
    let refuse = |sentence: String| Err(TransformError::invalid_option("column", sentence));
    if name.is_empty() {
        return refuse("is required: the column whose values become columns".to_owned());
    }
    let column = position(schema, "column", name)?;
    if can_be_coded(&schema.fields[column]) {
        return Ok(column);
    }
    // Values of these are not stored, whatever their type.
    let is_none = |field: &Field| matches!(field.role(), Some(Role::Value | Role::Geometry));
    let others = schema.fields.iter().filter(|field| can_be_coded(field) && !is_none(field));
    let names: Vec<&str> = others.take(40).map(|field| field.name.as_str()).collect();
    refuse(format!(
        "`{name}` holds neither text nor integers nor booleans, which alone can become columns; \
         these can: {}",
        names.join(", ")
    ))
}

/// Returns whether a column has a type of which distinct values are stored.
fn can_be_coded(field: &Field) -> bool {
    matches!(field.value_type(), DataType::Utf8 | DataType::Int64 | DataType::Boolean)
}

fn read_value(schema: &Schema, column: usize, name: &str) -> Result<usize, TransformError> {
    let refuse = |sentence: String| Err(TransformError::invalid_option("value", sentence));
    if !name.is_empty() {
        let value = position(schema, "value", name)?;
        if value == column {
            return refuse(
                "is the column whose values become columns; name another one".to_owned(),
            );
        }
        return Ok(value);
    }
    let fields = schema.fields.iter().enumerate();
    let is_value =
        |(at, field): &(usize, &Field)| field.role() == Some(Role::Value) && *at != column;
    let values: Vec<(usize, &Field)> = fields.filter(is_value).collect();
    match values[..] {
        [(value, _)] => Ok(value),
        [] => {
            let sentence = "there is no value column; name one in `pivot.value`".to_owned();
            Err(TransformError::UnsupportedSchema(sentence))
        }
        _ => {
            let names: Vec<&str> =
                values.iter().take(40).map(|(_, field)| field.name.as_str()).collect();
            refuse(format!("is required where there are several: {}", names.join(", ")))
        }
    }
}
