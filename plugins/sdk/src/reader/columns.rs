//! Requested columns found among those of a file, by the name that the package gives or by their
//! own in snake_case.

use super::{ColumnRequest, FilePlace, ReadRefusal, RequestedType};

/// Names that a message lists.
const NAMES_LISTED: usize = 20;

/// A requested column and its place among the file's columns.
///
/// ```
/// use yearbook_sdk::reader::match_columns;
///
/// let found = match_columns(&["REF_AREA", "OBS_VALUE"], &[])?;
/// assert_eq!((found[1].name.as_str(), found[1].position), ("OBS_VALUE", 1));
/// # Ok::<(), yearbook_sdk::reader::ReadRefusal>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnMatch {
    /// Name that was requested; without requests the file's own.
    pub name: String,
    /// Position among the file's columns.
    pub position: usize,
    /// Type of its values.
    pub requested_type: RequestedType,
}

/// Finds each request among `names`, the file's columns. Without requests every column is there, as
/// text.
///
/// ```
/// use yearbook_sdk::reader::match_columns;
///
/// let found = match_columns(&["REF_AREA", "OBS_VALUE"], &[])?;
/// assert_eq!((found[1].name.as_str(), found[1].position), ("OBS_VALUE", 1));
/// # Ok::<(), yearbook_sdk::reader::ReadRefusal>(())
/// ```
///
/// # Errors
/// [`ReadRefusal::Unsupported`] for a column that the file does not have, or that two of its names
/// fit; the sentence lists those that it has.
pub fn match_columns<T: AsRef<str>>(
    names: &[T],
    requests: &[ColumnRequest],
) -> Result<Vec<ColumnMatch>, ReadRefusal> {
    if requests.is_empty() {
        let all = names.iter().enumerate().map(|(position, name)| ColumnMatch {
            name: name.as_ref().to_owned(),
            position,
            requested_type: RequestedType::Text,
        });
        return Ok(all.collect());
    }
    requests.iter().map(|request| match_column(names, request)).collect()
}

fn match_column<T: AsRef<str>>(
    names: &[T],
    request: &ColumnRequest,
) -> Result<ColumnMatch, ReadRefusal> {
    let fits = |name: &str| match &request.source {
        Some(source) => name == source,
        None => name == request.name || snake_case(name) == request.name,
    };
    let mut found = names.iter().enumerate().filter(|(_, name)| fits(name.as_ref()));
    let wanted = request.source.as_deref().unwrap_or(&request.name);
    match (found.next(), found.next()) {
        (Some((position, _)), None) => Ok(ColumnMatch {
            name: request.name.clone(),
            position,
            requested_type: request.requested_type,
        }),
        (Some((_, one)), Some((_, other))) => Err(ReadRefusal::unsupported(
            FilePlace::path(&request.name),
            format!(
                "the file has {:?} and {:?} for it; say in `yearbook.source_columns` which one is meant",
                one.as_ref(),
                other.as_ref()
            ),
        )),
        (None, _) => Err(ReadRefusal::unsupported(
            FilePlace::path(&request.name),
            format!(
                "the file has no column {wanted:?}; name one of its columns in `yearbook.source_columns`: {}",
                list_names(names)
            ),
        )),
    }
}

fn list_names<T: AsRef<str>>(names: &[T]) -> String {
    let mut list: Vec<&str> = names.iter().take(NAMES_LISTED).map(AsRef::as_ref).collect();
    let more = names.len().saturating_sub(NAMES_LISTED);
    let rest = format!("{more} more");
    if more > 0 {
        list.push(&rest);
    }
    list.join(", ")
}

/// A name in snake_case: letters and digits in lower case, anything else one underscore.
///
/// ```
/// use yearbook_sdk::reader::snake_case;
///
/// assert_eq!(snake_case("Time period (TIME)"), "time_period_time");
/// ```
#[must_use]
pub fn snake_case(name: &str) -> String {
    let mut snake = String::with_capacity(name.len());
    for c in name.chars() {
        if c.is_alphanumeric() {
            snake.extend(c.to_lowercase());
        } else if !snake.is_empty() && !snake.ends_with('_') {
            snake.push('_');
        }
    }
    snake.truncate(snake.trim_end_matches('_').len());
    snake
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn request(name: &str, source: Option<&str>) -> ColumnRequest {
        ColumnRequest {
            name: name.to_owned(),
            source: source.map(str::to_owned),
            requested_type: RequestedType::Text,
        }
    }

    #[test]
    fn a_column_is_found_by_its_source_or_by_its_name_in_snake_case() {
        let names = ["REF_AREA", "Obs value", "geo"];
        let found = |name, source| {
            match_columns(&names, &[request(name, source)]).map(|found| found[0].position)
        };
        assert_eq!(found("ref_area", None), Ok(0));
        assert_eq!(found("obs_value", None), Ok(1));
        assert_eq!(found("region", Some("geo")), Ok(2));
        let missing = found("region", None).unwrap_err().to_string();
        assert_eq!(
            missing,
            "region: the file has no column \"region\"; name one of its columns in `yearbook.source_columns`: REF_AREA, Obs value, geo"
        );
        assert!(found("geo", Some("GEO")).is_err(), "a source is meant as it stands");
    }

    #[test]
    fn two_columns_for_one_request_are_refused() {
        let refused = match_columns(&["REF_AREA", "ref-area"], &[request("ref_area", None)]);
        assert!(refused.unwrap_err().to_string().contains("which one is meant"));
    }

    #[test]
    fn names_become_snake_case() {
        for (name, snake) in [("REF_AREA", "ref_area"), ("Año 2", "año_2"), ("--a  b--", "a_b")] {
            assert_eq!(snake_case(name), snake);
        }
    }
}
