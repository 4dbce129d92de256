//! Options of a picture, and the choice between its two kinds: a line chart or a map.

use yearbook_sdk::generator::Role;
use yearbook_sdk::{DataType, Error, Field, Kind, Options, Parameter, Schema};

use crate::palette::{MOST_SERIES, Theme};

/// Smallest and greatest width and height, pixels.
const WIDTHS: std::ops::RangeInclusive<i64> = 240..=1_600;
const HEIGHTS: std::ops::RangeInclusive<i64> = 240..=1_200;

/// Names of maps that a client may write, the default first.
const MAPS: [&str; 2] = ["shapes", "dots"];

/// Options that every picture has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PictureOptions {
    /// Width in pixels.
    pub width: f64,
    /// Height in pixels.
    pub height: f64,
    /// Colours.
    pub theme: Theme,
}

/// The kind of a picture, and the columns that it draws, as positions in the schema.
#[derive(Debug, Clone, PartialEq)]
pub enum Drawing {
    /// Values over an axis.
    Lines(LineColumns),
    /// A shape or a dot for each geometry.
    Map(MapColumns),
}

/// Columns of a map.
#[derive(Debug, Clone, PartialEq)]
pub struct MapColumns {
    /// The geometries.
    pub geometry: usize,
    /// Returns whether lines and areas are drawn as such, not as dots.
    pub has_shapes: bool,
    /// The first value column, which shades them.
    pub value: Option<usize>,
    /// Their date.
    pub date: Option<usize>,
    /// Their name.
    pub name: Option<usize>,
}

/// Columns of a line chart.
#[derive(Debug, Clone, PartialEq)]
pub struct LineColumns {
    /// The x axis.
    pub x: usize,
    /// The codes of periods, where there are some: rows of several lengths are never one line.
    pub period: Option<usize>,
    /// The values, each a series or several.
    pub y: Vec<usize>,
    /// Columns whose values split the rows into series.
    pub split: Vec<usize>,
    /// Places, among these, of the columns that say what is measured: series of one chart agree in
    /// them. Empty where the value column has a unit.
    pub kinds: Vec<usize>,
    /// The one series to draw.
    pub only: Option<String>,
}

/// Declarations of the options.
#[must_use]
pub fn parameters() -> Vec<Parameter> {
    let text =
        |name, default, allowed, docs| Parameter { name, kind: Kind::Text, default, allowed, docs };
    let pixels =
        |name, default, docs| Parameter { name, kind: Kind::Integer, default, allowed: &[], docs };
    vec![
        text(
            "x",
            "",
            &[],
            "Column of the x axis: a date, a period or a number. Empty: the date column.",
        ),
        text(
            "y",
            "",
            &[],
            "Value columns of one unit to draw, separated by commas, at most 8. Empty: the first value column, and where no column splits the rows all others of its unit.",
        ),
        text(
            "series",
            "",
            &[],
            "A column whose values split the rows into series, or the name of the one series to draw: its values separated by commas, each as it is or in double quotes. Empty: all dimension and key columns split the rows.",
        ),
        text(
            "map",
            "shapes",
            &MAPS,
            "What stands for a geometry: its `shapes`, shaded by the first value column, or `dots` at their centres. Points are dots.",
        ),
        pixels("width", "720", "Width in pixels, from 240 to 1600."),
        pixels("height", "440", "Height in pixels, from 240 to 1200."),
        text(
            "theme",
            "auto",
            &Theme::NAMES,
            "Colours: `light`, `dark`, or those that the reader prefers (`auto`).",
        ),
    ]
}

impl PictureOptions {
    /// Returns whether there is room beside a drawing: labels then stand at the ends of lines.
    #[must_use]
    pub fn is_wide(&self) -> bool {
        self.width >= 480.0
    }

    /// Reads the options that every picture has.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] for a size beyond the bounds.
    pub fn parse(options: &Options) -> Result<Self, Error> {
        let theme = options.text("theme")?;
        Ok(Self {
            width: pixels(options, "width", &WIDTHS)?,
            height: pixels(options, "height", &HEIGHTS)?,
            theme: Theme::parse(theme).ok_or_else(|| {
                Error::InvalidOption(format!(
                    "svg.theme cannot be `{theme}`; take auto, light or dark"
                ))
            })?,
        })
    }
}

fn pixels(
    options: &Options,
    name: &str,
    allowed: &std::ops::RangeInclusive<i64>,
) -> Result<f64, Error> {
    let value = options.integer(name)?;
    let pixels = u32::try_from(value).ok().filter(|_| allowed.contains(&value)).ok_or_else(|| {
        Error::InvalidOption(format!(
            "svg.{name} is {value}; take a number of pixels from {} to {}",
            allowed.start(),
            allowed.end()
        ))
    });
    Ok(f64::from(pixels?))
}

impl Drawing {
    /// Chooses what to draw: a map where there is geometry and no option names an axis or a series,
    /// else lines.
    ///
    /// # Errors
    /// [`Error::UnsupportedSchema`] without anything to draw; [`Error::InvalidOption`] for a column
    /// that is not there or cannot be drawn.
    pub fn choose(schema: &Schema, options: &Options) -> Result<Self, Error> {
        let [x, y, series] = ["x", "y", "series"].map(|name| options.text(name));
        let (x, y, series) = (x?.trim(), y?.trim(), series?.trim());
        if let Some(geometry) = schema.position(Role::Geometry)
            && [x, y, series].iter().all(|option| option.is_empty())
        {
            let value = schema.fields.iter().position(is_value);
            return Ok(Self::Map(MapColumns {
                geometry,
                has_shapes: has_shapes(options)?,
                value,
                date: schema.position(Role::Date).or_else(|| schema.position(Role::Period)),
                name: name_column(schema),
            }));
        }
        let x = x_column(schema, x)?;
        let own = (!series.is_empty())
            .then(|| schema.fields.iter().position(|field| field.name == series))
            .flatten();
        // Where value columns are the series, one of them is named like any other series.
        let (own, y) = match own {
            Some(column) if is_value(&schema.fields[column]) && y.is_empty() => (None, series),
            own => (own, y),
        };
        let mut split = match own {
            Some(column) => vec![column],
            None => splitting(schema, x),
        };
        let columns = y_columns(schema, y, x, split.is_empty())?;
        let has_unit = columns.iter().any(|column| schema.fields[*column].unit().is_some());
        let is_kind = |column: &usize| !has_unit && says_what_is_measured(&schema.fields[*column]);
        // Rows of several kinds are never one line.
        let further = splitting(schema, x).into_iter().filter(is_kind);
        let further: Vec<usize> = further.filter(|column| !split.contains(column)).collect();
        split.extend(further);
        let kinds = (0..split.len()).filter(|place| is_kind(&split[*place])).collect();
        let named = own.is_none() && !series.is_empty() && !is_same(schema, &columns, series);
        let only = named.then(|| series.to_owned());
        let own = is_text(&schema.fields[x]) && !schema.fields[x].is_date();
        let period = own.then_some(x).or_else(|| schema.position(Role::Period));
        Ok(Self::Lines(LineColumns { x, period, y: columns, split, kinds, only }))
    }
}

fn has_shapes(options: &Options) -> Result<bool, Error> {
    match options.text("map")? {
        "shapes" => Ok(true),
        "dots" => Ok(false),
        other => {
            Err(Error::InvalidOption(format!("svg.map cannot be `{other}`; take shapes or dots")))
        }
    }
}

/// The column that names a row: one of text that is called so, else the first dimension, else the
/// first key.
fn name_column(schema: &Schema) -> Option<usize> {
    let names = |field: &&Field| {
        let fits = matches!(field.role(), Some(Role::Dimension | Role::Key | Role::Attribute));
        fits && !field.is_date() && is_text(field)
    };
    let find = |fits: &dyn Fn(&Field) -> bool| {
        schema.fields.iter().position(|field| names(&field) && fits(field))
    };
    find(&|field| field.name.to_lowercase().ends_with("name"))
        .or_else(|| find(&|field| field.role() == Some(Role::Dimension)))
        .or_else(|| find(&|field| field.role() == Some(Role::Key)))
}

/// Returns whether the option names the one value column that is drawn.
fn is_same(schema: &Schema, columns: &[usize], series: &str) -> bool {
    matches!(columns, [column] if schema.fields[*column].name == series)
}

fn is_value(field: &Field) -> bool {
    field.role() == Some(Role::Value) && is_number(field)
}

/// Returns whether a column is called as one that says what is measured, and with that in which
/// unit.
fn says_what_is_measured(field: &Field) -> bool {
    const NAMES: [&str; 9] = [
        "indicator",
        "measure",
        "metric",
        "statistic",
        "unit",
        "unit_measure",
        "unit_of_measure",
        "units",
        "variable",
    ];
    NAMES.iter().any(|name| field.name.eq_ignore_ascii_case(name))
}

/// Dimension and key columns that are neither a date nor a period.
fn splitting(schema: &Schema, x: usize) -> Vec<usize> {
    let splits = |(position, field): &(usize, &Field)| {
        *position != x
            && !field.is_date()
            && matches!(field.role(), Some(Role::Dimension | Role::Key))
    };
    schema.fields.iter().enumerate().filter(splits).map(|(position, _)| position).collect()
}

fn x_column(schema: &Schema, name: &str) -> Result<usize, Error> {
    if name.is_empty() {
        let date = schema.position(Role::Date).or_else(|| {
            schema.fields.iter().position(|field| field.is_date() || is_instant(field))
        });
        return date.ok_or_else(|| nothing_to_draw(schema));
    }
    let column = find(schema, "x", name)?;
    let field = &schema.fields[column];
    let fits = field.is_date()
        || is_instant(field)
        || is_number(field)
        || matches!(field.role(), Some(Role::Date | Role::Period));
    if fits { Ok(column) } else { Err(unfit("x", name, "a date, a period or a number")) }
}

fn y_columns(schema: &Schema, names: &str, x: usize, unsplit: bool) -> Result<Vec<usize>, Error> {
    if names.is_empty() {
        let drawable = |position: &usize| {
            let field = &schema.fields[*position];
            *position != x && is_value(field)
        };
        let mut values: Vec<usize> = (0..schema.fields.len()).filter(drawable).collect();
        let first = *values.first().ok_or_else(|| nothing_to_draw(schema))?;
        let unit = schema.fields[first].unit();
        values.retain(|position| {
            *position == first
                || unsplit && unit.is_some() && schema.fields[*position].unit() == unit
        });
        return Ok(values);
    }
    let mut columns = Vec::new();
    for name in names.split(',').map(str::trim) {
        let column = find(schema, "y", name)?;
        if !is_number(&schema.fields[column]) {
            return Err(unfit("y", name, "numbers"));
        }
        if !columns.contains(&column) {
            columns.push(column);
        }
    }
    if let [first, others @ ..] = columns.as_slice()
        && let Some(other) = others
            .iter()
            .find(|other| schema.fields[**other].unit() != schema.fields[*first].unit())
    {
        let [first, other] = [first, other].map(|column| {
            let field = &schema.fields[*column];
            format!("`{}` ({})", field.name, field.unit().unwrap_or("without a unit"))
        });
        return Err(Error::InvalidOption(format!(
            "svg.y names {first} and {other}; one chart shows one unit, so take columns of one unit"
        )));
    }
    if columns.len() > MOST_SERIES {
        return Err(Error::InvalidOption(format!(
            "svg.y names {} columns; one chart has {MOST_SERIES} at most",
            columns.len()
        )));
    }
    Ok(columns)
}

fn find(schema: &Schema, option: &str, name: &str) -> Result<usize, Error> {
    schema.fields.iter().position(|field| field.name == name).ok_or_else(|| {
        Error::InvalidOption(format!(
            "svg.{option} names `{name}`, which is not among the columns of this answer; take a column that the dataset's metadata lists, and keep it in `columns`"
        ))
    })
}

fn unfit(option: &str, name: &str, wanted: &str) -> Error {
    Error::InvalidOption(format!(
        "svg.{option} names `{name}`, which does not hold {wanted}; take another column"
    ))
}

fn nothing_to_draw(schema: &Schema) -> Error {
    let lacking = if schema.position(Role::Date).is_none() { "no date" } else { "no value column" };
    Error::UnsupportedSchema(format!(
        "there is {lacking} among the columns asked for, and no geometry, so there is nothing to draw; ask for a date and a value, name columns in `svg.x` and `svg.y`, leave out `geometry=false` where the dataset has geometry, or take `format=csv`"
    ))
}

/// Returns whether the column holds numbers that a line can show.
fn is_number(field: &Field) -> bool {
    matches!(
        field.value_type(),
        DataType::Int8
            | DataType::UInt8
            | DataType::Int16
            | DataType::UInt16
            | DataType::Int32
            | DataType::UInt32
            | DataType::Int64
            | DataType::UInt64
            | DataType::Float32
            | DataType::Float64
    ) && field.dictionary.is_none()
}

fn is_text(field: &Field) -> bool {
    matches!(field.value_type(), DataType::Utf8 | DataType::LargeUtf8)
}

fn is_instant(field: &Field) -> bool {
    matches!(field.data_type, DataType::Date32 | DataType::Date64 | DataType::Timestamp(..))
        && field.dictionary.is_none()
}
