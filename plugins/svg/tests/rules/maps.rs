//! Rules of maps of shapes, tried on whole answers.

use yearbook_sdk::Error;
use yearbook_sdk::testing::Table;

use super::parsed_picture::ParsedPicture;
use super::{bytes, dated, draw, placed, valued};

fn square(x: f64, y: f64, side: f64) -> String {
    let (east, north) = (x + side, y + side);
    format!("POLYGON (({x} {y}, {east} {y}, {east} {north}, {x} {north}, {x} {y}))")
}

/// A table of areas with names and values from 1 on.
fn valued_areas(geometries: &[String]) -> Table {
    let rows = 1..=geometries.len();
    let values: Vec<_> =
        rows.clone().map(|row| Some(f64::from(u32::try_from(row).unwrap()))).collect();
    let names: Vec<_> = rows.map(|row| Some(format!("area {row}"))).collect();
    let shapes: Vec<_> = geometries.iter().map(|text| Some(text.as_str())).collect();
    let table = placed(&shapes).text("name", &names).about("name", "yearbook.role", "dimension");
    valued(table, "people", &values).about("people", "yearbook.unit", "persons")
}

/// A square of `side` times as many areas that touch each other.
pub(crate) fn squares(side: u32) -> Table {
    let at = |index: u32| f64::from(index) * 0.5;
    let geometries: Vec<_> = (0..side * side)
        .map(|index| square(at(index % side) - 20.0, at(index / side) - 20.0, 0.5))
        .collect();
    valued_areas(&geometries)
}

/// Ends of the pieces of all paths of shapes, in tenths of a pixel.
fn corners(picture: &ParsedPicture) -> Vec<Vec<[i32; 2]>> {
    let mut rings = Vec::new();
    for d in picture.paths.iter().filter(|d| d.contains('l') && d.ends_with('z')) {
        for piece in d.split_terminator('z') {
            let numbers = piece.trim_start_matches('M').replace('l', " ").replace('-', " -");
            let numbers: Vec<i32> =
                numbers.split_whitespace().map(|number| number.parse().unwrap()).collect();
            let mut ring: Vec<[i32; 2]> = Vec::new();
            for pair in numbers.chunks(2) {
                let before = ring.last().copied().unwrap_or_default();
                ring.push([before[0] + pair[0], before[1] + pair[1]]);
            }
            rings.push(ring);
        }
    }
    rings
}

#[test]
fn areas_and_lines_are_drawn_as_shapes_and_as_dots_where_asked_for_contract_9() {
    let table = placed(&[
        Some("POLYGON ((0 0, 9 0, 9 9, 0 9, 0 0), (3 3, 6 3, 6 6, 3 6, 3 3))"),
        Some("LINESTRING (10 0, 14 5, 18 0)"),
        Some("POINT (5 12)"),
    ]);
    let map = draw(&table, &[]);
    assert!(map.desc.starts_with("Map of the shapes of 3 features."), "{}", map.desc);
    // The outer ring turns one way and its hole the other, in one path; the line is open; the point
    // is a dot.
    let area = map.paths.iter().find(|d| d.matches('z').count() == 2).unwrap();
    assert_eq!(area.matches('M').count(), 2, "{area}");
    let open = |d: &&String| d.matches('l').count() == 1 && !d.contains('z');
    assert_eq!(map.paths.iter().filter(open).count(), 1, "{:?}", map.paths);
    assert!(map.paths.iter().any(|d| d.matches("h0").count() == 1));
    for (options, dots) in [(&[("map", "dots")][..], 3), (&[("map", "shapes")], 1)] {
        let map = draw(&table, options);
        assert!(map.paths.iter().any(|d| d.matches("h0").count() == dots), "{options:?}");
    }
    let declined = bytes(&table, &[("map", "circles")]);
    assert!(
        matches!(&declined, Err(Error::InvalidOption(said)) if said.contains("svg.map cannot be `circles`; take shapes or dots")),
        "{declined:?}"
    );
}

#[test]
fn features_that_are_too_small_for_a_shape_are_seen_contract_9() {
    let islands = |x: f64| {
        let rings: Vec<_> = [0.001, 0.002]
            .map(|side| square(x + side * 50.0, 1.0, side).replace("POLYGON ", ""))
            .into();
        format!("MULTIPOLYGON ({})", rings.join(", "))
    };
    let texts: Vec<_> = (0..40).map(|at| islands(f64::from(at) * 4.0 - 80.0)).collect();
    let map = draw(&valued_areas(&texts), &[]);
    // A circle each, for the larger island.
    assert_eq!(map.paths.iter().filter(|d| d.matches('a').count() == 2).count(), 40);
    // Without elements of their own they are squares: those of a class, side by side, are one.
    let many: Vec<_> = (0..400).map(|at| islands(f64::from(at) * 0.4 - 80.0)).collect();
    let map = draw(&valued_areas(&many), &[]);
    let of_classes = map.fills.iter().zip(&map.paths).filter(|(fill, _)| fill.starts_with("url"));
    let squares: Vec<_> = of_classes.map(|(_, d)| d.matches('v').count()).collect();
    assert_eq!(squares, [1; 5]);
}

#[test]
fn values_shade_areas_in_classes_with_patterns_a_key_and_words_contract_9() {
    let mut geometries: Vec<_> = (0..10).map(|at| square(f64::from(at), 0.0, 1.0)).collect();
    geometries.push(square(10.0, 0.0, 1.0));
    let table = valued_areas(&geometries[..10]);
    let map = draw(&table, &[]);
    assert!(
        map.desc.starts_with(
            "Map of the shapes of 10 features, shaded by people (persons). Drawn from 10 rows. \
             Classes: 1 to below 3, 2 features; 3 to below 5, 2 features; 5 to below 7, 2 features; \
             7 to below 9, 2 features; 9 to 10, 2 features. \
             Highest: area 10: 10 persons. Lowest: area 1: 1 persons. All: area 10 10; area 9 9;"
        ),
        "{}",
        map.desc
    );
    for label in ["1 – 3", "9 – 10", "people · persons · 10 features"] {
        assert!(map.texts.contains(&label.to_owned()), "{label}: {:?}", map.texts);
    }
    assert!(map.titles.contains(&"area 4: 4 persons".to_owned()), "{:?}", map.titles);
    for shade in 0..5 {
        let fill = format!("url(#k{shade})");
        assert_eq!(map.fills.iter().filter(|own| **own == fill).count(), 2, "{fill}");
    }
    // Three of the patterns have marks, and so has the one for areas without a value.
    assert!(map.elements.iter().filter(|name| *name == "pattern").count() == 6);
    // Null and infinity are no data, and said to be.
    let values: Vec<_> = [Some(1.0), None, Some(f64::INFINITY), Some(4.0)].into_iter().collect();
    let shapes: Vec<_> = geometries.iter().take(4).map(|text| Some(text.as_str())).collect();
    let map = draw(&valued(placed(&shapes), "v", &values), &[]);
    assert!(map.texts.contains(&"no data".to_owned()), "{:?}", map.texts);
    assert!(map.desc.contains("no data, 2 features"), "{}", map.desc);
    assert!(map.desc.contains("1 value is not finite and is left out."), "{}", map.desc);
    assert_eq!(map.fills.iter().filter(|fill| *fill == "url(#kn)").count(), 2);
    // Without a value column areas have no classes.
    let plain = draw(&placed(&shapes), &[]);
    assert!(!plain.elements.contains(&"pattern".to_owned()));
}

#[test]
fn of_a_long_table_the_newest_date_is_drawn_and_no_value_where_rows_differ_otherwise_contract_9() {
    let (one, other) = (square(0.0, 0.0, 5.0), square(5.0, 0.0, 5.0));
    let table = |dates: &[&str], shapes: &[&String], values: &[f64]| {
        let dates: Vec<_> = dates.iter().map(|date| Some((*date).to_owned())).collect();
        let shapes: Vec<_> = shapes.iter().map(|text| Some(text.as_str())).collect();
        let values: Vec<_> = values.iter().map(|value| Some(*value)).collect();
        let table = dated(&dates).text("shape", &shapes);
        valued(table.about("shape", "yearbook.role", "geometry"), "v", &values)
    };
    let (early, late) = ("2020-01-01", "2021-01-01");
    let map = draw(&table(&[early, early, late], &[&one, &other, &one], &[1.0, 2.0, 3.0]), &[]);
    assert!(map.texts.contains(&"v · 2 features · 2021-01-01".to_owned()), "{:?}", map.texts);
    assert!(map.desc.contains("Values of 2021-01-01."), "{}", map.desc);
    assert!(map.desc.contains("Classes: 3, 1 features; no data, 1 features."), "{}", map.desc);
    assert!(map.desc.contains("1 older row is left out."), "{}", map.desc);
    // Each with its own date, as events have it: all values.
    let events = draw(&table(&[early, late], &[&one, &other], &[1.0, 2.0]), &[]);
    assert!(events.desc.contains("Values from 2020-01-01 to 2021-01-01."), "{}", events.desc);
    // Two rows of one area and date: which of them is meant?
    let unclear = draw(&table(&[late, late], &[&one, &one], &[1.0, 2.0]), &[]);
    assert!(!unclear.elements.contains(&"pattern".to_owned()));
    let note =
        "1 feature has several rows for one date, so no value is drawn: ask for one of them.";
    assert!(unclear.all_text().contains(note) && unclear.desc.contains(note), "{}", unclear.desc);
}

#[test]
fn what_crosses_180_degrees_is_one_piece_without_a_border_there_contract_9() {
    let fiji = "MULTIPOLYGON (((177 -19, 180 -19, 180 -16, 177 -16, 177 -19)), \
                ((-180 -19, -178 -19, -178 -16, -180 -16, -180 -19)))";
    let map = draw(&placed(&[Some(fiji)]), &[]);
    assert!(map.desc.contains("between 177° E and 178° W"), "{}", map.desc);
    let rings = corners(&map);
    let halves: Vec<_> = rings.iter().filter(|ring| ring.len() == 4).collect();
    assert_eq!(halves.len(), 2, "{rings:?}");
    let range = |ring: &[[i32; 2]]| {
        let x = ring.iter().map(|at| at[0]);
        (x.clone().min().unwrap(), x.max().unwrap())
    };
    let (west, east) = (range(halves[0]), range(halves[1]));
    // They overlap a little, so that nothing shines through.
    assert!(west.1 > east.0 && west.1 - east.0 < 10, "{west:?} {east:?}");
    // Each border goes around three sides.
    let borders = map.paths.iter().find(|d| d.matches('M').count() == 2 && !d.contains('z'));
    let sides = borders.unwrap().split('M').skip(1).map(|piece| piece.replace('-', " -"));
    for piece in sides {
        assert_eq!(piece.replace('l', " ").split_whitespace().count(), 8, "{piece}");
    }
    // A map of the world is cut where the least land is, not through Russia: 180° is within.
    let world = [
        "POLYGON ((28 41, 180 65, 180 69, 28 70, 28 41))",
        "POLYGON ((-180 65, -169.5 66, -180 69, -180 65))",
        "POLYGON ((-168.1 60, -141 60, -141 70, -168.1 60))",
        "POLYGON ((-60 0, 0 0, 0 20, -60 20, -60 0))",
    ];
    let map = draw(&placed(&world.map(Some)), &[]);
    assert!(map.texts.contains(&"180°".to_owned()), "{:?}", map.texts);
}

#[test]
fn neighbours_share_the_corners_of_their_borders_however_simple_contract_9() {
    // Two areas with a crooked border of a thousand vertices.
    let border: Vec<_> = (0..=1_000)
        .map(|at| {
            let at = f64::from(at);
            format!("{} {}", (at / 9.0).sin() * 0.4 + (at * 1.7).sin() * 0.05, at / 50.0)
        })
        .collect();
    let back: Vec<_> = border.iter().rev().cloned().collect();
    let west = format!("POLYGON ((-9 0, {}, -9 20, -9 0))", border.join(", "));
    let east = format!("POLYGON ((9 20, {}, 9 0, 9 20))", back.join(", "));
    let map = draw(&placed(&[Some(&west), Some(&east)]), &[]);
    let rings = corners(&map);
    assert_eq!(rings.len(), 2);
    assert!(rings.iter().all(|ring| ring.len() > 20 && ring.len() < 500), "{rings:?}");
    // All but the outer corners.
    let least = rings[0].iter().map(|at| at[0]).min().unwrap();
    let most = rings[1].iter().map(|at| at[0]).max().unwrap();
    let border = |ring: &[[i32; 2]]| {
        let mut border: Vec<_> =
            ring.iter().copied().filter(|at| at[0] > least && at[0] < most).collect();
        border.sort_unstable();
        border
    };
    assert_eq!(border(&rings[0]), border(&rings[1]));
}

#[test]
fn a_hundred_thousand_areas_make_a_picture_below_a_megabyte_contract_9() {
    let large = [("width", "1600"), ("height", "1200")];
    let picture = bytes(&squares(316).batches_of(5_000), &large).unwrap();
    assert!((20_000..1 << 20).contains(&picture.len()), "{}", picture.len());
    // Long lines that cross each other: no tolerance makes them few.
    let lines: Vec<_> = (0..60_000u32)
        .map(|at| {
            let at = f64::from(at);
            Some(format!(
                "LINESTRING (-{} {}, {} {})",
                at % 170.0,
                at % 80.0,
                at % 150.0,
                at % 70.0
            ))
        })
        .collect();
    let texts: Vec<_> = lines.iter().map(|text| text.as_deref()).collect();
    let picture = bytes(&placed(&texts).batches_of(5_000), &[]).unwrap();
    assert!(picture.len() < 1 << 20, "{}", picture.len());
    let said = super::parse(&picture).desc;
    assert!(said.contains("lines and areas have room."), "{said}");
}
