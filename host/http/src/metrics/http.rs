//! Counters of requests: by matched route (never the path that a client wrote), method, status,
//! plan and format.

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

use http::{Extensions, Method, StatusCode};
use yearbook_counters::{Counter, Gauge, Metric as _};
use yearbook_domain::Plan;

use super::counters::{BOUNDS_US, CounterTable, Histogram, NameTable};
use super::exposition::MetricsWriter;

/// Routes that are told apart: some seventy with those of the pages and the share, and what matches
/// none.
const ROUTES: usize = 128;

/// Formats that are told apart.
const FORMATS: usize = 32;

/// Methods that are told apart.
const METHODS: [Method; 7] = [
    Method::GET,
    Method::HEAD,
    Method::OPTIONS,
    Method::POST,
    Method::PUT,
    Method::PATCH,
    Method::DELETE,
];

/// Labels that a handler knows and the outermost layer needs: plan and format. In the
/// request's extensions.
#[derive(Clone, Debug, Default)]
pub struct RequestLabels(Arc<AtomicU16>);

impl RequestLabels {
    /// Notes the plan of the key.
    pub fn set_plan(&self, plan: Plan) {
        self.0.fetch_or(plan_number(plan), Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        u64::from(self.0.load(Ordering::Relaxed))
    }
}

/// The eight bits of `key` from `shift` on.
fn byte(key: u64, shift: u32) -> usize {
    usize::try_from(key >> shift & 0xFF).unwrap_or(0)
}

/// From 1; 0 is a request without a key.
fn plan_number(plan: Plan) -> u16 {
    match plan {
        Plan::Free => 1,
        Plan::Starter => 2,
        Plan::Pro => 3,
        Plan::Enterprise => 4,
    }
}

/// Counts of requests.
#[derive(Debug)]
pub struct HttpMetrics {
    routes: NameTable<ROUTES>,
    formats: NameTable<FORMATS>,
    /// Key: status, method, route, format, plan from the highest bits.
    requests: CounterTable,
    pub(super) in_flight: Gauge,
    by_route: [RouteMetrics; ROUTES],
}

impl Default for HttpMetrics {
    fn default() -> Self {
        Self {
            routes: NameTable::default(),
            formats: NameTable::default(),
            requests: CounterTable::default(),
            in_flight: Gauge::default(),
            by_route: std::array::from_fn(|_| RouteMetrics::default()),
        }
    }
}

/// Counters of a route.
#[derive(Debug, Default)]
pub(super) struct RouteMetrics {
    pub(super) first_byte: Histogram,
    pub(super) whole: Histogram,
    pub(super) bytes: Counter,
    pub(super) aborted: Counter,
}

impl HttpMetrics {
    /// The number of a matched route.
    pub(super) fn route_number(&self, path: &str) -> usize {
        self.routes.number(path)
    }

    /// Notes the format of the rows that a request asks for.
    pub fn set_format(&self, request: &Extensions, format: &str) {
        if let Some(RequestLabels(facts)) = request.get::<RequestLabels>() {
            // From 1; 0 is a request without a format.
            facts.fetch_or(
                u16::try_from(self.formats.number(format) + 1).unwrap_or(0) << 8,
                Ordering::Relaxed,
            );
        }
    }

    /// The plan and the format that `facts` hold.
    #[cfg(feature = "otlp")]
    pub fn names(&self, facts: &RequestLabels) -> (Option<&str>, Option<&str>) {
        let (plan, format) =
            (byte(facts.get(), 0).checked_sub(1), byte(facts.get(), 8).checked_sub(1));
        (
            plan.and_then(|plan| Plan::ALL.get(plan)).map(|plan| plan.as_str()),
            format.map(|format| self.formats.name(format)),
        )
    }

    /// Counters of the route with that number.
    pub(super) fn route_metrics(&self, route: usize) -> &RouteMetrics {
        &self.by_route[route.min(ROUTES - 1)]
    }

    /// Counts a response whose head is made.
    pub(super) fn answered(
        &self,
        route: usize,
        method: &Method,
        status: StatusCode,
        facts: &RequestLabels,
    ) {
        let method = METHODS.iter().position(|known| known == method).unwrap_or(METHODS.len());
        let key = u64::from(status.as_u16()) << 32
            | (method as u64) << 24
            | (route as u64) << 16
            | facts.get();
        self.requests.add(key);
    }

    /// Writes the counters.
    pub(super) fn write(&self, sheet: &mut MetricsWriter<'_>) -> std::fmt::Result {
        let status = |key: u64| (key >> 32).to_string();
        let rows: Vec<_> =
            self.requests.all().into_iter().map(|(key, count)| (key, status(key), count)).collect();
        let labelled = rows.iter().map(|(key, status, count)| {
            let plan = byte(*key, 0)
                .checked_sub(1)
                .and_then(|plan| Plan::ALL.get(plan))
                .map_or("none", |plan| plan.as_str());
            let format =
                byte(*key, 8).checked_sub(1).map_or("none", |format| self.formats.name(format));
            let method = METHODS.get(byte(*key, 24)).map_or("other", Method::as_str);
            let route = self.routes.name(byte(*key, 16));
            (
                vec![
                    ("route", route),
                    ("method", method),
                    ("status", status),
                    ("format", format),
                    ("plan", plan),
                ],
                *count,
            )
        });
        let unlabelled =
            ["route", "method", "status", "format", "plan"].map(|label| (label, "other")).to_vec();
        let others = (self.requests.overflow() > 0).then(|| (unlabelled, self.requests.overflow()));
        sheet.counter(
            "yearbook_http_requests",
            "Requests whose response began, by matched route, method, status, format of rows and plan of the key.",
            labelled.chain(others),
        )?;
        let routes = || {
            (0..ROUTES)
                .map(|route| (self.routes.name(route), self.route_metrics(route)))
                .filter(|(_, route)| route.was_used())
        };
        let seconds = |bound: &u64| *bound as f64 / 1e6;
        let bounds: Vec<f64> = BOUNDS_US.iter().map(seconds).collect();
        let times = |of: fn(&RouteMetrics) -> &Histogram| {
            routes().map(move |(name, route)| {
                let (counts, sum) = of(route).read();
                (vec![("route", name)], counts.to_vec(), sum)
            })
        };
        sheet.histogram(
            "yearbook_http_first_byte_seconds",
            "Time from a request's head to its response's head.",
            &bounds,
            times(|route| &route.first_byte),
        )?;
        sheet.histogram(
            "yearbook_http_request_duration_seconds",
            "Time from a request's head to the end of its response's body, whoever ended it; the client's reading is part of it.",
            &bounds,
            times(|route| &route.whole),
        )?;
        let of = |counter: fn(&RouteMetrics) -> &Counter| {
            routes().map(move |(name, route)| (vec![("route", name)], counter(route).read()))
        };
        sheet.counter(
            "yearbook_http_response_bytes",
            "Bytes of response bodies, as sent.",
            of(|route| &route.bytes),
        )?;
        sheet.counter(
            "yearbook_http_aborted",
            "Requests whose response did not reach its end: the client went away, or the body was cut.",
            of(|route| &route.aborted),
        )?;
        let in_flight = self.in_flight.read();
        sheet.gauge(
            "yearbook_http_requests_in_flight",
            "Requests that have begun and whose response has not ended.",
            [(vec![], in_flight)],
        )
    }
}

impl RouteMetrics {
    fn was_used(&self) -> bool {
        self.whole.read().0.iter().any(|count| *count > 0)
            || self.first_byte.read().0.iter().any(|count| *count > 0)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::path::Path;

    use super::*;

    /// Number of lines that add a route, in the sources below `folder`.
    fn routes_below(folder: &Path) -> usize {
        let paths = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
        let routes = paths.map(|path| {
            if path.is_dir() {
                return routes_below(&path);
            }
            if path.extension().is_none_or(|extension| extension != "rs") {
                return 0;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            text.lines().filter(|line| line.trim_start().starts_with(".route(")).count()
        });
        routes.sum()
    }

    #[test]
    fn there_is_room_for_every_route_issue_6_7() {
        let routes = routes_below(Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap());
        // Besides them there is what matches none.
        assert!((60..ROUTES - 1).contains(&routes), "{routes} routes");
        let table = NameTable::<ROUTES>::default();
        for route in 0..=routes {
            assert_eq!(table.number(&route.to_string()), route);
        }
    }
}
