//! Webhooks of one process: which addresses may be added, their secrets, and what was counted.

use std::sync::Arc;
use std::time::Duration;

use yearbook_catalog::{Catalog, CatalogError, NewWebhook, clock, key};
use yearbook_domain::DatasetName;
use yearbook_outbound::{
    AddressRules, ClientSetupError, OutboundClient, OutboundSettings, Schemes, Url,
};

use crate::message::WebhookSecret;
use crate::metrics::{DeliveryMetrics, DeliveryOutcome};
use crate::{WebhookSettings, sender};

/// Characters of an address at most.
const MAX_URL_CHARACTERS: usize = 1_000;

/// Longest time until a connection stands.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Webhooks of one process.
pub struct Webhooks {
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) client: OutboundClient,
    /// The service's address, without a slash at its end.
    pub(crate) base: String,
    pub(crate) metrics: DeliveryMetrics,
    settings: WebhookSettings,
    secret: [u8; 32],
}

/// Webhooks that cannot start.
#[derive(Debug, thiserror::Error)]
pub enum WebhookError {
    /// The database did not give the secret.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// There is no client for HTTPS.
    #[error(transparent)]
    Client(#[from] ClientSetupError),
}

/// An address that may not be added.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlFault {
    /// It is no address, or a long one.
    #[error(
        "this is no web address of at most {MAX_URL_CHARACTERS} characters; write it whole, as in https://example.org/hook"
    )]
    NotAnAddress,
    /// It has no TLS.
    #[error("the address has no TLS; use one that begins with https://")]
    NoTls,
    /// It carries a user name, a password or a fragment.
    #[error("the address carries a user name or a fragment; leave them out")]
    Credentials,
    /// It leads to a private network.
    #[error("the address is not on the public Internet; name one that is")]
    Private,
}

impl Webhooks {
    /// Prepares webhooks with the secret of `catalog`. Addresses in messages begin with `base`.
    ///
    /// # Errors
    /// [`WebhookError`].
    pub async fn open(
        catalog: Arc<Catalog>,
        settings: WebhookSettings,
        base: &str,
    ) -> Result<Arc<Self>, WebhookError> {
        let client = OutboundClient::new(outbound(settings))?;
        Ok(Arc::new(Self {
            secret: catalog.secret("webhooks").await?,
            catalog,
            client,
            base: base.trim_end_matches('/').to_owned(),
            metrics: DeliveryMetrics::default(),
            settings,
        }))
    }

    /// Starts the task that sends what is due; it ends when the last `Arc` is dropped.
    pub fn start(self: &Arc<Self>) {
        tokio::spawn(sender::run(Arc::downgrade(self)));
    }

    /// Makes a webhook of what somebody typed.
    ///
    /// # Errors
    /// [`UrlFault`]; [`CatalogError`] when the machine gives no random numbers.
    pub fn make(
        &self,
        url: &str,
        dataset: Option<DatasetName>,
    ) -> Result<Result<NewWebhook, UrlFault>, CatalogError> {
        let url = match check_url(self.settings, url.trim()) {
            Ok(url) => url,
            Err(fault) => return Ok(Err(fault)),
        };
        let id = key::new_record_id("hook")?;
        Ok(Ok(NewWebhook { id, url, dataset, created_at: clock::now() }))
    }

    /// Returns the secret of the webhook with this id, as its receiver writes it down.
    #[must_use]
    pub fn secret(&self, id: &str) -> String {
        self.secret_of(id).to_text()
    }

    /// Returns how many attempts had this outcome.
    #[must_use]
    pub fn deliveries(&self, outcome: DeliveryOutcome) -> u64 {
        self.metrics.read(outcome)
    }

    pub(crate) fn secret_of(&self, id: &str) -> WebhookSecret {
        WebhookSecret::new(&self.secret, id)
    }
}

/// Checks an address as somebody typed it; its name is checked when it is asked.
fn check_url(settings: WebhookSettings, text: &str) -> Result<String, UrlFault> {
    let url = Url::parse(text).ok().filter(|url| url.as_str().len() <= MAX_URL_CHARACTERS);
    let url = url.ok_or(UrlFault::NotAnAddress)?;
    match url.scheme() {
        "https" => {}
        "http" if settings.allow_private => {}
        "http" => return Err(UrlFault::NoTls),
        _ => return Err(UrlFault::NotAnAddress),
    }
    if !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
        return Err(UrlFault::Credentials);
    }
    outbound(settings).rules.check_literal(&url).map_err(|_| UrlFault::Private)?;
    Ok(url.into())
}

/// Bounds of the client: an answer that leads elsewhere is not followed.
fn outbound(settings: WebhookSettings) -> OutboundSettings {
    let (rules, schemes) = if settings.allow_private {
        (AddressRules::Any, Schemes::HttpsOrHttp)
    } else {
        (AddressRules::Public, Schemes::Https)
    };
    OutboundSettings {
        rules,
        schemes,
        redirects: 0,
        connect: CONNECT_TIMEOUT,
        idle: sender::ATTEMPT,
        keep_alive: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_public_and_have_tls_unless_the_settings_say_otherwise_contract_21_webhooks() {
        let check = |allow_private, url: &str| {
            check_url(WebhookSettings { enabled: true, allow_private }, url)
        };
        for (url, fault) in [
            ("https://example.org/hook?a=b", None),
            ("http://example.org/hook", Some(UrlFault::NoTls)),
            ("https://127.0.0.1/hook", Some(UrlFault::Private)),
            ("https://169.254.169.254/latest", Some(UrlFault::Private)),
            ("https://[::ffff:10.0.0.1]/", Some(UrlFault::Private)),
            ("https://2130706433/", Some(UrlFault::Private)),
            ("https://ann@example.org/", Some(UrlFault::Credentials)),
            ("https://example.org/#part", Some(UrlFault::Credentials)),
            ("file:///etc/passwd", Some(UrlFault::NotAnAddress)),
            ("example.org", Some(UrlFault::NotAnAddress)),
        ] {
            assert_eq!(check(false, url).err(), fault, "{url}");
        }
        for url in ["http://127.0.0.1:8080/hook", "https://10.0.0.1/"] {
            assert_eq!(check(true, url).as_deref(), Ok(url));
        }
        let long = format!("https://example.org/{}", "a".repeat(1_000));
        assert_eq!(check(false, &long), Err(UrlFault::NotAnAddress));
    }
}
