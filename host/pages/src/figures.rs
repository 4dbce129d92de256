//! Numbers as pages print them. A figure keeps all of its digits; only separators are added.

use yearbook_domain::preview_facts::{Figure, ValueFacts};
use yearbook_domain::{Snapshot, TableLayout};

/// A count with separators: `2155` as `2,155`.
pub(crate) fn count(number: u64) -> String {
    group(&number.to_string(), 4)
}

/// A figure as the data has it: separators from five digits before the point on, and no `.0` at the
/// end of whole numbers.
pub(crate) fn figure(value: Figure) -> String {
    print(value, 5)
}

/// A number that may be a code, such as a year: as [`figure`], without separators.
pub(crate) fn code(value: Figure) -> String {
    print(value, usize::MAX)
}

/// Degrees with four digits after the point.
pub(crate) fn degrees(value: f64) -> String {
    group(&format!("{value:.4}"), usize::MAX)
}

/// The smallest and the greatest value of a column over all rows. None where its values may be of
/// several kinds, such as counts and rates: in a long table whose column has no unit
/// (contract-9-one-kind).
pub(crate) fn range(value: &ValueFacts, snapshot: &Snapshot) -> Option<(Figure, Figure)> {
    let unit = snapshot.column(&value.column).and_then(|column| column.unit.as_ref());
    value.min.zip(value.max).filter(|_| snapshot.layout == TableLayout::Wide || unit.is_some())
}

/// A count among figures, which is printed as they are.
pub(crate) fn whole(number: u64) -> Figure {
    Figure::Integer(i64::try_from(number).unwrap_or(i64::MAX))
}

fn print(value: Figure, fewest: usize) -> String {
    let text = value.to_string();
    let fewest = if text.contains('e') { usize::MAX } else { fewest };
    group(text.strip_suffix(".0").unwrap_or(&text), fewest)
}

/// `count` with its noun: `1 row`, `2,155 rows`.
pub(crate) fn counted(number: u64, one: &str, several: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { several })
}

/// The end of a list that is cut: `and 12 more columns`; none where nothing is left out.
pub(crate) fn and_more(number: u64, one: &str, several: &str) -> Option<String> {
    let noun = if number == 1 { one } else { several };
    (number > 0).then(|| format!("and {} more {noun}", count(number)))
}

/// Bytes in the largest decimal unit that leaves a digit before the point.
pub(crate) fn bytes(number: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    for (unit, name) in UNITS {
        if number >= unit {
            let tenths = number / (unit / 10);
            return format!("{}.{} {name}", tenths / 10, tenths % 10);
        }
    }
    format!("{number} bytes")
}

/// `text` with separators, where it has `fewest` digits before the point or more.
fn group(text: &str, fewest: usize) -> String {
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |rest| ("−", rest));
    let (whole, rest) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    let mut out = String::with_capacity(text.len() + 8);
    out.push_str(sign);
    for (index, digit) in whole.chars().enumerate() {
        if whole.len() >= fewest && index > 0 && (whole.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_keep_their_digits_contract_9() {
        for (value, expected) in [
            (Figure::Integer(0), "0"),
            (Figure::Integer(1958), "1958"),
            (Figure::Integer(-12_345), "−12,345"),
            (Figure::Integer(i64::MIN), "−9,223,372,036,854,775,808"),
            (Figure::Number(0.058), "0.058"),
            (Figure::Number(1_234_567.25), "1,234,567.25"),
            (Figure::Number(-3.0), "−3"),
            (Figure::Number(1e300), "1e300"),
        ] {
            assert_eq!(figure(value), expected);
            assert_eq!(code(value), expected.replace(',', ""));
        }
        assert_eq!([degrees(-36.85), degrees(174.0)], ["−36.8500", "174.0000"]);
    }

    #[test]
    fn counts_have_nouns_and_sizes_have_units() {
        assert_eq!(counted(1, "row", "rows"), "1 row");
        assert_eq!(counted(2_155, "row", "rows"), "2,155 rows");
        assert_eq!(and_more(0, "column", "columns"), None);
        assert_eq!(and_more(1, "column", "columns").as_deref(), Some("and 1 more column"));
        assert_eq!(and_more(2_155, "row", "rows").as_deref(), Some("and 2,155 more rows"));
        assert_eq!([bytes(999), bytes(1_000), bytes(7_250_000)], ["999 bytes", "1.0 kB", "7.2 MB"]);
    }
}
