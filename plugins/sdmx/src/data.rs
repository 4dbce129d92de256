//! Data: the rows of a dataflow that a key, filters and parameters select.

use yearbook_sdk::adapter::{
    Asked, Document, Fact, Framing, Host, Known, Reply, Request, Rows, Step, Wrapping,
};

use crate::flow::{Flow, dataset_name};
use crate::message::SENDER;
use crate::negotiation::{Encoding, Face, data_type};
use crate::problem::{self, bad_request, not_found, unsaid};
use crate::query::{Ids, ids, versions};
use crate::selected::{Content, MOST_SORTED, Selected};
use crate::structures::{dataset, dataset_if_any, flow, nothing};

/// Name of the format that writes SDMX-ML.
const ML: &str = "sdmx-ml";
const NO_DATA: &str = "nothing is found for this key and these parameters";

/// The things that an address of data names, and whether the format that writes SDMX-ML is loaded.
pub(crate) struct Place {
    pub(crate) flow: Flow,
    pub(crate) key: String,
    has_ml: bool,
}

/// `data/…` of 2.1: `FLOW`, key, provider.
pub(crate) fn v21(request: &Request, host: &mut Host, path: &[&str]) -> Step<Reply> {
    let place = place_21(request, host, path)?;
    send(Face::V21, request, host, place)
}

/// `data/…` of 3.0: context, agency, flow, version, key.
pub(crate) fn v30(request: &Request, host: &mut Host, path: &[&str]) -> Step<Reply> {
    let place = place_30(request, host, path)?;
    send(Face::V30, request, host, place)
}

/// The dataflow of an address of 2.1, and its key.
pub(crate) fn place_21(request: &Request, host: &mut Host, path: &[&str]) -> Step<Place> {
    let (reference, rest) = path.split_first().ok_or_else(|| bad_request("name a dataflow"))?;
    let parts: Vec<&str> = reference.split(',').collect();
    let (agency, id, version) = match parts[..] {
        [id] => ("all", id, "latest"),
        [agency, id] => (agency, id, "latest"),
        [agency, id, version] => (agency, id, version),
        _ => return Err(bad_request("a dataflow is `ID`, `AGENCY,ID` or `AGENCY,ID,VERSION`")),
    };
    let key = rest.first().copied().unwrap_or("all");
    let (flow, has_ml) = find(Face::V21, request, host, [agency, id, version])?;
    let provider = rest.get(1).map_or(Ids::Any, |provider| ids(Face::V21, provider));
    let is_provider = match &provider {
        Ids::Any => true,
        // `AGENCY,ID` is a provider too.
        Ids::Some(ids) => {
            ids.iter().flat_map(|id| id.split(',')).any(|id| id == flow.name.agency || id == SENDER)
        }
    };
    let place = Place { flow, key: key.to_owned(), has_ml };
    if is_provider { Ok(place) } else { Err(not_found(NO_DATA)) }
}

/// The dataflow of an address of 3.0, and its key.
pub(crate) fn place_30(request: &Request, host: &mut Host, path: &[&str]) -> Step<Place> {
    let part = |at: usize| path.get(at).copied().unwrap_or("*");
    match part(0) {
        "dataflow" | "datastructure" | "*" => {}
        "provisionagreement" => return Err(Document::empty(204).into()),
        other => return Err(bad_request(format!("there is no context '{other}'"))),
    }
    let (flow, has_ml) = find(Face::V30, request, host, [part(1), part(2), part(3)])?;
    Ok(Place { flow, key: part(4).to_owned(), has_ml })
}

fn find(
    face: Face,
    request: &Request,
    host: &mut Host,
    [agency, id, version]: [&str; 3],
) -> Step<(Flow, bool)> {
    let Ids::Some(named) = ids(face, id) else {
        return Err(unsaid("one message has the data of one dataflow; name it"));
    };
    let [id] = &named[..] else {
        return Err(unsaid("one message has the data of one dataflow; ask once for each"));
    };
    let asked = (dataset(request, &dataset_name(id)?).or_refusal(), Asked::formats());
    // Both at once, for a request has few calls.
    let (told, formats) = host.ask(asked)?;
    let told = dataset_if_any(told)?;
    let told = told.ok_or_else(|| not_found(format!("there is no dataflow '{id}'")))?;
    let flow = flow(request, told)?;
    if !ids(face, agency).has_agency(&flow.name.agency)
        || !versions(face, version).has_version(&flow.name.version)
    {
        return Err(not_found(format!("the dataflow '{id}' is {}", flow.name)));
    }
    Ok((flow, formats.iter().any(|format| format.name == ML)))
}

fn send(
    face: Face,
    request: &Request,
    host: &mut Host,
    Place { flow, key, has_ml }: Place,
) -> Step<Reply> {
    let encoding = face.data(request, has_ml)?;
    let mut selected = Selected::new(face, request, flow, &key)?;
    if selected.is_nothing || selected.measures.is_empty() {
        return Err(nothing(face, NO_DATA));
    }
    let is_ml = matches!(encoding, Encoding::Ml21 | Encoding::Ml30);
    let rows = selected.count(host)?;
    if rows == 0 {
        return Err(nothing(face, NO_DATA));
    }
    // `/v1` refuses all rows of a large table where nobody says how many.
    if selected.selection.limit == Some(0) && rows < u64::MAX {
        selected.selection.limit = Some(rows);
    }
    let has_order = is_ml && !selected.is_flat && rows <= MOST_SORTED;
    let is_grouped = has_order && selected.sort_by_series();
    selected.choose_columns();
    let Selected { flow, selection, content, .. } = selected;
    let rows = if is_ml {
        Rows::new(selection, ML)
    } else {
        Rows::own_format(selection).option("key", flow.dataset.primary_key.join(","))
    };
    let is_wide = flow.structure.is_wide.to_string();
    let structure = flow.name.to_string();
    let rows = rows.option("structure", structure).option("wide", is_wide);
    let detail = match content {
        Content::Full => "full",
        Content::DataOnly => "dataonly",
        Content::SeriesKeys => "serieskeysonly",
    };
    let rows = rows.option("detail", detail);
    let rows = match encoding {
        Encoding::Ml21 | Encoding::Ml30 => {
            let version = if encoding == Encoding::Ml30 { "3.0" } else { "2.1" };
            let layout = if is_grouped { "series" } else { "flat" };
            rows.option("version", version).option("layout", layout)
        }
        Encoding::Csv1 => rows.option("version", "1.0.0"),
        Encoding::Csv2 | Encoding::Json => rows.option("version", "2.0.0"),
    };
    Ok(Rows { media_type: Some(data_type(encoding).to_owned()), ..rows }.into())
}

/// Bytes around rows: none, or what stands for no rows.
pub(crate) fn frame(request: &Request, _: &[Fact], known: &Known) -> Framing {
    if known.rows == Some(0) {
        let is_30 = request.path.first().is_some_and(|face| face == "3.0");
        let none =
            if is_30 { Document::empty(204) } else { problem::message(request, 404, NO_DATA) };
        return none.into();
    }
    Wrapping::bytes("", "").into()
}
