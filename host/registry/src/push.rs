//! Pushes a component: configuration and layer as blobs, then the manifest under its tag, so that
//! nobody sees a tag whose bytes are missing. The same component and signature under the same
//! names make the same manifest, byte for byte.

use bytes::Bytes;
use http::Method;
use http::header::{CONTENT_TYPE, LOCATION};
use yearbook_domain::Digest;
use yearbook_outbound::OutboundRequest;

use crate::manifest::{
    Descriptor, MANIFEST, Manifest, WASM_CONFIG, WASM_LAYER, WasmConfig, WasmInterface, spell,
};
use crate::registry::{Access, within};
use crate::{Registry, RegistryError, status};

/// Time in the configuration: a clock would give the same component another digest at each push.
const CREATED: &str = "1970-01-01T00:00:00Z";

/// Names that the configuration of a component repeats, for those who search registries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ComponentInterface {
    /// Imports, in the component's order.
    pub imports: Vec<String>,
    /// Exports, likewise.
    pub exports: Vec<String>,
}

/// A component that a registry took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushedComponent {
    /// Digest of its manifest.
    pub manifest: Digest,
    /// Digest of the component.
    pub component: Digest,
    /// True where its signature went with it.
    pub signed: bool,
}

impl Registry {
    /// Pushes `component` under the reference's tag, with its signature where there is one.
    ///
    /// # Errors
    /// [`RegistryError::PushTarget`] for a reference without a tag or with a digest; else what the
    /// registry fails with. The tag is as it was unless the manifest was taken.
    pub async fn push(
        &mut self,
        component: Vec<u8>,
        interface: ComponentInterface,
        signature: Option<&[u8]>,
    ) -> Result<PushedComponent, RegistryError> {
        let (host, limit) = (self.transport.host().to_owned(), self.limits.total);
        within(host, limit, self.push_all(component, interface, signature)).await
    }

    async fn push_all(
        &mut self,
        component: Vec<u8>,
        interface: ComponentInterface,
        signature: Option<&[u8]>,
    ) -> Result<PushedComponent, RegistryError> {
        let tag = self.reference.tag().filter(|_| self.reference.digest().is_none());
        let Some(tag) = tag.map(str::to_owned) else {
            return Err(RegistryError::PushTarget { reference: self.reference.to_string() });
        };
        let layer = Descriptor::new(WASM_LAYER, &component);
        let digest = Digest::compute(&component);
        let config = to_json(&WasmConfig {
            created: CREATED.to_owned(),
            architecture: "wasm".to_owned(),
            os: "wasip2".to_owned(),
            layer_digests: vec![layer.digest.clone()],
            component: WasmInterface {
                exports: interface.exports,
                imports: interface.imports,
                target: None,
            },
        });
        let manifest = Bytes::from(to_json(&Manifest {
            schema_version: 2,
            media_type: Some(MANIFEST.to_owned()),
            artifact_type: None,
            config: Descriptor::new(WASM_CONFIG, &config),
            layers: vec![layer],
            subject: None,
        }));
        self.push_blob(component.into()).await?;
        self.push_blob(config.into()).await?;
        let pushed = Digest::compute(&manifest);
        // The signature first: who follows the tag finds both or neither.
        if let Some(signature) = signature {
            self.push_manifest(&spell(&pushed), MANIFEST, manifest.clone()).await?;
            self.push_signature(&manifest, signature).await?;
        }
        self.push_manifest(&tag, MANIFEST, manifest).await?;
        Ok(PushedComponent { manifest: pushed, component: digest, signed: signature.is_some() })
    }

    /// Uploads a blob in one piece, unless the registry has it.
    pub(crate) async fn push_blob(&mut self, content: Bytes) -> Result<(), RegistryError> {
        let digest = spell(&Digest::compute(&content));
        let head = OutboundRequest::new(Method::HEAD, self.path(&format!("blobs/{digest}")));
        if self.call(&head, Access::Write).await?.status() == status::FOUND {
            return Ok(());
        }
        let begin = OutboundRequest::new(Method::POST, self.path("blobs/uploads/"));
        let begun = self.call(&begin.with_body(Bytes::new()), Access::Write).await?;
        let place = begun.header(LOCATION.as_str()).map(str::to_owned);
        let (status::UPLOAD_BEGUN, Some(place)) = (begun.status(), place) else {
            return Err(begun.unexpected("the begin of an upload").await);
        };
        let mut url = self.transport.join(begun.url(), &place)?;
        url.query_pairs_mut().append_pair("digest", &digest);
        let upload = OutboundRequest::new(Method::PUT, url)
            .with_header(CONTENT_TYPE, "application/octet-stream")
            .with_body(content);
        let done = self.call(&upload, Access::Write).await?;
        match done.status() {
            status::STORED => Ok(()),
            _ => Err(done.unexpected("an upload").await),
        }
    }

    /// Stores a manifest under a tag or its digest. True where the registry says that it lists
    /// manifests with a subject by itself.
    pub(crate) async fn push_manifest(
        &mut self,
        by: &str,
        media_type: &'static str,
        content: Bytes,
    ) -> Result<bool, RegistryError> {
        let request = OutboundRequest::new(Method::PUT, self.path(&format!("manifests/{by}")))
            .with_header(CONTENT_TYPE, media_type)
            .with_body(content);
        let done = self.call(&request, Access::Write).await?;
        match done.status() {
            status::STORED => Ok(done.header("OCI-Subject").is_some()),
            _ => Err(done.unexpected("a manifest").await),
        }
    }
}

/// JSON of our own types, which always have one.
pub(crate) fn to_json(value: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default()
}
