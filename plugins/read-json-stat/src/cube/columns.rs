//! Columns of a cube: those that the file has, and those that are asked for with the value that
//! each category has in them.

use yearbook_sdk::generator::Role;
use yearbook_sdk::reader::{
    ColumnMatch, FilePlace, ReadColumn, ReadRefusal, RequestedType, TimePeriod,
};

use super::checks::Dimension;
use super::px_time::spell_period;

/// Behind a dimension's id: the column of its labels.
const LABEL_SUFFIX: &str = " label";

/// A column that is asked for.
#[derive(Debug)]
pub(super) struct CubeColumn {
    pub(super) about: ReadColumn,
    pub(super) requested_type: RequestedType,
    pub(super) content: Content,
}

#[derive(Debug)]
pub(super) enum Content {
    /// The position of a dimension, and the value of each of its categories.
    Dimension(usize, Vec<Option<CategoryValue>>),
    Value,
    Status,
}

/// The value of a category in a column.
#[derive(Debug, Clone)]
pub(super) enum CategoryValue {
    Text(String),
    Integer(i64),
    Number(f64),
    Boolean(bool),
}

/// A column that the file has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileColumn {
    Codes(usize),
    Labels(usize),
    Value,
    Status,
}

impl FileColumn {
    pub(super) fn name(self, dimensions: &[Dimension]) -> String {
        match self {
            Self::Codes(at) => dimensions[at].id.clone(),
            Self::Labels(at) => format!("{}{LABEL_SUFFIX}", dimensions[at].id),
            Self::Value => "value".to_owned(),
            Self::Status => "status".to_owned(),
        }
    }

    /// The path in the file, which tells a dimension called `value` from the values.
    pub(super) fn path(self, dimensions: &[Dimension]) -> String {
        match self {
            Self::Codes(at) => format!("$.dimension.{}", dimensions[at].id),
            Self::Labels(at) => format!("$.dimension.{}.category.label", dimensions[at].id),
            Self::Value => "$.value".to_owned(),
            Self::Status => "$.status".to_owned(),
        }
    }
}

/// The unit of the only metric, if there is one.
pub(super) fn unit_of_value(metrics: &[String], dimensions: &[Dimension]) -> Option<String> {
    let [metric] = metrics else { return None };
    let dimension = dimensions.iter().find(|dimension| dimension.id == *metric)?;
    let [base, label, symbol] = dimension.unit.as_ref()?;
    let unit = base.as_ref().or(label.as_ref()).or(symbol.as_ref())?;
    (!unit.is_empty()).then(|| unit.clone())
}

pub(super) fn file_columns(dimensions: &[Dimension], has_status: bool) -> Vec<FileColumn> {
    let mut columns: Vec<FileColumn> = (0..dimensions.len()).map(FileColumn::Codes).collect();
    for (at, dimension) in dimensions.iter().enumerate() {
        if dimension.categories.iter().any(|(_, label)| label.is_some()) {
            columns.push(FileColumn::Labels(at));
        }
    }
    columns.push(FileColumn::Value);
    if has_status {
        columns.push(FileColumn::Status);
    }
    columns
}

pub(super) fn cube_column(
    found: ColumnMatch,
    column: FileColumn,
    dimensions: &[Dimension],
    unit: &Option<String>,
    last_day: bool,
) -> Result<CubeColumn, ReadRefusal> {
    let mut about = ReadColumn::from(&found);
    let requested = found.requested_type;
    let content = match column {
        FileColumn::Codes(at) | FileColumn::Labels(at) => {
            let dimension = &dimensions[at];
            let labels = matches!(column, FileColumn::Labels(_));
            about.role = Some(if labels { Role::Attribute } else { dimension.role });
            about.description = dimension.label.clone();
            let values = dimension.categories.iter().map(|(code, label)| {
                let text = if labels { label.as_ref() } else { Some(code) };
                let value =
                    text.map(|text| category_value(&dimension.id, text, requested, last_day));
                value.transpose().map_err(|why| {
                    let path = format!("$.dimension.{}.category", dimension.id);
                    let text = text.map_or("", String::as_str);
                    ReadRefusal::unsupported(FilePlace::path(path), format!("{text:?} {why}"))
                })
            });
            Content::Dimension(at, values.collect::<Result<_, _>>()?)
        }
        FileColumn::Value => {
            about.role = Some(Role::Value);
            about.unit.clone_from(unit);
            Content::Value
        }
        FileColumn::Status if requested == RequestedType::Text => {
            about.role = Some(Role::Attribute);
            Content::Status
        }
        FileColumn::Status => {
            return Err(ReadRefusal::unsupported(
                FilePlace::path("$.status"),
                "is text; declare the column as string",
            ));
        }
    };
    Ok(CubeColumn { about, requested_type: requested, content })
}

/// The value of a category, from its code or label.
fn category_value(
    dimension: &str,
    text: &str,
    requested: RequestedType,
    last_day: bool,
) -> Result<CategoryValue, String> {
    let period =
        || TimePeriod::parse(&spell_period(dimension, text)).map_err(|why| why.to_string());
    match requested {
        RequestedType::Text => Ok(CategoryValue::Text(text.to_owned())),
        RequestedType::Date => {
            let day = period()?.day(last_day).map_err(|why| why.to_string())?;
            Ok(CategoryValue::Text(day.as_str().to_owned()))
        }
        RequestedType::Period => {
            period()?.code().map(CategoryValue::Text).map_err(|why| why.to_string())
        }
        RequestedType::Integer => {
            let parsed = text.parse().map(CategoryValue::Integer);
            parsed.map_err(|_| "is not an integer; declare the column as string".to_owned())
        }
        RequestedType::Number => {
            let parsed = text.parse().ok().filter(|number: &f64| number.is_finite());
            let parsed = parsed.map(CategoryValue::Number);
            parsed.ok_or_else(|| "is not a number; declare the column as string".to_owned())
        }
        RequestedType::Boolean => match text {
            "true" => Ok(CategoryValue::Boolean(true)),
            "false" => Ok(CategoryValue::Boolean(false)),
            _ => Err("is not a boolean; declare the column as string".to_owned()),
        },
    }
}
