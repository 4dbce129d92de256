//! Failures of adapters' calls: what the client gets, and what is recorded against the adapter's
//! release (contract-17-failures).

use yearbook_domain::{KeyId, PluginKind};
use yearbook_http::{Error, open_responses};
use yearbook_sandbox::{AdapterCalls, CalledPlugin, GuestError, RequestFingerprint, adapter};

use crate::AdaptersState;

/// Bytes of path, query and headers beyond which a failure may be what a client aimed at.
const SMALL_BYTES: usize = 1_024;

/// Returns the answer to a request at which a call of its adapter failed, and records a failure of
/// the plugin. `caller`: whose key the request has. `datasets`: those that it was told of.
pub(crate) fn record(
    app: &AdaptersState,
    caller: Option<&KeyId>,
    calls: &AdapterCalls,
    datasets: Vec<String>,
    failure: &GuestError,
) -> Error {
    match failure {
        GuestError::Busy { retry_after } => return Error::Busy { retry_after: *retry_after },
        GuestError::ShareUsedUp => return open_responses::share_used_up(),
        _ => {}
    }
    let (plugin, request) = (calls.plugin(), calls.request());
    // All clients without a key count as one.
    let key_id = caller.cloned().or_else(|| KeyId::parse("no_key"));
    if failure.is_failure_of_the_plugin()
        && let Some(key_id) = key_id
    {
        let fingerprint = RequestFingerprint {
            key_id,
            request: format!("{:?} {:?} {:?}", request.method, request.path, request.query),
            datasets,
            default_options: is_small(request),
        };
        let cause = failure.to_string();
        app.core.releases.record_failure(plugin.digest(), &fingerprint, &cause);
    }
    tracing::error!(%failure, adapter = plugin.name(), "an adapter failed");
    Error::PluginFailed
}

/// The failure of an adapter that breaks a `rule` of its requests.
pub(crate) fn broken_rule(calls: &AdapterCalls, rule: String) -> GuestError {
    let name = calls.plugin().name().to_owned();
    GuestError::Output { plugin: CalledPlugin { kind: PluginKind::Adapter, name, at: None }, rule }
}

/// Returns whether a request is one that every client may send: reading, and short.
fn is_small(request: &adapter::Request) -> bool {
    let named = request.query.iter().chain(&request.headers);
    let bytes = request.path.iter().map(String::len).sum::<usize>()
        + named.map(|(name, value)| name.len() + value.len()).sum::<usize>();
    request.method == adapter::Method::Get && bytes <= SMALL_BYTES
}
