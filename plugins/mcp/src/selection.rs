//! The rows that the arguments of a tool name.

use serde_json::Value;
use yearbook_sdk::adapter::{Applied, BoundingBox, Operator, Pick, Selection, Version};

use crate::arguments::{Arguments, Read, scalar, wrong};

/// Most rows of each series for `first` and `last`.
const MOST_PICKED: u32 = 1_000;
/// Most values over all conditions, as on `/v1`.
const MOST_VALUES: usize = 1_024;

/// Dataset and conditions: what every tool with rows takes.
pub(crate) fn conditions(arguments: &Arguments<'_>) -> Read<Selection> {
    let mut selection = Selection::new(arguments.needed_text("dataset")?);
    let Some(conditions) = arguments.get("where") else { return Ok(selection) };
    let conditions = conditions
        .as_object()
        .ok_or_else(|| wrong("where", "this is an object: a column, and a value or a list each"))?;
    // A question with many times more is a fault to the host, and no assistant learns why.
    let sent: usize = conditions.values().map(|value| value.as_array().map_or(1, Vec::len)).sum();
    if sent > MOST_VALUES {
        let sentence = format!(
            "the conditions have {sent} values and may have {MOST_VALUES}; ask in several calls"
        );
        return Err(wrong("where", sentence));
    }
    for (name, value) in conditions {
        add(&mut selection, name, value)?;
    }
    Ok(selection)
}

/// Adds a condition: `name` is `COLUMN` or `COLUMN.OPERATOR`.
fn add(selection: &mut Selection, name: &str, value: &Value) -> Read<()> {
    let place = format!("where.{name}");
    let (column, operator) = name.split_once('.').unwrap_or((name, ""));
    let values = match value {
        Value::Array(values) => values.iter().map(|value| scalar(&place, value)).collect(),
        one => scalar(&place, one).map(|value| vec![value]),
    };
    let values = match values {
        Err(refusal) if value.is_null() => {
            let sentence = format!("for rows without a value write \"{column}.null\": true");
            return Err(if operator.is_empty() { wrong(&place, sentence) } else { refusal });
        }
        values => values?,
    };
    let bound = |operator| match &values[..] {
        [_] => Ok(operator),
        _ => Err(wrong(&place, "this takes one value")),
    };
    let operator = match operator {
        "" => Operator::Equal,
        "not" => Operator::NotEqual,
        "contains" => Operator::Contains,
        "starts" => Operator::Starts,
        "ge" => bound(Operator::Ge)?,
        "gt" => bound(Operator::Gt)?,
        "le" => bound(Operator::Le)?,
        "lt" => bound(Operator::Lt)?,
        "null" => {
            let operator = match values.iter().map(String::as_str).collect::<Vec<_>>()[..] {
                ["true"] => Operator::IsNull,
                ["false"] => Operator::IsNotNull,
                _ => return Err(wrong(&place, "this is true or false")),
            };
            selection.condition::<String>(column, operator, []);
            return Ok(());
        }
        other => {
            let sentence = format!(
                "there is no operator '{other}'; there are not, ge, gt, le, lt, contains, starts and null"
            );
            return Err(wrong(&place, sentence));
        }
    };
    if values.is_empty() {
        return Err(wrong(&place, "an empty list holds for no row; leave it out for all"));
    }
    selection.condition(column, operator, values);
    Ok(())
}

/// Rows within dates too.
pub(crate) fn dated(arguments: &Arguments<'_>) -> Read<Selection> {
    let (start, end) = (arguments.text("start")?, arguments.text("end")?);
    Ok(Selection { start, end, ..conditions(arguments)? })
}

/// All that a selection has.
pub(crate) fn whole(arguments: &Arguments<'_>) -> Read<Selection> {
    let mut selection = dated(arguments)?;
    selection.pick = pick(arguments)?;
    for name in arguments.texts("sort")?.unwrap_or_default() {
        match name.strip_prefix('-') {
            Some(name) => selection.sort(name, true),
            None => selection.sort(name, false),
        };
    }
    selection.bbox = bbox(arguments)?;
    selection.columns = arguments.texts("columns")?;
    selection.apply = apply(arguments)?;
    if let Some(time) = arguments.text("as_of")? {
        selection.version = Version::AsOf(time);
    }
    Ok(selection)
}

fn pick(arguments: &Arguments<'_>) -> Read<Pick> {
    let first = arguments.number("first", MOST_PICKED)?;
    match (first, arguments.number("last", MOST_PICKED)?) {
        (None, None) => Ok(Pick::All),
        (Some(first), None) => Ok(Pick::First(first)),
        (None, Some(last)) => Ok(Pick::Last(last)),
        _ => Err(wrong("last", "first and last exclude each other; send one")),
    }
}

fn bbox(arguments: &Arguments<'_>) -> Read<Option<BoundingBox>> {
    let Some(sent) = arguments.get("bbox") else { return Ok(None) };
    let numbers = sent.as_array().into_iter().flatten().map(Value::as_f64);
    match numbers.collect::<Option<Vec<f64>>>().as_deref() {
        Some(&[west, south, east, north]) => Ok(Some(BoundingBox { west, south, east, north })),
        _ => Err(wrong("bbox", "this is [west, south, east, north] in degrees")),
    }
}

fn apply(arguments: &Arguments<'_>) -> Read<Vec<Applied>> {
    let refuse = |sentence: &str| wrong("apply", sentence);
    let Some(sent) = arguments.get("apply") else { return Ok(Vec::new()) };
    let steps = sent.as_array().ok_or_else(|| refuse("this is a list of names with options"))?;
    let step = |step: &Value| {
        let name = step.as_str().or_else(|| step.get("name")?.as_str());
        let transform = name.ok_or_else(|| refuse("each step has a name"))?.to_owned();
        let options = match step.get("options").filter(|options| !options.is_null()) {
            None => Vec::new(),
            Some(Value::Object(options)) => {
                let option = |(name, value): (&String, &Value)| {
                    let place = format!("apply.{transform}.{name}");
                    // Several names of columns are one text to a transform.
                    let values = value.as_array().map_or(std::slice::from_ref(value), |all| all);
                    let values = values.iter().map(|value| scalar(&place, value));
                    Ok((name.clone(), values.collect::<Read<Vec<String>>>()?.join(",")))
                };
                options.iter().map(option).collect::<Read<_>>()?
            }
            Some(_) => return Err(refuse("options are an object: a value for each name")),
        };
        Ok(Applied { transform, options })
    };
    steps.iter().map(step).collect()
}
