//! Columns of a transform's output, checked against its input and its needs.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef};
use yearbook_domain::ColumnRole;
use yearbook_domain::metadata_key::{AXIS, PRIMARY_KEY, ROLE, SERIES, TYPE, UNIT};
use yearbook_domain::name::is_snake_case;
use yearbook_engine::sanitize_sentence;

use super::columns::{DATE, date_column, has_role, value_type};
use super::needs::{Needs, check_position, once};
use crate::guest::bindings::transform::exports::yearbook::plugin::transform as guest;
use crate::guest::parameters::quote;

pub(super) use crate::guest::bindings::transform::exports::yearbook::plugin::transform::Kind;

/// Columns of an output at most.
const COLUMNS: usize = 4_096;
/// Longest name of a column that the input does not have, bytes.
const NAME_BYTES: usize = 64;

/// An output, checked.
#[derive(Debug, PartialEq)]
pub(super) struct TransformOutput {
    pub(super) sources: Vec<Source>,
    pub(super) relation: Relation,
    /// Positions of the columns by which rows ascend.
    pub(super) order: Vec<usize>,
    /// Number of `order` that come first and are made.
    pub(super) made_order: usize,
    /// Input columns that the values of a made column are of, by its position.
    pub(super) values_of: Vec<Option<usize>>,
    pub(super) schema: SchemaRef,
}

/// Origin of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// The input's column at this position.
    Passed(usize),
    /// A column of `needs.groups`, by its place among them.
    Group(usize),
    /// Made, as which of those that are.
    Made(usize, Kind),
}

/// Relation of the rows to those of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    /// The rows of the batch.
    Same,
    /// Some of them.
    Chosen,
    /// Rows of their own.
    New,
}

impl TransformOutput {
    /// Reads what `output` returned for a transform of `needs` on `input`.
    ///
    /// # Errors
    /// The rule that it breaks.
    pub(super) fn check(raw: guest::Output, input: &Schema, needs: &Needs) -> Result<Self, String> {
        let guest::Output { columns, rows, order } = raw;
        let relation = match rows {
            guest::Relation::Same => Relation::Same,
            guest::Relation::Chosen => Relation::Chosen,
            guest::Relation::New => Relation::New,
        };
        if columns.is_empty() || columns.len() > COLUMNS {
            return Err(format!("an output of {} columns; 1 to {COLUMNS} may be", columns.len()));
        }
        if relation == Relation::New && needs.before.is_some() {
            return Err("needs.before with rows of its own".to_owned());
        }
        let mut made = 0;
        let (mut sources, mut values_of) = (Vec::new(), Vec::new());
        let mut fields: Vec<FieldRef> = Vec::with_capacity(columns.len());
        let mut names = std::collections::HashSet::new();
        for column in columns {
            let source = check_source(&column, relation, input, needs, &mut made)?;
            let origin = match source {
                Source::Passed(position) => Some(input.field(position)),
                Source::Group(place) => needs.groups.as_ref().map(|own| input.field(own[place])),
                Source::Made(..) => None,
            };
            let known = input.index_of(&column.name).is_ok();
            if !(known || is_snake_case(&column.name) && column.name.len() <= NAME_BYTES) {
                return Err(format!(
                    "a column {}; names are snake_case, at most {NAME_BYTES} bytes",
                    quote(&column.name)
                ));
            }
            if !names.insert(column.name.clone()) {
                return Err(format!("two columns {}", quote(&column.name)));
            }
            values_of.push(check_values_of(&column, input)?);
            fields.push(Arc::new(field(column, source, origin)?));
            sources.push(source);
        }
        let (order, made_order) = check_order(&order, relation, &sources)?;
        let metadata = metadata(input, relation, &sources, &fields);
        let schema = Arc::new(Schema::new_with_metadata(fields, metadata));
        Ok(Self { sources, relation, order, made_order, values_of, schema })
    }
}

fn check_source(
    column: &guest::Column,
    relation: Relation,
    input: &Schema,
    needs: &Needs,
    made: &mut usize,
) -> Result<Source, String> {
    let wrong = |rule: &str| format!("a column {} {rule}", quote(&column.name));
    Ok(match column.source {
        guest::Source::Passed(_) if relation == Relation::New => {
            return Err(wrong("that is passed, in rows of its own"));
        }
        guest::Source::Passed(position) => {
            Source::Passed(check_position("an output", position, input)?)
        }
        guest::Source::Group(_) if relation != Relation::New => {
            return Err(wrong("of a group, in rows of the input"));
        }
        guest::Source::Group(position) => {
            let position = check_position("an output", position, input)?;
            let place = needs.groups.iter().flatten().position(|own| *own == position);
            Source::Group(place.ok_or_else(|| wrong("of a group that is none of needs.groups"))?)
        }
        guest::Source::Made(kind) => {
            *made += 1;
            Source::Made(*made - 1, kind)
        }
    })
}

fn check_values_of(column: &guest::Column, input: &Schema) -> Result<Option<usize>, String> {
    let Some(position) = column.values_of else { return Ok(None) };
    let position = check_position("values-of", position, input)?;
    let text = *value_type(input.field(position).data_type()) == DataType::Utf8;
    if text && matches!(column.source, guest::Source::Made(Kind::Text)) {
        Ok(Some(position))
    } else {
        Err(format!("a column {} with values-of, which is for text", quote(&column.name)))
    }
}

fn field(column: guest::Column, source: Source, origin: Option<&Field>) -> Result<Field, String> {
    let data_type = match (source, origin) {
        (Source::Made(_, Kind::Integer), _) => DataType::Int64,
        (Source::Made(_, Kind::Number), _) => DataType::Float64,
        (Source::Made(_, Kind::Boolean), _) => DataType::Boolean,
        (Source::Passed(_), Some(field)) => field.data_type().clone(),
        (Source::Group(_), Some(field)) => value_type(field.data_type()).clone(),
        (Source::Made(_, Kind::Text | Kind::Date), _) | (_, None) => DataType::Utf8,
    };
    let mut metadata = origin.map(|field| field.metadata().clone()).unwrap_or_default();
    if matches!(source, Source::Made(_, Kind::Date)) {
        metadata.insert(TYPE, DATE);
    }
    if let Some(role) = column.role {
        let Some(role) = ColumnRole::parse(&role) else {
            return Err(format!("a column of the role {}", quote(&role)));
        };
        metadata.insert(ROLE, role.as_str());
    }
    if let Some(unit) = column.unit.map(|unit| sanitize_sentence(&unit)) {
        if unit.trim().is_empty() {
            metadata.remove(UNIT);
        } else {
            metadata.insert(UNIT, unit);
        }
    }
    let nullable = origin.is_none_or(Field::is_nullable);
    Ok(Field::new(column.name, data_type, nullable).with_metadata(metadata))
}

fn check_order(
    order: &[u32],
    relation: Relation,
    sources: &[Source],
) -> Result<(Vec<usize>, usize), String> {
    if !order.is_empty() && relation != Relation::New {
        return Err("an order of rows that have the input's".to_owned());
    }
    let position = |column: &u32| {
        let position = usize::try_from(*column).ok().filter(|at| *at < sources.len());
        position.ok_or_else(|| format!("an order with column {column} of {}", sources.len()))
    };
    let order = order.iter().map(position).collect::<Result<Vec<_>, _>>()?;
    once("an order", order.iter().copied())?;
    let is_made = |column: &usize| matches!(sources[*column], Source::Made(..));
    let made = order.iter().take_while(|column| is_made(column)).count();
    if order[made..].iter().any(is_made) {
        return Err("an order with a made column behind one of a group".to_owned());
    }
    Ok((order, made))
}

/// Facts about the rows as a table: keys, series and the distance of dates, as far as it stays
/// true.
fn metadata(
    input: &Schema,
    relation: Relation,
    sources: &[Source],
    fields: &[FieldRef],
) -> arrow::datatypes::Metadata {
    let mut metadata = input.metadata().clone();
    let json = |names: &[&str]| serde_json::Value::from(names.to_vec()).to_string();
    if relation == Relation::New {
        let is_series = |field: &Field| {
            !has_role(field, ColumnRole::Date) && !has_role(field, ColumnRole::Period)
        };
        let columns = sources.iter().zip(fields);
        let groups = columns
            .filter(|(source, field)| matches!(source, Source::Group(_)) && is_series(field));
        let series: Vec<&str> = groups.map(|(_, field)| field.name().as_str()).collect();
        metadata.insert(SERIES, json(&series));
        metadata.remove(PRIMARY_KEY);
        metadata.remove(AXIS);
        return metadata;
    }
    let passed = |name: &String| {
        let position = input.index_of(name).ok()?;
        let place = sources.iter().position(|source| *source == Source::Passed(position))?;
        Some(fields[place].name().as_str())
    };
    let names =
        |key: &str| -> Option<Vec<String>> { serde_json::from_str(metadata.get(key)?).ok() };
    let series = names(SERIES);
    let series = series.map(|names| json(&names.iter().filter_map(passed).collect::<Vec<_>>()));
    let key = names(PRIMARY_KEY).and_then(|names| names.iter().map(passed).collect());
    let key = key.map(|names: Vec<&str>| json(&names));
    for (name, value) in [(SERIES, series), (PRIMARY_KEY, key)] {
        match value {
            Some(value) => drop(metadata.insert(name, value)),
            None => drop(metadata.remove(name)),
        }
    }
    let dated = date_column(input).map(Source::Passed);
    if !dated.is_some_and(|source| sources.contains(&source)) {
        metadata.remove(AXIS);
    }
    metadata
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::transform::columns::tests::table;
    use crate::transform::needs::Priming;

    fn needs(groups: Option<Vec<usize>>) -> Needs {
        Needs { columns: Vec::new(), groups, before: None, prime: Priming::None }
    }

    fn column(name: &str, source: guest::Source) -> guest::Column {
        guest::Column { name: name.into(), source, role: None, unit: None, values_of: None }
    }

    fn of_input() -> guest::Output {
        let columns = vec![
            column("day", guest::Source::Passed(0)),
            column("area", guest::Source::Passed(2)),
            column("rate", guest::Source::Made(Kind::Number)),
        ];
        guest::Output { columns, rows: guest::Relation::Same, order: Vec::new() }
    }

    fn own() -> guest::Output {
        let mut label = column("label", guest::Source::Made(Kind::Text));
        label.values_of = Some(2);
        let columns = vec![
            column("year", guest::Source::Made(Kind::Date)),
            column("region", guest::Source::Group(2)),
            label,
        ];
        guest::Output { columns, rows: guest::Relation::New, order: vec![0, 1] }
    }

    #[test]
    fn an_output_is_taken_only_where_every_column_has_an_origin_contract_16() {
        let check = |raw, groups| TransformOutput::check(raw, &table(), &needs(groups));
        assert!(check(of_input(), None).is_ok());
        assert!(check(own(), Some(vec![2])).is_ok());
        type Spoil = fn(&mut guest::Output);
        let cases: [(&str, Spoil); 17] = [
            ("0 columns", |o| o.columns.clear()),
            ("4097 columns", |o| {
                let made = |n| column(&format!("c{n}"), guest::Source::Made(Kind::Number));
                o.columns = (0..4097).map(made).collect();
            }),
            ("names are snake_case", |o| o.columns[0].name = "Year".into()),
            ("names are snake_case", |o| o.columns[0].name = "a\r\nb".into()),
            ("names are snake_case", |o| o.columns[0].name = "y".repeat(65)),
            ("two columns \"region\"", |o| o.columns[0].name = "region".into()),
            ("that is passed", |o| o.columns[0].source = guest::Source::Passed(0)),
            ("none of needs.groups", |o| o.columns[1].source = guest::Source::Group(1)),
            ("column 4 of 4", |o| o.columns[1].source = guest::Source::Group(4)),
            ("rows of the input", |o| o.rows = guest::Relation::Chosen),
            ("values-of, which is for text", |o| o.columns[2].values_of = Some(3)),
            ("values-of, which is for text", |o| o.columns[0].values_of = Some(2)),
            ("values-of with column 7", |o| o.columns[2].values_of = Some(7)),
            ("the role \"king\"", |o| o.columns[0].role = Some("king".into())),
            ("column 3 of 3", |o| o.order = vec![3]),
            ("column 0 twice", |o| o.order = vec![0, 0]),
            ("made column behind", |o| o.order = vec![1, 0]),
        ];
        for (rule, spoil) in cases {
            let mut raw = own();
            spoil(&mut raw);
            let found = check(raw, Some(vec![2])).unwrap_err();
            assert!(found.contains(rule) && !found.contains(['\r', '\n']), "{rule}: {found}");
        }
        let ordered = guest::Output { order: vec![0], ..of_input() };
        assert!(check(ordered, None).unwrap_err().contains("an order"));
        let earlier = yearbook_domain::CalendarSpan::new(1, yearbook_domain::CalendarUnit::Day);
        let earlier = Needs { before: earlier, ..needs(Some(vec![2])) };
        let found = TransformOutput::check(own(), &table(), &earlier).unwrap_err();
        assert!(found.contains("needs.before"), "{found}");
    }

    #[test]
    fn a_made_column_may_have_any_name_of_the_input_contract_16() {
        let long = "y".repeat(100);
        let input = Schema::new(vec![Field::new(long.as_str(), DataType::Float64, true)]);
        let check = |name: &str| {
            let columns = vec![column(name, guest::Source::Made(Kind::Number))];
            let raw = guest::Output { columns, rows: guest::Relation::Same, order: Vec::new() };
            TransformOutput::check(raw, &input, &needs(None))
        };
        assert_eq!(*check(&long).unwrap().schema.field(0).name(), long);
        let found = check(&"y".repeat(99)).unwrap_err();
        assert!(found.contains("names are snake_case"), "{found}");
    }

    #[test]
    fn a_column_has_the_type_the_role_and_the_unit_of_its_origin_contract_16() {
        let mut raw = of_input();
        raw.columns[2].role = Some("value".into());
        raw.columns[2].unit = Some("%\u{1b}[2J".into());
        let schema = TransformOutput::check(raw, &table(), &needs(None)).unwrap().schema;
        assert_eq!(schema.field(0).data_type(), table().field(0).data_type());
        assert_eq!(schema.field(2).data_type(), &DataType::Float64);
        assert_eq!(schema.field(0).metadata(), table().field(0).metadata());
        let rate = schema.field(2).metadata();
        assert_eq!(rate.get(UNIT).map(String::as_str), Some("% [2J"));
        assert_eq!(rate.get(ROLE).map(String::as_str), Some("value"));
        let schema = TransformOutput::check(own(), &table(), &needs(Some(vec![2]))).unwrap().schema;
        let types = schema.fields().iter().map(|field| field.data_type().clone());
        assert!(types.into_iter().all(|data_type| data_type == DataType::Utf8));
        assert_eq!(schema.field(0).metadata().get(TYPE).map(String::as_str), Some(DATE));
    }

    #[test]
    fn what_is_known_of_a_table_is_known_of_the_output_as_far_as_it_holds_contract_16() {
        let known = |raw, groups: Vec<usize>| {
            let output = TransformOutput::check(raw, &table(), &needs(Some(groups))).unwrap();
            let metadata = output.schema.metadata().clone();
            [PRIMARY_KEY, SERIES, AXIS, "yearbook.dataset"].map(|key| metadata.get(key).cloned())
        };
        let some = |text: &str| Some(text.to_owned());
        let renamed = [some(r#"["day","area"]"#), some(r#"["area"]"#), some("month"), some("d")];
        assert_eq!(known(of_input(), vec![2]), renamed);
        let mut undated = of_input();
        undated.columns.remove(0);
        assert_eq!(known(undated, vec![2]), [None, some(r#"["area"]"#), None, some("d")]);
        let mut dated = own();
        dated.columns.push(column("date", guest::Source::Group(0)));
        let of_groups = [None, some(r#"["region"]"#), None, some("d")];
        assert_eq!(known(dated, vec![0, 2]), of_groups);
    }
}
