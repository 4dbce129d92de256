//! The rules for CSV of contract-3-csv and RFC 4180.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use yearbook_csv::CsvEncoder;
use yearbook_sdk::testing::{Table, conformance, encode};
use yearbook_sdk::{Error, Value};

fn text(table: &Table) -> String {
    String::from_utf8(encode::<CsvEncoder>(table, &[]).unwrap()).unwrap()
}

fn records(bytes: &[u8]) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().from_reader(bytes);
    reader.records().map(|record| record.unwrap().iter().map(str::to_owned).collect()).collect()
}

#[test]
fn conforms() {
    conformance::check::<CsvEncoder>(|bytes| records(bytes).len());
}

#[test]
fn null_is_an_empty_field_and_an_empty_text_is_two_quotes_contract_3() {
    let table = Table::new()
        .text("region", &[Some("north"), None, Some("")])
        .dictionary("kind", &[Some(""), None, Some("a,b")])
        .integers("year", &[None, Some(-7), Some(1)])
        .numbers("value", &[Some(1.0), None, Some(0.25)])
        .booleans("final", &[Some(false), None, Some(true)]);
    assert_eq!(
        text(&table),
        "region,kind,year,value,final\nnorth,\"\",,1.0,false\n,,-7,,\n\"\",\"a,b\",1,0.25,true\n"
    );
}

#[test]
fn an_empty_result_is_a_header_line_contract_3() {
    assert_eq!(text(&Table::new().text("a", &[None::<&str>; 0]).numbers("b", &[])), "a,b\n");
}

#[test]
fn numbers_that_are_not_finite_are_as_in_table_schema_contract_3() {
    let table =
        Table::new().numbers("a", &[Some(f64::NAN), Some(f64::INFINITY), Some(f64::NEG_INFINITY)]);
    assert_eq!(text(&table), "a\nNaN\nINF\n-INF\n");
}

#[test]
fn only_fields_that_need_quotes_get_them_rfc_4180() {
    let table = Table::new()
        .text(
            "a;b",
            &[
                Some(" x "),
                Some("a\"b"),
                Some("a\rb"),
                Some("a\nb"),
                Some("a;b"),
                Some("'"),
                Some("é"),
            ],
        )
        .text("c,\"d\"", &[Some(""); 7]);
    assert_eq!(
        text(&table),
        "a;b,\"c,\"\"d\"\"\"\n x ,\"\"\n\"a\"\"b\",\"\"\n\"a\rb\",\"\"\n\"a\nb\",\"\"\na;b,\"\"\n',\"\"\né,\"\"\n"
    );
}

#[test]
fn text_reads_the_same_however_it_is_held_and_cut() {
    // Every length, some of them null or to be quoted; more values than a batch has rows.
    let texts: Vec<Option<String>> = (0..1200)
        .map(|row| {
            (row % 11 != 5)
                .then(|| format!("{row:x<row$}{}", if row % 13 == 7 { ",\"\n" } else { "" }))
        })
        .collect();
    let plain =
        text(&Table::new().text("a", &texts).integers("b", &[Some(1); 1200]).batches_of(1200));
    let read = records(plain.as_bytes());
    assert!(
        read.iter()
            .map(|record| &record[0])
            .eq(texts.iter().map(|text| text.as_deref().unwrap_or_default()))
    );
    for rows in [1, 10, 599, 1200] {
        let table =
            Table::new().dictionary("a", &texts).integers("b", &[Some(1); 1200]).batches_of(rows);
        assert_eq!(text(&table), plain, "{rows} rows a batch");
        let table = Table::new().text("a", &texts).integers("b", &[Some(1); 1200]).batches_of(rows);
        assert_eq!(text(&table), plain, "{rows} rows a batch");
    }
}

#[test]
fn the_delimiter_is_chosen_and_quoted() {
    let table =
        Table::new().text("a", &[Some("x;y"), Some("x,y")]).integers("b", &[Some(1), Some(2)]);
    let bytes =
        encode::<CsvEncoder>(&table, &[("delimiter", Value::Text(";".to_owned()))]).unwrap();
    assert_eq!(String::from_utf8(bytes).unwrap(), "a;b\n\"x;y\";1\nx,y;2\n");
    let refused = encode::<CsvEncoder>(&table, &[("delimiter", Value::Text("ab".to_owned()))]);
    assert!(matches!(refused, Err(Error::InvalidOption(_))));
}

#[test]
fn formulas_are_text_where_that_is_asked_for_contract_3() {
    let texts = [
        "=1+1",
        "+1",
        "-5",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        "=\"a\",b",
        "a=1-2",
        "2020-01-01",
        "",
        "'=1",
    ];
    let escaped = [
        "'=1+1",
        "'+1",
        "'-5",
        "'@SUM(A1)",
        "'\t=1",
        "\"'\r=1\"",
        "\"'=\"\"a\"\",b\"",
        "a=1-2",
        "2020-01-01",
        "\"\"",
        "'=1",
    ];
    let rows = texts.len();
    let cells: Vec<_> = texts.iter().map(Some).collect();
    for table in [Table::new().text("-a", &cells), Table::new().dictionary("-a", &cells)] {
        let table = table
            .numbers("n", &vec![Some(-5.5); rows])
            .integers("i", &vec![Some(-5); rows])
            .numbers("x", &vec![Some(f64::NEG_INFINITY); rows]);
        let on = [("escape_formulas", Value::Boolean(true))];
        for cut in [1, 3, rows] {
            let bytes = encode::<CsvEncoder>(&table.clone().batches_of(cut), &on).unwrap();
            let lines: Vec<_> =
                escaped.iter().map(|text| format!("{text},-5.5,-5,-INF\n")).collect();
            assert_eq!(String::from_utf8(bytes).unwrap(), format!("'-a,n,i,x\n{}", lines.concat()));
        }
        assert!(text(&table).starts_with("-a,n,i,x\n=1+1,-5.5,"), "off by default");
    }
    // Long text would otherwise stay with the host.
    let long = format!("={}", "1+".repeat(2_000));
    let table = Table::new().text("a", &vec![Some(&long); 40]);
    let bytes = encode::<CsvEncoder>(&table, &[("escape_formulas", Value::Boolean(true))]).unwrap();
    assert!(records(&bytes).iter().all(|record| record[0] == format!("'{long}")));
}

#[test]
fn a_byte_order_mark_begins_the_text_where_it_is_asked_for_contract_3() {
    let on = [("bom", Value::Boolean(true))];
    for (table, expected) in [
        (Table::new().text("é", &[Some("x")]), "\u{feff}é\nx\n"),
        (Table::new().text("é", &[None::<&str>; 0]), "\u{feff}é\n"),
    ] {
        let bytes = encode::<CsvEncoder>(&table, &on).unwrap();
        assert_eq!(String::from_utf8(bytes).unwrap(), expected);
    }
}

#[test]
fn text_of_any_length_and_place_survives() {
    let values: Vec<String> = (0..200)
        .flat_map(|length| {
            [("x".repeat(length), "!"), ("y".repeat(length), "\"z"), (",".repeat(length), "\n")]
        })
        .map(|(a, b)| a + b)
        .collect();
    let cells: Vec<_> = values.iter().map(Some).collect();
    let read = records(
        &encode::<CsvEncoder>(
            &Table::new().text("a", &cells).text("b", &cells).batches_of(41),
            &[],
        )
        .unwrap(),
    );
    let expected: Vec<_> = values.iter().map(|value| vec![value.clone(), value.clone()]).collect();
    assert_eq!(read, expected);
}

#[test]
fn a_row_of_one_null_is_an_empty_line() {
    assert_eq!(text(&Table::new().text("a", &[Some("x"), None, Some("y")])), "a\nx\n\ny\n");
}

#[test]
fn nested_columns_are_declined_by_name() {
    let Err(Error::UnsupportedSchema(sentence)) =
        encode::<CsvEncoder>(&Table::new().lists("tags", &[Some(vec![1])]), &[])
    else {
        panic!("not declined")
    };
    assert!(sentence.contains("`tags`"), "{sentence}");
}
