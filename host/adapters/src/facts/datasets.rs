//! Datasets: one with all that is known of it, or pages of many.

use std::sync::Arc;

use futures::{StreamExt as _, TryStreamExt as _, stream};
use yearbook_api::adapted::{describe_columns, describe_credit};
use yearbook_domain::query::parse_box;
use yearbook_domain::{
    BoundingBox, CalendarUnit, Dataset, DatasetName, Refusal, Snapshot, SnapshotSummary,
    ValidationError,
};
use yearbook_http::Error;
use yearbook_http::language::WantedLanguages;
use yearbook_sandbox::catalogue::{self, DatasetQuery};
use yearbook_search::SearchError;

use crate::AdaptersState;

/// Datasets of one answer at most.
const MAX_DATASETS: u32 = 1_000;

/// Datasets of one answer of which files are read at once, where their facts are not in memory.
const AT_ONCE: usize = 16;

/// Returns a page of the datasets of `query`, the number of all of them, and where to go on.
///
/// # Errors
/// 422 for a limit beyond the bounds, for a place to go on that is none, and for a box as rows have
/// none.
pub(super) async fn list(
    app: &AdaptersState,
    query: &DatasetQuery,
) -> Result<(Vec<catalogue::Dataset>, u64, Option<String>), Error> {
    let wrong = |name: &str, sentence: &str, raw: &str| {
        Error::invalid_parameter(ValidationError::value_error(name, sentence, raw))
    };
    if !(1..=MAX_DATASETS).contains(&query.limit) {
        let sentence = format!("limit is a number of datasets from 1 to {MAX_DATASETS}");
        return Err(wrong("limit", &sentence, &query.limit.to_string()));
    }
    let first: usize = match &query.after {
        None => 0,
        Some(after) => after.parse().map_err(|_| {
            wrong("after", "after is not what an answer before said; send it unchanged", after)
        })?,
    };
    if let Some(catalogue::BoundingBox { west, south, east, north }) = &query.bbox {
        parse_box(&format!("{west},{south},{east},{north}")).map_err(Error::invalid_parameter)?;
    }
    let matching = matching(app, query).await?;
    let limit = usize::try_from(query.limit).unwrap_or(usize::MAX);
    let page = matching.iter().skip(first).take(limit);
    let wanted = WantedLanguages::range(query.language.as_deref());
    let described: Vec<_> =
        page.map(|dataset| describe_in_language(app, dataset, &wanted, 1, query.columns)).collect();
    let datasets = stream::iter(described).buffered(AT_ONCE).try_collect().await?;
    let behind = first.saturating_add(limit);
    let next = (behind < matching.len()).then(|| behind.to_string());
    Ok((datasets, matching.len() as u64, next))
}

/// Returns the dataset called `name` with every edition that can be asked for.
///
/// # Errors
/// 404 where there is none, 422 for what is no name.
pub(super) async fn show(
    app: &AdaptersState,
    name: &str,
    language: Option<&str>,
) -> Result<catalogue::Dataset, Error> {
    let parsed = DatasetName::parse(name).ok_or_else(|| {
        let problem = ValidationError::name_pattern_mismatch("name", name);
        Error::from(Refusal::InvalidParameters(vec![problem]))
    })?;
    let dataset = app.core.dataset(&parsed)?;
    describe_in_language(app, &dataset, &WantedLanguages::range(language), usize::MAX, true).await
}

/// Describes `dataset` in a wanted language, with its newest `most` editions, and with what the
/// list of datasets in memory does not have where that is wanted.
async fn describe_in_language(
    app: &AdaptersState,
    dataset: &Dataset,
    wanted: &WantedLanguages,
    most: usize,
    is_detailed: bool,
) -> Result<catalogue::Dataset, Error> {
    let language = wanted.choose(&dataset.current);
    let snapshot = dataset.current.in_language(language);
    let described = describe(dataset, &snapshot, editions(&dataset.snapshots, most));
    if !is_detailed {
        return Ok(described);
    }
    let notes = snapshot.meaning.notes.iter();
    let facts = app.core.catalog_cache.preview_facts(dataset, &snapshot.id).await?;
    let mut columns = describe_columns(&snapshot.columns);
    let counts = app.core.reader.distinct_counts(&dataset.current).await?;
    for (column, count) in columns.iter_mut().zip(counts.iter()) {
        column.distinct = *count;
    }
    Ok(catalogue::Dataset {
        columns,
        notes: notes.map(|note| note.text.in_language(language).to_owned()).collect(),
        axis: facts.and_then(|facts| facts.axis).map(unit),
        ..described
    })
}

/// All datasets of `query`: by rank with a search, else by name.
async fn matching(app: &AdaptersState, query: &DatasetQuery) -> Result<Vec<Arc<Dataset>>, Error> {
    let all = app.core.catalog_cache.datasets();
    let search = query.search.as_deref().filter(|text| !text.trim().is_empty());
    let mut found: Vec<Arc<Dataset>> = match search {
        None => all.to_vec(),
        Some(text) => {
            // An answer is kept for its revision, so it must not be of one before.
            let revision = app.core.catalog_cache.revision();
            let index = app.search.index_of(revision).await.ok_or(Error::Unavailable)?;
            let failed =
                |failure: &dyn std::fmt::Display| Error::internal("search the catalog", failure);
            let (text, live) = (text.to_owned(), Arc::clone(&app.core.catalog_cache));
            let search = move || {
                let ranked = index.rank(&text)?;
                // One may be retired since the index was built.
                Ok(ranked.into_iter().filter_map(|name| live.dataset(name)).collect::<Vec<_>>())
            };
            let found = app.core.workers.run(search).await.map_err(|panic| failed(&panic))?;
            found.map_err(|failure: SearchError| failed(&failure))?
        }
    };
    if search.is_none() {
        found.sort_by(|left, right| left.name.cmp(&right.name));
    }
    found.retain(|dataset| {
        let in_namespace = |name: &String| dataset.namespace.as_str() == name;
        let meets = |wanted: &catalogue::BoundingBox| {
            dataset.current.bbox.is_some_and(|extent| are_touching(extent, wanted))
        };
        query.namespace.as_ref().is_none_or(in_namespace)
            && query.spatial.is_none_or(|spatial| spatial == dataset.current.has_geometry())
            && query.bbox.as_ref().is_none_or(meets)
    });
    Ok(found)
}

fn describe(
    dataset: &Dataset,
    snapshot: &Snapshot,
    editions: Vec<catalogue::Edition>,
) -> catalogue::Dataset {
    let languages = snapshot.meaning.languages.iter();
    let bbox = snapshot.bbox.map(|BoundingBox([west, south, east, north])| {
        catalogue::BoundingBox { west, south, east, north }
    });
    let dates = snapshot.date_range.as_ref();
    catalogue::Dataset {
        name: dataset.name.to_string(),
        namespace: dataset.namespace.to_string(),
        title: snapshot.title.clone(),
        description: snapshot.description.clone(),
        languages: languages.map(|language| language.as_str().to_owned()).collect(),
        notes: Vec::new(),
        credit: describe_credit(&snapshot.credit),
        columns: Vec::new(),
        primary_key: snapshot.primary_key.clone(),
        schema_version: u32::try_from(dataset.column_changes)
            .map_or(u32::MAX, |n| n.saturating_add(1)),
        axis: None,
        dates: dates.map(|(first, last)| (first.to_string(), last.to_string())),
        bbox,
        cadence: snapshot.refresh_cadence.clone(),
        editions,
    }
}

/// The newest `most` of `snapshots`, newest first.
fn editions(snapshots: &[SnapshotSummary], most: usize) -> Vec<catalogue::Edition> {
    let edition = |summary: &SnapshotSummary| catalogue::Edition {
        id: summary.id.to_string(),
        version: summary.version + 1,
        published_at: summary.created_at.to_rfc3339(),
        rows: summary.rows,
    };
    snapshots.iter().rev().take(most).map(edition).collect()
}

fn unit(unit: CalendarUnit) -> catalogue::Unit {
    match unit {
        CalendarUnit::Day => catalogue::Unit::Day,
        CalendarUnit::Week => catalogue::Unit::Week,
        CalendarUnit::Month => catalogue::Unit::Month,
        CalendarUnit::Quarter => catalogue::Unit::Quarter,
        CalendarUnit::Half => catalogue::Unit::Half,
        CalendarUnit::Year => catalogue::Unit::Year,
    }
}

/// Returns whether two boxes have a point in common. Either may lie across 180°.
fn are_touching(extent: BoundingBox, wanted: &catalogue::BoundingBox) -> bool {
    let BoundingBox([west, south, east, north]) = extent;
    let spans = |west: f64, east: f64| {
        if west <= east { vec![(west, east)] } else { vec![(west, 180.0), (-180.0, east)] }
    };
    let wanted_spans = spans(wanted.west, wanted.east);
    south <= wanted.north
        && wanted.south <= north
        && spans(west, east)
            .iter()
            .any(|own| wanted_spans.iter().any(|other| own.0 <= other.1 && other.0 <= own.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_touch_across_the_date_line_contract_17() {
        let wanted = |[west, south, east, north]: [f64; 4]| catalogue::BoundingBox {
            west,
            south,
            east,
            north,
        };
        let nz = BoundingBox([165.0, -48.0, -176.0, -33.0]);
        for (other, touches) in [
            ([170.0, -45.0, 171.0, -44.0], true),
            ([-180.0, -45.0, -179.0, -44.0], true),
            ([179.0, -45.0, -179.0, -44.0], true),
            ([-176.0, -48.0, 0.0, 0.0], true),
            ([-175.0, -48.0, 164.0, 0.0], false),
            ([170.0, -32.0, 171.0, 10.0], false),
            ([-180.0, -90.0, 180.0, 90.0], true),
        ] {
            assert_eq!(are_touching(nz, &wanted(other)), touches, "{other:?}");
        }
    }
}
