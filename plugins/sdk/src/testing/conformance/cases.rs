//! The tables: every type that datasets have, types that they do not have, and values that formats
//! stumble over.

use crate::testing::Table;

/// A table, and what it is there for.
///
/// ```
/// use yearbook_sdk::testing::conformance;
///
/// let huge = conformance::cases().into_iter().find(|case| case.name == "one huge cell");
/// assert!(huge.is_some_and(|case| !case.optional));
/// ```
#[derive(Debug, Clone)]
pub struct Case {
    /// The rule that it tries.
    pub name: &'static str,
    /// The table.
    pub table: Table,
    /// Set where an encoder may decline it with [`crate::Error::UnsupportedSchema`]: only types
    /// that datasets do not have.
    pub optional: bool,
}

impl Case {
    /// The same with columns of every role that a dataset's columns may have: tried where an
    /// encoder declines the plain table, because its format wants a geometry, say. It must then
    /// take this one.
    ///
    /// ```
    /// use yearbook_sdk::testing::{batches, conformance};
    ///
    /// let case = conformance::cases().remove(0).furnished();
    /// assert!(case.table.rows() == 0);
    /// ```
    #[must_use]
    pub fn furnished(self) -> Self {
        Self { table: self.table.furnished(), ..self }
    }
}

/// The tables. The column that a case is about is called `subject`.
///
/// ```
/// use yearbook_sdk::testing::conformance;
///
/// assert!(conformance::cases().iter().any(|case| case.name == "no rows"));
/// ```
#[must_use]
pub fn cases() -> Vec<Case> {
    let none: [Option<&str>; 0] = [];
    let control: Vec<Option<String>> =
        (0..=0x20).map(|code| char::from_u32(code).map(|c| format!("a{c}b"))).collect();
    let hostile = [
        "",
        " ",
        "\"",
        "\"\"",
        ",",
        "a,b",
        ";",
        "\n",
        "\r\n",
        "a\nb",
        "\\",
        "\\n",
        "'",
        "=1+1",
        "null",
        "NaN",
        "\u{feff}",
        "é",
        "日本語",
        "🦉",
        "\u{2028}",
    ];
    let hostile: Vec<_> = hostile.into_iter().map(Some).collect();
    let huge = "MULTIPOLYGON (((174.7 -36.8, \"x\" ".repeat(40_000);
    let numbers = [
        0.0,
        -0.0,
        1.0,
        0.1,
        0.1 + 0.2,
        1e21,
        1e-7,
        5e-324,
        f64::MAX,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
    ];
    let integers = [0, -1, i64::MIN, i64::MAX, 9_007_199_254_740_993];
    let few: Vec<_> = (0..50)
        .map(
            |row| {
                if row % 7 == 0 { None } else { Some(["north", "so\"uth", "ea,st", ""][row % 4]) }
            },
        )
        .collect();
    let wide = (0..300).fold(Table::new(), |table, column| {
        table.numbers(&format!("series_{column}"), &[Some(f64::from(column)), None])
    });
    let stored = |name, table| Case { name, table, optional: false };
    let mut cases = vec![
        stored(
            "no rows",
            Table::new().text("subject", &none).dictionary("other", &none).numbers("value", &[]),
        ),
        stored("one row", Table::new().text("subject", &[Some("x")]).integers("other", &[Some(1)])),
        stored(
            "nothing but nulls",
            Table::new()
                .text("subject", &[None::<&str>, None])
                .numbers("b", &[None, None])
                .integers("c", &[None, None])
                .booleans("d", &[None, None])
                .dictionary("e", &[None::<&str>, None]),
        ),
        stored(
            "nulls between values",
            Table::new()
                .text("subject", &[Some("a"), None, Some("")])
                .numbers("b", &[None, Some(1.5), None])
                .integers("c", &[Some(1), None, None])
                .booleans("d", &[Some(true), None, Some(false)]),
        ),
        stored(
            "control characters",
            Table::new().text("subject", &control).dictionary("other", &control),
        ),
        stored(
            "text that looks like syntax, and Unicode",
            Table::new().text("subject", &hostile).dictionary("other", &hostile),
        ),
        stored(
            "names that look like syntax",
            Table::new()
                .text("a,\"b\"\n", &[Some("x")])
                .text("é", &[Some("y")])
                .text("", &[Some("z")]),
        ),
        stored(
            "one huge cell",
            Table::new()
                .text("subject", &[Some(huge.as_str()), Some("small")])
                .integers("n", &[Some(1), Some(2)]),
        ),
        stored(
            "long text",
            Table::new()
                .integers("row", &vec![Some(1); 24])
                .text("subject", &long_texts("more of it"))
                .dictionary("other", &long_texts("much of it, much")),
        ),
        stored(
            "long text that looks like syntax",
            Table::new()
                .text("subject", &long_texts("a \"quote\",\r\n and a \\"))
                .dictionary("other", &long_texts("a line\nand another")),
        ),
        stored("many columns", wide),
        stored(
            "floats at the edges",
            Table::new().numbers("subject", &numbers.map(Some)).integers("n", &[Some(1); 12]),
        ),
        stored(
            "integers at the edges",
            Table::new().integers("subject", &integers.map(Some)).booleans("b", &[Some(true); 5]),
        ),
        stored(
            "a dictionary over many batches",
            Table::new().dictionary("subject", &few).integers("n", &[Some(7); 50]),
        ),
    ];
    cases.extend(types());
    cases
}

/// Texts of some 400 bytes, with and without what they are made of, nulls and empty ones among
/// them: a host holds such columns back where an encoder lets it.
fn long_texts(filling: &str) -> Vec<Option<String>> {
    let text = |row: usize| match row % 6 {
        0 => None,
        1 => Some(String::new()),
        2 => Some("POINT (174.75 -36.85) ".repeat(20 + row)),
        3 => Some("LINESTRING (174 -36, 175 -37) ".repeat(20)),
        4 => Some("Tāmaki Makaurau ".repeat(20)),
        _ => Some(format!("{filling} ").repeat(30)),
    };
    (0..24).map(text).collect()
}

/// A column of each Arrow type that datasets do not have.
fn types() -> impl Iterator<Item = Case> {
    const FIXED: [(&str, usize); 27] = [
        ("c", 1),
        ("C", 1),
        ("s", 2),
        ("S", 2),
        ("i", 4),
        ("I", 4),
        ("L", 8),
        ("e", 2),
        ("f", 4),
        ("w:3", 3),
        ("d:9,2,32", 4),
        ("d:18,-2,64", 8),
        ("d:38,4", 16),
        ("tdD", 4),
        ("tdm", 8),
        ("tts", 4),
        ("ttm", 4),
        ("ttu", 8),
        ("ttn", 8),
        ("tss:", 8),
        ("tsm:UTC", 8),
        ("tsu:", 8),
        ("tsn:Pacific/Auckland", 8),
        ("tDs", 8),
        ("tiM", 4),
        ("tiD", 8),
        ("tin", 16),
    ];
    let fixed = FIXED.into_iter().map(|(format, width)| {
        let cells = vec![
            Some(vec![0; width]),
            None,
            Some((1..=u8::try_from(width).unwrap_or(0)).rev().collect()),
        ];
        (format, Table::new().fixed("subject", format, width, cells))
    });
    let variable = ["U", "z", "Z"].into_iter().map(|format| {
        let cells = vec![Some(b"a\"b".to_vec()), None, Some(Vec::new())];
        (format, Table::new().variable("subject", format, cells))
    });
    let nested = [
        ("n", Table::new().nulls("subject", 3)),
        ("+l", Table::new().lists("subject", &[Some(vec![1, 2]), None, Some(Vec::new())])),
        (
            "+s",
            Table::new().structs(
                "subject",
                Table::new().text("t", &[Some("x"), None, Some("\"")]),
                &[true, true, false],
            ),
        ),
    ];
    let all = fixed.chain(variable).chain(nested);
    all.map(|(name, table)| Case {
        name,
        table: table.integers("n", &[Some(1), Some(2), Some(3)]),
        optional: true,
    })
}
