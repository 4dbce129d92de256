//! One cell of text to one value of the requested type. Exact: nothing is trimmed, guessed or
//! rounded beyond what a 64-bit float does.

use super::{RequestedType, RowBuilder, TimePeriod};

impl RowBuilder {
    /// Adds the value that `text` writes in the requested type. A date or a period may be any form
    /// that [`TimePeriod`] knows; `last_day` takes the last day of a period for a date.
    ///
    /// ```
    /// use yearbook_sdk::reader::{ReadColumn, ReadType, RowBuilder};
    ///
    /// let column = ReadColumn {
    ///     name: "value".to_owned(),
    ///     read_type: ReadType::Text,
    ///     role: None,
    ///     unit: None,
    ///     description: None,
    /// };
    /// let mut rows = RowBuilder::new(&[column]);
    /// use yearbook_sdk::reader::RequestedType;
    ///
    /// assert!(rows.parse(0, RequestedType::Date, "soon", false).is_err());
    /// assert_eq!(rows.parse(0, RequestedType::Date, "2026-Q2", false), Ok(()));
    /// rows.end_row();
    /// assert_eq!(rows.rows(), 1);
    /// ```
    ///
    /// # Errors
    /// Fails with the fault of the text; nothing is added then.
    pub fn parse(
        &mut self,
        column: usize,
        requested: RequestedType,
        text: &str,
        last_day: bool,
    ) -> Result<(), String> {
        match requested {
            RequestedType::Text => self.text(column, text),
            RequestedType::Integer => self.integer(column, integer(text)?),
            RequestedType::Number => self.number(column, number(text)?),
            RequestedType::Boolean => self.boolean(column, boolean(text)?),
            RequestedType::Date => {
                let period = TimePeriod::parse(text).map_err(|why| why.to_string())?;
                let day = period.day(last_day).map_err(|why| why.to_string())?;
                self.text(column, day.as_str());
            }
            RequestedType::Period => {
                let period = TimePeriod::parse(text).map_err(|why| why.to_string())?;
                self.text(column, &period.code().map_err(|why| why.to_string())?);
            }
        }
        Ok(())
    }
}

fn integer(text: &str) -> Result<i64, &'static str> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("is not an integer; declare the column as number or string");
    }
    text.parse()
        .map_err(|_| "does not fit a 64-bit integer; declare the column as number or string")
}

fn number(text: &str) -> Result<f64, &'static str> {
    match text {
        "NaN" => return Ok(f64::NAN),
        "INF" => return Ok(f64::INFINITY),
        "-INF" => return Ok(f64::NEG_INFINITY),
        _ => {}
    }
    // Rust also takes `inf` and `nan` in any case.
    let plain = text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'));
    match text.parse::<f64>() {
        Ok(value) if plain && value.is_finite() => Ok(value),
        Ok(_) if plain => Err("is too large for a 64-bit float"),
        _ => Err("is not a number; declare the column as string"),
    }
}

fn boolean(text: &str) -> Result<bool, &'static str> {
    match text {
        "true" | "True" | "TRUE" | "1" => Ok(true),
        "false" | "False" | "FALSE" | "0" => Ok(false),
        _ => Err("is not a boolean; declare the column as string"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::ReadColumn;

    fn parse(requested: RequestedType, text: &str) -> Result<(), String> {
        let column = ReadColumn {
            name: "c".to_owned(),
            read_type: requested.into(),
            role: None,
            unit: None,
            description: None,
        };
        RowBuilder::new(&[column]).parse(0, requested, text, false)
    }

    #[test]
    fn cells_are_read_exactly_or_refused() {
        use RequestedType::{Boolean, Date, Integer, Number, Period, Text};
        for (requested, text, good) in [
            (Text, "", true),
            (Integer, "-12", true),
            (Integer, "1.0", false),
            (Integer, "9223372036854775808", false),
            (Integer, "", false),
            (Number, "-1.5e3", true),
            (Number, "NaN", true),
            (Number, "nan", false),
            (Number, "1,5", false),
            (Number, "1e999", false),
            (Number, " 1", false),
            (Boolean, "True", true),
            (Boolean, "yes", false),
            (Date, "2024-W05", true),
            (Date, "2024-13", false),
            (Period, "2024-M01", true),
            (Period, "2024-W05", false),
        ] {
            assert_eq!(parse(requested, text).is_ok(), good, "{requested:?} {text:?}");
        }
    }
}
