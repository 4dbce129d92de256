//! `X-Service-Ignored` (contract-15-ignored): names of the parameters that a route does not know,
//! in its successful responses. Knows no route: each says itself what it knows.

use std::borrow::Cow;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::extract::Request;
use axum::response::Response;
use futures::FutureExt;
use futures::future::{Join, Map, Ready, join, ready};
use http::{HeaderValue, Uri};
use percent_encoding::{percent_decode_str, utf8_percent_encode};
use tower::{Layer, Service};
use yearbook_domain::query::parameter_names;
use yearbook_sandbox::{PluginParameter, PluginRegistry};

use crate::Core;
use crate::headers::IGNORED;
use crate::links::ESCAPED;

/// Names in one response at most.
const MAX_NAMES: usize = 20;

/// Bytes of them at most: proxies have room for some kilobytes of headers.
const MAX_BYTES: usize = 2_048;

/// Parameters that a route knows, besides those that loaded formats and transforms declare.
#[derive(Clone, Copy)]
pub struct RouteParameters {
    /// Whole names.
    pub names: &'static [&'static str],
    /// Beginning of names that end in the name of a column.
    pub prefix: Option<&'static str>,
    /// True where the last segment of the path is a tool, whose options the route takes.
    pub has_tool: bool,
}

impl RouteParameters {
    fn knows(&self, name: &str, uri: &Uri, plugins: &PluginRegistry) -> bool {
        if self.names.contains(&name) || self.prefix.is_some_and(|start| name.starts_with(start)) {
            return true;
        }
        let Some((plugin, option)) = name.split_once('.') else { return false };
        let plugins = plugins.current();
        let declares = |declared: &[PluginParameter]| {
            declared.iter().any(|parameter| parameter.name == option)
        };
        let segment = uri.path().rsplit('/').next().unwrap_or_default();
        let mut formats = plugins.encoders().map(|encoder| encoder.description());
        let mut transforms = plugins.transforms().map(|transform| transform.description());
        let mut tools = plugins.generators().map(|generator| generator.description());
        formats.any(|format| format.format == plugin && declares(&format.parameters))
            || transforms
                .any(|transform| transform.name == plugin && declares(&transform.parameters))
            || self.has_tool
                && percent_decode_str(segment).eq(plugin.bytes())
                && tools.any(|tool| tool.tool == plugin && declares(&tool.parameters))
    }

    /// Returns the names in `uri` that are not known. Allocates nothing where there is none.
    fn ignored<'u>(&self, uri: &'u Uri, plugins: &PluginRegistry) -> Vec<Cow<'u, str>> {
        let mut ignored = Vec::new();
        for name in parameter_names(uri.query().unwrap_or_default()) {
            if ignored.len() == MAX_NAMES {
                break;
            }
            if !name.is_empty() && !ignored.contains(&name) && !self.knows(&name, uri, plugins) {
                ignored.push(name);
            }
        }
        ignored
    }
}

/// Layer around a route.
#[derive(Clone)]
pub struct IgnoredParametersLayer {
    core: Arc<Core>,
    parameters: RouteParameters,
}

impl IgnoredParametersLayer {
    /// Around a route that knows `parameters`.
    pub fn new(core: &Arc<Core>, parameters: RouteParameters) -> Self {
        Self { core: Arc::clone(core), parameters }
    }

    /// Returns the header's value for a request.
    fn value(&self, uri: &Uri) -> Option<HeaderValue> {
        let ignored = self.parameters.ignored(uri, &self.core.plugins);
        let mut text = String::new();
        for name in &ignored {
            let (begun, separator) = (text.len(), if text.is_empty() { "" } else { "," });
            text.push_str(separator);
            text.extend(utf8_percent_encode(name, ESCAPED));
            if text.len() > MAX_BYTES {
                text.truncate(begun);
                break;
            }
        }
        Some(text).filter(|text| !text.is_empty()).and_then(|text| HeaderValue::try_from(text).ok())
    }
}

impl<S> Layer<S> for IgnoredParametersLayer {
    type Service = NamingService<S>;

    fn layer(&self, inner: S) -> NamingService<S> {
        NamingService { inner, layer: self.clone() }
    }
}

/// Service of [`IgnoredParametersLayer`].
#[derive(Clone)]
pub struct NamingService<S> {
    inner: S,
    layer: IgnoredParametersLayer,
}

/// Answer of the route, and the header's value.
type Answered<E> = (Result<Response, E>, Option<HeaderValue>);

// A middleware of axum would allocate its future for every request.
impl<S: Service<Request, Response = Response>> Service<Request> for NamingService<S> {
    type Response = Response;
    type Error = S::Error;
    type Future = Map<
        Join<S::Future, Ready<Option<HeaderValue>>>,
        fn(Answered<S::Error>) -> Result<Response, S::Error>,
    >;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let value = self.layer.value(request.uri());
        join(self.inner.call(request), ready(value)).map(insert)
    }
}

fn insert<E>((answer, value): Answered<E>) -> Result<Response, E> {
    answer.map(|mut response| {
        if response.status().is_success() {
            response.headers_mut().extend(value.map(|value| (IGNORED, value)));
        }
        response
    })
}
