//! Values in the texts of a file of SDMX, whatever its encoding: what is null, what is an id, and
//! days of periods, as the options of a package say.

use std::borrow::Cow;

use yearbook_sdk::reader::{MissingValues, ReadRefusal, RequestedType, RowBuilder};
use yearbook_sdk::{Kind, Options, Parameter};
use yearbook_sdmx_model::decode;

/// The marker of SDMX 3.1 for an observation or attribute that is missing on purpose; its marker of
/// numbers is NaN.
const MISSING: &str = "#N/A";

/// The component that says when reporting years begin.
pub const REPORTING_YEAR: &str = "REPORTING_YEAR_START_DAY";

/// The beginning of years of the calendar, as [`REPORTING_YEAR`] has it.
const CALENDAR_YEAR: &str = "--01-01";

/// Returns whether reporting years that begin on this day are those of the calendar.
#[must_use]
pub fn is_calendar_year(start: &str) -> bool {
    start.is_empty() || start.starts_with(CALENDAR_YEAR)
}

/// A name or a word of the message as a refusal shows it. Values of observations may be secret, and
/// none is shown.
#[must_use]
pub fn quote(text: &str) -> String {
    let mut short: String = text.chars().take(60).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    format!("{short:?}")
}

/// Rules by which texts are values.
#[derive(Debug)]
pub struct Values {
    last_day: bool,
    missing: MissingValues,
    /// Set where nothing that is there is null.
    exact_nulls: bool,
    /// Components whose values are ids.
    escaped: Vec<String>,
}

impl Values {
    /// The options.
    #[must_use]
    pub fn parameters() -> [Parameter; 4] {
        let text = |name, default, allowed, docs| Parameter {
            name,
            kind: Kind::Text,
            default,
            allowed,
            docs,
        };
        [
            MissingValues::parameter(MISSING),
            text(
                "nulls",
                "any",
                &["any", "exact"],
                "`any`: an empty value, NaN as a number, and `missing_values` are null; `exact`: only what is not there, \
                 so that `\"\"` is an empty text and NaN a number, as Yearbook writes them.",
            ),
            text(
                "escaped",
                "",
                &[],
                "Components whose values are ids as Yearbook writes them, with spaces between them; `New$20Zealand` \
                 becomes `New Zealand`.",
            ),
            text(
                "period_date",
                "first",
                &["first", "last"],
                "The day of a period that a column of type date gets.",
            ),
        ]
    }

    /// The rules that were chosen.
    ///
    /// # Errors
    /// [`ReadRefusal::InvalidOption`] where one option takes back another.
    pub fn from_options(options: &Options) -> Result<Self, ReadRefusal> {
        let exact_nulls = options.text("nulls")? == "exact";
        let listed = options.text("missing_values")?;
        if exact_nulls && !listed.is_empty() && listed != MISSING {
            return Err(ReadRefusal::InvalidOption(
                "`missing_values` lists what is null, and with `nulls` exact no text is; leave one of them out"
                    .to_owned(),
            ));
        }
        Ok(Self {
            last_day: options.text("period_date")? == "last",
            missing: MissingValues::from_options(options)?,
            exact_nulls,
            escaped: options.text("escaped")?.split_whitespace().map(str::to_owned).collect(),
        })
    }

    /// Components whose values are ids.
    #[must_use]
    pub fn escaped(&self) -> &[String] {
        &self.escaped
    }

    /// Returns whether nothing that is there is null.
    #[must_use]
    pub fn has_exact_nulls(&self) -> bool {
        self.exact_nulls
    }

    /// Checks that the days of a period are known where reporting years begin on this day.
    ///
    /// # Errors
    /// A sentence about what is wrong.
    pub fn check_reporting_year(
        &self,
        start: &str,
        requested_type: RequestedType,
        text: Option<&str>,
    ) -> Result<(), String> {
        let is_time = matches!(requested_type, RequestedType::Date | RequestedType::Period);
        if is_calendar_year(start) || !is_time || !text.is_some_and(is_reporting_period) {
            return Ok(());
        }
        Err(format!(
            "is a period of a reporting year that does not begin on the first of January ({REPORTING_YEAR}), whose days are \
             not known; declare the column as string and call it otherwise than period, or ask for months or days"
        ))
    }

    /// Adds the value of a text; null where there is none.
    ///
    /// # Errors
    /// A sentence about what is wrong with the text, without the text: it may be secret.
    pub fn add(
        &self,
        rows: &mut RowBuilder,
        at: usize,
        requested_type: RequestedType,
        text: Option<&str>,
        is_escaped: bool,
    ) -> Result<(), String> {
        let is_value = |text: &&str| {
            let not_a_number = requested_type == RequestedType::Number && *text == "NaN";
            self.exact_nulls || !(text.is_empty() || not_a_number || self.missing.contains(text))
        };
        let Some(text) = text.filter(is_value) else {
            rows.null(at);
            return Ok(());
        };
        let value = if is_escaped { decode(text) } else { Some(Cow::Borrowed(text)) };
        match value {
            Some(value) => rows.parse(at, requested_type, &value, self.last_day),
            None => {
                Err("is no id that Yearbook writes; leave its column out of the option `escaped`"
                    .to_owned())
            }
        }
    }
}

/// Returns whether a text is a reporting period, as `2024-Q1`.
fn is_reporting_period(text: &str) -> bool {
    let Some((year, rest)) = text.split_at_checked(4) else { return false };
    let rest = rest.strip_prefix('-').unwrap_or(rest);
    year.bytes().all(|byte| byte.is_ascii_digit())
        && rest.starts_with(|c: char| c.is_ascii_alphabetic())
}
