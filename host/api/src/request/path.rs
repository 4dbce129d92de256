//! Names in paths. Taken from the raw path, so that a name with wrong bytes is a 422 like any other
//! wrong name.

use http::Uri;
use http::request::Parts;
use percent_encoding::percent_decode_str;
use yearbook_domain::{DatasetName, Namespace, ValidationError};
use yearbook_http::language::WantedLanguages;

/// The dataset's name in `/v1/datasets/{name}…` and `/v1/series/{name}…`.
///
/// # Errors
/// The problem of a name that is not snake_case.
pub(crate) fn dataset_name(uri: &Uri) -> Result<DatasetName, ValidationError> {
    path_segment(uri, 3, "name", DatasetName::parse)
}

/// Namespace and name in `/v1/bulk/{namespace}/{name}`.
///
/// # Errors
/// A problem for each that is not snake_case.
pub(crate) fn bulk_names(uri: &Uri) -> Result<(Namespace, DatasetName), Vec<ValidationError>> {
    match (
        path_segment(uri, 3, "namespace", Namespace::parse),
        path_segment(uri, 4, "name", DatasetName::parse),
    ) {
        (Ok(namespace), Ok(name)) => Ok((namespace, name)),
        (namespace, name) => Err(namespace.err().into_iter().chain(name.err()).collect()),
    }
}

fn path_segment<T>(
    uri: &Uri,
    segment: usize,
    parameter: &str,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Result<T, ValidationError> {
    let text = percent_decode_str(uri.path().split('/').nth(segment).unwrap_or_default())
        .decode_utf8_lossy();
    parse(&text).ok_or_else(|| ValidationError::name_pattern_mismatch(parameter, &text))
}

/// The languages that a request wants.
///
/// # Errors
/// A `lang` that is no tag.
pub(crate) fn wanted_languages(parts: &Parts) -> Result<WantedLanguages, ValidationError> {
    WantedLanguages::read(parts.uri.query().unwrap_or_default(), &parts.headers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_decoded_and_judged_contract_2() {
        let of = |path: &'static str| {
            dataset_name(&Uri::from_static(path))
                .map(|name| name.to_string())
                .map_err(|problem| problem.input.unwrap_or_default())
        };
        assert_eq!(of("/v1/datasets/cpi_quarterly"), Ok("cpi_quarterly".to_owned()));
        assert_eq!(of("/v1/series/cpi/data?x=/a/b"), Ok("cpi".to_owned()));
        assert_eq!(of("/v1/datasets/%63pi/data"), Ok("cpi".to_owned()));
        assert_eq!(of("/v1/datasets/CPI"), Err("CPI".to_owned()));
        assert_eq!(of("/v1/datasets/a%2Fb/data"), Err("a/b".to_owned()));
        assert_eq!(of("/v1/datasets/%FF"), Err("\u{FFFD}".to_owned()));
        assert_eq!(of("/v1/datasets/..%2f..%2fetc/preview"), Err("../../etc".to_owned()));
    }
}
