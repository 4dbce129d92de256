//! Linked services: the service, the key vault and the lake. Owns the names of all resources: each is
//! also a file's name and what other resources refer to.

use serde_json::{Value, json};
use yearbook_sdk::generator::Request;

use crate::RowSource;

pub(crate) const SERVICE: &str = "YearbookService";
pub(crate) const VAULT: &str = "YearbookKeyVault";
pub(crate) const LAKE: &str = "YearbookLake";
pub(crate) const SOURCE: &str = "YearbookRows";
pub(crate) const SINK: &str = "YearbookFiles";
pub(crate) const PIPELINE: &str = "CopyYearbookDatasets";
pub(crate) const TRIGGER: &str = "YearbookWeekly";
/// Name of the key in the vault.
pub(crate) const SECRET: &str = "yearbook-api-key";

/// Reference to a linked service.
pub(crate) fn linked(name: &str) -> Value {
    json!({"referenceName": name, "type": "LinkedServiceReference"})
}

/// Value that is computed when the pipeline runs.
pub(crate) fn expression(text: &str) -> Value {
    json!({"value": text, "type": "Expression"})
}

/// The service, the vault and the lake.
pub(crate) fn all(request: &Request, source: RowSource) -> Vec<Value> {
    vec![service(request, source), vault(), lake()]
}

fn service(request: &Request, source: RowSource) -> Value {
    json!({
        "name": SERVICE,
        "properties": {
            "type": match source {
                RowSource::Parquet => "HttpServer",
                RowSource::Rest => "RestService",
            },
            "description": "The statistics service.",
            "typeProperties": {
                "url": request.base_url,
                "enableServerCertificateValidation": true,
                "authenticationType": "Anonymous",
                // The header is the authentication; its value is fetched at every run.
                "authHeaders": {
                    "X-API-Key": {"type": "AzureKeyVaultSecret", "store": linked(VAULT), "secretName": SECRET},
                },
            },
        },
    })
}

fn vault() -> Value {
    json!({
        "name": VAULT,
        "properties": {
            "type": "AzureKeyVault",
            "description": "Has the service's key as a secret. Put your vault's name into the address.",
            "typeProperties": {"baseUrl": "https://YOUR-VAULT.vault.azure.net/"},
        },
    })
}

fn lake() -> Value {
    json!({
        "name": LAKE,
        "properties": {
            "type": "AzureBlobFS",
            "description": "Data Lake Storage Gen2, opened with the factory's managed identity. Put your account's name into the address.",
            "typeProperties": {"url": "https://YOUR-ACCOUNT.dfs.core.windows.net/"},
        },
    })
}
