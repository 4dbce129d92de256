//! Previews of links in chats.

use yearbook_domain::Plan;
use yearbook_server::ServiceSettings;

use super::{link, outcome, service};

#[tokio::test]
async fn a_preview_of_a_link_is_a_page_without_rows_contract_15() {
    let mut settings = ServiceSettings::default();
    settings.plans.free.requests_per_month = Some(1);
    let (app, key) = service(settings, Plan::Free).await;
    let path = link(&app, &key, "format=csv&limit=5").await;
    let ask = async |method: &str, path: &str, name: &str| {
        app.ask(method, path).header("user-agent", name).send().await
    };
    let chat = "slackBOT-LinkExpanding 1.0 (+https://api.slack.com/robots)";
    for method in ["GET", "HEAD"] {
        for _ in 0..5 {
            let page = ask(method, &path, chat).await;
            assert_eq!(page.status, 200, "{method}");
            assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
            assert_eq!(page.header("cache-control"), "no-store");
            assert_eq!(page.header("x-robots-tag"), "noindex");
            assert_eq!(page.header("vary"), "Accept-Encoding, User-Agent");
            assert!(page.header("content-security-policy").starts_with("default-src 'none'"));
            for name in ["etag", "link", "x-service-rows", "content-disposition"] {
                assert!(!page.headers.contains_key(name), "{name}");
            }
        }
    }
    let page = ask("GET", &path, chat).await.text();
    for shown in ["Title of harvest", "Ministry of Harvest", "Attribution 4.0"] {
        assert!(page.contains(shown), "{page}");
    }
    for hidden in ["Auckland", "region", "10.5", "key_", &path[3..20]] {
        assert!(!page.contains(hidden), "{page}");
    }
    let used = async || app.get("/v1/me").key(&key).send().await.json()["requests"]["used"].clone();
    assert_eq!(used().await, 0, "no preview is charged");
    // Programs that read.
    for name in ["Microsoft.Data.Mashup (https://go.microsoft.com/fwlink/?LinkID=304225)", ""] {
        let reply = ask("HEAD", &path, name).await;
        assert!(reply.header("content-type").starts_with("text/csv"), "{name}");
    }
    assert_eq!(ask("GET", &path, "curl/8.5.0").await.text().lines().count(), 6);
    assert_eq!(used().await, 1);
    assert_eq!(ask("GET", &path, chat).await.status, 200, "the month does not matter");

    let unknown = ask("GET", &format!("{path}x"), chat).await;
    assert_eq!(unknown.outcome(), outcome(404, "no_such_link"));
    let id = app.store.keys().await.unwrap()[0].id.clone();
    app.store.end_links(&id).await.unwrap();
    app.catalog_cache.refresh().await.unwrap();
    assert_eq!(ask("GET", &path, chat).await.outcome(), outcome(410, "link_ended"));
}

#[tokio::test]
async fn the_operator_says_which_programs_draw_previews_contract_15() {
    let mut settings = ServiceSettings::default();
    settings.links.previews = vec!["OurChat".to_owned().try_into().unwrap()];
    let (app, key) = service(settings, Plan::Pro).await;
    let path = link(&app, &key, "").await;
    for (name, expected) in
        [("ourchat/2.0", "text/html; charset=utf-8"), ("Slackbot 1.0", "application/json")]
    {
        let reply = app.get(&path).header("user-agent", name).send().await;
        assert_eq!(reply.header("content-type"), expected, "{name}");
    }
}
