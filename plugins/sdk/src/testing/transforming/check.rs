//! Conformance of a transform: what holds for every table, whatever it calculates.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::host::{Call, dates};
use super::{TransformedTable, chosen};
use crate::Value;
use crate::testing::{Table, conformance};
use crate::transform::{Relation, Transform, TransformError};

/// Sizes of batches, each list again and again.
const CUTS: [&[usize]; 3] = [&[1], &[2, 3, 1], &[7, 1, 5]];

/// Runs a transform over the tables that every encoder is tried with, of the types that datasets
/// have, plain and with a geometry, a date, a dimension and a value more, which are called
/// `a_geometry`, `a_day`, `a_place` and `a_value`. It may decline a table with a sentence, but must
/// take one at least. `options`: those without which it takes none; every allowed value of the
/// other parameters is tried too.
///
/// ```
#[doc = include_str!("../example_transform.txt")]
/// use yearbook_sdk::testing::transforming;
///
/// transforming::check::<Double>(&[]);
/// ```
///
/// # Panics
/// With all that went wrong, one line each.
pub fn check<T: Transform>(options: &[(&str, Value)]) {
    let mut faults = Faults::default();
    for case in conformance::cases().into_iter().filter(|case| !case.optional) {
        let series = case
            .clone()
            .furnished()
            .table
            .metadata("yearbook.primary_key", r#"["a_day","a_place"]"#)
            .metadata("yearbook.series", r#"["a_place"]"#)
            .metadata("yearbook.axis", "day");
        for table in [case.table, series] {
            faults.try_table::<T>(case.name, &table, options);
        }
    }
    faults.report::<T>();
}

/// Runs a transform over a table of your own, as [`check`] does.
///
/// ```
#[doc = include_str!("../example_transform.txt")]
/// use yearbook_sdk::testing::{Table, transforming};
///
/// let table = Table::new().numbers("value", &[Some(0.1), None, Some(f64::MAX)]);
/// transforming::check_table::<Double>(&table, &[]);
/// ```
///
/// # Panics
/// As [`check`].
pub fn check_table<T: Transform>(table: &Table, options: &[(&str, Value)]) {
    let mut faults = Faults::default();
    faults.try_table::<T>("the table", table, options);
    faults.report::<T>();
}

#[derive(Default)]
struct Faults {
    lines: Vec<String>,
    /// Tables that the transform has taken.
    taken: usize,
}

impl Faults {
    fn try_table<T: Transform>(&mut self, name: &str, table: &Table, options: &[(&str, Value)]) {
        let mut all = vec![options.to_vec()];
        for parameter in T::describe().parameters {
            if options.iter().any(|(option, _)| *option == parameter.name) {
                continue;
            }
            for allowed in parameter.allowed {
                let value = parameter.kind.parse(allowed);
                let value = value.map(|value| (parameter.name, value));
                all.push(options.iter().cloned().chain(value).collect());
            }
        }
        for options in all {
            let call = Call::new(table, &chosen::<T>(&options));
            let whole = self.attempt::<T>(&format!("{name} {options:?}"), &call);
            if let Some(whole) = whole {
                self.taken += usize::from(whole.is_ok());
                self.try_cuts::<T>(&format!("{name} {options:?}"), &call, &whole);
            }
        }
    }

    /// The result; `None` where it is a fault.
    fn attempt<T: Transform>(
        &mut self,
        name: &str,
        call: &Call<'_>,
    ) -> Option<Result<TransformedTable, TransformError>> {
        let result = catch_unwind(AssertUnwindSafe(|| call.run::<T>()));
        let parameters = T::describe().parameters;
        let fault = match &result {
            Err(panic) => {
                let message = panic.downcast_ref::<String>().map(String::as_str);
                let message = message.or_else(|| panic.downcast_ref::<&str>().copied());
                format!("panics: {}", message.unwrap_or_default())
            }
            Ok(Err(TransformError::Internal(sentence))) => format!("fails: {sentence}"),
            Ok(Err(TransformError::InvalidOption { option, .. }))
                if parameters.iter().all(|parameter| parameter.name != *option) =>
            {
                format!("declines for the option `{option}`, which it does not have")
            }
            Ok(Err(error)) if error.to_string().is_empty() => "declines without a word".to_owned(),
            Ok(_) => return result.ok(),
        };
        self.lines.push(format!("{name}: {fault}"));
        None
    }

    fn try_cuts<T: Transform>(
        &mut self,
        name: &str,
        call: &Call<'_>,
        whole: &Result<TransformedTable, TransformError>,
    ) {
        for batch_rows in CUTS {
            let cut = Call { batch_rows: batch_rows.to_vec(), ..call.clone() };
            if self.attempt::<T>(name, &cut).is_some_and(|result| result != *whole) {
                self.lines.push(format!("{name}: batches of {batch_rows:?} give another result"));
            }
        }
        let Ok(whole) = whole else { return };
        if T::describe().independent && whole.output.rows != Relation::New {
            let turns = Call { batch_rows: vec![2], instances: 2, ..call.clone() };
            if self.attempt::<T>(name, &turns).is_some_and(|result| result.as_ref() != Ok(whole)) {
                self.lines.push(format!("{name}: results depend on each other"));
            }
        }
        self.try_start::<T>(name, call, whole);
    }

    /// Finds where a later start gives other rows than the last ones of the whole, if earlier rows
    /// are asked for.
    fn try_start<T: Transform>(&mut self, name: &str, call: &Call<'_>, whole: &TransformedTable) {
        let Ok((schema, cells)) = call.read() else { return };
        let dates = dates(&schema, &cells);
        let needs = T::plan(&schema, &call.options);
        let has_before = needs.is_ok_and(|needs| needs.before.is_some());
        if !has_before || whole.output.rows != Relation::Same || !dates.is_sorted() {
            return;
        }
        for start in dates.iter().step_by(dates.len() / 3 + 1) {
            let from = Call { start: Some(*start), ..call.clone() };
            let first = dates.partition_point(|date| date < start);
            let Some(Ok(result)) = self.attempt::<T>(name, &from) else { continue };
            if result.rows != whole.rows[first..] {
                self.lines.push(format!("{name}: from day {start} on the result is another one"));
            }
        }
    }

    fn report<T: Transform>(mut self) {
        let name = T::describe().name;
        if self.taken == 0 && self.lines.is_empty() {
            self.lines.push("it takes none of the tables; are options missing?".to_owned());
        }
        assert!(self.lines.is_empty(), "{name} does not conform:\n{}", self.lines.join("\n"));
    }
}
