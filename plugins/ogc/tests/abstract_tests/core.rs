//! Features Part 1: landing page, API definition, conformance, collections, failures.

use serde_json::{Value, json};
use yearbook_ogc::Ogc;
use yearbook_sdk::adapter::{Dataset, DatasetQuery, Example, Fact, Question, Refusal, Reply};
use yearbook_sdk::testing::sample::SampleCatalogue;

use super::service::{Answer, BASE, ask, get, get_as, get_in, invalid, links_in, refused};

const JSON: &str = "application/json";
const OPENAPI: &str = "application/vnd.oai.openapi+json;version=3.0";

fn fine(address: &str, media_type: &str) -> Answer {
    let answer = get(address);
    assert_eq!((answer.status, answer.media_type.as_str()), (200, media_type), "{address}");
    answer
}

#[test]
fn an_adapter_holds_its_interface_contract_17() {
    yearbook_sdk::testing::adapting::check::<Ogc>();
}

/// `/conf/core/root-op`, `root-success`, `api-definition-op`, `api-definition-success`.
#[test]
fn the_landing_page_links_to_definition_conformance_and_data_contract_18() {
    let landing = fine("/", JSON);
    let of = |rel| landing.links(rel);
    assert_eq!(of("self"), [BASE]);
    assert_eq!(of("service-desc"), [format!("{BASE}/api")]);
    assert_eq!(of("conformance"), [format!("{BASE}/conformance")]);
    assert_eq!(of("data"), [format!("{BASE}/collections")]);
    let links = landing.body["links"].as_array().unwrap();
    let described = links.iter().find(|link| link["rel"] == "service-desc").unwrap();
    assert_eq!(described["type"], OPENAPI);
    assert_eq!(fine("/api", OPENAPI).body["openapi"], "3.0.3");
}

/// `/conf/core/conformance-op`, `conformance-success`.
#[test]
fn the_conformance_declaration_names_the_classes_contract_18() {
    let classes = fine("/conformance", JSON).body["conformsTo"].clone();
    for class in [
        "ogcapi-features-1/1.0/conf/core",
        "ogcapi-features-1/1.0/conf/oas30",
        "ogcapi-features-1/1.0/conf/geojson",
        "ogcapi-features-1/1.0/conf/html",
        "ogcapi-features-3/1.0/conf/queryables-query-parameters",
        "ogcapi-records-1/1.0/conf/record-core",
    ] {
        let class = format!("http://www.opengis.net/spec/{class}");
        assert!(classes.as_array().unwrap().contains(&json!(class)), "{class}");
    }
}

/// `/conf/oas30/definition-1`, `completeness`, `exceptions-codes`, `security`, and of
/// `/conf/core` `fc-limit-definition`, `fc-bbox-definition`, `fc-time-definition`.
#[test]
fn the_definition_has_every_path_and_parameter_contract_18() {
    let api = fine("/api", OPENAPI).body;
    let paths = api["paths"].as_object().unwrap();
    let collection = "/collections/{collectionId}";
    for path in ["/", "/api", "/conformance", "/collections", collection] {
        assert!(paths[path]["get"]["responses"]["200"].is_object(), "{path}");
    }
    assert!(paths.contains_key(&format!("{collection}/items/{{featureId}}")));
    let resolve = |parameter: &Value| match parameter["$ref"].as_str() {
        None => parameter.clone(),
        Some(place) => api.pointer(place.strip_prefix('#').unwrap()).unwrap().clone(),
    };
    let items = &paths["/collections/places/items"]["get"];
    let parameters: Vec<Value> =
        items["parameters"].as_array().unwrap().iter().map(resolve).collect();
    let schema = |name: &str| {
        let named = |parameter: &&Value| parameter["name"] == name;
        let found = parameters.iter().find(named).unwrap_or_else(|| panic!("{name}"));
        assert_eq!(
            (&found["in"], &found["style"], &found["explode"]),
            (&json!("query"), &json!("form"), &json!(false))
        );
        found["schema"].clone()
    };
    assert_eq!(
        schema("limit"),
        json!({ "type": "integer", "minimum": 1, "maximum": 10_000, "default": 10 })
    );
    assert_eq!(
        schema("bbox"),
        json!({ "type": "array", "minItems": 4, "maxItems": 6, "items": { "type": "number" } })
    );
    assert_eq!(schema("datetime"), json!({ "type": "string" }));
    assert_eq!(
        (&schema("name")["type"], &schema("date")["format"]),
        (&json!("string"), &json!("date"))
    );
    assert!(parameters.iter().all(|parameter| parameter["name"] != "geometry_wkt"));
    for status in ["400", "401", "404", "429"] {
        let problem = resolve(&items["responses"][status]);
        assert!(problem["content"]["application/problem+json"].is_object(), "{status}");
    }
    assert!(items["security"].as_array().unwrap().contains(&json!({ "header": [] })));
    let records = &api["components"]["parameters"]["recordLimit"]["schema"];
    assert_eq!((&records["maximum"], &records["default"]), (&json!(1_000), &json!(10)));
    let encodings = schema("f")["enum"].as_array().unwrap().clone();
    for encoding in &encodings {
        let address = format!("/collections/places/items?f={}", encoding.as_str().unwrap());
        assert!([200, 303].contains(&get(&address).status), "{address}");
    }
    let content = items["responses"]["200"]["content"].as_object().unwrap();
    assert!(content.contains_key("application/geo+json") && content.contains_key("text/csv"));
    assert!(encodings.len() > 2 && encodings.contains(&json!("csv")), "{encodings:?}");
    // Every reference leads somewhere, and every operation has a name of its own.
    let text = api.to_string();
    for place in text.split("\"$ref\":\"#").skip(1) {
        assert!(api.pointer(place.split('"').next().unwrap()).is_some(), "{place:.40}");
    }
    let names: Vec<&Value> = paths.values().map(|path| &path["get"]["operationId"]).collect();
    assert!(names.iter().enumerate().all(|(at, name)| !names[..at].contains(name)), "{names:?}");
}

/// `/conf/core/fc-md-op`, `fc-md-success`, `fc-md-links`, `fc-md-items`, `fc-md-items-links`,
/// `fc-md-extent`, `fc-md-extent-multi`, `sfc-md-op`, `sfc-md-success`.
#[test]
fn collections_are_the_datasets_with_geometry_contract_18() {
    let list = fine("/collections", JSON);
    assert_eq!(list.links("self"), [format!("{BASE}/collections")]);
    assert_eq!(list.links("alternate"), [format!("{BASE}/collections?f=html")]);
    let collections = list.body["collections"].as_array().unwrap();
    let ids: Vec<&Value> = collections.iter().map(|collection| &collection["id"]).collect();
    assert_eq!(ids, ["places", "catalogue"]);
    let places = &collections[0];
    assert_eq!(links_in(places, "items")[0], format!("{BASE}/collections/places/items"));
    assert_eq!(
        links_in(places, "http://www.opengis.net/def/rel/ogc/1.0/queryables"),
        [format!("{BASE}/collections/places/queryables")]
    );
    assert_eq!(places["itemType"], "feature");
    // Clients that read one ask for it by parameters, which Part 1 does not have.
    assert!(places.get("crs").is_none());
    // Across 180°: all, then its parts.
    let [south, north] = [-46.5, -36.8];
    let boxes = json!([
        [-180.0, south, 180.0, north],
        [168.3, south, 180.0, north],
        [-180.0, south, -176.5, north]
    ]);
    assert_eq!(places["extent"]["spatial"]["bbox"], boxes);
    assert_eq!(
        places["extent"]["temporal"]["interval"],
        json!([["2024-01-01T00:00:00Z", "2024-01-01T23:59:59Z"]])
    );
    for collection in collections {
        let id = collection["id"].as_str().unwrap();
        assert_eq!(&fine(&format!("/collections/{id}"), JSON).body, collection);
    }
    for missing in ["codes", "nothing", "Places", "0", "_a", "%2e%2e", "a%20b"] {
        assert_eq!(get(&format!("/collections/{missing}")).status, 404, "{missing}");
        assert_eq!(get(&format!("/collections/{missing}/items")).status, 404, "{missing}");
        assert_eq!(get(&format!("/collections/{missing}/queryables")).status, 404, "{missing}");
    }
}

/// 1,500 collections come in one document, 4,000 in two.
#[test]
fn all_collections_are_listed_within_the_bounds_of_a_request_contract_18() {
    let catalogue = SampleCatalogue::new();
    let query = DatasetQuery { columns: false, ..DatasetQuery::page(10) };
    let Fact::Datasets((sample, ..)) = catalogue.answer(&Question::Datasets(query)) else {
        panic!()
    };
    let of = |at: usize| Dataset { name: format!("d{at}"), ..sample[2].clone() };
    let host = |all: usize, told_at_most: u32| {
        move |question: &Question| match question {
            Question::Datasets(query) if query.limit > told_at_most => {
                Fact::Refused(Refusal::new(413, "too much"))
            }
            Question::Datasets(query) => {
                assert_eq!(query.spatial, Some(true));
                let first: usize = query.after.as_ref().map_or(0, |after| after.parse().unwrap());
                let end = (first + query.limit as usize).min(all);
                let next = (end < all).then(|| end.to_string());
                Fact::Datasets(((first..end).map(of).collect(), all as u64, next))
            }
            Question::Formats => Fact::Formats(Vec::new()),
            _ => panic!("{question:?}"),
        }
    };
    let list = |address: &str, all, told_at_most| {
        let request = Example::get(address, 0).request;
        let (reply, _) = ask(&request, host(all, told_at_most));
        let Reply::Document(document) = reply else { panic!("{reply:?}") };
        assert_eq!(document.status, 200);
        let body: Value = serde_json::from_slice(&document.body).unwrap();
        let next = links_in(&body, "next").first().map(|next| (*next).to_owned());
        (body["collections"].as_array().unwrap().len(), next)
    };
    assert_eq!(list("/collections", 1_500, 1_000), (1_501, None));
    let (listed, next) = list("/collections", 4_000, 1_000);
    assert_eq!((listed, next.as_deref()), (3_000, Some("/collections?after=3000")));
    assert_eq!(list("/collections?after=3000", 4_000, 1_000), (1_001, None));
    // Datasets so large that the host tells few at once.
    assert_eq!(list("/collections", 200, 125), (201, None));

    // The definition of many does not grow with them.
    let api = |all, told_at_most| {
        let request = Example::get("/api", 0).request;
        let (reply, _) = ask(&request, host(all, told_at_most));
        let Reply::Document(document) = reply else { panic!("{reply:?}") };
        let body: Value = serde_json::from_slice(&document.body).unwrap();
        body["paths"].as_object().unwrap().len()
    };
    assert_eq!((api(200, 1_000), api(201, 1_000), api(200, 100)), (209, 9, 9));
}

/// `/conf/core/query-param-unknown`, `query-param-invalid`.
#[test]
fn unknown_and_invalid_parameters_are_400_contract_18() {
    for address in [
        "/?x=1",
        "/conformance?limit=1",
        "/api?f=xml",
        "/collections?bbox=1,2,3,4",
        "/collections/places?limit=1",
        "/collections/places/queryables?x=",
        "/collections/places/items?colour=red",
        "/collections/places/items?geometry_wkt=POINT(1%201)",
        "/collections/places/items?crs=http://www.opengis.net/def/crs/EPSG/0/4326",
        "/collections/places/items?offset=1",
        "/collections/places/items?limit=0",
        "/collections/places/items?limit=-1",
        "/collections/places/items?limit=ten",
        "/collections/places/items?limit=",
        "/collections/places/items?limit=1&limit=2",
        "/collections/places/items?bbox=1,2,3",
        "/collections/places/items?bbox=1,2,3,4,5",
        "/collections/places/items?bbox=1,2,3,north",
        "/collections/places/items?bbox=1,2,3,NaN",
        "/collections/places/items?bbox=1,2,9,3,4,0",
        "/collections/places/items?datetime=yesterday",
        "/collections/places/items?datetime=2024-02-30",
        "/collections/places/items?datetime=2024-02-01/2024-01-01",
        "/collections/places/items?datetime=../..",
        "/collections/places/items?datetime=/",
        "/collections/places/items?datetime=2024-01-01/2024-01-02/2024-01-03",
        "/collections/places/items?date=soon",
        "/collections/places/items?as_of=soon",
        "/collections/places/items?cursor=x",
        "/collections/places/items?f=gml",
        "/collections/places/items/Auckland?limit=1",
        "/collections/places/items/Auckland?as_of=soon",
        "/collections/places/items/nowhere?as_of=soon",
        "/collections/catalogue/items?colour=red",
        "/collections/catalogue/items?limit=0",
        "/collections/catalogue/items?offset=-1",
        "/collections/catalogue/items?q=,",
        "/collections/catalogue/items?q=a,b,c,d,e,f,g,h,i",
        "/collections/catalogue/items?ids=codes&q=codes",
    ] {
        let answer = get(address);
        assert_eq!(answer.status, 400, "{address}: {}", answer.body);
        assert_eq!(answer.media_type, "application/problem+json", "{address}");
        assert_eq!(answer.body["status"], 400);
        assert!(answer.body["detail"].as_str().unwrap().len() > 10, "{}", answer.body);
        assert!(answer.body["code"].is_string() && answer.body["title"] == "Bad Request");
    }
}

#[test]
fn refusals_of_the_host_are_problem_documents_contract_18() {
    let items = "/collections/places/items";
    let status = |address: &str, status| refused(address, status, "a_code").status;
    assert_eq!((status(items, 422), status(items, 404), status(items, 410)), (400, 404, 410));
    // One feature is not there where its id is no key; what else is wrong is a parameter.
    let one = format!("{items}/7");
    for (places, expected) in [
        (&["where.count"][..], 404),
        (&["where.count", "where.day"], 404),
        (&["row"], 404),
        (&["name"], 404),
        (&["as_of"], 400),
        (&["format"], 400),
        (&["where.count", "as_of"], 400),
        (&["where"], 400),
    ] {
        assert_eq!(invalid(&one, places), expected, "{places:?}");
    }
    assert_eq!((status(&one, 422), status(&one, 413)), (400, 413));
    assert_eq!(invalid(items, &["where.count"]), 400);
    let limited = refused(items, 429, "burst");
    let title = &limited.body["title"];
    assert_eq!(
        (limited.status, title, &limited.body["code"]),
        (429, &json!("Too Many Requests"), &json!("burst"))
    );
}

/// `/conf/html/content`: the pages of the catalogue stand for it.
#[test]
fn browsers_are_led_to_the_pages_of_the_catalogue_contract_18() {
    let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    for (address, page) in [
        ("/", "/"),
        ("/collections", "/"),
        ("/collections/places", "/datasets/places"),
        ("/collections/places/queryables", "/datasets/places"),
        ("/collections/places/items?limit=3", "/datasets/places"),
        ("/collections/places/items/Auckland", "/datasets/places"),
        ("/collections/catalogue/items", "/"),
        ("/collections/catalogue/items/codes", "/datasets/codes"),
    ] {
        let answer = get_as(address, browser);
        assert_eq!((answer.status, answer.location.as_deref()), (303, Some(page)), "{address}");
        assert_eq!(get_as(address, "application/geo+json, application/json").status, 200);
        assert_eq!(get_as(address, "*/*").status, 200);
        assert_eq!(get_as(address, "application/gml+xml").status, 406, "{address}");
    }
    assert_eq!(get("/?f=html").location.as_deref(), Some("/"));
    let quick = get_as("/api", "application/vnd.oai.openapi+json;version=3.0, application/json");
    assert_eq!((quick.status, quick.media_type.as_str()), (200, OPENAPI));
}

#[test]
fn text_is_in_the_language_that_a_client_would_have_contract_18() {
    let title = "Ngā hua o te kererū";
    for (address, place) in [
        ("/collections", "/collections/0/title"),
        ("/collections/places", "/title"),
        ("/collections/places/queryables", "/title"),
        ("/collections/catalogue/items/places", "/properties/title"),
        ("/collections/catalogue/items?ids=places", "/features/0/properties/title"),
        ("/collections/catalogue/items?offset=2", "/features/0/properties/title"),
    ] {
        let titled = |language| get_in(address, language).body.pointer(place).cloned().unwrap();
        for first in ["mi, en;q=0.5", "en;q=0.1, mi", "*, en;q=0.4, mi;q=0.5"] {
            assert_eq!(titled(first), title, "{address}: {first}");
        }
        for main in ["*", "en, mi;q=0.9", "mi;q=0, en", "fr"] {
            assert_eq!(titled(main), titled("en"), "{address}: {main}");
        }
        assert_ne!(titled("en"), title, "{address}");
    }
    // Of one dataset it is known which languages there are; `en` is the main one.
    for (address, place) in [
        ("/collections/places", "/title"),
        ("/collections/places/queryables", "/title"),
        ("/collections/catalogue/items/places", "/properties/title"),
    ] {
        let titled = |language| get_in(address, language).body.pointer(place).cloned().unwrap();
        assert_eq!(titled("fr, de;q=0.9, mi;q=0.5, en;q=0.4"), title, "{address}");
        assert_eq!(titled("fr, mi;q=0.5, en;q=0.6"), titled("en"), "{address}");
    }
}
