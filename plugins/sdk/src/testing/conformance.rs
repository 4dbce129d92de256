//! Conformance of an encoder, as tables to try. Call [`check`] from a test of your plugin.

mod cases;

use std::panic::{AssertUnwindSafe, catch_unwind};

pub use self::cases::{Case, cases};

use super::{encode, encode_apart, encode_parts, encode_round_robin};
use crate::{Encoder, Error};

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
        if encode_apart::<E>(&cut, &[]) != one || encode_round_robin::<E>(&cut, &[], 2) != one {
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

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::generator::Role;
    use crate::testing::Table;
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
