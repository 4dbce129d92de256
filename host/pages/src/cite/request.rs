//! Path, parameters and `Accept` of a citation. Never touches the catalog.

use http::Uri;
use http::request::Parts;
use percent_encoding::percent_decode_str;
use yearbook_domain::query::{last_value, parse_data, parse_pairs, scalar};
use yearbook_domain::{
    CanonicalQuery, CitationFormat, Dataset, DatasetName, Namespace, ReadPlan, Refusal, Selection,
    Snapshot, SnapshotId, ValidationError, read_plan,
};
use yearbook_http::cited_transforms::{CitedRowSource, CitedTransforms};
use yearbook_http::{Error, accept, media_types};

/// Parameters that select rows and columns, besides conditions, transforms and their options; all
/// others but `format` and `verify` are ignored.
const SELECTION: [&str; 10] =
    ["start", "end", "dimensions", "columns", "geometry", "limit", "sort", "first", "last", "bbox"];

/// A request for a citation.
#[derive(Clone)]
pub(super) struct CitationRequest {
    pub(super) name: DatasetName,
    pub(super) snapshot_id: SnapshotId,
    pub(super) selection: Selection,
    /// Limit that the client named, where it is positive.
    pub(super) limit: Option<u64>,
    /// Transforms that make the rows (contract-16-citations).
    pub(super) transforms: Option<CitedTransforms>,
    /// Names and values of all parameters as sent.
    pub(super) pairs: Vec<(String, String)>,
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
    /// Parses a request. `cited_rows` knows the transforms.
    ///
    /// # Errors
    /// 404 for what is no name of a dataset or no id of a snapshot, 422 with every wrong parameter
    /// at once, 406.
    pub(super) fn parse(parts: &Parts, cited_rows: &dyn CitedRowSource) -> Result<Self, Error> {
        let (name, snapshot_id) = parse_path(parts)?;
        let pairs = parse_pairs(parts.uri.query().unwrap_or_default());
        let selects = |name: &str| SELECTION.contains(&name) || name.contains('.');
        let selecting: Vec<_> = pairs.iter().filter(|(name, _)| selects(name)).cloned().collect();
        let selection = parse_data(&selecting, &[]);
        let format = last_value(&pairs, "format").map(parse_format).transpose();
        let verify = last_value(&pairs, "verify")
            .map(|raw| scalar::parse_boolean("verify", raw))
            .transpose();
        let options = selection.as_ref().map_or(&[][..], |(_, output)| &output.options);
        let apply = last_value(&pairs, "apply");
        let transforms = apply.map(|raw| cited_rows.transforms(raw, options)).transpose();
        let (selection, transforms, format, verify) = match (selection, transforms, format, verify)
        {
            (Ok((selection, _)), Ok(transforms), Ok(format), Ok(verify)) => {
                (selection, transforms, format, verify)
            }
            (selection, transforms, format, verify) => {
                let mut problems = selection.err().unwrap_or_default();
                problems.extend(transforms.err().unwrap_or_default());
                problems.extend(format.err().into_iter().chain(verify.err()));
                return Err(Refusal::InvalidParameters(problems).into());
            }
        };
        let format = match format {
            Some(format) => Some(format),
            None => negotiate(parts)?,
        };
        let named = last_value(&pairs, "limit").is_some();
        let limit = CanonicalQuery::explicit_limit(&selection, named);
        let verify = verify.unwrap_or(false);
        Ok(Self { name, snapshot_id, selection, limit, transforms, pairs, format, verify })
    }

    /// The first release of its transforms that is not loaded.
    pub(super) fn gone_release(&self) -> Option<&str> {
        self.transforms.as_ref()?.steps.as_ref().err().map(String::as_str)
    }

    /// Plans the whole selection in `snapshot`, without pages or a row cap: of the stored rows, or
    /// of those that the first transform sees.
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
        let selection = &self.selection;
        if self.transforms.is_some() {
            let input = selection.transform_input();
            let plan = read_plan::resolve_selection(name, namespace, snapshot, &input);
            return Ok(plan.map_err(Refusal::InvalidParameters)?);
        }
        let plan = read_plan::resolve_selection(name, namespace, snapshot, selection)
            .map_err(Refusal::InvalidParameters)?;
        Ok(ReadPlan { max_rows: self.limit, ..plan })
    }
}

/// Parses dataset and snapshot of a path below `/cite/`.
///
/// # Errors
/// 404 for what is no name of a dataset or no id of a snapshot.
pub(super) fn parse_path(parts: &Parts) -> Result<(DatasetName, SnapshotId), Error> {
    let mut segments = parts.uri.path().split('/').skip(2).map(decode);
    let name = segments.next().unwrap_or_default();
    let snapshot_id = segments.next().unwrap_or_default();
    let Some(name) = DatasetName::parse(&name) else {
        return Err(Refusal::NoSuchDataset { name }.into());
    };
    let Some(snapshot_id) = SnapshotId::parse(&snapshot_id) else {
        return Err(Refusal::NoSuchSnapshot { id: snapshot_id }.into());
    };
    Ok((name, snapshot_id))
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
