//! The format strings of the Arrow C data interface
//! (<https://arrow.apache.org/docs/format/CDataInterface.html#data-type-description-format-strings>).

/// The unit of a time, timestamp or duration.
///
/// ```
/// use yearbook_sdk::DataType;
/// use yearbook_sdk::schema::TimeUnit;
///
/// assert_eq!(DataType::parse("ttm"), Some(DataType::Time(TimeUnit::Millisecond)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum TimeUnit {
    Second,
    Millisecond,
    Microsecond,
    Nanosecond,
}

/// An Arrow type. Children of nested types stand in [`crate::Field::children`].
///
/// ```
/// use yearbook_sdk::DataType;
///
/// assert_eq!(DataType::parse("g"), Some(DataType::Float64));
/// assert_eq!(DataType::parse("?"), None);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "Arrow's own names")]
pub enum DataType {
    Null,
    Boolean,
    Int8,
    UInt8,
    Int16,
    UInt16,
    Int32,
    UInt32,
    Int64,
    UInt64,
    Float16,
    Float32,
    Float64,
    Binary,
    LargeBinary,
    BinaryView,
    Utf8,
    LargeUtf8,
    Utf8View,
    FixedSizeBinary(usize),
    /// Width in bits (32, 64, 128 or 256).
    Decimal {
        precision: u8,
        scale: i8,
        bits: u16,
    },
    /// Days since 1970-01-01.
    Date32,
    /// Milliseconds since 1970-01-01.
    Date64,
    /// Since midnight; 32 bits wide for seconds and milliseconds, else 64.
    Time(TimeUnit),
    /// Since 1970-01-01T00:00:00; an empty zone means none.
    Timestamp(TimeUnit, String),
    Duration(TimeUnit),
    /// Months, 32 bits.
    IntervalYearMonth,
    /// Days and milliseconds, 32 bits each.
    IntervalDayTime,
    /// Months and days, 32 bits each, and nanoseconds, 64 bits.
    IntervalMonthDayNano,
    List,
    LargeList,
    FixedSizeList(usize),
    ListView,
    LargeListView,
    Struct,
    Map,
    DenseUnion(Vec<i8>),
    SparseUnion(Vec<i8>),
    RunEndEncoded,
}

impl DataType {
    /// Parses a format string; `None` when it is none of Arrow 1.5's.
    ///
    /// ```
    /// use yearbook_sdk::DataType;
    ///
    /// assert_eq!(DataType::parse("g"), Some(DataType::Float64));
    /// assert_eq!(DataType::parse("?"), None);
    /// ```
    #[must_use]
    pub fn parse(format: &str) -> Option<Self> {
        Some(match format {
            "n" => Self::Null,
            "b" => Self::Boolean,
            "c" => Self::Int8,
            "C" => Self::UInt8,
            "s" => Self::Int16,
            "S" => Self::UInt16,
            "i" => Self::Int32,
            "I" => Self::UInt32,
            "l" => Self::Int64,
            "L" => Self::UInt64,
            "e" => Self::Float16,
            "f" => Self::Float32,
            "g" => Self::Float64,
            "z" => Self::Binary,
            "Z" => Self::LargeBinary,
            "vz" => Self::BinaryView,
            "u" => Self::Utf8,
            "U" => Self::LargeUtf8,
            "vu" => Self::Utf8View,
            "tdD" => Self::Date32,
            "tdm" => Self::Date64,
            "tiM" => Self::IntervalYearMonth,
            "tiD" => Self::IntervalDayTime,
            "tin" => Self::IntervalMonthDayNano,
            "+l" => Self::List,
            "+L" => Self::LargeList,
            "+vl" => Self::ListView,
            "+vL" => Self::LargeListView,
            "+s" => Self::Struct,
            "+m" => Self::Map,
            "+r" => Self::RunEndEncoded,
            _ => return Self::parse_with_argument(format),
        })
    }

    fn parse_with_argument(format: &str) -> Option<Self> {
        if let Some(unit) = format.strip_prefix("tt") {
            return TimeUnit::parse(unit).map(Self::Time);
        }
        if let Some(unit) = format.strip_prefix("tD") {
            return TimeUnit::parse(unit).map(Self::Duration);
        }
        let (kind, argument) = format.split_once(':')?;
        Some(match kind {
            "w" => Self::FixedSizeBinary(argument.parse().ok()?),
            "+w" => Self::FixedSizeList(argument.parse().ok()?),
            "+ud" => Self::DenseUnion(type_ids(argument)?),
            "+us" => Self::SparseUnion(type_ids(argument)?),
            "d" => {
                let mut numbers = argument.split(',');
                let precision = numbers.next()?.parse().ok()?;
                let scale = numbers.next()?.parse().ok()?;
                let bits = numbers.next().map_or(Some(128), |bits| bits.parse().ok())?;
                Self::Decimal { precision, scale, bits }
            }
            _ => Self::Timestamp(TimeUnit::parse(kind.strip_prefix("ts")?)?, argument.to_owned()),
        })
    }
}

impl TimeUnit {
    fn parse(letter: &str) -> Option<Self> {
        Some(match letter {
            "s" => Self::Second,
            "m" => Self::Millisecond,
            "u" => Self::Microsecond,
            "n" => Self::Nanosecond,
            _ => return None,
        })
    }

    /// Units in a second.
    ///
    /// ```
    /// use yearbook_sdk::schema::TimeUnit;
    ///
    /// assert_eq!(TimeUnit::Microsecond.per_second(), 1_000_000);
    /// ```
    #[must_use]
    pub fn per_second(self) -> i64 {
        match self {
            Self::Second => 1,
            Self::Millisecond => 1_000,
            Self::Microsecond => 1_000_000,
            Self::Nanosecond => 1_000_000_000,
        }
    }

    /// Digits after the point of a second.
    ///
    /// ```
    /// use yearbook_sdk::schema::TimeUnit;
    ///
    /// assert_eq!(TimeUnit::Nanosecond.digits(), 9);
    /// ```
    #[must_use]
    pub fn digits(self) -> usize {
        match self {
            Self::Second => 0,
            Self::Millisecond => 3,
            Self::Microsecond => 6,
            Self::Nanosecond => 9,
        }
    }
}

fn type_ids(list: &str) -> Option<Vec<i8>> {
    list.split(',').map(|id| id.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn format_strings_are_those_of_the_c_data_interface() {
        let decimal = |precision, scale, bits| Some(DataType::Decimal { precision, scale, bits });
        for (format, expected) in [
            ("g", Some(DataType::Float64)),
            ("u", Some(DataType::Utf8)),
            ("tdD", Some(DataType::Date32)),
            ("ttu", Some(DataType::Time(TimeUnit::Microsecond))),
            ("tDn", Some(DataType::Duration(TimeUnit::Nanosecond))),
            ("tss:", Some(DataType::Timestamp(TimeUnit::Second, String::new()))),
            (
                "tsm:Etc/GMT+1:x",
                Some(DataType::Timestamp(TimeUnit::Millisecond, "Etc/GMT+1:x".to_owned())),
            ),
            ("d:19,10", decimal(19, 10, 128)),
            ("d:9,-2,32", decimal(9, -2, 32)),
            ("w:42", Some(DataType::FixedSizeBinary(42))),
            ("+w:3", Some(DataType::FixedSizeList(3))),
            ("+ud:0,5", Some(DataType::DenseUnion(vec![0, 5]))),
            ("", None),
            ("x", None),
            ("d:19", None),
            ("tsx:", None),
            ("w:", None),
        ] {
            assert_eq!(DataType::parse(format), expected, "{format}");
        }
    }
}
