//! Rules of pictures (contract-9-svg), tried on whole answers.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod lengths;
mod maps;
mod marks;
mod parsed_picture;

use yearbook_sdk::testing::{Table, conformance, encode};
use yearbook_sdk::{Error, Value};
use yearbook_svg::SvgEncoder;

use parsed_picture::{ParsedPicture, parse};

fn draw(table: &Table, options: &[(&str, &str)]) -> ParsedPicture {
    parse(&bytes(table, options).unwrap())
}

fn bytes(table: &Table, options: &[(&str, &str)]) -> Result<Vec<u8>, Error> {
    let options: Vec<(&str, Value)> = options
        .iter()
        .map(|(name, text)| match text.parse() {
            Ok(number) if matches!(*name, "width" | "height") => (*name, Value::Integer(number)),
            _ => (*name, Value::Text((*text).to_owned())),
        })
        .collect();
    encode::<SvgEncoder>(table, &options)
}

/// Rows that a picture says it was drawn from.
fn rows_drawn(desc: &str) -> usize {
    let rest = desc.split("Drawn from ").nth(1).unwrap_or_else(|| panic!("{desc}"));
    rest.split(' ').next().unwrap().replace(',', "").parse().unwrap()
}

fn days(count: u32) -> Vec<Option<String>> {
    (0..count)
        .map(|day| {
            Some(format!("{:04}-{:02}-{:02}", 2000 + day / 336, day / 28 % 12 + 1, day % 28 + 1))
        })
        .collect()
}

fn dated(dates: &[Option<String>]) -> Table {
    Table::new()
        .text("date", dates)
        .about("date", "yearbook.role", "date")
        .about("date", "yearbook.type", "date")
        .metadata("yearbook.dataset", "cases")
        .metadata("yearbook.attribution", "Credit: the Agency of Cases")
        .metadata("yearbook.licence", "CC-BY-4.0")
}

fn valued(table: Table, name: &str, values: &[Option<f64>]) -> Table {
    table.numbers(name, values).about(name, "yearbook.role", "value")
}

/// A long table: each of `series` on each of `dates` days.
fn long(series: u32, dates: u32) -> Table {
    let rows = || (0..dates).flat_map(|date| (0..series).map(move |series| (date, series)));
    let all = days(dates);
    let dates: Vec<_> = rows().map(|(date, _)| all[date as usize].clone()).collect();
    let names: Vec<_> = rows().map(|(_, series)| Some(format!("region {series:03}"))).collect();
    let values: Vec<_> = rows().map(|(date, series)| Some(f64::from(date * 10 + series))).collect();
    let table =
        dated(&dates).dictionary("region", &names).about("region", "yearbook.role", "dimension");
    valued(table, "value", &values)
}

fn placed(geometries: &[Option<&str>]) -> Table {
    Table::new()
        .text("shape", geometries)
        .about("shape", "yearbook.role", "geometry")
        .metadata("yearbook.attribution", "Credit: the Agency of Cases")
}

#[test]
fn conforms() {
    conformance::check::<SvgEncoder>(|bytes| rows_drawn(&parse(bytes).desc));
}

#[test]
fn a_date_and_a_value_make_a_line_chart_and_geometry_makes_a_map_contract_9() {
    let chart = draw(&long(1, 12), &[]);
    assert!(chart.desc.starts_with("Line chart of value by date."), "{}", chart.desc);
    // Twelve points: a line with eleven pieces.
    assert!(chart.paths.iter().any(|d| d.matches('L').count() == 11), "{:?}", chart.paths);
    let map = draw(&placed(&[Some("POINT (174 -41)"), Some("POINT (-176.5 -44)"), None]), &[]);
    assert!(
        map.desc.starts_with("Map with a dot at the centre of each of 2 features."),
        "{}",
        map.desc
    );
    assert!(map.desc.contains("between 174° E and 176.5° W"), "{}", map.desc);
    assert!(map.desc.contains("1 row has no geometry"), "{}", map.desc);
    assert!(map.paths.iter().any(|d| d.matches("h0").count() == 2), "{:?}", map.paths);
    // With both it is a map, unless an option asks for lines.
    let both = valued(dated(&days(2)), "value", &[Some(1.0), Some(2.0)])
        .text("shape", &[Some("POINT (1 2)"), Some("POINT (3 4)")])
        .about("shape", "yearbook.role", "geometry");
    assert!(draw(&both, &[]).desc.starts_with("Map"));
    assert!(draw(&both, &[("y", "value")]).desc.starts_with("Line chart"));
}

#[test]
fn without_a_date_a_value_and_geometry_it_is_declined_with_what_to_do_contract_9() {
    for table in [
        Table::new().integers("n", &[Some(1)]),
        dated(&days(1)),
        Table::new().text("a", &[Some("x")]),
    ] {
        let declined = bytes(&table, &[]);
        assert!(
            matches!(&declined, Err(Error::UnsupportedSchema(said)) if said.contains("svg.x") && said.contains("format=csv")),
            "{declined:?}"
        );
    }
}

#[test]
fn eight_series_are_drawn_and_the_number_of_the_others_is_stated_contract_9() {
    let many = draw(&long(20, 5), &[]);
    let note = "8 of 20 series are drawn, those with the most points.";
    assert!(many.all_text().contains(note) && many.desc.contains(note), "{many:?}");
    for series in 0..8 {
        assert!(many.texts.contains(&format!("region {series:03}")), "{series}");
    }
    assert!(!many.texts.contains(&"region 008".to_owned()));
    let few = draw(&long(8, 5), &[]);
    assert!(!few.desc.contains("series are drawn"), "{}", few.desc);
    // A table of more series than are kept.
    let very_many = draw(&long(3_000, 2), &[]);
    assert!(very_many.desc.contains("8 of 3,000 series are drawn"), "{}", very_many.desc);
}

#[test]
fn a_picture_says_where_series_are_chosen_among_the_first_alone_contract_9() {
    // 64 series of one point on the first day, then one of a hundred.
    let all = days(101);
    let place = |row: usize| if row < 64 { (0, row) } else { (row - 63, 64) };
    let name = |series: usize| {
        if series < 64 { format!("region {series:03}") } else { "large".to_owned() }
    };
    let dates: Vec<_> = (0..164).map(|row| all[place(row).0].clone()).collect();
    let names: Vec<_> = (0..164).map(|row| Some(name(place(row).1))).collect();
    let table =
        dated(&dates).dictionary("region", &names).about("region", "yearbook.role", "dimension");
    let picture = draw(&valued(table, "value", &[Some(1.0); 164]), &[]);
    let note = "8 of 65 series are drawn, those with the most points of the 64 that come first.";
    assert!(picture.desc.contains(note), "{}", picture.desc);
    let of_all = draw(&long(64, 2), &[]);
    let note = "8 of 64 series are drawn, those with the most points.";
    assert!(of_all.desc.contains(note), "{}", of_all.desc);
}

#[test]
fn options_choose_columns_series_size_and_theme_contract_9() {
    let table = long(20, 5);
    let attribute = |parsed: &ParsedPicture, name: &str| {
        parsed.root.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone()).unwrap()
    };
    let narrow = draw(&table, &[("width", "320"), ("height", "400")]);
    assert_eq!(attribute(&narrow, "viewBox"), "0 0 320 400");
    assert!(narrow.desc.contains("4 of 20 series"), "{}", narrow.desc);
    // Any series can be asked for, one that is not drawn by itself too.
    let one = draw(&table, &[("series", "region 017")]);
    assert!(one.desc.contains("region 017: 5 values; latest 57 on 2000-01-05"), "{}", one.desc);
    assert!(one.desc.contains("Drawn from 5 of 100 rows."), "{}", one.desc);
    let dark = draw(&table, &[("theme", "dark")]);
    assert!(!dark.style.contains("prefers-color-scheme"));
    assert!(draw(&table, &[]).style.contains("prefers-color-scheme:dark"));
    // A number as the x axis, and another value column.
    let plain = Table::new()
        .numbers("speed", &[Some(1.0), Some(2.0), Some(4.0)])
        .numbers("drag", &[Some(1.0), Some(4.0), Some(16.0)]);
    let chart = draw(&plain, &[("x", "speed"), ("y", "drag")]);
    assert!(chart.desc.starts_with("Line chart of drag by speed."), "{}", chart.desc);
    // A column that splits the rows.
    let split = valued(dated(&days(4)), "value", &[Some(1.0); 4])
        .text("kind", &[Some("a"), Some("b"), Some("a"), Some("b")]);
    let chart = draw(&split, &[("series", "kind")]);
    assert!(chart.desc.contains("a: 2 values") && chart.desc.contains("b: 2 values"));
    for (name, value, said) in [
        ("width", "100", "from 240 to 1600"),
        ("height", "9999", "from 240 to 1200"),
        ("theme", "blue", "auto, light or dark"),
        ("x", "nothing", "not among the columns"),
        ("x", "region", "a date, a period or a number"),
        ("y", "region", "does not hold numbers"),
        ("y", "value,nothing", "not among the columns"),
    ] {
        let declined = bytes(&table, &[(name, value)]);
        assert!(
            matches!(&declined, Err(Error::InvalidOption(sentence)) if sentence.contains(said) && sentence.contains(&format!("svg.{name}"))),
            "{name}={value}: {declined:?}"
        );
    }
}

#[test]
fn a_series_that_no_row_has_is_said_to_be_missing_contract_9() {
    let none = draw(&long(20, 5), &[("series", "region 999")]);
    let note = "None of 100 rows has the series “region 999”; the first has “region 000”.";
    assert!(none.all_text().contains("No series has this name."), "{none:?}");
    assert!(none.all_text().contains(note), "{none:?}");
    assert!(none.desc.contains(&format!("Drawn from 0 of 100 rows. {note}")), "{}", none.desc);
    let single = draw(&long(1, 1), &[("series", "region 999")]);
    assert!(single.desc.contains("None of 1 row has the series"), "{}", single.desc);
    let empty = draw(&long(1, 0), &[("series", "region 999")]);
    assert!(empty.all_text().contains("There are no rows."), "{empty:?}");
    // A series of nulls is there.
    let nulls = valued(dated(&days(2)), "v", &[None, None]).text("r", &[Some("a"), Some("a")]);
    let nulls = draw(&nulls.about("r", "yearbook.role", "dimension"), &[("series", "a")]);
    assert!(nulls.all_text().contains("No row has a value to draw."), "{nulls:?}");
}

#[test]
fn every_series_can_be_named_though_its_values_hold_commas_contract_9() {
    let table = valued(dated(&days(4)), "v", &[Some(1.0), Some(2.0), Some(3.0), Some(4.0)])
        .text("a", &[Some("x, y"), Some("x"), None, Some("(none)")])
        .text("b", &[Some("z"), Some("y, z"), Some("n"), Some("n")])
        .about("a", "yearbook.role", "dimension")
        .about("b", "yearbook.role", "dimension");
    let all = draw(&table, &[]);
    for name in ["\"x, y\", z", "x, \"y, z\"", "(none), n", "\"(none)\", n"] {
        assert!(all.texts.contains(&name.to_owned()), "{:?}", all.texts);
        let one = draw(&table, &[("series", name)]);
        assert!(!one.desc.contains("No series"), "{name}: {}", one.desc);
    }
    for (name, latest) in [
        ("\"x, y\", z", "latest 1 "),
        ("x, \"y, z\"", "latest 2 "),
        ("\"x\",\"y, z\"", "latest 2 "),
        ("\"(none)\", n", "latest 4 "),
    ] {
        let one = draw(&table, &[("series", name)]);
        let desc = &one.desc;
        assert!(
            desc.contains("Drawn from 1 of 4 rows.") && desc.contains(latest),
            "{name}: {desc}"
        );
    }
    // The name that two of them have stands for both.
    let both = draw(&table, &[("series", "x, y, z")]);
    assert!(both.desc.contains("Drawn from 2 of 4 rows."), "{}", both.desc);
    assert!(both.texts.contains(&"\"x, y\", z".to_owned()), "{:?}", both.texts);
}

#[test]
fn value_columns_of_one_unit_are_the_series_of_a_wide_table_contract_9() {
    let table = valued(dated(&days(3)), "births", &[Some(1.0); 3]);
    let table = valued(table, "deaths", &[Some(2.0); 3]);
    let table = valued(table, "rate", &[Some(0.5); 3])
        .about("births", "yearbook.unit", "people")
        .about("deaths", "yearbook.unit", "people")
        .about("rate", "yearbook.unit", "percent");
    let chart = draw(&table, &[]);
    assert!(chart.desc.starts_with("Line chart of births (people) and deaths (people) by date."));
    assert!(
        chart.texts.contains(&"births".to_owned()) && chart.texts.contains(&"people".to_owned())
    );
    let rate = draw(&table, &[("series", "rate")]);
    assert!(rate.desc.starts_with("Line chart of rate (percent) by date."), "{}", rate.desc);
}

#[test]
fn one_unit_is_drawn_at_a_time_contract_15() {
    let table = valued(dated(&days(3)), "births", &[Some(1.0); 3]);
    let table = valued(table, "rate", &[Some(0.5); 3])
        .about("births", "yearbook.unit", "people")
        .about("rate", "yearbook.unit", "percent");
    let declined = bytes(&table, &[("y", "births,rate")]);
    assert!(
        matches!(&declined, Err(Error::InvalidOption(said)) if said.contains("`births` (people) and `rate` (percent)")),
        "{declined:?}"
    );

    // Without a unit the column called `measure` says what is measured.
    let texts = |texts: &[&str]| -> Vec<Option<String>> {
        texts.iter().cycle().take(12).map(|text| Some((*text).to_owned())).collect()
    };
    let dates: Vec<_> =
        days(3).into_iter().flat_map(|day| [day.clone(), day.clone(), day.clone(), day]).collect();
    let values: Vec<_> =
        (0..12).map(|row| Some(if row % 2 == 0 { 0.25 } else { 9_000.0 })).collect();
    let dimension = |table: Table, name: &str, values: &[Option<String>]| {
        table.text(name, values).about(name, "yearbook.role", "dimension")
    };
    let table =
        dimension(dated(&dates), "industry", &texts(&["mining", "mining", "retail", "retail"]));
    let table = dimension(table, "measure", &texts(&["rate", "count"]));
    let table = valued(table, "value", &values);
    for options in [&[][..], &[("series", "industry")]] {
        let chart = draw(&table, options);
        assert!(
            chart.texts.contains(&"mining".to_owned())
                && chart.texts.contains(&"retail".to_owned())
        );
        assert!(chart.desc.contains("2 of 4 series are drawn"), "{}", chart.desc);
        assert!(chart.desc.contains("They are of measure “count” alone"), "{}", chart.desc);
        assert!(
            chart.desc.contains("highest 9,000") && !chart.desc.contains("0.25"),
            "{}",
            chart.desc
        );
    }
    let rate = draw(&table, &[("series", "mining, rate")]);
    assert!(rate.desc.contains("highest 0.25") && !rate.desc.contains("9,000"), "{}", rate.desc);
    // A unit is that of all values.
    let counted = draw(&table.about("value", "yearbook.unit", "people"), &[]);
    assert!(!counted.desc.contains("series are drawn"), "{}", counted.desc);
}

#[test]
fn a_picture_says_in_words_what_it_shows_contract_9() {
    let table = valued(dated(&days(4)), "price", &[Some(1_234.5), None, Some(-2.0), Some(7.25)])
        .about("price", "yearbook.unit", "dollars")
        .metadata("yearbook.title", "Prices of <cases> & crates");
    let chart = draw(&table, &[]);
    let attribute = |name: &str| {
        chart.root.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    };
    assert_eq!(attribute("role"), Some("img"));
    assert_eq!(attribute("aria-labelledby"), Some("title desc"));
    assert_eq!(chart.title, "Prices of <cases> & crates");
    assert_eq!(&chart.elements[..3], ["svg", "title", "desc"]);
    assert_eq!(
        chart.desc,
        "Line chart of price (dollars) by date. Drawn from 4 rows. price: 3 values; latest 7.25 on 2000-01-04, \
         lowest −2 on 2000-01-03, highest 1,234.5 on 2000-01-01; 1 row without a value. \
         Credit: Credit: the Agency of Cases · Licence: CC-BY-4.0"
    );
}

#[test]
fn the_credit_line_is_in_every_picture_whole_contract_9() {
    let credit = "Sourced from the Agency of Cases (2026), \"Crates & Boxes\", licensed for reuse under terms that fill more than one line of a small picture";
    for table in [long(3, 4), placed(&[Some("POINT (1 2)")]), placed(&[])] {
        let picture = draw(&table, &[]);
        assert!(picture.all_text().contains("Credit: the Agency of Cases"), "{picture:?}");
        assert!(picture.desc.contains("Credit: the Agency of Cases"), "{}", picture.desc);
    }
    let titled = long(3, 4).metadata("yearbook.licence_title", "Other (public domain)");
    let titled = draw(&titled, &[]);
    for text in [titled.all_text(), titled.desc] {
        assert!(text.contains("· Licence: Other (public domain)"), "{text}");
    }
    let composed = "The Agency, Cases. Licence: Other (public domain).";
    let composed_credit = Table::new()
        .text("shape", &[Some("POINT (1 2)")])
        .about("shape", "yearbook.role", "geometry")
        .metadata("yearbook.licence_title", "Other (public domain)")
        .metadata("yearbook.attribution", composed);
    let desc = draw(&composed_credit, &[]).desc;
    assert!(desc.ends_with(&format!("Credit: {composed}")), "{desc}");
    let long_credit = Table::new()
        .text("shape", &[Some("POINT (1 2)")])
        .about("shape", "yearbook.role", "geometry")
        .metadata("yearbook.attribution", credit);
    let narrow = draw(&long_credit, &[("width", "320"), ("height", "400")]);
    assert!(narrow.all_text().contains(credit), "{:?}", narrow.texts);
}

#[test]
fn the_same_rows_give_the_same_bytes_however_they_are_cut_contract_9() {
    let places = [Some("POINT (1 2)"), None, Some("LINESTRING (0 0, 9 9)")];
    for table in [long(12, 40), placed(&places), maps::squares(30)] {
        let whole = bytes(&table, &[]).unwrap();
        assert_eq!(bytes(&table, &[]).unwrap(), whole);
        for rows in [1, 7, 100] {
            assert_eq!(bytes(&table.clone().batches_of(rows), &[]).unwrap(), whole, "{rows}");
        }
    }
}

#[test]
fn gaps_single_points_nothing_and_infinities_are_drawn_honestly() {
    let value = |values: &[Option<f64>]| {
        draw(&valued(dated(&days(u32::try_from(values.len()).unwrap())), "v", values), &[])
    };
    // A null breaks the line in two.
    let gap = value(&[Some(1.0), Some(2.0), None, Some(3.0), Some(4.0)]);
    assert!(gap.paths.iter().any(|d| d.matches('M').count() == 2 && d.matches('L').count() == 2));
    let odd = value(&[Some(1.0), Some(f64::NAN), Some(f64::INFINITY), Some(2.0)]);
    assert!(odd.desc.contains("2 values are not finite and are left out."), "{}", odd.desc);
    assert!(odd.desc.contains("v: 2 values;"), "{}", odd.desc);
    let single = value(&[Some(5.0)]);
    assert!(single.paths.iter().any(|d| d.ends_with("h0")), "{:?}", single.paths);
    assert!(single.texts.contains(&"2000-01-01".to_owned()), "{:?}", single.texts);
    for (values, said) in
        [(vec![None, None], "No row has a value to draw."), (vec![], "There are no rows.")]
    {
        assert!(value(&values).all_text().contains(said));
    }
    for extreme in
        [[f64::MIN, f64::MAX], [-1e308, 1e308], [5e-324, 0.0], [1e300, 1e300], [-0.0, 0.0]]
    {
        let picture = value(&extreme.map(Some));
        assert!(picture.texts.iter().all(|text| text != "inf" && text != "NaN"), "{picture:?}");
        assert!(
            picture.paths.iter().all(|d| !d.contains("NaN") && !d.contains("inf")),
            "{extreme:?}"
        );
    }
}

#[test]
fn hostile_text_is_text() {
    let hostile = "</title><script>alert(1)</script>\u{202e}\u{0}\u{8}]]>&#x26;\"' 日本 🦉";
    let table = long(1, 3)
        .metadata("yearbook.title", hostile)
        .metadata("yearbook.source", &hostile.repeat(500))
        .about("value", "yearbook.unit", hostile);
    let rows = [Some(hostile), Some(hostile), Some(hostile)];
    let table = table.text(hostile, &rows).about(hostile, "yearbook.role", "dimension");
    for theme in ["light", "dark", "auto"] {
        let picture = draw(&table, &[("theme", theme), ("width", "320")]);
        assert!(!picture.elements.contains(&"script".to_owned()));
        assert!(
            picture.title.starts_with("</title><script>alert(1)</script>]]>"),
            "{}",
            picture.title
        );
    }
}

#[test]
fn a_large_table_makes_a_small_picture() {
    let series = 2_000u32;
    let rows = 400_000u32;
    let dates: Vec<_> = days(rows / series)
        .into_iter()
        .flat_map(|day| (0..series).map(move |_| day.clone()))
        .collect();
    let names: Vec<_> = (0..rows).map(|row| Some(format!("s{}", row % series))).collect();
    let values: Vec<_> = (0..rows).map(|row| Some(f64::from(row % 977))).collect();
    let table = dated(&dates).dictionary("s", &names).about("s", "yearbook.role", "dimension");
    let lines = bytes(&valued(table, "v", &values).batches_of(20_000), &[]).unwrap();
    let points: Vec<_> = (0..200_000u32)
        .map(|index| {
            Some(
                format!("POINT ({} {})", f64::from(index % 3_600) / 10.0 - 180.0, index % 170) + "",
            )
        })
        .map(|text| text.map(|text| text.replace(" 9", " -1")))
        .collect();
    let map = Table::new().text("g", &points).about("g", "yearbook.role", "geometry");
    let map = bytes(&map.batches_of(20_000), &[("width", "1600"), ("height", "1200")]).unwrap();
    assert!(lines.len() < 400_000 && map.len() < 1 << 20, "{} {}", lines.len(), map.len());
}
