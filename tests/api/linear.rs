//! Whatever a client writes into an address or a header costs the reactor time that grows no faster
//! than its length: every parameter of every route and every header that the service reads, with
//! what is worst for parsers.

use std::fmt::Write;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use yearbook_domain::Plan;
use yearbook_server::{ForwardedHeader, ServiceSettings, TrustedProxies};
use yearbook_tests::app::{TestApp, TestRequest, harvest};

use super::router::routes;

/// Bytes of a short text, and how many times as long the long one is: together nearly all that an
/// address may have in any case.
const SHORT: usize = 7_000;
const TIMES: u32 = 8;

/// Growth beyond [`TIMES`] that is put down to caches and the machine. What is quadratic grows by
/// eight times as much.
const SLACK: u32 = 3;

/// Time that is too little to be judged.
const FLOOR: Duration = Duration::from_millis(2);

/// Bytes of an answer for each byte that a refused client sent, at most: what it sent is escaped,
/// and told in more than one place.
const ECHOED: usize = 12;

/// Turns of one measurement, of which the least counts: of the short text and of the long. One that
/// fails is made again with more. A single turn of the long text can only look too slow.
const TURNS: [(usize, usize); 3] = [(3, 1), (10, 10), (40, 40)];

/// A text of about `bytes` bytes out of pieces, each with its number.
fn repeated(bytes: usize, piece: impl Fn(usize) -> String) -> String {
    let mut text = String::with_capacity(bytes + 64);
    for index in 0.. {
        if text.len() >= bytes {
            break;
        }
        text.push_str(&piece(index));
    }
    text
}

/// Returns values that are bad for parsers, encoded for an address.
fn values(bytes: usize) -> Vec<String> {
    let same = |piece: &'static str| repeated(bytes, |_| piece.to_owned());
    vec![
        repeated(bytes, |index| format!("n{index},")) + "n",
        repeated(bytes, |index| format!("{index}%20,+")),
        same("region,"),
        same(","),
        same("1"),
        same("0"),
        same("1_1_"),
        same("-"),
        same("."),
        same("+"),
        same("%FF"),
        same("%"),
        same("%22%5C"),
        same("2020-01-01T"),
        same("A"),
        same("%C4%B0"),
    ]
}

/// Whole queries that are bad for parsers of queries.
fn queries(bytes: usize) -> Vec<String> {
    let each = |piece: fn(usize) -> String| repeated(bytes, piece);
    vec![
        each(|index| format!("csv.o{index}=1&")),
        each(|index| format!("f{index}.o=1&")),
        each(|index| format!("p{index}=1&")),
        each(|index| format!("meltano.p{index}&")),
        each(|_| "limit=x&".to_owned()),
        each(|_| "csv.delimiter=x&".to_owned()),
        each(|_| "columns=n&columns=&".to_owned()),
        each(|_| "&".to_owned()),
        each(|_| "=".to_owned()),
        each(|_| ".&".to_owned()),
        each(|_| "%00".to_owned()),
    ]
}

/// Parameters and an address that knows them.
fn parameters() -> Vec<String> {
    let of = |route: &str, names: &[&str]| {
        names.iter().map(|name| format!("{route}?{name}=")).collect::<Vec<_>>()
    };
    let data = [
        "start",
        "end",
        "dimensions",
        "limit",
        "format",
        "geometry",
        "envelope",
        "cursor",
        "snapshot",
        "columns",
        "csv.delimiter",
    ];
    [
        of("/v1/datasets/harvest/data", &data),
        of("/v1/datasets/harvest/changes", &["since", "limit", "format"]),
        of("/v1/bulk/farms/harvest", &["freshness"]),
        of("/v1/integrations/meltano", &["datasets"]),
        vec![
            "/v1/datasets/".to_owned(),
            "/v1/bulk/farms/".to_owned(),
            "/v1/integrations/".to_owned(),
            "/docs/".to_owned(),
        ],
        vec!["/v1/".to_owned(), "/".to_owned()],
    ]
    .concat()
}

/// Headers, and what is bad for those who read them.
fn headers(bytes: usize) -> Vec<(&'static str, String)> {
    let same =
        |name: &'static str, piece: &'static str| (name, repeated(bytes, |_| piece.to_owned()));
    let led = |name: &'static str, lead: &str, piece: fn(usize) -> String| {
        (name, lead.to_owned() + &repeated(bytes, piece))
    };
    vec![
        led("accept", "", |index| format!("a/b{index};q=0.5,")),
        same("accept", "application/problem+json;q=0,"),
        same("accept", "a/b;q=1;"),
        same("accept", ","),
        same("accept-encoding", "gzip;q=0.1,"),
        led("if-none-match", "", |index| format!("W/\"{index}\",")),
        led("if-match", "", |index| format!("\"{index}\",")),
        same("if-none-match", "\""),
        led("range", "bytes=", |index| format!("{index}-{index},")),
        same("range", "bytes=,"),
        led("range", "bytes=0-", |_| "1".to_owned()),
        same("if-range", "\"a\""),
        same("if-unmodified-since", "Sat, 21 Nov 2026 00:00:00 GMT"),
        same("x-api-key", "yb_"),
        same("x-request-id", "a"),
        same("cookie", "a=b; "),
        same("host", "a."),
        same("host", "["),
        same("x-forwarded-for", "10.0.0.1,"),
        same("x-forwarded-for", "\","),
        same("x-forwarded-proto", "https,"),
        same("x-forwarded-host", "a.example,"),
        same("forwarded", "for=10.0.0.1;proto=https,"),
        same("forwarded", "\\\""),
        same("forwarded", ";"),
        same("traceparent", "00-"),
        same("tracestate", "a=b,"),
        same("origin", "http://a"),
        same("access-control-request-headers", "a,"),
        same("user-agent", "("),
        same("authorization", "Basic "),
        led("authorization", "Basic ", |_| "eWJf".to_owned()),
        led("authorization", "Bearer ", |_| "yb_".to_owned()),
        same("content-length", "1"),
        same("expect", "100-continue,"),
    ]
}

/// Least processor time of this thread, which is all of the reactor here, that an answer took, and
/// what was answered.
async fn cost(turns: usize, ask: &impl Fn() -> TestRequest) -> (Duration, u16, usize) {
    let now = || Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap();
    let mut least = (Duration::MAX, 0, 0);
    for _ in 0..turns {
        let asking = ask();
        let begun = now();
        let reply = asking.send().await;
        let took = now() - begun;
        if took < least.0 {
            least = (took, reply.status.as_u16(), reply.body.len());
        }
    }
    least
}

/// Returns an error if the time between two requests grows faster than their length.
async fn growth(
    short: impl Fn() -> TestRequest,
    long: impl Fn() -> TestRequest,
) -> Result<(), String> {
    let mut slower = String::new();
    for (of_short, of_long) in TURNS {
        let (little, much) = (cost(of_short, &short).await, cost(of_long, &long).await);
        if much.1 >= 500 {
            return Err(format!("is {}", much.1));
        }
        if much.1 >= 400 && much.2 > SHORT * TIMES as usize * ECHOED {
            return Err(format!("is {} with {} bytes", much.1, much.2));
        }
        if much.0 <= little.0 * TIMES * SLACK + FLOOR {
            return Ok(());
        }
        slower =
            format!("took {:?}, and {TIMES} times as long {:?} ({})", little.0, much.0, much.1);
    }
    Err(slower)
}

/// A service that reads addresses and headers of any size, and believes proxies.
async fn patient(forwarded_header: ForwardedHeader) -> (TestApp, String) {
    let mut settings = ServiceSettings::default();
    settings.limits.burst_per_second = 0;
    settings.server.uri_bytes = 1 << 20;
    settings.server.header_bytes = 1 << 20;
    settings.server.trusted_proxies =
        TrustedProxies::try_from(vec!["10.0.0.0/8".to_owned()]).unwrap();
    settings.server.forwarded_header = forwarded_header;
    let app = TestApp::with(settings).await;
    app.publish(&harvest()).await;
    let key = app.key(Plan::Enterprise).await;
    (app, key)
}

fn redacted(text: &str) -> &str {
    text.get(..text.len().min(60)).unwrap_or("…")
}

#[tokio::test]
async fn no_parameter_costs_more_than_its_length_contract_2() {
    let (app, key) = patient(ForwardedHeader::XForwardedFor).await;
    let long = SHORT * TIMES as usize;
    let mut wrong = String::new();
    let routes = routes().into_iter().map(|route| route.address).collect();
    for (addresses, short, long) in
        [(parameters(), values(SHORT), values(long)), (routes, queries(SHORT), queries(long))]
    {
        for address in addresses {
            for (short, long) in short.iter().zip(&long) {
                let ask = |text: &str| app.get(&format!("{address}{text}")).key(&key);
                if let Err(slower) = growth(|| ask(short), || ask(long)).await {
                    writeln!(wrong, "{address}{} {slower}", redacted(short)).unwrap();
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[tokio::test]
async fn no_header_costs_more_than_its_length_contract_2() {
    let long = SHORT * TIMES as usize;
    let (shorts, longs) = (headers(SHORT), headers(long));
    let mut wrong = String::new();
    for forwarded in [ForwardedHeader::XForwardedFor, ForwardedHeader::Forwarded] {
        let (app, key) = patient(forwarded).await;
        for address in routes().into_iter().map(|route| route.address) {
            let plain = || app.get(&address).peer("10.0.0.1");
            for ((name, short), (_, long)) in shorts.iter().zip(&longs) {
                let ask = |value: &str| {
                    let carries_key = ["x-api-key", "authorization"].contains(name);
                    let keyed = if carries_key { plain() } else { plain().key(&key) };
                    keyed.header(name, value)
                };
                if let Err(slower) = growth(|| ask(short), || ask(long)).await {
                    writeln!(wrong, "{address} {name}: {} {slower}", redacted(short)).unwrap();
                }
            }
            // One header on many lines, and many headers.
            for name in [
                Some("accept"),
                Some("if-none-match"),
                Some("x-forwarded-for"),
                Some("forwarded"),
                Some("x-api-key"),
                None,
            ] {
                let ask = |lines: usize| {
                    let line = |ask: TestRequest, index: usize| match name {
                        Some(name) => ask.header(name, "\"a/b"),
                        None => ask.header(&format!("x-{index}"), "1"),
                    };
                    (0..lines).fold(plain().key(&key), line)
                };
                if let Err(slower) = growth(|| ask(SHORT / 8), || ask(long / 8)).await {
                    writeln!(wrong, "{address} {name:?} on many lines {slower}").unwrap();
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
