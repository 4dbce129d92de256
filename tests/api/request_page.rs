//! The page that makes a request for rows (contract-15-request-page).

use serde_json::json;
use yearbook_domain::Plan;
use yearbook_tests::app::{TestApp, harvest, parks};

async fn started() -> TestApp {
    let app = TestApp::start().await;
    app.publish(&harvest()).await;
    app.publish(&parks()).await;
    app
}

/// The address that a page shows, as a path.
fn shown_address(page: &str) -> String {
    let start = page.find("/v1/series/").unwrap_or_else(|| panic!("no address in {page}"));
    let end = page[start..].find('<').unwrap() + start;
    page[start..end].replace("&#38;", "&").replace("&amp;", "&")
}

#[tokio::test]
async fn a_page_lists_what_there_is_to_choose_and_needs_no_key_contract_15() {
    let app = started().await;
    let page = app.get("/datasets/harvest/request").send().await;
    assert_eq!(page.status, 200, "{}", page.text());
    let text = page.text();
    for part in [
        "name=\"where.region\" multiple",
        "<option value=\"Māori land\">",
        "<option value=\"Waikato, north\">",
        "name=\"start\" type=\"date\"",
        "name=\"last\" value=\"1\"",
        "<option value=\"value\">value</option>",
        "<option value=\"csv\">",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    assert!(!text.contains("Your request"), "nothing was asked for");
    let parks = app.get("/datasets/parks/request").send().await.text();
    assert!(!parks.contains("type=\"date\""), "there is no date axis");
}

#[tokio::test]
async fn the_address_that_a_form_makes_reads_what_was_chosen_contract_15() {
    let app = started().await;
    let key = app.key(Plan::Pro).await;
    let form = "where.region=M%C4%81ori+land&where.region=Auckland&where.final=&start=&end=2021-12-31\
                &columns=region&columns=date&last=1&format=csv";
    let page = app.get(&format!("/datasets/harvest/request?{form}")).send().await.text();
    let address = shown_address(&page);
    let rows = app.get(&address).key(&key).send().await;
    assert_eq!(rows.status, 200, "{address}: {}", rows.text());
    assert_eq!(
        rows.text().lines().collect::<Vec<_>>(),
        ["region,date", "Auckland,2021-12-01", "Māori land,2021-12-01"],
        "{address}"
    );
    // What was chosen stays chosen.
    assert!(page.contains("<option value=\"Auckland\" selected>"), "{page}");
    assert!(page.contains("<option value=\"date\" selected>"), "{page}");
    assert!(page.contains("name=\"last\" value=\"1\" checked"), "{page}");
}

#[tokio::test]
async fn a_form_leaves_no_row_out_in_silence_contract_15() {
    let app = started().await;
    let shown = async |query: &str| {
        let page = app.get(&format!("/datasets/parks/request?{query}")).send().await.text();
        shown_address(&page)
    };
    // With geometry `limit=0` is refused, so a narrowed request names the rows of the table.
    assert!(shown("where.park=Domain&format=csv").await.ends_with("&limit=3"));
    assert!(shown("columns=park&format=csv").await.ends_with("&limit=1000"));
    // It has three rows.
    for page in ["/datasets/parks", "/datasets/parks/request?columns=park&format=csv"] {
        let page = app.get(page).send().await.text();
        assert!(!page.contains("the first 1,000 rows"), "{page}");
    }
}

#[tokio::test]
async fn a_form_says_what_is_wrong_with_it_contract_15() {
    let app = started().await;
    let wrong = "start=2021-13-01&where.nowhere=%3Cscript%3E";
    let page = app.get(&format!("/datasets/harvest/request?{wrong}")).send().await;
    assert_eq!(page.status, 200);
    let text = page.text();
    assert!(text.contains("Please mend this first"), "{text}");
    assert!(text.contains("start: Input should be a valid date"), "{text}");
    assert!(!text.contains("Your request") && !text.contains("<script>"), "{text}");
    assert_eq!(app.get("/datasets/none/request").send().await.status, 404);
}

#[tokio::test]
async fn a_form_keeps_its_language_and_says_what_it_cannot_choose_contract_15() {
    let app = TestApp::start().await;
    let folder = tempfile::tempdir().unwrap();
    let rows = "date,area,people\n2025-01-01,\"\",1\n2025-01-01,L,2\n2025-01-01,M,3\n";
    std::fs::write(folder.path().join("areas.csv"), rows).unwrap();
    let text =
        |name: &str| json!({"name": name, "type": "string", "constraints": {"required": true}});
    let descriptor = json!({
        "name": "areas", "languages": ["en", "mi"], "title": {"en": "Areas", "mi": "Ngā rohe"},
        "licenses": [{"name": "CC-BY-4.0"}], "sources": [{"title": "Stats"}],
        "resources": [{"path": "areas.csv", "schema": {
            "fields": [{"name": "date", "type": "date"}, text("area"),
                {"name": "people", "type": "integer"}],
            "primaryKey": ["date", "area"],
        }}],
        "yearbook": {"namespace": "stats", "dimensions": ["area"],
            "labels": {"area": {"L": "Low", "M": {"en": "Middle", "mi": "Waenga"}}}},
    });
    std::fs::write(folder.path().join("datapackage.json"), descriptor.to_string()).unwrap();
    app.publish_package(folder.path(), yearbook_catalog::clock::now()).await;
    let page = app.get("/datasets/areas?lang=mi").send().await.text();
    assert!(page.contains("/datasets/areas/request?lang=mi\""), "{page}");
    let page = app.get("/datasets/areas").header("accept-language", "mi").send().await.text();
    assert!(page.contains("/datasets/areas/request\""), "nobody asked for it in the address");
    let page = app.get("/datasets/areas/request?lang=mi").send().await.text();
    for part in [
        "/datasets/areas?lang=mi\"",
        "<option value=\"M\" lang=\"mi\">Waenga (M)</option>",
        "<option value=\"L\">Low (L)</option>",
        "Some rows have the empty text",
        "<code>where.area=</code>",
    ] {
        assert!(page.contains(part), "{part} is not in {page}");
    }
    let key = app.key(Plan::Pro).await;
    let rows = app.get("/v1/datasets/areas/data?where.area=&format=csv").key(&key).send().await;
    assert_eq!(rows.text().lines().count(), 2, "{}", rows.text());
}

#[tokio::test]
async fn a_form_offers_no_value_that_a_browser_would_change_contract_15() {
    let app = TestApp::start().await;
    let rows = "date,region,value,final\n2024-01-01,\"North\nEast\",1.5,true\n\
                2024-01-01,\"A\u{1}B\",2.5,true\n2024-01-01,Plain,3.5,true\n";
    app.publish(&harvest().with_rows(rows)).await;
    let page = app.get("/datasets/harvest/request").send().await.text();
    assert!(page.contains("<option value=\"Plain\">"), "{page}");
    assert!(!page.contains("North") && !page.contains('␁'), "{page}");
    assert!(page.contains("<code>where.region=</code>"), "{page}");
    // As the page says to write it.
    let form = "where.region=North%0AEast&format=csv";
    let page = app.get(&format!("/datasets/harvest/request?{form}")).send().await.text();
    let key = app.key(Plan::Pro).await;
    let rows = app.get(&shown_address(&page)).key(&key).send().await;
    assert_eq!(rows.text(), "date,region,value,final\n2024-01-01,\"North\nEast\",1.5,true\n");
}
