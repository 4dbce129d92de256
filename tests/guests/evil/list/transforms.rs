//! Attacks of transforms: loops, needs that nothing has, outputs and rows that lie, results without
//! end, and sentences that forge. What becomes of each is what the operator reads.

use super::call_order::{self, out_of_time};
use super::limits::OUTPUT;
use crate::guest::{MadeColumn, TransformGuest};

/// Text that forges, hides and reorders.
const SENTENCE: &str = "no\r\nHTTP/1.1 200 OK\r\n\u{1b}[2J<script>\u{202e}";

/// The same as it may be shown.
const CLEAN: &str = "no  HTTP/1.1 200 OK   [2J<script> ";

/// Rows of the table's first batch.
const BATCH: usize = 100;

/// An attack of a transform.
pub(crate) struct TransformAttack {
    /// Also the name that its guest gives itself.
    pub(crate) name: String,
    /// In words.
    pub(crate) does: String,
    guest: Box<dyn Fn(TransformGuest) -> TransformGuest>,
    /// Its outcome.
    pub(crate) ends: ChainEnd,
    /// The guard that stops it.
    pub(crate) caught: &'static str,
}

/// Outcome of a chain.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ChainEnd {
    /// No harm: so many rows, whose last column has this unit.
    Rows(usize, Option<String>),
    /// None, or no more, for this reason.
    Failed(String),
    /// It is not loaded, for this reason.
    Rejected(String),
}

impl TransformAttack {
    fn new(
        name: &str,
        does: &str,
        guest: impl Fn(TransformGuest) -> TransformGuest + 'static,
        ends: ChainEnd,
        caught: &'static str,
    ) -> Self {
        let name = format!("t_{}", name.replace('-', "_"));
        Self { name, does: does.to_owned(), guest: Box::new(guest), ends, caught }
    }

    /// The component.
    pub(crate) fn component(&self) -> Vec<u8> {
        (self.guest)(TransformGuest::named(&self.name)).build()
    }
}

/// Every attack of a transform.
pub(crate) fn transform_attacks() -> Vec<TransformAttack> {
    [hazards(), needs(), outputs(), rows(), endless(), words()].into_iter().flatten().collect()
}

fn failed(why: &str) -> ChainEnd {
    ChainEnd::Failed(why.to_owned())
}

fn returned(rule: &str) -> ChainEnd {
    ChainEnd::Failed(format!("returned {rule}"))
}

/// No harm to two batches, of each of which one row is chosen.
fn two_rows() -> ChainEnd {
    ChainEnd::Rows(2, None)
}

/// Attacks of any code, in every call that the host makes.
fn hazards() -> Vec<TransformAttack> {
    let kinds = call_order::hazards()
        .into_iter()
        .filter(|(hazard, ..)| ["spin", "recurse", "grow", "trap"].contains(hazard));
    let mut list = Vec::new();
    for (hazard, words, code, sentence, caught) in kinds {
        for call in [
            "describe",
            "plan",
            "open",
            "output",
            "prime",
            "push",
            "finish",
            "realloc",
            "post-return",
            "drop",
        ] {
            let ends = match call {
                "describe" => ChainEnd::Rejected(format!("describe: {sentence}")),
                "drop" => two_rows(),
                _ => ChainEnd::Failed(sentence.clone()),
            };
            let body = if ["post-return", "drop"].contains(&call) {
                format!("(drop {code})")
            } else {
                code.to_owned()
            };
            let caught =
                if call == "drop" { "never called: the instance is thrown away" } else { caught };
            list.push(TransformAttack::new(
                &format!("{hazard}-in-{call}"),
                &format!("`{call}` {words}"),
                move |guest| guest.with(|guest| guest.needs.prime = 2).does(call, &body),
                ends,
                caught,
            ));
        }
    }
    list
}

/// Needs that the table does not have.
fn needs() -> Vec<TransformAttack> {
    const RULES: &str = "rules for needs";
    type Change = fn(&mut TransformGuest);
    let cases: [(&str, &str, Change, ChainEnd, &'static str); 9] = [
        (
            "needs-outside",
            "needs a column that is not there",
            |guest| guest.needs.columns = vec![(7, 0)],
            returned("needs with column 7 of 3 columns"),
            RULES,
        ),
        (
            "needs-twice",
            "needs a column twice",
            |guest| guest.needs.columns = vec![(1, 0), (1, 1)],
            returned("needs with column 1 twice"),
            RULES,
        ),
        (
            "needs-codes",
            "needs the codes of a value",
            |guest| guest.needs.columns = vec![(2, 1)],
            failed(
                "the column value holds numbers, whose values are not stored; name a column of text, dates, integers or booleans",
            ),
            "the host's 422",
        ),
        (
            "needs-unknown-codes",
            "needs the codes of a column whose values are not known",
            |guest| guest.needs.columns = vec![(0, 1)],
            failed(
                "the values of the column date are not known before its rows are read, or are more than 10000",
            ),
            "the host's 422",
        ),
        (
            "needs-days",
            "needs the days of a column that has no dates",
            |guest| guest.needs.columns = vec![(1, 2)],
            returned("needs of days of the column \"region\", which has none"),
            RULES,
        ),
        (
            "groups-outside",
            "wants groups of a column that is not there",
            |guest| guest.needs.groups = Some(vec![3]),
            returned("needs.groups with column 3 of 3 columns"),
            RULES,
        ),
        (
            "before-all-time",
            "wants to see four billion years before the first row",
            |guest| guest.needs.before = Some((u32::MAX, 5)),
            returned("needs.before of more than 400 years"),
            "400 years",
        ),
        (
            "prime-backwards",
            "wants to be primed with dates that end before they begin",
            |guest| {
                guest.needs.prime = 1;
                guest.needs.dates = ["2020-01-01", "2019-01-01"];
            },
            returned("needs.prime with the dates \"2020-01-01\" to \"2019-01-01\""),
            RULES,
        ),
        (
            "prime-no-dates",
            "wants to be primed with what is no date",
            |guest| {
                guest.needs.prime = 1;
                guest.needs.dates = ["now", "then"];
            },
            returned("needs.prime with the dates \"now\" to \"then\""),
            RULES,
        ),
    ];
    let attack = |(name, does, change, ends, caught): (_, _, Change, _, _)| {
        TransformAttack::new(name, does, move |guest| guest.with(change), ends, caught)
    };
    cases.into_iter().map(attack).collect()
}

/// Outputs that lie.
fn outputs() -> Vec<TransformAttack> {
    type Change = fn(&mut TransformGuest);
    let cases: [(&str, &str, Change, ChainEnd); 10] = [
        (
            "columns-none",
            "an output without columns",
            |guest| guest.columns.clear(),
            returned("an output of 0 columns; 1 to 4096 may be"),
        ),
        (
            "columns-many",
            "a hundred thousand columns",
            |guest| {
                let column = |n: usize| MadeColumn::new(&format!("c{n}"), (2, 1));
                guest.columns = (0..100_000).map(column).collect();
            },
            failed(&format!(
                "returned more than {OUTPUT} bytes in one call (sandbox.output_bytes_per_call)"
            )),
        ),
        (
            "name-twice",
            "two columns of one name",
            |guest| guest.columns[1].name = b"date".to_vec(),
            returned("two columns \"date\""),
        ),
        (
            "name-forged",
            "a name with terminal escapes and a forged line",
            |guest| guest.columns[1].name = SENTENCE.into(),
            returned(&format!("a column {SENTENCE:?}; names are snake_case, at most 64 bytes")),
        ),
        (
            "passed-outside",
            "passes a column on that is not there",
            |guest| guest.columns[0].source = (0, 3),
            returned("an output with column 3 of 3 columns"),
        ),
        (
            "passed-in-own-rows",
            "passes a column on in rows of its own",
            |guest| guest.relation = 2,
            returned("a column \"date\" that is passed, in rows of its own"),
        ),
        (
            "group-of-none",
            "a column of groups that it did not ask for",
            |guest| {
                guest.relation = 2;
                guest.columns[0].source = (1, 1);
            },
            returned("a column \"date\" of a group that is none of needs.groups"),
        ),
        (
            "role-forged",
            "a role that there is not",
            |guest| guest.columns[1].role = Some(b"owner".to_vec()),
            returned("a column of the role \"owner\""),
        ),
        (
            "values-of-outside",
            "values of a column that is not there",
            |guest| {
                guest.columns[1].source = (2, 0);
                guest.columns[1].values_of = Some(9);
            },
            returned("values-of with column 9 of 3 columns"),
        ),
        (
            "unit-forged",
            "a unit with terminal escapes and a forged line",
            |guest| guest.columns[1].unit = Some(SENTENCE.into()),
            ChainEnd::Rows(2, Some(CLEAN.to_owned())),
        ),
    ];
    let attack = |(name, does, change, ends): (&str, _, Change, _)| {
        let caught = match name {
            "columns-many" => "`output_bytes_per_call`",
            "unit-forged" => "units are cut and cleaned",
            _ => "rules for outputs",
        };
        TransformAttack::new(name, does, move |guest| guest.with(change), ends, caught)
    };
    let mut list: Vec<_> = cases.into_iter().map(attack).collect();
    list.push(TransformAttack::new(
        "output-changes",
        "another output in its second instance, which is not asked for needs",
        |guest| {
            let plan = "(global.set $calls (i32.const 1)) (i32.const 2048)";
            // The relation of the rows.
            let output = "(if (i32.eqz (global.get $calls))
                (then (i32.store8 (i32.const 2184) (i32.const 0)))) (i32.const 2176)";
            guest.does("plan", plan).does("output", output)
        },
        returned("another output than in an instance before"),
        "outputs are compared",
    ));
    list.push(TransformAttack::new(
        "row-order-of-input",
        "an order of rows that have the input's",
        |guest| guest.with(|guest| guest.order = vec![1]),
        returned("an order of rows that have the input's"),
        "rules for outputs",
    ));
    list
}

/// Rows that lie.
fn rows() -> Vec<TransformAttack> {
    type Change = fn(&mut TransformGuest);
    let cases: [(&str, &str, Change, String); 15] = [
        ("rows-none", "a result without rows", |g| g.made.rows = 0, "a result without rows".into()),
        (
            "rows-other",
            "one row for a batch of many",
            |g| {
                g.relation = 0;
                g.made.take.clear();
            },
            format!("1 rows for a batch of {BATCH}"),
        ),
        (
            "rows-billions",
            "a billion rows in a few bytes",
            |g| {
                g.relation = 2;
                g.columns.remove(0);
                g.made.take.clear();
                g.made.rows = 1_000_000_000;
                g.made.arrays[0].length = 1_000_000_000;
            },
            "a column \"rate\" that is damaged: Invalid argument error: Need at least 8000000000 bytes in buffers[0] in array of type Int64, but got 8".into(),
        ),
        ("take-none", "takes no row", |g| g.made.take.clear(), "0 rows taken for 1".into()),
        (
            "take-descending",
            "takes rows backwards",
            |g| {
                g.made.take = vec![1, 0];
                g.made.rows = 2;
            },
            "`take` that does not ascend".into(),
        ),
        (
            "take-outside",
            "takes a row that is not there",
            |g| g.made.take = vec![100],
            format!("`take` of a row outside of a batch of {BATCH}"),
        ),
        (
            "groups-unasked",
            "numbers of groups that nothing needs",
            |g| g.made.groups = vec![0],
            "1 numbers of groups for 1 rows".into(),
        ),
        (
            "groups-not-given",
            "the number of a group that was not given",
            |g| {
                g.relation = 2;
                g.needs.groups = Some(vec![1]);
                g.columns[0] = MadeColumn::new("region", (1, 1));
                g.made.take.clear();
                g.made.groups = vec![2];
            },
            "a number of a group that was not given".into(),
        ),
        (
            "year-far",
            "a date of the year 900,000",
            |g| {
                g.columns[1].source = (2, 4);
                g.made.buffers[1] = 328_000_000_i32.to_le_bytes().to_vec();
            },
            "a column \"rate\" with a date outside of 0001 to 9999".into(),
        ),
        (
            "text-of-none",
            "text that is none of the values that it names",
            |g| {
                g.columns[1].source = (2, 0);
                g.columns[1].values_of = Some(1);
                g.made.arrays[0].buffers = 3;
                let offsets = [0_i32, 4].iter().flat_map(|n| n.to_le_bytes()).collect();
                g.made.buffers = vec![Vec::new(), offsets, b"west".to_vec()];
            },
            "a column \"rate\" with \"west\", which values-of has not".into(),
        ),
        (
            "arrays-fewer",
            "fewer arrays than columns",
            |g| g.made.arrays.clear(),
            "0 arrays for 1 columns".into(),
        ),
        (
            "buffers-more",
            "more buffers than its arrays say",
            |g| g.made.buffers.push(Vec::new()),
            "buffers that belong to no column".into(),
        ),
        (
            "repeated",
            "an array that repeats one that never was",
            |g| g.made.arrays[0].repeated = true,
            "a column \"rate\" of another shape than its type and the batch have".into(),
        ),
        (
            "nulls-miscounted",
            "a null that is a value",
            |g| {
                g.made.arrays[0].nulls = 1;
                g.made.buffers[0] = vec![1];
            },
            "a column \"rate\" whose nulls are miscounted".into(),
        ),
        (
            "order-descending",
            "rows of its own that do not ascend",
            |g| {
                g.relation = 2;
                g.columns.remove(0);
                g.order = vec![0];
                g.made.take.clear();
                g.made.rows = 2;
                g.made.arrays[0].length = 2;
                g.made.buffers[1] = [7_i64, 6].iter().flat_map(|n| n.to_le_bytes()).collect();
            },
            "rows that do not ascend by the made columns of its order".into(),
        ),
    ];
    let attack = |(name, does, change, rule): (_, _, Change, String)| {
        let caught = "rules for rows";
        TransformAttack::new(name, does, move |guest| guest.with(change), returned(&rule), caught)
    };
    let mut list: Vec<_> = cases.into_iter().map(attack).collect();
    list.push(TransformAttack::new(
        "rows-of-finish",
        "rows after the last, where rows are the input's",
        |guest| guest.does("finish", "(i32.const 2304)"),
        returned("rows of `finish` where rows are the input's"),
        "rules for rows",
    ));
    list.push(TransformAttack::new(
        "rows-withheld",
        "no rows of a batch whose rows it promised",
        |guest| guest.with(|guest| guest.relation = 0).does("push", "(call $nothing)"),
        returned(&format!("no rows for a batch of {BATCH}")),
        "rules for rows",
    ));
    list
}

/// Results without end.
fn endless() -> Vec<TransformAttack> {
    let own = |guest: &mut TransformGuest, bytes: usize| {
        guest.relation = 2;
        guest.columns.remove(0);
        guest.made.take.clear();
        let rows = bytes / 8;
        guest.made.rows = u32::try_from(rows).unwrap();
        guest.made.arrays[0].length = guest.made.rows;
        guest.made.buffers[1] = vec![0; bytes];
    };
    // The columns that are read of 200 rows: a value, 8 bytes each.
    let allowed = (64 << 20) + 64 * 200 * 8;
    let made = |result: usize| (allowed / result + 1) * result;
    let stopped = |result: usize| {
        failed(&format!(
            "made {} bytes of rows, with its chain, where what was read allows {allowed} (sandbox.transform_amplification)",
            made(result)
        ))
    };
    vec![
        TransformAttack::new(
            "finish-endless",
            "rows of a mebibyte after the last, for ever",
            move |guest| guest.with(|guest| own(guest, 1 << 20)).does("finish", "(i32.const 2304)"),
            stopped(1 << 20),
            "`transform_amplification`",
        ),
        TransformAttack::new(
            "finish-endless-small",
            "rows of eight bytes after the last, for ever",
            move |guest| guest.with(|guest| own(guest, 8)).does("finish", "(i32.const 2304)"),
            stopped(1 << 10),
            "`transform_amplification`: a result counts 1 KiB at least",
        ),
        TransformAttack::new(
            "gigantic",
            "a result of 8 MiB, more than one call may return",
            move |guest| guest.with(|guest| own(guest, 8 << 20)),
            failed(&format!(
                "returned more than {OUTPUT} bytes in one call (sandbox.output_bytes_per_call)"
            )),
            "`output_bytes_per_call`",
        ),
        TransformAttack::new(
            "spins-late",
            "`push` loops for ever at the second batch",
            |guest| {
                guest.does(
                    "push",
                    "(if (global.get $calls) (then (drop (call $spin))))
                     (global.set $calls (i32.const 1)) (i32.const 2304)",
                )
            },
            ChainEnd::Failed(out_of_time()),
            "`cpu_ms_per_call`",
        ),
    ]
}

/// Sentences that forge.
fn words() -> Vec<TransformAttack> {
    let kinds = [
        ("schema", 0, "declines the columns", failed(CLEAN)),
        ("option", 1, "refuses an option", failed(&format!("{}: {CLEAN}", &CLEAN[..32]))),
        ("large", 2, "calls the rows too many", failed(CLEAN)),
        ("rows", 3, "has no result for the rows", failed(CLEAN)),
        ("internal", 4, "reports a fault of its own", failed(&format!("reports: {CLEAN}"))),
    ];
    let refusal = |(name, kind, does, ends): (&str, u32, &str, ChainEnd)| {
        let (at, length) = (TransformGuest::EXTRA, SENTENCE.len());
        let body = format!("(call $fail (i32.const {kind}) (i32.const {at}) (i32.const {length}))");
        let guest = move |guest: TransformGuest| {
            guest.with(|guest| guest.extra = SENTENCE.into()).does("push", &body)
        };
        let does = format!("{does} in `push`, with control characters, HTML and a forged line");
        let caught = "sentences are cut and cleaned";
        TransformAttack::new(&format!("sentence-{name}"), &does, guest, ends, caught)
    };
    kinds.into_iter().map(refusal).collect()
}
