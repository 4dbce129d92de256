//! Pictures of rows (contract-9-svg): the format, how it is asked for, and `chart.svg`.

use yearbook_domain::{Millis, Plan};
use yearbook_sandbox::{Plugin, PluginSet};
use yearbook_server::ServiceSettings;
use yearbook_tests::app::{TestApp, harvest, parks, unbounded};
use yearbook_tests::components::component;

const CHART: &str = "/datasets/harvest/chart.svg";

async fn published() -> TestApp {
    let app = TestApp::start().await;
    app.publish(&harvest()).await;
    app.publish(&parks()).await;
    app
}

/// The text of the picture's description.
fn description(svg: &str) -> &str {
    let rest = svg.split("<desc id=\"desc\">").nth(1).unwrap_or_else(|| panic!("{svg}"));
    rest.split("</desc>").next().unwrap()
}

#[tokio::test]
async fn rows_become_a_line_chart_and_places_a_map_else_422_contract_9() {
    let app = published().await;
    let key = app.key(Plan::Enterprise).await;
    let get = async |path: &str| app.get(&format!("/v1/datasets/{path}")).key(&key).send().await;
    let chart = get("harvest/data?format=svg&limit=200").await;
    assert_eq!(
        (chart.status.as_u16(), chart.header("content-type").as_str()),
        (200, "image/svg+xml")
    );
    let text = chart.text();
    assert!(
        description(&text).contains("Auckland: 34 values; latest 390.5 on 2023-04-01"),
        "{text}"
    );
    assert!(text.contains("Ahuwhenua Māori, CC BY 4.0") && text.contains("role=\"img\""), "{text}");
    // The default limit of 100 rows holds, and the answer says that rows remain.
    let cut = get("harvest/data?format=svg").await;
    assert!(description(&cut.text()).contains("Drawn from 100 rows."));
    assert!(cut.header("link").contains("rel=\"next\""));
    let map = get("parks/data?format=svg").await.text();
    assert!(
        description(&map).starts_with("Map with a dot at the centre of each of 3 features."),
        "{map}"
    );
    assert!(map.contains("Council, CC BY 4.0"), "{map}");
    for path in
        ["harvest/data?format=svg&columns=region,value", "parks/data?format=svg&geometry=false"]
    {
        let declined = get(path).await;
        assert_eq!(declined.status, 422, "{path}");
        assert!(declined.text().contains("svg.x"), "{}", declined.text());
    }
    let one =
        get("harvest/data?format=svg&limit=200&svg.series=Auckland&svg.width=320&svg.theme=dark")
            .await;
    assert!(one.text().contains("viewBox=\"0 0 320 440\""), "{}", one.text());
    assert!(!one.text().contains("prefers-color-scheme"));
    let wrong = get("harvest/data?format=svg&svg.width=1&svg.theme=auto").await;
    assert!(wrong.status == 422 && wrong.text().contains("240 to 1600"), "{}", wrong.text());
}

#[tokio::test]
async fn a_feature_has_its_dot_at_one_place_in_both_pictures_contract_9() {
    let places = [
        "MULTILINESTRING ((-100 10, 100 10))",
        "MULTILINESTRING ((179 -44, -179 -44))",
        "MULTIPOLYGON (((177 -19, 180 -19, 180 -16, 177 -16, 177 -19)), ((-180 -17, -178 -17, -178 -16, -180 -16, -180 -17)))",
        "MULTIPOLYGON (((-180 -90, 180 -90, 180 -70, -180 -70, -180 -90)), EMPTY)",
        "MULTIPOINT (EMPTY, (179 1), (-179 3))",
        "MULTIPOINT ((-176.5 -44))",
    ];
    let rows = places.iter().enumerate().map(|(row, place)| format!("p{row},1,\"{place}\"\n"));
    let csv = format!("park,area,geometry_wkt\n{}", rows.collect::<String>());
    let app = TestApp::start().await;
    app.publish(&parks().with_rows(&csv)).await;
    let key = app.key(Plan::Enterprise).await;
    let answer =
        app.get("/v1/datasets/parks/data?format=svg&svg.map=dots").key(&key).send().await.text();
    let chart = app.get("/datasets/parks/chart.svg").send().await.text();
    let dots = |svg: &str| {
        let path = svg.split("<path class=\"s s0\"").nth(1).unwrap_or_else(|| panic!("{svg}"));
        path.split(" d=\"").nth(1).unwrap().split('"').next().unwrap().to_owned()
    };
    assert_eq!(dots(&answer).matches("h0").count(), places.len(), "{answer}");
    assert_eq!(dots(&answer), dots(&chart));
    // The picture of a preview has dots though rows have shapes.
    let shapes = app.get("/v1/datasets/parks/data?format=svg").key(&key).send().await.text();
    assert!(description(&shapes).starts_with("Map of the shapes of "), "{shapes}");
    assert!(description(&chart).starts_with("Map with a dot at the centre of each of "), "{chart}");
}

#[tokio::test]
async fn pictures_are_taken_by_format_and_accept_and_no_422_names_them_contract_9() {
    let app = published().await;
    let key = app.key(Plan::Enterprise).await;
    for (query, accept) in
        [("format=svg", "text/csv"), ("", "image/svg+xml"), ("", "image/avif, image/*;q=0.5")]
    {
        for method in ["GET", "HEAD"] {
            let path = format!("/v1/datasets/harvest/data?{query}");
            let reply = app.ask(method, &path).key(&key).header("accept", accept).send().await;
            assert_eq!(reply.header("content-type"), "image/svg+xml", "{query} {accept}");
        }
    }
    for route in ["data", "changes"] {
        let path = format!("/v1/datasets/harvest/{route}?format=xml");
        let unknown = app.get(&path).key(&key).send().await.json();
        assert_eq!(
            unknown["detail"][0]["msg"], "Input should be 'json', 'csv', 'arrow' or 'parquet'",
            "{route}"
        );
    }
    let described = app.get("/openapi.json").send().await.json();
    let formats = described["components"]["parameters"]["format"]["schema"]["enum"].to_string();
    assert!(formats.contains("\"svg\""), "{formats}");
    let data = &described["paths"]["/v1/datasets/{name}/data"]["get"];
    assert!(data["responses"]["200"]["content"]["image/svg+xml"].is_object(), "{data}");
    assert!(data["parameters"].to_string().contains("svg.series"), "{data}");
}

#[tokio::test]
async fn the_same_rows_are_the_same_picture_on_every_host_contract_9() {
    let mut bodies = Vec::new();
    for app in [published().await, published().await] {
        let key = app.key(Plan::Enterprise).await;
        let path = "/v1/datasets/harvest/data?format=svg&limit=200";
        let rows = app.get(path).key(&key).send().await;
        let again = app.get(path).key(&key).header("if-none-match", &rows.header("etag"));
        assert_eq!(again.send().await.status, 304);
        bodies.push((rows.body, app.get(CHART).send().await.body));
    }
    assert!(bodies[0] == bodies[1]);
}

#[tokio::test]
async fn the_chart_of_a_preview_is_drawn_from_stored_points_contract_9() {
    let app = published().await;
    let before = format!("{:?}", app.reads());
    let chart = app.get(CHART).send().await;
    assert_eq!(chart.status, 200, "{}", chart.text());
    assert_eq!(chart.header("content-type"), "image/svg+xml");
    assert!(chart.header("content-security-policy").starts_with("default-src 'none'"));
    assert_eq!(chart.header("x-service-attribution"), "Ahuwhenua Māori, CC BY 4.0");
    let text = chart.text();
    assert!(text.contains("Ahuwhenua Māori, CC BY 4.0 · Licence: Attribution 4.0"), "{text}");
    assert!(description(&text).contains("1 of 3 series is drawn."), "{text}");
    let head = app.head(CHART).send().await;
    assert_eq!((head.status.as_u16(), head.header("etag")), (200, chart.header("etag")));
    assert!(head.body.is_empty());
    let same = app.get(CHART).header("if-none-match", &chart.header("etag")).send().await;
    assert_eq!((same.status.as_u16(), same.body.len()), (304, 0));
    let other = app.get(&format!("{CHART}?series=Waikato,%20north")).send().await;
    assert!(description(&other.text()).contains("Waikato, north"), "{}", other.text());
    let unknown = app.get(&format!("{CHART}?series=Atlantis")).send().await;
    assert_eq!(unknown.outcome(), (404, "no_such_series".to_owned()));
    let narrow = app.get(&format!("{CHART}?width=320")).send().await;
    assert!(narrow.text().contains("viewBox=\"0 0 320 400\""), "{}", narrow.text());
    assert_eq!(app.get(&format!("{CHART}?width=5")).send().await.status, 422);
    let map = app.get("/datasets/parks/chart.svg").send().await.text();
    assert!(
        description(&map).starts_with("Map with a dot at the centre of each of 3 features."),
        "{map}"
    );
    assert_eq!(app.get("/datasets/nothing/chart.svg").send().await.status, 404);
    assert_eq!(format!("{:?}", app.reads()), before, "a stored file was read");
}

#[tokio::test]
async fn the_chart_is_off_with_the_pages_and_gone_without_a_plugin_contract_9() {
    let mut settings: ServiceSettings = unbounded();
    settings.pages.enabled = false;
    let off = TestApp::with(settings).await;
    off.publish(&harvest()).await;
    assert_eq!(off.get(CHART).send().await.outcome(), (404, "no_such_route".to_owned()));

    let app = published().await;
    assert!(app.get("/datasets/harvest").send().await.text().contains("chart.svg"));
    let current = app.registry.current();
    let others = current.encoders().filter(|encoder| !encoder.description().is_picture());
    let others: Vec<Plugin> = others.cloned().map(Plugin::Encoder).collect();
    app.registry.replace(PluginSet::new(&others, []));
    assert_eq!(app.get(CHART).send().await.outcome(), (404, "no_picture".to_owned()));
    let page = app.get("/datasets/harvest").send().await.text();
    assert!(!page.contains("chart.svg") && page.contains("<table"), "{page}");
}

#[tokio::test]
async fn the_page_embeds_the_chart_and_has_its_numbers_as_a_table_contract_9() {
    let app = published().await;
    let page = app.get("/datasets/harvest").send().await.text();
    let picture = page.split("<img ").nth(1).unwrap_or_else(|| panic!("{page}"));
    let picture = picture.split('>').next().unwrap();
    assert!(picture.contains("/datasets/harvest/chart.svg"), "{picture}");
    assert!(picture.contains("alt=\""), "{picture}");
    // Latest value of the series that is drawn, in a cell of its own.
    let chart = app.get(CHART).send().await.text();
    let latest = description(&chart).split("latest ").nth(1).unwrap().split(' ').next().unwrap();
    assert!(page.contains(&format!(">{latest}</td>")), "{latest}: {page}");
}

#[tokio::test]
async fn a_line_that_versions_revised_is_drawn_as_each_of_them_showed_it_contract_21() {
    let app = TestApp::start().await;
    let versions = [
        "2024-01-01,Nelson,1,true\n2024-01-02,Nelson,2,false\n2024-01-02,Otago,7,true\n",
        "2024-01-01,Nelson,1,true\n2024-01-02,Nelson,2.5,false\n2024-01-02,Otago,7,true\n",
        // Tells of nothing that was published before.
        "2024-01-01,Nelson,1,true\n2024-01-02,Nelson,2.5,false\n2024-01-02,Otago,7,true\n2024-01-03,Nelson,3,false\n",
        "2024-01-01,Nelson,1,true\n2024-01-02,Nelson,2,false\n2024-01-02,Otago,7,true\n2024-01-03,Nelson,4,false\n",
    ];
    for (day, rows) in versions.into_iter().enumerate() {
        let page = app.get("/datasets/harvest").send().await.text();
        assert!(day > 1 || !page.contains("revisions=true"), "{page}");
        let table = harvest().with_rows(&format!("date,region,value,final\n{rows}"));
        let time = format!("2024-03-{:02}T10:00:00Z", day + 1);
        app.publish_at(&table, Millis::parse_iso8601(&time).unwrap()).await;
    }

    let page = app.get("/datasets/harvest").send().await.text();
    let at = page.find("id=\"revised-points\"").unwrap();
    let table = &page[at..at + page[at..].find("</table>").unwrap()];
    let cells: Vec<&str> = table
        .split("<t")
        .filter(|cell| cell.starts_with("h ") || cell.starts_with("d "))
        .filter_map(|cell| Some(cell.split_once('>')?.1.split_once('<')?.0))
        .collect();
    let head = ["Date", "Published 2024-03-01", "Published 2024-03-03", "Published 2024-03-04"];
    assert_eq!(cells[..4], head, "{table}");
    assert_eq!(cells[4..8], ["2024-01-03", "–", "3", "4"]);
    assert_eq!(cells[8..], ["2024-01-02", "2", "2.5", "2"]);

    let address = page.split("srcset=\"").find(|part| part.contains("revisions=true")).unwrap();
    let address = address.split('"').next().unwrap().replace("&#38;", "&").replace("&amp;", "&");
    let reply = app.get(&address).send().await;
    assert_eq!(reply.status, 200, "{address}");
    let picture = reply.text();
    for day in ["2024-03-01", "2024-03-03", "2024-03-04"] {
        assert!(picture.contains(day), "{picture}");
    }
    assert!(!picture.contains("2024-03-02") && !picture.contains("Otago"), "{picture}");

    assert_eq!(app.get(&format!("{CHART}?revisions=yes")).send().await.status, 422);
    app.publish(&parks()).await;
    let none = app.get("/datasets/parks/chart.svg?revisions=true").send().await;
    assert_eq!(none.outcome(), (404, "no_picture".to_owned()));
    let page = app.get("/datasets/parks").send().await.text();
    assert!(!page.contains("revised-points"), "{page}");
}

#[tokio::test]
async fn another_plugin_of_the_media_type_changes_the_pictures_contract_9() {
    let app = published().await;
    let before = app.get(CHART).send().await;
    // The same component but for a word that it writes, which makes it another release.
    let (word, other) = (b"Line chart of ", b"Fine chart of ");
    let mut bytes = component("svg");
    let places: Vec<usize> =
        (0..bytes.len() - word.len()).filter(|at| bytes[*at..].starts_with(word)).collect();
    assert!(!places.is_empty());
    places.into_iter().for_each(|at| bytes[at..at + word.len()].copy_from_slice(other));
    app.replace_encoder(&bytes);
    let after = app.get(CHART).send().await;
    let text = after.text();
    assert!(description(&text).starts_with("Fine chart of value"), "{text}");
    assert_ne!(after.header("etag"), before.header("etag"));
    let key = app.key(Plan::Enterprise).await;
    let rows = app.get("/v1/datasets/harvest/data").header("accept", "image/svg+xml");
    assert!(rows.key(&key).send().await.text().contains("Fine chart of value"));
}
