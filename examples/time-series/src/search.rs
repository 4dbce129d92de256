//! `series/search`: the series of the datasets that a search finds first.

use yearbook_sdk::adapter::{
    Asked, Dataset, DatasetQuery, Host, Pick, Reply, Request, Selection, Step, Table,
};

use crate::requests::{count, listed, text};
use crate::series::{date_column, series_columns, value_columns};
use crate::xml::{bad_request, document};

/// Datasets that are listed: as many as a request may read.
const DATASETS: usize = 4;
/// Series of a dataset that are listed: as many rows as the host tells.
const SERIES: u64 = 200;

/// Answers a search. Of each series the newest row is read; where it begins is not, so that as many
/// datasets are listed as can be.
pub(crate) fn series(request: &Request, host: &mut Host) -> Step<Reply> {
    let Some(words) = request.parameter("search_text") else {
        return Err(bad_request("Variable search_text is not set."));
    };
    let found =
        host.datasets(DatasetQuery { search: Some(words.to_owned()), ..DatasetQuery::page(20) })?;
    let with_series =
        |dataset: &Dataset| date_column(dataset).is_some() && !value_columns(dataset).is_empty();
    let datasets = found.datasets.into_iter().filter(with_series).take(DATASETS);
    let datasets: Vec<Dataset> = datasets.collect();
    let newest = datasets.iter().map(|dataset| Asked::rows(newest(dataset)));
    let newest = host.ask(newest.collect::<Vec<_>>())?;
    let elements: Vec<String> = datasets
        .iter()
        .zip(&newest)
        .flat_map(|(dataset, table)| elements(dataset, table))
        .collect();
    let limit = count(request, "limit")?.unwrap_or(1_000).min(1_000);
    let offset = count(request, "offset")?.unwrap_or(0);
    let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let page: Vec<String> = elements.iter().skip(size(offset)).take(size(limit)).cloned().collect();
    let number = |number: u64| number.to_string();
    let attributes = [
        ("order_by", "search_rank"),
        ("sort_order", "desc"),
        ("count", &*elements.len().to_string()),
        ("offset", &number(offset)),
        ("limit", &number(limit)),
    ];
    Ok(document("seriess", &attributes, &page).into())
}

/// The newest row of each series.
fn newest(dataset: &Dataset) -> Selection {
    let columns = series_columns(dataset).into_iter().chain(date_column(dataset));
    let columns = columns.map(|column| column.name.clone()).collect();
    let (pick, limit) = (Pick::Last(1), Some(SERIES));
    Selection { pick, limit, columns: Some(columns), ..Selection::new(&dataset.name) }
}

/// An element for each value column of each series.
fn elements(dataset: &Dataset, newest: &Table) -> Vec<String> {
    let first = dataset.dates.as_ref().map_or("", |(first, _)| first);
    let mut elements = Vec::new();
    for row in &newest.rows {
        let mut values: Vec<Option<String>> = row.iter().map(text).collect();
        let Some(Some(last)) = values.pop() else { continue };
        for column in value_columns(dataset) {
            elements.push(listed(dataset, &values, column, (first, &last)));
        }
    }
    elements
}
