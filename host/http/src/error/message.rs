//! Sentences of refusals and failures (contract-2-sentence): one each, with the problem and what to
//! do next. Nothing about our insides.

use yearbook_domain::read_plan::UNBOUNDED_ROWS;
use yearbook_domain::{Millis, Refusal};

use super::Error;

/// The sentence of `error`.
pub(super) fn render(error: &Error, request_id: &str) -> String {
    match error {
        Error::Refused(refusal) => refusal_message(refusal),
        Error::Room(refusal) => refusal.message(),
        Error::NoSuchRoute => "There is no such address; the list of datasets is at /v1/datasets.".to_owned(),
        Error::MethodNotAllowed => "This address can only be read; use GET, HEAD or OPTIONS.".to_owned(),
        Error::PreconditionFailed => {
            "What there is now is not what If-Match or If-Unmodified-Since names; read it anew without that header.".to_owned()
        }
        Error::AddressTooLong { limit } => format!("The address is longer than {limit} bytes; shorten its parameters."),
        Error::RangeNotSatisfiable { bytes } => {
            format!("The range lies outside of the file, which has {bytes} bytes; ask for bytes before its end.")
        }
        Error::HeadersTooLarge { limit } => format!("The request's headers are larger than {limit} bytes together; send fewer."),
        Error::Busy { retry_after } => format!("The service is at capacity; try again in {retry_after} s."),
        Error::FormatUnavailable { format, available } => {
            let others =
                if available.is_empty() { String::new() } else { format!(" ask for another format ({}) or", available.join(", ")) };
            format!("The format '{format}' is out of service at the moment;{others} try again in a minute.")
        }
        Error::TransformUnavailable { transform } => {
            format!("The transform '{transform}' is out of service at the moment; leave it out, or try again in a minute.")
        }
        Error::Rebuilding { retry_after } => {
            format!("The rows of that time are being put together from what changed since then; try again in {retry_after} s.")
        }
        Error::TimedOut => format!("The answer took too long to begin; ask for less, or try again. Request id: {request_id}."),
        Error::Unavailable => format!("The service cannot answer at the moment; try again in a few seconds. Request id: {request_id}."),
        Error::PluginFailed | Error::Internal => {
            format!("Something went wrong on our side; if trying again does not help, report request id {request_id}.")
        }
    }
}

fn refusal_message(refusal: &Refusal) -> String {
    match refusal {
        Refusal::KeyMissing => "An API key is needed; send it in the X-API-Key header.".to_owned(),
        Refusal::KeyInvalid => "The API key is malformed, unknown or revoked; check what is sent in the X-API-Key or Authorization header.".to_owned(),
        Refusal::InvalidParameters(_) => "Some parameters are wrong.".to_owned(),
        Refusal::NotAcceptable { available } => {
            format!("Nothing that Accept asks for can be made; accept one of {}, or use the format parameter.", available.join(", "))
        }
        Refusal::NoSuchDataset { name } => {
            format!("There is no dataset called '{name}'; look up the name at /v1/datasets, do not guess.")
        }
        Refusal::NoSuchIntegration { tool, available } => {
            let available = if available.is_empty() { "none".to_owned() } else { available.join(", ") };
            format!("There is no integration for '{tool}'; those that there are: {available}.")
        }
        Refusal::SnapshotGone { id, as_of } => {
            let way = read_again(*as_of, "its rows");
            format!("Snapshot '{id}' is not kept any more;{way} start again without cursor and snapshot to read the current one.")
        }
        Refusal::NoSuchSnapshot { id } => {
            format!("This dataset never had a snapshot '{id}'; its metadata lists the ids that it keeps, do not guess.")
        }
        Refusal::NotPublishedYet { first } => {
            format!("This dataset was first published at {}; ask for that time or a later one.", first.to_rfc3339())
        }
        Refusal::HistoryGone { oldest } => {
            format!("What this dataset was at that time is no longer known; ask for {} or a later time.", oldest.to_rfc3339())
        }
        Refusal::TooManyVersions { limit } => {
            format!("An answer has revisions of at most {limit} versions, with 16 KiB of credit; send a later since.")
        }
        Refusal::HistoryTooLarge => {
            "This server has too little room to put together what was published then, and trying again does not help; ask for a later time, or ask the operator.".to_owned()
        }
        Refusal::WatermarkGone { oldest, as_of } => {
            let way = read_again(*as_of, "the rows of then");
            format!("What changed since then is no longer known;{way} read snapshot '{oldest}' or a newer one anew and go on from there.")
        }
        Refusal::BulkForbidden => "The licence of this dataset forbids bulk redistribution on every plan; use /data.".to_owned(),
        Refusal::NoDerivatives { licence } => {
            format!("The licence of this dataset ({licence}) forbids to pass changed rows on, on every plan; leave apply out and calculate where you use them.")
        }
        Refusal::PaymentRequired { advice } => advice.clone(),
        Refusal::UnboundedRequest { rows, geometry, dated, bulk } => unbounded_message(*rows, *geometry, *dated, *bulk),
        Refusal::SortTooLarge { limit } => {
            format!("In another order than the natural one and newest first, and in any with apply, an answer has at most {limit} rows; give a positive limit of at most {limit}.")
        }
        Refusal::SelectionTooLarge => {
            "What has to be held to sort or count these rows is more than the service can hold; sort by columns with shorter text, give a smaller limit, or choose fewer rows with start, end or conditions.".to_owned()
        }
        Refusal::TooManySeries { limit } => {
            format!("This dataset has more than {limit} series, of which first and last would keep rows; leave first and last out and use start, end or conditions.")
        }
        Refusal::TooManyRowsToTransform { rows, limit, dated } => {
            let way = if *dated { "choose fewer with start and end" } else { "a larger plan has more, and the rows themselves are at /data without apply" };
            format!("The transforms would see {rows} rows, and this plan has {limit}; conditions do not count; {way}.")
        }
        Refusal::TooManyGroups { transform, limit } => {
            format!("The rows have more than {limit} groups for '{transform}', or groups with too long values; choose fewer rows with start, end or conditions.")
        }
        Refusal::TransformTooLarge { transform, sentence } => format!("{transform}: {sentence}"),
        Refusal::TransformedRowsTooLarge { limit } => {
            format!("The transforms make more rows than can be counted before the answer begins; give a positive limit of at most {limit}, or choose fewer rows.")
        }
        Refusal::ResponseTooLarge { plugin, ways } => {
            let ways = if ways.is_empty() { "ask the operator".to_owned() } else { ways.join(", or ") };
            format!("The answer is larger than '{plugin}' can make; {ways}.")
        }
        Refusal::QuotaExceeded { limit, resets_at } => {
            let requests = match limit {
                1 => "The 1 request of this month is".to_owned(),
                limit => format!("All {limit} requests of this month are"),
            };
            format!("{requests} used up; counting starts anew at {}.", resets_at.to_rfc3339())
        }
        Refusal::CallerShareExceeded { retry_after } => {
            format!("Too many answers to you are open at once; read them to their end or close them, then try again in {retry_after} s.")
        }
        Refusal::RateLimited { retry_after } => format!("Too many requests at once; wait {retry_after} s, then go on more slowly."),
    }
}

/// Names the time as of which `rows` are read again (contract-21-as-of-sentence).
fn read_again(as_of: Option<Millis>, rows: &str) -> String {
    as_of.map_or_else(String::new, |time| {
        format!(" as_of={} on /data reads {rows} again; or", time.to_rfc3339())
    })
}

/// Says only what would help this caller (spec-7-413).
fn unbounded_message(rows: u64, geometry: bool, dated: bool, bulk: bool) -> String {
    let reason = match (rows > UNBOUNDED_ROWS, geometry) {
        (true, true) => format!("limit=0 asks for all {rows} rows with their geometry at once"),
        (true, false) => format!("limit=0 asks for all {rows} rows at once"),
        (false, _) => "limit=0 asks for every geometry at once".to_owned(),
    };
    let without_geometry = geometry && rows <= UNBOUNDED_ROWS;
    let ways = [
        (bulk, "use the bulk download"),
        (dated, "add start or end"),
        (without_geometry, "send geometry=false"),
    ];
    let mut ways: Vec<&str> =
        ways.into_iter().filter_map(|(helps, way)| helps.then_some(way)).collect();
    ways.push(if ways.is_empty() { "give a positive limit" } else { "or give a positive limit" });
    format!("{reason}; {}.", ways.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unbounded_pull_is_told_only_what_would_help_spec_8() {
        // Each way, and whether it is named: bulk, dates, geometry=false.
        for rows in [5, 100_000, 100_001, 200_000] {
            for geometry in [true, false] {
                for dated in [true, false] {
                    for bulk in [true, false] {
                        let sentence = unbounded_message(rows, geometry, dated, bulk);
                        let named =
                            ["use the bulk download", "add start or end", "send geometry=false"]
                                .map(|way| sentence.contains(way));
                        assert_eq!(named, [bulk, dated, geometry && rows <= 100_000], "{sentence}");
                        assert!(sentence.ends_with("give a positive limit."), "{sentence}");
                    }
                }
            }
        }
        assert_eq!(
            unbounded_message(200_000, false, false, false),
            "limit=0 asks for all 200000 rows at once; give a positive limit."
        );
        assert_eq!(
            unbounded_message(200_000, true, false, true),
            "limit=0 asks for all 200000 rows with their geometry at once; use the bulk download, or give a positive limit."
        );
        assert_eq!(
            unbounded_message(5, true, true, false),
            "limit=0 asks for every geometry at once; add start or end, send geometry=false, or give a positive limit."
        );
    }

    #[test]
    fn an_answer_that_is_too_large_is_told_what_would_help() {
        let sentence = |ways: &[&str]| {
            refusal_message(&Refusal::ResponseTooLarge {
                plugin: "json".to_owned(),
                ways: ways.iter().map(|way| (*way).to_owned()).collect(),
            })
        };
        assert_eq!(
            sentence(&["ask for fewer rows with limit", "use another format (csv)"]),
            "The answer is larger than 'json' can make; ask for fewer rows with limit, or use another format (csv)."
        );
        assert_eq!(sentence(&[]), "The answer is larger than 'json' can make; ask the operator.");
    }

    #[test]
    fn one_request_of_a_month_is_a_request() {
        for (limit, expected) in [
            (1, "The 1 request of this month is used up; counting starts"),
            (10, "All 10 requests of this month are used up; counting starts"),
        ] {
            let resets_at = yearbook_domain::Millis(0);
            let sentence = refusal_message(&Refusal::QuotaExceeded { limit, resets_at });
            assert!(sentence.starts_with(expected), "{sentence}");
        }
    }

    #[test]
    fn our_own_faults_show_the_request_id_and_nothing_else() {
        for (error, expected) in [
            (
                Error::Internal,
                "Something went wrong on our side; if trying again does not help, report request id abc.",
            ),
            (
                Error::PluginFailed,
                "Something went wrong on our side; if trying again does not help, report request id abc.",
            ),
            (
                Error::TimedOut,
                "The answer took too long to begin; ask for less, or try again. Request id: abc.",
            ),
            (
                Error::Unavailable,
                "The service cannot answer at the moment; try again in a few seconds. Request id: abc.",
            ),
            (Error::Busy { retry_after: 3 }, "The service is at capacity; try again in 3 s."),
        ] {
            assert_eq!(render(&error, "abc"), expected);
        }
    }
}
