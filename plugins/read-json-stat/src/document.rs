//! The members of a file of JSON-stat, gathered while it is parsed and judged by nothing but shape.
//! Members that a table has no use for are passed over.

use std::collections::BTreeMap;

use yearbook_json_parser::{JsonEvent, JsonHandler, JsonPath};

/// Cells of a cube at most: a value takes nine bytes while it is held, and a reader has some 256
/// MiB.
pub(crate) const MAX_CELLS: usize = 20_000_000;

/// Cells with a text, and statuses, at most: each takes some 100 bytes.
const MAX_TEXTS: usize = 1_000_000;

/// Categories of all dimensions at most.
const MAX_CATEGORIES: usize = 1_000_000;

/// Dimensions at most.
const MAX_DIMENSIONS: usize = 64;

/// Text of a category, a label or a unit at most, bytes.
const MAX_LABEL_BYTES: usize = 4_096;

/// Values in the order of the cube, or by their position.
#[derive(Debug, Default)]
pub(crate) enum Values {
    #[default]
    Missing,
    Dense {
        numbers: Vec<f64>,
        /// Set where there is a number.
        valid: Vec<bool>,
    },
    /// Position and number, in the file's order.
    Sparse(Vec<(u64, f64)>),
}

/// Categories of a dimension.
#[derive(Debug, Default)]
pub(crate) struct Categories {
    /// Codes in their order, where `index` is an array.
    pub(crate) order: Vec<String>,
    /// Position by code, where `index` is an object.
    pub(crate) positions: Vec<(String, u64)>,
    /// Label by code.
    pub(crate) labels: BTreeMap<String, String>,
    /// Unit by code, as far as it is told: its base, label and symbol.
    pub(crate) units: BTreeMap<String, [Option<String>; 3]>,
}

/// A dimension as far as the file tells it.
#[derive(Debug, Default)]
pub(crate) struct DimensionEntry {
    pub(crate) label: Option<String>,
    pub(crate) categories: Categories,
}

/// The parts of a file that a table is made of.
#[derive(Debug, Default)]
pub(crate) struct Document {
    pub(crate) version: Option<String>,
    pub(crate) class: Option<String>,
    pub(crate) ids: Vec<String>,
    pub(crate) sizes: Vec<u64>,
    pub(crate) time: Vec<String>,
    pub(crate) geo: Vec<String>,
    pub(crate) metric: Vec<String>,
    pub(crate) dimensions: BTreeMap<String, DimensionEntry>,
    pub(crate) values: Values,
    /// Cells that hold text, by position.
    pub(crate) texts: BTreeMap<u64, String>,
    /// Statuses by position.
    pub(crate) statuses: BTreeMap<u64, String>,
    /// The status of every cell.
    pub(crate) common_status: Option<String>,
    /// A member of the root that JSON-stat before 2.0 has.
    pub(crate) old: bool,
    categories: usize,
}

impl JsonHandler for Document {
    fn event(&mut self, event: JsonEvent<'_>, path: JsonPath<'_>) -> Result<(), String> {
        match (path.depth(), path.name(0)) {
            (0, _) if !matches!(event, JsonEvent::BeginObject | JsonEvent::EndObject) => {
                Err("a file of JSON-stat is an object".to_owned())
            }
            (1, Some("version")) => set(&mut self.version, event),
            (1, Some("class")) => set(&mut self.class, event),
            (1, Some("dataset")) => {
                self.old = true;
                Ok(())
            }
            (2, Some("id")) => add_name(&mut self.ids, MAX_DIMENSIONS, event),
            (2, Some("size")) => self.add_size(event),
            (3, Some("role")) => match path.name(1) {
                Some("time") => add_name(&mut self.time, MAX_DIMENSIONS, event),
                Some("geo") => add_name(&mut self.geo, MAX_DIMENSIONS, event),
                Some("metric") => add_name(&mut self.metric, MAX_DIMENSIONS, event),
                _ => Ok(()),
            },
            (3.., Some("dimension")) => self.add_dimension(event, path),
            (1.., Some("value")) => self.add_value(event, path),
            (1.., Some("status")) => self.add_status(event, path),
            _ => Ok(()),
        }
    }
}

impl Document {
    fn add_size(&mut self, event: JsonEvent<'_>) -> Result<(), String> {
        let size = match event {
            JsonEvent::Number(text) => text.parse::<u64>().ok(),
            _ => None,
        };
        self.sizes.push(size.ok_or("is no number of categories; write a whole number")?);
        bounded(self.sizes.len(), MAX_DIMENSIONS, "dimensions")
    }

    fn add_dimension(&mut self, event: JsonEvent<'_>, path: JsonPath<'_>) -> Result<(), String> {
        let Some(id) = path.name(1) else { return Ok(()) };
        if !self.dimensions.contains_key(id) {
            bounded(self.dimensions.len() + 1, MAX_DIMENSIONS, "dimensions")?;
            short(id)?;
            self.dimensions.insert(id.to_owned(), DimensionEntry::default());
        }
        let Some(dimension) = self.dimensions.get_mut(id) else { return Ok(()) };
        let Categories { order, positions, labels, units } = &mut dimension.categories;
        let code = || {
            let code = path.name(4).unwrap_or_default();
            short(code).map(|()| code.to_owned())
        };
        match (path.depth(), path.name(2), path.name(3)) {
            (3, Some("label"), _) => return set(&mut dimension.label, event),
            (5, Some("category"), Some("index")) if path.position(4).is_some() => {
                add_name(order, MAX_CATEGORIES, event)?;
            }
            (5, Some("category"), Some("index")) => {
                let position = match event {
                    JsonEvent::Number(text) => text.parse::<u64>().ok(),
                    _ => None,
                };
                let position = position.ok_or("is no position; write a whole number from 0")?;
                positions.push((code()?, position));
            }
            (5, Some("category"), Some("label")) => {
                if let JsonEvent::Text(text) = event {
                    short(text)?;
                    labels.insert(code()?, text.to_owned());
                }
            }
            (6, Some("category"), Some("unit")) => {
                let which = ["base", "label", "symbol"];
                let which = which.iter().position(|name| path.name(5) == Some(name));
                if let (JsonEvent::Text(text), Some(which)) = (event, which) {
                    short(text)?;
                    units.entry(code()?).or_default()[which] = Some(text.to_owned());
                }
            }
            _ => return Ok(()),
        }
        self.categories += 1;
        bounded(self.categories, 4 * MAX_CATEGORIES, "categories")
    }

    fn add_value(&mut self, event: JsonEvent<'_>, path: JsonPath<'_>) -> Result<(), String> {
        if path.depth() == 1 {
            match event {
                JsonEvent::BeginArray => {
                    self.values = Values::Dense { numbers: Vec::new(), valid: Vec::new() };
                }
                JsonEvent::BeginObject => self.values = Values::Sparse(Vec::new()),
                JsonEvent::EndArray | JsonEvent::EndObject => {}
                _ => return Err("is neither an array nor an object".to_owned()),
            }
            return Ok(());
        }
        let number = match event {
            JsonEvent::Number(text) => {
                let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
                Some(number.ok_or("is too large for a 64-bit float")?)
            }
            JsonEvent::Null | JsonEvent::Text(_) => None,
            _ => return Err("is no value; write a number, a text or null".to_owned()),
        };
        let position = position(path)?;
        match &mut self.values {
            Values::Dense { numbers, valid } => {
                numbers.push(number.unwrap_or_default());
                valid.push(number.is_some());
                bounded(numbers.len(), MAX_CELLS, "cells")?;
            }
            Values::Sparse(cells) => {
                cells.extend(number.map(|number| (position, number)));
                bounded(cells.len(), MAX_CELLS / 2, "cells")?;
            }
            Values::Missing => {}
        }
        if let JsonEvent::Text(text) = event {
            short(text)?;
            self.texts.insert(position, text.to_owned());
        }
        bounded(self.texts.len(), MAX_TEXTS, "cells with a text")
    }

    fn add_status(&mut self, event: JsonEvent<'_>, path: JsonPath<'_>) -> Result<(), String> {
        match (path.depth(), event) {
            (1, JsonEvent::Text(text)) => {
                short(text)?;
                self.common_status = Some(text.to_owned());
            }
            (2, JsonEvent::Text(text)) => {
                short(text)?;
                self.statuses.insert(position(path)?, text.to_owned());
            }
            _ => {}
        }
        bounded(self.statuses.len(), MAX_TEXTS, "statuses")
    }
}

/// The position of a cell: its place in an array, or its name in an object.
fn position(path: JsonPath<'_>) -> Result<u64, String> {
    if let Some(position) = path.position(1) {
        return Ok(position);
    }
    let name = path.name(1).unwrap_or_default();
    let good = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    name.parse()
        .ok()
        .filter(|_| good)
        .ok_or_else(|| "is under a name that is no position of a cell".to_owned())
}

fn set(to: &mut Option<String>, event: JsonEvent<'_>) -> Result<(), String> {
    if let JsonEvent::Text(text) = event {
        short(text)?;
        *to = Some(text.to_owned());
    }
    Ok(())
}

fn add_name(names: &mut Vec<String>, most: usize, event: JsonEvent<'_>) -> Result<(), String> {
    let JsonEvent::Text(text) = event else {
        return Err("is no text; write an id in quotes".to_owned());
    };
    short(text)?;
    names.push(text.to_owned());
    bounded(names.len(), most, "entries")
}

fn short(text: &str) -> Result<(), String> {
    if text.len() <= MAX_LABEL_BYTES {
        return Ok(());
    }
    Err(format!("is a text of more than {MAX_LABEL_BYTES} bytes"))
}

fn bounded(count: usize, most: usize, of: &str) -> Result<(), String> {
    if count <= most {
        return Ok(());
    }
    Err(format!("has more than {most} {of}; ask the source for a part of the cube"))
}
