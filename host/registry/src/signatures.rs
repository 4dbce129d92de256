//! Signatures beside components: manifests whose subject is the component's (OCI image 1.1,
//! "referrers"). A registry that knows referrers lists them itself; on any other the list lies
//! under the tag `sha256-DIGEST`, as the distribution specification has it. What is found is
//! bytes: who signed and whether that is trusted is checked elsewhere.

use bytes::Bytes;
use http::Method;
use serde_json::{Value, json};
use yearbook_domain::Digest;
use yearbook_outbound::OutboundRequest;

use crate::limits::{MANIFEST_BYTES, SIGNATURE_BYTES, SIGNATURES};
use crate::manifest::{Descriptor, EMPTY, EMPTY_CONTENT, INDEX, Index, MANIFEST, Manifest, spell};
use crate::push::to_json;
use crate::registry::{Access, within};
use crate::{Registry, RegistryError, status};

/// Type of the artefact, and media type of its layer: the text of a `.minisig` file.
const SIGNATURE: &str = "application/vnd.yearbook.signature.minisign";

impl Registry {
    /// Signatures of the component behind `manifest`, in the registry's order, eight at most. Those
    /// that cannot be read are left out.
    ///
    /// # Errors
    /// [`RegistryError`] when the registry does not answer or does not let this caller in.
    pub async fn signatures(&mut self, manifest: &Digest) -> Result<Vec<Vec<u8>>, RegistryError> {
        let (host, limit) = (self.transport.host().to_owned(), self.limits.total);
        within(host, limit, self.find_signatures(manifest)).await
    }

    async fn find_signatures(&mut self, manifest: &Digest) -> Result<Vec<Vec<u8>>, RegistryError> {
        let listed = match self.referrers(manifest).await? {
            Some(listed) => listed,
            None => self.tagged(manifest).await?,
        };
        let mut signatures = Vec::new();
        let ours =
            listed.iter().filter(|listed| listed.artifact_type.as_deref() == Some(SIGNATURE));
        for listed in ours.take(SIGNATURES) {
            signatures.extend(self.signature(listed).await?);
        }
        Ok(signatures)
    }

    /// The registry's own list; `None` where it keeps none.
    async fn referrers(
        &mut self,
        manifest: &Digest,
    ) -> Result<Option<Vec<Descriptor>>, RegistryError> {
        let url = self.path(&format!("referrers/{}", spell(manifest)));
        let response = self.call(&OutboundRequest::new(Method::GET, url), Access::Read).await?;
        if response.status() != status::FOUND {
            return Ok(None);
        }
        let content = response.body("list of referrers", MANIFEST_BYTES).await?;
        Ok(read_index(&content))
    }

    /// The list under the tag; empty where there is none.
    async fn tagged(&mut self, manifest: &Digest) -> Result<Vec<Descriptor>, RegistryError> {
        let found = self.manifest(&list_tag(manifest), None, "list of referrers").await?;
        Ok(found.and_then(|(content, _)| read_index(&content)).unwrap_or_default())
    }

    async fn signature(&mut self, listed: &Descriptor) -> Result<Option<Vec<u8>>, RegistryError> {
        let Some(digest) = listed.sha256() else { return Ok(None) };
        let by = spell(&digest);
        let Some((content, _)) = self.manifest(&by, Some(&digest), "signature's manifest").await?
        else {
            return Ok(None);
        };
        let Ok(Manifest { layers, .. }) = serde_json::from_slice(&content) else { return Ok(None) };
        match layers.as_slice() {
            [layer]
                if layer.media_type == SIGNATURE
                    && layer.size <= SIGNATURE_BYTES as u64
                    && layer.sha256().is_some() =>
            {
                self.blob(layer, "signature", SIGNATURE_BYTES).await.map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Pushes a signature of the component whose manifest is `subject`.
    pub(crate) async fn push_signature(
        &mut self,
        subject: &[u8],
        signature: &[u8],
    ) -> Result<(), RegistryError> {
        let manifest = Bytes::from(to_json(&Manifest {
            schema_version: 2,
            media_type: Some(MANIFEST.to_owned()),
            artifact_type: Some(SIGNATURE.to_owned()),
            config: Descriptor::new(EMPTY, EMPTY_CONTENT),
            layers: vec![Descriptor::new(SIGNATURE, signature)],
            subject: Some(Descriptor::new(MANIFEST, subject)),
        }));
        self.push_blob(Bytes::from_static(EMPTY_CONTENT)).await?;
        self.push_blob(Bytes::copy_from_slice(signature)).await?;
        let mut listed = Descriptor::new(MANIFEST, &manifest);
        listed.artifact_type = Some(SIGNATURE.to_owned());
        if self.push_manifest(&listed.digest, MANIFEST, manifest).await? {
            return Ok(());
        }
        let tag = list_tag(&Digest::compute(subject));
        let known = self.manifest(&tag, None, "list of referrers").await?;
        let index = with_entry(known.map(|(content, _)| content).as_deref(), &listed);
        self.push_manifest(&tag, INDEX, to_json(&index).into()).await.map(drop)
    }
}

/// Tag of the list of what refers to a manifest.
fn list_tag(manifest: &Digest) -> String {
    format!("sha256-{}", manifest.as_str())
}

/// The list with one more entry; what other tools wrote into it stays as it is.
fn with_entry(known: Option<&[u8]>, entry: &Descriptor) -> Value {
    let known = known.and_then(|content| serde_json::from_slice::<Value>(content).ok());
    let known = known.filter(|index| index["manifests"].is_array());
    let mut index =
        known.unwrap_or_else(|| json!({ "schemaVersion": 2, "mediaType": INDEX, "manifests": [] }));
    if let Some(manifests) = index["manifests"].as_array_mut()
        && manifests.iter().all(|other| other["digest"] != entry.digest)
    {
        manifests.push(json!(entry));
    }
    index
}

fn read_index(content: &[u8]) -> Option<Vec<Descriptor>> {
    serde_json::from_slice::<Index>(content).ok().map(|index| index.manifests)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_keeps_what_other_tools_wrote_and_names_nothing_twice() {
        let entry = Descriptor::new(MANIFEST, b"x");
        let first = with_entry(None, &entry);
        assert_eq!(first["manifests"][0]["digest"], json!(entry.digest));
        let theirs = json!({
            "schemaVersion": 2,
            "manifests": [{ "mediaType": MANIFEST, "digest": "sha256:00", "size": 1, "annotations": { "a": "b" } }],
        });
        let both = with_entry(Some(theirs.to_string().as_bytes()), &entry);
        assert_eq!(both["manifests"][0], theirs["manifests"][0]);
        assert_eq!(both["manifests"].as_array().map(Vec::len), Some(2));
        assert_eq!(with_entry(Some(both.to_string().as_bytes()), &entry), both);
        assert_eq!(with_entry(Some(b"<html>"), &entry), first);
    }
}
