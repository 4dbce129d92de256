//! The parameters of `/data`, each validated by itself (contract-1-order): every problem at once,
//! in the order of declaration (contract-2-order), extensions last.

use std::collections::{HashMap, HashSet};

use super::apply::parse_apply;
use super::as_of::{check_as_of, parse_as_of};
use super::conditions::{is_condition, parse_conditions};
use super::order::{parse_box, parse_series_rows, parse_sort};
use super::pairs::last_value;
use super::{
    DEFAULT_LIMIT, LoadedPlugins, MAX_LISTED_NAMES, OutputParameters, Selection, Sent, scalar,
};
use crate::{Millis, ValidationError};

/// Parses `pairs` as [`parse_data_at`] does, where no time is too late for `as_of`.
///
/// # Errors
/// Every problem there is.
pub fn parse_data<'a>(
    pairs: &[(String, String)],
    plugins: impl Into<LoadedPlugins<'a>>,
) -> Result<(Selection, OutputParameters), Vec<ValidationError>> {
    parse_data_at(pairs, plugins, Millis(i64::MAX))
}

/// Parses `pairs` (from [`super::parse_pairs`]). `plugins` are those loaded `now`. Unknown
/// parameters are ignored.
///
/// # Errors
/// Every problem there is.
pub fn parse_data_at<'a>(
    pairs: &[(String, String)],
    plugins: impl Into<LoadedPlugins<'a>>,
    now: Millis,
) -> Result<(Selection, OutputParameters), Vec<ValidationError>> {
    let plugins = plugins.into();
    let mut problems = Vec::new();
    let mut note = |problem: ValidationError| problems.push(problem);
    let get = |name: &str| last_value(pairs, name);

    let start = get("start").map(|raw| scalar::parse_date("start", raw));
    let end = get("end").map(|raw| scalar::parse_date("end", raw));
    let start = match (start, &end) {
        (Some(Ok(start)), Some(Ok(end))) if start > *end => {
            note(ValidationError::value_error(
                "start",
                &format!("start must not be after end ({end})"),
                start.as_str(),
            ));
            None
        }
        (start, _) => collect_error(start, &mut note),
    };
    let end = collect_error(end, &mut note);
    let limit = collect_error(get("limit").map(|raw| scalar::parse_count("limit", raw)), &mut note)
        .unwrap_or(DEFAULT_LIMIT);
    let format = get("format").map(|raw| {
        if plugins.has_format(raw) {
            return Ok(raw.to_owned());
        }
        let named = plugins.data.iter().copied();
        scalar::check_literal("format", raw, named).map(|()| raw.to_owned())
    });
    let format = collect_error(format, &mut note);
    let geometry =
        collect_error(get("geometry").map(|raw| scalar::parse_boolean("geometry", raw)), &mut note)
            .unwrap_or(true);
    let envelope =
        collect_error(get("envelope").map(|raw| scalar::parse_boolean("envelope", raw)), &mut note)
            .unwrap_or(false);
    let columns = collect_error(get("columns").map(parse_columns), &mut note);

    let conditions = parse_conditions(pairs).unwrap_or_else(|found| {
        found.into_iter().for_each(&mut note);
        Vec::new()
    });
    let sort = collect_error(get("sort").map(parse_sort), &mut note);
    let series_rows = parse_series_rows(pairs).unwrap_or_else(|found| {
        found.into_iter().for_each(&mut note);
        None
    });
    let bbox = collect_error(get("bbox").map(parse_box), &mut note);
    let as_of = get("as_of").map(|raw| parse_as_of("as_of", raw));
    let as_of = as_of.map(|sent| check_as_of("as_of", sent?, now, get("snapshot")));
    let as_of = collect_error(as_of, &mut note);
    let apply = get("apply").map(|raw| parse_apply(raw, plugins.transforms));
    let apply = collect_error(apply, &mut note);

    if !problems.is_empty() {
        return Err(problems);
    }
    let selection = Selection {
        start,
        end,
        dimensions: non_empty(get("dimensions")),
        limit,
        geometry,
        cursor: non_empty(get("cursor")),
        snapshot: get("snapshot").map(str::to_owned),
        as_of,
        columns,
        conditions,
        sort,
        series_rows,
        bbox,
        apply,
        skip: 0,
        row: None,
        row_numbers: false,
    };
    Ok((selection, OutputParameters { format, envelope, options: plugin_parameters(pairs) }))
}

fn collect_error<T>(
    judged: Option<Result<T, ValidationError>>,
    note: &mut impl FnMut(ValidationError),
) -> Option<T> {
    match judged? {
        Ok(value) => Some(value),
        Err(problem) => {
            note(problem);
            None
        }
    }
}

fn non_empty(raw: Option<&str>) -> Option<String> {
    raw.filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Names of columns; blanks around a name are dropped. A name twice would make objects with the
/// same key twice, so it is refused.
fn parse_columns(raw: &str) -> Result<Sent<Vec<String>>, ValidationError> {
    let refuse = |sentence: &str| Err(ValidationError::value_error("columns", sentence, raw));
    if let Some(sentence) = too_many_names_message("columns", raw) {
        return refuse(&sentence);
    }
    let names: Vec<String> = raw.split(',').map(|name| name.trim().to_owned()).collect();
    if names.iter().any(String::is_empty) {
        return refuse(
            "columns must be names separated by commas, none of them empty; leave it out to get every column",
        );
    }
    let mut seen = HashSet::new();
    if let Some(name) = names.iter().find(|name| !seen.insert(name.as_str())) {
        return refuse(&format!("column '{name}' is named twice"));
    }
    Ok(Sent::new(raw, names))
}

/// Returns the problem of a list of more than [`MAX_LISTED_NAMES`] names, before any of them is
/// read.
#[must_use]
pub fn too_many_names_message(parameter: &str, raw: &str) -> Option<String> {
    let names = raw.bytes().filter(|byte| *byte == b',').count() + 1;
    (names > MAX_LISTED_NAMES).then(|| {
        format!(
            "{parameter} lists {names} names and may list {MAX_LISTED_NAMES}; ask in several requests"
        )
    })
}

/// Parameters of plugins: those whose name has a dot, each once with its last value, in the order
/// of first appearance.
fn plugin_parameters(pairs: &[(String, String)]) -> Vec<(String, String)> {
    let mut options: Vec<(String, String)> = Vec::new();
    let mut positions: HashMap<&str, usize> = HashMap::new();
    for (name, value) in pairs.iter().filter(|(name, _)| name.contains('.') && !is_condition(name))
    {
        let position = *positions.entry(name).or_insert(options.len());
        match options.get_mut(position) {
            Some((_, known)) => known.clone_from(value),
            None => options.push((name.clone(), value.clone())),
        }
    }
    options
}

#[cfg(test)]
mod tests;
