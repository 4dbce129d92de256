//! `/openapi.json`: the machine description (OpenAPI 3.1), made from what answers requests:
//! refusals and their sentences, limits, settings, names of headers, and the plugins that are
//! loaded now (spec-9-version, contract-4-openapi). Reads no dataset: the description of a service
//! without data is the same. What it says of bodies is held against live answers by
//! `tests/external/openapi`.

mod examples;
mod headers;
mod operation;
mod parameters;
mod paths;
mod refusals;
mod schemas;

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use yearbook_http::{CoreSettings, Error, RenderedDocument};
use yearbook_sandbox::PluginSet;

/// The description as it was last rendered, with the plugins that it tells of.
#[derive(Default)]
pub(crate) struct OpenApiCache {
    last: Mutex<Option<(Arc<PluginSet>, RenderedDocument)>>,
}

impl OpenApiCache {
    /// Rendered again only when plugins were loaded or removed.
    pub(crate) fn get(
        &self,
        settings: &CoreSettings,
        plugins: Arc<PluginSet>,
    ) -> Result<RenderedDocument, Error> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((described, document)) = &*last
            && Arc::ptr_eq(described, &plugins)
        {
            return Ok(document.clone());
        }
        let document = RenderedDocument::new(&openapi(settings, &plugins))?;
        *last = Some((plugins, document.clone()));
        Ok(document)
    }
}

/// The OpenAPI 3.1 document of a service with these settings and plugins.
#[must_use]
pub fn openapi(settings: &CoreSettings, plugins: &PluginSet) -> Value {
    // Relative to where the document was found, unless the operator says where that is.
    let base = settings.server.public_url.as_ref().map_or("/", |url| url.as_str());
    let scheme = |description: &str| json!({"type": "apiKey", "in": "header", "name": headers::display_name(&yearbook_http::headers::API_KEY), "description": description});
    json!({
        "openapi": "3.1.1",
        "info": {
            "title": "Yearbook",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "Public statistics: versioned datasets, each with its licence and credit.",
            "description": service_description(settings),
        },
        "servers": [{"url": base}],
        "tags": [
            {"name": "Datasets", "description": "What there is, and its rows."},
            {"name": "Bulk", "description": "Whole stored files."},
            {"name": "Integrations", "description": "Configuration files for data-pipeline tools."},
            {"name": "Service", "description": "The caller's plan, and whether the service is well."},
        ],
        "paths": paths::all(settings, plugins),
        "components": {
            "securitySchemes": {
                "ApiKeyAuth": scheme("An API key, `yb_…`."),
                "BearerAuth": {"type": "http", "scheme": "bearer", "description": "The same key as bearer token, where no `X-API-Key` is sent."},
                "BasicAuth": {"type": "http", "scheme": "basic", "description": "The same key as user name or as password, where no `X-API-Key` is sent."},
                "APIKeyHeader": scheme("The same key in the same header, under the name that the integration routes give it."),
            },
            "parameters": parameters::components(settings, plugins),
            "headers": headers::components(),
            "schemas": schemas::components(),
        },
    })
}

fn service_description(settings: &CoreSettings) -> String {
    let window = match settings.limits.burst_per_second {
        0 => String::new(),
        each => format!(
            "At most {each} requests a second, in bursts of {}, are answered per key and per address. ",
            settings.limits.burst_size.max(1)
        ),
    };
    format!(
        "A read-only service: every address answers GET and HEAD, and OPTIONS for scripts on other pages. {window}\
         Credit comes in the `X-Service-Attribution` header, and inside Arrow and Parquet files; it must be passed on with the data.\n\n\
         Whatever is not answered with data is answered with a sentence that says what to do next, and a code in \
         `X-Service-Error-Code`. Whoever accepts `application/problem+json` gets RFC 9457. Wrong parameters are listed all at once.\n\n\
         Unknown parameters are ignored and named in `X-Service-Ignored`; of a parameter that is sent twice the last counts.\n\n\
         Warehouses read tables by Delta Sharing at `/share/delta`, with the key as bearer token; its protocol describes these addresses, and this document does not."
    )
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::request::known_parameters::{
        BULK, CHANGES, DATA, LANGUAGE, LINK, NONE, REVISIONS, VALUES,
    };

    #[test]
    fn the_machine_description_names_both_key_schemes_and_its_version_spec_5_5_and_9_2() {
        let document = openapi(&CoreSettings::default(), &PluginSet::default());
        assert_eq!(
            (&document["openapi"], &document["info"]["version"]),
            (&json!("3.1.1"), &json!("0.1.0"))
        );
        for scheme in ["ApiKeyAuth", "APIKeyHeader"] {
            assert_eq!(
                document["components"]["securitySchemes"][scheme]["name"], "X-API-Key",
                "{scheme}"
            );
        }
        for (scheme, name) in [("BearerAuth", "bearer"), ("BasicAuth", "basic")] {
            let described = &document["components"]["securitySchemes"][scheme];
            assert_eq!((&described["type"], &described["scheme"]), (&json!("http"), &json!(name)));
        }
    }

    #[test]
    fn no_parameter_is_described_that_its_route_ignores_contract_15() {
        let document = openapi(&CoreSettings::default(), &PluginSet::default());
        let routes = [
            ("/v1/datasets", LANGUAGE),
            ("/v1/datasets/{name}", LANGUAGE),
            ("/v1/datasets/{name}/preview", NONE),
            ("/v1/datasets/{name}/data", DATA),
            ("/v1/series/{name}/data", DATA),
            ("/v1/datasets/{name}/changes", CHANGES),
            ("/v1/datasets/{name}/revisions", REVISIONS),
            ("/v1/datasets/{name}/values", VALUES),
            ("/v1/datasets/{name}/link", LINK),
            ("/v1/bulk/{namespace}/{name}", BULK),
            ("/v1/me", NONE),
        ];
        let paths = document["paths"].as_object().unwrap();
        let described = paths.keys().filter(|path| path.starts_with("/v1/"));
        assert_eq!(described.count(), routes.len(), "a route is missing here");
        for (path, known) in routes {
            let parameters = paths[path]["get"]["parameters"].as_array().into_iter().flatten();
            let resolved = parameters.map(|parameter| {
                let reference = parameter["$ref"].as_str().unwrap();
                document.pointer(reference.trim_start_matches('#')).unwrap()
            });
            for parameter in resolved.filter(|parameter| parameter["in"] == "query") {
                let name = parameter["name"].as_str().unwrap();
                let begins =
                    known.prefix.is_some_and(|prefix| prefix.trim_end_matches('.') == name);
                assert!(begins || known.names.contains(&name), "{path}: {name}");
            }
        }
    }
}
