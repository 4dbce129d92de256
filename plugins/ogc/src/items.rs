//! Features: `/collections/{id}/items` and `…/items/{featureId}`. The host sends the rows; what
//! stands around them is made here.

use serde_json::{Value, json};
use yearbook_geojson_writer::id_parts;
use yearbook_sdk::adapter::{
    Asked, Dataset, Document, Fact, Format, Framing, Host, Known, Refusal, Reply, Request, Rows,
    Selection, Step, Version, Wrapping,
};

use crate::collections::{page_of, spatial};
use crate::features::{ARRAY, MEMBERS, ROW_NUMBER};
use crate::links::{self, GEOJSON, JSON, link};
use crate::negotiation::Encoding;
use crate::parameters::{self, MOST_FEATURES};
use crate::problem;
use crate::queryables::{RESERVED, queryables};

/// Longest address of features, which stands in links to it; and the longest one that has links to
/// other encodings, or a header `Link`. More would not fit before the rows.
const LONGEST_ADDRESS: usize = 8 << 10;
const LONGEST_LINK: usize = 2 << 10;
/// Most links to other encodings.
const MOST_ENCODINGS: usize = 20;

/// `/collections/{id}/items`.
pub(crate) fn list(request: &Request, host: &mut Host, id: &str) -> Step<Reply> {
    let (dataset, formats) = asked(host, id)?;
    let is_queryable = |name: &str| queryables(&dataset).any(|column| column.name == name);
    parameters::check(request, |name| RESERVED.contains(&name) || is_queryable(name))?;
    let (start, end) = parameters::datetime(request)?;
    let has_dates = dataset.columns.iter().any(|column| column.role == "date");
    let mut selection = Selection {
        limit: Some(parameters::limit(request, MOST_FEATURES)?),
        bbox: parameters::bbox(request)?,
        cursor: request.parameter("cursor").map(str::to_owned),
        ..features(request, &dataset)
    };
    // What has no time matches every time, as the standard wants.
    if has_dates {
        (selection.start, selection.end) = (start, end);
    }
    for (name, value) in request.parameters().filter(|(name, _)| !RESERVED.contains(name)) {
        selection.equal(name, value);
    }
    reply(request, &dataset, &formats, selection, ARRAY)
}

/// `/collections/{id}/items/{featureId}`.
pub(crate) fn show(request: &Request, host: &mut Host, id: &str, feature: &str) -> Step<Reply> {
    parameters::check(request, |name| matches!(name, "f" | "as_of"))?;
    let (dataset, formats) = asked(host, id)?;
    let mut selection = Selection { limit: Some(1), ..features(request, &dataset) };
    if dataset.primary_key.is_empty() {
        let row = parameters::count(feature).ok_or_else(|| no_feature(feature))?;
        selection.row = Some(row);
    } else {
        let parts = id_parts(feature, dataset.primary_key.len());
        for (column, part) in
            dataset.primary_key.iter().zip(parts.ok_or_else(|| no_feature(feature))?)
        {
            selection.equal(column, part);
        }
    }
    reply(request, &dataset, &formats, selection, MEMBERS)
}

fn no_feature(feature: &str) -> Refusal {
    Refusal::new(404, format!("there is no feature '{feature}'"))
}

/// The dataset of a collection, and the loaded formats.
fn asked(host: &mut Host, id: &str) -> Step<(Dataset, Vec<Format>)> {
    page_of(id)?;
    let (dataset, formats) = host.ask((Asked::dataset(id), Asked::formats()))?;
    Ok((spatial(id, dataset)?, formats))
}

/// All features of a dataset, of the version that a request wants.
fn features(request: &Request, dataset: &Dataset) -> Selection {
    let as_of = request.parameter("as_of").map(|time| Version::AsOf(time.to_owned()));
    let version = as_of.unwrap_or(Version::Current);
    Selection { geometry: true, version, ..Selection::new(&dataset.name) }
}

/// The rows of a selection in the encoding that a request wants.
fn reply(
    request: &Request,
    dataset: &Dataset,
    formats: &[Format],
    selection: Selection,
    layout: &str,
) -> Step<Reply> {
    if links::address(request).len() > LONGEST_ADDRESS {
        return Err(problem::bad_request(format!(
            "the address is longer than {LONGEST_ADDRESS} bytes; ask for fewer values at once"
        )));
    }
    let key = &dataset.primary_key;
    let rows = match Encoding::wanted(request, formats)? {
        Encoding::Page => return Ok(Document::see_other(page_of(&dataset.name)?).into()),
        Encoding::GeoJson => {
            let row_numbers = key.is_empty();
            let id = if row_numbers { ROW_NUMBER.to_owned() } else { key.join(",") };
            let selection = Selection { row_numbers, ..selection };
            Rows { media_type: Some(GEOJSON.to_owned()), ..Rows::own_format(selection) }
                .option("id", id)
                .option("layout", layout)
        }
        Encoding::Format(format) => {
            let file_name = Some(format!("{}.{}", dataset.name, format.extension));
            Rows { file_name, ..Rows::new(selection, format.name) }
        }
    };
    Ok(rows.into())
}

/// Bytes around the rows of a request, or 404 in place of a feature that is not there.
pub(crate) fn frame(request: &Request, facts: &[Fact], known: &Known) -> Framing {
    let formats = facts.iter().find_map(|fact| match fact {
        Fact::Formats(formats) => Some(formats.as_slice()),
        _ => None,
    });
    let formats = formats.unwrap_or_default();
    // It was wanted before there were rows, so it can be had.
    let encoding = Encoding::wanted(request, formats).unwrap_or(Encoding::GeoJson);
    let segments = request.segments();
    let id = segments.get(1).copied().unwrap_or_default();
    if let [_, _, _, feature @ ..] = &segments[..]
        && !feature.is_empty()
    {
        if known.rows == Some(0) {
            return problem::document(request, &no_feature(&feature.join("/"))).into();
        }
        if encoding != Encoding::GeoJson {
            return Wrapping::bytes("", "").into();
        }
        let mut links = encodings(request, formats, &encoding);
        links.push(link("collection", links::below(request, &["collections", id]), JSON));
        let members = json!({ "links": links }).to_string();
        let members = members.strip_suffix('}').unwrap_or_default();
        return Wrapping::bytes(members, "}").into();
    }
    let next = known.next.as_deref().map(|cursor| request.address_with("cursor", cursor));
    let wrapping = if encoding == Encoding::GeoJson {
        let mut links = encodings(request, formats, &encoding);
        links.extend(next.as_ref().map(|next| link("next", next, GEOJSON)));
        links.push(link("collection", links::below(request, &["collections", id]), JSON));
        let mut members = json!({ "type": "FeatureCollection", "links": links });
        if let Some(total) = known.total {
            members["numberMatched"] = total.into();
        }
        members["attribution"] = known.credit.attribution.as_str().into();
        members["snapshot_id"] = known.snapshot.as_str().into();
        let page = Wrapping::object(&members, "features");
        // All that match are on a page that nothing stands before or behind.
        let is_whole = next.is_none() && !known.truncated && request.parameter("cursor").is_none();
        let page =
            if known.total.is_none() && is_whole { page.count("numberMatched") } else { page };
        page.count("numberReturned")
    } else {
        Wrapping::bytes("", "")
    };
    match next.filter(|next| next.len() <= LONGEST_LINK) {
        Some(next) => wrapping.link("next", next).into(),
        None => wrapping.into(),
    }
}

/// Links of a document to itself and to its other encodings.
fn encodings(request: &Request, formats: &[Format], own: &Encoding) -> Vec<Value> {
    let mut links = vec![link("self", links::address(request), own.named().1)];
    let others = Encoding::all(formats).filter(|encoding| encoding != own).map(|encoding| {
        let (name, media_type) = encoding.named();
        (request.address_with("f", name), media_type.to_owned())
    });
    let short = others.filter(|(address, _)| address.len() <= LONGEST_LINK).take(MOST_ENCODINGS);
    links.extend(short.map(|(address, media_type)| link("alternate", address, &media_type)));
    links
}
