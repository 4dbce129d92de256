//! Responses of plugins that misbehave, as a client sees them (contract-3-attacks, contract-3-cut;
//! `plugins/evil`).

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use yearbook_domain::Plan;
use yearbook_server::ServerSettings;
use yearbook_tests::app::{TestApp, big, parks};

#[tokio::test]
async fn a_guest_that_fails_before_its_first_byte_is_an_honest_status() {
    let app = TestApp::start().await;
    app.publish(&parks()).await;
    app.load("evil");
    let key = app.key(Plan::Free).await;
    let get = async |query: &str| {
        app.get(&format!("/v1/datasets/parks/data?format=evil&{query}")).key(&key).send().await
    };
    for attack in ["panic", "recurse", "refuse"] {
        for call in ["open", "head", "part", "tail"] {
            let reply = get(&format!("evil.attack={attack}&evil.call={call}")).await;
            assert_eq!(reply.outcome(), (500, "internal".to_owned()), "{attack} {call}");
        }
    }
    let invalid = |name: &str| (format!("evil.{name}"), "value_error".to_owned());
    for (attack, call) in
        [("grow", "open"), ("grow", "part"), ("flood", "head"), ("amplify", "tail")]
    {
        let reply = get(&format!("evil.attack={attack}&evil.call={call}")).await;
        let named = if call == "part" {
            vec![invalid("attack")]
        } else {
            vec![invalid("attack"), invalid("call")]
        };
        assert_eq!(reply.problems(), named, "{attack} {call}: whoever chose it can leave it out");
        let sentence = "Value error, with this value the answer is larger than 'evil' can make; leave it out, or ask for less";
        assert_eq!(
            (&reply.json()["detail"][0]["msg"], &reply.json()["detail"][0]["input"]),
            (&sentence.into(), &attack.into())
        );
    }
    assert_eq!(
        app.get("/v1/me").key(&key).send().await.json()["requests"]["used"],
        0,
        "none of it is charged"
    );
    assert_eq!(get("").await.text(), "head 3 rows tail", "and the next response is none the worse");
}

#[tokio::test]
async fn a_format_that_is_loaded_later_is_there_at_once() {
    let app = TestApp::start().await;
    let key = app.key(Plan::Free).await;
    let message = async || {
        app.get("/v1/datasets/x/data?format=xml").key(&key).send().await.json()["detail"][0]["msg"]
            .clone()
    };
    assert_eq!(message().await, "Input should be 'json', 'csv', 'arrow' or 'parquet'");
    app.load("evil");
    assert_eq!(message().await, "Input should be 'json', 'csv', 'arrow', 'parquet' or 'evil'");
}

#[tokio::test]
async fn a_guest_that_fails_midway_cuts_the_body_contract_3() {
    let app = TestApp::start().await;
    app.publish(&big(90_000)).await;
    app.load("evil");
    let key = app.key(Plan::Enterprise).await;
    let path = "/v1/datasets/big/data?limit=0&format=evil&evil.attack=panic&evil.call=tail";
    let reply = app.get(path).key(&key).send().await;
    assert_eq!((reply.status.as_u16(), reply.cut), (200, true), "{}", reply.text());

    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = app.router.clone();
    tokio::spawn(async move {
        yearbook_server::serve(listener, router, &ServerSettings::default(), std::future::pending())
            .await
    });
    let mut client = TcpStream::connect(address).await.unwrap();
    client
        .write_all(format!("GET {path} HTTP/1.1\r\nHost: t\r\nX-API-Key: {key}\r\n\r\n").as_bytes())
        .await
        .unwrap();
    let mut wire = Vec::new();
    client.read_to_end(&mut wire).await.unwrap();
    let text = String::from_utf8_lossy(&wire);
    assert!(
        text.starts_with("HTTP/1.1 200") && text.contains("transfer-encoding: chunked"),
        "{text}"
    );
    assert!(!text.ends_with("0\r\n\r\n"), "a clean end of chunks would look like success");
}
