//! Faults that the check of transforms finds, and the rows that the host gives.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::atomic::{AtomicU32, Ordering};

use super::*;
use crate::Schema;
use crate::calendar::{CalendarSpan, CalendarUnit};
use crate::transform::{
    Codes, InputRows, MadeRows, MadeType, Need, Needs, OutputColumn, Priming, Relation, Source,
    TransformDescription,
};

/// The value of the day before, where the table has `a_day` and `a_value`; what else it does, `LIE`
/// says.
struct Before<const LIE: usize> {
    output: TransformOutput,
    rows: usize,
    last: Vec<Option<(i32, Option<f64>)>>,
}

const HONEST: usize = 0;
const COUNTS_ROWS_OF_A_BATCH: usize = 1;
const COUNTS_ROWS_AND_SAYS_IT_DOES_NOT: usize = 2;
const SEES_TOO_FEW_DAYS: usize = 3;
const HAS_ANOTHER_OUTPUT: usize = 4;
const GIVES_TOO_FEW_VALUES: usize = 5;
const GIVES_ROWS_AT_THE_END: usize = 6;
const HAS_ANOTHER_ORDER: usize = 7;
const TAKES_ROWS_BACKWARDS: usize = 8;
const DECLINES_FOR_NO_OPTION: usize = 9;
const PANICS: usize = 10;
const FITS_NO_TABLE: usize = 11;
const PASSES_TO_NEW_ROWS: usize = 12;
const PLANS_OTHERWISE: usize = 13;

static CALLS: AtomicU32 = AtomicU32::new(0);

impl<const LIE: usize> Transform for Before<LIE> {
    fn describe() -> TransformDescription {
        TransformDescription {
            name: "before",
            version: "0.1.0",
            title: "The day before",
            independent: LIE == COUNTS_ROWS_AND_SAYS_IT_DOES_NOT,
            parameters: Vec::new(),
            docs: "",
        }
    }

    fn plan(schema: &Schema, _: &Options) -> Result<Needs, TransformError> {
        let column = |name: &str| schema.fields.iter().position(|field| field.name == name);
        let (Some(day), Some(value), Some(place)) =
            (column("a_day"), column("a_value"), column("a_place"))
        else {
            return Err(TransformError::UnsupportedSchema("there is no `a_day`".to_owned()));
        };
        let days = match LIE {
            SEES_TOO_FEW_DAYS => 1,
            PLANS_OTHERWISE => CALLS.fetch_add(1, Ordering::Relaxed),
            _ => 40,
        };
        Ok(Needs {
            columns: vec![Need::days(day), Need::plain(value)],
            groups: Some(vec![place]),
            before: Some(CalendarSpan { count: days, unit: CalendarUnit::Day }),
            prime: Priming::None,
        })
    }

    fn open(_: &Schema, _: &Codes, _: &Options) -> Result<Self, TransformError> {
        match LIE {
            DECLINES_FOR_NO_OPTION => return Err(TransformError::invalid_option("x", "is wrong")),
            FITS_NO_TABLE => return Err(TransformError::TooLarge("it is too large".to_owned())),
            PANICS => panic!("of fright"),
            _ => {}
        }
        let name = match LIE {
            HAS_ANOTHER_OUTPUT => format!("before{}", CALLS.fetch_add(1, Ordering::Relaxed)),
            _ => "before".to_owned(),
        };
        let mut columns = vec![OutputColumn::made(name, MadeType::Number)];
        columns.extend((LIE == PASSES_TO_NEW_ROWS).then(|| OutputColumn::passed("n", 0)));
        let rows = match LIE {
            HAS_ANOTHER_ORDER | PASSES_TO_NEW_ROWS => Relation::New,
            TAKES_ROWS_BACKWARDS => Relation::Chosen,
            _ => Relation::Same,
        };
        let order = if LIE == HAS_ANOTHER_ORDER { vec![0] } else { Vec::new() };
        let output = TransformOutput { columns, rows, order };
        Ok(Self { output, rows: 0, last: Vec::new() })
    }

    fn output(&self) -> &TransformOutput {
        &self.output
    }

    fn push(&mut self, rows: &InputRows, made: &mut MadeRows) -> Result<(), TransformError> {
        let (days, values) = (rows.column(0), rows.column(1));
        for row in 0..rows.rows() {
            self.rows += 1;
            let group = rows.group(row);
            self.last.resize(self.last.len().max(group + 1), None);
            let last = std::mem::replace(
                &mut self.last[group],
                days.days(row).map(|day| (day, values.number(row))),
            );
            let before = last.and_then(|(_, value)| value);
            match LIE {
                COUNTS_ROWS_OF_A_BATCH => made.number(0, Some(rows.rows() as f64)),
                COUNTS_ROWS_AND_SAYS_IT_DOES_NOT => made.number(0, Some(self.rows as f64)),
                HAS_ANOTHER_ORDER => made.number(0, Some(-(self.rows as f64))),
                GIVES_TOO_FEW_VALUES if row == 6 => {}
                TAKES_ROWS_BACKWARDS => {
                    made.take(rows.rows() - 1 - row);
                    made.number(0, None);
                }
                _ => made.number(0, before),
            }
        }
        Ok(())
    }

    fn finish(&mut self, made: &mut MadeRows) -> Result<(), TransformError> {
        if LIE == GIVES_ROWS_AT_THE_END && self.rows > 0 {
            self.rows = 0;
            made.number(0, None);
        }
        Ok(())
    }
}

fn complaints<const LIE: usize>() -> String {
    match std::panic::catch_unwind(|| check::<Before<LIE>>(&[])) {
        Ok(()) => String::new(),
        Err(panic) => panic.downcast_ref::<String>().cloned().unwrap_or_default(),
    }
}

#[test]
fn what_breaks_a_rule_of_the_interface_is_found() {
    assert_eq!(complaints::<HONEST>(), "");
    for (complaints, expected) in [
        (complaints::<COUNTS_ROWS_OF_A_BATCH>(), "batches of [1] give another result"),
        (complaints::<COUNTS_ROWS_AND_SAYS_IT_DOES_NOT>(), "results depend on each other"),
        (complaints::<SEES_TOO_FEW_DAYS>(), "on the result is another one"),
        (complaints::<HAS_ANOTHER_OUTPUT>(), "batches of [1] give another result"),
        (
            complaints::<GIVES_TOO_FEW_VALUES>(),
            "made column 0 has 11 values where there must be 12",
        ),
        (complaints::<GIVES_ROWS_AT_THE_END>(), "made column 0 has 1 values where there must be 0"),
        (complaints::<HAS_ANOTHER_ORDER>(), "the rows do not have the order of the output"),
        (complaints::<TAKES_ROWS_BACKWARDS>(), "rows are not taken in their order"),
        (complaints::<DECLINES_FOR_NO_OPTION>(), "declines for the option `x`"),
        (complaints::<PANICS>(), "panics: of fright"),
        (complaints::<FITS_NO_TABLE>(), "it takes none of the tables"),
        (complaints::<PASSES_TO_NEW_ROWS>(), "`n` is passed to rows that are new"),
        (complaints::<PLANS_OTHERWISE>(), "it plans otherwise"),
    ] {
        assert!(complaints.contains(expected), "{expected}: {complaints}");
    }
}

/// Sums of `value` by `region`, and the share of each in the sum of what was primed.
struct Sums {
    output: TransformOutput,
    primed: f64,
    sums: Vec<(f64, usize)>,
    given: usize,
    priming: Priming,
}

impl Transform for Sums {
    fn describe() -> TransformDescription {
        let parameters = vec![crate::Parameter {
            name: "year",
            kind: crate::Kind::Text,
            default: "",
            allowed: &[],
            docs: "",
        }];
        TransformDescription {
            name: "sums",
            version: "0.1.0",
            title: "Sums",
            independent: false,
            parameters,
            docs: "",
        }
    }

    fn plan(_: &Schema, options: &Options) -> Result<Needs, TransformError> {
        let prime = match options.text("year")? {
            "" => Priming::All,
            year => {
                Priming::Dates { first: format!("{year}-01-01"), last: format!("{year}-12-31") }
            }
        };
        let columns = vec![Need::plain(2), Need::coded(1)];
        Ok(Needs { columns, groups: Some(vec![1]), prime, ..Needs::default() })
    }

    fn open(schema: &Schema, codes: &Codes, options: &Options) -> Result<Self, TransformError> {
        let values: Vec<&str> =
            codes.for_column(1).iter().map(|code| code.value.as_str()).collect();
        assert_eq!(values, ["north", "south"]);
        let columns = vec![
            OutputColumn::made("rows", MadeType::Integer),
            OutputColumn::group("region", 1),
            OutputColumn::made("share", MadeType::Number),
            OutputColumn { values_of: Some(1), ..OutputColumn::made("name", MadeType::Text) },
            OutputColumn::made("date", MadeType::Date),
        ];
        let output = TransformOutput { columns, rows: Relation::New, order: vec![0, 1] };
        let priming = Self::plan(schema, options)?.prime;
        Ok(Self { output, primed: 0.0, sums: Vec::new(), given: 0, priming })
    }

    fn output(&self) -> &TransformOutput {
        &self.output
    }

    fn prime(&mut self, rows: &InputRows) -> Result<(), TransformError> {
        assert!(self.sums.is_empty() && self.priming != Priming::None);
        self.primed += (0..rows.rows()).filter_map(|row| rows.column(0).number(row)).sum::<f64>();
        Ok(())
    }

    fn push(&mut self, rows: &InputRows, _: &mut MadeRows) -> Result<(), TransformError> {
        for row in 0..rows.rows() {
            let group = rows.group(row);
            self.sums.resize(self.sums.len().max(group + 1), (0.0, 0));
            self.sums[group].0 += rows.column(0).number(row).unwrap_or_default();
            self.sums[group].1 = rows.column(1).code(row).unwrap_or(9);
        }
        Ok(())
    }

    fn finish(&mut self, made: &mut MadeRows) -> Result<(), TransformError> {
        let Some((sum, code)) = self.sums.get(self.given) else { return Ok(()) };
        made.group(self.given);
        made.integer(0, Some(7));
        made.number(1, Some(sum / self.primed));
        made.text(2, ["north", "south"].get(*code).copied());
        made.date(3, Some(59));
        self.given += 1;
        Ok(())
    }
}

fn regions() -> Table {
    Table::new()
        .text("date", &["2024-01-01", "2024-01-01", "2025-01-01", "2025-01-01"].map(Some))
        .dictionary("region", &[Some("south"), Some("north"), Some("south"), None])
        .numbers("value", &[Some(1.0), Some(2.0), Some(4.0), None])
        .about("date", "yearbook.role", "date")
        .about("date", "yearbook.type", "date")
}

#[test]
fn groups_codes_primed_rows_and_new_rows_are_those_of_the_host() {
    let whole = transform::<Sums>(&regions(), &[]).unwrap();
    assert_eq!(whole.output.columns[1].source, Source::Group(1));
    assert_eq!(whole.column("region"), [Some("north"), Some("south"), None], "null is last");
    assert_eq!(whole.numbers("share"), [2.0 / 7.0, 5.0 / 7.0, 0.0].map(Some));
    assert_eq!(whole.column("name"), whole.column("region"));
    assert_eq!(whole.column("rows"), [Some("7"); 3]);
    assert_eq!(whole.column("date"), [Some("1970-03-01"); 3]);
    check_table::<Sums>(&regions(), &[]);
    let year = [("year", Value::Text("2024".to_owned()))];
    let late = transform_from::<Sums>(&regions(), "2025-01-01", &year).unwrap();
    assert_eq!(late.column("region"), [Some("north"), Some("south"), None]);
    // The group of the north appears in what is primed alone.
    assert_eq!(late.numbers("share"), [0.0, 4.0 / 3.0, 0.0].map(Some));
}
