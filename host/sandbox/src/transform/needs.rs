//! Needs of a transform, checked against the columns of its input.

use std::collections::HashSet;

use arrow::datatypes::{DataType, Schema};
use yearbook_domain::{CalendarSpan, CalendarUnit, ColumnRole, Date};

use super::columns::{date_column, is_date, value_type};
use crate::guest::bindings::transform::exports::yearbook::plugin::transform as guest;
use crate::guest::bindings::transform::yearbook::plugin::statistics::Unit;
use crate::guest::parameters::quote;

pub(super) use crate::guest::bindings::transform::exports::yearbook::plugin::transform::Form;

/// Columns and rows that a transform wants to see.
#[derive(Clone, Debug)]
pub(super) struct Needs {
    /// Columns that cross, by their positions in the input.
    pub(super) columns: Vec<(usize, Form)>,
    /// Columns that number the rows' groups; `None` where rows have no groups.
    pub(super) groups: Option<Vec<usize>>,
    /// Rows before the first day that cross too.
    pub(super) before: Option<CalendarSpan>,
    /// Rows that come first.
    pub(super) prime: Priming,
}

/// Rows that a transform sees before the first `push`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Priming {
    None,
    /// Rows of these dates, both inclusive.
    Dates(Date, Date),
    /// Every row that will be pushed.
    All,
}

/// Needs that cannot be met.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unmet {
    /// The transform's fault: the rule that they break.
    Broken(String),
    /// The table's: a sentence for the client.
    Declined(String),
}

impl Needs {
    /// Reads what `plan` returned for `schema`.
    ///
    /// # Errors
    /// [`Unmet`].
    pub(super) fn check(raw: guest::Needs, schema: &Schema) -> Result<Self, Unmet> {
        let guest::Needs { columns, groups, before, prime } = raw;
        let columns = columns.into_iter().map(|need| check_need(need, schema));
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        once("needs", columns.iter().map(|(column, _)| *column)).map_err(Unmet::Broken)?;
        let position = |column| check_position("needs.groups", column, schema);
        let groups = groups
            .map(|groups| groups.into_iter().map(position).collect::<Result<Vec<_>, _>>())
            .transpose()
            .map_err(Unmet::Broken)?;
        once("needs.groups", groups.iter().flatten().copied()).map_err(Unmet::Broken)?;
        let before = before.map(check_span).transpose().map_err(Unmet::Broken)?;
        let prime = check_priming(prime).map_err(Unmet::Broken)?;
        let dated = before.is_some() || matches!(prime, Priming::Dates(..));
        if dated && date_column(schema).is_none() {
            let role = ColumnRole::Date.as_str();
            return Err(Unmet::Declined(format!(
                "it needs a column of dates with the role {role}"
            )));
        }
        Ok(Self { columns, groups, before, prime })
    }
}

fn check_need(need: guest::Need, schema: &Schema) -> Result<(usize, Form), Unmet> {
    let column = check_position("needs", need.column, schema).map_err(Unmet::Broken)?;
    let field = schema.field(column);
    let has_codes = matches!(
        value_type(field.data_type()),
        DataType::Utf8 | DataType::Boolean | DataType::Int64
    );
    match need.form {
        // A client may name any column, and a transform need not know which of them have codes.
        Form::Coded if !has_codes => Err(Unmet::Declined(format!(
            "the column {} holds numbers, whose values are not stored; name a column of text, dates, integers or booleans",
            field.name()
        ))),
        Form::Days if !is_date(field) => Err(Unmet::Broken(format!(
            "needs of days of the column {}, which has none",
            quote(field.name())
        ))),
        Form::Plain | Form::Coded | Form::Days => Ok((column, need.form)),
    }
}

/// A position that the schema has.
pub(super) fn check_position(what: &str, column: u32, schema: &Schema) -> Result<usize, String> {
    let position = usize::try_from(column).ok().filter(|at| *at < schema.fields().len());
    position
        .ok_or_else(|| format!("{what} with column {column} of {} columns", schema.fields().len()))
}

/// Refuses a position that stands twice.
pub(super) fn once(what: &str, columns: impl Iterator<Item = usize>) -> Result<(), String> {
    let mut seen = HashSet::new();
    for column in columns {
        if !seen.insert(column) {
            return Err(format!("{what} with column {column} twice"));
        }
    }
    Ok(())
}

fn check_span(span: guest::Span) -> Result<CalendarSpan, String> {
    let unit = match span.unit {
        Unit::Day => CalendarUnit::Day,
        Unit::Week => CalendarUnit::Week,
        Unit::Month => CalendarUnit::Month,
        Unit::Quarter => CalendarUnit::Quarter,
        Unit::Half => CalendarUnit::Half,
        Unit::Year => CalendarUnit::Year,
    };
    CalendarSpan::new(span.count, unit)
        .ok_or_else(|| "needs.before of more than 400 years".to_owned())
}

fn check_priming(prime: guest::Priming) -> Result<Priming, String> {
    Ok(match prime {
        guest::Priming::None => Priming::None,
        guest::Priming::All => Priming::All,
        guest::Priming::Dates((from, to)) => {
            let dates = Date::parse(&from).zip(Date::parse(&to)).filter(|(from, to)| from <= to);
            let (from, to) = dates.ok_or_else(|| {
                format!("needs.prime with the dates {} to {}", quote(&from), quote(&to))
            })?;
            Priming::Dates(from, to)
        }
    })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use arrow::datatypes::Field;

    use super::*;
    use crate::transform::columns::tests::table;

    fn good() -> guest::Needs {
        guest::Needs {
            columns: vec![guest::Need { column: 3, form: Form::Plain }],
            groups: Some(vec![2]),
            before: Some(guest::Span { count: 12, unit: Unit::Month }),
            prime: guest::Priming::Dates(("2015-01-01".into(), "2015-12-31".into())),
        }
    }

    #[test]
    fn needs_are_met_only_where_the_input_has_the_columns_in_that_form_contract_16() {
        let needs = Needs::check(good(), &table()).unwrap();
        assert_eq!((needs.columns.len(), needs.groups), (1, Some(vec![2])));
        let need = |column, form| vec![guest::Need { column, form }];
        type Spoil = fn(&mut guest::Needs);
        let cases: [(&str, Spoil); 10] = [
            ("column 4 of 4", |n| n.columns = vec![guest::Need { column: 4, form: Form::Plain }]),
            ("column 4294967295 of 4", |n| n.columns[0].column = u32::MAX),
            ("column 3 twice", |n| n.columns.push(guest::Need { column: 3, form: Form::Plain })),
            ("days of the column \"value\"", |n| n.columns[0].form = Form::Days),
            ("days of the column \"region\"", |n| {
                n.columns = vec![guest::Need { column: 2, form: Form::Days }]
            }),
            ("needs.groups with column 9 of 4", |n| n.groups = Some(vec![9])),
            ("needs.groups with column 2 twice", |n| n.groups = Some(vec![2, 2])),
            ("more than 400 years", |n| {
                n.before = Some(guest::Span { count: u32::MAX, unit: Unit::Year })
            }),
            ("dates \"2015-01-01\" to \"2014-01-01\"", |n| {
                n.prime = guest::Priming::Dates(("2015-01-01".into(), "2014-01-01".into()))
            }),
            ("dates \"2015\" to", |n| {
                n.prime = guest::Priming::Dates(("2015".into(), "2016".into()))
            }),
        ];
        for (rule, spoil) in cases {
            let mut raw = good();
            spoil(&mut raw);
            let found = Needs::check(raw, &table());
            assert!(matches!(&found, Err(Unmet::Broken(said)) if said.contains(rule)), "{found:?}");
        }
        for (column, form) in [(0, Form::Days), (0, Form::Plain), (2, Form::Coded)] {
            let raw = guest::Needs { columns: need(column, form), ..good() };
            assert!(Needs::check(raw, &table()).is_ok(), "{column} {form:?}");
        }
    }

    #[test]
    fn codes_of_a_column_that_has_none_are_declined_contract_16() {
        let columns = vec![guest::Need { column: 3, form: Form::Coded }];
        let found = Needs::check(guest::Needs { columns, ..good() }, &table());
        assert!(
            matches!(&found, Err(Unmet::Declined(said)) if said.contains("the column value holds")),
            "{found:?}"
        );
    }

    #[test]
    fn rows_before_or_of_dates_need_a_date_axis_contract_16() {
        let undated = Schema::new(vec![Field::new("value", DataType::Float64, true)]);
        let needs = |before, prime| {
            let raw = guest::Needs { columns: Vec::new(), groups: None, before, prime };
            Needs::check(raw, &undated).map(|needs| needs.prime)
        };
        let before = Some(guest::Span { count: 1, unit: Unit::Day });
        let dates = guest::Priming::Dates(("2015-01-01".into(), "2015-01-01".into()));
        for found in [needs(before, guest::Priming::None), needs(None, dates)] {
            assert!(matches!(&found, Err(Unmet::Declined(said)) if said.contains("date")));
        }
        assert_eq!(needs(None, guest::Priming::All), Ok(Priming::All));
    }
}
