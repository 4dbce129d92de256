//! The catalog in DCAT-AP 3, a page of datasets at a time: the catalog, the service that answers
//! for its rows, and each dataset with its distributions.

use serde_json::{Map, Value, json};
use yearbook_domain::bulk::FILE_MEDIA_TYPE;

use super::view::{CatalogView, DatasetView, SERVICE_LANGUAGE};

/// Datasets on a page: with ten formats some 500 kB.
pub(super) const PAGE_DATASETS: usize = 100;

/// Start of the address of a media type.
const MEDIA_TYPES: &str = "https://www.iana.org/assignments/media-types/";

/// Start of the address of a frequency (EU Vocabularies).
const FREQUENCIES: &str = "http://publications.europa.eu/resource/authority/frequency/";

/// Returns page `page` of `pages` of the catalog, with the datasets `views`.
pub(super) fn catalog(
    catalog: &CatalogView<'_>,
    views: &[DatasetView<'_>],
    page: usize,
    pages: usize,
) -> Value {
    let base = catalog.base_url;
    let settings = catalog.settings;
    let address = |page: usize| match page {
        1 => format!("{base}/catalog.jsonld"),
        _ => format!("{base}/catalog.jsonld?page={page}"),
    };
    let mut view = json!({
        "@id": address(page),
        "@type": "hydra:PartialCollectionView",
        "hydra:first": {"@id": address(1)},
        "hydra:last": {"@id": address(pages)},
    });
    if page > 1 {
        view["hydra:previous"] = json!({"@id": address(page - 1)});
    }
    if page < pages {
        view["hydra:next"] = json!({"@id": address(page + 1)});
    }
    let listed: Vec<Value> = views.iter().map(|view| json!({"@id": dataset_id(view)})).collect();
    let about = json!({
        "@id": format!("{base}/#catalog"),
        "@type": "dcat:Catalog",
        "dct:title": text(&settings.title, SERVICE_LANGUAGE),
        "dct:description": text(&settings.summary, SERVICE_LANGUAGE),
        "dct:publisher": agent(settings.publisher(), SERVICE_LANGUAGE),
        "foaf:homepage": {"@id": format!("{base}/"), "@type": "foaf:Document"},
        "dcat:service": {"@id": service_id(catalog)},
        "dcat:dataset": listed,
    });
    let service = json!({
        "@id": service_id(catalog),
        "@type": "dcat:DataService",
        "dct:title": text(&settings.title, SERVICE_LANGUAGE),
        "dcat:endpointURL": {"@id": format!("{base}/v1"), "@type": "rdfs:Resource"},
        "dcat:endpointDescription": {"@id": format!("{base}/openapi.json"), "@type": "rdfs:Resource"},
    });
    let graph: Vec<Value> =
        [about, service, view].into_iter().chain(views.iter().map(dataset)).collect();
    json!({"@context": context(), "@graph": graph})
}

fn dataset(view: &DatasetView<'_>) -> Value {
    let (snapshot, language) = (view.snapshot(), view.language);
    let mut node = Map::new();
    let mut set = |key: &str, value: Value| {
        node.insert(key.to_owned(), value);
    };
    set("@id", json!(dataset_id(view)));
    set("@type", json!("dcat:Dataset"));
    set("dct:identifier", json!(view.dataset.name));
    set("dct:title", text(view.title(), language));
    set("dct:description", text(&view.description(), view.description_language()));
    set("dct:publisher", agent(&snapshot.credit.source, language));
    set("dcat:landingPage", json!({"@id": view.page_url(), "@type": "foaf:Document"}));
    set("dcat:version", json!(snapshot.id));
    set("dct:modified", date_time(&snapshot.created_at.to_rfc3339()));
    if !snapshot.keywords.is_empty() {
        let words = snapshot.keywords.iter().map(|word| text(word, language));
        set("dcat:keyword", words.collect());
    }
    if let Some(frequency) = snapshot.refresh_cadence.as_deref().and_then(frequency) {
        let id = format!("{FREQUENCIES}{frequency}");
        set("dct:accrualPeriodicity", json!({"@id": id, "@type": "dct:Frequency"}));
    }
    if let Some((first, last)) = &snapshot.date_range {
        let date = |date: &str| json!({"@value": date, "@type": "xsd:date"});
        set(
            "dct:temporal",
            json!({"@type": "dct:PeriodOfTime", "dcat:startDate": date(first.as_str()), "dcat:endDate": date(last.as_str())}),
        );
    }
    let places: Vec<Value> = view.boxes().into_iter().map(place).collect();
    if !places.is_empty() {
        set("dct:spatial", Value::Array(places));
    }
    set("dcat:distribution", Value::Array(distributions(view)));
    Value::Object(node)
}

fn distributions(view: &DatasetView<'_>) -> Vec<Value> {
    let id = |part: &str| format!("{}#{part}", dataset_id(view));
    let service = json!({"@id": service_id(view.catalog)});
    let distribution = |name: &str, url: &str, media_type: &str| {
        json!({
            "@id": id(name),
            "@type": "dcat:Distribution",
            "dct:title": text(&format!("{} ({name})", view.title()), view.language),
            "dcat:accessURL": {"@id": url, "@type": "rdfs:Resource"},
            "dcat:accessService": service,
            "dcat:mediaType": {"@id": format!("{MEDIA_TYPES}{media_type}"), "@type": "dct:MediaType"},
            "dct:license": licence(view),
        })
    };
    let rows =
        view.formats().map(|(format, url)| distribution(&format.format, &url, format.essence()));
    let whole = view.bulk_url().map(|url| {
        let file = &view.snapshot().file;
        let mut whole = distribution("file", &url, FILE_MEDIA_TYPE);
        whole["dcat:byteSize"] =
            json!({"@value": file.bytes.to_string(), "@type": "xsd:nonNegativeInteger"});
        whole["spdx:checksum"] = json!({
            "@type": "spdx:Checksum",
            "spdx:algorithm": {"@id": "spdx:checksumAlgorithm_sha256", "@type": "spdx:ChecksumAlgorithm"},
            "spdx:checksumValue": {"@value": file.sha256, "@type": "xsd:hexBinary"},
        });
        whole
    });
    rows.chain(whole).collect()
}

fn licence(view: &DatasetView<'_>) -> Value {
    let credit = &view.snapshot().credit;
    match view.licence_url() {
        Some(url) => json!({"@id": url, "@type": "dct:LicenseDocument"}),
        None => {
            let name = credit.licence_title.as_ref().unwrap_or(&credit.licence);
            json!({"@type": "dct:LicenseDocument", "dct:title": text(name, view.language)})
        }
    }
}

fn place([west, south, east, north]: [f64; 4]) -> Value {
    let polygon = format!(
        "POLYGON(({west} {south},{east} {south},{east} {north},{west} {north},{west} {south}))"
    );
    json!({"@type": "dct:Location", "dcat:bbox": {"@value": polygon, "@type": "gsp:wktLiteral"}})
}

/// The frequency of a cadence in the vocabulary; none for a closed release.
fn frequency(cadence: &str) -> Option<&'static str> {
    Some(match cadence {
        "hourly" => "HOURLY",
        "daily" => "DAILY",
        "weekly" => "WEEKLY",
        "monthly" => "MONTHLY",
        "quarterly" => "QUARTERLY",
        "annual" => "ANNUAL",
        "irregular" => "IRREG",
        "none" => "NEVER",
        _ => return None,
    })
}

fn dataset_id(view: &DatasetView<'_>) -> String {
    // Not the page's address: the page is a document about the dataset.
    format!("{}#dataset", view.page_url())
}

fn service_id(catalog: &CatalogView<'_>) -> String {
    format!("{}/#service", catalog.base_url)
}

fn agent(name: &str, language: &str) -> Value {
    json!({"@type": "foaf:Agent", "foaf:name": text(name, language)})
}

fn text(text: &str, language: &str) -> Value {
    json!({"@value": text, "@language": language})
}

fn date_time(text: &str) -> Value {
    json!({"@value": text, "@type": "xsd:dateTime"})
}

fn context() -> Value {
    json!({
        "dcat": "http://www.w3.org/ns/dcat#",
        "dct": "http://purl.org/dc/terms/",
        "foaf": "http://xmlns.com/foaf/0.1/",
        "gsp": "http://www.opengis.net/ont/geosparql#",
        "hydra": "http://www.w3.org/ns/hydra/core#",
        "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
        "spdx": "http://spdx.org/rdf/terms#",
        "xsd": "http://www.w3.org/2001/XMLSchema#",
    })
}
