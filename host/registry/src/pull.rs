//! Pulls a component: the manifest by tag or digest, then its one layer by digest. Every digest is
//! computed here over what arrived; what a registry says of its own bytes only ever leads to a
//! refusal (contract-14-digest).

use http::Method;
use http::header::ACCEPT;
use yearbook_domain::Digest;
use yearbook_outbound::OutboundRequest;

use crate::limits::MANIFEST_BYTES;
use crate::manifest::{Descriptor, INDEX, MANIFEST, clean, component_layer, read_digest, spell};
use crate::registry::{Access, within};
use crate::{Registry, RegistryError, status};

/// Header in which registries name what they send.
const CONTENT_DIGEST: &str = "Docker-Content-Digest";

/// A file that was pulled: a component, or a core module that one can be made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PulledComponent {
    /// The file.
    pub file: Vec<u8>,
    /// Digest of the manifest that led to it.
    pub manifest: Digest,
}

/// Component behind a reference at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaggedComponent {
    /// Digest of the manifest.
    pub manifest: Digest,
    /// Digest of the file.
    pub file: Digest,
}

impl Registry {
    /// Finds what the reference names now, without pulling it.
    ///
    /// # Errors
    /// [`RegistryError`].
    pub async fn resolve(&mut self) -> Result<TaggedComponent, RegistryError> {
        let (host, limit) = (self.transport.host().to_owned(), self.limits.total);
        let (manifest, _, file) = within(host, limit, self.find_layer()).await?;
        Ok(TaggedComponent { manifest, file })
    }

    /// Pulls the file that the reference names. Holds it in memory: `component_bytes` at most.
    ///
    /// # Errors
    /// [`RegistryError`]; nothing of what was read is kept then.
    pub async fn pull(&mut self) -> Result<PulledComponent, RegistryError> {
        let (host, limit) = (self.transport.host().to_owned(), self.limits.total);
        within(host, limit, self.pull_layer()).await
    }

    async fn pull_layer(&mut self) -> Result<PulledComponent, RegistryError> {
        let (manifest, layer, _) = self.find_layer().await?;
        let file = self.blob(&layer, "component", self.limits.component_bytes).await?;
        Ok(PulledComponent { file, manifest })
    }

    async fn find_layer(&mut self) -> Result<(Digest, Descriptor, Digest), RegistryError> {
        let expected = self.reference.digest().copied();
        let by = match (&expected, self.reference.tag()) {
            (Some(digest), _) => spell(digest),
            (None, tag) => tag.unwrap_or_default().to_owned(),
        };
        let Some((content, manifest)) = self.manifest(&by, expected.as_ref(), "manifest").await?
        else {
            let host = self.transport.host().to_owned();
            let what = format!("{}:{by}", self.reference.repository());
            return Err(RegistryError::NotFound { host, what });
        };
        let (layer, file) =
            component_layer(&content).map_err(|reason| self.not_a_component(reason))?;
        Ok((manifest, layer, file))
    }

    /// A manifest or index by tag or digest; `None` where there is none.
    pub(crate) async fn manifest(
        &mut self,
        by: &str,
        expected: Option<&Digest>,
        what: &'static str,
    ) -> Result<Option<(Vec<u8>, Digest)>, RegistryError> {
        let request = OutboundRequest::new(Method::GET, self.path(&format!("manifests/{by}")))
            .with_header(ACCEPT, MANIFEST)
            .with_header(ACCEPT, INDEX);
        let response = self.call(&request, Access::Read).await?;
        match response.status() {
            status::FOUND => {}
            status::ABSENT => return Ok(None),
            _ => return Err(response.unexpected("a request for a manifest").await),
        }
        let announced = response.header(CONTENT_DIGEST).map(clean);
        let content = response.body(what, MANIFEST_BYTES).await?;
        let found = Digest::compute(&content);
        let announced = announced.as_deref().and_then(read_digest);
        for expected in expected.into_iter().chain(announced.as_ref()) {
            self.compare(what, expected, &found)?;
        }
        Ok(Some((content, found)))
    }

    /// Bytes that a manifest names, of `limit` at most and of exactly the length that it gives.
    pub(crate) async fn blob(
        &mut self,
        descriptor: &Descriptor,
        what: &'static str,
        limit: usize,
    ) -> Result<Vec<u8>, RegistryError> {
        let host = self.transport.host().to_owned();
        let size = usize::try_from(descriptor.size).unwrap_or(usize::MAX);
        let wrong_size = |found: String, allowed: String| RegistryError::Size {
            host: host.clone(),
            what,
            found,
            allowed,
        };
        if size > limit {
            let allowed = format!("{limit} are allowed (sandbox.component_bytes)");
            return Err(wrong_size(size.to_string(), allowed));
        }
        let expected = descriptor.sha256();
        let expected =
            expected.ok_or_else(|| self.not_a_component(format!("its {what} has no digest")))?;
        let url = self.path(&format!("blobs/{}", spell(&expected)));
        let response = self.call(&OutboundRequest::new(Method::GET, url), Access::Read).await?;
        match response.status() {
            status::FOUND => {}
            status::ABSENT => {
                return Err(RegistryError::NotFound { host, what: spell(&expected) });
            }
            _ => return Err(response.unexpected("a request for a blob").await),
        }
        let announced = format!("its manifest announces {size}");
        if let Some(length) = response.announced().filter(|length| *length != descriptor.size) {
            return Err(wrong_size(length.to_string(), announced));
        }
        let content = response.body(what, size).await?;
        if content.len() != size {
            return Err(wrong_size(content.len().to_string(), announced));
        }
        let hashed = tokio::task::spawn_blocking(move || (Digest::compute(&content), content));
        let (found, content) = hashed
            .await
            .map_err(|_| self.not_a_component("its digest could not be computed".to_owned()))?;
        self.compare(what, &expected, &found)?;
        Ok(content)
    }

    fn compare(
        &self,
        what: &'static str,
        expected: &Digest,
        found: &Digest,
    ) -> Result<(), RegistryError> {
        if expected == found {
            return Ok(());
        }
        let host = self.transport.host().to_owned();
        let (expected, found) = (Box::new(*expected), Box::new(*found));
        Err(RegistryError::Digest { host, what, expected, found })
    }
}

#[cfg(test)]
mod tests;
