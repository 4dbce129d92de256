//! The repository's own packages: real tables with real faults of their kind (invalid rings, nulls,
//! leading zeros) publish.

use yearbook_domain::preview_facts::MAX_FACTS_BYTES;
use yearbook_domain::{CalendarUnit, Column};
use yearbook_facts::TableShape;
use yearbook_scan::ResultHasher;

use super::*;

mod credit;

const DATASETS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../datasets");

fn packages() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::from(DATASETS)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                folders.push(entry);
            } else if entry.ends_with("datapackage.json") {
                found.push(entry);
            }
        }
    }
    found
}

/// True where the page's table names the dataset with that number of rows; a dataset of two
/// versions has both numbers in one cell.
fn is_listed(page: &str, name: &str, rows: u64) -> bool {
    let digits = |word: &str| word.chars().filter(char::is_ascii_digit).collect::<String>();
    let mut lines = page.lines().map(|line| line.split('|').map(str::trim).collect::<Vec<_>>());
    let Some(cells) = lines.find(|cells| cells.get(1) == Some(&name)) else { return false };
    cells.get(3).is_some_and(|cell| cell.split(' ').any(|word| digits(word) == rows.to_string()))
}

/// The facts of a table whose rows are all here.
fn facts_of(columns: &[Column], primary_key: &[String], rows: &RecordBatch) -> PreviewFacts {
    let mut hasher = ResultHasher::new(columns.iter());
    hasher.update(rows).unwrap();
    let shape = TableShape::new(columns.to_vec(), primary_key, hasher.rows());
    let mut counted = TablePass::new(shape, hasher.finish()).unwrap();
    counted.update(rows).unwrap();
    let (mut lines, _) = counted.finish().unwrap();
    if !lines.columns().is_empty() {
        lines.update(&rows.project(lines.columns()).unwrap()).unwrap();
    }
    lines.finish().unwrap()
}

/// Units of the smallest distance of two dates in a series of some tables.
const AXES: [(&str, Option<CalendarUnit>); 6] = [
    ("weather_daily_two_cities", Some(CalendarUnit::Day)),
    ("us_unemployment_by_industry", Some(CalendarUnit::Month)),
    ("us_macro_quarterly", Some(CalendarUnit::Quarter)),
    ("us_personal_income", Some(CalendarUnit::Year)),
    ("gapminder_indicators", None), // five years
    ("us_airports", None),          // no dates
];

#[tokio::test]
async fn every_package_of_the_repository_publishes() {
    let fixture = Fixture::new(&["n:integer"], "");
    let packages = packages();
    assert!(packages.len() >= 8, "{packages:?}");
    let listed = std::fs::read_to_string(Path::new(DATASETS).join("README.md")).unwrap();
    for path in packages {
        let package = DataPackage::open(&path).unwrap_or_else(|error| panic!("{error}"));
        let draft = publish(&fixture.files, &fixture.workers, &package, None, &SilentReporter)
            .await
            .unwrap_or_else(|error| panic!("{error}"));
        let snapshot = &draft.snapshot;
        let rows = fixture.rows(snapshot);
        assert_eq!(snapshot.rows, rows.num_rows() as u64, "{}", draft.name);
        let facts = draft.facts.as_ref().unwrap();
        let read = facts_of(&snapshot.columns, &snapshot.primary_key, &rows);
        assert_eq!(*facts, read, "{}: of the table and of its file", draft.name);
        assert!(facts.to_json().len() <= MAX_FACTS_BYTES, "{}", draft.name);
        assert_eq!(facts.centroids.is_some(), snapshot.has_geometry(), "{}", draft.name);
        if let Some(series) = &facts.series {
            assert!(facts.series_number > Some(0) && series.named().is_some(), "{}", draft.name);
        }
        if let Some((_, axis)) = AXES.iter().find(|(name, _)| *name == draft.name.as_str()) {
            assert_eq!(facts.axis, *axis, "{}: contract-16-axis", draft.name);
        }
        assert!(snapshot.rows > 0, "{}", draft.name);
        assert!(
            is_listed(&listed, draft.name.as_ref(), snapshot.rows),
            "{}: {} rows are not in datasets/README.md",
            draft.name,
            snapshot.rows
        );
        assert_eq!(snapshot.bbox.is_some(), snapshot.has_geometry(), "{}", draft.name);
        assert_eq!(snapshot.date_range.is_some(), snapshot.date_column.is_some(), "{}", draft.name);
    }
}

#[tokio::test]
async fn the_regions_of_new_zealand_lie_across_180_rfc_7946_5_2() {
    let fixture = Fixture::new(&["n:integer"], "");
    let package =
        DataPackage::open(&Path::new(DATASETS).join("nz_regional_councils_2018")).unwrap();
    let snapshot = publish(&fixture.files, &fixture.workers, &package, None, &SilentReporter)
        .await
        .unwrap()
        .snapshot;
    let [west, south, east, north] = snapshot.bbox.unwrap().0;
    assert!((160.0..180.0).contains(&west) && (-180.0..-170.0).contains(&east), "{west} {east}");
    assert!(south < north && (-60.0..-25.0).contains(&south), "{south} {north}");
    let codes: Vec<String> = show(&fixture.rows(&snapshot).project(&[0]).unwrap());
    assert_eq!(codes[0], "01", "leading zeros stay");
}

#[tokio::test]
async fn the_amount_of_the_us_budget_is_its_measure_contract_7() {
    let package = DataPackage::open(&Path::new(DATASETS).join("us_budget_receipts")).unwrap();
    let values: Vec<&str> = package
        .columns
        .iter()
        .filter(|column| column.role == yearbook_domain::ColumnRole::Value)
        .map(|column| column.name.as_str())
        .collect();
    assert_eq!((values, package.layout), (vec!["amount"], yearbook_domain::TableLayout::Long));
}
