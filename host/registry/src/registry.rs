//! One registry during one transfer: who asks, what was answered to its challenge, and the time
//! that is left. What is asked for stands in `pull`, `push` and `signatures`.

use std::time::Duration;

use http::header::{HeaderValue, WWW_AUTHENTICATE};
use yearbook_outbound::{OutboundRequest, Url};

use crate::authentication::{Challenge, authorize};
use crate::transport::{RegistryResponse, Transport};
use crate::{Credentials, RegistryError, RegistryLimits, RegistryReference, TokenHost, status};

/// Purpose of a request, for tokens and messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

/// A registry, opened for one reference. Dropping any of its futures ends the transfer.
pub struct Registry {
    pub(crate) transport: Transport,
    pub(crate) reference: RegistryReference,
    pub(crate) limits: RegistryLimits,
    credentials: Option<Credentials>,
    token_hosts: Vec<TokenHost>,
    /// Header that met the last challenge.
    authorization: Option<HeaderValue>,
}

impl Registry {
    /// Opens the registry of `reference`. Looks its name up; sends nothing.
    ///
    /// # Errors
    /// [`RegistryError::Unreachable`] for an unknown name, [`RegistryError::Client`].
    pub async fn open(
        reference: &RegistryReference,
        credentials: Option<Credentials>,
        limits: RegistryLimits,
    ) -> Result<Self, RegistryError> {
        let transport = Transport::open(reference, &limits).await?;
        let reference = reference.clone();
        Ok(Self {
            transport,
            reference,
            limits,
            credentials,
            token_hosts: Vec::new(),
            authorization: None,
        })
    }

    /// Lets `hosts` see the credentials, each for the registry that it is named for.
    #[must_use]
    pub fn with_token_hosts(mut self, hosts: &[TokenHost]) -> Self {
        self.token_hosts = hosts.to_vec();
        self
    }

    /// Address of something in the repository.
    pub(crate) fn path(&self, below: &str) -> Url {
        self.transport.url(&format!("/v2/{}/{below}", self.reference.repository()))
    }

    /// Sends a request and answers the registry's challenge once.
    pub(crate) async fn call(
        &mut self,
        request: &OutboundRequest,
        access: Access,
    ) -> Result<RegistryResponse, RegistryError> {
        let response = self.transport.send(request, self.authorization.as_ref()).await?;
        if !self.is_refused(&response) {
            return Ok(response);
        }
        let challenges = response.headers().get_all(WWW_AUTHENTICATE).iter();
        let challenge =
            challenges.filter_map(|value| Challenge::parse(value.to_str().ok()?)).next();
        let Some(challenge) = challenge.filter(|_| response.status() == status::UNAUTHORIZED)
        else {
            return Err(self.unauthorized(response, access).await);
        };
        let actions = match access {
            Access::Read => "pull",
            Access::Write => "pull,push",
        };
        let scope = format!("repository:{}:{actions}", self.reference.repository());
        let may_see = |url: &Url| {
            let own = self.transport.url("/");
            TokenHost::allow(&self.token_hosts, &self.reference, &own, url)
        };
        let credentials = self.credentials.as_ref();
        let authorization =
            authorize(&self.transport, &challenge, credentials, &scope, may_see).await?;
        if authorization.is_none() {
            return Err(self.unauthorized(response, access).await);
        }
        self.authorization = authorization;
        let response = self.transport.send(request, self.authorization.as_ref()).await?;
        if self.is_refused(&response) {
            return Err(self.unauthorized(response, access).await);
        }
        Ok(response)
    }

    /// Returns whether the registry refuses the caller. Where blobs lie may refuse too, but has no
    /// say in who asks.
    fn is_refused(&self, response: &RegistryResponse) -> bool {
        status::refuses_caller(response.status())
            && response.url().origin() == self.transport.url("/").origin()
    }

    async fn unauthorized(&self, response: RegistryResponse, access: Access) -> RegistryError {
        let status = response.status().as_u16();
        let said = response.sentence().await.map_or_else(String::new, |said| format!(": {said}"));
        let who = match &self.credentials {
            None => "asked without credentials",
            Some(_) => "the credentials that were found are not enough",
        };
        RegistryError::Unauthorized {
            host: self.transport.host().to_owned(),
            action: match access {
                Access::Read => "to read",
                Access::Write => "to write",
            },
            repository: self.reference.repository().to_owned(),
            detail: format!("{who}; {status}{said}"),
        }
    }

    /// The error for bytes or manifests that are no plugin's.
    pub(crate) fn not_a_component(&self, reason: String) -> RegistryError {
        RegistryError::NotAComponent { reference: self.reference.to_string(), reason }
    }
}

/// Bounds a whole transfer.
pub(crate) async fn within<T>(
    host: String,
    limit: Duration,
    transfer: impl Future<Output = Result<T, RegistryError>>,
) -> Result<T, RegistryError> {
    match tokio::time::timeout(limit, transfer).await {
        Ok(done) => done,
        Err(_) => Err(RegistryError::TooSlow { host, limit }),
    }
}
