//! The parameters of `/revisions` (contract-21-revisions): those of `/data` without the ones that
//! choose a version or rows of a series, and `since`.

use super::as_of::{check_as_of, parse_as_of};
use super::{LoadedPlugins, OutputParameters, Selection, last_value, parse_data_at};
use crate::{Millis, ValidationError};

/// Parameters of `/data` that have no meaning over all versions.
const REFUSED: [&str; 4] = ["snapshot", "first", "last", "as_of"];

/// Parses `pairs` as [`parse_data_at`] does, and the time `since` which ended revisions are left
/// out.
///
/// # Errors
/// Every problem there is.
pub fn parse_revisions<'a>(
    pairs: &[(String, String)],
    plugins: impl Into<LoadedPlugins<'a>>,
    now: Millis,
) -> Result<(Selection, OutputParameters), Vec<ValidationError>> {
    let stray = REFUSED.iter().filter_map(|name| {
        let raw = last_value(pairs, name)?;
        let sentence = format!("revisions are those of all versions and rows; leave {name} out");
        Some(ValidationError::value_error(name, &sentence, raw))
    });
    let mut problems: Vec<ValidationError> = stray.collect();
    problems.extend(parse_since(pairs, now).err());
    let rest = pairs.iter().filter(|(name, _)| !REFUSED.contains(&name.as_str()));
    let rest: Vec<(String, String)> = rest.cloned().collect();
    match parse_data_at(&rest, plugins, now) {
        Ok(parsed) if problems.is_empty() => Ok(parsed),
        parsed => Err(parsed.err().into_iter().flatten().chain(problems).collect()),
    }
}

/// Parses `since`, as `as_of` is; `None` where it is not sent.
///
/// # Errors
/// The problem of a text that is no time, or one later than today.
pub fn parse_since(
    pairs: &[(String, String)],
    now: Millis,
) -> Result<Option<Millis>, ValidationError> {
    let Some(raw) = last_value(pairs, "since") else { return Ok(None) };
    let parsed = parse_as_of("since", raw)?;
    Ok(Some(check_as_of("since", parsed, now, None)?.value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::parse_pairs;

    fn problems(raw: &str) -> Vec<String> {
        let parsed = parse_revisions(&parse_pairs(raw), &["json"], Millis(0));
        parsed.err().into_iter().flatten().map(|problem| problem.loc[1].clone()).collect()
    }

    #[test]
    fn revisions_are_of_all_versions_contract_21() {
        assert_eq!(problems("where.a=1&sort=-a&columns=a&limit=0&bbox=1,2,3,4"), [""; 0]);
        assert_eq!(
            problems("limit=-1&first=1&last=0&snapshot=x&as_of=x&since=x"),
            ["limit", "snapshot", "first", "last", "as_of", "since"]
        );
    }

    #[test]
    fn since_is_a_time_that_has_come_contract_21() {
        let since =
            |raw: &str| parse_since(&parse_pairs(raw), Millis(0)).map_err(|problem| problem.msg);
        assert_eq!(since(""), Ok(None));
        assert_eq!(since("since=1969-12-31"), Ok(Some(Millis(-1))));
        assert!(
            since("since=1970-01-02").is_err_and(|why| why.contains("since must not be after"))
        );
        assert!(since("since=1970").is_err_and(|why| !why.contains("as_of")));
    }
}
