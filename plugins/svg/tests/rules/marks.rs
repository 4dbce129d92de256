//! Marks of values that are not final, and of breaks (contract-21-chart-marks).

use yearbook_sdk::testing::Table;

use super::{bytes, dated, days, draw, valued};

/// A table of one series with the status of each value.
fn flagged(rows: &[(Option<f64>, Option<&str>)]) -> Table {
    let dates = days(u32::try_from(rows.len()).unwrap());
    let values: Vec<_> = rows.iter().map(|(value, _)| *value).collect();
    let codes: Vec<_> = rows.iter().map(|(_, code)| *code).collect();
    let table = valued(dated(&dates), "v", &values).dictionary("flag", &codes);
    speaking(table, "flag", r#"["v"]"#, "sdmx-obs")
}

/// The table, whose column `name` has the statuses, of this list, of the columns `of`.
fn speaking(table: Table, name: &str, of: &str, list: &str) -> Table {
    table.about(name, "yearbook.role", "status").about(name, "yearbook.of", of).about(
        name,
        "yearbook.status",
        list,
    )
}

fn text(table: &Table, options: &[(&str, &str)]) -> String {
    String::from_utf8(bytes(table, options).unwrap()).unwrap()
}

/// The attributes of each path of the picture that has this class.
fn paths<'a>(text: &'a str, class: &str) -> Vec<&'a str> {
    let paths = text.split("<path ").skip(1).map(|path| path.split("/>").next().unwrap());
    let class = format!("class=\"{class}\"");
    paths.filter(|path| path.starts_with(&class)).collect()
}

#[test]
fn lines_to_values_that_are_not_final_are_dashed_and_begin_anew_at_breaks_contract_21() {
    let rows = [
        (Some(1.0), Some("A")),
        (Some(2.0), None),
        (Some(4.0), Some("B")),
        (Some(3.0), Some("A")),
        (Some(5.0), Some("P")),
        (Some(4.0), Some("E")),
    ];
    let table = flagged(&rows);
    let picture = text(&table, &[]);
    let line = "class=\"s s0\" stroke=\"#8c2a1c\" stroke-width=\"1.75\" stroke-linejoin=\"round\" fill=\"none\"";
    let dots = "class=\"s s0\" stroke=\"#8c2a1c\" stroke-width=\"5\" stroke-linecap=\"round\"";
    let ring = "class=\"s s0\" stroke=\"#8c2a1c\" stroke-width=\"7.5\" stroke-linecap=\"round\"";
    let end = "class=\"s s0\" stroke=\"#8c2a1c\" stroke-width=\"6\" stroke-linecap=\"round\"";
    assert_eq!(
        paths(&picture, "s s0"),
        [
            format!("{line} d=\"M42.8 311.4L169.2 253.8M295.5 138.6L421.9 196.2\""),
            format!("{line} stroke-dasharray=\"3 3\" d=\"M421.9 196.2L548.2 81L674.6 138.6\""),
            format!("{dots} d=\"M42.8 311.4h0M169.2 253.8h0M295.5 138.6h0M421.9 196.2h0\""),
            format!("{ring} d=\"M548.2 81h0M674.6 138.6h0\""),
            format!("{end} d=\"M674.6 138.6h0\""),
            format!("{ring} d=\"M674.6 138.6h0\""),
        ]
    );
    let paper = "class=\"h\" stroke=\"#fbfaf6\" stroke-width=\"4\" stroke-linecap=\"round\"";
    let ink = "class=\"r s\" stroke=\"#1d1c1a\"";
    assert_eq!(
        [paths(&picture, "h"), paths(&picture, "r s")].concat(),
        [
            format!("{paper} d=\"M37 399.4h0\""),
            format!("{paper} d=\"M548.2 81h0M674.6 138.6h0\""),
            format!("{paper} d=\"M674.6 138.6h0\""),
            format!("{ink} stroke-width=\"1.75\" stroke-dasharray=\"3 3\" d=\"M24 399.4h26\""),
            format!("{ink} stroke-width=\"7.5\" stroke-linecap=\"round\" d=\"M37 399.4h0\""),
            format!("{ink} stroke-width=\".75\" d=\"M322.2 393.4v12\""),
            format!("{ink} stroke-width=\".75\" fill=\"none\" d=\"M295.5 75V369\""),
        ]
    );
    let drawn = draw(&table, &[]);
    for words in ["dashed with rings: provisional or estimated", "vertical line: break in a series"]
    {
        assert!(drawn.texts.contains(&words.to_owned()), "{:?}", drawn.texts);
    }
    assert_eq!(
        drawn.desc,
        "Line chart of v by date. Drawn from 6 rows. v: 6 values; latest 4 on 2000-01-06 (estimated), \
         lowest 1 on 2000-01-01, highest 5 on 2000-01-05; 2 values not final (provisional or estimated) \
         from 2000-01-05 to 2000-01-06; 1 break in the series on 2000-01-03. \
         Dashed with rings: provisional or estimated. Vertical line: break in a series. \
         Credit: Credit: the Agency of Cases · Licence: CC-BY-4.0"
    );
}

#[test]
fn marks_are_said_only_where_there_are_some_and_never_guessed_contract_21() {
    let rows = [(Some(1.0), Some("A")), (Some(2.0), Some("U")), (None, Some("P"))];
    let plain = valued(dated(&days(3)), "v", &[Some(1.0), Some(2.0), None]);
    assert_eq!(text(&flagged(&rows), &[]), text(&plain, &[]), "nothing is drawn of these codes");
    // A list of the publisher's own, another list, and another column's statuses say nothing.
    let codes = [Some("P"), Some("B"), Some("E")];
    for (list, of) in [("own", r#"["v"]"#), ("sdmx-conf", r#"["v"]"#), ("sdmx-obs", r#"["vv"]"#)] {
        let table = speaking(plain.clone().text("flag", &codes), "flag", of, list);
        assert_eq!(text(&table, &[]), text(&plain, &[]), "{list} {of}");
    }
}

#[test]
fn each_value_column_has_its_own_statuses_contract_21() {
    let values = [Some(1.0), Some(2.0), Some(3.0)];
    let table = valued(valued(dated(&days(3)), "births", &values), "deaths", &values)
        .about("births", "yearbook.unit", "people")
        .about("deaths", "yearbook.unit", "people")
        .text("flag", &[None, None, Some("F")])
        .text("other", &[Some("I"), Some("V"), None]);
    let table = speaking(table, "flag", r#"["x","births"]"#, "sdmx-obs");
    let table = speaking(table, "other", r#"["deaths"]"#, "sdmx-obs");
    let desc = draw(&table, &[]).desc;
    for said in [
        "births: 3 values; latest 3 on 2000-01-03 (forecast),",
        "; 1 value not final (forecast) on 2000-01-03.",
        "deaths: 3 values; latest 3 on 2000-01-03, lowest",
        "; 2 values not final (imputed or unvalidated) from 2000-01-01 to 2000-01-02.",
        "Dashed with rings: forecast, imputed or unvalidated.",
    ] {
        assert!(desc.contains(said), "{said}: {desc}");
    }
    let births = draw(&table, &[("series", "births")]).desc;
    assert!(births.contains("Dashed with rings: forecast."), "{births}");
}

#[test]
fn a_break_stands_where_no_value_is_and_a_lone_value_is_seen_contract_21() {
    let rows = [
        (Some(1.0), Some("P")),
        (None, Some("B")),
        (Some(2.0), Some("B")),
        (Some(2.0), Some("B")),
        (Some(f64::NAN), Some("P")),
    ];
    let picture = text(&flagged(&rows), &[]);
    let breaks = paths(&picture, "r s").pop().unwrap();
    assert_eq!(breaks.matches('M').count(), 3, "{breaks}");
    let lines = paths(&picture, "s s0");
    assert!(lines.iter().all(|path| !path.contains('L')), "no value is joined: {lines:?}");
    assert_eq!(lines[2].matches("h0").count(), 2, "dots: {lines:?}");
    assert_eq!(lines[3].matches("h0").count(), 1, "rings: {lines:?}");
    let desc = draw(&flagged(&rows), &[]).desc;
    assert!(desc.contains("; 1 value not final (provisional) on 2000-01-01;"), "{desc}");
    assert!(desc.contains("; 3 breaks in the series from 2000-01-02 to 2000-01-04."), "{desc}");
}

#[test]
fn marks_of_many_rows_keep_the_picture_small_and_the_same_contract_21() {
    let rows: Vec<_> = (0..30_000u32)
        .map(|row| (Some(f64::from(row * 7 % 100)), Some(["P", "B", "A"][row as usize % 3])))
        .collect();
    let table = flagged(&rows);
    let whole = bytes(&table, &[]).unwrap();
    assert!(whole.len() < 100_000, "{}", whole.len());
    for batch in [1_000, 7_777] {
        assert_eq!(bytes(&table.clone().batches_of(batch), &[]).unwrap(), whole);
    }
}

/// Height of the plot: the distance of the first line of its grid and the last one.
fn plot_height(picture: &str) -> f64 {
    let grid = paths(picture, "g")[0].split('M').skip(1);
    let lines = grid.map(|line| line.split([' ', 'H']).nth(1).unwrap().parse::<f64>().unwrap());
    let (low, high) = lines.fold((f64::MAX, f64::MIN), |all, y| (all.0.min(y), all.1.max(y)));
    high - low
}

#[test]
fn a_legend_yields_to_the_plot_of_a_small_picture_contract_21() {
    let codes = ["P", "E", "F", "I", "V", "B"];
    let values = [5.0, 1.0, 3.0, 2.0, 4.0, 6.0];
    let rows: Vec<_> =
        codes.iter().zip(values).map(|(code, value)| (Some(value), Some(*code))).collect();
    let credit = "Credit: the Agency of Cases, which counts all of them with much care every year";
    let long = "dashed with rings: provisional, estimated, forecast, imputed or unvalidated";
    for (credit, width, height, shown) in [
        ("Credit", "240", "300", Some(long)),
        ("Credit", "240", "240", Some("not final")),
        (credit, "240", "240", Some("not final")),
    ] {
        let size = [("width", width), ("height", height)];
        let table = flagged(&rows).metadata("yearbook.attribution", credit);
        let plain = valued(dated(&days(6)), "v", &values.map(Some))
            .metadata("yearbook.attribution", credit);
        let drawn = draw(&table, &size);
        let heights = [&table, &plain].map(|table| plot_height(&text(table, &size)));
        assert!(heights[0] >= heights[1] * 0.45, "{heights:?}");
        let text = drawn.texts.join(" ");
        assert!(shown.is_none_or(|words| text.contains(words)), "{shown:?} {text} {heights:?}");
        assert!(
            drawn.desc.contains("Dashed with rings: provisional, estimated,"),
            "{}",
            drawn.desc
        );
    }
}

#[test]
fn of_a_sample_only_what_is_true_of_all_rows_is_said_contract_21() {
    let rows = [(Some(1.0), Some("P")), (None, Some("B")), (Some(2.0), Some("E"))];
    let sample = flagged(&rows)
        .metadata("yearbook.sampled_rows", "400")
        .metadata(
            "yearbook.sampled_statuses",
            "B 7 1990-02-01 2000-01-02;E 200 1990-01-01 2000-01-03;P 1 2000-01-01 2000-01-01",
        )
        .metadata("yearbook.statuses_from", "2000-01-01");
    let drawn = draw(&sample, &[]);
    for said in [
        "v: latest 2 on 2000-01-03 (estimated),",
        "; 201 values not final (provisional or estimated) from 1990-01-01 to 2000-01-03;",
        "; 7 breaks in the series from 1990-02-01 to 2000-01-02.",
        " The marks of statuses begin at 2000-01-01: older ones are left out.",
    ] {
        assert!(drawn.desc.contains(said), "{said}: {}", drawn.desc);
    }
    assert!(!drawn.desc.contains("without a value"), "{}", drawn.desc);
    assert!(drawn.all_text().contains("The marks of statuses begin at 2000-01-01"), "{drawn:?}");
}
