//! Documents: headers, tags, conditions, and the memory of them.

use serde_json::json;
use yearbook_domain::Plan;
use yearbook_sandbox::adapter::Link;
use yearbook_sandbox::catalogue::{Question, Selection, ValueQuery, Version};
use yearbook_tests::app::{TestApp, harvest, parks, unbounded};

use super::rows::selection;
use super::{asked, document, get, service, written};

#[tokio::test]
async fn a_document_has_a_tag_and_conditions_contract_17() {
    let app = service().await;
    let path = written(&document(200, "hello"));
    let reply = get(&app, &path).await;
    assert_eq!((reply.status.as_u16(), reply.text()), (200, "hello".to_owned()));
    assert_eq!(reply.header("content-type"), "text/plain");
    assert_eq!(reply.header("cache-control"), "public, no-cache");
    let tag = reply.header("etag");
    assert!(tag.starts_with('"') && tag.len() == 34, "{tag}");
    let vary = reply.header("vary").to_lowercase();
    for name in ["accept", "accept-encoding", "accept-language", "x-scripted"] {
        assert!(vary.split(", ").any(|varied| varied == name), "{name} in {vary}");
    }

    let head = app.head(&path).send().await;
    assert_eq!((head.status.as_u16(), head.body.len()), (200, 0));
    assert_eq!((head.header("etag"), head.header("content-length")), (tag.clone(), "5".to_owned()));

    let unchanged = app.get(&path).header("if-none-match", &tag).send().await;
    assert_eq!((unchanged.status.as_u16(), unchanged.body.len()), (304, 0));
    assert_eq!(unchanged.header("etag"), tag);
    assert_eq!(unchanged.header("cache-control"), "public, no-cache");
    let other = app.get(&path).header("if-match", "\"other\"").send().await;
    assert_eq!(other.outcome(), (412, "precondition_failed".to_owned()));

    let others = [written(&document(200, "hallo")), written(&document(202, ""))];
    for other in others {
        assert_ne!(get(&app, &other).await.headers.get("etag"), reply.headers.get("etag"));
    }
}

#[tokio::test]
async fn a_document_says_what_its_adapter_says_and_no_browser_runs_it_contract_17() {
    let app = service().await;
    let mut full = document(404, "nichts");
    full.language = Some("de".to_owned());
    let link = |href: &str, media_type: Option<&str>| Link {
        href: href.to_owned(),
        rel: "self".to_owned(),
        media_type: media_type.map(str::to_owned),
    };
    full.links =
        vec![link("/v1/datasets", None), link("http://test.example/api/scripted/x", Some("a/b"))];
    let reply = get(&app, &written(&full)).await;
    assert_eq!((reply.status.as_u16(), reply.text()), (404, "nichts".to_owned()));
    assert_eq!(reply.header("content-language"), "de");
    let links: Vec<&str> =
        reply.headers.get_all("link").iter().map(|link| link.to_str().unwrap()).collect();
    assert_eq!(
        links,
        [
            "</v1/datasets>; rel=\"self\"",
            "<http://test.example/api/scripted/x>; rel=\"self\"; type=\"a/b\""
        ]
    );
    assert_eq!(reply.header("content-security-policy"), "sandbox; default-src 'none'");
    assert_eq!(reply.header("x-content-type-options"), "nosniff");
    // Only what is there has a tag.
    assert!(!reply.headers.contains_key("etag"));

    let mut elsewhere = document(303, "");
    elsewhere.location = Some("/datasets".to_owned());
    let reply = get(&app, &written(&elsewhere)).await;
    assert_eq!((reply.status.as_u16(), reply.header("location")), (303, "/datasets".to_owned()));
    assert_eq!((reply.body.len(), reply.headers.get("content-type")), (0, None));
}

#[tokio::test]
async fn paths_that_an_adapter_names_begin_with_that_of_the_public_address_contract_17() {
    let mut settings = unbounded();
    let public_url = "https://example.org/statistics/".to_owned();
    settings.server.public_url = Some(public_url.try_into().unwrap());
    let app = TestApp::with(settings).await;
    app.load("scripted");
    let mut elsewhere = document(303, "");
    elsewhere.location = Some("/datasets".to_owned());
    let hrefs = ["/v1/datasets", "https://example.org/statistics/api/scripted/x"];
    let link =
        |href: &str| Link { href: href.to_owned(), rel: "self".to_owned(), media_type: None };
    elsewhere.links = hrefs.map(link).into();
    let reply = get(&app, &written(&elsewhere)).await;
    assert_eq!(
        (reply.status.as_u16(), reply.header("location")),
        (303, "/statistics/datasets".to_owned())
    );
    let links: Vec<&str> =
        reply.headers.get_all("link").iter().map(|link| link.to_str().unwrap()).collect();
    let below = "<https://example.org/statistics/api/scripted/x>; rel=\"self\"";
    assert_eq!(links, ["</statistics/v1/datasets>; rel=\"self\"", below]);
}

#[tokio::test]
async fn a_post_is_never_kept_contract_17() {
    let app = service().await;
    let path = written(&document(200, "made"));
    for _ in 0..2 {
        let reply = app.ask("POST", &path).json_body(&json!({})).send().await;
        assert_eq!((reply.status.as_u16(), reply.text()), (200, "made".to_owned()));
        assert_eq!(reply.header("cache-control"), "no-store");
        assert!(!reply.headers.contains_key("etag"));
    }
    assert_eq!(app.metric("yearbook_cache_hits_total{cache=\"documents\"}").await, Some(0.0));
    let tagged = app.ask("POST", &path).header("if-none-match", "*").send().await;
    assert_eq!(tagged.status, 200);
}

#[tokio::test]
async fn large_documents_are_compressed_contract_17() {
    let app = service().await;
    let path = written(&document(200, &"abc ".repeat(500)));
    let plain = get(&app, &path).await;
    let packed = app.get(&path).header("accept-encoding", "gzip").send().await;
    assert_eq!(packed.header("content-encoding"), "gzip");
    assert!(packed.body.len() < plain.body.len() / 2);
    let tag = plain.header("etag");
    assert_eq!(packed.header("etag"), format!("{}-gzip\"", tag.trim_end_matches('"')));
}

/// Calls of the adapter since the start.
pub(super) async fn calls(app: &TestApp) -> f64 {
    app.metric("yearbook_plugin_calls_total{name=\"scripted\"}").await.unwrap_or_default()
}

#[tokio::test]
async fn a_document_is_kept_until_the_answers_to_its_questions_change_contract_17() {
    let app = service().await;
    app.publish(&harvest()).await;
    let one = asked(&[vec![Question::Dataset(("harvest".to_owned(), None))]]);
    let first = get(&app, &one).await;
    assert_eq!(first.status, 200, "{}", first.text());
    let made = calls(&app).await;
    assert!(made > 0.0);
    assert_eq!(get(&app, &one).await.body, first.body);
    assert_eq!(calls(&app).await, made, "the same revision: nothing is asked");

    app.publish(&parks()).await;
    assert_eq!(get(&app, &one).await.body, first.body);
    assert_eq!(calls(&app).await, made, "the answers are those of before");

    app.publish(&harvest().with_appended("2031-01-01,Otago,1.5,true\n")).await;
    assert_ne!(get(&app, &one).await.body, first.body);
    assert!(calls(&app).await > made, "the answers are others");

    let other = app.get(&one).header("x-scripted", "other").send().await;
    assert_eq!(other.status, 200);
    assert_eq!(app.metric("yearbook_cache_hits_total{cache=\"documents\"}").await, Some(2.0));
}

#[tokio::test]
async fn a_refusal_that_depends_on_caller_or_time_is_never_kept_contract_17() {
    let app = service().await;
    app.publish(&harvest()).await;
    let key = app.key(Plan::Pro).await;
    // What is too late today is not too late for ever.
    let version = Version::AsOf("2100-01-01".to_owned());
    let later = Selection { version, ..selection("harvest") };
    for question in [Question::Count(later.clone()), Question::Rows(later.clone())] {
        let path = asked(&[vec![question]]);
        let refused = app.get(&path).key(&key).send().await;
        assert_eq!(refused.json()[0]["Refused"]["status"], 422, "{}", refused.text());
        assert_eq!(refused.header("cache-control"), "private, no-cache");
        assert!(refused.header("vary").contains("X-API-Key"));
        assert_eq!(get(&app, &path).await.status, 401, "nobody reads it without a key");
    }
    let columns = vec!["region".to_owned()];
    let selection = later.clone();
    let values = ValueQuery { selection, columns, language: None, after: None, limit: 2 };
    for question in [Question::Values(values), Question::Citation(later)] {
        let path = asked(&[vec![question]]);
        let refused = get(&app, &path).await;
        assert_eq!(refused.json()[0]["Refused"]["status"], 422, "{}", refused.text());
        let made = calls(&app).await;
        assert_eq!(get(&app, &path).await.body, refused.body);
        assert!(calls(&app).await > made, "it is asked again");
    }
}
