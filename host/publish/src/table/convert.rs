//! An Arrow array of some type to the type that its column has here, without loss: a value that
//! does not fit is a fault.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, AsArray, Float64Array, StringBuilder, new_null_array,
};
use arrow::compute::{CastOptions, cast_with_options, take};
use arrow::datatypes::{DataType, Date32Type, Float16Type, Float32Type, Float64Type, Int64Type};
use arrow::error::ArrowError;
use jiff::civil::Date;
use yearbook_domain::ColumnType;
use yearbook_scan::schema::stored_type;

use crate::faults::FaultList;

/// Integers up to this are floats without loss.
const MAX_EXACT: i64 = 1 << 53;

/// A float of 16 bits.
type Half = <Float16Type as ArrowPrimitiveType>::Native;

/// Digits that tell any two floats of 16 bits apart.
const HALF_DIGITS: usize = 5;

/// Conversion of one column of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Conversion {
    /// Arrow's cast, exact for these types; where it gives null for a value, the value does not
    /// fit.
    Cast(ColumnType),
    /// A float of 16 or 32 bits to the float of 64 that is written the same: 0.1 to 0.1, not to
    /// 0.10000000149011612.
    Digits,
    /// Days since 1970 to text.
    Days,
    /// An integer to a float, if the float holds it exactly.
    Exact,
    /// Nothing but nulls.
    Nulls(ColumnType),
}

/// The conversion, or what to do about there being none.
pub(crate) fn between(found: &DataType, wanted: ColumnType) -> Result<Conversion, String> {
    use DataType as T;
    let text = |t: &T| matches!(t, T::Utf8 | T::LargeUtf8 | T::Utf8View);
    let is_text = text(found) || matches!(found, T::Dictionary(_, values) if text(values));
    match (wanted, found) {
        (_, T::Null) => Ok(Conversion::Nulls(wanted)),
        (ColumnType::String | ColumnType::Date, _) if is_text => Ok(Conversion::Cast(wanted)),
        (ColumnType::Date, T::Date32) => Ok(Conversion::Days),
        (ColumnType::Integer, t) if t.is_integer() => Ok(Conversion::Cast(wanted)),
        (ColumnType::Number, T::Float16 | T::Float32) => Ok(Conversion::Digits),
        (ColumnType::Number, T::Float64) => Ok(Conversion::Cast(wanted)),
        (ColumnType::Number, t) if t.is_integer() => Ok(Conversion::Exact),
        (ColumnType::Boolean, T::Boolean) => Ok(Conversion::Cast(wanted)),
        _ => {
            let takes = match wanted {
                ColumnType::String => "text",
                ColumnType::Date => "text YYYY-MM-DD or date32",
                ColumnType::Integer => "an integer type",
                ColumnType::Number => "a float or integer type",
                ColumnType::Boolean => "boolean",
            };
            Err(format!(
                "has type {found} in the file; the schema needs {takes}: convert it, or change the schema"
            ))
        }
    }
}

impl Conversion {
    /// Converts `array`, whose first row is data row `first_row`.
    pub(crate) fn apply(
        self,
        array: &ArrayRef,
        first_row: u64,
        column: usize,
        faults: &mut FaultList,
    ) -> Result<ArrayRef, ArrowError> {
        match self {
            Self::Nulls(wanted) => Ok(new_null_array(&stored_type(wanted), array.len())),
            Self::Days => Ok(format_days(array, first_row, column, faults)),
            Self::Digits => Ok(canonicalize_nan(&widen_digits(array))),
            Self::Cast(wanted) => {
                let converted =
                    checked_cast(array, &stored_type(wanted), first_row, column, faults)?;
                Ok(if wanted == ColumnType::Number {
                    canonicalize_nan(&converted)
                } else {
                    converted
                })
            }
            Self::Exact => {
                let integers = checked_cast(array, &DataType::Int64, first_row, column, faults)?;
                for (row, value) in (first_row..).zip(integers.as_primitive::<Int64Type>()) {
                    if value.is_some_and(|value| !(-MAX_EXACT..=MAX_EXACT).contains(&value)) {
                        faults.cell(row, column, || {
                            "is an integer that a 64-bit float cannot hold exactly; declare it as integer".to_owned()
                        });
                    }
                }
                cast_with_options(&integers, &DataType::Float64, &CastOptions::default())
            }
        }
    }
}

fn checked_cast(
    array: &ArrayRef,
    to: &DataType,
    first_row: u64,
    column: usize,
    faults: &mut FaultList,
) -> Result<ArrayRef, ArrowError> {
    // The values of a dictionary that no row names may be any number of any length.
    let named = match array.as_any_dictionary_opt() {
        Some(dictionary) => Some(take(dictionary.values(), dictionary.keys(), None)?),
        None => None,
    };
    let array = named.as_ref().unwrap_or(array);
    let converted =
        cast_with_options(array, to, &CastOptions { safe: true, ..CastOptions::default() })?;
    // A value that does not fit has become a null.
    if converted.null_count() != array.null_count() {
        for (index, row) in (0..array.len()).zip(first_row..) {
            if converted.is_null(index) && array.is_valid(index) {
                faults.cell(row, column, || {
                    format!("does not fit {to}; declare the column otherwise")
                });
            }
        }
    }
    Ok(converted)
}

/// Floats of 16 or 32 bits by their shortest digits.
fn widen_digits(array: &ArrayRef) -> ArrayRef {
    let widened: Float64Array = match array.as_primitive_opt::<Float32Type>() {
        Some(floats) => floats.unary(widen_single),
        None => array.as_primitive::<Float16Type>().unary(widen_half),
    };
    Arc::new(widened)
}

/// A float of 32 bits by the fewest digits that are read back as the same one. Of two such the
/// nearer one, and of two that are as near the even one, as other programs print it.
fn widen_single(value: f32) -> f64 {
    let exact = f64::from(value);
    let shortest = format!("{value:e}");
    let digits = shortest.find('e').map_or(0, |end| shortest[..end].trim_start_matches('-').len());
    let nearest = format!("{exact:.*e}", digits.saturating_sub(2));
    let is_same = nearest.parse() == Ok(value);
    parse_digits(if is_same { &nearest } else { &shortest }, exact)
}

/// A float of 16 bits by the fewest digits that are read back as the same one.
fn widen_half(value: Half) -> f64 {
    let exact = value.to_f64();
    (0..HALF_DIGITS)
        .map(|digits| format!("{exact:.digits$e}"))
        .find(|digits| digits.parse().map(Half::from_f32) == Ok(value))
        .map_or(exact, |digits| parse_digits(&digits, exact))
}

/// The float that `digits` write; `exact` where they are none, as of NaN.
fn parse_digits(digits: &str, exact: f64) -> f64 {
    digits.parse().unwrap_or(exact)
}

/// One bit pattern for NaN, so that equal tables have equal ids whatever made them.
fn canonicalize_nan(array: &ArrayRef) -> ArrayRef {
    let floats = array.as_primitive::<Float64Type>();
    let foreign = |value: &f64| value.is_nan() && value.to_bits() != f64::NAN.to_bits();
    if !floats.values().iter().any(foreign) {
        return Arc::clone(array);
    }
    let canonical: Float64Array =
        floats.unary(|value| if value.is_nan() { f64::NAN } else { value });
    Arc::new(canonical)
}

fn format_days(
    array: &ArrayRef,
    first_row: u64,
    column: usize,
    faults: &mut FaultList,
) -> ArrayRef {
    let days = array.as_primitive::<Date32Type>();
    let mut text = StringBuilder::with_capacity(days.len(), days.len() * 10);
    for (row, day) in (first_row..).zip(days) {
        match day.map(|day| (day, civil_date(day))) {
            None => text.append_null(),
            Some((_, Some(date))) => text.append_value(date.to_string()),
            Some((day, None)) => {
                let value = || format!("day {day} since 1970");
                faults.value(row, column, value, "is outside the years 0001 to 9999");
                text.append_value("1970-01-01");
            }
        }
    }
    Arc::new(text.finish())
}

/// The civil date of a day since 1970-01-01, within the years that `YYYY` can write.
fn civil_date(day: i32) -> Option<Date> {
    let date =
        Date::constant(1970, 1, 1).checked_add(jiff::Span::new().try_days(day).ok()?).ok()?;
    (date.year() > 0).then_some(date)
}
