//! Pages of the catalogue (contract-9): statuses, headers, escaping, and bytes that depend on
//! nothing but the catalog. `tests/external/pages` looks at them in a browser.

use yearbook_domain::{DatasetName, Millis};
use yearbook_server::{PublicUrl, ServiceSettings};
use yearbook_tests::app::{HostFixture, Reply, TestApp, TestTable, harvest, parks, unbounded};

/// `Accept` as browsers send it.
const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

/// Pages that are there once `harvest` and `parks` are published.
const PAGES: [&str; 12] = [
    "/",
    "/datasets",
    "/datasets?q=harvest",
    "/datasets?shape=series",
    "/datasets/harvest",
    "/datasets/parks",
    "/datasets/harvest/versions",
    "/datasets/harvest/request",
    "/datasets/harvest/request?where.region=Auckland&start=2020-02-01",
    "/calendar",
    "/formats",
    "/integrations",
];

const ASSETS: [&str; 3] = ["/assets/style.css", "/assets/copy.js", "/assets/icon.svg"];

async fn started() -> TestApp {
    let app = TestApp::start().await;
    app.publish(&harvest()).await;
    app.publish(&parks()).await;
    app
}

/// The page at `path` once the search has found `total` datasets there, which it does soon after
/// they were published.
async fn found(app: &TestApp, path: &str, summary: &str) -> String {
    for _ in 0..200 {
        let text = app.get(path).send().await.text();
        if text.contains(summary) {
            return text;
        }
        tokio::time::sleep(std::time::Duration::from_millis(25)).await;
    }
    panic!("{path} never says {summary:?}: {}", app.get(path).send().await.text());
}

#[tokio::test]
async fn pages_need_no_key_and_keep_to_themselves_contract_9() {
    let app = started().await;
    for path in PAGES.iter().chain(&ASSETS) {
        let reply = app.get(path).header("accept", BROWSER).send().await;
        assert_eq!(reply.status, 200, "{path}: {}", reply.text());
        let policy = reply.header("content-security-policy");
        assert!(
            policy.starts_with("default-src 'none';") && !policy.contains("unsafe"),
            "{policy}"
        );
        assert_eq!(reply.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(reply.header("cache-control"), "no-cache", "{path}");
        let text = reply.text();
        for forbidden in ["style=", "onclick", "javascript:", "src=\"http"] {
            assert!(!text.contains(forbidden), "{path} has {forbidden}");
        }
    }
    for path in PAGES {
        let reply = app.get(path).send().await;
        assert_eq!(reply.header("content-type"), "text/html; charset=utf-8", "{path}");
    }
}

#[tokio::test]
async fn pages_answer_head_and_conditions_contract_9() {
    let app = started().await;
    found(&app, "/datasets", "2 datasets").await;
    for path in PAGES.iter().chain(&ASSETS) {
        let whole = app.get(path).send().await;
        let tag = whole.header("etag");
        assert!(tag.starts_with('"') && tag.len() > 10, "{path}: {tag}");
        let head = app.head(path).send().await;
        assert_eq!(
            (head.status.as_u16(), head.header("etag"), head.body.len()),
            (200, tag.clone(), 0)
        );
        let unchanged = app.get(path).header("if-none-match", &tag).send().await;
        assert_eq!((unchanged.status.as_u16(), unchanged.body.len()), (304, 0), "{path}");
        assert_eq!(unchanged.header("etag"), tag);
        let packed = app.get(path).header("accept-encoding", "zstd").send().await;
        if packed.header("content-encoding") == "zstd" {
            assert_ne!(packed.header("etag"), tag, "{path}: a coding has its own tag");
            assert_eq!(zstd::decode_all(&packed.body[..]).unwrap(), whole.body, "{path}");
            // The second one comes from memory.
            let again = app.get(path).header("accept-encoding", "zstd").send().await;
            assert_eq!(again.body, packed.body);
        }
    }
}

#[tokio::test]
async fn no_html_is_served_below_v1_contract_9() {
    let app = started().await;
    for path in
        ["/v1", "/v1/", "/v1/datasets", "/v1/datasets/none/preview", "/v1/datasets/harvest/preview"]
    {
        let reply = app.get(path).header("accept", "text/html").send().await;
        assert!(!reply.header("content-type").contains("html"), "{path}");
        assert!(!reply.text().contains("<html"), "{path}");
    }
}

#[tokio::test]
async fn without_pages_every_address_of_them_is_404_contract_9() {
    let mut settings = unbounded();
    settings.pages.enabled = false;
    let app = TestApp::with(settings).await;
    app.publish(&harvest()).await;
    app.publish(&parks()).await;
    let others = [
        "/datasets/harvest/chart.svg",
        "/datasets/harvest.jsonld",
        "/datasets/harvest/croissant.json",
        "/feed.xml",
        "/datasets/harvest/feed.xml",
        "/sitemap.xml",
        "/robots.txt",
        "/opensearch.xml",
        "/catalog.jsonld",
        "/calendar.ics",
        "/calendar.json",
        "/calendar/feed.xml",
        "/signup",
        "/account",
        "/datasets/",
    ];
    for path in PAGES.iter().chain(&ASSETS).chain(&others) {
        let reply = app.get(path).header("accept", BROWSER).send().await;
        assert_eq!(reply.outcome(), (404, "no_such_route".to_owned()), "{path}");
        assert_eq!(reply.header("content-type"), "application/json", "{path}");
    }
}

#[tokio::test]
async fn two_hosts_and_a_restart_render_the_same_bytes_contract_9() {
    let fixture = HostFixture::default();
    let one = TestApp::on_fixture(&fixture).await;
    one.publish(&harvest()).await;
    one.publish(&parks()).await;
    let other = TestApp::on_fixture(&fixture).await;
    for app in [&one, &other] {
        found(app, "/datasets", "2 datasets").await;
    }
    let mut texts = Vec::new();
    for path in PAGES {
        let (here, there) = (one.get(path).send().await, other.get(path).send().await);
        assert_eq!(here.text(), there.text(), "{path}");
        assert_eq!(here.header("etag"), there.header("etag"), "{path}");
        texts.push(here.body);
    }
    drop((one, other));
    let restarted = TestApp::on_fixture(&fixture).await;
    found(&restarted, "/datasets", "2 datasets").await;
    for (path, text) in PAGES.iter().zip(texts) {
        assert_eq!(restarted.get(path).send().await.body, text, "{path}");
    }
}

#[tokio::test]
async fn the_home_page_says_what_there_is_and_how_to_get_a_key_contract_9() {
    let app = started().await;
    let text = found(&app, "/", "2 datasets from 2 agencies").await;
    for part in [
        "role=\"search\" action=\"/datasets\"",
        "Newest refreshes",
        "<a href=\"/datasets/harvest\">Title of harvest</a>",
        "Topics",
        "Agencies",
        "/datasets?agency=Ministry%20of%20Harvest",
        "Get a key",
        "href=\"/calendar\"",
        "href=\"/formats\"",
        "href=\"/integrations\"",
    ] {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
}

#[tokio::test]
async fn the_page_of_a_dataset_has_every_part_contract_9() {
    let app = started().await;
    let id = app.publish(&harvest().with_appended("2024-01-01,Nelson,1.5,true\n")).await;
    let reply = app.get("/datasets/harvest").send().await;
    let text = reply.text();
    for part in [
        "<h1 class=\"isolate\">Title of harvest</h1>",
        "<code>harvest</code>",
        "Ministry of Harvest",
        "Licence",
        "http://test.example/v1/series/harvest/data",
        "Refreshed",
        "Checked",
        "Figures over all rows",
        "Latest 5 rows of 121",
        "2024-01-01",
        "Nelson",
        "<figcaption>curl</figcaption>",
        "<figcaption>Python</figcaption>",
        "<figcaption>R</figcaption>",
        "<figcaption>DuckDB</figcaption>",
        "<figcaption>Excel</figcaption>",
        "<figcaption>Spreadsheet</figcaption>",
        "yearbook_client.get(&#34;harvest&#34;)",
        "Citation of this version",
        "<th scope=\"col\">Unit</th>",
        "<th scope=\"col\">Role</th>",
        "application/ld+json",
    ] {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
    assert!(text.contains(&format!("/cite/harvest/{id}")), "{text}");
    // What the new version changed: one row came.
    let versions = text.split("id=\"versions-title\"").nth(1).unwrap();
    let current = versions.split("</tr>").nth(1).unwrap();
    assert!(current.contains(&id) && current.contains(">121<"), "{current}");
    let numbers: Vec<&str> = current
        .split("<td class=\"number\">")
        .skip(1)
        .filter_map(|cell| cell.split('<').next())
        .collect();
    assert_eq!(numbers, ["121", "1", "0", "0"], "{current}");
}

#[tokio::test]
async fn lines_open_a_dataset_where_an_adapter_is_loaded_contract_9() {
    let app = started().await;
    let page = async |path: &str| app.get(path).send().await.text();
    assert!(!page("/datasets/parks").await.contains("Open in"));
    for adapter in ["ogc", "mcp", "scripted", "sdmx"] {
        app.load(adapter);
    }
    let places = page("/datasets/parks").await;
    for part in [
        "<h3 id=\"open-in\">Open in</h3>",
        "<figcaption>QGIS</figcaption>",
        "<pre><code>http://test.example/api/ogc</code></pre>",
        "ogr2ogr parks.gpkg OAPIF:http://test.example/api/ogc parks",
        "<figcaption>Assistant</figcaption>",
        "&#34;url&#34;: &#34;http://test.example/api/mcp&#34;",
        "<figcaption>Scripted</figcaption>",
        "<pre><code>http://test.example/api/scripted</code></pre>",
    ] {
        assert!(places.contains(part), "no {part:?} in {places}");
    }
    // Features need geometry, and dataflows a key.
    let numbers = page("/datasets/harvest").await;
    assert!(numbers.contains("<figcaption>Assistant</figcaption>"), "{numbers}");
    for part in ["http://test.example/api/sdmx/2.1", "client.data(&#34;HARVEST&#34;)"] {
        assert!(numbers.contains(part), "no {part:?} in {numbers}");
    }
    assert!(!numbers.contains("QGIS") && !numbers.contains("GDAL"), "{numbers}");
}

#[tokio::test]
async fn rendering_a_page_opens_no_stored_file_contract_9() {
    let app = started().await;
    found(&app, "/datasets", "2 datasets").await;
    let before = app.files.counts().reads;
    for path in PAGES {
        assert_eq!(app.get(path).send().await.status, 200, "{path}");
    }
    assert_eq!(app.files.counts().reads, before);
    // A stored file that is gone is not missed either.
    std::fs::remove_dir_all(app.folder.path().join("objects")).unwrap();
    let other = app.get("/datasets/harvest").header("host", "other.example").send().await;
    assert_eq!(other.status, 200);
}

#[tokio::test]
async fn a_retired_dataset_is_410_with_its_date_and_an_unknown_one_404_contract_9() {
    let app = started().await;
    app.store.retire_dataset(&DatasetName::parse("parks").unwrap()).await.unwrap();
    app.catalog_cache.refresh().await.unwrap();
    let today = yearbook_catalog::clock::now().date();
    let reply = app.get("/datasets/parks").header("accept", BROWSER).send().await;
    assert_eq!(reply.outcome(), (410, "dataset_retired".to_owned()));
    assert!(reply.text().contains(&format!("was retired on {today}")), "{}", reply.text());
    assert!(reply.header("content-security-policy").starts_with("default-src 'none';"));
    let plain = app.get("/datasets/parks").send().await;
    assert_eq!(plain.header("content-type"), "application/json");
    assert!(plain.json()["detail"].as_str().unwrap().contains(today.as_str()));
    assert_eq!(app.get("/v1/datasets/parks/preview").send().await.status, 404);
    let unknown = app.get("/datasets/none").header("accept", BROWSER).send().await;
    assert_eq!(unknown.outcome(), (404, "no_such_dataset".to_owned()));
    // Published again, it is back.
    app.publish(&parks()).await;
    assert_eq!(app.get("/datasets/parks").send().await.status, 200);
}

#[tokio::test]
async fn errors_are_pages_where_a_client_wants_them_contract_9() {
    let mut settings = ServiceSettings::default();
    settings.limits.burst_per_second = 1;
    settings.limits.burst_size = 2;
    let app = TestApp::with(settings).await;
    let ask = async |path: &str, accept: &str| app.get(path).header("accept", accept).send().await;
    let page = ask("/nowhere?%3Cscript%3Ealert(1)%3C/script%3E", BROWSER).await;
    assert_eq!(page.outcome(), (404, "no_such_route".to_owned()));
    assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
    assert_eq!(
        (page.header("vary"), page.header("cache-control")),
        ("Accept".to_owned(), "no-store".to_owned())
    );
    assert!(page.text().contains("No such page") && !page.text().contains("<script>alert"));
    assert!(page.text().contains(&page.header("x-request-id")));
    for accept in ["*/*", "application/json", "application/json, text/html;q=0.5"] {
        assert_eq!(
            ask("/nowhere", accept).await.header("content-type"),
            "application/json",
            "{accept}"
        );
    }
    for _ in 0..2 {
        ask("/formats", BROWSER).await;
    }
    let refused = ask("/formats", BROWSER).await;
    assert_eq!(refused.outcome(), (429, "slow_down".to_owned()));
    assert_eq!(refused.header("retry-after"), "1");
    assert!(refused.text().contains("Too many requests"), "{}", refused.text());
}

#[tokio::test]
async fn a_slash_at_the_end_leads_to_the_page_contract_9() {
    let app = started().await;
    for (path, location) in [
        ("/datasets/", "../datasets"),
        ("/datasets/harvest/", "../harvest"),
        ("/calendar/", "../calendar"),
        ("/formats/?x=1", "../formats?x=1"),
    ] {
        let reply = app.get(path).send().await;
        assert_eq!(
            (reply.status.as_u16(), reply.header("location")),
            (308, location.to_owned()),
            "{path}"
        );
    }
}

/// A table whose words try to leave their places.
fn hostile() -> TestTable {
    let tomorrow = Millis(yearbook_catalog::clock::now().0 + 86_400_000).to_rfc3339();
    let text = "</script><script>alert(1)</script><b onmouseover=x>\"'&\u{202e}abc 🌏";
    harvest()
        .named("hostile")
        .with("/title", text.into())
        .with("/description", format!("{text}\n\n{}", "x".repeat(10_000)).into())
        .with("/keywords", vec![text].into())
        .with("/yearbook/source", text.into())
        .with("/yearbook/attribution_text", text.into())
        .with(
            "/sources",
            serde_json::json!([{"title": text, "path": "https://example.org/?a=%22%3E"}]),
        )
        .with("/resources/0/schema/fields/2/unit", text.into())
        .with("/resources/0/schema/fields/2/description", text.into())
        .with("/yearbook/releases", serde_json::json!([{"at": tomorrow, "title": text}]))
        .with_rows("date,region,value,final\n2024-01-01,</td><script>alert(2)</script>,1.5,true\n")
}

#[tokio::test]
async fn words_of_publishers_stay_words_contract_9() {
    let app = TestApp::start().await;
    app.publish(&hostile()).await;
    found(&app, "/datasets", "1 dataset").await;
    for path in [
        "/",
        "/datasets",
        "/datasets?q=%3Cscript%3Ealert(1)%3C/script%3E%22'",
        "/datasets?topic=%3C/script%3E%3Cscript%3E",
        "/datasets/hostile",
        "/datasets/hostile?series=%22%3E%3Cscript%3E",
        "/datasets/hostile/versions",
        "/calendar",
    ] {
        let reply = app.get(path).send().await;
        assert_eq!(reply.status, 200, "{path}");
        let text = reply.text();
        for broken in ["<script>alert", "<b onmouseover", "href=\"javascript:", "</td><script"] {
            assert!(!text.contains(broken), "{path} has {broken}");
        }
        let scripts = text.matches("<script").count();
        assert_eq!(scripts, text.matches("</script>").count(), "{path}");
    }
}

/// Links to values of one facet in a page.
fn facet_addresses(page: &str) -> Vec<String> {
    let facets = page.split("id=\"facets-title\"").nth(1).unwrap_or_default();
    let links = facets.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    // The foot of the page has links of its own.
    let links = links.filter(|link| link.starts_with("/datasets?"));
    links.map(|link| link.replace("&#38;", "&")).collect()
}

#[tokio::test]
async fn every_state_of_the_search_is_an_address_contract_9() {
    let app = started().await;
    let all = found(&app, "/datasets", "2 datasets").await;
    let addresses = facet_addresses(&all);
    assert!(addresses.iter().any(|address| address == "/datasets?shape=series"), "{addresses:?}");
    for address in &addresses {
        let page = app.get(address).send().await.text();
        let chosen = page.split("class=\"chosen\"").nth(1).expect(address);
        assert!(chosen.contains("href=\"/datasets\""), "{address} cannot be taken back");
        let found = if page.contains("1 dataset<") { 1 } else { 2 };
        assert_eq!(page.matches("<h3 class=\"isolate\">").count(), found, "{address}");
    }
    // Words stay when a facet is chosen, and the choice stays when words are sent.
    let page = app.get("/datasets?q=harvest&shape=series").send().await.text();
    assert!(page.contains("name=\"shape\" value=\"series\"") && page.contains("value=\"harvest\""));
    assert!(page.contains("1 dataset for “harvest”"), "{page}");
}

#[tokio::test]
async fn links_stand_under_the_public_address_contract_9() {
    let mut settings = unbounded();
    settings.server.public_url =
        Some(PublicUrl::try_from("https://example.org/statistics/".to_owned()).unwrap());
    let app = TestApp::with(settings).await;
    app.publish(&harvest()).await;
    let text = app.get("/datasets/harvest").send().await.text();
    assert!(text.contains("https://example.org/statistics/v1/series/harvest/data"));
    assert!(text.contains("href=\"/statistics/assets/style.css\""));
    assert!(!text.contains("test.example"), "the host of the request is not that of the links");
    for link in text.split("href=\"/").skip(1) {
        assert!(link.starts_with("statistics/"), "{}", &link[..40.min(link.len())]);
    }
}

#[tokio::test]
async fn long_cells_and_wide_tables_are_cut_contract_9() {
    let app = TestApp::start().await;
    let columns = 60;
    let names: Vec<String> = (0..columns).map(|index| format!("note_{index:03}")).collect();
    let csv = format!(
        "date,region,value,final,{}\n2024-01-01,Otago,1.5,true{}\n",
        names.join(","),
        format!(",{}", "ā".repeat(300)).repeat(columns)
    );
    let table = names.iter().fold(harvest(), |table, name| table.with_field(name, "string"));
    app.publish(&table.with_rows(&csv)).await;
    let text = app.get("/datasets/harvest").send().await.text();
    assert!(!text.contains(&"ā".repeat(201)), "a cell has 200 characters at most");
    assert!(text.contains("and 14 more columns"), "{text}");
    let latest = text.split("id=\"latest\"").nth(1).unwrap().split("</table>").next().unwrap();
    assert!(latest.matches("<th scope=\"col\"").count() <= 50);
}

/// A long table of counts and rates: `value` has a unit where `unit` is one.
fn counts_and_rates(unit: &serde_json::Value) -> TestTable {
    let rows = "date,region,value,final\n2024-01-01,count,2440,true\n2024-01-01,rate,0.003,true\n\
                2024-02-01,count,12071.0,true\n2024-02-01,rate,0.0625,true\n";
    harvest().named("mixed").with("/resources/0/schema/fields/2/unit", unit.clone()).with_rows(rows)
}

/// The cells of the table after `mark` in a page.
fn cells(page: &str, mark: &str) -> Vec<String> {
    let table = page.split(mark).nth(1).unwrap().split("</table>").next().unwrap();
    let cells = table
        .split("<td")
        .skip(1)
        .filter_map(|rest| Some(rest.split_once('>')?.1.split_once("</td>")?.0.to_owned()));
    cells.collect()
}

#[tokio::test]
async fn figures_of_several_kinds_have_no_range_contract_9() {
    let app = TestApp::start().await;
    app.publish(&counts_and_rates(&serde_json::Value::Null)).await;
    let page = app.get("/datasets/mixed").send().await.text();
    assert_eq!(cells(&page, "id=\"figures\""), ["4"], "points alone");
    assert!(page.contains("series may measure different things"), "{page}");
    assert_eq!(
        cells(&page, "id=\"series-label\""),
        ["2", "12,071", "2024-02-01", "2440", "12,071"]
    );
    let document = app.get("/datasets/mixed.jsonld").send().await.json();
    let variable = &document["variableMeasured"][0];
    assert_eq!((variable.get("minValue"), variable.get("maxValue")), (None, None), "{variable}");
    app.publish(&counts_and_rates(&"persons".into())).await;
    let page = app.get("/datasets/mixed").send().await.text();
    assert_eq!(cells(&page, "id=\"figures\""), ["4", "0.003", "12,071"]);
}

#[tokio::test]
async fn one_unit_is_shown_at_a_time_contract_15() {
    let app = TestApp::start().await;
    let rows = "date,region,value,final,rate,deaths\n2024-01-01,Nelson,7,true,0.5,3\n\
                2024-01-01,Tasman,9,true,0.25,4\n2024-02-01,Nelson,8,true,0.75,5\n";
    let table = harvest().named("vital").with_field("rate", "number");
    let table = table.with_field("deaths", "number").with_rows(rows);
    let table = ["people", "proportion", "people"].into_iter().zip([2, 4, 5]).fold(
        table.with("/yearbook/value_columns", vec!["value", "rate", "deaths"].into()),
        |table, (unit, field)| {
            table.with(&format!("/resources/0/schema/fields/{field}/unit"), unit.into())
        },
    );
    app.publish(&table).await;
    let page = app.get("/datasets/vital").send().await.text();
    // Figures stand by unit, and so do the links to other series: those of the same unit first.
    let figures = page.split("id=\"figures\"").nth(1).unwrap().split("</table>").next().unwrap();
    let order = |text: &str, words: &[&str]| {
        let places: Vec<usize> = words.iter().map(|word| text.find(word).unwrap()).collect();
        assert!(places.is_sorted(), "{words:?} at {places:?} in {text}");
    };
    let heads = [">people</th>", ">value</th>", ">deaths</th>", ">proportion</th>", ">rate</th>"];
    order(figures, &heads);
    let others = page.split("<summary>Other series").nth(1).unwrap().split("</details>").next();
    let links = ["people</p>", "Nelson, deaths", "Tasman, value", "proportion</p>", "Nelson, rate"];
    order(others.unwrap(), &links);
    assert!(page.contains("2 series in this table.") && !page.contains("more; all of them"));
    // The picture and its caption are of one series and state its unit.
    assert!(
        page.contains("Nelson, value</span> <span class=\"soft isolate\">Unit: people"),
        "{page}"
    );
    let link = others.unwrap().split("Nelson, rate").next().unwrap().rsplit("series=").next();
    let rate = link.unwrap().split('#').next().unwrap();
    let page = app.get(&format!("/datasets/vital?series={rate}")).send().await.text();
    assert!(
        page.contains("Nelson, rate</span> <span class=\"soft isolate\">Unit: proportion"),
        "{page}"
    );
    let others = page.split("<summary>Other series").nth(1).unwrap().split("</details>").next();
    order(others.unwrap(), &["proportion</p>", "Tasman, rate", "people</p>", "Nelson, value"]);
    let picture = app.get(&format!("/datasets/vital/chart.svg?series={rate}")).send().await.text();
    assert!(picture.contains("Line chart of rate (proportion) by date."), "{picture}");
}

#[tokio::test]
async fn numbers_of_a_column_are_printed_one_way_contract_9() {
    let app = TestApp::start().await;
    let rows = "date,region,value,final,year\n2024-01-01,a,2071.0,true,12024\n\
                2024-02-01,a,-12440.5,true,2024\n2024-03-01,a,2440,true,-1\n";
    let table = harvest().named("printed").with_field("year", "integer").with_rows(rows);
    app.publish(&table.with("/yearbook/value_columns", vec!["value"].into())).await;
    let page = app.get("/datasets/printed").send().await.text();
    let cells = cells(&page, "id=\"latest\"");
    let column = |index: usize| cells.iter().skip(index).step_by(5).collect::<Vec<_>>();
    assert_eq!(column(2), ["2440", "−12,440.5", "2071"]);
    assert_eq!(column(4), ["−1", "2024", "12024"]);
}

#[tokio::test]
async fn the_credit_stands_once_on_a_page_contract_9() {
    let app = started().await;
    for path in ["/datasets/harvest", "/datasets/parks", "/datasets/harvest/versions"] {
        let page = app.get(path).send().await.text();
        let seen = page.split("<body>").nth(1).unwrap();
        // A citation, which is there to be copied, has the credit line too.
        let cited = seen.split("<pre>").skip(1).filter_map(|rest| rest.split("</pre>").next());
        let cited: usize = cited.map(|text| text.matches("CC BY 4.0").count()).sum();
        assert_eq!(seen.matches("CC BY 4.0").count() - cited, 1, "{path}: {seen}");
        assert_eq!(seen.matches("https://licence.example/by").count(), 1, "{path}");
    }
}

#[tokio::test]
async fn pages_are_small_contract_9() {
    let app = started().await;
    let packed = async |path: &str| -> Reply {
        app.get(path).header("accept-encoding", "gzip").send().await
    };
    for path in PAGES {
        let reply = packed(path).await;
        assert!(reply.body.len() <= 12 << 10, "{path}: {} bytes", reply.body.len());
    }
    assert!(packed("/assets/style.css").await.body.len() <= 6 << 10);
}
