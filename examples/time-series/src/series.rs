//! Ids of series: `DATASET.VALUE.VALUE…`, with the values of the dataset's series columns, and last
//! the value column where there are several.

use yearbook_sdk::adapter::{Column, Dataset, Host, Operator, Selection, Step};

use crate::xml::bad_request;

/// One series of a dataset.
pub(crate) struct Series {
    /// The dataset.
    pub(crate) dataset: Dataset,
    /// Value of each series column; `None` for null.
    pub(crate) values: Vec<Option<String>>,
    /// The value column.
    pub(crate) column: Column,
}

impl Series {
    /// The series of an id.
    pub(crate) fn find(host: &mut Host, id: &str) -> Step<Self> {
        let mut segments = id.split('.');
        let name = segments.next().unwrap_or_default();
        // Names of datasets alone reach the host, so that a typing error is this API's own.
        if name.is_empty() || !name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
        {
            return Err(unknown());
        }
        let dataset = host.dataset(name)?;
        let mut values = Vec::new();
        for _ in series_columns(&dataset) {
            values.push(decode(segments.next().ok_or_else(unknown)?).ok_or_else(unknown)?);
        }
        let columns = value_columns(&dataset);
        let column = match (&columns[..], segments.next()) {
            ([column], None) => Some(*column),
            (columns, Some(name)) => columns.iter().find(|column| column.name == name).copied(),
            _ => None,
        };
        let column = column.cloned().filter(|_| segments.next().is_none());
        let (Some(column), Some(_)) = (column, date_column(&dataset)) else {
            return Err(unknown());
        };
        Ok(Self { dataset, values, column })
    }

    /// The rows of the series: dates and values.
    pub(crate) fn selection(&self) -> Selection {
        let mut selection = Selection::new(&self.dataset.name);
        for (column, value) in series_columns(&self.dataset).iter().zip(&self.values) {
            match value {
                Some(value) => selection.equal(&column.name, value),
                None => selection.condition::<String>(&column.name, Operator::IsNull, []),
            };
        }
        let date = date_column(&self.dataset).map(|column| column.name.clone());
        selection.columns = Some(date.into_iter().chain([self.column.name.clone()]).collect());
        selection
    }
}

/// The title of a series.
pub(crate) fn title(dataset: &Dataset, values: &[Option<String>], column: &Column) -> String {
    let values = values.iter().map(|value| value.as_deref().unwrap_or("none"));
    let values: Vec<&str> = values.collect();
    let of = dataset.title.as_ref().unwrap_or(&dataset.name);
    let what = column.title.as_ref().unwrap_or(&column.name);
    if values.is_empty() {
        format!("{of}: {what}")
    } else {
        format!("{of}: {what}, {}", values.join(", "))
    }
}

/// The id of a series.
pub(crate) fn id(dataset: &Dataset, values: &[Option<String>], column: &Column) -> String {
    let mut id = dataset.name.clone();
    for value in values {
        id.push('.');
        encode(value.as_deref(), &mut id);
    }
    if value_columns(dataset).len() > 1 {
        id.push('.');
        id.push_str(&column.name);
    }
    id
}

/// Columns whose values tell one series from another.
pub(crate) fn series_columns(dataset: &Dataset) -> Vec<&Column> {
    let is_time = |column: &Column| column.role == "date" || column.role == "period";
    let belongs = |column: &&Column| {
        if dataset.primary_key.is_empty() {
            column.role == "dimension"
        } else {
            dataset.primary_key.contains(&column.name) && !is_time(column)
        }
    };
    dataset.columns.iter().filter(belongs).collect()
}

/// Columns of values.
pub(crate) fn value_columns(dataset: &Dataset) -> Vec<&Column> {
    dataset.columns.iter().filter(|column| column.role == "value").collect()
}

/// The column of dates; none where the dataset has no series.
pub(crate) fn date_column(dataset: &Dataset) -> Option<&Column> {
    dataset.columns.iter().find(|column| column.role == "date")
}

fn unknown() -> yearbook_sdk::adapter::Stop {
    bad_request("The series does not exist.")
}

/// Writes a value so that it fits between dots in an address: all but letters, digits, `_` and `-`
/// as `~` and two hexadecimal digits a byte. Null is `~`.
fn encode(value: Option<&str>, id: &mut String) {
    let Some(value) = value else { return id.push('~') };
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-' {
            id.push(char::from(byte));
        } else {
            *id += &format!("~{byte:02X}");
        }
    }
}

/// Reads what [`encode`] writes.
fn decode(segment: &str) -> Option<Option<String>> {
    if segment == "~" {
        return Some(None);
    }
    let (mut bytes, mut rest) = (Vec::new(), segment.as_bytes());
    while let [first, tail @ ..] = rest {
        if *first == b'~' {
            let digits = std::str::from_utf8(tail.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &tail[2..];
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    String::from_utf8(bytes).ok().map(Some)
}

#[cfg(test)]
mod tests {
    use super::{decode, encode};

    #[test]
    fn every_value_survives_its_id() {
        for value in
            [None, Some(""), Some("All groups"), Some("a.b~c"), Some("Ōtautahi"), Some("~")]
        {
            let mut id = String::new();
            encode(value, &mut id);
            assert!(id.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'.'), "{id}");
            assert_eq!(decode(&id), Some(value.map(str::to_owned)), "{id}");
        }
        assert_eq!([decode("~2"), decode("~zz"), decode("~FF")], [None, None, None]);
    }
}
