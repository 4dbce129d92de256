//! The value that a version revised most: that of all that were revised, whatever else changed.

use yearbook_domain::{ColumnRole, ColumnType};

use super::*;

/// Compares the value that was revised most with all that were revised.
pub(super) fn check_largest_revision(
    set: &ChangeSet,
    updated: &[(&Row, &Row)],
    moves: bool,
    seed: u64,
) {
    let number = |column: &Column, text: &String| match column.column_type {
        ColumnType::Integer => text.parse::<f64>().ok(),
        ColumnType::Number => u64::from_str_radix(text, 16).ok().map(f64::from_bits),
        _ => None,
    };
    let share = |before: f64, after: f64| {
        let greater = before.abs().max(after.abs());
        (after / greater - before / greater).abs()
    };
    let values = set.columns.iter().filter(|column| column.role == ColumnRole::Value);
    let shares = values.flat_map(|column| {
        updated.iter().filter_map(|(before, after)| {
            let pair = [before, after].map(|row| number(column, row.get(&column.name)?));
            let [Some(before), Some(after)] = pair else { return None };
            let is_revised = before != after && before.is_finite() && after.is_finite();
            is_revised.then(|| share(before, after))
        })
    });
    let expected = shares.fold(0.0, f64::max);
    match &set.largest_revision {
        None => assert!(expected == 0.0 || moves, "{expected} is not told, seed {seed}"),
        Some(found) => {
            let [before, after] = [&found.before, &found.after].map(|one| one.as_f64().unwrap());
            assert_eq!(share(before, after), expected, "{found:?}, seed {seed}");
            let (column, id) = (&found.column, &found.key[0].1);
            assert_eq!(found.key, [("id".to_owned(), id.clone())]);
            let (old, new) = updated.iter().find(|(before, _)| &before["id"] == id).unwrap();
            let place = set.columns.iter().find(|other| other.name == *column).unwrap();
            assert_eq!(old.get(column).and_then(|text| number(place, text)), Some(before));
            assert_eq!(new.get(column).and_then(|text| number(place, text)), Some(after));
        }
    }
}

/// Changes from a table with the values `before` to one with `after`, by the keys `1`, `2` and on.
async fn changes_of_values(before: &[&'static str], after: &[&'static str]) -> ChangeSet {
    let fixture = Fixture::new();
    let version = |values: &[&'static str]| Version {
        columns: vec![(0, "integer"), (4, "integer")],
        key: vec!["id"],
        rows: (VALUES[0].iter().zip(values))
            .map(|(id, value)| vec![*id, "", "", "", *value, ""])
            .collect(),
    };
    let old = Box::pin(fixture.publish(&version(before), None)).await.snapshot;
    Box::pin(fixture.publish(&version(after), Some(&old))).await.changes.unwrap()
}

#[tokio::test]
async fn the_value_that_was_revised_most_is_told_by_its_share_contract_21_revised() {
    let set = changes_of_values(&["1000", "4", "0", "", "7"], &["1100", "5", "0", "9", ""]).await;
    let found = set.largest_revision.unwrap();
    assert_eq!((found.column.as_str(), found.key), ("extra", vec![("id".into(), "2".into())]));
    assert_eq!((found.before, found.after), (4.into(), 5.into()));
    // Integers that are one float.
    let large = i64::MAX.to_string().leak();
    let set = changes_of_values(&[large, "1"], &["9223372036854775806", "1"]).await;
    assert_eq!(set.largest_revision.map(|found| found.after), Some((i64::MAX - 1).into()));
    // What came where nothing was has no size.
    let set = changes_of_values(&["1", ""], &["1", "5", "6"]).await;
    assert_eq!((set.counts.updated, set.largest_revision), (1, None));
}
