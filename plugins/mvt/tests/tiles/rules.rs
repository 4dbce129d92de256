//! Rules of Vector Tile 2.1 and of the format: features, values, rings, limits, 180°.

use super::decoder::{Feature, Value, features, layer, twice_area};
use yearbook_mvt::MvtEncoder;
use yearbook_sdk::testing::{Table, conformance, encode};
use yearbook_sdk::{Error, Value as OptionValue};

const MOST_BYTES: usize = 500_000;

fn tile_with(table: &Table, [z, x, y]: [i64; 3], id: &str) -> Result<Vec<u8>, Error> {
    let number = OptionValue::Integer;
    let id = OptionValue::Text(id.to_owned());
    let options = [("z", number(z)), ("x", number(x)), ("y", number(y)), ("id", id)];
    encode::<MvtEncoder>(table, &options)
}

fn tile(table: &Table, at: [i64; 3]) -> Vec<u8> {
    let tile = tile_with(table, at, "").unwrap();
    assert!(tile.len() <= MOST_BYTES);
    tile
}

fn placed<T: AsRef<str>>(geometries: &[Option<T>]) -> Table {
    Table::new().text("shape", geometries).about("shape", "yearbook.role", "geometry")
}

/// The features of one geometry.
fn drawn(wkt: &str, at: [i64; 3]) -> Vec<Feature> {
    features(&tile(&placed(&[Some(wkt)]), at))
}

/// Positions of the only feature.
fn only(wkt: &str, at: [i64; 3]) -> (u64, Vec<Vec<[i64; 2]>>) {
    let mut found = drawn(wkt, at);
    assert_eq!(found.len(), 1, "{wkt}");
    let found = found.remove(0);
    (found.kind, found.parts)
}

#[test]
fn conforms() {
    for case in conformance::cases() {
        let table = case.furnished().table;
        let whole = match encode::<MvtEncoder>(&table, &[]) {
            Err(Error::UnsupportedSchema(sentence)) => {
                assert!(sentence.contains("`subject`"), "{sentence}");
                continue;
            }
            whole => whole.unwrap(),
        };
        // Every fifth row has no geometry.
        assert_eq!(features(&whole).len(), table.rows() - table.rows().div_ceil(5));
        assert_eq!(encode::<MvtEncoder>(&table, &[]).unwrap(), whole);
        assert_eq!(encode::<MvtEncoder>(&table.batches_of(2), &[]).unwrap(), whole);
    }
}

#[test]
fn a_row_is_a_feature_and_each_value_stands_once_mvt_4_4() {
    let table = placed(&[Some("POINT (0 0)"), Some("POINT (1 1)"), None, Some("POINT (2 2)")])
        .dictionary("name", &[Some("a"), Some("a"), Some("b"), None])
        .integers("n", &[Some(-7), Some(i64::MAX), Some(1), Some(i64::MIN)])
        .numbers("value", &[Some(1.5), Some(f64::NAN), Some(2.0), Some(f64::INFINITY)])
        .booleans("final", &[Some(true), Some(false), None, Some(true)])
        .text("empty", &[None::<&str>, None, None, None])
        .metadata("yearbook.dataset", "parks");
    let layer = layer(&tile(&table, [0, 0, 0])).unwrap();
    assert_eq!(layer.name, "parks");
    let text = |text: &str| Value::Text(text.to_owned());
    let properties: Vec<Vec<(&str, Value)>> = layer
        .features
        .iter()
        .map(|feature| {
            feature.properties.iter().map(|(key, value)| (&key[..], value.clone())).collect()
        })
        .collect();
    let [yes, no] = [true, false].map(Value::Boolean);
    let integer = Value::Integer;
    assert_eq!(
        properties,
        [
            vec![
                ("final", yes.clone()),
                ("n", integer(-7)),
                ("name", text("a")),
                ("value", Value::Number(1.5))
            ],
            vec![("final", no), ("n", integer(i64::MAX)), ("name", text("a"))],
            vec![("final", yes), ("n", integer(i64::MIN))],
        ]
    );
    assert_eq!(layer.keys, ["name", "n", "value", "final"], "keys that are used, once");
    let twice = layer.values.iter().enumerate().any(|(at, one)| layer.values[..at].contains(one));
    assert!(!twice, "{:?}", layer.values);
}

#[test]
fn an_id_is_a_column_of_integers_mvt_4_2() {
    let table = placed(&[Some("POINT (0 0)"); 3])
        .integers("key", &[Some(7), Some(-1), None])
        .integers("_row", &[Some(0), Some(1), Some(2)]);
    let ids = |id| -> Vec<Option<u64>> {
        let tile = tile_with(&table, [0, 0, 0], id).unwrap();
        features(&tile).iter().map(|feature| feature.id).collect()
    };
    assert_eq!(ids("key"), [Some(7), None, None]);
    assert_eq!(ids("_row"), [Some(0), Some(1), Some(2)]);
    assert_eq!(ids(""), [None; 3]);
    let numbered = features(&tile_with(&table, [0, 0, 0], "_row").unwrap());
    assert!(numbered[0].properties.keys().eq(["key"]), "an id is no property");
    let declined = tile_with(&table, [0, 0, 0], "nothing");
    assert!(matches!(declined, Err(Error::InvalidOption(said)) if said.contains("`nothing`")));
}

#[test]
fn positions_are_those_of_the_tile_matrix_set_ogc_17_083() {
    assert_eq!(only("POINT (0 0)", [0, 0, 0]), (1, vec![vec![[2048, 2048]]]));
    // The corners of the map, its edges both at once.
    let corner = "MULTIPOINT ((-180 85.0511287798066), (180 -85.0511287798066))";
    assert_eq!(only(corner, [0, 0, 0]).1, [[[0, 0], [4096, 0], [0, 4096], [4096, 4096]]]);
    // Auckland by another formula, in the tile that everybody's map has it in.
    let (longitude, latitude) = (174.7645_f64, -36.8509_f64);
    let radians = latitude.to_radians();
    let around = 2_f64.powi(10);
    let x = (longitude + 180.0) / 360.0 * around;
    let merged = (radians.tan() + 1.0 / radians.cos()).ln() / std::f64::consts::PI;
    let y = (1.0 - merged) / 2.0 * around;
    assert_eq!([x.floor(), y.floor()], [1009.0, 624.0]);
    let found = only(&format!("POINT ({longitude} {latitude})"), [10, 1009, 624]).1[0][0];
    for (found, wanted) in found.into_iter().zip([x.fract(), y.fract()]) {
        assert!((found as f64 - wanted * 4096.0).abs() <= 0.5, "{found}");
    }
    // Beyond 85.0511° there is no map.
    assert!(drawn("POINT (0 90)", [0, 0, 0]).is_empty());
    assert!(drawn("MULTIPOINT ((0 -90), (0 -86.5))", [0, 0, 0]).is_empty());
}

#[test]
fn rings_around_areas_are_positive_and_holes_negative_mvt_4_3_3_3() {
    let holed = "POLYGON ((-90 -60, 90 -60, 90 60, -90 60, -90 -60), \
                 (-45 -30, -45 30, 45 30, 45 -30, -45 -30))";
    let turned = "POLYGON ((-90 -60, -90 60, 90 60, 90 -60, -90 -60), \
                  (-45 -30, 45 -30, 45 30, -45 30, -45 -30))";
    for wkt in [holed, turned] {
        let (kind, rings) = only(wkt, [0, 0, 0]);
        assert_eq!((kind, rings.len()), (3, 2));
        assert!(twice_area(&rings[0]) > 0 && twice_area(&rings[1]) < 0);
    }
    // Each polygon begins with the ring around it.
    let (_, rings) = only(
        "MULTIPOLYGON (((0 0, 40 0, 40 40, 0 40, 0 0), (10 10, 20 10, 20 20, 10 10)), \
         ((-40 -40, -10 -40, -10 -10, -40 -40)))",
        [0, 0, 0],
    );
    let signs: Vec<_> = rings.iter().map(|ring| twice_area(ring).signum()).collect();
    assert!(signs == [1, -1, 1] || signs == [1, 1, -1], "{signs:?}");
}

#[test]
fn inside_is_what_boxes_find_inside() {
    let area = |wkt: &str| {
        let (_, rings) = only(wkt, [0, 0, 0]);
        rings.iter().map(|ring| twice_area(ring)).sum::<i64>()
    };
    let square = |west: i64, side: i64| {
        let east = west + side;
        format!("({west} 0, {east} 0, {east} {side}, {west} {side}, {west} 0)")
    };
    let (all, hole, island) = (square(-40, 40), square(-30, 20), square(-25, 10));
    let [whole, inner, core] =
        [&all, &hole, &island].map(|ring| area(&format!("POLYGON ({ring})")));
    // An island that stands as a third ring, and members that lie on each other.
    assert_eq!(area(&format!("POLYGON ({all}, {hole}, {island})")), whole - inner + core);
    assert_eq!(area(&format!("MULTIPOLYGON (({all}), ({hole}))")), whole);
}

#[test]
fn what_vanishes_on_the_grid_is_left_out_mvt_4_3_3_3() {
    let speck = "POLYGON ((10 10, 10.001 10, 10.001 10.001, 10 10.001, 10 10))";
    assert!(drawn(speck, [0, 0, 0]).is_empty());
    assert!(drawn("LINESTRING (10 10, 10.001 10.001)", [0, 0, 0]).is_empty());
    // A hole that vanishes leaves the area, and a spike leaves nothing.
    let (_, rings) = only(
        "POLYGON ((0 0, 20 0, 20 20, 10 20, 10 50, 10.0001 50, 10.0001 20, 0 20, 0 0), \
         (5 5, 5.001 5, 5.001 5.001, 5 5))",
        [0, 0, 0],
    );
    assert_eq!((rings.len(), rings[0].len()), (1, 4), "{rings:?}");
    // Vertices on the way are not sent.
    let (_, lines) = only("LINESTRING (0 0, 1 0, 2.00001 0, 9 0, 9 9)", [0, 0, 0]);
    assert_eq!(lines[0].len(), 3);
    for empty in ["POINT EMPTY", "POLYGON EMPTY", "GEOMETRYCOLLECTION EMPTY", "POLYGON (EMPTY)"] {
        assert!(tile(&placed(&[Some(empty)]), [0, 0, 0]).is_empty(), "{empty}");
    }
}

#[test]
fn geometry_is_clipped_to_the_tile_with_its_margin() {
    // Around the whole tile: what is left is the tile with its margin.
    let (_, rings) = only("POLYGON ((-9 -9, 9 -9, 9 9, -9 9, -9 -9))", [8, 128, 127]);
    let mut corners = rings[0].clone();
    corners.sort_unstable();
    assert_eq!(corners, [[-64, -64], [-64, 4160], [4160, -64], [4160, 4160]]);
    // A line that leaves and comes back is two.
    let (kind, lines) = only("LINESTRING (0.2 0.2, 0.2 3, 0.4 3, 0.4 0.2)", [8, 128, 127]);
    assert_eq!((kind, lines.len()), (2, 2));
    let ends: Vec<_> = lines.iter().map(|line| [line[0][1], line[line.len() - 1][1]]).collect();
    assert_eq!((ends[0][1], ends[1][0]), (-64, -64));
    assert!(drawn("POLYGON ((9 9, 10 9, 10 10, 9 9))", [8, 128, 127]).is_empty());
    assert!(drawn("LINESTRING (-3 0.1, -2 0.1)", [8, 128, 127]).is_empty());
}

#[test]
fn a_collection_is_a_feature_for_each_type_that_it_has() {
    let found = drawn(
        "GEOMETRYCOLLECTION (POINT (1 2), LINESTRING (0 0, 9 9), POLYGON ((0 0, 9 0, 9 9, 0 0)), \
         GEOMETRYCOLLECTION (POINT (3 4)))",
        [0, 0, 0],
    );
    let kinds: Vec<_> = found.iter().map(|feature| (feature.kind, feature.parts.len())).collect();
    assert_eq!(kinds, [(1, 1), (2, 1), (3, 1)]);
    assert_eq!(found[0].parts[0].len(), 2);
}

#[test]
fn what_crosses_180_degrees_is_on_both_sides() {
    // Two halves, as the standard wants, and one that goes on beyond 180°.
    let halves = "MULTIPOLYGON (((177 -19, 180 -19, 180 -16, 177 -16, 177 -19)), \
                  ((-180 -19, -178 -19, -178 -16, -180 -16, -180 -19)))";
    let beyond = "POLYGON ((177 -19, 182 -19, 182 -16, 177 -16, 177 -19))";
    for at in [[3, 7, 4], [3, 0, 4], [6, 63, 34], [6, 0, 34], [0, 0, 0]] {
        // What the halves meet along is no border: each is one area where the tile has both.
        let (one, other) = (only(halves, at), only(beyond, at));
        let sorted = |(_, rings): (u64, Vec<Vec<[i64; 2]>>)| {
            let mut rings: Vec<_> = rings;
            rings.iter_mut().for_each(|ring| {
                let least = (0..ring.len()).min_by_key(|at| ring[*at]).unwrap();
                ring.rotate_left(least);
            });
            rings.sort();
            rings
        };
        assert_eq!(sorted(one), sorted(other), "{at:?}");
    }
    // The margin goes around the earth.
    assert_eq!(only("POINT (-179.9 0)", [3, 7, 4]).1, [[[4105, 0]]]);
    assert_eq!(only("POINT (179.9 0)", [3, 0, 4]).1, [[[-9, 0]]]);
    assert_eq!(only("LINESTRING (179 0, 181 0)", [4, 0, 8]).1, [[[-64, 0], [182, 0]]]);
}

#[test]
fn a_long_edge_is_straight_in_degrees() {
    let (_, lines) = only("LINESTRING (-170 -60, 170 80)", [0, 0, 0]);
    let place = |at: [i64; 2]| {
        let [x, y] = at.map(|at| at as f64 / 4096.0);
        let latitude = (std::f64::consts::PI * (1.0 - 2.0 * y)).sinh().atan().to_degrees();
        [x * 360.0 - 180.0, latitude]
    };
    for pair in lines[0].windows(2) {
        // Halfway, where a chord is farthest away.
        let middle = place([0, 1].map(|axis| (pair[0][axis] + pair[1][axis]) / 2));
        let wanted = -60.0 + (middle[0] + 170.0) / 340.0 * 140.0;
        let unit = 360.0 / 4096.0;
        assert!((middle[1] - wanted).abs() < 2.5 * unit, "{middle:?}, not {wanted}");
    }
    assert!(lines[0].len() > 20);
}

#[test]
fn a_tile_has_at_most_500_kb_and_keeps_the_largest_features() {
    // Areas of growing size in one place: 30,000 of them are 1 MB.
    let area = |row: usize| {
        let side = 0.2 + row as f64 / 500.0;
        format!("POLYGON ((0 0, {side} 0, {side} {side}, 0 {side}, 0 0))")
    };
    let rows = 30_000;
    let areas: Vec<_> = (0..rows).map(|row| Some(area(row * 7 % rows))).collect();
    let names: Vec<_> = (0..rows).map(|row| Some(format!("area {}", row * 7 % rows))).collect();
    let table = placed(&areas).text("name", &names);
    let whole = tile(&table, [0, 0, 0]);
    assert!(whole.len() > MOST_BYTES * 9 / 10, "{} bytes", whole.len());
    let found = features(&whole);
    let sizes: Vec<_> = found.iter().map(|feature| twice_area(&feature.parts[0])).collect();
    let left_out = rows - found.len();
    let smallest = sizes.iter().min().unwrap();
    let (_, limit) = only(&area(left_out), [0, 0, 0]);
    assert!((twice_area(&limit[0]) - smallest).abs() < 200, "the largest stay");
    for rows in [1, 777, 20_000] {
        assert_eq!(tile(&table.clone().batches_of(rows), [0, 0, 0]), whole, "{rows}");
    }

    // Of points, which are all as large, some of every part of the table stay.
    let points: Vec<_> = (0..rows).map(|row| Some(format!("POINT ({} 0)", row % 180))).collect();
    let numbers: Vec<_> = (0..30_000).map(Some).collect();
    let table = placed(&points).integers("row", &numbers);
    let whole = tile(&table, [0, 0, 0]);
    let found = features(&whole);
    assert!(found.len() < rows && whole.len() > MOST_BYTES * 9 / 10);
    for tenth in 0..10 {
        let is_there = |feature: &&Feature| matches!(feature.properties["row"], Value::Integer(row) if row / 3_000 == tenth);
        let there = found.iter().filter(is_there).count();
        assert!(there * 9 > found.len() * 8 / 10, "{there} of {}", found.len());
    }
    assert_eq!(tile(&table.batches_of(1_000), [0, 0, 0]), whole);
}

#[test]
fn a_feature_that_is_too_large_is_coarser_or_left_out() {
    // A line up and down the whole grid: a megabyte of commands.
    let line: Vec<_> = (0..300_000_u32)
        .map(|at| {
            let [x, y] = [at % 600, at / 600 + at % 2 * 9].map(f64::from);
            format!("{} {}", x / 2.0 - 170.0, y / 7.0)
        })
        .collect();
    let line = format!("LINESTRING ({})", line.join(", "));
    let long = "x".repeat(10_001);
    let table = placed(&[Some(line.as_str()), Some("POINT (0 0)")])
        .text("name", &[Some("line"), Some(&long)]);
    let found = features(&tile(&table, [0, 0, 0]));
    assert_eq!(found.iter().map(|feature| feature.kind).collect::<Vec<_>>(), [2, 1]);
    assert!(found[0].parts[0].iter().flatten().all(|at| at % 2 == 0), "a coarser grid");
    assert!(found[1].properties.is_empty(), "text that is too long is left out");
    // Properties that have no room even alone keep nothing else out.
    let texts: Vec<String> = (0..60).map(|at| format!("{at} {}", "x".repeat(9_990))).collect();
    let table = placed(&[Some("POINT (0 0)"), Some("POINT (1 1)")]);
    let table = texts.iter().enumerate().fold(table, |table, (at, text)| {
        table.text(&format!("c{at}"), &[Some(text.as_str()), None])
    });
    assert_eq!(features(&tile(&table, [0, 0, 0])).len(), 1);
}

#[test]
fn a_tile_that_is_not_there_is_declined_with_what_there_is() {
    for (at, said) in [
        ([-1, 0, 0], "from 0 to 24"),
        ([25, 0, 0], "from 0 to 24"),
        ([0, 1, 0], "mvt.x is 1"),
        ([3, 7, 8], "from 0 to 7"),
        ([3, -1, 0], "mvt.x is -1"),
    ] {
        let declined = tile_with(&placed(&[Some("POINT (0 0)")]), at, "");
        assert!(
            matches!(&declined, Err(Error::InvalidOption(sentence)) if sentence.contains(said)),
            "{declined:?}"
        );
    }
    let plain = Table::new().integers("a", &[Some(1)]);
    let declined = encode::<MvtEncoder>(&plain, &[]);
    assert!(
        matches!(declined, Err(Error::UnsupportedSchema(said)) if said.contains("format=json"))
    );
    let last = (1 << 24) - 1;
    assert_eq!(only("POINT (180 0)", [24, last, 1 << 23]).1, [[[4096, 0]]]);
}

#[test]
fn what_is_not_wkt_is_an_error_and_nothing_panics() {
    let deep = format!("{}POINT (1 2){}", "GEOMETRYCOLLECTION (".repeat(100), ")".repeat(100));
    for wkt in ["", "POINT (1", "POINT (1 2) x", "POLYGON ((0 0, 1e999 1, 0 0))", &deep] {
        let declined = tile_with(&placed(&[Some(wkt)]), [0, 0, 0], "");
        assert!(matches!(declined, Err(Error::Internal(_))), "{wkt}: {declined:?}");
    }
}
