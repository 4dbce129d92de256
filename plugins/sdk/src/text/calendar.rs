//! Days since 1970-01-01 as dates of the proleptic Gregorian calendar (Howard Hinnant,
//! "chrono-Compatible Low-Level Date Algorithms"). Never touches text but ISO 8601's.

/// A date.
///
/// ```
/// use yearbook_sdk::text::CivilDate;
///
/// let leap = CivilDate { year: 2024, month: 2, day: 29 };
/// assert_eq!(leap.iso(), "2024-02-29");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CivilDate {
    /// Year; 0 is 1 BC.
    pub year: i64,
    /// Month, from 1.
    pub month: i64,
    /// Day of the month, from 1.
    pub day: i64,
}

impl CivilDate {
    /// The date so many days after 1970-01-01. (The year begins in March here, which puts the
    /// day that leap years add at its end.)
    ///
    /// ```
    /// use yearbook_sdk::text::CivilDate;
    ///
    /// assert_eq!(CivilDate::from_days(-1), CivilDate { year: 1969, month: 12, day: 31 });
    /// ```
    #[must_use]
    pub fn from_days(days: i64) -> Self {
        let shifted = days + 719_468;
        let era = shifted.div_euclid(146_097);
        let day_of_era = shifted.rem_euclid(146_097);
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let march_month = (5 * day_of_year + 2) / 153;
        let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
        Self {
            year: year_of_era + era * 400 + i64::from(month <= 2),
            month,
            day: day_of_year - (153 * march_month + 2) / 5 + 1,
        }
    }

    /// Days since 1970-01-01.
    ///
    /// ```
    /// use yearbook_sdk::text::CivilDate;
    ///
    /// assert_eq!(CivilDate { year: 1970, month: 2, day: 1 }.days(), 31);
    /// ```
    #[must_use]
    pub const fn days(self) -> i64 {
        let year = self.year - (self.month <= 2) as i64;
        let era = year.div_euclid(400);
        let year_of_era = year.rem_euclid(400);
        let march_month = (self.month + 9) % 12;
        let day_of_year = (153 * march_month + 2) / 5 + self.day - 1;
        let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
        era * 146_097 + day_of_era - 719_468
    }

    /// As ISO 8601 writes it, for years from 0 to 9999.
    ///
    /// ```
    /// use yearbook_sdk::text::CivilDate;
    ///
    /// assert_eq!(CivilDate::from_days(0).iso(), "1970-01-01");
    /// ```
    #[must_use]
    pub fn iso(self) -> String {
        format!("{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_dates_are_each_others_inverse() {
        for (days, iso) in [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (11_016, "2000-02-29"),
            (19_782, "2024-02-29"),
            (-719_468, "0000-03-01"),
        ] {
            assert_eq!(CivilDate::from_days(days).iso(), iso);
        }
        for days in (-800_000..800_000).step_by(97) {
            assert_eq!(CivilDate::from_days(days).days(), days);
        }
    }
}
