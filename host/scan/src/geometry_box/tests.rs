//! Boxes and geometry: examples of every edge of the rule, and slow rules of their own on a small
//! grid and for all doubles.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use proptest::prelude::*;

use super::*;

fn meets(bbox: [f64; 4], text: &str) -> bool {
    GeometryBox::new(BoundingBox(bbox)).meets(text).unwrap()
}

#[track_caller]
fn check(bbox: [f64; 4], expected: bool, texts: &[&str]) {
    for text in texts {
        assert_eq!(meets(bbox, text), expected, "{bbox:?} {text}");
    }
}

const UNIT: [f64; 4] = [0.0, 0.0, 1.0, 1.0];

#[test]
fn a_box_is_closed_and_is_met_by_any_member_contract_15() {
    check(
        UNIT,
        true,
        &[
            "MULTIPOINT((0.5 0.5))",
            "MULTIPOINT((1 0.5))",
            "MULTIPOINT((0 1))",
            "MULTIPOINT(9 9, 1 1)",
            "MULTIPOINT(EMPTY, (9 9), (0 0))",
            "MULTILINESTRING((-1 0.5, 2 0.5))",
            "MULTILINESTRING((-1 1, 1 3), (0 2, 2 0))",
            "MULTILINESTRING((1 1, 5 5))",
            "MULTILINESTRING((-1 0, 3 0))",
            "MULTIPOLYGON(((9 9, 10 9, 9 10, 9 9)), ((1 1, 2 1, 2 2, 1 1)))",
            "MULTIPOLYGON(((-9 -9, 9 -9, 9 9, -9 9, -9 -9)))",
            "MULTIPOLYGON(((1 -1, 2 -1, 2 2, 1 2, 1 -1)))",
            "MULTIPOLYGON (EMPTY, ((0.1 0.1, 0.2 0.1, 0.1 0.2, 0.1 0.1)))",
        ],
    );
    check(
        UNIT,
        false,
        &[
            "MULTIPOINT EMPTY",
            "MULTIPOINT(EMPTY)",
            "MULTILINESTRING EMPTY",
            "MULTIPOLYGON EMPTY",
            "MULTIPOINT((1.0000000000000002 0.5))",
            "MULTIPOINT((0 -5e-324))",
            "MULTILINESTRING((0 2.1, 2.1 0))",
            "MULTILINESTRING((1.5 0, 1.5 1))",
            // Its bounds meet the box, and it does not.
            "MULTIPOLYGON(((-1 3.1, 3.1 -1, 3 3, -1 3.1)))",
        ],
    );
}

#[test]
fn a_hole_that_holds_the_box_leaves_it_out_contract_15() {
    let outer = "(-9 -9, 9 -9, 9 9, -9 9, -9 -9)";
    let hole = |size: f64| {
        let (low, high) = (-size, 1.0 + size);
        format!("({low} {low}, {high} {low}, {high} {high}, {low} {high}, {low} {low})")
    };
    check(UNIT, false, &[&format!("MULTIPOLYGON(({outer}, {}))", hole(0.5))]);
    // Its ring touches the box, cuts it, lies within it.
    for size in [0.0, -0.1] {
        check(UNIT, true, &[&format!("MULTIPOLYGON(({outer}, {}))", hole(size))]);
    }
    // An island in the hole is another polygon, or a third ring: both are even-odd.
    let island = "(-0.2 -0.2, 1.2 -0.2, 1.2 1.2, -0.2 1.2, -0.2 -0.2)";
    check(
        UNIT,
        true,
        &[
            &format!("MULTIPOLYGON(({outer}, {}), ({island}))", hole(0.5)),
            &format!("MULTIPOLYGON(({outer}, {}, {island}))", hole(0.5)),
        ],
    );
    // Two polygons that overlap do not cancel; a ring that is there twice does.
    check(UNIT, true, &[&format!("MULTIPOLYGON(({outer}), ({outer}))")]);
    check(UNIT, false, &[&format!("MULTIPOLYGON(({outer}, {outer}))")]);
}

#[test]
fn boxes_across_180_degrees_are_two_and_poles_have_longitudes_contract_15() {
    let pacific = [170.0, -50.0, -170.0, 0.0];
    check(
        pacific,
        true,
        &[
            "MULTIPOINT((175 -20))",
            "MULTIPOINT((-175 -20))",
            "MULTIPOINT((180 -20))",
            "MULTIPOINT((-180 -20))",
            "MULTIPOINT((170 -50))",
            "MULTIPOLYGON(((179 -20, 180 -20, 180 -10, 179 -20)))",
        ],
    );
    check(pacific, false, &["MULTIPOINT((0 -20))", "MULTIPOINT((-169.9 -20))"]);
    // Edges go the way that the plane has: this one passes Greenwich, and the box too.
    check(pacific, true, &["MULTILINESTRING((-171 -20, 171 -20))"]);
    check([-10.0, -30.0, 10.0, -10.0], true, &["MULTILINESTRING((-171 -20, 171 -20))"]);
    // 180 and -180 differ.
    check([180.0, -90.0, 180.0, 90.0], true, &["MULTIPOINT((180 0))"]);
    check([180.0, -90.0, 180.0, 90.0], false, &["MULTIPOINT((-180 0))"]);
    check([170.0, -90.0, 180.0, 90.0], false, &["MULTIPOINT((-180 0))"]);
    check([-180.0, -90.0, 180.0, 90.0], true, &["MULTIPOINT((-180 0))", "MULTIPOINT((180 90))"]);
    // A pole has the longitude that is written.
    check([0.0, 89.0, 10.0, 90.0], true, &["MULTIPOINT((5 90))", "MULTIPOINT((10 90))"]);
    check([0.0, 89.0, 10.0, 90.0], false, &["MULTIPOINT((11 90))", "MULTIPOINT((-5 90))"]);
}

#[test]
fn boxes_without_width_are_lines_and_points_contract_15() {
    let triangle = "MULTIPOLYGON(((0 0, 4 0, 0 4, 0 0)))";
    for (bbox, expected) in [
        ([1.0, 1.0, 1.0, 1.0], true),
        ([2.0, 2.0, 2.0, 2.0], true),
        ([2.0, 2.0_f64.next_up(), 2.0, 2.0_f64.next_up()], false),
        ([4.0, 0.0, 4.0, 9.0], true),
        ([-9.0, 4.0, 9.0, 4.0], true),
        ([3.0, 1.5, 3.0, 9.0], false),
    ] {
        check(bbox, expected, &[triangle]);
    }
    check([0.0, 0.0, 0.0, 0.0], true, &["MULTIPOINT((-0 0))", "MULTILINESTRING((-1 -1, 1 1))"]);
    check([-1.0, 0.0, 1.0, 0.0], true, &["MULTILINESTRING((1 0, 2 0))"]);
    check([-1.0, 0.0, 1.0, 0.0], false, &["MULTILINESTRING((1.5 0, 2 0))"]);
}

#[test]
fn text_of_another_form_is_an_error_contract_15() {
    let test = GeometryBox::new(BoundingBox(UNIT));
    for text in
        ["", "POINT(9 9)", "MULTIPOINT((9))", "MULTIPOLYGON(((9 9, 8 x", "MULTIPOINT(1e999 0)"]
    {
        assert!(test.meets(text).is_err(), "{text}");
    }
}

/// A position of the grid.
type Place = [i64; 2];

/// Members of a geometry, their rings or lines, their positions.
#[derive(Clone, Debug)]
struct Shape {
    form: &'static str,
    members: Vec<Vec<Vec<Place>>>,
}

impl Shape {
    fn text(&self) -> String {
        let path = |path: &Vec<Place>| {
            let places: Vec<_> = path.iter().map(|[x, y]| format!("{x} {y}")).collect();
            format!("({})", places.join(", "))
        };
        let member = |member: &Vec<Vec<Place>>| {
            let paths = member.iter().map(path).collect::<Vec<_>>().join(", ");
            if self.form == "MULTIPOLYGON" { format!("({paths})") } else { paths }
        };
        match self.members.iter().map(member).collect::<Vec<_>>().join(", ") {
            members if members.is_empty() => format!("{} EMPTY", self.form),
            members => format!("{}({members})", self.form),
        }
    }

    fn meets(&self, bbox: [i64; 4]) -> bool {
        self.members.iter().any(|paths| {
            let edges: Vec<[Place; 2]> = paths
                .iter()
                .flat_map(|path| match path.as_slice() {
                    [only] => vec![[*only, *only]],
                    path => path.windows(2).map(|pair| [pair[0], pair[1]]).collect(),
                })
                .collect();
            let holds = || {
                let crossings = edges.iter().filter(|edge| crosses([bbox[0], bbox[1]], **edge));
                self.form == "MULTIPOLYGON" && crossings.count() % 2 == 1
            };
            edges.iter().any(|edge| has_common_point(bbox, *edge)) || holds()
        })
    }
}

/// Liang and Barsky: the part of the edge within each side, in fractions.
fn has_common_point([west, south, east, north]: [i64; 4], [from, to]: [Place; 2]) -> bool {
    let (mut first, mut last) = ((0, 1), (1, 1));
    for (at, along, low, high) in
        [(from[0], to[0] - from[0], west, east), (from[1], to[1] - from[1], south, north)]
    {
        if along == 0 {
            if at < low || at > high {
                return false;
            }
            continue;
        }
        let (enter, leave) = if along > 0 { (low, high) } else { (high, low) };
        let [enter, leave] =
            [enter, leave].map(|bound| ((bound - at) * along.signum(), along.abs()));
        let less = |one: (i64, i64), other: (i64, i64)| one.0 * other.1 < other.0 * one.1;
        if less(first, enter) {
            first = enter;
        }
        if less(leave, last) {
            last = leave;
        }
    }
    first.0 * last.1 <= last.0 * first.1
}

/// A ray that no other place of the grid lies on.
fn crosses(place: Place, [from, to]: [Place; 2]) -> bool {
    let far = [place[0] + 1000, place[1] + 1];
    let turn = |a: Place, b: Place, c: Place| {
        ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])).signum()
    };
    turn(place, far, from) * turn(place, far, to) < 0
        && turn(from, to, place) * turn(from, to, far) < 0
}

fn shapes() -> impl Strategy<Value = Shape> {
    let place = || prop::array::uniform2(-4_i64..=4);
    let ring = prop::collection::vec(place(), 3..7).prop_map(|mut ring| {
        ring.push(ring[0]);
        ring
    });
    let points = prop::collection::vec(place().prop_map(|place| vec![vec![place]]), 0..4);
    let line = prop::collection::vec(place(), 2..5).prop_map(|line| vec![line]);
    prop_oneof![
        points.prop_map(|members| Shape { form: "MULTIPOINT", members }),
        prop::collection::vec(line, 0..3)
            .prop_map(|members| Shape { form: "MULTILINESTRING", members }),
        prop::collection::vec(prop::collection::vec(ring, 1..4), 0..3)
            .prop_map(|members| Shape { form: "MULTIPOLYGON", members }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn a_slow_rule_on_a_grid_agrees_contract_15(
        shape in shapes(),
        [one, other] in prop::array::uniform2(prop::array::uniform2(-4_i64..=4)),
    ) {
        let bbox = [
            one[0].min(other[0]), one[1].min(other[1]), one[0].max(other[0]), one[1].max(other[1]),
        ];
        let text = shape.text();
        prop_assert_eq!(meets(bbox.map(|at| at as f64), &text), shape.meets(bbox), "{} {:?}", text, bbox);
    }

    #[test]
    fn sides_are_exact_for_all_doubles_contract_15(
        [one, other, third] in prop::array::uniform3(prop::array::uniform2(coordinates())),
        step in -2_i64..=2,
    ) {
        let at = |[x, y]: [f64; 2]| Coord { x, y };
        // Near the middle of the edge, where rounding would decide.
        let near = [(one[0] + other[0]) / 2.0, nudge((one[1] + other[1]) / 2.0, step)];
        for point in [third, near] {
            let [a, b, c] = [one, other, point].map(|place| place.map(integer));
            let left = (&b[0] - &a[0]) * (&c[1] - &a[1]);
            let right = (&b[1] - &a[1]) * (&c[0] - &a[0]);
            prop_assert_eq!(side(at(one), at(other), at(point)), left.cmp(&right) as i8);
        }
    }

    #[test]
    fn doubles_become_integers_without_loss(number in any::<i32>(), tiny in 0_u64..1 << 54) {
        let shift = 1074;
        prop_assert_eq!(integer(f64::from(number)), BigInt::from(number) << shift);
        prop_assert_eq!(integer(f64::from_bits(tiny)) , {
            let (exponent, fraction) = (tiny >> 52, tiny & ((1 << 52) - 1));
            match exponent {
                0 => BigInt::from(fraction),
                _ => BigInt::from(fraction + (1 << 52)) << (exponent - 1),
            }
        });
    }
}

fn coordinates() -> impl Strategy<Value = f64> {
    let tiny = (0_u64..9, any::<bool>()).prop_map(|(bits, negative)| {
        let tiny = f64::from_bits(bits);
        if negative { -tiny } else { tiny }
    });
    prop_oneof![
        4 => -180.0..180.0,
        2 => (-180_i32..=180).prop_map(f64::from),
        1 => tiny,
        1 => (-180.0..180.0).prop_map(|number: f64| number * 1e-200),
    ]
}

fn nudge(number: f64, steps: i64) -> f64 {
    (0..steps.abs()).fold(
        number,
        |number, _| {
            if steps > 0 { number.next_up() } else { number.next_down() }
        },
    )
}
