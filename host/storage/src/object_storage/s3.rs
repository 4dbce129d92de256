//! A bucket of an S3-compatible store, or a part of one (contract-6-s3). Owns how it is reached:
//! the usual variables say who we are and where it is, our settings how long we wait.

mod body_limit;
mod connector;

use std::sync::Arc;
use std::time::Duration;

use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey};
use object_store::path::Path as Key;
use object_store::prefix::PrefixStore;
use object_store::{BackoffConfig, ClientConfigKey, RetryConfig};

use self::connector::MeteredConnector;
use super::metrics::StoreRequestMetrics;
use crate::settings::StorageSettings;

/// First wait before a request is made again; the next are longer, by chance.
const INITIAL_BACKOFF: Duration = Duration::from_millis(100);

/// Longest wait before a request is made again.
const MAX_BACKOFF: Duration = Duration::from_secs(2);

/// Variables that we read: those of every tool for S3 begin so.
const VARIABLE_PREFIX: &str = "AWS_";

/// The objects below a prefix of a bucket.
pub(super) type Bucket = PrefixStore<AmazonS3>;

/// Opens `place`, which is `//bucket` or `//bucket/prefix`, and counts what it is asked from then
/// on. Asks nobody.
///
/// # Errors
/// A sentence that says what is wrong.
pub(super) fn open(
    place: &str,
    settings: &StorageSettings,
    variables: &[(String, String)],
    requests: &Arc<StoreRequestMetrics>,
) -> Result<Arc<Bucket>, String> {
    let place = place.strip_prefix("//").ok_or("names no bucket")?;
    let (bucket, prefix) = place.split_once('/').unwrap_or((place, ""));
    let allowed = |byte: u8| {
        byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'.' | b'-')
    };
    if bucket.is_empty() || !bucket.bytes().all(allowed) {
        return Err("names no bucket: small letters, digits, dots and hyphens".to_owned());
    }
    let prefix = Key::parse(prefix.trim_end_matches('/')).map_err(|error| error.to_string())?;
    // Fails where another part of the program has chosen one already, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let milliseconds = |value: u64| format!("{value}ms");
    let bounds = [
        (ClientConfigKey::ConnectTimeout, milliseconds(settings.connect_ms)),
        (ClientConfigKey::Timeout, milliseconds(settings.attempt_ms)),
    ];
    let named = variables
        .iter()
        .filter(|(name, value)| name.starts_with(VARIABLE_PREFIX) && !value.is_empty());
    let usual = named.filter_map(|(name, value)| {
        Some((name.to_ascii_lowercase().parse::<AmazonS3ConfigKey>().ok()?, value.clone()))
    });
    let ours = bounds.into_iter().map(|(key, value)| (AmazonS3ConfigKey::Client(key), value));
    let builder = usual
        .chain(ours)
        .fold(AmazonS3Builder::new(), |builder, (key, value)| builder.with_config(key, value));
    let retry = RetryConfig {
        backoff: BackoffConfig {
            init_backoff: INITIAL_BACKOFF,
            max_backoff: MAX_BACKOFF,
            base: 2.0,
        },
        max_retries: settings.retries,
        retry_timeout: settings.read_timeout(),
    };
    let counting = MeteredConnector(Arc::clone(requests));
    let store = builder
        .with_bucket_name(bucket)
        .with_retry(retry)
        .with_http_connector(counting)
        .build()
        .map_err(|error| error.to_string())?;
    Ok(Arc::new(PrefixStore::new(store, prefix)))
}
