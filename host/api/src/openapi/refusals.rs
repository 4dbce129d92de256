//! Refusals and failures of each route, with an example of each in the very words that clients read
//! (contract-2-sentence). Statuses, codes and sentences have the same source as those of answers.

mod descriptions;

use http::StatusCode;
use serde_json::{Map, Value, json};
use yearbook_domain::query::scalar;
use yearbook_domain::read_plan::{MAX_SERIES, MAX_SORTED_ROWS};
use yearbook_domain::{Digest, Millis, Refusal, SnapshotId, ValidationError};
use yearbook_http::middleware::error_bodies;
use yearbook_http::{CoreSettings, Error};
use yearbook_sandbox::PluginSet;

use self::descriptions::describe;
use super::examples::SNAPSHOT;
use super::headers;
use super::operation::RouteKind;
use crate::request::data_link::MAX_DAYS;
use crate::routes::link::refusal::LinkRefusal;

/// The id in examples.
const REQUEST_ID: &str = "6f1d0c55a3b24f9e";

/// Format or tool in examples where no plugin is loaded.
const UNNAMED: &str = "example";

/// The moment in examples, 2027-01-01T00:00:00Z.
const EXAMPLE_TIME: Millis = Millis(1_798_761_600_000);

/// Responses by status, in the order of statuses.
pub(super) fn error_responses(kind: RouteKind, plugins: &PluginSet) -> Vec<(String, Value)> {
    let met: Vec<Error> =
        all_errors(kind, plugins).into_iter().filter(|error| can_answer(kind, error)).collect();
    let mut statuses: Vec<StatusCode> = met.iter().map(Error::status).collect();
    statuses.sort_unstable();
    statuses.dedup();
    let together = |status: StatusCode| {
        met.iter().filter(|error| error.status() == status).collect::<Vec<_>>()
    };
    statuses
        .into_iter()
        .map(|status| (status.as_str().to_owned(), error_response(kind, status, &together(status))))
        .collect()
}

/// Returns whether routes of this kind can answer so. Closed: a new error does not compile until
/// its routes are named here.
fn can_answer(kind: RouteKind, error: &Error) -> bool {
    let named = matches!(
        kind,
        RouteKind::Dataset
            | RouteKind::Preview
            | RouteKind::Data
            | RouteKind::Changes
            | RouteKind::Revisions
            | RouteKind::Values
            | RouteKind::Link
            | RouteKind::LinkedRows
            | RouteKind::Bulk
    );
    let is_of_versions = kind == RouteKind::Revisions;
    let sends_rows = is_of_versions || matches!(kind, RouteKind::Data | RouteKind::LinkedRows);
    // A link is refused what the rows would be refused.
    let of_rows = sends_rows || kind == RouteKind::Link;
    match error {
        Error::Refused(refusal) => match refusal {
            Refusal::KeyMissing | Refusal::KeyInvalid => kind.needs_key(),
            Refusal::InvalidParameters(_) => {
                named || matches!(kind, RouteKind::Listing | RouteKind::Integration)
            }
            Refusal::NotAcceptable { .. } => {
                is_of_versions
                    || matches!(kind, RouteKind::Data | RouteKind::Changes | RouteKind::Integration)
            }
            Refusal::NoSuchDataset { .. } => named,
            Refusal::TooManyVersions { .. } => is_of_versions,
            Refusal::HistoryTooLarge => of_rows || kind == RouteKind::Values,
            Refusal::NoSuchSnapshot { .. }
            | Refusal::NotPublishedYet { .. }
            | Refusal::SnapshotGone { .. }
            | Refusal::TooManySeries { .. }
                if is_of_versions =>
            {
                // What would name a version or rows of series is refused before.
                false
            }
            Refusal::NoSuchSnapshot { .. } => {
                of_rows || matches!(kind, RouteKind::Changes | RouteKind::Values)
            }
            Refusal::WatermarkGone { .. } => kind == RouteKind::Changes,
            Refusal::NotPublishedYet { .. }
            | Refusal::HistoryGone { .. }
            | Refusal::SnapshotGone { .. } => of_rows || kind == RouteKind::Values,
            Refusal::UnboundedRequest { .. }
            | Refusal::SortTooLarge { .. }
            | Refusal::SelectionTooLarge
            | Refusal::TooManySeries { .. }
            | Refusal::NoDerivatives { .. }
            | Refusal::TooManyRowsToTransform { .. } => of_rows,
            Refusal::TooManyGroups { .. }
            | Refusal::TransformTooLarge { .. }
            | Refusal::TransformedRowsTooLarge { .. } => sends_rows,
            Refusal::ResponseTooLarge { .. } => {
                sends_rows || matches!(kind, RouteKind::Changes | RouteKind::Integration)
            }
            Refusal::BulkForbidden | Refusal::PaymentRequired { .. } => kind == RouteKind::Bulk,
            Refusal::QuotaExceeded { .. } => kind.charged(),
            Refusal::CallerShareExceeded { .. } => refuses_for_capacity(kind),
            Refusal::RateLimited { .. } => kind != RouteKind::Health,
            // The description lists the tools that are loaded; each has an address of its own.
            Refusal::NoSuchIntegration { .. } => false,
        },
        // Those of other rooms are not described here.
        Error::Room(_) => error.room().is_some_and(|refusal: &LinkRefusal| match refusal {
            LinkRefusal::TooLong => kind == RouteKind::Link,
            LinkRefusal::Unknown | LinkRefusal::Ended => kind == RouteKind::LinkedRows,
        }),
        // Not said of a route that is there.
        Error::NoSuchRoute => false,
        Error::PreconditionFailed => {
            (named && kind != RouteKind::Link) || kind == RouteKind::Listing
        }
        Error::RangeNotSatisfiable { .. } => kind == RouteKind::Bulk,
        // To clients it is one of our own.
        Error::PluginFailed => false,
        Error::Busy { .. } | Error::Unavailable => kind != RouteKind::Health,
        Error::Rebuilding { .. } => of_rows || kind == RouteKind::Values,
        Error::FormatUnavailable { .. } => of_rows || kind == RouteKind::Changes,
        Error::TransformUnavailable { .. } => of_rows,
        Error::MethodNotAllowed
        | Error::AddressTooLong { .. }
        | Error::HeadersTooLarge { .. }
        | Error::TimedOut
        | Error::Internal => true,
    }
}

/// Returns whether want of capacity is refused; integrations wait as long as their caller does
/// (contract-4-integration-wait).
fn refuses_for_capacity(kind: RouteKind) -> bool {
    (kind.charged() && kind != RouteKind::Integration)
        || matches!(kind, RouteKind::Preview | RouteKind::Link)
}

/// One of each that there is.
fn all_errors(kind: RouteKind, plugins: &PluginSet) -> Vec<Error> {
    let settings = CoreSettings::default();
    let formats = plugins.data_formats();
    let transform = plugins.transforms().next().map_or(UNNAMED, |transform| transform.name());
    let generator = plugins.generators().last().map(|generator| generator.name());
    let available = match kind {
        RouteKind::Integration => {
            crate::routes::integrations::view::MEDIA_TYPES.map(str::to_owned).to_vec()
        }
        _ => plugins.encoders().map(|encoder| encoder.description().media_type.clone()).collect(),
    };
    let name = "consumer_price".to_owned();
    let oldest = SnapshotId::parse(SNAPSHOT)
        .unwrap_or_else(|| SnapshotId::from_digest(Digest::compute(SNAPSHOT.as_bytes())));
    let refusals = [
        Refusal::KeyMissing,
        Refusal::KeyInvalid,
        Refusal::InvalidParameters(example_problems(kind, &formats)),
        Refusal::NotAcceptable { available },
        Refusal::NoSuchDataset { name: if kind == RouteKind::Bulk { format!("prices/{name}") } else { name } },
        Refusal::SnapshotGone { id: SNAPSHOT.to_owned(), as_of: Some(EXAMPLE_TIME) },
        Refusal::NoSuchSnapshot { id: "00000000000000000000000000000000".to_owned() },
        Refusal::NotPublishedYet { first: EXAMPLE_TIME },
        Refusal::HistoryGone { oldest: EXAMPLE_TIME },
        Refusal::TooManyVersions { limit: 1_000 },
        Refusal::HistoryTooLarge,
        Refusal::WatermarkGone { oldest, as_of: Some(EXAMPLE_TIME) },
        Refusal::BulkForbidden,
        Refusal::NoDerivatives { licence: "CC-BY-ND-4.0".to_owned() },
        Refusal::PaymentRequired {
            advice: "Bulk downloads need a Pro or Enterprise plan; upgrade, or page through /data with an explicit limit.".to_owned(),
        },
        Refusal::UnboundedRequest { rows: 250_000, geometry: false, dated: true, bulk: false },
        Refusal::SortTooLarge { limit: MAX_SORTED_ROWS },
        Refusal::TooManySeries { limit: MAX_SERIES },
        Refusal::TooManyRowsToTransform {
            rows: 2_500_000,
            limit: settings.plans.free.transform_rows.unwrap_or(1_000_000),
            dated: true,
        },
        Refusal::ResponseTooLarge {
            plugin: match kind {
                RouteKind::Integration => generator,
                _ => formats.first().copied(),
            }
            .unwrap_or(UNNAMED)
            .to_owned(),
            ways: vec![if kind == RouteKind::Integration { "name fewer datasets" } else { "ask for fewer rows with limit" }.to_owned()],
        },
        Refusal::QuotaExceeded { limit: settings.plans.free.requests_per_month.unwrap_or(10), resets_at: EXAMPLE_TIME },
        Refusal::CallerShareExceeded { retry_after: 5 },
        Refusal::RateLimited { retry_after: 1 },
    ];
    let others = [
        Error::MethodNotAllowed,
        Error::PreconditionFailed,
        Error::AddressTooLong { limit: settings.server.uri_bytes },
        Error::RangeNotSatisfiable { bytes: 123_456 },
        Error::HeadersTooLarge { limit: settings.server.header_bytes },
        Error::Busy { retry_after: 1 },
        Error::FormatUnavailable {
            format: formats.last().copied().unwrap_or(UNNAMED).to_owned(),
            available: formats.iter().take(2).map(|&format| format.to_owned()).collect(),
        },
        Error::TransformUnavailable { transform: transform.to_owned() },
        Error::Rebuilding { retry_after: 5 },
        Error::TimedOut,
        Error::Unavailable,
        Error::Internal,
    ];
    let of_links = [LinkRefusal::TooLong, LinkRefusal::Unknown, LinkRefusal::Ended];
    let refusals = refusals.into_iter().map(Error::Refused);
    refusals.chain(of_links.map(Error::from)).chain(others).collect()
}

/// Problems in the example of a 422, at parameters that the route has.
fn example_problems(kind: RouteKind, formats: &[&str]) -> Vec<ValidationError> {
    match kind {
        RouteKind::Data => [
            scalar::parse_date("start", "2020-13-01").err(),
            scalar::parse_count("limit", "-1").err(),
            scalar::check_literal("format", "xml", formats.iter().copied()).err(),
        ]
        .into_iter()
        .flatten()
        .collect(),
        RouteKind::Link => {
            scalar::parse_positive("days", "400", MAX_DAYS).err().into_iter().collect()
        }
        RouteKind::Integration => vec![ValidationError::missing("datasets")],
        RouteKind::Health
        | RouteKind::Listing
        | RouteKind::Dataset
        | RouteKind::Preview
        | RouteKind::Changes
        | RouteKind::Revisions
        | RouteKind::Values
        | RouteKind::LinkedRows
        | RouteKind::Bulk
        | RouteKind::Me => {
            vec![ValidationError::name_pattern_mismatch("name", "Consumer-Prices")]
        }
    }
}

fn error_response(kind: RouteKind, status: StatusCode, errors: &[&Error]) -> Value {
    let codes: Vec<&str> = errors.iter().map(|error| error.code()).collect();
    let code = json!({"description": "snake_case name of the refusal.", "required": true, "schema": {"type": "string", "enum": codes}});
    let mut names = Vec::new();
    if errors.iter().any(|error| error.retry_after().is_some()) {
        names.push("Retry-After");
    }
    match status {
        StatusCode::UNAUTHORIZED => names.push("WWW-Authenticate"),
        StatusCode::METHOD_NOT_ALLOWED => names.push("Allow"),
        StatusCode::RANGE_NOT_SATISFIABLE => names.push("Content-Range"),
        StatusCode::GONE if kind == RouteKind::Changes => names.push("X-Service-Watermark"),
        _ => {}
    }
    // What the key check declines, and what is declined before it, says nothing of the month.
    let before_the_key = [401, 405, 414, 431].contains(&status.as_u16());
    let is_burst = status == StatusCode::TOO_MANY_REQUESTS && kind != RouteKind::LinkedRows;
    if is_burst || (kind.needs_key() && !before_the_key) {
        names.extend(headers::RATE_LIMIT_HEADERS);
    }
    if kind == RouteKind::LinkedRows {
        names.extend(headers::LINK_HEADERS);
    }
    let mut headers = headers::references(&names);
    headers[headers::display_name(&yearbook_http::headers::ERROR_CODE)] = code;

    let invalid = status == StatusCode::UNPROCESSABLE_ENTITY;
    let mut content = Map::new();
    let forms = if invalid {
        &[(false, "HTTPValidationError")][..]
    } else {
        &[(false, "Error"), (true, "Problem")]
    };
    for (problem, schema) in forms {
        let mut examples = Map::new();
        let mut media_type = "";
        for error in errors {
            let (content_type, body) = error_bodies::body(error, *problem, REQUEST_ID);
            media_type = content_type;
            examples.insert(error.code().to_owned(), json!({"value": body}));
        }
        let schema = json!({"$ref": format!("#/components/schemas/{schema}")});
        content.insert(media_type.to_owned(), json!({"schema": schema, "examples": examples}));
    }
    json!({"description": describe(kind, status), "headers": headers, "content": content})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_of_spec_7_is_described_where_it_can_be_met() {
        let plugins = PluginSet::default();
        let statuses = |kind| {
            error_responses(kind, &plugins)
                .into_iter()
                .map(|(status, _)| status)
                .collect::<Vec<_>>()
        };
        assert_eq!(statuses(RouteKind::Health), ["405", "414", "431", "500", "503"]);
        assert_eq!(
            statuses(RouteKind::Data),
            [
                "401", "403", "404", "405", "406", "410", "412", "413", "414", "422", "429", "431",
                "500", "503"
            ]
        );
        assert_eq!(
            statuses(RouteKind::Bulk),
            [
                "401", "402", "403", "404", "405", "412", "414", "416", "422", "429", "431", "500",
                "503"
            ]
        );
        assert!(
            statuses(RouteKind::Revisions).contains(&"410".to_owned()),
            "the history may be cut between two pages"
        );
        assert!(
            !statuses(RouteKind::Preview).contains(&"401".to_owned()),
            "a preview needs no key"
        );
    }

    #[test]
    fn whatever_is_429_or_503_says_when_to_come_back_contract_5() {
        for error in all_errors(RouteKind::Data, &PluginSet::default()) {
            let passes = matches!(error.status().as_u16(), 429 | 503);
            assert_eq!(error.retry_after().is_some_and(|seconds| seconds > 0), passes, "{error:?}");
        }
    }

    #[test]
    fn every_problem_in_an_example_is_one() {
        assert_eq!(example_problems(RouteKind::Data, &["json", "csv"]).len(), 3);
        let place = |problem: &ValidationError| problem.loc[0].clone();
        assert_eq!(
            example_problems(RouteKind::Bulk, &[]).iter().map(place).collect::<Vec<_>>(),
            ["path"]
        );
    }
}
