//! Strangers that lead elsewhere, never end, or fall silent.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::net::{IpAddr, SocketAddr};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;

/// Stands for a public host; 127.0.0.1 stays private.
const PUBLIC: &str = "127.0.0.2";

const PRIVATE: &str = "127.0.0.1";

/// A server that gives every request the same answer and then waits for the client to hang up.
struct Server {
    address: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Server {
    async fn start(ip: &str, answer: String) -> Self {
        let listener = TcpListener::bind((ip, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let heads = Arc::<Mutex<Vec<String>>>::default();
        let seen = Arc::clone(&heads);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (seen, answer) = (Arc::clone(&seen), answer.clone());
                tokio::spawn(async move {
                    let mut head = vec![0; 4096];
                    let read = stream.read(&mut head).await.unwrap();
                    seen.lock().unwrap().push(String::from_utf8_lossy(&head[..read]).into_owned());
                    let _ = stream.write_all(answer.as_bytes()).await;
                    let _ = stream.read(&mut head).await;
                });
            }
        });
        Self { address, heads }
    }

    fn url(&self) -> Url {
        Url::parse(&format!("http://{}/", self.address)).unwrap()
    }

    fn requests(&self) -> usize {
        self.heads.lock().unwrap().len()
    }
}

fn whole(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

fn redirect_to(place: &str) -> String {
    format!("HTTP/1.1 307 Elsewhere\r\nContent-Length: 0\r\nLocation: {place}\r\n\r\n")
}

fn settings(schemes: Schemes) -> OutboundSettings {
    OutboundSettings {
        rules: AddressRules::PublicAndAddress(PUBLIC.parse().unwrap()),
        schemes,
        redirects: 10,
        connect: Duration::from_secs(5),
        idle: Duration::from_secs(5),
        keep_alive: false,
    }
}

/// A client for which every name has the first of these addresses at first, and then the second.
fn client_with(answers: &[&str], settings: OutboundSettings) -> OutboundClient {
    let answers: Vec<IpAddr> = answers.iter().map(|text| text.parse().unwrap()).collect();
    let asked = AtomicUsize::new(0);
    let lookup: Lookup = Arc::new(move |_| {
        let at = asked.fetch_add(1, Ordering::Relaxed).min(answers.len() - 1);
        let address = answers[at];
        Box::pin(async move { Ok(vec![address]) })
    });
    OutboundClient::with_lookup(settings, &lookup).unwrap()
}

fn client() -> OutboundClient {
    client_with(&[PUBLIC], settings(Schemes::HttpsOrHttp))
}

async fn get(client: &OutboundClient, url: Url) -> Result<OutboundResponse, OutboundError> {
    client.send(&OutboundRequest::new(Method::GET, url)).await
}

#[tokio::test]
async fn a_redirect_into_a_private_network_is_refused_contract_8() {
    let inside = Server::start(PRIVATE, whole("secret\n")).await;
    let port = inside.address.port();
    for place in [
        format!("http://{PRIVATE}:{port}/"),
        format!("http://2130706433:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
        format!("http://inside.test:{port}/"),
        format!("//{PRIVATE}:{port}/"),
    ] {
        let public = Server::start(PUBLIC, redirect_to(&place)).await;
        // Names lead inside.
        let client = client_with(&[PRIVATE], settings(Schemes::HttpsOrHttp));
        let error = get(&client, public.url()).await.unwrap_err();
        assert!(matches!(error, OutboundError::Forbidden(_)), "{place}: {error}");
        assert_eq!(public.requests(), 1);
    }
    // Without a redirect.
    let error = get(&client(), inside.url()).await.unwrap_err();
    assert!(matches!(error, OutboundError::Forbidden(_)), "{error}");
    assert_eq!(inside.requests(), 0);
}

#[tokio::test]
async fn a_name_that_leads_inside_the_second_time_is_refused_contract_8() {
    let inside = Server::start(PRIVATE, whole("secret\n")).await;
    let port = inside.address.port();
    let outside = TcpListener::bind((PUBLIC, port)).await.unwrap();
    let client = client_with(&[PUBLIC, PRIVATE], settings(Schemes::HttpsOrHttp));
    let url = Url::parse(&format!("http://rebinding.test:{port}/")).unwrap();
    let (first, _) = tokio::join!(get(&client, url.clone()), async {
        // Closed at once, so that the next request connects and resolves the name again.
        drop(outside.accept().await.unwrap());
    });
    assert!(matches!(first, Err(OutboundError::NotHttp { .. })), "{first:?}");
    let error = get(&client, url).await.unwrap_err();
    assert!(matches!(error, OutboundError::Forbidden(_)), "{error}");
    assert_eq!(inside.requests(), 0);
}

#[test]
fn a_redirect_never_takes_tls_away_contract_8() {
    let client = client();
    let join = |from: &str, to: &str| client.join(&Url::parse(from).unwrap(), to);
    for (from, to) in [
        ("http://a.org/", "https://a.org/"),
        ("https://a.org/", "https://b.org/x?key=1"),
        ("http://a.org/", "http://b.org/"),
    ] {
        assert_eq!(join(from, to).unwrap().as_str(), to);
    }
    for (from, to, part) in [
        ("https://a.org/", "http://a.org/x?key=secret", "has no TLS"),
        ("https://ann:secret@a.org/", "http://bob:secret@b.org/?secret", "has no TLS"),
        ("https://a.org/", "ftp://a.org/", "no web address"),
        ("https://a.org/", "data:text/csv,a", "no web address"),
        ("https://a.org/", "https://secret@a.org/", "a user name"),
        ("https://a.org/", "https://:secret@a.org/", "a user name"),
        ("https://a.org/?secret", "http://", "no address to go on at"),
        ("https://a.org/?secret", "", "no address to go on at"),
    ] {
        let refused = join(from, to).unwrap_err().to_string();
        assert!(refused.contains(part) && !refused.contains("secret"), "{to}: {refused}");
    }
}

#[test]
fn only_loopback_is_asked_without_tls_where_the_schemes_say_so_contract_14() {
    for (schemes, url, allowed) in [
        (Schemes::Https, "https://a.org/", true),
        (Schemes::Https, "http://127.0.0.1/", false),
        (Schemes::HttpsOrLoopback, "https://a.org/", true),
        (Schemes::HttpsOrLoopback, "http://127.0.0.1/", true),
        (Schemes::HttpsOrLoopback, "http://[::1]/", true),
        (Schemes::HttpsOrLoopback, "http://localhost/", true),
        (Schemes::HttpsOrLoopback, "http://a.org/", false),
        (Schemes::HttpsOrHttp, "http://a.org/", true),
        (Schemes::Http, "http://a.org/", true),
        (Schemes::Http, "https://a.org/", false),
    ] {
        let settings = OutboundSettings { rules: AddressRules::Any, ..settings(schemes) };
        let checked = client_with(&[PUBLIC], settings).check(&Url::parse(url).unwrap());
        assert_eq!(checked.is_ok(), allowed, "{schemes:?} {url}: {checked:?}");
    }
}

#[tokio::test]
async fn redirects_are_counted_and_credentials_stay_with_their_origin() {
    let last = Server::start(PUBLIC, whole("here\n")).await;
    let first = Server::start(PUBLIC, redirect_to(last.url().as_str())).await;
    let mut request =
        OutboundRequest::new(Method::GET, first.url()).with_header(AUTHORIZATION, "Basic c2VjcmV0");
    let response = client().send(&request).await.unwrap();
    assert_eq!(response.url(), &last.url());
    let asked = |server: &Server| server.heads.lock().unwrap().concat().to_lowercase();
    assert!(asked(&first).contains("authorization: basic"), "{}", asked(&first));
    assert!(!asked(&last).contains("authorization"), "{}", asked(&last));

    let circle = Server::start(PUBLIC, redirect_to("/")).await;
    let error = get(&client(), circle.url()).await.unwrap_err().to_string();
    assert!(error.contains("more than 10 redirects"), "{error}");
    assert_eq!(circle.requests(), 11);
    // Neither a method that writes nor a client without redirects follows one.
    request = OutboundRequest::new(Method::POST, circle.url()).with_body("x");
    assert_eq!(client().send(&request).await.unwrap().status(), 307);
    let none = OutboundSettings { redirects: 0, ..settings(Schemes::Http) };
    assert_eq!(get(&client_with(&[PUBLIC], none), circle.url()).await.unwrap().status(), 307);
}

#[tokio::test]
async fn a_body_ends_at_its_bound_and_at_silence() {
    let read = async |answer: &str, limit: u64| {
        let server = Server::start(PUBLIC, answer.to_owned()).await;
        let settings =
            OutboundSettings { idle: Duration::from_millis(300), ..settings(Schemes::Http) };
        let response = get(&client_with(&[PUBLIC], settings), server.url()).await?;
        response.into_body(limit)?.read().await
    };
    let chunks = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nabcdef\r\n";
    assert_eq!(read(&whole("abcdef"), 6).await.unwrap(), b"abcdef");
    assert_eq!(read(&format!("{chunks}0\r\n\r\n"), 6).await.unwrap(), b"abcdef");
    let found = async |answer: &str, limit: u64| match read(answer, limit).await {
        Err(OutboundError::TooLarge { found, .. }) => found,
        other => panic!("{other:?}"),
    };
    assert_eq!(found(&whole("abcdef"), 5).await, "6");
    assert_eq!(found(chunks, 5).await, "more than 5");
    // Silence, within a body and in the place of a head; a head has the time to connect beside it.
    let silent = read(chunks, 6).await;
    assert!(matches!(silent, Err(OutboundError::Silent { .. })), "{silent:?}");
}
