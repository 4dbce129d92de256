//! The base of absolute links and of generated projects (contract-6-public-url,
//! contract-6-forwarded).

use yearbook_domain::Plan;
use yearbook_server::{ForwardedHeader, PublicUrl, ServiceSettings};
use yearbook_tests::app::{TestApp, harvest};

const TOOLS: [&str; 3] = ["meltano", "fivetran", "azure-data-factory"];

/// A service with one dataset behind trusted proxies in 10.0.0.0/8.
async fn behind_proxies(header: ForwardedHeader, public_url: Option<&str>) -> (TestApp, String) {
    let mut settings = ServiceSettings::default();
    settings.limits.burst_per_second = 0;
    settings.server.forwarded_header = header;
    settings.server.trusted_proxies = vec!["10.0.0.0/8".to_owned()].try_into().unwrap();
    settings.server.public_url = public_url.map(|url| PublicUrl::try_from(url.to_owned()).unwrap());
    let app = TestApp::with(settings).await;
    app.publish(&harvest()).await;
    let key = app.key(Plan::Pro).await;
    (app, key)
}

/// The links of a page and of the alias that it was asked by, without `<` and what follows the
/// path.
async fn bases(app: &TestApp, key: &str, peer: &str, headers: &[(&str, &str)]) -> Vec<String> {
    let ask = app.get("/v1/series/harvest/data?limit=1").key(key).peer(peer);
    let reply = headers.iter().fold(ask, |ask, (name, value)| ask.header(name, value)).send().await;
    assert_eq!(reply.status, 200);
    let links = reply.headers.get_all("link").iter().map(|value| value.to_str().unwrap());
    links
        .map(|link| {
            let address = link.trim_start_matches('<').replace("/cite/", "/v1/");
            address.split("/v1/").next().unwrap().to_owned()
        })
        .collect()
}

/// Sender of a request, the headers that name another base, and the base of the links then.
type Case<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a str);

#[tokio::test]
async fn links_say_what_a_trusted_proxy_says_of_the_clients_request_contract_6() {
    let (app, key) = behind_proxies(ForwardedHeader::XForwardedFor, None).await;
    let (proto, host) = ("x-forwarded-proto", "x-forwarded-host");
    let cases: [Case<'_>; 7] = [
        ("10.0.0.1", &[], "http://test.example"),
        ("10.0.0.1", &[(proto, "https")], "https://test.example"),
        ("10.0.0.1", &[(proto, "https"), (host, "data.example.org")], "https://data.example.org"),
        (
            "10.0.0.1",
            &[(proto, "https"), (host, "evil.example, data.example.org")],
            "https://data.example.org",
        ),
        ("10.0.0.1", &[(proto, "javascript"), (host, "evil>; rel=x")], "http://test.example"),
        (
            "10.0.0.1",
            &[("forwarded", "for=1.1.1.1;proto=https;host=evil.example")],
            "http://test.example",
        ),
        ("192.0.2.1", &[(proto, "https"), (host, "evil.example")], "http://test.example"),
    ];
    for (peer, headers, expected) in cases {
        assert_eq!(bases(&app, &key, peer, headers).await, [expected; 3], "{peer} {headers:?}");
    }
    let (app, key) = behind_proxies(ForwardedHeader::Forwarded, None).await;
    let said = [(
        "forwarded",
        "for=6.6.6.6;host=evil.example, for=192.0.2.1;proto=https;host=\"data.example.org:8443\"",
    )];
    assert_eq!(bases(&app, &key, "10.0.0.1", &said).await, ["https://data.example.org:8443"; 3]);
    assert_eq!(bases(&app, &key, "192.0.2.1", &said).await, ["http://test.example"; 3]);
    assert_eq!(
        bases(&app, &key, "10.0.0.1", &[(proto, "https")]).await,
        ["http://test.example"; 3],
        "the other header"
    );
    let (app, key) =
        behind_proxies(ForwardedHeader::XForwardedFor, Some("https://public.example/statistics"))
            .await;
    let said = [(proto, "http"), (host, "data.example.org")];
    assert_eq!(
        bases(&app, &key, "10.0.0.1", &said).await,
        ["https://public.example/statistics"; 3]
    );
}

#[tokio::test]
async fn generated_projects_begin_as_links_do_contract_6() {
    let (app, key) = behind_proxies(ForwardedHeader::XForwardedFor, None).await;
    for tool in TOOLS {
        let ask = || app.get(&format!("/v1/integrations/{tool}?datasets=harvest")).key(&key);
        let secure = ask()
            .peer("10.0.0.1")
            .header("x-forwarded-proto", "https")
            .header("x-forwarded-host", "data.example.org")
            .send()
            .await;
        assert!(
            secure.text().contains("https://data.example.org")
                && !secure.text().contains("http://data.example.org"),
            "{tool}"
        );
        assert!(!secure.text().contains("test.example"), "{tool}");
        let lied = ask()
            .peer("192.0.2.1")
            .header("x-forwarded-proto", "https")
            .header("x-forwarded-host", "evil.example")
            .send()
            .await;
        assert!(
            lied.text().contains("http://test.example") && !lied.text().contains("evil.example"),
            "{tool}"
        );
    }
}
