//! Columns of a dataset in SDMX's terms.

use yearbook_sdk::generator::Role;
use yearbook_sdk::{Error, Schema};

const TIME: &str = "TIME_PERIOD";
const VALUE: &str = "OBS_VALUE";

/// Names of the columns in the header. `time` and `value` are what the client named, or empty.
///
/// # Errors
/// [`Error::InvalidOption`] for a name that no column has, or one column for both;
/// [`Error::UnsupportedSchema`] where there is no column for the time or the value.
pub(crate) fn names(schema: &Schema, time: &str, value: &str) -> Result<Vec<String>, Error> {
    let with_role =
        |role| (0..schema.fields.len()).filter(move |at| schema.fields[*at].role() == Some(role));
    let time = match column_option(schema, "time_period", time)? {
        Some(column) => column,
        None => with_role(Role::Period).chain(with_role(Role::Date)).next().ok_or_else(|| {
            missing(
                "no column holds period codes or dates",
                "name the column that is the time with `sdmx-csv.time_period`",
            )
        })?,
    };
    let values: Vec<usize> = match column_option(schema, "obs_value", value)? {
        Some(column) => vec![column],
        None => with_role(Role::Value).filter(|column| *column != time).collect(),
    };
    if values.contains(&time) {
        let sentence = format!(
            "`sdmx-csv.time_period` and `sdmx-csv.obs_value` both name `{}`",
            schema.fields[time].name
        );
        return Err(Error::InvalidOption(sentence));
    }
    if values.is_empty() {
        return Err(missing(
            "no column holds values",
            "name the column that is the observation with `sdmx-csv.obs_value`",
        ));
    }
    let name = |(at, field): (usize, &yearbook_sdk::Field)| match at {
        _ if at == time => TIME.to_owned(),
        _ if values == [at] => VALUE.to_owned(),
        _ => field.name.clone(),
    };
    Ok(schema.fields.iter().enumerate().map(name).collect())
}

fn column_option(schema: &Schema, option: &str, name: &str) -> Result<Option<usize>, Error> {
    if name.is_empty() {
        return Ok(None);
    }
    match schema.fields.iter().position(|field| field.name == name) {
        Some(column) => Ok(Some(column)),
        None => Err(Error::InvalidOption(format!(
            "`sdmx-csv.{option}` names `{name}`, which is not among the columns asked for"
        ))),
    }
}

fn missing(what: &str, advice: &str) -> Error {
    Error::UnsupportedSchema(format!(
        "{what} among those asked for, which SDMX-CSV needs; {advice}, or take `format=csv`"
    ))
}

/// `AGENCY:ID(VERSION)`: what the client named, or made of namespace and dataset.
///
/// # Errors
/// [`Error::InvalidOption`] when what was named is of another form.
pub(crate) fn structure_id(schema: &Schema, chosen: &str) -> Result<String, Error> {
    if chosen.is_empty() {
        let of = |key| schema.metadata(key).unwrap_or("unknown");
        return Ok(format!("{}:{}(1.0)", of("yearbook.namespace"), of("yearbook.dataset")));
    }
    if is_id(chosen) {
        return Ok(chosen.to_owned());
    }
    let form = "`AGENCY:ID(VERSION)`, such as `OECD:MEI(4.0)`";
    Err(Error::InvalidOption(format!(
        "`sdmx-csv.structure_id` must have the form {form}, not `{chosen}`"
    )))
}

fn is_id(text: &str) -> bool {
    let of = |part: &str, further: &str| {
        !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || further.contains(c))
    };
    text.split_once(':').is_some_and(|(agency, rest)| {
        let parts = rest.strip_suffix(')').and_then(|rest| rest.split_once('('));
        of(agency, "_-.") && parts.is_some_and(|(id, version)| of(id, "_@$-") && of(version, ".+-"))
    })
}
