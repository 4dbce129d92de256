//! Requests under load: cases, and their measurement. All peers are asked for the same rows, in
//! turn, on the cores that the caller chose.

use anyhow::Result;
use serde_json::{Value, json};

use super::Bench;
use super::BenchCase;
use super::equivalence::{self, EquivalenceResult};
use super::peers::{CACHED, DATASETTE, FASTAPI, PeerServers, ROAPI, YEARBOOK};
use super::tables::{AREA_ROWS, DATASET_ROWS, LATE_MATCH, RARE_MATCH};
use crate::http::HttpRequest;
use crate::measurements::{Measurements, median};
use crate::{http, wrk};

/// Part of every figure here.
const PART: &str = "requests";

/// Seconds of a run of a peer that answers nothing in the second of warming up.
const SLOW_SECONDS: u32 = 15;

const NO_ETAG: Result<HttpRequest, &str> = Err("sends no ETag for rows");

/// Returns the requests that are measured. The first case is the one that others are compared with.
pub(super) fn cases(all: &PeerServers) -> Result<Vec<BenchCase>> {
    let base = |who: &str| all.get(who).map(|process| process.base.clone());
    let (ours, roapi, datasette, fastapi) =
        (base(YEARBOOK)?, base(ROAPI)?, base(DATASETTE)?, base(FASTAPI)?);
    let key = |url: String| Ok(HttpRequest::get(url).with("X-API-Key", &all.key));
    let get = |url: String| Ok(HttpRequest::get(url));
    let tables = format!("{roapi}/api/tables");
    // Datasette counts rows and suggests facets unless told not to.
    let lean = "_shape=array&_nocount=1&_nofacet=1&_nosuggest=1";
    let search = |name, needle: &str| BenchCase {
        name,
        rows: 100,
        question: json!({ "table": "long", "dimensions": needle, "limit": 100 }),
        format: "json",
        ways: vec![
            (YEARBOOK, key(format!("{ours}/v1/datasets/long/data?dimensions={needle}"))),
            (
                ROAPI,
                Ok(HttpRequest {
                    url: format!("{roapi}/api/sql"),
                    headers: Vec::new(),
                    body: Some(roapi_search(needle)),
                }),
            ),
            (
                DATASETTE,
                get(format!(
                    "{datasette}/tables/long.json?{lean}&_size=100&_where={}",
                    datasette_search(needle)
                )),
            ),
            (FASTAPI, get(format!("{fastapi}/data/long?dimensions={needle}"))),
        ],
    };
    let mut cases = vec![
        BenchCase {
            name: "100 rows, JSON",
            rows: 100,
            question: json!({ "table": "long", "limit": 100 }),
            format: "json",
            ways: vec![
                (YEARBOOK, key(format!("{ours}/v1/datasets/long/data"))),
                (ROAPI, get(format!("{tables}/long?limit=100"))),
                (DATASETTE, get(format!("{datasette}/tables/long.json?{lean}&_size=100"))),
                (FASTAPI, get(format!("{fastapi}/data/long"))),
            ],
        },
        BenchCase {
            name: "one year, limit 1,000",
            rows: 1_000,
            question: json!({ "table": "long", "start": "2020-01-01", "end": "2020-12-31", "limit": 1000 }),
            format: "json",
            ways: vec![
                (
                    YEARBOOK,
                    key(format!(
                        "{ours}/v1/datasets/long/data?start=2020-01-01&end=2020-12-31&limit=1000"
                    )),
                ),
                (
                    ROAPI,
                    get(format!(
                        "{tables}/long?limit=1000&filter%5Bdate%5Dgte=%272020-01-01%27&filter%5Bdate%5Dlte=%272020-12-31%27"
                    )),
                ),
                (
                    DATASETTE,
                    get(format!(
                        "{datasette}/tables/long.json?{lean}&_size=1000&date__gte=2020-01-01&date__lte=2020-12-31"
                    )),
                ),
                (
                    FASTAPI,
                    get(format!("{fastapi}/data/long?start=2020-01-01&end=2020-12-31&limit=1000")),
                ),
            ],
        },
        search("search, first match after 96 %", LATE_MATCH),
        search("search, one match a month", RARE_MATCH),
    ];
    for (name, table, omitted) in [
        ("100 areas with geometry", "areas", ""),
        ("100 areas, geometry=false", "areas", "geometry=false"),
        ("100 areas that never had geometry", "places", ""),
    ] {
        let columns =
            if omitted.is_empty() { "" } else { "&columns=area_code,name,population,density" };
        let hidden = if omitted.is_empty() { "" } else { "&_nocol=geometry_wkt" };
        cases.push(BenchCase {
            name,
            rows: 100,
            question: json!({ "table": table, "limit": 100, "geometry": omitted.is_empty() }),
            format: "json",
            ways: vec![
                (YEARBOOK, key(format!("{ours}/v1/datasets/{table}/data?{omitted}"))),
                (ROAPI, get(format!("{tables}/{table}?limit=100{columns}"))),
                (
                    DATASETTE,
                    get(format!("{datasette}/tables/{table}.json?{lean}&_size=100{hidden}")),
                ),
                (FASTAPI, get(format!("{fastapi}/data/{table}?{omitted}"))),
            ],
        });
    }
    cases.push(BenchCase {
        name: "list of 1,500 datasets",
        rows: DATASET_ROWS,
        question: json!({ "table": "datasets", "limit": DATASET_ROWS }),
        format: "json",
        ways: vec![
            (YEARBOOK, key(format!("{ours}/v1/datasets"))),
            (ROAPI, get(format!("{tables}/datasets"))),
            (
                DATASETTE,
                get(format!("{datasette}/tables/datasets.json?{lean}&_size={DATASET_ROWS}")),
            ),
            (FASTAPI, get(format!("{fastapi}/datasets"))),
        ],
    });
    if all.has(CACHED) {
        let cached = base(CACHED)?;
        cases[0].ways.insert(1, (CACHED, key(format!("{cached}/v1/datasets/long/data"))));
    }
    debug_assert!(
        AREA_ROWS > 100 && cases.iter().all(|case| !case.ways.is_empty()),
        "every case asks somebody"
    );
    Ok(cases)
}

/// Returns cases without rows: answers that send nothing, and the least that a server can do.
pub(super) fn minimal_cases(all: &PeerServers) -> Result<Vec<BenchCase>> {
    let ours = &all.get(YEARBOOK)?.base;
    let data =
        HttpRequest::get(format!("{ours}/v1/datasets/long/data")).with("X-API-Key", &all.key);
    let tag = http::response_header(&data, "etag")?;
    let case =
        |name, ways| BenchCase { name, rows: 0, question: Value::Null, format: "json", ways };
    Ok(vec![
        case(
            "304 to If-None-Match",
            vec![
                (YEARBOOK, Ok(data.with("If-None-Match", &tag))),
                (ROAPI, NO_ETAG),
                (DATASETTE, NO_ETAG),
                (FASTAPI, Err("as written here, sends no ETag")),
            ],
        ),
        case("/health", vec![(YEARBOOK, Ok(HttpRequest::get(format!("{ours}/health"))))]),
    ])
}

/// SQL, because a filter of ROAPI's addresses has no `like`.
fn roapi_search(needle: &str) -> String {
    let cells = ["series_code", "region", "industry", "measure"]
        .map(|column| format!("{column} ILIKE '%{needle}%'"));
    format!("SELECT * FROM long WHERE {} LIMIT 100", cells.join(" OR "))
}

/// The same for Datasette, as part of an address; SQLite's LIKE ignores the case of ASCII.
fn datasette_search(needle: &str) -> String {
    ["series_code", "region", "industry", "measure"]
        .map(|column| format!("{column}+like+%27%25{needle}%25%27"))
        .join("+or+")
}

/// Measures every case, each peer in turn.
pub(super) fn measure(
    bench: &Bench<'_>,
    all: &PeerServers,
    cases: &[BenchCase],
    found: &[EquivalenceResult],
    figures: &mut Measurements,
) -> Result<()> {
    let scripts = bench.repository.root().join("tests/lab/peers");
    let cores = bench.args.cores().generator;
    for case in cases {
        println!("-- {}", case.name);
        let mut runs: Vec<Runs<'_>> = Vec::new();
        for (who, way) in &case.ways {
            if let Ok(ask) = way {
                let quick = wrk::run(ask, 1, &cores, &scripts)?.requests > 0.0;
                let seconds = if quick { bench.args.seconds } else { SLOW_SECONDS };
                all.get(who)?.reset_peak()?;
                runs.push(Runs { who, ask, seconds, loads: Vec::new(), cpu: 0.0 });
            }
        }
        for _ in 0..bench.args.runs {
            // Whoever is slow is measured once, for long enough that there is something to count.
            for run in
                runs.iter_mut().filter(|run| run.loads.is_empty() || run.seconds != SLOW_SECONDS)
            {
                let server = all.get(run.who)?;
                let before = server.cpu_time()?;
                run.loads.push(wrk::run(run.ask, run.seconds, &cores, &scripts)?);
                run.cpu += server.cpu_time()?.since(before);
            }
        }
        for run in &mut runs {
            run.loads.retain(|load| load.requests > 0.0);
            if run.loads.is_empty() {
                figures.add_unsupported(
                    PART,
                    case.name,
                    run.who,
                    &format!("no answer within {} s", run.seconds),
                );
                continue;
            }
            figures.add(
                PART,
                case.name,
                run.who,
                run.values(case.rows, all.get(run.who)?.peak_mebibytes()?),
            );
            figures.note(equivalence::remark(found, case.name, run.who));
        }
        for (who, way) in &case.ways {
            if let Err(reason) = way {
                figures.add_unsupported(PART, case.name, who, reason);
            }
        }
    }
    Ok(())
}

/// The runs of one peer.
struct Runs<'a> {
    who: &'static str,
    ask: &'a HttpRequest,
    /// Of each run.
    seconds: u32,
    loads: Vec<wrk::LoadResult>,
    /// Seconds of processor time in all of them.
    cpu: f64,
}

impl Runs<'_> {
    fn values(&self, rows: u64, peak: f64) -> Vec<(&'static str, f64)> {
        let of = |value: fn(&wrk::LoadResult) -> f64| {
            median(&self.loads.iter().map(value).collect::<Vec<_>>())
        };
        let requests: f64 = self.loads.iter().map(|load| load.requests).sum();
        let rate = of(|load| load.rate);
        let mut values = vec![
            ("requests_a_second", rate),
            ("median_ms", of(|load| load.p50)),
            ("p99_ms", of(|load| load.p99)),
            ("cpu_ms_a_request", self.cpu / requests * 1e3),
            ("peak_mib", peak),
        ];
        if rows > 0 {
            #[expect(clippy::cast_precision_loss, reason = "rows of one answer")]
            let rows = rows as f64;
            values.push(("rows_a_second", rate * rows));
            values.push(("cpu_s_a_million_rows", self.cpu / requests / rows * 1e6));
        }
        values
    }
}
