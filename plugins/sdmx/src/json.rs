//! Messages of structures in SDMX-JSON 2.0.

use serde_json::{Map, Value, json};
use yearbook_sdmx_model::Representation;

use crate::flow::{Component, Flow, Kind as Of};
use crate::message::{Available, MESSAGE_ID, Message, SENDER, annotations};
use crate::ml::text_type;
use crate::query::Kind;

/// Writes a message.
pub(crate) fn write(message: &Message<'_>, address: &str) -> String {
    let mut data = Map::new();
    let mut add = |name: &str, parts: Vec<Value>| {
        if !parts.is_empty() {
            data.insert(name.to_owned(), parts.into());
        }
    };
    let each = |kind: Kind, make: &dyn Fn(&Flow) -> Value| -> Vec<Value> {
        if message.has(kind) {
            message.flows.iter().map(|flow| make(flow)).collect()
        } else {
            Vec::new()
        }
    };
    if let Some(agencies) = &message.agencies {
        let agencies: Vec<Value> =
            agencies.iter().map(|id| json!({ "id": id, "name": id })).collect();
        let mut scheme = json!({
            "id": "AGENCIES",
            "agencyID": "SDMX",
            "name": "Agencies",
            "agencies": agencies,
        });
        if message.query.is_part(Kind::AgencyScheme) {
            scheme["isPartial"] = true.into();
        }
        add("agencySchemes", vec![scheme]);
    }
    add("dataflows", each(Kind::Dataflow, &|flow| dataflow(message, flow, address)));
    if message.has(Kind::Codelist) {
        let lists = message.flows.iter().flat_map(|flow| codelists(message, flow, address));
        add("codelists", lists.collect());
    }
    add("conceptSchemes", each(Kind::ConceptScheme, &|flow| concepts(message, flow, address)));
    add("dataStructures", each(Kind::DataStructure, &|flow| structure(message, flow, address)));
    if let (Some(available), [flow]) = (&message.available, &message.flows[..]) {
        add("dataConstraints", vec![constraint(flow, available)]);
    }
    let mut languages: Vec<&str> = message.flows.iter().map(|flow| flow.language()).collect();
    languages.sort_unstable();
    languages.dedup();
    let mut meta = json!({
        "id": MESSAGE_ID,
        "test": false,
        "prepared": message.prepared,
        "sender": { "id": SENDER },
    });
    if !languages.is_empty() {
        meta["contentLanguages"] = languages.into();
    }
    json!({ "meta": meta, "data": data }).to_string()
}

/// Members that everything that is maintained has.
fn maintained(
    message: &Message<'_>,
    flow: &Flow,
    kind: Kind,
    named: (&str, &str, String),
    address: &str,
) -> Value {
    let (id, name, urn) = named;
    let (agency, version) = (&flow.name.agency, &flow.name.version);
    let mut links = vec![json!({ "rel": "self", "urn": urn })];
    let is_stub = message.query.is_stub(kind);
    if is_stub {
        let kind = match kind {
            Kind::AgencyScheme => "agencyscheme",
            Kind::Dataflow => "dataflow",
            Kind::Codelist => "codelist",
            Kind::ConceptScheme => "conceptscheme",
            Kind::DataStructure => "datastructure",
        };
        let href = format!("{address}/{kind}/{agency}/{id}/{version}");
        links.push(json!({ "rel": "external", "href": href }));
    }
    let mut value = json!({
        "id": id,
        "agencyID": agency,
        "version": version,
        "name": name,
        "links": links,
    });
    if is_stub {
        value["isExternalReference"] = true.into();
    }
    if message.is_part(kind, flow, id) {
        value["isPartial"] = true.into();
    }
    value
}

fn dataflow(message: &Message<'_>, flow: &Flow, address: &str) -> Value {
    let named = (&*flow.name.id, flow.title(), flow.name.dataflow_urn());
    let mut value = maintained(message, flow, Kind::Dataflow, named, address);
    if let Some(description) = &flow.dataset.description {
        value["description"] = description.as_str().into();
    }
    value["structure"] = flow.name.structure_urn().into();
    let notes = annotations(flow).into_iter().map(|note| {
        let mut value = json!({ "type": note.kind, "text": note.text });
        if let Some(address) = note.address {
            value["links"] = json!([{ "rel": "self", "href": address }]);
        }
        value
    });
    value["annotations"] = notes.collect();
    value
}

fn codelists(message: &Message<'_>, flow: &Flow, address: &str) -> Vec<Value> {
    let query = message.query;
    let is_meant = |id: &str| !query.kinds.contains(&Kind::Codelist) || query.ids.has(id);
    let components = flow.components().into_iter().filter_map(|component| {
        let id = flow.name.codelist_id(&component.id);
        if component.representation != Representation::Coded || !is_meant(&id) {
            return None;
        }
        let named = (&*id, &*component.name, flow.name.codelist_urn(&component.id));
        let mut value = maintained(message, flow, Kind::Codelist, named, address);
        if !query.is_stub(Kind::Codelist) {
            let codes = flow.codes(&component.id).into_iter();
            let codes = codes.filter(|code| query.has_item(Kind::Codelist, &code.id));
            let codes = codes.map(|code| {
                let mut value = json!({ "id": code.id, "name": code.name });
                if let Some(description) = code.description {
                    value["description"] = description.into();
                }
                value
            });
            value["codes"] = codes.collect();
        }
        Some(value)
    });
    components.collect()
}

fn concepts(message: &Message<'_>, flow: &Flow, address: &str) -> Value {
    let named = (&*flow.name.id, flow.title(), flow.name.concept_scheme_urn());
    let mut value = maintained(message, flow, Kind::ConceptScheme, named, address);
    if message.query.is_stub(Kind::ConceptScheme) {
        return value;
    }
    let components = flow.components().into_iter();
    let is_meant =
        |component: &Component| message.query.has_item(Kind::ConceptScheme, &component.id);
    let items = components.filter(is_meant);
    let concepts = items.map(|component| {
        let urn = flow.name.concept_urn(&component.id);
        let links = json!([{ "rel": "self", "urn": urn }]);
        let mut value = json!({ "id": component.id, "name": component.name, "links": links });
        if let Some(description) = component.description {
            value["description"] = description.into();
        }
        if let Some(unit) = component.unit {
            value["annotations"] = json!([{ "type": "UNIT", "text": unit }]);
        }
        value
    });
    value["concepts"] = concepts.collect();
    value
}

fn structure(message: &Message<'_>, flow: &Flow, address: &str) -> Value {
    let named = (&*flow.name.id, flow.title(), flow.name.structure_urn());
    let mut value = maintained(message, flow, Kind::DataStructure, named, address);
    if message.query.is_stub(Kind::DataStructure) {
        return value;
    }
    let components = flow.components();
    let of = |kind: Of| components.iter().filter(move |component| component.kind == kind);
    let dimensions: Vec<Value> = of(Of::Dimension)
        .enumerate()
        .map(|(at, dimension)| {
            let mut value = component(flow, dimension);
            value["position"] = at.into();
            value
        })
        .collect();
    let mut list = json!({ "id": "DimensionDescriptor" });
    if !dimensions.is_empty() {
        list["dimensions"] = dimensions.into();
    }
    if let Some(time) = of(Of::Time).next() {
        list["timeDimension"] = component(flow, time);
    }
    let measures: Vec<Value> = of(Of::Measure).map(|one| component(flow, one)).collect();
    let attributes: Vec<Value> = of(Of::Attribute)
        .map(|attribute| {
            let mut value = component(flow, attribute);
            value["usage"] = "optional".into();
            value["attributeRelationship"] = json!({ "observation": {} });
            value["measureRelationship"] = json!(["OBS_VALUE"]);
            value
        })
        .collect();
    let mut parts = json!({
        "dimensionList": list,
        "measureList": { "id": "MeasureDescriptor", "measures": measures },
    });
    if !attributes.is_empty() {
        parts["attributeList"] = json!({ "id": "AttributeDescriptor", "attributes": attributes });
    }
    value["dataStructureComponents"] = parts;
    value
}

fn component(flow: &Flow, component: &Component) -> Value {
    let representation = match (component.kind, component.representation) {
        (Of::Time, _) => json!({ "format": { "dataType": "ObservationalTimePeriod" } }),
        (_, Representation::Coded) => {
            json!({ "enumeration": flow.name.codelist_urn(&component.id) })
        }
        (_, Representation::Plain(value_type)) => {
            json!({ "format": { "dataType": text_type(value_type) } })
        }
    };
    json!({
        "id": component.id,
        "conceptIdentity": flow.name.concept_urn(&component.id),
        "localRepresentation": representation,
    })
}

fn constraint(flow: &Flow, available: &Available) -> Value {
    let counts = [("obs_count", available.observations), ("series_count", available.series)];
    let counts = counts.into_iter().filter_map(|(id, count)| {
        let title = count?.to_string();
        Some(json!({ "id": id, "title": title, "type": "sdmx_metrics" }))
    });
    let counts: Vec<Value> = counts.collect();
    let codes = available.codes.iter().filter(|(_, codes)| !codes.is_empty());
    let mut values: Vec<Value> = codes
        .map(|(id, codes)| {
            let codes: Vec<Value> = codes.iter().map(|code| json!({ "value": code })).collect();
            json!({ "id": id, "values": codes })
        })
        .collect();
    if let Some((first, last)) = &available.times {
        let end = |period: &str| json!({ "period": period, "isInclusive": true });
        let range = json!({ "startPeriod": end(first), "endPeriod": end(last) });
        values.push(json!({ "id": "TIME_PERIOD", "timeRange": range }));
    }
    let mut region = json!({ "include": true });
    if !values.is_empty() {
        region["keyValues"] = values.into();
    }
    let mut value = json!({
        "id": format!("{}-AVAILABLE", flow.name.id),
        "agencyID": flow.name.agency,
        "version": flow.name.version,
        "name": flow.title(),
        "role": "Actual",
        "constraintAttachment": { "dataflows": [flow.name.dataflow_urn()] },
        "cubeRegions": [region],
    });
    if !counts.is_empty() {
        value["annotations"] = counts.into();
    }
    value
}
