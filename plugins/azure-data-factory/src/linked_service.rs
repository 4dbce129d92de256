//! Where data comes from and goes to, and where the key lies.

use serde_json::{Value, json};
use yearbook_sdk::generator::Request;

use crate::RowSource;
use crate::names::{LAKE, SECRET, SERVICE, VAULT, linked};

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
