//! `/datasets/{name}/request`: a form that makes a request for rows without a script, and the
//! address and lines to copy of the request that it makes (contract-15-request-page). It reads no
//! row and needs no key: what there is to choose is stored when a snapshot is published.

use std::sync::Arc;

use askama::Template;
use yearbook_domain::meaning::Language;
use yearbook_domain::query::{is_condition, parse_data};
use yearbook_domain::read_plan::resolve_selection;
use yearbook_domain::values::{StoredValues, ValueLabels, ValuesPage};
use yearbook_domain::{CanonicalQuery, Column, ColumnRole, Dataset, ValidationError};

use crate::copy_lines::{CopyLine, LineRequest, copy_lines};
use crate::credit_view::CreditView;
use crate::dataset_formats::DatasetFormats;
use crate::figures::count;
use crate::{Frame, Section, Site};

/// Columns that have a field of conditions at most.
const MAX_FIELDS: usize = 50;

/// Values that a field lists at most; of more, one is typed in.
const MAX_CHOICES: usize = 1_000;

/// Lines of a list of values that are seen at once.
const VISIBLE_CHOICES: usize = 8;

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
    is_chosen: bool,
}

/// The values that publishing stored, with their labels.
pub(super) struct Choosable {
    values: Option<Arc<StoredValues>>,
    labels: ValueLabels,
    language: Option<Language>,
}

impl Choosable {
    pub(super) fn new(values: Option<Arc<StoredValues>>, language: Option<Language>) -> Self {
        let labels = ValueLabels::new(values.clone(), language.clone());
        Self { values, labels, language }
    }

    /// Texts and values of a column that has few; the empty text is left out: an empty field is
    /// no condition.
    fn list(&self, position: usize, column: &Column) -> Option<Vec<(String, String)>> {
        let page = ValuesPage { limit: MAX_CHOICES, after: None };
        let listed = self.values.as_ref()?.column(position)?.page(&page);
        let values = listed.values.iter().map(|(value, _)| {
            let label = self.labels.label(column, position, value);
            let value = value.to_string();
            let text = label.map(|label| format!("{label} ({value})"));
            (text.unwrap_or_else(|| value.clone()), value)
        });
        let is_list = !listed.has_more && !listed.values.is_empty();
        is_list.then(|| values.filter(|(_, value)| !value.is_empty()).collect())
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
        let kind = match choosable.list(position, column) {
            Some(listed) => {
                let chosen = |(text, value): (String, String)| Choice {
                    is_chosen: input.has(&name, &value),
                    value,
                    text,
                };
                let choices: Vec<Choice> = listed.into_iter().map(chosen).collect();
                FieldKind::List { lines: choices.len().min(VISIBLE_CHOICES), choices }
            }
            None => {
                FieldKind::Text { value: input.values(&name).next().unwrap_or_default().to_owned() }
            }
        };
        let title = column.title().map(|title| format!("{title} ({})", column.name));
        ConditionField { name, title: title.unwrap_or_else(|| column.name.clone()), kind }
    };
    columns.filter(|(_, column)| is_chosen_by(column)).take(MAX_FIELDS).map(field).collect()
}
