//! Citations of rows that transforms make.

use arrow::ipc::reader::StreamReader;
use yearbook_domain::{Column, ColumnRole, ColumnType, Plan};
use yearbook_scan::ResultHasher;
use yearbook_tests::app::{TestApp, harvest};

use super::{DATA, get, link, load, problems, service};

/// Rows and digest of an Arrow stream of transformed rows, as a client computes them.
async fn digest_of_rows(app: &TestApp, key: &str, query: &str) -> String {
    let path = format!("{DATA}?{query}&format=arrow");
    let reply = get(app, key, &path).await;
    assert_eq!(reply.status, 200, "{path}: {}", reply.text());
    let reader = StreamReader::try_new(&*reply.body, None).unwrap();
    let schema = reader.schema();
    let column = |field: &std::sync::Arc<arrow::datatypes::Field>| {
        let is_date = field.metadata().get("yearbook.type").is_some_and(|kind| kind == "date");
        let column_type = match field.data_type() {
            _ if is_date => ColumnType::Date,
            arrow::datatypes::DataType::Float64 => ColumnType::Number,
            arrow::datatypes::DataType::Int64 => ColumnType::Integer,
            arrow::datatypes::DataType::Boolean => ColumnType::Boolean,
            _ => ColumnType::String,
        };
        Column::new(field.name(), column_type, ColumnRole::Attribute)
    };
    let columns: Vec<Column> = schema.fields().iter().map(column).collect();
    let mut hasher = ResultHasher::new(columns.iter());
    reader.for_each(|batch| hasher.update(&batch.unwrap()).unwrap());
    format!("Rows: {}. Digest: {}.", hasher.rows(), hasher.finish())
}

#[tokio::test]
async fn a_citation_of_computed_rows_names_what_computed_them_contract_16() {
    let (app, key) = service(Plan::Enterprise).await;
    for query in [
        "apply=growth",
        "apply=growth&growth.periods=2&where.region=Auckland&start=2020-06-01&limit=3",
        "growth.as=difference&apply=resample,growth&resample.to=quarter&columns=value,date&limit=0",
        "apply=growth&sort=-value&limit=7",
        "apply=growth&last=2&limit=0",
        "apply=growth&first=1&columns=region,value",
        "apply=growth&growth.periods=12&last=4&sort=-date,value&limit=5&where.region.not=Auckland",
        "apply=pivot&pivot.column=region&pivot.value=value&limit=0",
        "apply=pivot&pivot.column=region&pivot.value=value&limit=7",
        "apply=pivot&pivot.column=region&pivot.value=value&sort=-date&limit=7",
        "apply=pivot&pivot.column=region&pivot.value=value&sort=-date&limit=10000",
        "apply=aggregate&aggregate.by=region,final&aggregate.with=count&limit=0",
        "apply=aggregate&aggregate.by=date&sort=-value,date&limit=4",
        "apply=aggregate&aggregate.by=final,date&aggregate.value=value&aggregate.with=last&limit=9",
    ] {
        let answer = get(&app, &key, &format!("{DATA}?{query}")).await;
        assert_eq!(answer.status, 200, "{query}: {}", answer.text());
        let cited = link(&answer, "cite-as").unwrap();
        let page = app.get(&cited).send().await;
        assert_eq!(page.status, 200, "{cited}: {}", page.text());
        let mark = if cited.contains('?') { '&' } else { '?' };
        // Sent by hand, it is the same citation.
        let (address, _) = cited.split_once('?').unwrap();
        for same in [cited.clone(), format!("{address}?{query}&limit={}", limit_of(&cited))] {
            let text = app.get(&format!("{same}{mark}format=text")).send().await.text();
            assert!(
                text.contains(&format!("http://test.example{cited} Computed")),
                "{same}: {text}"
            );
            assert!(!text.contains("Digest"), "{text}");
        }
        let verified =
            app.get(&format!("{cited}{mark}verify=true&format=text")).key(&key).send().await;
        let counted = format!("{query}&limit={}", limit_of(&cited));
        let expected = digest_of_rows(&app, &key, &counted).await;
        assert!(verified.text().contains(&expected), "{query}: {expected} {}", verified.text());
    }
}

/// The limit of a citation; 0 where it has none.
fn limit_of(cited: &str) -> &str {
    let limit = cited.split(['?', '&']).find_map(|pair| pair.strip_prefix("limit="));
    limit.unwrap_or("0")
}

#[tokio::test]
async fn a_citation_outlives_the_release_that_computed_its_rows_contract_16() {
    let (app, key) = service(Plan::Free).await;
    let id = app.publish(&harvest()).await;
    for gone in ["growth@0.0.1", "vanished@1.0.0"] {
        let (name, _) = gone.split_once('@').unwrap();
        let path = format!("/cite/harvest/{id}?apply={gone}&{name}.periods=2&{name}.X=1");
        let text = app.get(&format!("{path}&format=text")).send().await;
        assert_eq!(text.status, 200, "{}", text.text());
        let release = gone.replace('@', " ");
        let text = text.text();
        assert!(text.contains(&format!("by {release} (periods=2).")), "{text}");
        assert!(text.contains(&format!("{release} is not loaded")), "{text}");
        let page = app.get(&path).send().await.text();
        assert!(!page.contains("verify=true") && !page.contains("/data?"), "{page}");
        for method in ["GET", "HEAD"] {
            let verified = app.ask(method, &format!("{path}&verify=true")).key(&key).send().await;
            assert_eq!(verified.status, 410, "{method} {path}");
            assert_eq!(verified.header("x-service-error-code"), "transform_gone", "{method}");
        }
    }
    let me = get(&app, &key, "/v1/me").await.json();
    assert_eq!(me["requests"]["used"], 0, "what is gone is not charged");
}

#[tokio::test]
async fn a_citation_of_computed_rows_is_judged_like_their_answer_contract_16() {
    let app = TestApp::start().await;
    load(&app);
    let id = app.publish(&harvest()).await;
    let key = app.key(Plan::Free).await;
    for (query, name) in [
        ("apply=vanished", "apply"),
        ("apply=growth,growth", "apply"),
        ("apply=growth&growth.periods=x", "growth.periods"),
        ("apply=growth&where.nothing=1", "where.nothing"),
    ] {
        let cited = app.get(&format!("/cite/harvest/{id}?{query}")).send().await;
        assert_eq!(problems(&cited).0[0].0, name, "{query}");
    }
    // Only the transforms tell which columns they give.
    for (query, name) in [
        ("apply=growth&columns=nothing", "columns"),
        ("apply=pivot&pivot.column=nothing", "pivot.column"),
    ] {
        let path = format!("/cite/harvest/{id}?{query}");
        assert_eq!(app.get(&path).send().await.status, 200, "{query}");
        let verified = app.get(&format!("{path}&verify=true")).key(&key).send().await;
        let answer = get(&app, &key, &format!("{DATA}?{query}")).await;
        assert_eq!(problems(&verified), problems(&answer), "{query}");
        assert_eq!(problems(&verified).0[0].0, name, "{query}");
    }
    let path = format!("/cite/harvest/{id}?apply=growth&sort=-value&verify=true");
    app.publish(&harvest()).await;
    let unbounded = app.get(&path).key(&key).send().await;
    assert_eq!(unbounded.outcome(), (413, "sort_too_large".to_owned()));
    let me = get(&app, &key, "/v1/me").await.json();
    assert_eq!(me["requests"]["used"], 0, "what is refused is not charged");
}
