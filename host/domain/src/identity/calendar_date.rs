//! Calendar days.

use crate::text_identity::text_identity;

/// A calendar day `YYYY-MM-DD` of the years 0001 to 9999. Days order as their texts do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date([u8; 10]);

impl Date {
    /// The first day of Unix time.
    pub const UNIX_EPOCH: Self = Self(*b"1970-01-01");

    /// The first day of all.
    pub const MIN: Self = Self(*b"0001-01-01");

    /// The last day of all.
    pub const MAX: Self = Self(*b"9999-12-31");

    /// None when `text` is no day, or anything besides `YYYY-MM-DD`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let day = speedate::Date::parse_bytes_rfc3339(text.as_bytes()).ok()?;
        (day.year > 0).then(|| text.as_bytes().try_into().ok().map(Self)).flatten()
    }

    /// Returns `YYYY-MM-DD`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

text_identity!(Date, "a date is a day YYYY-MM-DD");
