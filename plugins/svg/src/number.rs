//! Numbers in words and on axes: thousands apart, prefixes of the SI where numbers are long, and
//! the same digits on every machine.

/// Numbers below this are written out.
const WRITTEN_OUT: f64 = 1e15;

/// Prefixes of the SI from 10⁶ on, and their powers of ten.
const LARGE: [(i32, &str); 5] = [(18, "E"), (15, "P"), (12, "T"), (9, "G"), (6, "M")];

/// A power of ten, correctly rounded.
#[must_use]
pub fn power_of_ten(exponent: i32) -> f64 {
    format!("1e{exponent}").parse().unwrap_or(f64::MAX)
}

/// Exponent of the first digit: 2 for 314, -1 for 0.5; 0 for zero.
#[must_use]
pub fn decimal_exponent(value: f64) -> i32 {
    let text = format!("{value:e}");
    text.rsplit_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0)
}

/// The nearest whole number; the last one that a `i64` holds beyond.
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "a cast of a float stops at the last integer")]
pub fn whole(value: f64) -> i64 {
    value.round() as i64
}

/// All digits of a value that its shortest form has, thousands apart: `1,234.5`.
#[must_use]
pub fn exact(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if value.abs() >= WRITTEN_OUT || value.abs() < 1e-6 {
        return scientific(&format!("{value:e}"));
    }
    grouped(&format!("{value}"))
}

/// A value with `decimals` digits after the point: a label of an axis.
#[must_use]
pub fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let zero = !text.bytes().any(|byte| matches!(byte, b'1'..=b'9'));
    grouped(if zero { text.trim_start_matches('-') } else { &text })
}

/// A value in as few characters as its place beside a line allows: four digits, or three with a
/// prefix of the SI.
#[must_use]
pub fn brief(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        return "0".to_owned();
    }
    if !(1e-4..1e21).contains(&size) {
        return scientific(&format!("{value:.2e}"));
    }
    if size < 999_999.5 {
        let decimals = usize::try_from(3 - decimal_exponent(value)).unwrap_or(0);
        let text = fixed(value, decimals.min(7));
        return without_trailing_zeros(&text);
    }
    let exponent = decimal_exponent(value);
    let (power, prefix) =
        LARGE.into_iter().find(|(power, _)| exponent >= *power).unwrap_or((6, "M"));
    let scaled = value / power_of_ten(power);
    let decimals = usize::try_from(2 - (exponent - power)).unwrap_or(0);
    format!("{}\u{202f}{prefix}", without_trailing_zeros(&fixed(scaled, decimals)))
}

/// Prefix for the labels of an axis whose largest number is `largest`: the power of ten by which
/// they are divided, and its sign.
#[must_use]
pub fn axis_prefix(largest: f64) -> Option<(f64, &'static str)> {
    let exponent = decimal_exponent(largest);
    let (power, prefix) = LARGE.into_iter().find(|(power, _)| exponent >= *power)?;
    (exponent < 21).then(|| (power_of_ten(power), prefix))
}

/// `1.5e21` as people write it.
#[must_use]
pub fn scientific(text: &str) -> String {
    let Some((digits, exponent)) = text.split_once('e') else { return text.to_owned() };
    let raised = exponent.chars().map(|digit| match digit {
        '-' => '⁻',
        '0' => '⁰',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '4' => '⁴',
        '5' => '⁵',
        '6' => '⁶',
        '7' => '⁷',
        '8' => '⁸',
        _ => '⁹',
    });
    let digits = minus(&without_trailing_zeros(digits));
    format!("{digits} × 10{}", raised.collect::<String>())
}

/// Thousands apart by commas, a true minus sign.
fn grouped(text: &str) -> String {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let mut out = String::new();
    if unsigned.len() < text.len() {
        out.push('−');
    }
    for (position, digit) in whole.chars().enumerate() {
        if position > 0 && (whole.len() - position).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    if !fraction.is_empty() {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

fn minus(text: &str) -> String {
    text.replacen('-', "−", 1)
}

fn without_trailing_zeros(text: &str) -> String {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_stand_apart_and_every_digit_is_there() {
        for (value, expected) in [
            (0.0, "0"),
            (-0.0, "0"),
            (999.0, "999"),
            (-1234.5, "−1,234.5"),
            (1234567.0, "1,234,567"),
            (0.1 + 0.2, "0.30000000000000004"),
            (1e21, "1 × 10²¹"),
            (-2.5e-9, "−2.5 × 10⁻⁹"),
            (f64::MAX, "1.7976931348623157 × 10³⁰⁸"),
        ] {
            assert_eq!(exact(value), expected);
        }
    }

    #[test]
    fn brief_numbers_have_prefixes_of_the_si_where_they_are_long() {
        for (value, expected) in [
            (0.0, "0"),
            (408.52, "408.5"),
            (12.5, "12.5"),
            (0.0123456, "0.01235"),
            (12_345.6, "12,346"),
            (999_999.0, "999,999"),
            (999_999.7, "1\u{202f}M"),
            (1_234_567.0, "1.23\u{202f}M"),
            (-98_765_432.0, "−98.8\u{202f}M"),
            (3.2e9, "3.2\u{202f}G"),
            (4e20, "400\u{202f}E"),
            (1.5e24, "1.5 × 10²⁴"),
            (0.00001, "1 × 10⁻⁵"),
        ] {
            assert_eq!(brief(value), expected, "{value}");
        }
    }

    #[test]
    fn labels_have_the_decimals_of_their_step() {
        assert_eq!(fixed(0.30000000000000004, 1), "0.3");
        assert_eq!(fixed(-0.01, 1), "0.0");
        assert_eq!(fixed(-1500.0, 0), "−1,500");
        assert_eq!(axis_prefix(2_500_000.0), Some((1e6, "M")));
        assert_eq!(axis_prefix(250_000.0), None);
        assert_eq!(
            (decimal_exponent(0.5), decimal_exponent(314.0), decimal_exponent(0.0)),
            (-1, 2, 0)
        );
    }
}
