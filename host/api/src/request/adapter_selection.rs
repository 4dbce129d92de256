//! Selections of adapters as the parameters of `/data` and `/changes` (contract-17-rows): there is
//! one way to ask for rows, so what is wrong is refused as there, with the same sentence.

use std::sync::Arc;

use http::Method;
use http::header::{IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_UNMODIFIED_SINCE};
use http::request::Parts;
use yearbook_catalog::clock;
use yearbook_domain::query::Operator;
use yearbook_domain::values::ValuesQuery;
use yearbook_domain::{DatasetName, Date, Refusal, ValidationError, name};
use yearbook_http::Error;
use yearbook_http::language::WantedLanguages;
use yearbook_sandbox::catalogue::{self, Condition, Pick, Selection, ValueQuery, Version};
use yearbook_sandbox::{PluginEncoder, adapter};

use super::data_request::RowsOf;
use super::{DataRequest, ValuesRequest};
use crate::ApiState;

/// Fate of the rows that an adapter selects.
pub(crate) enum SelectedOutput<'a> {
    /// An encoder writes them: the format that is named, or the one that the adapter brings.
    Encoded { rows: &'a adapter::Rows, own: Option<&'a Arc<PluginEncoder>> },
    /// The adapter is told of so many at most.
    Values { limit: u64 },
}

impl DataRequest {
    /// The request that `parts` would be if it asked for `selection`: a GET without conditions.
    ///
    /// # Errors
    /// Those of a request for rows; 422 for what no adapter may select.
    pub(crate) fn of_selection(
        app: &ApiState,
        parts: &Parts,
        selection: &Selection,
        output: &SelectedOutput<'_>,
    ) -> Result<Self, Error> {
        let (rows_of, problem) = rows_of(selection);
        let mut pairs = row_pairs(selection);
        pairs.extend(shape_pairs(selection));
        let plugins = app.core.plugins.current();
        let encoder = match output {
            SelectedOutput::Encoded { rows, own } => {
                let own = own.filter(|_| rows.format.is_none());
                let named = rows.format.iter().map(|format| ("format".to_owned(), format.clone()));
                pairs.extend(named);
                let format = own.map(|own| &own.description().format).or(rows.format.as_ref());
                let format = format.map_or("", String::as_str);
                let option =
                    |(name, value): &(String, String)| (format!("{format}.{name}"), value.clone());
                pairs.extend(rows.options.iter().map(option));
                own.cloned()
            }
            SelectedOutput::Values { limit } => {
                pairs.push(("limit".to_owned(), limit.to_string()));
                plugins.encoders().next().cloned()
            }
        };
        let name = dataset_name(selection);
        let parts = bare(parts);
        let mut request = Self::new(app, parts, name, pairs, rows_of, problem, encoder)?;
        request.selection.skip = selection.skip.into();
        request.selection.row = selection.row;
        request.selection.row_numbers = selection.row_numbers;
        Ok(request)
    }
}

impl ValuesRequest {
    /// The request for values that `query` asks for.
    ///
    /// # Errors
    /// Those of a request for values; 422 for what values are not counted over.
    pub(crate) fn of_query(parts: &Parts, query: &ValueQuery) -> Result<Self, Error> {
        let ValueQuery { selection, columns, after, limit, language } = query;
        let mut pairs = row_pairs(selection);
        let named = (!columns.is_empty()).then(|| ("columns".to_owned(), columns.join(",")));
        let after = after.clone().map(|after| ("after".to_owned(), after));
        pairs.extend(named.into_iter().chain(after));
        pairs.push(("limit".to_owned(), limit.to_string()));
        let apply = selection.apply.iter().map(|applied| &*applied.transform).collect::<Vec<_>>();
        let apply = (!apply.is_empty()).then(|| ("apply".to_owned(), apply.join(",")));
        pairs.extend(apply);
        let problem = match rows_of(selection) {
            (_, Some(problem)) => Some(problem),
            (RowsOf::Changes, None) => Some(stray("since", "values are those of one snapshot")),
            (RowsOf::Revisions, None) => {
                Some(stray("revisions", "values are those of one snapshot"))
            }
            (RowsOf::Snapshot, None) => uncounted(selection),
        };
        match (dataset_name(selection), ValuesQuery::parse(&pairs, clock::now()), problem) {
            (Ok(name), Ok(query), None) => {
                let wanted = WantedLanguages::range(language.as_deref());
                Ok(Self { name, parts: bare(parts), query, wanted })
            }
            (name, query, problem) => {
                let problems = name.err().into_iter().chain(query.err().into_iter().flatten());
                Err(Refusal::InvalidParameters(problems.chain(problem).collect()).into())
            }
        }
    }
}

fn dataset_name(selection: &Selection) -> Result<DatasetName, ValidationError> {
    let name = DatasetName::parse(&selection.dataset);
    name.ok_or_else(|| ValidationError::name_pattern_mismatch("name", &selection.dataset))
}

/// `parts` as a GET of everything.
fn bare(parts: &Parts) -> Parts {
    let mut parts = parts.clone();
    parts.method = Method::GET;
    for condition in [IF_MATCH, IF_NONE_MATCH, IF_MODIFIED_SINCE, IF_UNMODIFIED_SINCE] {
        parts.headers.remove(condition);
    }
    parts
}

/// The route that has the rows of `selection`, and the problem of one that no route has.
fn rows_of(selection: &Selection) -> (RowsOf, Option<ValidationError>) {
    let empty = selection.conditions.iter().find(|condition| {
        condition.values.is_empty()
            && !matches!(
                condition.operator,
                catalogue::Operator::IsNull | catalogue::Operator::IsNotNull
            )
    });
    let empty = empty.map(|condition| {
        stray(&parameter(condition), "a condition has a value to compare with; name one")
    });
    match &selection.version {
        Version::Current | Version::Snapshot(_) | Version::AsOf(_) => (RowsOf::Snapshot, empty),
        Version::ChangesSince(_) => (RowsOf::Changes, empty.or_else(|| unchanged(selection))),
        Version::Revisions => (RowsOf::Revisions, empty),
    }
}

/// The problem of changes less than all: `/changes` ignores what else selects rows.
fn unchanged(selection: &Selection) -> Option<ValidationError> {
    let selects =
        !shape_pairs(selection).iter().all(|(name, _)| name == "geometry" || name == "limit")
            || row_pairs(selection).iter().any(|(name, _)| name != "since")
            || selection.row.is_some()
            || selection.row_numbers
            || selection.skip > 0;
    selects.then(|| stray("since", "changes are those of all rows and columns; leave the rest out"))
}

/// The problem of rows that values are not counted over.
fn uncounted(selection: &Selection) -> Option<ValidationError> {
    if selection.row.is_some() {
        return Some(stray("row", "values are counted over many rows; leave row out"));
    }
    match selection.pick {
        Pick::All => None,
        Pick::First(_) => Some(stray("first", "values are counted over all rows; leave first out")),
        Pick::Last(_) => Some(stray("last", "values are counted over all rows; leave last out")),
    }
}

fn stray(name: &str, sentence: &str) -> ValidationError {
    ValidationError::value_error(name, sentence, "")
}

/// Parameters that select rows of the dataset.
fn row_pairs(selection: &Selection) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    let mut push = |name: &str, value: &str| pairs.push((name.to_owned(), value.to_owned()));
    match &selection.version {
        Version::Snapshot(id) => push("snapshot", id),
        Version::AsOf(time) => push("as_of", time),
        Version::ChangesSince(since) => push("since", since),
        Version::Current | Version::Revisions => {}
    }
    if let Some(start) = &selection.start {
        push("start", &first_date(start));
    }
    if let Some(end) = &selection.end {
        push("end", &last_date(end));
    }
    if let Some(search) = &selection.search {
        push("dimensions", search);
    }
    for condition in &selection.conditions {
        let name = parameter(condition);
        match condition.operator {
            catalogue::Operator::IsNull => push(&name, "true"),
            catalogue::Operator::IsNotNull => push(&name, "false"),
            _ => condition.values.iter().for_each(|value| push(&name, value)),
        }
    }
    if let Some(catalogue::BoundingBox { west, south, east, north }) = selection.bbox {
        push("bbox", &format!("{west},{south},{east},{north}"));
    }
    pairs
}

/// The first date of a year or a month; any other text as it is.
fn first_date(text: &str) -> String {
    complete_date(text, &["-01-01", "-01"])
}

/// The last date of a year or a month; any other text as it is.
fn last_date(text: &str) -> String {
    complete_date(text, &["-12-31", "-31", "-30", "-29", "-28"])
}

fn complete_date(text: &str, ends: &[&str]) -> String {
    let mut completed = ends.iter().map(|end| format!("{text}{end}"));
    completed.find(|date| Date::parse(date).is_some()).unwrap_or_else(|| text.to_owned())
}

/// Parameters that say which columns of these rows, how many, in which order and shape.
fn shape_pairs(selection: &Selection) -> Vec<(String, String)> {
    let mut pairs = vec![("geometry".to_owned(), selection.geometry.to_string())];
    let mut push = |name: &str, value: String| pairs.push((name.to_owned(), value));
    if let Some(columns) = &selection.columns {
        push("columns", columns.join(","));
    }
    if !selection.sort.is_empty() {
        let name = |(column, descending): &(String, bool)| {
            format!("{}{column}", if *descending { "-" } else { "" })
        };
        push("sort", selection.sort.iter().map(name).collect::<Vec<_>>().join(","));
    }
    match selection.pick {
        Pick::All => {}
        Pick::First(rows) => push("first", rows.to_string()),
        Pick::Last(rows) => push("last", rows.to_string()),
    }
    if !selection.apply.is_empty() {
        let names: Vec<&str> = selection.apply.iter().map(|applied| &*applied.transform).collect();
        push("apply", names.join(","));
        for applied in &selection.apply {
            for (option, value) in &applied.options {
                push(&format!("{}.{option}", applied.transform), value.clone());
            }
        }
    }
    if let Some(limit) = selection.limit {
        push("limit", limit.to_string());
    }
    if let Some(cursor) = &selection.cursor {
        push("cursor", cursor.clone());
    }
    pairs
}

fn parameter(condition: &Condition) -> String {
    let operator = match condition.operator {
        catalogue::Operator::Equal => Operator::Equal,
        catalogue::Operator::NotEqual => Operator::Not,
        catalogue::Operator::Ge => Operator::AtLeast,
        catalogue::Operator::Gt => Operator::Above,
        catalogue::Operator::Le => Operator::AtMost,
        catalogue::Operator::Lt => Operator::Below,
        catalogue::Operator::Contains => Operator::Contains,
        catalogue::Operator::Starts => Operator::Starts,
        catalogue::Operator::IsNull | catalogue::Operator::IsNotNull => Operator::Null,
    };
    // It stands beside each of thousands of values, and no column has a longer name.
    let column = &condition.column;
    operator.parameter(&column[..column.floor_char_boundary(name::MAX_BYTES + 1)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn less_of_a_date_begins_and_ends_as_its_days_do_contract_17() {
        for (text, first, last) in [
            ("2020", "2020-01-01", "2020-12-31"),
            ("2020-02", "2020-02-01", "2020-02-29"),
            ("2021-02", "2021-02-01", "2021-02-28"),
            ("2021-04", "2021-04-01", "2021-04-30"),
            ("2021-04-05", "2021-04-05", "2021-04-05"),
            ("2021-13", "2021-13", "2021-13"),
            ("", "", ""),
            ("x", "x", "x"),
        ] {
            assert_eq!((&*first_date(text), &*last_date(text)), (first, last), "{text}");
        }
    }
}
