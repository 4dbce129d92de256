//! Manifests in the CNCF layout for Wasm components: one configuration, one layer. Owns what a
//! manifest must say to be a plugin's, and how one is written.

use serde::{Deserialize, Serialize};
use yearbook_domain::Digest;

/// Media type of a manifest.
pub(crate) const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

/// Media type of a list of manifests.
pub(crate) const INDEX: &str = "application/vnd.oci.image.index.v1+json";

/// Media type of a component's configuration.
pub(crate) const WASM_CONFIG: &str = "application/vnd.wasm.config.v0+json";

/// Media type of a component.
pub(crate) const WASM_LAYER: &str = "application/wasm";

/// Media type of the configuration that says nothing.
pub(crate) const EMPTY: &str = "application/vnd.oci.empty.v1+json";

/// Its content.
pub(crate) const EMPTY_CONTENT: &[u8] = b"{}";

/// Bytes in a registry, as a manifest names them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Descriptor {
    pub(crate) media_type: String,
    pub(crate) digest: String,
    pub(crate) size: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) artifact_type: Option<String>,
}

impl Descriptor {
    /// Names `content`.
    pub(crate) fn new(media_type: &str, content: &[u8]) -> Self {
        Self {
            media_type: media_type.to_owned(),
            digest: spell(&Digest::compute(content)),
            size: content.len() as u64,
            artifact_type: None,
        }
    }

    /// The digest, where it is SHA-256.
    pub(crate) fn sha256(&self) -> Option<Digest> {
        read_digest(&self.digest)
    }
}

/// A manifest; members that are not known are left alone.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Manifest {
    pub(crate) schema_version: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) media_type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) artifact_type: Option<String>,
    pub(crate) config: Descriptor,
    pub(crate) layers: Vec<Descriptor>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) subject: Option<Descriptor>,
}

/// A list of manifests.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Index {
    #[serde(default)]
    pub(crate) manifests: Vec<Descriptor>,
}

/// Configuration of a component. A digest over it names the artefact, so it repeats the layers'.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WasmConfig {
    pub(crate) created: String,
    pub(crate) architecture: String,
    pub(crate) os: String,
    pub(crate) layer_digests: Vec<String>,
    pub(crate) component: WasmInterface,
}

/// Names in a component's world.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct WasmInterface {
    pub(crate) exports: Vec<String>,
    pub(crate) imports: Vec<String>,
    pub(crate) target: Option<String>,
}

/// As registries spell a digest.
pub(crate) fn spell(digest: &Digest) -> String {
    format!("sha256:{}", digest.as_str())
}

/// Reads what [`spell`] wrote; `None` for another algorithm.
pub(crate) fn read_digest(text: &str) -> Option<Digest> {
    text.strip_prefix("sha256:").and_then(Digest::parse)
}

/// Reads the manifest of a plugin and finds its one layer, with the digest of its bytes.
///
/// # Errors
/// The part that is wrong, as the end of a sentence.
pub(crate) fn component_layer(content: &[u8]) -> Result<(Descriptor, Digest), String> {
    let json: serde_json::Value =
        serde_json::from_slice(content).map_err(|_| "its manifest is no JSON".to_owned())?;
    let media_type = json.get("mediaType").and_then(|value| value.as_str());
    if json.get("manifests").is_some() || media_type == Some(INDEX) {
        return Err("it is a list of images for several platforms".to_owned());
    }
    let Manifest { schema_version, config, layers, .. } = serde_json::from_value(json)
        .map_err(|error| format!("its manifest is none of OCI ({})", clean(&error.to_string())))?;
    if schema_version != 2 {
        return Err(format!("its manifest has the version {schema_version}, not 2"));
    }
    if config.media_type != WASM_CONFIG {
        let found = clean(&config.media_type);
        return Err(format!("its configuration has the media type {found:?}, not {WASM_CONFIG:?}"));
    }
    let [layer] = layers.as_slice() else {
        return Err(format!("it has {} layers, and a component has one", layers.len()));
    };
    if layer.media_type != WASM_LAYER {
        let found = clean(&layer.media_type);
        return Err(format!("its layer has the media type {found:?}, not {WASM_LAYER:?}"));
    }
    match layer.sha256() {
        Some(file) => Ok((layer.clone(), file)),
        None => Err(format!("its layer has the digest {:?}, not sha256:…", clean(&layer.digest))),
    }
}

/// Foreign text for a message.
pub(crate) fn clean(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(120).collect()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use serde_json::{Value, json};

    use super::*;

    /// As `wkg oci push` writes it.
    fn manifest() -> Value {
        let digest = spell(&Digest::compute(b"x"));
        json!({
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": { "mediaType": WASM_CONFIG, "digest": digest, "size": 300 },
            "layers": [{ "mediaType": WASM_LAYER, "digest": digest, "size": 1 }],
            "annotations": { "org.opencontainers.image.version": "0.1.0" },
        })
    }

    #[test]
    fn the_layout_of_wasm_components_is_read_and_nothing_else() {
        let layer = |manifest: &Value| component_layer(manifest.to_string().as_bytes());
        assert_eq!(layer(&manifest()).map(|(_, file)| file), Ok(Digest::compute(b"x")));
        let mut second = manifest();
        let one = second["layers"][0].clone();
        second["layers"] = json!([one, one]);
        let changed = |pointer: &str, value: Value| {
            let mut manifest = manifest();
            if let Some(place) = manifest.pointer_mut(pointer) {
                *place = value;
            }
            manifest
        };
        for (manifest, part) in [
            (second, "2 layers"),
            (changed("/layers", json!([])), "0 layers"),
            (changed("/layers/0/mediaType", json!("application/zip")), "application/zip"),
            (changed("/layers/0/digest", json!("sha512:00")), "sha512:00"),
            (
                changed("/config/mediaType", json!("application/vnd.oci.image.config.v1+json")),
                "configuration",
            ),
            (changed("/mediaType", json!(INDEX)), "several platforms"),
            (changed("/schemaVersion", json!(1)), "version 1"),
            (changed("/config", json!("none")), "none of OCI"),
            (json!({ "schemaVersion": 2, "manifests": [] }), "several platforms"),
        ] {
            let error = layer(&manifest).map(drop).unwrap_err();
            assert!(error.contains(part), "{part}: {error}");
        }
        assert!(component_layer(b"<html>").is_err_and(|error| error.contains("no JSON")));
    }
}
