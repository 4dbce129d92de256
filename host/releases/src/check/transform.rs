//! The trial of a transform: tables through the sandbox in one batch, row by row and cut in odd
//! places, which must give the same rows, and from later days, which must give the last of them;
//! every allowed value of every parameter likewise; and batches as large as the host sends. A
//! parameter that must be given is given the first value that suits the table.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{AsArray, RecordBatch};
use arrow::compute::{cast, concat_batches};
use arrow::datatypes::{DataType, SchemaRef};
use yearbook_domain::Date;
use yearbook_sandbox::{GuestError, OptionValue, PluginTransform, TrialError, TrialTable};
use yearbook_sdk::testing::{Table, record_batches};

use super::allowed_values::allowed_values;
use super::report::ReportBuilder;
use super::suitable_options::{distinct_values, suitable_options};

/// Rows of a batch, where a table is cut.
const CUTS: [usize; 4] = [1, 3, 7, 64];

/// The same for each allowed value of a parameter.
const OPTION_CUTS: [usize; 2] = [1, 7];

/// Days from which a table is asked for.
const STARTS: usize = 3;

/// Months of the small tables, and of the one that the budget is measured with.
const MONTHS: i32 = 40;
const MANY_MONTHS: i32 = 8_000;

/// A table with what a transform is told of it.
struct TrialInput {
    name: &'static str,
    schema: SchemaRef,
    rows: RecordBatch,
    codes: BTreeMap<String, Vec<String>>,
}

pub(super) fn check(transform: &Arc<PluginTransform>, tally: &mut ReportBuilder) {
    let tables = [
        ("series", series(MONTHS)),
        ("one row", series(1)),
        ("without dates", undated()),
        ("without values", labels()),
    ];
    let (mut taken, mut declined) = (false, None);
    for (name, table) in tables {
        let Some(input) = TrialInput::new(name, &table) else {
            tally.add_skipped(name);
            continue;
        };
        match input.suitable_options(transform) {
            Ok(options) => {
                taken = true;
                check_table(transform, &input, &options, tally);
            }
            // A transform needs columns and rows of its kind.
            Err(TrialError {
                error: GuestError::Declined(sentence) | GuestError::UnsupportedRows(sentence),
                ..
            }) if !sentence.is_empty() => {
                declined = declined.or(Some(sentence));
            }
            Err(failed) => tally.find_failure(&format!("table `{name}`"), failed),
        }
    }
    if let Some(sentence) = declined.filter(|_| !taken) {
        tally.find(
            "every table",
            format!("it declines: {sentence}"),
            "take a table with dates, dimensions and values",
        );
    }
    check_large_batches(transform, tally);
}

/// Tries a table whole, again, and in parts; and with every allowed value of every parameter.
fn check_table(
    transform: &Arc<PluginTransform>,
    input: &TrialInput,
    options: &[OptionValue],
    tally: &mut ReportBuilder,
) {
    let place = format!("table `{}`", input.name);
    let Some(whole) = try_rows(transform, input, options, input.rows.num_rows(), &place, tally)
    else {
        return;
    };
    let again = try_rows(transform, input, options, input.rows.num_rows(), &place, tally);
    if again.is_some_and(|again| again != whole) {
        tally.find(
            &place,
            "the same rows give others the second time",
            "leave out whatever depends on memory addresses, hash order or what came before",
        );
    }
    check_parts(transform, input, options, (&whole, &CUTS), &place, tally);
    for (text, option) in allowed_values(&transform.description().parameters) {
        let place = format!("{place}, option {}.{}={text}", transform.name(), option.name);
        let mut options: Vec<OptionValue> =
            options.iter().filter(|given| given.name != option.name).cloned().collect();
        options.push(option);
        match input.transform(transform, &options, input.rows.num_rows()) {
            Ok(trial) => {
                tally.record_usage(trial.usage);
                if let Some(whole) = plain(&trial) {
                    let whole = (&whole, &OPTION_CUTS[..]);
                    check_parts(transform, input, &options, whole, &place, tally);
                }
            }
            // A value may be right for other tables, or beside other options.
            Err(TrialError {
                error: GuestError::Declined(_) | GuestError::InvalidTransformOption { .. },
                ..
            }) => {}
            Err(failed) => tally.find_failure(&place, failed),
        }
    }
}

/// Tries the table cut into batches of so many rows, and from later days. `whole`: what comes of
/// all of it in one batch.
fn check_parts(
    transform: &Arc<PluginTransform>,
    input: &TrialInput,
    options: &[OptionValue],
    (whole, cuts): (&RecordBatch, &[usize]),
    place: &str,
    tally: &mut ReportBuilder,
) {
    for rows in cuts {
        let place = format!("{place}, {rows} rows a batch");
        let cut = try_rows(transform, input, options, *rows, &place, tally);
        if cut.is_some_and(|cut| cut != *whole) {
            tally.find(
                &place,
                "it gives other rows than in one batch",
                "what comes out may not depend on where batches end: keep what a batch leaves over",
            );
        }
    }
    let dates = input.dates();
    if !dates.is_sorted() || dates.len() != whole.num_rows() {
        return;
    }
    for start in dates.iter().step_by(dates.len() / STARTS + 1) {
        let place = format!("{place}, from {}", start.as_str());
        let trial = match input.transform_from(transform, options, *start) {
            Ok(Some(trial)) => trial,
            // It asks for no earlier rows, or its rows are not those of the input.
            Ok(None) => return,
            // Fewer rows may be too few.
            Err(TrialError {
                error: GuestError::Declined(_) | GuestError::UnsupportedRows(_),
                ..
            }) => continue,
            Err(failed) => {
                tally.find_failure(&place, failed);
                continue;
            }
        };
        tally.record_usage(trial.usage);
        let first = dates.partition_point(|date| date < start);
        let last = whole.slice(first, dates.len() - first);
        // Whether a column may have nulls is said of the rows that there are.
        if plain(&trial).is_some_and(|made| made.columns() != last.columns()) {
            tally.find(
                &place,
                "it gives other rows than the last ones of the whole table",
                "ask for as many earlier rows with `before` as a result needs, and add with \
                 `exact::Sum`: a sum that is carried on rounds otherwise from another day",
            );
        }
    }
}

/// Batches as large as the host sends, for the budget.
fn check_large_batches(transform: &Arc<PluginTransform>, tally: &mut ReportBuilder) {
    let Some(input) = TrialInput::new("large batches", &series(MANY_MONTHS)) else {
        return tally.add_skipped("large batches");
    };
    let tried = input
        .suitable_options(transform)
        .and_then(|options| input.transform(transform, &options, input.rows.num_rows() / 4));
    match tried {
        Ok(trial) => tally.record_usage(trial.usage),
        Err(TrialError { error: GuestError::Declined(_), .. }) => {}
        Err(failed) => tally.find_failure(input.name, failed),
    }
}

/// The rows that come of a table in batches of so many rows, as one batch with plain text.
fn try_rows(
    transform: &Arc<PluginTransform>,
    input: &TrialInput,
    options: &[OptionValue],
    rows: usize,
    place: &str,
    tally: &mut ReportBuilder,
) -> Option<RecordBatch> {
    match input.transform(transform, options, rows) {
        Ok(trial) => {
            tally.record_usage(trial.usage);
            plain(&trial)
        }
        Err(failed) => {
            tally.find_failure(place, failed);
            None
        }
    }
}

fn plain(trial: &TrialTable) -> Option<RecordBatch> {
    let whole = concat_batches(&trial.schema, &trial.batches).ok()?;
    let columns = whole.columns().iter().zip(trial.schema.fields()).map(|(column, field)| {
        let plain = match field.data_type() {
            DataType::Dictionary(_, values) => values.as_ref(),
            plain => plain,
        };
        Some((field.name(), cast(column, plain).ok()?))
    });
    RecordBatch::try_from_iter(columns.collect::<Option<Vec<_>>>()?).ok()
}

impl TrialInput {
    /// `None` for a table that this host hands to no plugin.
    fn new(name: &'static str, table: &Table) -> Option<Self> {
        let (schema, batches) = record_batches(table).ok()?;
        let rows = concat_batches(&schema, &batches).ok()?;
        let codes = distinct_values(&rows);
        Some(Self { name, codes, schema, rows })
    }

    fn suitable_options(
        &self,
        transform: &Arc<PluginTransform>,
    ) -> Result<Vec<OptionValue>, TrialError> {
        let rows = self.rows.num_rows();
        suitable_options(transform, &self.schema, |options| {
            self.transform(transform, options, rows).map(|_| ())
        })
    }

    fn transform(
        &self,
        transform: &Arc<PluginTransform>,
        options: &[OptionValue],
        rows: usize,
    ) -> Result<TrialTable, TrialError> {
        let all = self.rows.num_rows();
        let rows = rows.max(1);
        let batches: Vec<RecordBatch> = (0..all)
            .step_by(rows)
            .map(|first| self.rows.slice(first, rows.min(all - first)))
            .collect();
        transform.trial(&self.schema, options, |column| self.codes(column), &batches)
    }

    /// Rows from the day `start` on; `None` where the transform asks for no earlier ones.
    fn transform_from(
        &self,
        transform: &Arc<PluginTransform>,
        options: &[OptionValue],
        start: Date,
    ) -> Result<Option<TrialTable>, TrialError> {
        let batches = std::slice::from_ref(&self.rows);
        transform.trial_from(&self.schema, options, |column| self.codes(column), batches, start)
    }

    fn codes(&self, column: &str) -> Option<Vec<String>> {
        self.codes.get(column).cloned()
    }

    /// Day of each row; nothing without an axis of dates.
    fn dates(&self) -> Vec<Date> {
        let is_axis = |role: &String| role == "date";
        let mut fields = self.schema.fields().iter();
        let axis =
            fields.position(|field| field.metadata().get("yearbook.role").is_some_and(is_axis));
        let days = axis.and_then(|axis| cast(self.rows.column(axis), &DataType::Utf8).ok());
        let days = days.as_ref().and_then(|days| days.as_string_opt::<i32>());
        days.into_iter().flatten().filter_map(|day| Date::parse(day?)).collect()
    }
}

/// Months of three regions: nulls, a gap, integers, booleans, and text that only passes.
fn series(months: i32) -> Table {
    const REGIONS: [&str; 3] = ["north", "south", "East, \"far\""];
    let rows = || (0..months).flat_map(|month| (0..3_usize).map(move |region| (month, region)));
    // The south has no row in some months.
    let rows: Vec<(i32, usize)> =
        rows().filter(|(month, region)| *region != 1 || month % 11 != 5).collect();
    let number = |(month, region): &(i32, usize)| {
        let base = 0.1 * f64::from(*month) + if *region == 0 { 1.0 } else { 2.5 };
        (month % 7 != 3).then_some(base)
    };
    let text = |make: &dyn Fn(i32) -> String| -> Vec<Option<String>> {
        rows.iter().map(|(month, _)| Some(make(*month))).collect()
    };
    let year = |month: i32| 1900 + month / 12;
    let table = Table::new()
        .text("date", &text(&|month| format!("{:04}-{:02}-01", year(month), month % 12 + 1)))
        .text("period", &text(&|month| format!("{:04}-{:02}", year(month), month % 12 + 1)))
        .text("region", &rows.iter().map(|row| Some(REGIONS[row.1])).collect::<Vec<_>>())
        .numbers("value", &rows.iter().map(number).collect::<Vec<_>>())
        .integers("n", &rows.iter().map(|row| Some(i64::from(row.0) * 7)).collect::<Vec<_>>())
        .booleans("final", &rows.iter().map(|row| Some(row.0 % 5 > 0)).collect::<Vec<_>>())
        .dictionary("note", &rows.iter().map(|_| Some("a note")).collect::<Vec<_>>());
    [
        ("date", "date"),
        ("period", "period"),
        ("region", "dimension"),
        ("value", "value"),
        ("n", "value"),
        ("final", "attribute"),
        ("note", "attribute"),
    ]
    .into_iter()
    .fold(table, |table, (column, role)| table.about(column, "yearbook.role", role))
    .about("date", "yearbook.type", "date")
    .about("value", "yearbook.unit", "kg")
    .metadata("yearbook.primary_key", r#"["date","region"]"#)
    .metadata("yearbook.series", r#"["region"]"#)
    .metadata("yearbook.axis", "month")
}

/// Areas with a value each.
fn undated() -> Table {
    Table::new()
        .text("code", &[Some("a"), Some("b"), Some("c")])
        .text("part", &[Some("x"), None, Some("x")])
        .numbers("value", &[Some(1.5), None, Some(-3.0)])
        .text("geometry_wkt", &[Some("POINT (1 2)"), Some("POINT (3 4)"), None])
        .about("code", "yearbook.role", "key")
        .about("part", "yearbook.role", "dimension")
        .about("value", "yearbook.role", "value")
        .about("geometry_wkt", "yearbook.role", "geometry")
        .metadata("yearbook.primary_key", r#"["code"]"#)
}

/// Labels alone.
fn labels() -> Table {
    Table::new()
        .text("code", &[Some("a"), Some("b")])
        .text("label", &[Some("A"), None])
        .about("code", "yearbook.role", "dimension")
        .about("label", "yearbook.role", "attribute")
}
