//! Requests for rows: path, query and `Accept` of `/data` and `/changes`, as far as they can be
//! judged without a dataset (contract-1-order). Never touches a dataset, a quota or a stored row.

use std::sync::{Arc, OnceLock};

use axum::extract::Request;
use http::Uri;
use http::request::Parts;
use yearbook_catalog::clock;
use yearbook_domain::query::{
    LoadedPlugins, last_value, parse_data_at, parse_pairs, parse_revisions,
};
use yearbook_domain::{
    CursorSource, Dataset, DatasetName, OutputParameters, Refusal, Selection, Snapshot,
    ValidationError, changes,
};
use yearbook_http::{AuthenticatedCaller, Error, accept};
use yearbook_sandbox::{OptionValue, PluginEncoder, PluginSet, TransformStep};

use super::data_link::DataLink;
use super::{dataset_name, options};
use crate::ApiState;
use crate::response::plan::ResponsePlan;

/// A request for rows of one dataset.
pub(crate) struct DataRequest {
    /// Name of the dataset.
    pub(crate) name: DatasetName,
    /// Method, address, headers and extensions.
    pub(crate) parts: Parts,
    /// Rows and columns to send.
    pub(crate) selection: Selection,
    /// Format of the rows, and its options.
    pub(crate) output: OutputParameters,
    /// Names and values of all parameters as sent, for links that keep them.
    pub(crate) pairs: Vec<(String, String)>,
    /// The format's encoder, of the plugins that were loaded when the request began; or the one
    /// that an adapter brings.
    pub(crate) encoder: Arc<PluginEncoder>,
    plugins: Arc<PluginSet>,
    rows_of: RowsOf,
    /// Source of the next page, where that is not the snapshot; known once it is planned.
    pages_of: OnceLock<CursorSource>,
}

/// The route of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowsOf {
    /// `/data`.
    Snapshot,
    /// `/changes`, which has some of the parameters of `/data`.
    Changes,
    /// `/revisions`, which has most of the parameters of `/data`.
    Revisions,
}

impl RowsOf {
    fn from_path(path: &str) -> Self {
        match path.rsplit('/').next() {
            Some("changes") => Self::Changes,
            Some("revisions") => Self::Revisions,
            _ => Self::Snapshot,
        }
    }
}

impl DataRequest {
    /// Parses a request for `/data`, `/changes` or `/revisions`.
    ///
    /// # Errors
    /// 422 with every problem at once, the path's first; then 406, or 503 for a format that no
    /// release serves.
    pub(crate) fn parse(app: &ApiState, request: Request) -> Result<Self, Error> {
        let (parts, _) = request.into_parts();
        let pairs = parse_pairs(parts.uri.query().unwrap_or_default());
        let rows_of = RowsOf::from_path(parts.uri.path());
        let name = dataset_name(&parts.uri);
        Self::new(app, parts, name, pairs, rows_of, None, None)
    }

    /// Parses what `link` asks for. Of the parameters in its address `cursor` alone counts.
    ///
    /// # Errors
    /// Those of [`DataRequest::parse`].
    pub(crate) fn of_link(
        app: &ApiState,
        mut parts: Parts,
        link: &DataLink,
    ) -> Result<Self, Error> {
        let sent = parse_pairs(parts.uri.query().unwrap_or_default());
        let mut pairs = parse_pairs(&link.query);
        let cursor = last_value(&sent, "cursor");
        pairs.extend(cursor.map(|cursor| ("cursor".to_owned(), cursor.to_owned())));
        // The address of the next page has no other parameter either.
        let mut uri = std::mem::take(&mut parts.uri).into_parts();
        uri.path_and_query = uri.path_and_query.and_then(|sent| sent.path().parse().ok());
        parts.uri = Uri::from_parts(uri).unwrap_or_default();
        Self::new(app, parts, Ok(link.dataset.clone()), pairs, RowsOf::Snapshot, None, None)
    }

    /// Parses `pairs`, the parameters of a request. `problem`: of a parameter that is none of
    /// these. `encoder`: what writes the rows; `None` for the one that the client asks for.
    ///
    /// # Errors
    /// Those of [`DataRequest::parse`].
    pub(super) fn new(
        app: &ApiState,
        parts: Parts,
        name: Result<DatasetName, ValidationError>,
        pairs: Vec<(String, String)>,
        rows_of: RowsOf,
        problem: Option<ValidationError>,
        encoder: Option<Arc<PluginEncoder>>,
    ) -> Result<Self, Error> {
        let plugins = app.core.plugins.current();
        // Whoever names what is not served is told what is; lists are made for nobody else.
        let named = last_value(&pairs, "format");
        let (data, pictures) = match named.filter(|named| plugins.encoder(named).is_none()) {
            Some(_) => (plugins.data_formats(), plugins.picture_formats()),
            None => (named.into_iter().collect(), Vec::new()),
        };
        let transforms: Vec<(&str, &str)> = match last_value(&pairs, "apply") {
            Some(_) => {
                let served = plugins.transforms().map(|served| (served.name(), served.version()));
                let out = plugins.unavailable_transforms().map(|name| (name, ""));
                served.chain(out).collect()
            }
            None => Vec::new(),
        };
        let loaded = LoadedPlugins { data: &data, pictures: &pictures, transforms: &transforms };
        let parameters = match rows_of {
            RowsOf::Snapshot => parse_data_at(&pairs, loaded, clock::now()),
            RowsOf::Changes => changes::parse_query(&pairs, loaded),
            RowsOf::Revisions => parse_revisions(&pairs, loaded, clock::now()),
        };
        let (name, (selection, output)) = match (name, parameters, problem) {
            (Ok(name), Ok(parameters), None) => (name, parameters),
            (name, parameters, problem) => {
                let problems = name.err().into_iter();
                let problems = problems.chain(parameters.err().unwrap_or_default()).chain(problem);
                return Err(Refusal::InvalidParameters(problems.collect()).into());
            }
        };
        let mut names = selection.apply.iter().flat_map(|sent| &sent.value);
        if let Some(transform) = names.find(|name| plugins.is_unavailable_transform(name)) {
            return Err(Error::TransformUnavailable { transform: transform.clone() });
        }
        let encoder = match encoder {
            Some(encoder) => encoder,
            None => negotiate(&parts, &plugins, output.format.as_deref())?,
        };
        app.core.http_metrics.set_format(&parts.extensions, &encoder.description().format);
        let pages_of = OnceLock::new();
        Ok(Self { name, parts, selection, output, pairs, encoder, plugins, rows_of, pages_of })
    }

    /// Plans the response with rows of `dataset`: of a snapshot, or of what changed.
    ///
    /// # Errors
    /// Those of the route's own plan.
    pub(crate) async fn plan(
        &self,
        app: &ApiState,
        auth: &AuthenticatedCaller,
        dataset: &Dataset,
    ) -> Result<ResponsePlan, Error> {
        match self.rows_of {
            RowsOf::Snapshot => self.plan_rows(app, auth, dataset).await,
            // On the heap: the future of every request would have room for them.
            RowsOf::Changes => Box::pin(self.plan_changes(app, auth, dataset)).await,
            RowsOf::Revisions => Box::pin(self.plan_revisions(app, auth, dataset)).await,
        }
    }

    /// Returns whether the route has the parameter `columns`.
    pub(crate) fn accepts_columns(&self) -> bool {
        self.rows_of != RowsOf::Changes
    }

    /// Returns whether rows of one snapshot are asked for, which a citation may name.
    pub(crate) fn is_of_snapshot(&self) -> bool {
        self.rows_of == RowsOf::Snapshot
    }

    /// Returns what pages of rows of `snapshot` go on with.
    pub(crate) fn pages_of(&self, snapshot: &Snapshot) -> CursorSource {
        self.pages_of.get().copied().unwrap_or(CursorSource::Snapshot(snapshot.id))
    }

    /// Sets what pages go on with.
    pub(super) fn continue_as(&self, source: CursorSource) {
        let _ = self.pages_of.set(source);
    }

    /// Loaded data formats besides that of this request.
    pub(crate) fn other_formats(&self) -> Vec<&str> {
        let own = &self.encoder.description().format;
        self.plugins
            .encoders()
            .map(|encoder| encoder.description())
            .filter(|description| !description.is_picture())
            .map(|description| description.format.as_str())
            .filter(|format| format != own)
            .collect()
    }

    /// Options of this response's encoder.
    ///
    /// # Errors
    /// A problem for every wrong value, whichever loaded plugin declares its parameter.
    pub(super) fn encoder_options(&self) -> Result<Vec<OptionValue>, Vec<ValidationError>> {
        let chosen = self.encoder.description();
        let named = options::choose_for(&self.plugins, chosen, &self.output)?;
        Ok(named.for_encoder(chosen, self.output.envelope))
    }

    /// Transforms that the rows go through, in order, each with its options.
    ///
    /// # Errors
    /// As [`DataRequest::encoder_options`].
    pub(crate) fn transform_steps(&self) -> Result<Vec<TransformStep>, Vec<ValidationError>> {
        let named = options::choose(&self.plugins, &self.output)?;
        let names = self.selection.apply.iter().flat_map(|sent| &sent.value);
        let step = |name: &String| {
            // Parsing refused the names that are not loaded.
            let transform = Arc::clone(self.plugins.transform(name)?);
            Some(TransformStep { transform, options: named.for_plugin(name) })
        };
        Ok(names.filter_map(step).collect())
    }
}

/// Returns the encoder of the parameter `format`, or of the best media type in `Accept`.
///
/// # Errors
/// 503 for a format that no release serves, 406 where no format is accepted.
fn negotiate(
    parts: &Parts,
    plugins: &PluginSet,
    format: Option<&str>,
) -> Result<Arc<PluginEncoder>, Error> {
    let encoder = match format {
        Some(format) => match plugins.encoder(format) {
            None if plugins.is_unavailable(format) => {
                return Err(Error::format_unavailable(format, plugins));
            }
            found => found.cloned(),
        },
        None => {
            let offers: Vec<&str> = plugins
                .encoders()
                .map(|encoder| encoder.description().media_type.as_str())
                .collect();
            let chosen = accept::choose(&parts.headers, &offers);
            chosen.and_then(|index| plugins.encoders().nth(index).cloned())
        }
    };
    encoder.ok_or_else(|| {
        let available =
            plugins.encoders().map(|encoder| encoder.description().media_type.clone()).collect();
        Refusal::NotAcceptable { available }.into()
    })
}
