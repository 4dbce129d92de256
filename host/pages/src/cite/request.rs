//! Path, parameters and `Accept` of a citation. Never touches the catalog.

use http::Uri;
use http::request::Parts;
use percent_encoding::percent_decode_str;
use yearbook_domain::query::{is_condition, last_value, parse_data, parse_pairs, scalar};
use yearbook_domain::{
    CanonicalQuery, CitationFormat, Dataset, DatasetName, Namespace, ReadPlan, Refusal, Selection,
    Snapshot, SnapshotId, ValidationError, read_plan,
};
use yearbook_http::{Error, accept, media_types};

/// Parameters that select rows and columns; all others but `format` and `verify` are ignored, and
/// `apply` is refused (contract-16-citations).
const SELECTION: [&str; 10] =
    ["start", "end", "dimensions", "columns", "geometry", "limit", "sort", "first", "last", "bbox"];

/// A request for a citation.
#[derive(Clone, Debug)]
pub(super) struct CitationRequest {
    pub(super) name: DatasetName,
    pub(super) snapshot_id: SnapshotId,
    pub(super) selection: Selection,
    /// Limit that the client named, where it is positive.
    limit: Option<u64>,
    /// None: a page.
    pub(super) format: Option<CitationFormat>,
    /// True where the digest of the result is to be computed.
    pub(super) verify: bool,
}

/// Returns true where a request asks for a digest of its result. What is no truth value is refused
/// later.
pub(super) fn wants_verification(uri: &Uri) -> bool {
    let pairs = parse_pairs(uri.query().unwrap_or_default());
    last_value(&pairs, "verify")
        .is_some_and(|raw| matches!(scalar::parse_boolean("verify", raw), Ok(true)))
}

impl CitationRequest {
    /// Parses a request.
    ///
    /// # Errors
    /// 404 for what is no name of a dataset or no id of a snapshot, 422 with every wrong parameter
    /// at once, 406.
    pub(super) fn parse(parts: &Parts) -> Result<Self, Error> {
        let mut segments = parts.uri.path().split('/').skip(2).map(decode);
        let name = segments.next().unwrap_or_default();
        let snapshot_id = segments.next().unwrap_or_default();
        let Some(name) = DatasetName::parse(&name) else {
            return Err(Refusal::NoSuchDataset { name }.into());
        };
        let Some(snapshot_id) = SnapshotId::parse(&snapshot_id) else {
            return Err(Refusal::NoSuchSnapshot { id: snapshot_id }.into());
        };
        let pairs = parse_pairs(parts.uri.query().unwrap_or_default());
        let selects = |name: &str| SELECTION.contains(&name) || is_condition(name);
        let selecting: Vec<_> = pairs.iter().filter(|(name, _)| selects(name)).cloned().collect();
        let selection = parse_data(&selecting, &[]);
        let format = last_value(&pairs, "format").map(parse_format).transpose();
        let verify = last_value(&pairs, "verify")
            .map(|raw| scalar::parse_boolean("verify", raw))
            .transpose();
        let apply = last_value(&pairs, "apply").map(|raw| {
            let sentence = "a citation is of stored rows; leave apply out, and say beside it what was computed";
            ValidationError::value_error("apply", sentence, raw)
        });
        let (selection, format, verify) = match (selection, format, verify, apply) {
            (Ok((selection, _)), Ok(format), Ok(verify), None) => (selection, format, verify),
            (selection, format, verify, apply) => {
                let problems = selection.err().unwrap_or_default();
                let others = apply.into_iter().chain(format.err()).chain(verify.err());
                let problems = problems.into_iter().chain(others).collect();
                return Err(Refusal::InvalidParameters(problems).into());
            }
        };
        let format = match format {
            Some(format) => Some(format),
            None => negotiate(parts)?,
        };
        let named = last_value(&pairs, "limit").is_some();
        let limit = CanonicalQuery::explicit_limit(&selection, named);
        Ok(Self { name, snapshot_id, selection, limit, format, verify: verify.unwrap_or(false) })
    }

    /// Plans the whole selection in `snapshot`, without pages or a row cap.
    ///
    /// # Errors
    /// 422 for columns that the snapshot does not have.
    pub(super) fn plan(
        &self,
        snapshot: &std::sync::Arc<Snapshot>,
        dataset: Option<&Dataset>,
    ) -> Result<ReadPlan, Error> {
        // A retired dataset has no rows to read, so its namespace is never shown.
        let namespace = dataset.map(|dataset| dataset.namespace.clone());
        let namespace = namespace.or_else(|| Namespace::parse(self.name.as_str()));
        let absent = || Refusal::NoSuchDataset { name: self.name.to_string() };
        let (name, snapshot) = (self.name.clone(), std::sync::Arc::clone(snapshot));
        let namespace = namespace.ok_or_else(absent)?;
        let plan = read_plan::resolve_selection(name, namespace, snapshot, &self.selection)
            .map_err(Refusal::InvalidParameters)?;
        Ok(ReadPlan { max_rows: self.limit, ..plan })
    }
}

fn decode(segment: &str) -> String {
    percent_decode_str(segment).decode_utf8_lossy().into_owned()
}

fn parse_format(raw: &str) -> Result<CitationFormat, ValidationError> {
    scalar::check_literal("format", raw, CitationFormat::ALL.map(CitationFormat::name))?;
    Ok(CitationFormat::parse(raw).unwrap_or(CitationFormat::Text))
}

/// The best of page and formats by `Accept`; none: the page.
///
/// # Errors
/// 406 where the client accepts none of them.
fn negotiate(parts: &Parts) -> Result<Option<CitationFormat>, Error> {
    let formats = CitationFormat::ALL.map(CitationFormat::media_type);
    let offers: Vec<&str> = std::iter::once(media_types::HTML).chain(formats).collect();
    match accept::choose(&parts.headers, &offers) {
        Some(0) => Ok(None),
        Some(index) => Ok(CitationFormat::ALL.get(index - 1).copied()),
        None => {
            let available = offers.into_iter().map(str::to_owned).collect();
            Err(Refusal::NotAcceptable { available }.into())
        }
    }
}
