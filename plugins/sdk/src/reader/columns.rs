//! Requested columns found among those of a file, by the name that the package gives or by their
//! own in snake_case.

use std::collections::HashMap;

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
    match_qualified_columns(names, |position| names[position].as_ref().to_owned(), requests)
}

/// Finds each request among `names`, as [`match_columns`] does, in a file where several columns may
/// have one name. A column is also found by its qualified name, which `qualify` makes of its
/// position and which no other column has. Without requests that is the name of columns that share
/// theirs.
///
/// ```
/// use yearbook_sdk::reader::{ColumnRequest, RequestedType, match_qualified_columns};
///
/// let names = ["UNIT", "UNIT"];
/// let qualify = |position| format!("UNIT (column {})", position + 1);
/// let mut request = ColumnRequest {
///     name: "unit".to_owned(),
///     source: Some("UNIT".to_owned()),
///     requested_type: RequestedType::Text,
/// };
/// assert!(match_qualified_columns(&names, qualify, &[request.clone()]).is_err());
/// request.source = Some("UNIT (column 2)".to_owned());
/// assert_eq!(match_qualified_columns(&names, qualify, &[request])?[0].position, 1);
/// # Ok::<(), yearbook_sdk::reader::ReadRefusal>(())
/// ```
///
/// # Errors
/// As [`match_columns`]; where columns share a name, the sentence lists their qualified names.
pub fn match_qualified_columns<T: AsRef<str>>(
    names: &[T],
    qualify: impl Fn(usize) -> String,
    requests: &[ColumnRequest],
) -> Result<Vec<ColumnMatch>, ReadRefusal> {
    let mut uses = HashMap::new();
    for name in names {
        *uses.entry(name.as_ref()).or_insert(0) += 1;
    }
    let columns = names.iter().map(AsRef::as_ref).enumerate().map(|(position, name)| FileColumn {
        name,
        qualified: qualify(position),
        shared: uses[name] > 1,
    });
    let columns: Vec<FileColumn<'_>> = columns.collect();
    if requests.is_empty() {
        let all = columns.iter().enumerate().map(|(position, column)| ColumnMatch {
            name: column.unique_name().to_owned(),
            position,
            requested_type: RequestedType::Text,
        });
        return Ok(all.collect());
    }
    requests.iter().map(|request| match_column(&columns, request)).collect()
}

/// A column of the file.
struct FileColumn<'a> {
    name: &'a str,
    qualified: String,
    /// Set where other columns have the name too.
    shared: bool,
}

impl FileColumn<'_> {
    fn unique_name(&self) -> &str {
        if self.shared { &self.qualified } else { self.name }
    }
}

fn match_column(
    columns: &[FileColumn<'_>],
    request: &ColumnRequest,
) -> Result<ColumnMatch, ReadRefusal> {
    let fits = |column: &FileColumn<'_>| match &request.source {
        Some(source) => column.name == source || column.qualified == *source,
        None => column.name == request.name || snake_case(column.name) == request.name,
    };
    let found: Vec<usize> = (0..columns.len()).filter(|at| fits(&columns[*at])).collect();
    let sentence = match found[..] {
        [position] => {
            return Ok(ColumnMatch {
                name: request.name.clone(),
                position,
                requested_type: request.requested_type,
            });
        }
        [] => format!(
            "the file has no column {:?}; name one of its columns in `yearbook.source_columns`: {}",
            request.source.as_deref().unwrap_or(&request.name),
            list_names(columns.iter().map(FileColumn::unique_name))
        ),
        _ => format!(
            "{} columns of the file fit it; name the one that is meant in `yearbook.source_columns`: {}",
            found.len(),
            list_names(found.iter().map(|at| columns[*at].unique_name()))
        ),
    };
    Err(ReadRefusal::unsupported(FilePlace::path(&request.name), sentence))
}

fn list_names<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    let more = names.len().saturating_sub(NAMES_LISTED);
    let mut list: Vec<&str> = names.take(NAMES_LISTED).collect();
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
    fn two_columns_for_one_request_are_refused_with_what_to_write_contract_7() {
        let refused = match_columns(&["REF_AREA", "ref-area"], &[request("ref_area", None)]);
        assert_eq!(
            refused.unwrap_err().to_string(),
            "ref_area: 2 columns of the file fit it; name the one that is meant in `yearbook.source_columns`: REF_AREA, ref-area"
        );
        let names = ["UNIT", "FREQ", "UNIT"];
        let find = |source| {
            let qualify = |position| format!("{} (column {})", names[position], position + 1);
            let found = match_qualified_columns(&names, qualify, &[request("unit", source)]);
            found.map(|found| found[0].position).map_err(|refused| refused.to_string())
        };
        for source in [None, Some("UNIT")] {
            let refused = find(source).unwrap_err();
            assert!(refused.ends_with("`: UNIT (column 1), UNIT (column 3)"), "{refused}");
        }
        assert_eq!(find(Some("UNIT (column 1)")), Ok(0));
        assert_eq!(find(Some("UNIT (column 3)")), Ok(2));
        assert_eq!(find(Some("FREQ (column 2)")), Ok(1), "another file may have two of them");
    }

    #[test]
    fn names_become_snake_case() {
        for (name, snake) in [("REF_AREA", "ref_area"), ("Año 2", "año_2"), ("--a  b--", "a_b")] {
            assert_eq!(snake_case(name), snake);
        }
    }
}
