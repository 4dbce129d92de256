//! Bounds of one geometry, from its text: in one pass, since publishing waits for it.

use yearbook_wkt::{MalformedWkt, WktReader, value};

/// West, south, east and north of positions, in the plane of degrees.
pub(super) type Extent = [f64; 4];

/// Bounds of no position: apart from every box.
pub(super) const NOTHING: Extent =
    [f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY];

/// Digits of a number that are surely exact as a double.
const EXACT_DIGITS: usize = 15;

/// Powers of ten, all exact.
const POWERS: [f64; EXACT_DIGITS + 1] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// Returns the bounds that hold both.
pub(super) fn union(one: Extent, other: Extent) -> Extent {
    let [west, south, east, north] = one;
    [west.min(other[0]), south.min(other[1]), east.max(other[2]), north.max(other[3])]
}

/// Returns true for the bounds of an empty geometry.
pub(super) fn is_nothing(extent: Extent) -> bool {
    extent[0] > extent[2]
}

/// Returns the bounds of a geometry that was checked: its positions stand between parentheses and
/// commas, whatever their depth.
///
/// # Errors
/// [`MalformedWkt`] where something else stands there.
pub(super) fn extent(text: &str) -> Result<Extent, MalformedWkt> {
    let mut reader = WktReader::new(text);
    reader.kind()?;
    let mut numbers = Numbers { text, at: reader.at() };
    let mut extent = NOTHING;
    while let Some(next) = numbers.skip(b"(),") {
        if next.is_ascii_alphabetic() {
            numbers.empty()?;
            continue;
        }
        let x = numbers.next()?;
        numbers.skip(b"");
        let y = numbers.next()?;
        extent = union(extent, [x, y, x, y]);
    }
    Ok(extent)
}

/// Numbers of a text.
struct Numbers<'a> {
    text: &'a str,
    at: usize,
}

impl Numbers<'_> {
    /// Goes on behind white space and the bytes `others`; returns what stands there.
    fn skip(&mut self, others: &[u8]) -> Option<u8> {
        for byte in self.text.as_bytes().get(self.at..)? {
            if !byte.is_ascii_whitespace() && !others.contains(byte) {
                return Some(*byte);
            }
            self.at += 1;
        }
        None
    }

    /// Reads the word of an empty geometry.
    fn empty(&mut self) -> Result<(), MalformedWkt> {
        let word = self.text.get(self.at..self.at + 5).unwrap_or_default();
        if !word.eq_ignore_ascii_case("EMPTY") {
            return Err(MalformedWkt { at: self.at });
        }
        self.at += word.len();
        Ok(())
    }

    /// Reads a number.
    fn next(&mut self) -> Result<f64, MalformedWkt> {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let Some((number, length)) = short_decimal(rest) else { return self.any() };
        self.at += length;
        Ok(number)
    }

    /// Reads a number of any form.
    fn any(&mut self) -> Result<f64, MalformedWkt> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let number = WktReader::new(rest).number()?;
        self.at += number.len();
        value(number)
    }
}

/// Reads the number that `text` begins with, the same double as [`value`], and returns its length
/// too; `None` for one of many digits, with an exponent or of another form. Where its digits and
/// the power of ten that they are divided by are exact, the quotient is the nearest double.
#[must_use]
pub fn short_decimal(text: &[u8]) -> Option<(f64, usize)> {
    let is_negative = text.first() == Some(&b'-');
    let (mut digits, mut point, mut mantissa) = (0, None, 0.0);
    let mut length = usize::from(is_negative);
    for byte in text.get(length..)? {
        match byte {
            b'0'..=b'9' if digits < EXACT_DIGITS => {
                mantissa = mantissa * 10.0 + f64::from(byte - b'0');
                digits += 1;
            }
            b'.' if point.is_none() => point = Some(digits),
            b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E' => return None,
            _ => break,
        }
        length += 1;
    }
    let power = POWERS.get(digits - point.unwrap_or(digits)).filter(|_| digits > 0)?;
    let number: f64 = mantissa / power;
    Some((if is_negative { -number } else { number }, length))
}
