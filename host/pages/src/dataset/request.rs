//! `/datasets/{name}/request`: a form that makes a request for rows without a script, and the
//! address and lines to copy of the request that it makes (contract-15-request-page). It reads no
//! row and needs no key: what there is to choose is stored when a snapshot is published.

use std::sync::Arc;

use askama::Template;
use yearbook_domain::meaning::{Language, StatusCodes};
use yearbook_domain::query::{is_condition, parse_data};
use yearbook_domain::read_plan::resolve_selection;
use yearbook_domain::values::{StoredValues, ValueLabels, ValuesPage};
use yearbook_domain::{CanonicalQuery, Column, ColumnRole, Dataset, ValidationError};

use crate::copy_lines::{CopyLine, LineRequest, copy_lines};
use crate::credit_view::CreditView;
use crate::dataset_formats::DatasetFormats;
use crate::figures::count;
use crate::html::visible;
use crate::{Frame, Section, Site};

/// Columns that have a field of conditions at most.
const MAX_FIELDS: usize = 50;

/// Values that a field lists at most; of more, one is typed in.
const MAX_CHOICES: usize = 1_000;

/// Lines of a list of values that are seen at once.
const VISIBLE_CHOICES: usize = 8;

/// Language of the page's own words.
const PAGE_LANGUAGE: &str = "en";

/// Fields of the form besides conditions, which are parameters of `/data` too.
const FIELDS: [&str; 5] = ["start", "end", "columns", "last", "format"];

/// Fields of the form as they were sent; empty ones are left out.
pub(super) struct FormInput {
    pairs: Vec<(String, String)>,
}

/// The request that a form makes.
struct MadeRequest {
    /// Address of the rows.
    url: String,
    /// Rows that it has, where it does not ask for all; the others follow on its next pages.
    first_rows: Option<String>,
    lines: Vec<CopyLine<'static>>,
}

/// `/datasets/{name}/request`.
#[derive(Template)]
#[template(path = "request.html")]
pub(super) struct RequestPage<'a> {
    frame: Frame<'a>,
    dataset: &'a Dataset,
    credit: CreditView<'a>,
    /// The next page is in the same one.
    language: Option<Language>,
    conditions: Vec<ConditionField>,
    columns: Vec<Choice>,
    formats: Vec<Choice>,
    start: String,
    end: String,
    has_dates: bool,
    is_newest: bool,
    /// Sentences about what was sent.
    faults: Vec<String>,
    /// `None` before anything was sent, and where it is wrong.
    made: Option<MadeRequest>,
}

/// A field of conditions on one column.
struct ConditionField {
    /// Name of the parameter.
    name: String,
    title: String,
    /// Language of the title, where it is not the page's.
    language: Option<String>,
    /// True where the column has a text that a form cannot send.
    has_unsent: bool,
    kind: FieldKind,
}

enum FieldKind {
    List { choices: Vec<Choice>, lines: usize },
    Text { value: String },
}

/// A value that can be chosen.
struct Choice {
    value: String,
    /// The same with its label, for people.
    text: String,
    /// Language of the label, where it is not the page's.
    language: Option<String>,
    is_chosen: bool,
}

/// The values that publishing stored, with their labels.
pub(super) struct Choosable {
    /// As it was published.
    dataset: Arc<Dataset>,
    values: Option<Arc<StoredValues>>,
    labels: ValueLabels,
    /// The same in the first language.
    own_labels: ValueLabels,
    language: Option<Language>,
}

impl Choosable {
    pub(super) fn new(
        dataset: &Arc<Dataset>,
        values: Option<Arc<StoredValues>>,
        language: Option<Language>,
    ) -> Self {
        Self {
            dataset: Arc::clone(dataset),
            labels: ValueLabels::new(values.clone(), language.clone()),
            own_labels: ValueLabels::new(values.clone(), None),
            values,
            language,
        }
    }

    /// Language of a text which is `own` in the first one, where it is not that of the page.
    fn language_of(&self, text: &str, own: Option<&str>) -> Option<String> {
        let first = self.dataset.current.meaning.languages.first();
        let language = self.language.as_ref().filter(|_| own != Some(text)).or(first)?;
        (language.as_str() != PAGE_LANGUAGE).then(|| language.as_str().to_owned())
    }

    /// Values of a column with their labels, and whether some are left out, since a form cannot
    /// send them. None of a column that has many.
    fn list(
        &self,
        position: usize,
        column: &Column,
        is_chosen: impl Fn(&str) -> bool,
    ) -> (Option<Vec<Choice>>, bool) {
        let page = ValuesPage { limit: MAX_CHOICES, after: None };
        let stored = self.values.as_ref().and_then(|values| values.column(position));
        let Some(listed) = stored.map(|stored| stored.page(&page)) else { return (None, false) };
        let choice = |value: String| {
            let label = self.labels.label_of_text(column, position, &value);
            let language =
                label.and_then(|label| self.label_language(position, column, label, &value));
            Choice { language, text: labelled(label, &value), is_chosen: is_chosen(&value), value }
        };
        let is_list = !listed.has_more && !listed.values.is_empty();
        let all = listed.values.iter().map(|(value, _)| value.to_string());
        let (values, unsent): (Vec<String>, Vec<String>) = all.partition(|value| is_sent(value));
        (is_list.then(|| values.into_iter().map(choice).collect()), !unsent.is_empty())
    }

    /// Language of a label, where it is not that of the page, as lists of SDMX are.
    fn label_language(
        &self,
        position: usize,
        column: &Column,
        label: &str,
        value: &str,
    ) -> Option<String> {
        let known = column.status().filter(|of| matches!(of.codes, StatusCodes::Known(_)));
        if known.and_then(|of| of.codes.label(value, None)) == Some(label) {
            return None;
        }
        self.language_of(label, self.own_labels.label_of_text(column, position, value))
    }
}

impl FormInput {
    /// Reads the pairs of an address.
    pub(super) fn new(pairs: Vec<(String, String)>) -> Self {
        let is_field = |name: &str| FIELDS.contains(&name) || is_condition(name);
        let sent = pairs.into_iter();
        Self { pairs: sent.filter(|(name, value)| is_field(name) && !value.is_empty()).collect() }
    }

    fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.pairs.iter().filter(move |(sent, _)| sent == name).map(|(_, value)| value.as_str())
    }

    fn has(&self, name: &str, value: &str) -> bool {
        self.values(name).any(|sent| sent == value)
    }

    /// The parameters of `/data`: a form repeats the names of columns, a request lists them.
    fn parameters(&self) -> Vec<(String, String)> {
        let columns: Vec<&str> = self.values("columns").collect();
        let others = self.pairs.iter().filter(|(name, _)| name != "columns").cloned();
        let listed = (!columns.is_empty()).then(|| ("columns".to_owned(), columns.join(",")));
        others.chain(listed).collect()
    }

    /// The selection in the current version, as canonical text, and the format.
    fn select(
        &self,
        dataset: &Dataset,
        formats: &[&str],
    ) -> Result<(CanonicalQuery, Option<String>), Vec<ValidationError>> {
        let (selection, output) = parse_data(&self.parameters(), formats)?;
        let (name, namespace) = (dataset.name.clone(), dataset.namespace.clone());
        let current = Arc::clone(&dataset.current);
        let plan = resolve_selection(name, namespace, current, &selection)?;
        Ok((CanonicalQuery::new(&plan, None), output.format))
    }
}

impl<'a> RequestPage<'a> {
    /// The page of `dataset`, in its language.
    pub(super) fn new(
        site: &'a Site,
        base_url: &str,
        dataset: &'a Dataset,
        formats: &DatasetFormats,
        choosable: &Choosable,
        input: &FormInput,
    ) -> Self {
        let snapshot = &*dataset.current;
        let names: Vec<&str> =
            formats.iter().map(|encoder| encoder.description().format.as_str()).collect();
        let (mut faults, mut made) = (Vec::new(), None);
        if !input.pairs.is_empty() {
            match input.select(dataset, &names) {
                Ok((query, format)) => {
                    let request = LineRequest::new(base_url, dataset, &query);
                    let url = request
                        .url(format.as_deref().or(names.first().copied()).unwrap_or_default());
                    let lines = copy_lines(&request, formats);
                    let first_rows = request.first_rows().map(count);
                    made = Some(MadeRequest { url, first_rows, lines });
                }
                Err(problems) => {
                    let sentence =
                        |problem: ValidationError| format!("{}: {}", problem.loc[1], problem.msg);
                    faults.extend(problems.into_iter().map(sentence));
                }
            }
        }
        let first = |name| input.values(name).next().unwrap_or_default().to_owned();
        let choice = |name: &str, value: &str| Choice {
            value: value.to_owned(),
            text: value.to_owned(),
            language: None,
            is_chosen: input.has(name, value),
        };
        Self {
            frame: site.frame(dataset.title(), Section::Datasets),
            dataset,
            credit: CreditView(&snapshot.credit),
            language: choosable.language.clone(),
            conditions: condition_fields(dataset, choosable, input),
            columns: snapshot
                .columns
                .iter()
                .map(|column| choice("columns", &column.name))
                .collect(),
            formats: names.iter().map(|name| choice("format", name)).collect(),
            start: first("start"),
            end: first("end"),
            has_dates: snapshot.date_column.is_some(),
            is_newest: input.has("last", "1"),
            faults,
            made,
        }
    }
}

/// Fields for the columns that tell rows apart, time left out: dates have fields of their own.
fn condition_fields(
    dataset: &Dataset,
    choosable: &Choosable,
    input: &FormInput,
) -> Vec<ConditionField> {
    let columns = dataset.current.columns.iter().enumerate();
    let is_chosen_by = |column: &Column| {
        use ColumnRole::{Attribute, Dimension, Key, Status};
        matches!(column.role, Dimension | Key | Attribute | Status)
    };
    let field = |(position, column): (usize, &Column)| {
        let name = format!("where.{}", column.name);
        let (listed, has_unsent) =
            choosable.list(position, column, |value| input.has(&name, value));
        let kind = match listed {
            Some(choices) => {
                FieldKind::List { lines: choices.len().clamp(1, VISIBLE_CHOICES), choices }
            }
            None => {
                let value = input.values(&name).find(|value| is_sent(value));
                FieldKind::Text { value: value.unwrap_or_default().to_owned() }
            }
        };
        let has_unsent = has_unsent || input.values(&name).any(|value| !is_sent(value));
        let own = choosable.dataset.current.column(&column.name).and_then(Column::title);
        let language = column.title().and_then(|title| choosable.language_of(title, own));
        let title = labelled(column.title(), &column.name);
        ConditionField { name, title, language, has_unsent, kind }
    };
    columns.filter(|(_, column)| is_chosen_by(column)).take(MAX_FIELDS).map(field).collect()
}

/// Returns whether a form sends `value` as it is: an empty field is no condition, browsers make
/// CRLF of line breaks, and pages show control characters as others.
fn is_sent(value: &str) -> bool {
    !value.is_empty() && !value.contains(['\n', '\r']) && value.chars().all(|c| visible(c) == c)
}

/// A value with its label; alone where there is none to be seen.
fn labelled(label: Option<&str>, value: &str) -> String {
    match label.filter(|label| !label.trim().is_empty()) {
        Some(label) => format!("{label} ({value})"),
        None => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_browser_would_change_is_not_sent_contract_15() {
        for value in ["a", "Māori 💩", " a\tb ", "<&\""] {
            assert!(is_sent(value), "{value:?}");
        }
        for value in ["", "a\nb", "a\rb", "\u{1}", "a\u{7f}", "\u{85}", "\u{ffff}"] {
            assert!(!is_sent(value), "{value:?}");
        }
    }

    #[test]
    fn a_blank_label_is_none_contract_15() {
        for (label, shown) in
            [(Some("Low"), "Low (L)"), (Some(" "), "L"), (Some(""), "L"), (None, "L")]
        {
            assert_eq!(labelled(label, "L"), shown, "{label:?}");
        }
    }
}
