//! Conformance of an encoder, as tables to try. Call [`check`] from a test of your plugin.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::{Table, encode, encode_apart, encode_by_turns, encode_parts};
use crate::{Encoder, Error};

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
    /// Set where an encoder may decline it with [`Error::UnsupportedSchema`]: only types that
    /// datasets do not have.
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

/// Runs an encoder with its default options over every case. `count_rows` reads a response back
/// with a library of its own and says how many rows it holds.
///
/// ```
/// # use yearbook_sdk::{Batch, Description, Encoder, Error, Options, Output, Schema};
/// # struct Lines;
/// # impl Encoder for Lines {
/// #     fn describe() -> Description {
/// #         Description {
/// #             format: "lines",
/// #             version: "0.1.0",
/// #             media_type: "text/plain",
/// #             extension: "txt",
/// #             separator: Some(b""),
/// #             part_rows: None,
/// #             dictionaries: false,
/// #             compressible: true,
/// #             parameters: vec![],
/// #             docs: "The first column, one line a row.",
/// #         }
/// #     }
/// #     fn open(_: Schema, _: &Options) -> Result<Self, Error> {
/// #         Ok(Self)
/// #     }
/// #     fn part(&mut self, batch: Batch, out: &mut Output) -> Result<(), Error> {
/// #         for row in 0..batch.rows() {
/// #             let cell = batch.column(0).text(row).map_or("-", |_| "x");
/// #             out.extend_from_slice(cell.as_bytes());
/// #             out.push(b'\n');
/// #         }
/// #         Ok(())
/// #     }
/// # }
/// use yearbook_sdk::testing::conformance;
///
/// // Every row is a line here, so lines are counted; most formats need a library of their own.
/// conformance::check::<Lines>(|body| body.iter().filter(|byte| **byte == b'\n').count());
/// ```
///
/// # Panics
/// With all that went wrong, one line each.
pub fn check<E: Encoder>(count_rows: impl Fn(&[u8]) -> usize) {
    let complete =
        |case: Case| match catch_unwind(AssertUnwindSafe(|| encode::<E>(&case.table, &[]))) {
            Ok(Err(Error::UnsupportedSchema(_))) => case.furnished(),
            _ => case,
        };
    let faults: Vec<_> =
        cases().into_iter().flat_map(|case| faults::<E>(&complete(case), &count_rows)).collect();
    assert!(faults.is_empty(), "{} does not conform:\n{}", E::describe().format, faults.join("\n"));
}

fn faults<E: Encoder>(case: &Case, count_rows: &impl Fn(&[u8]) -> usize) -> Vec<String> {
    let Case { name, table, optional } = case;
    let attempt = catch_unwind(AssertUnwindSafe(|| encode::<E>(table, &[])));
    let bytes = match attempt {
        Err(_) => return vec![format!("{name}: panics")],
        Ok(Err(Error::UnsupportedSchema(sentence))) if *optional => {
            let named = sentence.contains("`subject`");
            return if named {
                Vec::new()
            } else {
                vec![format!("{name}: declines without naming the column: {sentence}")]
            };
        }
        Ok(Err(error)) => return vec![format!("{name}: declines: {error}")],
        Ok(Ok(bytes)) => bytes,
    };
    let mut faults = Vec::new();
    let rows = count_rows(&bytes);
    if rows != table.rows() {
        faults.push(format!("{name}: {} rows become {rows}", table.rows()));
    }
    if encode::<E>(table, &[]) != Ok(bytes) {
        faults.push(format!("{name}: the same input gives other bytes the second time"));
    }
    if E::describe().separator.is_some() {
        let cut = table.clone().batches_of(table.rows().div_ceil(3));
        let one = encode_parts::<E>(&cut, &[]);
        if encode_apart::<E>(&cut, &[]) != one || encode_by_turns::<E>(&cut, &[], 2) != one {
            faults.push(format!(
                "{name}: a separator is promised, but parts depend on those before them"
            ));
        }
    }
    let separator = E::describe().separator;
    let cut = encode_parts::<E>(&table.clone().batches_of(2), &[])
        .map(|encoded| count_rows(&encoded.response(separator)));
    if cut != Ok(table.rows()) {
        faults.push(format!("{name}: in batches of 2, {} rows become {cut:?}", table.rows()));
    }
    faults
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

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::generator::Role;
    use crate::{Batch, Description, Note, Options, Output, Schema};

    /// Lines with the number of each row; what else it does, `LIE` says.
    struct Lines<const LIE: usize> {
        rows: usize,
        parts: usize,
    }

    const HONEST: usize = 0;
    const NUMBERS_ROWS: usize = 1;
    const NUMBERS_NOTES: usize = 2;

    impl<const LIE: usize> Encoder for Lines<LIE> {
        fn describe() -> Description {
            Description {
                format: "lines",
                version: "1.0.0",
                media_type: "text/plain",
                extension: "txt",
                separator: Some(b"-\n"),
                part_rows: None,
                dictionaries: true,
                compressible: true,
                parameters: Vec::new(),
                docs: "",
            }
        }

        fn open(_: Schema, _: &Options) -> Result<Self, Error> {
            Ok(Self { rows: 0, parts: 0 })
        }

        fn part(&mut self, batch: Batch, out: &mut Output) -> Result<(), Error> {
            self.parts += 1;
            for row in 0..batch.rows() {
                let number = if LIE == NUMBERS_ROWS { self.rows } else { row };
                out.extend_from_slice(format!("{number}\n").as_bytes());
                self.rows += 1;
            }
            Ok(())
        }

        fn note(&mut self) -> Vec<u8> {
            let number = if LIE == NUMBERS_NOTES { self.parts } else { 7 };
            number.to_string().into_bytes()
        }

        fn tail(&mut self, notes: &[Note], out: &mut Vec<u8>) -> Result<(), Error> {
            notes
                .iter()
                .for_each(|note| out.extend_from_slice(format!("#{}\n", note.offset).as_bytes()));
            Ok(())
        }
    }

    fn rows(bytes: &[u8]) -> usize {
        bytes
            .split(|&byte| byte == b'\n')
            .filter(|line| line.first().is_some_and(u8::is_ascii_digit))
            .count()
    }

    fn complaints<const LIE: usize>() -> String {
        let case = Case {
            name: "five",
            table: Table::new().integers("n", &[Some(1); 5]),
            optional: false,
        };
        faults::<Lines<LIE>>(&case, &rows).join("; ")
    }

    #[test]
    fn a_false_promise_of_independence_is_found_in_bytes_and_in_notes() {
        assert_eq!(complaints::<HONEST>(), "");
        assert!(complaints::<NUMBERS_ROWS>().contains("parts depend on those before them"));
        assert!(complaints::<NUMBERS_NOTES>().contains("parts depend on those before them"));
    }

    /// Wants a geometry, and may not like booleans beside it.
    struct Placed<const LIKES_BOOLEANS: bool>;

    impl<const LIKES_BOOLEANS: bool> Encoder for Placed<LIKES_BOOLEANS> {
        fn describe() -> Description {
            Description { separator: None, ..Lines::<HONEST>::describe() }
        }

        fn open(schema: Schema, _: &Options) -> Result<Self, Error> {
            if schema.position(Role::Geometry).is_none() {
                return Err(Error::UnsupportedSchema("there is no geometry".to_owned()));
            }
            let disliked =
                schema.fields.iter().find(|field| field.format == "b" && !LIKES_BOOLEANS);
            disliked.map_or(Ok(Self), |field| {
                Err(Error::UnsupportedSchema(format!("`{}` is a boolean", field.name)))
            })
        }

        fn part(&mut self, batch: Batch, out: &mut Output) -> Result<(), Error> {
            (0..batch.rows()).for_each(|_| out.extend_from_slice(b"1\n"));
            Ok(())
        }
    }

    #[test]
    fn a_format_that_wants_a_geometry_gets_one_and_must_then_take_every_stored_type() {
        check::<Placed<true>>(rows);
        assert!(catch_unwind(|| check::<Placed<false>>(rows)).is_err());
    }

    #[test]
    fn notes_know_where_their_parts_begin() {
        let table = Table::new().integers("n", &[Some(1); 5]).batches_of(2);
        let made = encode::<Lines<HONEST>>(&table, &[]).unwrap();
        assert_eq!(String::from_utf8(made).unwrap(), "0\n1\n-\n0\n1\n-\n0\n#0\n#6\n#12\n");
    }
}
