//! Rows by their numbers: what adapters may ask for besides what clients can name
//! (contract-17-rows).

use super::names::Table;
use crate::{Selection, ValidationError};

/// Rows that may be left out before the first one.
pub const MAX_SKIPPED_ROWS: u64 = 1_000_000;

/// Checks the rows that `selection` leaves out, and those that it names or wants by number.
///
/// # Errors
/// Every problem that there is.
pub(super) fn check_row_choice(selection: &Selection, table: Table) -> Vec<ValidationError> {
    let Selection { skip, row, row_numbers, .. } = selection;
    let skipped = match &selection.cursor {
        _ if *skip > MAX_SKIPPED_ROWS => {
            Some(format!("skip leaves out {MAX_SKIPPED_ROWS} rows at most; go on with a cursor"))
        }
        Some(_) if *skip > 0 => Some("skip cannot stand beside cursor; leave it out".to_owned()),
        _ => None,
    };
    let made = |name: &str| format!("{name} is about stored rows; leave apply out");
    let is_made = table == Table::Transformed;
    let row_made = row.filter(|_| is_made).map(|row| ("row", made("row"), row.to_string()));
    let numbers_made =
        (*row_numbers && is_made).then(|| ("row_numbers", made("row_numbers"), "true".to_owned()));
    let skipped = skipped.map(|sentence| ("skip", sentence, skip.to_string()));
    let problems = skipped.into_iter().chain(row_made).chain(numbers_made);
    let problem = |(name, sentence, raw): (&'static str, String, String)| {
        ValidationError::value_error(name, &sentence, &raw)
    };
    problems.map(problem).collect()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::query::{parse_data, parse_pairs};

    fn problems(selection: Selection, table: Table) -> Vec<(String, String)> {
        let found = check_row_choice(&selection, table);
        found.into_iter().map(|problem| (problem.loc[1].clone(), problem.msg)).collect()
    }

    #[test]
    fn rows_are_skipped_up_to_a_bound_and_without_a_cursor_contract_17() {
        let plain = |raw: &str| parse_data(&parse_pairs(raw), &[]).unwrap().0;
        let skip = |raw: &str, skip| problems(Selection { skip, ..plain(raw) }, Table::Dataset);
        assert_eq!(skip("", MAX_SKIPPED_ROWS), []);
        assert_eq!(skip("cursor=x", 0), []);
        let sentence = "Value error, skip leaves out 1000000 rows at most; go on with a cursor";
        let most = [("skip".to_owned(), sentence.to_owned())];
        assert_eq!(skip("", MAX_SKIPPED_ROWS + 1), most);
        let sentence = "Value error, skip cannot stand beside cursor; leave it out";
        assert_eq!(skip("cursor=x", 1), [("skip".to_owned(), sentence.to_owned())]);
    }

    #[test]
    fn rows_that_transforms_make_have_no_number_contract_17() {
        let (plain, _) = parse_data(&[], &[]).unwrap();
        let asked = Selection { row: Some(0), row_numbers: true, ..plain };
        assert_eq!(problems(asked.clone(), Table::Dataset), []);
        let made = problems(asked, Table::Transformed);
        let names: Vec<&str> = made.iter().map(|(name, _)| &**name).collect();
        assert_eq!(names, ["row", "row_numbers"]);
        assert_eq!(made[0].1, "Value error, row is about stored rows; leave apply out");
    }
}
