//! Periods of time as SDMX writes them.

use std::borrow::Cow;

use yearbook_sdk::reader::TimePeriod;

/// First and last day, `YYYY-MM-DD`, of a period in any form of SDMX: `2010`, `2010-A1`,
/// `2010-S1`, `2010-T1`, `2010-Q1`, `2010-M01`, `2010-01`, `2010-W01`, `2010-D001`, a date, a time,
/// and a range `START/DURATION`. `None` for other text.
///
/// ```
/// use yearbook_sdmx_model::period_days;
///
/// let days = |first: &str, last: &str| Some((first.to_owned(), last.to_owned()));
/// assert_eq!(period_days("2010-Q1"), days("2010-01-01", "2010-03-31"));
/// assert_eq!(period_days("2010-02/P1M"), days("2010-02-01", "2010-02-28"));
/// assert_eq!(period_days("2010/11"), None);
/// ```
#[must_use]
pub fn period_days(text: &str) -> Option<(String, String)> {
    if !has_sdmx_form(text) && !text.get(4..)?.starts_with("/P") {
        return None;
    }
    // A range may start with a month or a year.
    let text = match (text.find('/'), text.split_once('/')) {
        (Some(4), Some((year, length))) => Cow::Owned(format!("{year}-01-01/{length}")),
        (Some(7), Some((month, length))) => Cow::Owned(format!("{month}-01/{length}")),
        _ => Cow::Borrowed(text),
    };
    let period = TimePeriod::parse(&text).ok()?;
    let day = |last| period.day(last).ok().map(|day| day.as_str().to_owned());
    Some((day(false)?, day(true)?))
}

/// Returns whether a period code is a period in SDMX too. `2024/25` is not: the date stands for it.
///
/// ```
/// use yearbook_sdmx_model::has_sdmx_form;
///
/// assert!(has_sdmx_form("2024-Q1") && !has_sdmx_form("2024/25"));
/// ```
#[must_use]
pub fn has_sdmx_form(code: &str) -> bool {
    code.as_bytes().get(4) != Some(&b'/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_sdmx_has_its_days_contract_19() {
        for (text, first, last) in [
            ("2010", "2010-01-01", "2010-12-31"),
            ("2010-A1", "2010-01-01", "2010-12-31"),
            ("2010-S2", "2010-07-01", "2010-12-31"),
            ("2010-T1", "2010-01-01", "2010-04-30"),
            ("2010-Q1", "2010-01-01", "2010-03-31"),
            ("2010-M02", "2010-02-01", "2010-02-28"),
            ("2010-02", "2010-02-01", "2010-02-28"),
            ("2010-W01", "2010-01-04", "2010-01-10"),
            ("2010-D001", "2010-01-01", "2010-01-01"),
            ("2010-05-06", "2010-05-06", "2010-05-06"),
            ("2010-05-06T07:08:09", "2010-05-06", "2010-05-06"),
            ("2010-05-06T07:08:09Z", "2010-05-06", "2010-05-06"),
            ("2010-01/P1M", "2010-01-01", "2010-01-31"),
            ("2010/P2Y", "2010-01-01", "2011-12-31"),
            ("2010-05-06/P3D", "2010-05-06", "2010-05-08"),
            ("2010-05-06T00:00:00/P1W", "2010-05-06", "2010-05-12"),
        ] {
            let days = Some((first.to_owned(), last.to_owned()));
            assert_eq!(period_days(text), days, "{text}");
        }
    }

    #[test]
    fn what_is_no_period_has_no_days_contract_19() {
        for text in ["", "20", "2010/11", "2010/2011", "2010-Q5", "soon", "2010-13", "2010/P", "é"]
        {
            assert_eq!(period_days(text), None, "{text}");
        }
    }
}
