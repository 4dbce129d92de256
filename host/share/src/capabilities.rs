//! Wishes of a client in headers: response format, end-of-stream action, scheme of file ids
//! (contract-12-responses). Never touches what is sent.

use http::{HeaderMap, HeaderName, HeaderValue};
use yearbook_http::headers::SHARING_CAPABILITIES;

use super::ShareRefusal;

/// Scheme of file ids.
const FILE_ID_HASH: HeaderName = HeaderName::from_static("fileidhash");

/// Shape of the lines of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResponseFormat {
    /// Actions of the sharing protocol; every client reads it.
    Parquet,
    /// Actions of Delta's log.
    Delta,
}

/// Wishes of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Capabilities {
    /// Format of the answer.
    pub(super) format: ResponseFormat,
    /// True where the client waits for an end-of-stream action.
    pub(super) end_stream_action: bool,
    /// Scheme of file ids, to be repeated. The ids are digests in every scheme.
    file_id_hash: Option<&'static str>,
}

impl Capabilities {
    /// Parses the headers. `parquet` is preferred where a client reads both: no table needs more.
    ///
    /// # Errors
    /// 400 for an unknown scheme of file ids, and where no format is known that the client reads.
    pub(super) fn parse(headers: &HeaderMap) -> Result<Self, ShareRefusal> {
        let mut parsed =
            Self { format: ResponseFormat::Parquet, end_stream_action: false, file_id_hash: None };
        let text = |name: &HeaderName| {
            headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).to_lowercase())
        };
        for capability in text(&SHARING_CAPABILITIES).iter().flat_map(|list| list.split(';')) {
            match capability.split_once('=').map(|(name, value)| (name.trim(), value.trim())) {
                Some(("responseformat", formats)) => parsed.format = choose_format(formats)?,
                Some(("includeendstreamaction", value)) => {
                    parsed.end_stream_action = value == "true";
                }
                // Features of readers, and capabilities that are not offered.
                _ => {}
            }
        }
        if let Some(scheme) = text(&FILE_ID_HASH) {
            parsed.file_id_hash = Some(match scheme.trim() {
                "parquet" => "parquet",
                "delta" => "delta",
                _ => {
                    let sentence = "fileidhash is neither parquet nor delta; send one of them.";
                    return Err(ShareRefusal::InvalidParameter(sentence.to_owned()));
                }
            });
        }
        Ok(parsed)
    }

    /// Writes what the answer uses.
    pub(super) fn write(&self, headers: &mut HeaderMap) {
        let used = match (self.format, self.end_stream_action) {
            (ResponseFormat::Parquet, false) => "responseformat=parquet",
            (ResponseFormat::Parquet, true) => "responseformat=parquet;includeendstreamaction=true",
            (ResponseFormat::Delta, false) => "responseformat=delta",
            (ResponseFormat::Delta, true) => "responseformat=delta;includeendstreamaction=true",
        };
        headers.insert(SHARING_CAPABILITIES, HeaderValue::from_static(used));
        if let Some(scheme) = self.file_id_hash {
            headers.insert(FILE_ID_HASH, HeaderValue::from_static(scheme));
        }
    }
}

fn choose_format(formats: &str) -> Result<ResponseFormat, ShareRefusal> {
    let has = |name: &str| formats.split(',').any(|format| format.trim() == name);
    if has("parquet") {
        Ok(ResponseFormat::Parquet)
    } else if has("delta") {
        Ok(ResponseFormat::Delta)
    } else {
        let sentence = "responseformat names neither parquet nor delta; send one of them.";
        Err(ShareRefusal::InvalidParameter(sentence.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(capabilities: &'static str) -> Option<(ResponseFormat, bool)> {
        let mut headers = HeaderMap::new();
        headers.insert(SHARING_CAPABILITIES, HeaderValue::from_static(capabilities));
        let parsed = Capabilities::parse(&headers).ok()?;
        Some((parsed.format, parsed.end_stream_action))
    }

    #[test]
    fn a_client_gets_a_format_that_it_reads_contract_12() {
        use ResponseFormat::{Delta, Parquet};
        for (text, expected) in [
            ("", Some((Parquet, false))),
            ("responseformat=delta", Some((Delta, false))),
            ("responseFormat=delta,parquet;readerfeatures=deletionvectors", Some((Parquet, false))),
            ("responseformat=Delta;includeEndStreamAction=true", Some((Delta, true))),
            ("includeendstreamaction=false", Some((Parquet, false))),
            ("asyncquery=true", Some((Parquet, false))),
            ("responseformat=avro", None),
        ] {
            assert_eq!(parse(text), expected, "{text}");
        }
    }

    #[test]
    fn a_scheme_of_file_ids_is_repeated_or_refused() {
        for (text, expected) in
            [("PARQUET", Some("parquet")), ("delta", Some("delta")), ("md5", None)]
        {
            let mut headers = HeaderMap::new();
            headers.insert(FILE_ID_HASH, HeaderValue::from_static(text));
            let repeated = Capabilities::parse(&headers).ok().map(|parsed| {
                let mut headers = HeaderMap::new();
                parsed.write(&mut headers);
                headers.get(FILE_ID_HASH).cloned()
            });
            assert_eq!(
                repeated,
                expected.map(|text| Some(HeaderValue::from_static(text))),
                "{text}"
            );
        }
    }
}
