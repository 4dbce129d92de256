//! Attacks of readers, which run where data is published: loops, lies about rows and columns, and
//! sentences that forge. What becomes of each is what the publisher reads.

use super::call_order::{self, out_of_time};
use super::limits::OUTPUT;
use crate::guest::ReaderGuest;

/// Bytes of the file that is read in one chunk.
pub(crate) const SMALL_FILE: u64 = 300;

/// Bytes of the file that is read in three chunks, and of each but the last.
pub(crate) const LARGE_FILE: u64 = 2 * CHUNK + 1000;
const CHUNK: u64 = 256 << 10;

/// Text that forges, hides and reorders.
const SENTENCE: &str = "no\r\nHTTP/1.1 200 OK\r\n\u{1b}[2J<script>alert(1)</script>\u{202e}\"";

/// The same as it may be shown.
const CLEAN: &str = "no  HTTP/1.1 200 OK   [2J<script>alert(1)</script> \"";

/// An attack of a reader.
pub(crate) struct ReaderAttack {
    /// Also the format that its guest says it reads.
    pub(crate) name: String,
    /// In words.
    pub(crate) does: String,
    guest: Box<dyn Fn(ReaderGuest) -> ReaderGuest>,
    /// True if it needs a file that comes in three chunks.
    pub(crate) large: bool,
    /// Its outcome.
    pub(crate) ends: ReadingEnd,
    /// The guard that stops it.
    pub(crate) caught: &'static str,
}

/// Outcome of a reader's attack.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ReadingEnd {
    /// No harm: a snapshot of so many rows, whose first column has this unit.
    Published(u64, Option<String>),
    /// Nothing is published or stored, for this reason.
    Refused(String),
    /// It is not loaded, for this reason.
    Rejected(String),
}

impl ReaderAttack {
    fn new(
        name: &str,
        does: &str,
        guest: impl Fn(ReaderGuest) -> ReaderGuest + 'static,
        ends: ReadingEnd,
        caught: &'static str,
    ) -> Self {
        let (name, does, guest) = (format!("read-{name}"), does.to_owned(), Box::new(guest));
        Self { name, does, guest, large: false, ends, caught }
    }

    /// Reads a file of three chunks.
    fn with_large_file(mut self) -> Self {
        self.large = true;
        self
    }

    /// The component.
    pub(crate) fn component(&self) -> Vec<u8> {
        (self.guest)(ReaderGuest::named(&self.name)).build()
    }
}

/// Every attack of a reader.
pub(crate) fn reader_attacks() -> Vec<ReaderAttack> {
    [hazards(), batches(), columns(), endless(), words()].into_iter().flatten().collect()
}

fn stopped(at: u64, why: &str) -> ReadingEnd {
    ReadingEnd::Refused(format!(
        "was stopped at byte {at} of the data: {why}; the file may be damaged there, otherwise report this to the plugin's author"
    ))
}

fn returned(at: u64, rule: &str) -> ReadingEnd {
    ReadingEnd::Refused(format!(
        "returned at byte {at} of the data {rule}; report this to its author"
    ))
}

fn refused(sentence: &str) -> ReadingEnd {
    ReadingEnd::Refused(sentence.to_owned())
}

/// No harm to a file of one chunk.
fn one_row() -> ReadingEnd {
    ReadingEnd::Published(1, None)
}

fn too_many_bytes() -> String {
    format!("returned more than {OUTPUT} bytes in one call (sandbox.output_bytes_per_call)")
}

/// Attacks of any code, in every call that the host makes.
fn hazards() -> Vec<ReaderAttack> {
    let kinds = call_order::hazards()
        .into_iter()
        .filter(|(hazard, ..)| ["spin", "recurse", "grow", "trap"].contains(hazard));
    let mut list = Vec::new();
    for (hazard, words, code, sentence, caught) in kinds {
        for call in
            ["describe", "open", "push", "columns", "pull", "realloc", "post-return", "drop"]
        {
            let ends = match call {
                "describe" => ReadingEnd::Rejected(format!("describe: {sentence}")),
                "push" => stopped(SMALL_FILE, &sentence),
                "drop" => one_row(),
                // Columns and rows are asked for before the first chunk, and `realloc` writes the
                // arguments of `open`.
                _ => stopped(0, &sentence),
            };
            let body = if ["post-return", "drop"].contains(&call) {
                format!("(drop {code})")
            } else {
                code.to_owned()
            };
            let caught =
                if call == "drop" { "never called: the instance is thrown away" } else { caught };
            list.push(ReaderAttack::new(
                &format!("{hazard}-in-{call}"),
                &format!("`{call}` {words}"),
                move |guest| guest.does(call, &body),
                ends,
                caught,
            ));
        }
    }
    list.push(
        ReaderAttack::new(
            "late-spin",
            "`push` loops for ever at the third chunk, after two rows",
            |guest| guest.does("push", &counted("(if (i32.eq (global.get $calls) (i32.const 3)) (then (drop (call $spin))))")),
            stopped(LARGE_FILE, &out_of_time()),
            "`cpu_ms_per_call`; rows become visible together",
        )
        .with_large_file(),
    );
    list
}

/// A `push` that counts its calls and does `more`.
fn counted(more: &str) -> String {
    format!(
        "(global.set $calls (i32.add (global.get $calls) (i32.const 1)))
        (global.set $pending (i32.const 1)) {more} (call $done)"
    )
}

/// Rows that are not what they say.
fn batches() -> Vec<ReaderAttack> {
    let lie = |name: &str, does: &str, spoil: fn(&mut ReaderGuest), rule: &str| {
        let guest = move |guest: ReaderGuest| guest.with(spoil);
        ReaderAttack::new(name, does, guest, returned(SMALL_FILE, rule), "rules for batches")
    };
    let shape = "a column \"value\" of another shape than its type and the batch have";
    let damaged = |column: &str, why: &str| format!("a column \"{column}\" that is damaged: {why}");
    vec![
        lie("rows-none", "a batch without rows", |g| g.batch.rows = 0, "a batch without rows"),
        lie(
            "rows-more",
            "a batch of more rows than its arrays",
            |g| g.batch.rows = u32::MAX,
            shape,
        ),
        lie("length", "an array longer than its batch", |g| g.batch.arrays[0].length = 2, shape),
        lie(
            "length-shared",
            "a billion rows in a few bytes",
            |g| {
                g.batch.rows = 1_000_000_000;
                g.batch.arrays.iter_mut().for_each(|array| array.length = 1_000_000_000);
            },
            &damaged(
                "value",
                "Invalid argument error: Need at least 8000000000 bytes in buffers[0] in array of type Int64, but got 8",
            ),
        ),
        lie(
            "arrays-fewer",
            "fewer arrays than columns",
            |g| g.batch.arrays.truncate(1),
            "1 arrays for 2 columns",
        ),
        lie(
            "buffers-fewer",
            "fewer buffers than its arrays say",
            |g| drop(g.batch.buffers.pop()),
            "a column \"name\" without its buffers",
        ),
        lie(
            "buffers-more",
            "more buffers than its arrays say",
            |g| g.batch.buffers.push(Vec::new()),
            "buffers that belong to no column",
        ),
        lie(
            "repeated",
            "an array that repeats one that never was",
            |g| g.batch.arrays[0].repeated = true,
            shape,
        ),
        lie(
            "offsets-descending",
            "text that ends before it begins",
            |g| g.batch.buffers[3] = offsets([5, 0]),
            &damaged(
                "name",
                "Invalid argument error: First offset 5 in Utf8 is smaller than last offset 0",
            ),
        ),
        lie(
            "offsets-beyond",
            "text that ends behind its buffer",
            |g| g.batch.buffers[3] = offsets([0, i32::MAX]),
            &damaged(
                "name",
                "Invalid argument error: Last offset 2147483647 of Utf8 is larger than values length 5",
            ),
        ),
        lie(
            "offsets-negative",
            "text that begins before its buffer",
            |g| g.batch.buffers[3] = offsets([-5, 0]),
            &damaged(
                "name",
                "Invalid argument error: Error converting offset[0] (-5) to usize for Utf8",
            ),
        ),
        lie(
            "no-utf-8",
            "text that is none",
            |g| g.batch.buffers[4] = vec![0xff; 5],
            &damaged(
                "name",
                "Invalid argument error: Invalid UTF8 sequence at string index 0 (0..5): invalid utf-8 sequence of 1 bytes from index 0",
            ),
        ),
        lie(
            "nulls-miscounted",
            "a null that is a value",
            |g| {
                g.batch.arrays[0].nulls = 1;
                g.batch.buffers[0] = vec![1];
            },
            "a column \"value\" whose nulls are miscounted",
        ),
        lie(
            "nulls-unclaimed",
            "a null that is not counted",
            |g| g.batch.buffers[0] = vec![0],
            "a column \"value\" with a validity buffer and no nulls",
        ),
        ReaderAttack::new(
            "arrays-many",
            "a list of a hundred million arrays",
            |guest| {
                guest.does("pull", "(i32.store (i32.const 2196) (i32.const 100000000)) (call $row)")
            },
            stopped(SMALL_FILE, "trapped: list pointer/length out of bounds of memory"),
            "the component model's lists",
        ),
    ]
}

fn offsets(offsets: [i32; 2]) -> Vec<u8> {
    offsets.iter().flat_map(|offset| offset.to_le_bytes()).collect()
}

/// Columns that were not asked for, and ones that change.
fn columns() -> Vec<ReaderAttack> {
    let lie = |name: &str, does: &str, spoil: fn(&mut ReaderGuest), rule: &str| {
        let guest = move |guest: ReaderGuest| guest.with(spoil);
        ReaderAttack::new(name, does, guest, returned(0, rule), "rules for columns")
    };
    vec![
        lie("columns-fewer", "fewer columns than were asked for", |g| drop(g.columns.pop()), "1 columns where 2 were asked for"),
        lie(
            "columns-swapped",
            "the columns in another order",
            |g| g.columns.swap(0, 1),
            "a column \"name\" that is not the one asked for",
        ),
        lie(
            "column-name",
            "a name with terminal escapes and a forged line",
            |g| g.columns[0].name = SENTENCE.into(),
            "a column \"no\\r\\nHTTP/1.1 200 OK\\r\\n\\u{1b}[2J<script>alert(1)</script>\\u{202e}\\\"\" that is not the one asked for",
        ),
        lie(
            "column-type",
            "a column of a type that readers do not have",
            |g| g.columns[0].format = b"+s".into(),
            "a column \"value\" of the type \"+s\"; types are u, l, g and b",
        ),
        ReaderAttack::new(
            "columns-many",
            "twenty thousand columns",
            |guest| {
                let body = "(i32.store (i32.const 2052) (call $room (i32.const 16))) (i32.store (i32.const 2056) (i32.const 20000)) (i32.const 2048)";
                guest.does("columns", body)
            },
            returned(0, "20000 columns where 2 were asked for"),
            "rules for columns",
        ),
        ReaderAttack::new(
            "columns-never",
            "no columns, however much it is given",
            |guest| guest.does("columns", "(call $unknown)"),
            refused("its reader knows no columns at the end of the file"),
            "the end of the file",
        ),
        ReaderAttack::new(
            "columns-change",
            "other columns at the second call",
            |guest| {
                let body = "(if (global.get $calls) (then (unreachable))) (global.set $calls (i32.const 1)) (i32.const 2048)";
                guest.does("columns", body)
            },
            one_row(),
            "asked once for each reading",
        ),
        ReaderAttack::new(
            "schema-changes",
            "text in the second batch where the first has integers",
            |guest| {
                let pull = "(if (i32.eq (global.get $calls) (i32.const 2))
                    (then (i32.store offset=8 (i32.load (i32.const 2192)) (i32.const 3)))) (call $row)";
                guest.does("push", &counted("")).does("pull", pull)
            },
            returned(2 * CHUNK, "a column \"value\" of another shape than its type and the batch have"),
            "each batch is checked against the first columns",
        )
        .with_large_file(),
    ]
}

/// Rows without end, and more of them than one call may return.
fn endless() -> Vec<ReaderAttack> {
    // Address and length of the text of the batch, and the offset of its end.
    let text_of = |pages: u32| {
        let bytes = pages << 16;
        format!(
            "(i32.store offset=32 (i32.load (i32.const 2200)) (call $room (i32.const {pages})))
            (i32.store offset=36 (i32.load (i32.const 2200)) (i32.const {bytes}))
            (i32.store offset=4 (i32.load offset=24 (i32.load (i32.const 2200))) (i32.const {bytes}))
            (call $opened (call $new (i32.const 7)))"
        )
    };
    // Rows are asked for before the first chunk.
    let allowed = 64 << 20;
    let amplified = |batch: u64| {
        let made = (allowed / batch + 1) * batch;
        let trap = format!(
            "made {made} bytes of rows where its file allows {allowed} (sandbox.read_amplification)"
        );
        stopped(0, &trap)
    };
    let (large, huge) = (text_of(16), text_of(128));
    vec![
        ReaderAttack::new(
            "endless",
            "rows of a mebibyte for ever",
            move |guest| guest.does("open", &large).does("pull", "(i32.const 2176)"),
            amplified((1 << 20) + 16),
            "`read_amplification`",
        ),
        ReaderAttack::new(
            "endless-small",
            "rows of 21 bytes for ever",
            |guest| guest.does("pull", "(i32.const 2176)"),
            amplified(1024),
            "`read_amplification`: a batch counts 1 KiB at least",
        ),
        ReaderAttack::new(
            "gigantic",
            "a row of 8 MiB, more than one call may return",
            move |guest| guest.does("open", &huge),
            stopped(SMALL_FILE, &too_many_bytes()),
            "`output_bytes_per_call`",
        ),
    ]
}

/// Units and sentences that forge, hide or flood, and handles that are none.
fn words() -> Vec<ReaderAttack> {
    let speaks = |name: &str, does: &str, kind: u32, ends: ReadingEnd| {
        let guest = move |guest: ReaderGuest| {
            let (at, bytes) = (ReaderGuest::EXTRA, SENTENCE.len());
            let body =
                format!("(call $fail (i32.const {kind}) (i32.const {at}) (i32.const {bytes}))");
            guest.with(|guest| guest.extra = SENTENCE.into()).does("push", &body)
        };
        ReaderAttack::new(name, does, guest, ends, "sentences are cut and cleaned")
    };
    let flood = |name: &str, does: &str, pages: u32, bytes: u32, ends: ReadingEnd, caught| {
        let body = format!(
            "(local.set $i (call $room (i32.const {pages}))) (memory.fill (local.get $i) (i32.const 65) (i32.const {bytes}))
            (call $fail (i32.const 0) (local.get $i) (i32.const {bytes}))"
        );
        ReaderAttack::new(name, does, move |guest| guest.does("push", &body), ends, caught)
    };
    vec![
        speaks(
            "sentence-malformed",
            "calls the file damaged, with control characters, HTML and a forged line",
            0,
            ReadingEnd::Refused(format!("line 7: {CLEAN}")),
        ),
        speaks(
            "sentence-unsupported",
            "calls the file unsupported, with the same",
            1,
            ReadingEnd::Refused(format!("line 7: {CLEAN}")),
        ),
        speaks(
            "sentence-option",
            "refuses an option with the same",
            2,
            ReadingEnd::Refused(format!("an option in yearbook.reader_options: {CLEAN}")),
        ),
        speaks(
            "sentence-internal",
            "reports a fault of its own with the same",
            3,
            ReadingEnd::Refused(format!(
                "reports its own fault at byte {SMALL_FILE} of the data: {CLEAN}; report this to its author"
            )),
        ),
        flood(
            "sentence-long",
            "refuses the file with a sentence of 3 MiB",
            48,
            3 << 20,
            ReadingEnd::Refused(format!("line 7: {}", "A".repeat(1024))),
            "sentences are cut at 1 KiB",
        ),
        flood(
            "sentence-flood",
            "refuses the file with a sentence of 8 MiB",
            128,
            8 << 20,
            stopped(SMALL_FILE, &too_many_bytes()),
            "`output_bytes_per_call`",
        ),
        ReaderAttack::new(
            "unit",
            "a unit with control characters, HTML and a forged line",
            |guest| guest.with(|guest| guest.columns[0].unit = Some(SENTENCE.into())),
            ReadingEnd::Published(1, Some(CLEAN.to_owned())),
            "sentences are cut and cleaned",
        ),
        ReaderAttack::new(
            "unit-long",
            "a unit of 1 MiB",
            |guest| guest.with(|guest| guest.columns[0].unit = Some(vec![b'A'; 1 << 20])),
            ReadingEnd::Published(1, Some("A".repeat(1024))),
            "sentences are cut at 1 KiB",
        ),
        ReaderAttack::new(
            "unit-no-utf-8",
            "a unit that is no text",
            |guest| guest.with(|guest| guest.columns[0].unit = Some(vec![0xff; 4])),
            stopped(0, "trapped: invalid utf-8 sequence of 1 bytes from index 0"),
            "the component model's strings",
        ),
        ReaderAttack::new(
            "role",
            "a role that there is not",
            |guest| guest.with(|guest| guest.columns[0].role = Some(SENTENCE.into())),
            one_row(),
            "unknown roles count for nothing",
        ),
        ReaderAttack::new(
            "handle",
            "a reading that does not exist",
            |guest| guest.does("open", "(call $opened (i32.const 99))"),
            stopped(0, "trapped: unknown handle index 99"),
            "the component model's handles",
        ),
    ]
}
