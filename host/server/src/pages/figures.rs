//! Numbers as pages print them. A figure keeps all of its digits; only separators are added.

/// A count with separators: `2155` as `2,155`.
pub(crate) fn count(number: u64) -> String {
    group(&number.to_string(), 4)
}

/// A figure as the data has it: separators from five digits before the point on, and no `.0` at the
/// end of whole numbers.
pub(crate) fn figure(value: yearbook_domain::preview_facts::Figure) -> String {
    let text = value.to_string();
    if text.contains(['e', 'E']) {
        return text;
    }
    group(text.strip_suffix(".0").unwrap_or(&text), 5)
}

/// `count` with its noun: `1 row`, `2,155 rows`.
pub(crate) fn counted(number: u64, one: &str, several: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { several })
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
    use yearbook_domain::preview_facts::Figure;

    use super::*;

    #[test]
    fn figures_keep_their_digits() {
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
        }
    }

    #[test]
    fn counts_have_nouns_and_sizes_have_units() {
        assert_eq!(counted(1, "row", "rows"), "1 row");
        assert_eq!(counted(2_155, "row", "rows"), "2,155 rows");
        assert_eq!([bytes(999), bytes(1_000), bytes(7_250_000)], ["999 bytes", "1.0 kB", "7.2 MB"]);
    }
}
