//! A cube: dimensions with their categories in order, and a row for each cell that has a value. The
//! values that a category gives its rows are read once, not once a row.

use std::collections::BTreeMap;

use yearbook_sdk::generator::Role;
use yearbook_sdk::reader::{
    ColumnMatch, ColumnRequest, FilePlace, ReadColumn, ReadRefusal, RequestedType, RowBuilder,
    TimePeriod, match_columns,
};

use crate::document::{Categories, Document, MAX_CELLS, Values};

/// Behind a dimension's id: the column of its labels.
const LABEL_SUFFIX: &str = " label";

/// A cube and the place of the next row.
#[derive(Debug)]
pub(crate) struct Cube {
    columns: Vec<CubeColumn>,
    sizes: Vec<u64>,
    values: Values,
    texts: BTreeMap<u64, String>,
    statuses: BTreeMap<u64, String>,
    common_status: Option<String>,
    keep_missing: bool,
    /// The next cell; among the sparse ones the next of them.
    next: u64,
}

/// A column that is asked for.
#[derive(Debug)]
struct CubeColumn {
    about: ReadColumn,
    requested_type: RequestedType,
    content: Content,
}

#[derive(Debug)]
enum Content {
    /// The position of a dimension, and the value of each of its categories.
    Dimension(usize, Vec<Option<CategoryValue>>),
    Value,
    Status,
}

/// The value of a category in a column.
#[derive(Debug, Clone)]
enum CategoryValue {
    Text(String),
    Integer(i64),
    Number(f64),
    Boolean(bool),
}

/// A dimension, checked.
struct Dimension {
    id: String,
    label: Option<String>,
    /// Code and label of each category, in order.
    categories: Vec<(String, Option<String>)>,
    role: Role,
}

/// A column that the file has.
enum FileColumn {
    Codes(usize),
    Labels(usize),
    Value,
    Status,
}

impl Cube {
    /// Checks what the file says and finds what is asked for.
    pub(crate) fn new(
        mut document: Document,
        requests: &[ColumnRequest],
        last_day: bool,
        keep_missing: bool,
    ) -> Result<Self, ReadRefusal> {
        check_class(&document)?;
        let cells = count_cells(&document)?;
        let unit = unit_of_value(&document);
        let dimensions = check_dimensions(&mut document)?;
        check_values(&mut document, cells, keep_missing)?;
        let has_status = document.common_status.is_some() || !document.statuses.is_empty();
        let (names, mut file) = file_columns(&dimensions, has_status);
        let mut found = match_columns(&names, requests)?;
        if requests.is_empty() {
            let value = names.iter().position(|name| name == "value");
            for column in found.iter_mut().filter(|column| Some(column.position) == value) {
                column.requested_type = RequestedType::Number;
            }
        }
        let mut columns = Vec::with_capacity(found.len());
        for column in found {
            let place = &mut file[column.position];
            columns.push(cube_column(column, place, &dimensions, &unit, last_day)?);
        }
        Ok(Self {
            columns,
            sizes: document.sizes,
            values: document.values,
            texts: document.texts,
            statuses: document.statuses,
            common_status: document.common_status,
            keep_missing,
            next: 0,
        })
    }

    /// The columns that the reader gives.
    pub(crate) fn columns(&self) -> Vec<ReadColumn> {
        self.columns.iter().map(|column| column.about.clone()).collect()
    }

    /// Adds rows until the batch is full or the cube ends.
    pub(crate) fn add_rows(&mut self, rows: &mut RowBuilder) -> Result<(), ReadRefusal> {
        while !rows.is_full() {
            let Some((cell, number)) = self.next_cell() else { break };
            self.add_row(cell, number, rows)?;
        }
        Ok(())
    }

    /// Position and number of the next cell that becomes a row.
    fn next_cell(&mut self) -> Option<(u64, Option<f64>)> {
        loop {
            let at = self.next;
            let index = usize::try_from(at).ok()?;
            let (cell, number) = match &self.values {
                Values::Sparse(cells) => {
                    let (cell, number) = *cells.get(index)?;
                    (cell, (!number.is_nan()).then_some(number))
                }
                Values::Dense { numbers, valid } => {
                    let number = *numbers.get(index)?;
                    (at, valid.get(index).copied().unwrap_or_default().then_some(number))
                }
                Values::Missing => return None,
            };
            self.next += 1;
            if number.is_some() || self.keep_missing || self.texts.contains_key(&cell) {
                return Some((cell, number));
            }
        }
    }

    fn add_row(
        &self,
        cell: u64,
        number: Option<f64>,
        rows: &mut RowBuilder,
    ) -> Result<(), ReadRefusal> {
        for (at, column) in self.columns.iter().enumerate() {
            match &column.content {
                Content::Dimension(dimension, values) => {
                    // The last dimension changes fastest.
                    let inner: u64 = self.sizes[dimension + 1..].iter().product();
                    let category = cell / inner.max(1) % self.sizes[*dimension].max(1);
                    let value = usize::try_from(category).ok().and_then(|at| values.get(at));
                    match value.and_then(Option::as_ref) {
                        Some(CategoryValue::Text(text)) => rows.text(at, text),
                        Some(CategoryValue::Integer(value)) => rows.integer(at, *value),
                        Some(CategoryValue::Number(value)) => rows.number(at, *value),
                        Some(CategoryValue::Boolean(value)) => rows.boolean(at, *value),
                        None => rows.null(at),
                    }
                }
                Content::Value => self.add_value(at, column.requested_type, cell, number, rows)?,
                Content::Status => match self.statuses.get(&cell).or(self.common_status.as_ref()) {
                    Some(status) => rows.text(at, status),
                    None => rows.null(at),
                },
            }
        }
        rows.end_row();
        Ok(())
    }

    fn add_value(
        &self,
        at: usize,
        requested: RequestedType,
        cell: u64,
        number: Option<f64>,
        rows: &mut RowBuilder,
    ) -> Result<(), ReadRefusal> {
        let refused = |why: &str| {
            ReadRefusal::unsupported(FilePlace::path(format!("$.value, cell {cell}")), why)
        };
        match (requested, number, self.texts.get(&cell)) {
            (_, None, None) => rows.null(at),
            (RequestedType::Number, Some(number), _) => rows.number(at, number),
            (RequestedType::Integer, Some(number), _) => {
                let integer = as_integer(number);
                let why = "is no whole number; declare the column as number";
                rows.integer(at, integer.ok_or_else(|| refused(why))?);
            }
            (RequestedType::Text, Some(number), _) => rows.text(at, &number.to_string()),
            (requested, None, Some(text)) => rows
                .parse(at, requested, text, false)
                .map_err(|why| refused(&format!("{text:?} {why}")))?,
            _ => {
                return Err(refused(
                    "is a number; declare the column as number, integer or string",
                ));
            }
        }
        Ok(())
    }
}

fn as_integer(number: f64) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    #[expect(clippy::cast_possible_truncation, reason = "a whole number below 2^53")]
    (number.fract() == 0.0 && number.abs() <= EXACT).then_some(number as i64)
}

fn check_class(document: &Document) -> Result<(), ReadRefusal> {
    let old = document.version.as_deref().is_some_and(|version| version.starts_with(['0', '1']));
    let class = document.class.as_deref();
    let sentence = match class {
        Some("dataset") if !old => return Ok(()),
        _ if old || (class.is_none() && document.old) => {
            "is JSON-stat before 2.0; ask the source for version 2.0".to_owned()
        }
        Some(class) => format!("is {class:?}; only the class dataset is a table"),
        None => "is missing; a file of JSON-stat 2.0 has \"class\": \"dataset\"".to_owned(),
    };
    Err(ReadRefusal::unsupported(FilePlace::path("$.class"), sentence))
}

/// Cells of the cube.
fn count_cells(document: &Document) -> Result<u64, ReadRefusal> {
    let Document { ids, sizes, .. } = document;
    let malformed =
        |path: &str, sentence: String| Err(ReadRefusal::malformed(FilePlace::path(path), sentence));
    if ids.is_empty() {
        return malformed("$.id", "is missing or empty; it lists the dimensions".to_owned());
    }
    if ids.len() != sizes.len() {
        let sentence = format!("has {} entries where $.id has {}", sizes.len(), ids.len());
        return malformed("$.size", sentence);
    }
    for (at, id) in ids.iter().enumerate() {
        if ids[..at].contains(id) {
            return malformed(&format!("$.id[{at}]"), format!("{id:?} is named twice"));
        }
    }
    let cells = sizes.iter().try_fold(1_u64, |cells, size| cells.checked_mul(*size));
    let Some(cells) = cells else {
        return malformed("$.size", "makes more cells than can be counted".to_owned());
    };
    if cells == 0 {
        return malformed("$.size", "has a dimension without categories".to_owned());
    }
    Ok(cells)
}

fn check_dimensions(document: &mut Document) -> Result<Vec<Dimension>, ReadRefusal> {
    let mut dimensions = Vec::with_capacity(document.ids.len());
    for (id, size) in document.ids.iter().zip(&document.sizes) {
        let Some(entry) = document.dimensions.remove(id) else {
            return Err(ReadRefusal::malformed(
                FilePlace::path("$.dimension"),
                format!("has no dimension {id:?}, which $.id names"),
            ));
        };
        let categories = order_categories(entry.categories, *size).map_err(|why| {
            let path = format!("$.dimension.{id}.category");
            ReadRefusal::malformed(FilePlace::path(path), why)
        })?;
        let role = if document.time.contains(id) { Role::Period } else { Role::Dimension };
        dimensions.push(Dimension { id: id.clone(), label: entry.label, categories, role });
    }
    Ok(dimensions)
}

/// Code and label of each category, in order. An index may be left out where there is one category.
fn order_categories(
    categories: Categories,
    size: u64,
) -> Result<Vec<(String, Option<String>)>, String> {
    let Categories { order, positions, mut labels, .. } = categories;
    let codes = if !order.is_empty() {
        order
    } else if !positions.is_empty() {
        let mut codes = vec![None; positions.len()];
        for (code, position) in positions {
            let place = usize::try_from(position).ok().and_then(|at| codes.get_mut(at));
            match place {
                Some(place @ None) => *place = Some(code),
                Some(Some(other)) => {
                    return Err(format!("gives {other:?} and {code:?} the position {position}"));
                }
                None => return Err(format!("gives {code:?} the position {position} of {size}")),
            }
        }
        codes.into_iter().flatten().collect()
    } else {
        labels.keys().cloned().collect()
    };
    if u64::try_from(codes.len()).ok() != Some(size) {
        return Err(format!("has {} categories where $.size says {size}", codes.len()));
    }
    Ok(codes.into_iter().map(|code| (labels.remove(&code), code)).map(|(l, c)| (c, l)).collect())
}

/// Checks values and statuses against the cube, and puts sparse ones in its order.
fn check_values(
    document: &mut Document,
    cells: u64,
    keep_missing: bool,
) -> Result<(), ReadRefusal> {
    let malformed =
        |path: &str, sentence: String| Err(ReadRefusal::malformed(FilePlace::path(path), sentence));
    let beyond = document.statuses.keys().next_back().filter(|cell| **cell >= cells);
    if let Some(cell) = beyond {
        return malformed("$.status", format!("has a cell {cell} of {cells}"));
    }
    match &mut document.values {
        Values::Missing => malformed("$.value", "is missing".to_owned()),
        Values::Dense { numbers, .. } => {
            if u64::try_from(numbers.len()).ok() == Some(cells) {
                return Ok(());
            }
            let found = numbers.len();
            malformed("$.value", format!("has {found} values where $.size makes {cells} cells"))
        }
        Values::Sparse(found) => {
            // Cells with a text have their place among the numbers.
            found.extend(document.texts.keys().map(|cell| (*cell, f64::NAN)));
            found.sort_unstable_by_key(|(cell, _)| *cell);
            if let Some((cell, _)) = found.last().filter(|(cell, _)| *cell >= cells) {
                return malformed("$.value", format!("has a cell {cell} of {cells}"));
            }
            if let Some(twice) = found.windows(2).find(|pair| pair[0].0 == pair[1].0) {
                return malformed("$.value", format!("has the cell {} twice", twice[0].0));
            }
            if keep_missing {
                document.values = fill(std::mem::take(found), cells)?;
            }
            Ok(())
        }
    }
}

/// Every cell of a sparse cube.
fn fill(found: Vec<(u64, f64)>, cells: u64) -> Result<Values, ReadRefusal> {
    let count = usize::try_from(cells).ok().filter(|count| *count <= MAX_CELLS);
    let Some(count) = count else {
        return Err(ReadRefusal::unsupported(
            FilePlace::path("$.size"),
            format!("makes {cells} cells, and `missing` is keep; leave missing cells out"),
        ));
    };
    let (mut numbers, mut valid) = (vec![0.0; count], vec![false; count]);
    for (cell, number) in found {
        if let Ok(at) = usize::try_from(cell) {
            numbers[at] = number;
            valid[at] = !number.is_nan();
        }
    }
    Ok(Values::Dense { numbers, valid })
}

/// The unit of the only metric, if there is one.
fn unit_of_value(document: &Document) -> Option<String> {
    let [metric] = document.metric.as_slice() else { return None };
    let categories = &document.dimensions.get(metric)?.categories;
    let place = document.ids.iter().position(|id| id == metric)?;
    let ([base, label, symbol], 1) = (categories.units.values().next()?, document.sizes[place])
    else {
        return None;
    };
    let unit = base.as_ref().or(label.as_ref()).or(symbol.as_ref())?;
    (!unit.is_empty()).then(|| unit.clone())
}

fn file_columns(dimensions: &[Dimension], has_status: bool) -> (Vec<String>, Vec<FileColumn>) {
    let (mut names, mut columns) = (Vec::new(), Vec::new());
    for (at, dimension) in dimensions.iter().enumerate() {
        names.push(dimension.id.clone());
        columns.push(FileColumn::Codes(at));
    }
    for (at, dimension) in dimensions.iter().enumerate() {
        if dimension.categories.iter().any(|(_, label)| label.is_some()) {
            names.push(format!("{}{LABEL_SUFFIX}", dimension.id));
            columns.push(FileColumn::Labels(at));
        }
    }
    names.push("value".to_owned());
    columns.push(FileColumn::Value);
    if has_status {
        names.push("status".to_owned());
        columns.push(FileColumn::Status);
    }
    (names, columns)
}

fn cube_column(
    found: ColumnMatch,
    column: &FileColumn,
    dimensions: &[Dimension],
    unit: &Option<String>,
    last_day: bool,
) -> Result<CubeColumn, ReadRefusal> {
    let mut about = ReadColumn::from(&found);
    let requested = found.requested_type;
    let content = match *column {
        FileColumn::Codes(at) | FileColumn::Labels(at) => {
            let dimension = &dimensions[at];
            let labels = matches!(column, FileColumn::Labels(_));
            about.role = Some(if labels { Role::Attribute } else { dimension.role });
            about.description = dimension.label.clone();
            let values = dimension.categories.iter().map(|(code, label)| {
                let text = if labels { label.as_ref() } else { Some(code) };
                let value = text.map(|text| category_value(text, requested, last_day));
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
    text: &str,
    requested: RequestedType,
    last_day: bool,
) -> Result<CategoryValue, String> {
    let period = || TimePeriod::parse(text).map_err(|why| why.to_string());
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
