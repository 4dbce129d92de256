//! The questions that Yearbook and its peers are asked over HTTP, and the request that asks each of
//! them. Owns how each wants to be asked; a request that a peer knows no form of has a reason.

use anyhow::Result;
use serde::Serialize;
use serde_json::{Value, json};

use super::peers::{CACHED, DATASETTE, FASTAPI, PeerServers, ROAPI, YEARBOOK};
use super::tables::{AREA_ROWS, BOUNDARY_ROWS, DATASET_ROWS, LATE_MATCH, LONG_ROWS, RARE_MATCH};
use crate::http::{self, HttpRequest};
use crate::measurements::Measurements;

/// A request, or the reason why there is none.
type Way = Result<HttpRequest, &'static str>;

/// Columns that are searched.
const DIMENSIONS: [&str; 4] = ["series_code", "region", "industry", "measure"];

/// Rows of an answer where a request does not say how many.
const DEFAULT_LIMIT: u64 = 100;

/// A question to everybody. What it does not name is not asked for.
#[derive(Clone, Copy, Debug, Serialize)]
struct Question {
    table: &'static str,
    start: Option<&'static str>,
    end: Option<&'static str>,
    /// Text that a dimension contains.
    dimensions: Option<&'static str>,
    /// Rows at most; a whole table without.
    limit: Option<u64>,
    geometry: bool,
    /// `json`, `csv`, `arrow` or `parquet`.
    #[serde(skip)]
    format: &'static str,
}

/// A question, and how each is asked.
#[derive(Clone, Debug)]
pub(super) struct BenchCase {
    pub(super) name: String,
    /// Rows of an answer.
    pub(super) rows: u64,
    /// The question in the words of `tests/lab/peers/same.py`; none where an answer has no rows to
    /// compare.
    pub(super) asked: Option<Value>,
    pub(super) format: &'static str,
    pub(super) ways: Vec<(&'static str, Way)>,
}

/// Requests under load.
pub(super) fn requests(all: &PeerServers) -> Result<Vec<BenchCase>> {
    let rows = |table| Question { limit: Some(DEFAULT_LIMIT), ..Question::whole(table, "json") };
    let search = |text| Question { dimensions: Some(text), ..rows("long") };
    let year = Question {
        start: Some("2020-01-01"),
        end: Some("2020-12-31"),
        limit: Some(1_000),
        ..rows("long")
    };
    let mut cases = vec![
        BenchCase::new(all, "100 rows, JSON", rows("long"))?,
        BenchCase::new(all, "one year, limit 1,000", year)?,
        BenchCase::new(all, "search, first match after 96 %", search(LATE_MATCH))?,
        BenchCase::new(all, "search, one match a month", search(RARE_MATCH))?,
        BenchCase::new(all, "100 areas with geometry", rows("areas"))?,
        BenchCase::new(all, "100 areas, geometry=false", rows("areas").without_geometry())?,
        BenchCase::new(all, "100 areas that never had geometry", rows("places"))?,
        BenchCase::new(
            all,
            "list of 1,500 datasets",
            Question { limit: Some(DATASET_ROWS), ..rows("datasets") },
        )?,
    ];
    let cached = all.ask(CACHED, &rows("long").path_of_yearbook())?;
    cases[0].ways.insert(1, (CACHED, Ok(cached)));
    Ok(cases)
}

/// Requests without rows: answers that send nothing, and the least that a server can do.
pub(super) fn minimal_requests(all: &PeerServers) -> Result<Vec<BenchCase>> {
    const NO_ETAG: Way = Err("sends no ETag for rows");
    let data = all.ask(YEARBOOK, "/v1/datasets/long/data")?;
    let tag = http::response_header(&data, "etag")?;
    let case = |name: &str, ways| BenchCase {
        name: name.to_owned(),
        rows: 0,
        asked: None,
        format: "json",
        ways,
    };
    Ok(vec![
        case(
            "304 to If-None-Match",
            vec![
                (YEARBOOK, Ok(data.with("If-None-Match", tag))),
                (ROAPI, NO_ETAG),
                (DATASETTE, NO_ETAG),
                (FASTAPI, Err("as written here, sends no ETag")),
            ],
        ),
        case("/health", vec![(YEARBOOK, Ok(all.ask(YEARBOOK, "/health")?))]),
    ])
}

/// Whole tables.
pub(super) fn exports(all: &PeerServers) -> Result<Vec<BenchCase>> {
    const FORMATS: [(&str, &str); 4] =
        [("JSON", "json"), ("CSV", "csv"), ("Parquet", "parquet"), ("Arrow", "arrow")];
    let whole = |table| Question::whole(table, "json");
    let mut cases = Vec::new();
    for (name, question, formats) in [
        ("long", whole("long"), &FORMATS[..]),
        ("areas with geometry", whole("areas"), &FORMATS[..3]),
        ("areas, geometry=false", whole("areas").without_geometry(), &FORMATS[1..3]),
        ("areas that never had geometry", whole("places"), &FORMATS[1..3]),
        ("boundaries of 200 B to 5 MB", whole("boundaries"), &FORMATS[..3]),
    ] {
        for (format_name, format) in formats {
            let name = format!("{name}, {format_name}");
            cases.push(BenchCase::new(all, &name, Question { format, ..question })?);
        }
    }
    Ok(cases)
}

impl BenchCase {
    /// The peers that are asked.
    pub(super) fn asked(&self) -> impl Iterator<Item = (&'static str, &HttpRequest)> {
        self.ways.iter().filter_map(|(who, way)| Some((*who, way.as_ref().ok()?)))
    }

    /// Adds the reasons of those that are not.
    pub(super) fn add_reasons(&self, part: &str, figures: &mut Measurements) {
        for (who, way) in &self.ways {
            if let Err(reason) = way {
                figures.add_unsupported(part, &self.name, who, reason);
            }
        }
    }

    fn new(all: &PeerServers, name: &str, question: Question) -> Result<Self> {
        let (path, columns) = question.path_of_roapi();
        let mut roapi = all.ask(ROAPI, &path)?;
        roapi.body = columns;
        if question.limit.is_none() {
            roapi = roapi.with("Accept", question.media_type());
        }
        let datasette = match question.path_of_datasette() {
            Ok(path) => Ok(all.ask(DATASETTE, &path)?),
            Err(reason) => Err(reason),
        };
        Ok(Self {
            name: name.to_owned(),
            rows: question.limit.unwrap_or(question.table_rows()),
            asked: Some(json!(question)),
            format: question.format,
            ways: vec![
                (YEARBOOK, Ok(all.ask(YEARBOOK, &question.path_of_yearbook())?)),
                (ROAPI, Ok(roapi)),
                (DATASETTE, datasette),
                (FASTAPI, Ok(all.ask(FASTAPI, &question.path_of_fastapi())?)),
            ],
        })
    }
}

impl Question {
    fn whole(table: &'static str, format: &'static str) -> Self {
        let (start, end, dimensions, limit) = (None, None, None, None);
        Self { table, start, end, dimensions, limit, geometry: true, format }
    }

    fn without_geometry(self) -> Self {
        Self { geometry: false, ..self }
    }

    fn table_rows(&self) -> u64 {
        match self.table {
            "long" => LONG_ROWS,
            "boundaries" => BOUNDARY_ROWS,
            "datasets" => DATASET_ROWS,
            _ => AREA_ROWS,
        }
    }

    fn media_type(&self) -> &'static str {
        match self.format {
            "json" => "application/json",
            "csv" => "application/csv",
            "arrow" => "application/vnd.apache.arrow.stream",
            _ => "application/vnd.apache.parquet",
        }
    }

    fn path_of_yearbook(&self) -> String {
        if self.table == "datasets" {
            return "/v1/datasets".to_owned();
        }
        let mut query = self.query();
        match self.limit {
            // Any start lifts the guard against unbounded pulls.
            None if self.table == "long" => query.push("start=0001-01-01&limit=0".to_owned()),
            None => query.push(format!("limit={}", self.table_rows())),
            Some(_) => {}
        }
        format!("/v1/datasets/{}/data?{}", self.table, query.join("&"))
    }

    fn path_of_fastapi(&self) -> String {
        if self.table == "datasets" {
            return "/datasets".to_owned();
        }
        let mut query = self.query();
        query.extend(self.limit.is_none().then(|| "limit=0".to_owned()));
        format!("/data/{}?{}", self.table, query.join("&"))
    }

    /// Parts of a query that Yearbook and the page of Python share.
    fn query(&self) -> Vec<String> {
        let part = |name: &str, value: Option<&str>| Some(format!("{name}={}", value?));
        let limit = self.limit.filter(|limit| *limit != DEFAULT_LIMIT);
        let parts = [
            part("start", self.start),
            part("end", self.end),
            part("dimensions", self.dimensions),
            limit.map(|limit| format!("limit={limit}")),
            part("format", self.limit.is_none().then_some(self.format)),
            part("geometry", (!self.geometry).then_some("false")),
        ];
        parts.into_iter().flatten().collect()
    }

    /// Path, and SQL for a search: a filter of ROAPI's addresses has no `like`.
    fn path_of_roapi(&self) -> (String, Option<String>) {
        if let Some(text) = self.dimensions {
            let cells = DIMENSIONS.map(|column| format!("{column} ILIKE '%{text}%'"));
            let sql =
                format!("SELECT * FROM long WHERE {} LIMIT {DEFAULT_LIMIT}", cells.join(" OR "));
            return ("/api/sql".to_owned(), Some(sql));
        }
        let filter =
            |bound, date: Option<_>| Some(format!("filter%5Bdate%5D{bound}=%27{}%27", date?));
        let limit = self.limit.filter(|_| self.table != "datasets");
        let columns = "columns=area_code,name,population,density";
        let parts = [
            limit.map(|limit| format!("limit={limit}")),
            filter("gte", self.start),
            filter("lte", self.end),
            (!self.geometry).then(|| columns.to_owned()),
        ];
        let query: Vec<String> = parts.into_iter().flatten().collect();
        (format!("/api/tables/{}?{}", self.table, query.join("&")), None)
    }

    fn path_of_datasette(&self) -> Result<String, &'static str> {
        let path = format!("/tables/{}", self.table);
        let hidden = if self.geometry { "" } else { "&_nocol=geometry_wkt" };
        let Some(limit) = self.limit else {
            return match self.format {
                "csv" => Ok(format!("{path}.csv?_stream=on&_size=max{hidden}")),
                _ => Err("streams whole tables as CSV only"),
            };
        };
        // SQLite's LIKE ignores the case of ASCII.
        let like = |text| DIMENSIONS.map(|column| format!("{column}+like+%27%25{text}%25%27"));
        let parts = [
            self.start.map(|date| format!("&date__gte={date}")),
            self.end.map(|date| format!("&date__lte={date}")),
            self.dimensions.map(|text| format!("&_where={}", like(text).join("+or+"))),
        ];
        let parts: String = parts.into_iter().flatten().collect();
        // It counts rows and suggests facets unless a setting forbids it.
        let lean = "_shape=array&_nocount=1&_nofacet=1&_nosuggest=1";
        Ok(format!("{path}.json?{lean}&_size={limit}{parts}{hidden}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_is_asked_in_a_way_of_their_own() {
        let areas = Question::whole("areas", "csv").without_geometry();
        assert_eq!(
            areas.path_of_yearbook(),
            "/v1/datasets/areas/data?format=csv&geometry=false&limit=20000"
        );
        assert_eq!(areas.path_of_fastapi(), "/data/areas?format=csv&geometry=false&limit=0");
        assert_eq!(
            areas.path_of_roapi(),
            ("/api/tables/areas?columns=area_code,name,population,density".to_owned(), None)
        );
        let search =
            Question { dimensions: Some("x"), limit: Some(100), ..Question::whole("long", "json") };
        assert_eq!(search.path_of_yearbook(), "/v1/datasets/long/data?dimensions=x");
        assert!(search.path_of_roapi().1.is_some_and(|sql| sql.contains("region ILIKE '%x%'")));
        let lean = "_shape=array&_nocount=1&_nofacet=1&_nosuggest=1";
        let datasette = search.path_of_datasette().unwrap_or_default();
        assert!(
            datasette
                .starts_with(&format!("/tables/long.json?{lean}&_size=100&_where=series_code")),
            "{datasette}"
        );
        assert!(Question::whole("long", "json").path_of_datasette().is_err());
    }
}
