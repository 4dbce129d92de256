//! Bounds of rows: never wrong about a box, within their share, and refused where they are not what
//! was stored.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{Read, Seek};
use std::sync::Arc;

use arrow::array::{ArrayRef, DictionaryArray, StringArray};
use arrow::datatypes::Int32Type;
use proptest::prelude::*;
use yearbook_domain::{BoundingBox, Digest};

use super::blocks::encode;
use super::extent::{Extent, NOTHING, extent, is_nothing};
use super::row_cells::RowCells;
use super::stored::{head, head_bytes, parse_head};
use super::*;
use crate::geometry_box::{GeometryBox, Overlap};

/// Bounds of a place, of an area, of one that is large, of nothing.
fn extents() -> impl Strategy<Value = Vec<Extent>> {
    let corner = (-180.0..180.0, -90.0..90.0);
    let sides = prop_oneof![Just((0.0, 0.0)), (0.0..0.5, 0.0..0.5), (0.0..360.0, 0.0..180.0)];
    let row =
        (corner, sides, 0..20).prop_map(|((west, south), (width, height), kind): (_, _, _)| {
            let (west, south): (f64, f64) = (west, south);
            let (width, height): (f64, f64) = (width, height);
            if kind == 0 {
                return NOTHING;
            }
            [west, south, (west + width).min(180.0), (south + height).min(90.0)]
        });
    // Whole blocks and a part of one, of rows that are near each other or not.
    let rows = prop::collection::vec(row, 0..40);
    (rows, 1_usize..60, prop::sample::select(vec![1.0, 1e-3, 1e-9, 0.0])).prop_map(
        |(rows, repeat, scale)| {
            let near = |[west, south, east, north]: Extent| {
                [west * scale, south * scale, east * scale, north * scale]
            };
            let near = |row: Extent| if is_nothing(row) { row } else { near(row) };
            rows.into_iter().map(near).flat_map(|row| vec![row; repeat]).collect()
        },
    )
}

fn boxes() -> impl Strategy<Value = [f64; 4]> {
    let side = || prop_oneof![-180.0..180.0, -0.2..0.2, Just(0.0), -2e-8..2e-8];
    (side(), side(), side(), side()).prop_map(|(west, one, east, other): (f64, f64, f64, f64)| {
        let (one, other) = (one / 2.0, other / 2.0);
        [west, one.min(other), east, one.max(other)]
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2_000, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn bounds_are_never_wrong_about_a_box_and_keep_to_their_share_contract_15(
        rows in extents(),
        bbox in boxes(),
        bytes in prop_oneof![0_u64..2_000, 0_u64..2_000_000],
    ) {
        let chunk = encode(&rows, bytes);
        prop_assert!(chunk.len() as u64 <= bytes / 32, "{} of {bytes}", chunk.len());
        let area = GeometryBox::new(BoundingBox(bbox));
        if !chunk.is_empty() {
            let found = RowCells::parse(&chunk, rows.len()).unwrap().compare(&area);
            for (index, row) in rows.iter().enumerate() {
                let (inside, open) = (found.inside.value(index), found.open.value(index));
                let exact = if is_nothing(*row) { Overlap::None } else { area.compare(*row) };
                prop_assert!(!inside || (exact == Overlap::Inside && !open), "{row:?} in {bbox:?}");
                prop_assert!(inside || open || exact == Overlap::None, "{row:?} in {bbox:?}");
            }
        }
    }
}

#[test]
fn fine_bounds_leave_few_rows_open() {
    // A map of squares, and a box of a hundredth of it.
    let square = |row: i32| {
        let [x, y] = [row % 100, row / 100].map(|at| f64::from(at) / 10.0);
        [x, y, x + 0.1, y + 0.1]
    };
    let rows: Vec<Extent> = (0..10_000).map(square).collect();
    let area = GeometryBox::new(BoundingBox([3.03, 4.05, 4.02, 5.02]));
    let open = |bytes: u64| {
        let chunk = encode(&rows, bytes);
        let cells = RowCells::parse(&chunk, rows.len())?;
        Some(cells.compare(&area).open.count_set_bits())
    };
    let exact = rows.iter().filter(|row| area.compare(**row) == Overlap::Unknown).count();
    assert_eq!(exact, 40);
    // Eight bytes a row, four, one.
    for (bytes, most) in [(2_600_000, 44), (1_300_000, 70), (340_000, 600)] {
        let open = open(bytes).unwrap();
        assert!((exact..=most).contains(&open), "{open} of {bytes} bytes");
    }
    assert_eq!(open(10_000), None, "there is no room for blocks");
}

#[test]
fn bounds_are_those_of_the_stored_positions() {
    let cases = [
        ("MULTIPOINT EMPTY", NOTHING),
        ("MULTIPOLYGON (EMPTY, EMPTY)", NOTHING),
        ("MULTIPOINT ((1 2), EMPTY, (-3.5 1e1))", [-3.5, 2.0, 1.0, 10.0]),
        ("MULTIPOINT (1 2, 3\t4)", [1.0, 2.0, 3.0, 4.0]),
        ("MULTILINESTRING((0 0,5 5) , ( 7 -1, 1 0 ))", [0.0, -1.0, 7.0, 5.0]),
        ("MULTIPOLYGON (((0 0, 4 0, 0 4, 0 0), (1 1, 2 1, 1 9, 1 1)))", [0.0, 0.0, 4.0, 9.0]),
    ];
    for (text, expected) in cases {
        assert_eq!(extent(text).unwrap(), expected, "{text}");
    }
    for text in
        ["", "MULTIPOINT ((1))", "MULTIPOINT ((1 x))", "MULTIPOINT ((. 1))", "NOTHING (1 2)"]
    {
        assert!(extent(text).is_err(), "{text}");
    }
}

proptest! {
    #[test]
    fn numbers_are_read_to_the_last_bit(
        text in prop_oneof![
            "[-+]?[0-9]{1,3}(\\.[0-9]{0,18})?", "-?\\.[0-9]{1,20}", "-?[0-9]{1,3}[eE][-+]?[0-9]{1,2}",
            (-180.0..180.0_f64).prop_map(|number| number.to_string()),
        ],
    ) {
        let number: f64 = text.parse().unwrap();
        let found = extent(&format!("MULTIPOINT (({text} {text}),({text}  {text}))")).unwrap();
        prop_assert_eq!(found, [number; 4]);
    }
}

/// The stored form of some bounds of the file `sha256`.
fn stored(sha256: &Digest, few_values: bool, columns: &[ArrayRef]) -> Vec<u8> {
    let mut writer = RowBoundsWriter::new(tempfile::tempfile().unwrap(), few_values);
    for column in columns {
        writer.update(column).unwrap();
        writer.end_group(1 << 20).unwrap();
    }
    let (mut bytes, mut chunks) = writer.finish(sha256).unwrap();
    chunks.rewind().unwrap();
    chunks.read_to_end(&mut bytes).unwrap();
    bytes
}

#[test]
fn any_damage_of_stored_bounds_is_noticed_contract_15() {
    let sha256 = Digest::compute(b"this");
    let texts = [Some("MULTIPOINT ((1 2))"), None, Some("MULTIPOINT ((3 4), (5 6))")];
    let plain: ArrayRef = Arc::new(StringArray::from(texts.to_vec()));
    let keyed: ArrayRef = Arc::new(texts.into_iter().collect::<DictionaryArray<Int32Type>>());
    let whole = stored(&sha256, false, &[Arc::clone(&plain), Arc::clone(&plain)]);
    assert_eq!(whole, stored(&sha256, true, &[keyed, plain]), "however the texts are held");
    let groups =
        parse_head(&whole[..usize::try_from(head_bytes(&whole).unwrap()).unwrap()], &sha256);
    let groups = groups.unwrap();
    assert_eq!((groups[0].rows, groups[0].empty_rows), (3, 1));
    assert_eq!(groups[0].bounds, [1.0, 2.0, 5.0, 6.0]);
    assert_eq!(groups[1].range.end, whole.len() as u64);

    let is_whole = |bytes: &[u8], sha256: &Digest| {
        let length = head_bytes(bytes).and_then(|length| usize::try_from(length).ok());
        let groups = length.and_then(|length| parse_head(bytes.get(..length)?, sha256));
        groups.is_some_and(|groups| {
            groups.iter().all(|group| {
                let range =
                    [group.range.start, group.range.end].map(|at| usize::try_from(at).unwrap());
                let chunk = bytes.get(range[0]..range[1]).map(bytes::Bytes::copy_from_slice);
                chunk.and_then(|chunk| group.verify(chunk)).is_some()
            })
        })
    };
    assert!(is_whole(&whole, &sha256));
    assert!(!is_whole(&whole, &Digest::compute(b"another")));
    for at in 0..whole.len() {
        assert!(!is_whole(&whole[..at], &sha256), "cut at {at}");
        let mut flipped = whole.clone();
        flipped[at] ^= 16;
        assert!(!is_whole(&flipped, &sha256), "flipped at {at}");
    }
    assert_eq!(head(&sha256, &groups), whole[..groups[0].range.start.try_into().unwrap()]);
}
