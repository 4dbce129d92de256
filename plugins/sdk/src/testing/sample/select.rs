//! Selections of rows of a table, with what is wrong with one as on `/v1`.

use std::cmp::Ordering;
use std::collections::HashMap;

use super::tables::SampleTable;
use crate::adapter::{
    Column, ColumnType, Condition, Dataset, Known, Operator, Pick, Problem, Refusal, Selection,
    Table, Version,
};
use crate::{Kind, Value};

/// Rows without `limit`.
const DEFAULT_LIMIT: u64 = 100;
const MOST_SKIPPED: u32 = 1_000_000;
const MOST_CONDITIONS: usize = 64;

/// Refusal of the parameter `name`.
pub(super) fn invalid(name: &str, sentence: impl Into<String>) -> Refusal {
    let place = vec!["query".to_owned(), name.to_owned()];
    let problems = vec![Problem { place, sentence: sentence.into() }];
    Refusal { status: 422, code: "invalid_parameters".into(), problems, retry_after: None }
}

/// Refusal of something that is not there.
pub(super) fn missing(code: &str, sentence: impl Into<String>) -> Refusal {
    Refusal { code: code.to_owned(), ..Refusal::new(404, sentence) }
}

impl SampleTable {
    /// Positions of the rows that a selection names, without its page, in their order.
    pub(super) fn matching(&self, selection: &Selection) -> Result<Vec<usize>, Refusal> {
        if selection.conditions.len() > MOST_CONDITIONS {
            return Err(invalid("where", format!("at most {MOST_CONDITIONS} conditions")));
        }
        let mut rows: Vec<usize> = match selection.row {
            Some(row) => (0..self.rows.len()).filter(|at| *at as u64 == row).collect(),
            None => (0..self.rows.len()).collect(),
        };
        self.check_version(&selection.version)?;
        if matches!(selection.version, Version::ChangesSince(_)) {
            // Both editions have the same rows.
            rows.clear();
        }
        for condition in &selection.conditions {
            let holds = self.condition(condition)?;
            rows.retain(|row| holds(*row));
        }
        self.keep_dates(selection, &mut rows)?;
        if let Some(search) = &selection.search {
            let dimensions = self.positions(|column| column.role == "dimension");
            rows.retain(|row| {
                let mut cells = dimensions.iter().filter_map(|at| self.rows[*row][*at].as_ref());
                cells.any(|cell| folded(cell).contains(&search.to_lowercase()))
            });
        }
        if let Some(bbox) = selection.bbox {
            let Some(geometry) = self.positions(|column| column.role == "geometry").pop() else {
                return Err(invalid("bbox", "this dataset has no geometry"));
            };
            rows.retain(|row| {
                self.rows[*row][geometry].as_ref().and_then(point).is_some_and(|(x, y)| {
                    let across = bbox.west > bbox.east;
                    let beside = [x >= bbox.west, x <= bbox.east];
                    let is_between =
                        if across { beside[0] || beside[1] } else { beside == [true; 2] };
                    is_between && y >= bbox.south && y <= bbox.north
                })
            });
        }
        self.pick(selection.pick, &mut rows)?;
        for (name, descending) in selection.sort.iter().rev() {
            let at = self.position("sort", name)?;
            rows.sort_by(|one, other| {
                match (&self.rows[*one][at], &self.rows[*other][at]) {
                    (Some(one), Some(other)) if *descending => compare(other, one),
                    (Some(one), Some(other)) => compare(one, other),
                    // Nulls come last.
                    (one, other) => one.is_none().cmp(&other.is_none()),
                }
            });
        }
        Ok(rows)
    }

    /// The page of a selection.
    pub(super) fn page(&self, selection: &Selection) -> Result<Table, Refusal> {
        let rows = self.matching(selection)?;
        let first = match &selection.cursor {
            None => usize::try_from(selection.skip).unwrap_or(usize::MAX),
            Some(_) if selection.skip > 0 => {
                return Err(invalid("skip", "skip cannot stand beside a cursor"));
            }
            Some(cursor) => {
                cursor.strip_prefix("row/").and_then(|row| row.parse().ok()).ok_or_else(|| {
                    invalid("cursor", "this is no cursor of an answer before; send it unchanged")
                })?
            }
        };
        if selection.skip > MOST_SKIPPED {
            return Err(invalid("skip", format!("at most {MOST_SKIPPED} rows are skipped")));
        }
        let limit = match selection.limit {
            Some(0) => usize::MAX,
            limit => usize::try_from(limit.unwrap_or(DEFAULT_LIMIT)).unwrap_or(usize::MAX),
        };
        let (positions, mut columns) = self.columns(selection)?;
        let page = rows.iter().skip(first).take(limit);
        let added = self.added(selection, &mut columns);
        let row = |at: &usize| {
            let cells = positions.iter().map(|column| self.rows[*at][*column].clone());
            cells.chain(added(*at)).collect()
        };
        let sent: Vec<Vec<Option<Value>>> = page.map(row).collect();
        let behind = first.saturating_add(limit);
        let Selection { conditions, search, bbox, .. } = selection;
        // Under conditions a host would have to read all rows to count them.
        let is_counted = conditions.is_empty() && search.is_none() && bbox.is_none();
        let known = Known {
            rows: Some(sent.len() as u64),
            total: is_counted.then_some(rows.len() as u64),
            next: (behind < rows.len()).then(|| format!("row/{behind}")),
            ..self.known(selection, columns)
        };
        Ok(Table { known, rows: sent })
    }

    fn known(&self, selection: &Selection, columns: Vec<Column>) -> Known {
        let Dataset { editions, credit, name, .. } = &self.dataset;
        let (newest, oldest) = (editions.first(), editions.last());
        let edition = match &selection.version {
            Version::Snapshot(id) if oldest.is_some_and(|oldest| oldest.id == *id) => oldest,
            _ => newest,
        };
        let names: Vec<_> = selection.apply.iter().map(|step| step.transform.as_str()).collect();
        Known {
            rows: None,
            total: None,
            snapshot: edition.map(|edition| edition.id.clone()).unwrap_or_default(),
            published_at: edition.map(|edition| edition.published_at.clone()).unwrap_or_default(),
            credit: credit.clone(),
            modified: (!names.is_empty()).then(|| format!("changed by {}", names.join(", "))),
            next: None,
            truncated: false,
            citation: format!("https://data.example.org/cite/{name}"),
            columns,
        }
    }

    fn check_version(&self, version: &Version) -> Result<(), Refusal> {
        let editions = &self.dataset.editions;
        let has = |id: &String| editions.iter().any(|edition| edition.id == *id);
        let is_time = |text: &String| text.get(..10).is_some_and(is_date);
        match version {
            Version::Snapshot(id) if !has(id) => {
                Err(missing("no_such_snapshot", format!("there is no snapshot {id}")))
            }
            Version::AsOf(time) if !is_time(time) => {
                Err(invalid("as_of", "as_of is a date or a time"))
            }
            Version::ChangesSince(since) if !has(since) && !is_time(since) => {
                Err(invalid("since", "since is a snapshot or a time"))
            }
            _ => Ok(()),
        }
    }

    /// Keeps what `start` and `end` leave; either may be a part of a date.
    fn keep_dates(&self, selection: &Selection, rows: &mut Vec<usize>) -> Result<(), Refusal> {
        for (name, bound) in [("start", &selection.start), ("end", &selection.end)] {
            let Some(bound) = bound else { continue };
            if !(matches!(bound.len(), 4 | 7) && is_date(&format!("{bound}-01-01")[..10])
                || is_date(bound))
            {
                return Err(invalid(name, format!("{name} is a date, YYYY-MM-DD")));
            }
            let Some(at) = self.positions(|column| column.role == "date").pop() else {
                return Err(invalid(name, "this dataset has no dates"));
            };
            let kept = if name == "start" { Ordering::is_ge } else { Ordering::is_le };
            rows.retain(|row| match &self.rows[*row][at] {
                Some(Value::Text(date)) => {
                    date.get(..bound.len()).is_some_and(|part| kept(part.cmp(bound)))
                }
                _ => false,
            });
        }
        Ok(())
    }

    /// Returns a test of a row.
    fn condition(&self, condition: &Condition) -> Result<impl Fn(usize) -> bool, Refusal> {
        let Condition { column, operator, values } = condition;
        let operator = *operator;
        let name = format!("where.{column}");
        let at = self.position(&name, column)?;
        let described = &self.dataset.columns[at];
        let is_text = matches!(described.type_, ColumnType::Text);
        if matches!(operator, Operator::Contains | Operator::Starts) && !is_text {
            return Err(invalid(&name, "contains and starts are for text"));
        }
        let kind = match described.type_ {
            ColumnType::Text | ColumnType::Date => Kind::Text,
            ColumnType::Integer => Kind::Integer,
            ColumnType::Number => Kind::Number,
            ColumnType::Boolean => Kind::Boolean,
        };
        let needs_date = matches!(described.type_, ColumnType::Date);
        let wanted = values.iter().map(|text| {
            let value = kind.parse(text).filter(|_| !needs_date || is_date(text));
            value.ok_or_else(|| invalid(&name, format!("{text} is no value of this column")))
        });
        let wanted = wanted.collect::<Result<Vec<Value>, Refusal>>()?;
        Ok(move |row: usize| {
            let cell = self.rows[row][at].as_ref();
            let any = |test: fn(Ordering) -> bool| {
                cell.is_some_and(|cell| wanted.iter().any(|value| test(compare(cell, value))))
            };
            let any_text = |test: fn(&str, &str) -> bool| {
                cell.is_some_and(|cell| {
                    wanted.iter().any(|value| test(&folded(cell), &folded(value)))
                })
            };
            match operator {
                Operator::Equal => any(Ordering::is_eq),
                Operator::NotEqual => cell.is_some() && !any(Ordering::is_eq),
                Operator::Ge => any(Ordering::is_ge),
                Operator::Gt => any(Ordering::is_gt),
                Operator::Le => any(Ordering::is_le),
                Operator::Lt => any(Ordering::is_lt),
                Operator::Contains => any_text(|cell, part| cell.contains(part)),
                Operator::Starts => any_text(|cell, part| cell.starts_with(part)),
                Operator::IsNull => cell.is_none(),
                Operator::IsNotNull => cell.is_some(),
            }
        })
    }

    /// The columns whose values tell series apart; `None` where the dataset has no series.
    pub(super) fn series(&self) -> Option<Vec<usize>> {
        self.positions(|column| column.role == "date").pop()?;
        let key = &self.dataset.primary_key;
        let series = self.positions(|column| column.role != "date" && key.contains(&column.name));
        (!key.is_empty()).then_some(series)
    }

    /// The series of a row.
    pub(super) fn series_of(&self, series: &[usize], row: usize) -> Vec<Option<String>> {
        series.iter().map(|at| self.rows[row][*at].as_ref().map(written)).collect()
    }

    fn pick(&self, pick: Pick, rows: &mut Vec<usize>) -> Result<(), Refusal> {
        let (name, number) = match pick {
            Pick::All => return Ok(()),
            Pick::First(number) => ("first", number),
            Pick::Last(number) => ("last", number),
        };
        if !(1..=1_000).contains(&number) {
            return Err(invalid(name, format!("{name} is a number from 1 to 1,000")));
        }
        let Some(series) = self.series() else {
            return Err(invalid(name, "this dataset has no series"));
        };
        let mut seen: HashMap<Vec<Option<String>>, u32> = HashMap::new();
        let mut keep = |row: &usize| {
            let seen = seen.entry(self.series_of(&series, *row)).or_default();
            *seen += 1;
            *seen <= number
        };
        if name == "first" {
            rows.retain(keep);
        } else {
            let mut last: Vec<usize> = rows.iter().rev().copied().collect();
            last.retain(&mut keep);
            last.reverse();
            *rows = last;
        }
        Ok(())
    }

    /// The columns of a page that the table has.
    fn columns(&self, selection: &Selection) -> Result<(Vec<usize>, Vec<Column>), Refusal> {
        let positions = match &selection.columns {
            None => self.positions(|column| selection.geometry || column.role != "geometry"),
            Some(names) => {
                let position = |name: &String| self.position("columns", name);
                names.iter().map(position).collect::<Result<_, _>>()?
            }
        };
        // Of selected rows nobody knows the number of values.
        let told = |at: &usize| Column { distinct: None, ..self.dataset.columns[*at].clone() };
        let columns = positions.iter().map(told).collect();
        Ok((positions, columns))
    }

    /// Adds the columns that no table has, and returns their cells by row.
    fn added(
        &self,
        selection: &Selection,
        columns: &mut Vec<Column>,
    ) -> impl Fn(usize) -> Vec<Option<Value>> + use<> {
        let text = |name: &str| Column {
            name: name.to_owned(),
            type_: ColumnType::Text,
            nullable: true,
            role: "attribute".to_owned(),
            unit: None,
            title: None,
            description: None,
            of: None,
            distinct: None,
        };
        let numbers = selection.row_numbers;
        if numbers {
            let column = text("_row");
            columns.push(Column { type_: ColumnType::Integer, nullable: false, ..column });
        }
        let since = match &selection.version {
            Version::Revisions => {
                columns.extend([text("_valid_from"), text("_valid_to")]);
                self.dataset.editions.last().map(|edition| edition.published_at.clone())
            }
            Version::ChangesSince(_) => {
                columns.push(text("_change_type"));
                None
            }
            _ => None,
        };
        move |row| {
            let number = numbers.then(|| i64::try_from(row).ok().map(Value::Integer));
            let valid = since.clone().map(|since| [Some(Value::Text(since)), None]);
            number.into_iter().chain(valid.into_iter().flatten()).collect()
        }
    }

    fn positions(&self, holds: impl Fn(&Column) -> bool) -> Vec<usize> {
        let columns = self.dataset.columns.iter().enumerate();
        columns.filter(|(_, column)| holds(column)).map(|(at, _)| at).collect()
    }

    /// The column of a name that the parameter `parameter` has.
    pub(super) fn position(&self, parameter: &str, name: &str) -> Result<usize, Refusal> {
        let found = self.dataset.columns.iter().position(|column| column.name == name);
        found.ok_or_else(|| invalid(parameter, format!("there is no column '{name}'")))
    }
}

fn is_date(text: &str) -> bool {
    crate::calendar::parse_date(text).is_some()
}

/// A value as clients write it.
pub(super) fn written(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::Integer(number) => number.to_string(),
        Value::Number(number) => number.to_string(),
        Value::Boolean(boolean) => boolean.to_string(),
    }
}

fn folded(value: &Value) -> String {
    written(value).to_lowercase()
}

pub(super) fn compare(one: &Value, other: &Value) -> Ordering {
    match (one, other) {
        (Value::Integer(one), Value::Integer(other)) => one.cmp(other),
        (Value::Number(one), Value::Number(other)) => one.total_cmp(other),
        (Value::Boolean(one), Value::Boolean(other)) => one.cmp(other),
        (one, other) => written(one).cmp(&written(other)),
    }
}

/// The place of a point.
fn point(value: &Value) -> Option<(f64, f64)> {
    let text = written(value);
    let (x, y) = text.strip_prefix("POINT (")?.strip_suffix(')')?.split_once(' ')?;
    Some((x.parse().ok()?, y.parse().ok()?))
}
