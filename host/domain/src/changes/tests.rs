//! Histories and what is pulled from them.

use super::*;
use crate::{ColumnRole, ColumnType, Digest};

/// A history of sets `from>to:rows/columns`.
fn history(text: &str) -> Vec<ChangeSet> {
    let column =
        |name: char| Column::new(&name.to_string(), ColumnType::Integer, ColumnRole::Value);
    let set = |text: &str| {
        let (ids, rest) = text.split_once(':').unwrap_or_default();
        let (from, to) = ids.split_once('>').unwrap_or_default();
        let (rows, columns) = rest.split_once('/').unwrap_or_default();
        ChangeSet {
            counts: ChangeCounts::default(),
            largest_revision: None,
            from: snapshot_id(from),
            to: snapshot_id(to),
            version: 0,
            committed_at: Millis(0),
            rows: rows.parse().unwrap_or_default(),
            file: StoredFile { sha256: Digest::compute(text.as_bytes()), bytes: 1 },
            columns: columns.chars().map(column).collect(),
            from_credit: line(from),
            to_credit: line(to),
        }
    };
    text.split_whitespace().map(set).collect()
}

/// The id of the snapshot called `name`.
fn snapshot_id(name: &str) -> SnapshotId {
    SnapshotId::from_digest(Digest::compute(name.as_bytes()))
}

/// The credit of the snapshot called `id`: licences follow its first letter alone.
fn line(id: &str) -> CreditLine {
    CreditLine { attribution: format!("Credit {id}"), licence: id.chars().take(1).collect() }
}

/// Parts as `set:first-last`, then where it ends, then `+` when more remains and `#` when the rows
/// were why.
fn check(text: &str, (set, row): (usize, u64), max_rows: u64, expected: &str) {
    let pull = next_page(&history(text), Watermark { set, row }, max_rows);
    let mut shown: Vec<String> = pull
        .ranges
        .iter()
        .map(|(set, rows)| format!("{set}:{}-{}", rows.start, rows.end))
        .collect();
    shown.push(format!("@{}.{}", pull.end.set, pull.end.row));
    shown.extend(pull.has_more.then(|| "+".to_owned()));
    shown.extend(pull.row_limit_reached.then(|| "#".to_owned()));
    assert_eq!(shown.join(" "), expected, "{text} from {set}.{row}, {max_rows}");
}

#[test]
fn a_pull_takes_rows_of_several_snapshots_up_to_the_limit() {
    check("", (0, 0), 5, "@0.0");
    check("a>b:3/x", (0, 0), 5, "0:0-3 @1.0");
    check("a>b:3/x", (0, 0), 3, "0:0-3 @1.0");
    check("a>b:3/x", (0, 0), 2, "0:0-2 @0.2 + #");
    check("a>b:3/x", (0, 2), 2, "0:2-3 @1.0");
    check("a>b:3/x", (1, 0), 2, "@1.0");
    check("a>b:3/x b>c:4/x", (0, 1), 5, "0:1-3 1:0-3 @1.3 + #");
    check("a>b:3/x b>c:4/x", (0, 0), 3, "0:0-3 @1.0 + #");
    check("a>b:3/x b>c:4/x", (0, 0), 100, "0:0-3 1:0-4 @2.0");
}

#[test]
fn snapshots_without_changes_are_passed_over() {
    check("a>b:0/x", (0, 0), 5, "@1.0");
    check("a>b:3/x b>c:0/x", (0, 0), 3, "0:0-3 @2.0");
    check("a>b:0/x b>c:2/xy c>d:0/x", (0, 0), 9, "1:0-2 @3.0");
}

#[test]
fn an_answer_has_one_schema_and_says_that_more_follows() {
    check("a>b:3/x b>c:4/xy", (0, 0), 100, "0:0-3 @1.0 +");
    check("a>b:3/xy b>c:4/yx", (0, 0), 100, "0:0-3 @1.0 +");
    check("a>b:3/x b>c:0/xy c>d:1/x", (0, 0), 100, "0:0-3 2:0-1 @3.0");
}

/// A history as [`history`] has it, with so many bytes in the credit of each snapshot.
fn credited(text: &str, bytes: usize) -> Vec<ChangeSet> {
    let mut sets = history(text);
    for credit in sets.iter_mut().flat_map(|set| [&mut set.from_credit, &mut set.to_credit]) {
        credit.attribution = credit.attribution.repeat(bytes / credit.attribution.len());
    }
    sets
}

#[test]
fn a_pull_ends_before_its_credit_is_too_long_contract_4() {
    let text = "a>b:1/x b>c:0/x c>d:1/x d>e:0/x e>f:0/x f>g:0/x";
    // (bytes of each credit, where each pull ends)
    let cases = [
        (100, vec![6]),
        (4_100, vec![2, 4, 6]),
        (5_000, vec![2, 4, 6]),
        (9_000, vec![1, 2, 3, 4, 5, 6]),
        (40_000, vec![1, 2, 3, 4, 5, 6]),
    ];
    for (bytes, ends) in cases {
        let sets = credited(text, bytes);
        let mut start = Watermark { set: 0, row: 0 };
        for end in ends {
            let pull = next_page(&sets, start, 100);
            assert_eq!((pull.end, pull.has_more), (Watermark { set: end, row: 0 }, end < 6));
            assert!(!pull.row_limit_reached);
            let credit = credit_between(&sets, start, pull.end, &line("today"));
            let limit = MAX_CREDIT_BYTES.max(2 * bytes) + 100;
            assert!(credit.attribution.len() <= limit, "{bytes}: {}", credit.attribution.len());
            start = pull.end;
        }
    }
    // One that the rows would end, too, says so.
    let pull = next_page(&credited(text, 9_000), Watermark { set: 0, row: 0 }, 1);
    assert_eq!((pull.end.set, pull.has_more, pull.row_limit_reached), (1, true, false));
    let pull = next_page(&credited("a>b:1/x b>c:1/x", 9_000), Watermark { set: 0, row: 0 }, 1);
    assert_eq!((pull.end.set, pull.has_more, pull.row_limit_reached), (1, true, true));
}

#[test]
fn the_newest_occurrence_of_a_snapshot_counts() {
    let mark = |text: &str, id: &str| {
        watermark_after(&history(text), &snapshot_id(id)).map(|mark| mark.set)
    };
    assert_eq!(mark("a>b:1/x b>c:1/x", "a"), Some(0));
    assert_eq!(mark("a>b:1/x b>c:1/x", "b"), Some(1));
    assert_eq!(mark("a>b:1/x b>c:1/x", "c"), Some(2));
    assert_eq!(mark("a>b:1/x b>a:1/x", "a"), Some(2));
    assert_eq!(mark("a>b:1/x b>a:1/x a>c:1/x", "a"), Some(2));
    assert_eq!(mark("a>b:1/x", "x"), None);
    assert_eq!(mark("", "a"), None);
}

#[test]
fn distinct_credits_are_joined_oldest_first_contract_4() {
    let known = "a>b1:3/x b1>b2:0/x b2>c:5/x c>a:2/x";
    // (start, end, attributions, licences)
    let cases = [
        ((0, 0), (1, 0), "Credit a; Credit b1", "a AND b"),
        ((0, 2), (0, 3), "Credit a; Credit b1", "a AND b"),
        ((0, 0), (2, 0), "Credit a; Credit b1; Credit b2", "a AND b"),
        ((1, 0), (2, 0), "Credit b1; Credit b2", "b"),
        ((2, 0), (2, 4), "Credit b2; Credit c", "b AND c"),
        ((0, 0), (4, 0), "Credit a; Credit b1; Credit b2; Credit c", "a AND b AND c"),
        ((4, 0), (4, 0), "Credit a", "a"),
        ((1, 0), (1, 0), "Credit b1", "b"),
    ];
    let mark = |(set, row)| Watermark { set, row };
    let today = line("today");
    for (start, end, attribution, licence) in cases {
        let joined = credit_between(&history(known), mark(start), mark(end), &today);
        assert_eq!(
            (joined.attribution.as_str(), joined.licence.as_str()),
            (attribution, licence),
            "{start:?} to {end:?}"
        );
    }
    assert_eq!(
        credit_between(&[], mark((0, 0)), mark((0, 0)), &today),
        today,
        "nothing has changed yet"
    );
}
