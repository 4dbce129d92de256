//! `Accept-Encoding` (RFC 9110, 12.5.3): which compression a client would rather have.

use http::HeaderMap;
use http::header::ACCEPT_ENCODING;

use super::accept::weight;

/// A compression of bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ContentCoding {
    /// RFC 8878; faster and denser than gzip, preferred where both are as welcome.
    Zstd,
    /// RFC 1952.
    Gzip,
}

impl ContentCoding {
    /// The name in `Content-Encoding` and in entity tags.
    pub fn name(self) -> &'static str {
        match self {
            Self::Zstd => "zstd",
            Self::Gzip => "gzip",
        }
    }

    /// The coding to use; none: as it is. A coding is used only where the client names it (or `*`,
    /// which is taken as gzip, the one that everybody reads) and does not prefer `identity`.
    pub fn choose(headers: &HeaderMap) -> Option<Self> {
        let texts = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
        let (mut zstd, mut gzip, mut star, mut identity) = (None, None, None, 0);
        for item in texts.flat_map(|text| text.split(',')) {
            let mut parts = item.split(';').map(str::trim);
            let name = parts.next().unwrap_or_default().to_ascii_lowercase();
            let weight = weight(parts);
            match name.as_str() {
                "zstd" => zstd = Some(weight),
                "gzip" | "x-gzip" => gzip = Some(weight),
                "*" => star = Some(weight),
                "identity" => identity = weight,
                _ => {}
            }
        }
        let (zstd, gzip) = (zstd.unwrap_or(0), gzip.or(star).unwrap_or(0));
        let (coding, weight) = if zstd >= gzip { (Self::Zstd, zstd) } else { (Self::Gzip, gzip) };
        (weight > 0 && weight >= identity).then_some(coding)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    #[test]
    fn codings_are_chosen_by_weight_rfc_9110() {
        let cases = [
            ("gzip", Some(ContentCoding::Gzip)),
            ("gzip, deflate, br, zstd", Some(ContentCoding::Zstd)),
            ("gzip, deflate", Some(ContentCoding::Gzip)),
            ("GZIP;Q=0.5, zstd;q=0.4", Some(ContentCoding::Gzip)),
            ("x-gzip", Some(ContentCoding::Gzip)),
            ("*", Some(ContentCoding::Gzip)),
            ("gzip;q=0, *", None),
            ("gzip;q=0", None),
            ("identity", None),
            ("identity;q=1, gzip;q=0.5", None),
            ("gzip;q=0.5, identity;q=0.5", Some(ContentCoding::Gzip)),
            ("br", None),
            ("", None),
        ];
        for (text, expected) in cases {
            let headers = HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static(text))]);
            assert_eq!(ContentCoding::choose(&headers), expected, "{text}");
        }
        assert_eq!(ContentCoding::choose(&HeaderMap::new()), None);
    }
}
