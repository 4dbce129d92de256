//! Requests about one series.

use yearbook_sdk::Value;
use yearbook_sdk::adapter::{
    Asked, Column, Dataset, Host, Known, Pick, Reply, Request, Rows, Selection, Step, Unit,
};

use crate::series::{self, Series};
use crate::xml::{self, bad_request, document, tag};

/// Most observations of an answer, and its number without `limit`.
const MOST: u64 = 100_000;
/// Most rows that the host sorts after a transform.
const MOST_SORTED: u64 = 10_000;

/// The day of a time.
fn day(time: &str) -> &str {
    time.get(..10).unwrap_or(time)
}

/// The series that a request names.
fn named(request: &Request, host: &mut Host) -> Step<Series> {
    match request.parameter("series_id") {
        Some(id) => Series::find(host, id),
        None => Err(bad_request("Variable series_id is not set.")),
    }
}

/// `series/observations`.
pub(crate) fn observations(request: &Request, host: &mut Host) -> Step<Reply> {
    let series = named(request, host)?;
    let published = published(&series.dataset);
    let mut selection = series.selection();
    (selection.start, selection.end) =
        (parameter(request, "observation_start"), parameter(request, "observation_end"));
    for name in ["realtime_start", "realtime_end"] {
        if request.parameter(name).is_some_and(|date| date != published) {
            return Err(bad_request(&format!(
                "Variable {name} can only be {published} here: earlier values are not told."
            )));
        }
    }
    lower_frequency(request, &mut selection)?;
    let factor = growth(request, &mut selection)?;
    let most = if selection.apply.is_empty() { MOST } else { MOST_SORTED };
    let newest_first = match request.parameter("sort_order") {
        None | Some("asc") => false,
        Some("desc") => true,
        _ => return Err(bad_request("Variable sort_order can only be asc or desc.")),
    };
    if newest_first {
        let date = selection.columns.iter().flatten().next().cloned().unwrap_or_default();
        selection.sort(date, true);
    }
    let limit = count(request, "limit")?.unwrap_or(MOST).min(MOST);
    selection.limit = Some(if newest_first { limit.min(most) } else { limit });
    selection.skip = count(request, "offset")?
        .map_or(Some(0), |offset| offset.try_into().ok())
        .ok_or_else(|| bad_request("Variable offset is too large."))?;
    Ok(Rows::own_format(selection).option("factor", factor).option("published", published).into())
}

/// The address of the observations behind `rows` of this answer.
pub(crate) fn next(request: &Request, rows: u64) -> String {
    let sent = request.parameter("offset").and_then(|offset| offset.parse::<u64>().ok());
    request.address_with("offset", &sent.unwrap_or(0).saturating_add(rows).to_string())
}

/// The tag before the observations.
pub(crate) fn opening(request: &Request, known: &Known) -> String {
    let published = day(&known.published_at);
    let sent = |name, default| request.parameter(name).unwrap_or(default);
    let count = known.total.map(|total| total.to_string()).unwrap_or_default();
    let attributes = [
        ("realtime_start", published),
        ("realtime_end", published),
        ("observation_start", sent("observation_start", "1776-07-04")),
        ("observation_end", sent("observation_end", "9999-12-31")),
        ("units", sent("units", "lin")),
        ("output_type", "1"),
        ("file_type", "xml"),
        ("order_by", "observation_date"),
        ("sort_order", sent("sort_order", "asc")),
        ("count", &count),
        ("offset", sent("offset", "0")),
        ("limit", sent("limit", "100000")),
    ];
    format!("{}{}", xml::DECLARATION, tag("observations", &attributes, ">\n"))
}

/// `frequency` and `aggregation_method`: months, quarters or years of what is more frequent.
fn lower_frequency(request: &Request, selection: &mut Selection) -> Step<()> {
    let to = match request.parameter("frequency") {
        None => return Ok(()),
        Some("m") => "month",
        Some("q") => "quarter",
        Some("a") => "year",
        _ => return Err(bad_request("Variable frequency can only be m, q or a here.")),
    };
    let with = match request.parameter("aggregation_method") {
        None | Some("avg") => "mean",
        Some("sum") => "sum",
        Some("eop") => "last",
        _ => return Err(bad_request("Variable aggregation_method can only be avg, sum or eop.")),
    };
    selection.apply("resample", &[("to", to), ("with", with)]);
    Ok(())
}

/// `units`: what becomes of each value, and the factor that makes proportions per cent.
fn growth(request: &Request, selection: &mut Selection) -> Step<&'static str> {
    let (options, factor): (&[(&str, &str)], _) = match request.parameter("units") {
        None | Some("lin") => return Ok("1"),
        Some("chg") => (&[("as", "difference")], "1"),
        Some("ch1") => (&[("as", "difference"), ("unit", "year")], "1"),
        Some("pch") => (&[], "100"),
        Some("pc1") => (&[("unit", "year")], "100"),
        Some("cch") => (&[("as", "log")], "100"),
        _ => {
            let sentence = "Variable units can only be lin, chg, ch1, pch, pc1 or cch here.";
            return Err(bad_request(sentence));
        }
    };
    selection.apply("growth", options);
    Ok(factor)
}

fn parameter(request: &Request, name: &str) -> Option<String> {
    request.parameter(name).map(str::to_owned)
}

/// A parameter that counts.
pub(crate) fn count(request: &Request, name: &str) -> Step<Option<u64>> {
    let Some(value) = request.parameter(name) else { return Ok(None) };
    value.parse().map(Some).map_err(|_| bad_request(&format!("Variable {name} is not a number.")))
}

/// `series`: what there is to know about one.
pub(crate) fn information(request: &Request, host: &mut Host) -> Step<Reply> {
    let series = named(request, host)?;
    let ends = [Pick::First(1), Pick::Last(1)];
    let ends = ends.map(|pick| Asked::rows(Selection { pick, ..series.selection() }));
    let ends = host.ask(Vec::from(ends))?;
    let [firsts, lasts] = &ends[..] else { return Err(bad_request("The series does not exist.")) };
    // Codes of years and of quarters are series of their own to the host.
    let date = |row: Option<&Vec<Option<Value>>>| text(row?.first()?);
    let (Some(first), Some(last)) = (date(firsts.rows.first()), date(lasts.rows.last())) else {
        return Err(bad_request("The series does not exist."));
    };
    let Series { dataset, values, column } = &series;
    let published = published(dataset);
    let attributes = [("realtime_start", published), ("realtime_end", published)];
    let element = listed(dataset, values, column, (&first, &last));
    Ok(document("seriess", &attributes, &[element]).into())
}

/// The element of a series, whose dates are known.
pub(crate) fn listed(
    dataset: &Dataset,
    values: &[Option<String>],
    column: &Column,
    (first, last): (&str, &str),
) -> String {
    let (id, title) = (series::id(dataset, values, column), series::title(dataset, values, column));
    let (published, units) = (published(dataset), column.unit.as_deref().unwrap_or(""));
    let (frequency, short) = frequency(dataset.axis);
    let edition = dataset.editions.first().map_or("", |edition| &edition.published_at);
    let attributes = [
        ("id", &*id),
        ("realtime_start", published),
        ("realtime_end", published),
        ("title", &title),
        ("observation_start", first),
        ("observation_end", last),
        ("frequency", frequency),
        ("frequency_short", short),
        ("units", units),
        ("units_short", units),
        ("seasonal_adjustment", "Not Stated"),
        ("seasonal_adjustment_short", "NA"),
        ("last_updated", edition),
        ("popularity", "0"),
        ("notes", &dataset.credit.attribution),
    ];
    tag("series", &attributes, "/>\n")
}

/// A cell as clients of `where.` write it.
pub(crate) fn text(cell: &Option<Value>) -> Option<String> {
    cell.as_ref().map(|value| match value {
        Value::Text(text) => text.clone(),
        Value::Integer(number) => number.to_string(),
        Value::Number(number) => number.to_string(),
        Value::Boolean(boolean) => boolean.to_string(),
    })
}

/// The day on which the values were published.
pub(crate) fn published(dataset: &Dataset) -> &str {
    dataset.editions.first().map_or("", |edition| day(&edition.published_at))
}

/// `series/vintagedates`: the days of publication.
pub(crate) fn vintage_dates(request: &Request, host: &mut Host) -> Step<Reply> {
    let series = named(request, host)?;
    let days = series.dataset.editions.iter().rev().map(|edition| day(&edition.published_at));
    let mut days: Vec<&str> = days.collect();
    days.dedup();
    let elements: Vec<String> =
        days.iter().map(|day| format!("<vintage_date>{day}</vintage_date>\n")).collect();
    Ok(document("vintage_dates", &[("count", &elements.len().to_string())], &elements).into())
}

/// Names of a distance of dates, long and short.
fn frequency(axis: Option<Unit>) -> (&'static str, &'static str) {
    match axis {
        Some(Unit::Day) => ("Daily", "D"),
        Some(Unit::Week) => ("Weekly", "W"),
        Some(Unit::Month) => ("Monthly", "M"),
        Some(Unit::Quarter) => ("Quarterly", "Q"),
        Some(Unit::Half) => ("Semiannual", "SA"),
        Some(Unit::Year) => ("Annual", "A"),
        None => ("Not Applicable", "NA"),
    }
}
