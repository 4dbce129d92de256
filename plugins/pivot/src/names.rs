//! Names of columns that values become.

use std::collections::{HashMap, HashSet};

/// Bytes that a column's name has at most.
const MOST_BYTES: usize = 64;

/// Names by which others know the columns of times. No value gets one, whether the table has such
/// columns or not.
const TIMES: [&str; 2] = ["date", "period"];

/// Returns a name for each value: snake_case, and none that is `taken`; equal ones get `_2`, `_3`.
pub(crate) fn column_names<'a>(
    values: impl Iterator<Item = &'a str>,
    taken: impl Iterator<Item = &'a str>,
) -> Vec<String> {
    let mut taken: HashSet<String> = taken.chain(TIMES).map(str::to_owned).collect();
    // The next number of each name: those below it are taken.
    let mut numbers: HashMap<String, usize> = HashMap::new();
    let next_name = |value| {
        let name = snake_case(value);
        if taken.insert(name.clone()) {
            return name;
        }
        // Names that begin alike are the same ones once there is a number behind them.
        let stem = &name[..name.len().min(MOST_BYTES - "_2".len())];
        let next = numbers.entry(stem.to_owned()).or_insert(2);
        loop {
            let suffix = format!("_{next}");
            let kept = name.len().min(MOST_BYTES - suffix.len());
            let numbered = format!("{}{suffix}", &name[..kept]);
            *next += 1;
            if taken.insert(numbered.clone()) {
                return numbered;
            }
        }
    };
    values.map(next_name).collect()
}

/// Returns a text in snake_case: an `x` before a digit, and in the place of nothing.
fn snake_case(text: &str) -> String {
    let mut name = String::new();
    for character in text.chars() {
        if character.is_ascii_alphanumeric() {
            name.push(character.to_ascii_lowercase());
        } else if !name.is_empty() && !name.ends_with('_') {
            name.push('_');
        }
    }
    if !name.starts_with(|first: char| first.is_ascii_lowercase()) {
        name.insert(0, 'x');
    }
    name.truncate(MOST_BYTES);
    name.truncate(name.trim_end_matches('_').len());
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(values: &[&str], taken: &[&str]) -> Vec<String> {
        column_names(values.iter().copied(), taken.iter().copied())
    }

    #[test]
    fn values_become_names_in_snake_case_contract_16() {
        let values = ["Hawke's Bay", "2010", "Mining, oil", "Ōtaki", "%", "", "_a_", "true"];
        let expected = ["hawke_s_bay", "x2010", "mining_oil", "taki", "x", "x_2", "a", "true"];
        assert_eq!(names(&values, &[]), expected);
    }

    #[test]
    fn equal_names_are_numbered_and_columns_keep_theirs_contract_16() {
        assert_eq!(names(&["A", "a", "a ", "a_2"], &[]), ["a", "a_2", "a_3", "a_2_2"]);
        assert_eq!(names(&["Date", "region"], &["date", "region"]), ["date_2", "region_2"]);
    }

    #[test]
    fn no_value_gets_the_name_of_a_column_of_times_contract_16() {
        assert_eq!(names(&["Date", "Period", "period"], &[]), ["date_2", "period_2", "period_3"]);
    }

    #[test]
    fn as_many_equal_names_as_there_may_be_are_numbered_one_after_the_other_contract_16() {
        let values = vec!["%"; 4_000];
        // Taken names are passed over, whether a column or a value has them.
        let found = names(&values, &["x_3"]);
        let numbered = (1..).filter(|number| *number != 3).map(|number| match number {
            1 => "x".to_owned(),
            _ => format!("x_{number}"),
        });
        assert!(found.iter().cloned().eq(numbered.take(4_000)), "{:?}", found.last());
    }

    #[test]
    fn names_have_at_most_64_bytes_contract_16() {
        let long = "ab ".repeat(40);
        let found = names(&[&long, &long, &long], &[]);
        assert!(found.iter().all(|name| name.len() <= 64), "{found:?}");
        assert!(found[0].starts_with("ab_ab_") && found[1].ends_with("_2"), "{found:?}");
    }
}
