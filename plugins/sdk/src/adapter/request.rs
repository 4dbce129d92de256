//! Requests as an adapter reads them, and addresses that it links to.

use std::fmt::Write as _;

use super::{Example, Method, Request};

impl Request {
    /// Segments of the path below the mount.
    ///
    /// ```
    /// use yearbook_sdk::adapter::Example;
    ///
    /// let request = Example::get("/collections/t%C4%93n%C4%81/", 200).request;
    /// assert!(matches!(request.segments()[..], ["collections", "tēnā"]));
    /// ```
    #[must_use]
    pub fn segments(&self) -> Vec<&str> {
        self.path.iter().map(String::as_str).collect()
    }

    /// Parameters of the query, in order.
    ///
    /// ```
    /// use yearbook_sdk::adapter::Example;
    ///
    /// let request = Example::get("/?a=1&a=2", 200).request;
    /// assert_eq!(request.parameters().collect::<Vec<_>>(), [("a", "1"), ("a", "2")]);
    /// ```
    pub fn parameters(&self) -> impl Iterator<Item = (&str, &str)> {
        self.query.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The first value of a parameter.
    ///
    /// ```
    /// use yearbook_sdk::adapter::Example;
    ///
    /// let request = Example::get("/?a=x%20y&b", 200).request;
    /// assert_eq!(request.parameter("a"), Some("x y"));
    /// assert_eq!((request.parameter("b"), request.parameter("c")), (Some(""), None));
    /// ```
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters().find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    /// A header, by its name in lower case: `accept`, `accept-language`, `content-type` and those
    /// that the description declares.
    ///
    /// ```
    /// use yearbook_sdk::adapter::Example;
    ///
    /// let request = Example::post("/", "application/json", "{}", 200).request;
    /// assert_eq!(request.header("content-type"), Some("application/json"));
    /// ```
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The absolute address of a path below the mount; `segments` and `query` are encoded here.
    ///
    /// ```
    /// use yearbook_sdk::adapter::Example;
    ///
    /// let mut request = Example::get("/", 200).request;
    /// request.base = "https://data.example.org/api/tables".into();
    /// let address = request.address_of(&["a b"], [("page", "2/3")]);
    /// assert_eq!(address, "https://data.example.org/api/tables/a%20b?page=2%2F3");
    /// ```
    #[must_use]
    pub fn address_of<'a>(
        &self,
        segments: &[&str],
        query: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> String {
        let mut address = self.base.clone();
        for segment in segments {
            address.push('/');
            encode(segment, &mut address);
        }
        for (at, (name, value)) in query.into_iter().enumerate() {
            address.push(if at == 0 { '?' } else { '&' });
            encode(name, &mut address);
            address.push('=');
            encode(value, &mut address);
        }
        address
    }

    /// The address of this request with another value of one parameter, as a link to the next page
    /// has it.
    ///
    /// ```
    /// use yearbook_sdk::adapter::Example;
    ///
    /// let mut request = Example::get("/prices?page=1&region=north", 200).request;
    /// request.base = "https://data.example.org/api/tables".into();
    /// assert!(request.address_with("page", "2").ends_with("/tables/prices?region=north&page=2"));
    /// ```
    #[must_use]
    pub fn address_with(&self, name: &str, value: &str) -> String {
        let others = self.parameters().filter(|(key, _)| *key != name);
        self.address_of(&self.segments(), others.chain([(name, value)]))
    }

    /// The media type of `offered` that `Accept` prefers; the first where the client does not mind.
    /// `None` where it takes none of them: 406.
    ///
    /// ```
    /// use yearbook_sdk::adapter::Example;
    ///
    /// let mut request = Example::get("/", 200).request;
    /// let offered = ["application/json", "text/csv"];
    /// assert_eq!(request.preferred(&offered), Some("application/json"));
    /// request.headers = vec![("accept".into(), "text/*, application/json;q=0.5".into())];
    /// assert_eq!(request.preferred(&offered), Some("text/csv"));
    /// request.headers = vec![("accept".into(), "image/png".into())];
    /// assert_eq!(request.preferred(&offered), None);
    /// ```
    #[must_use]
    pub fn preferred<'a>(&self, offered: &[&'a str]) -> Option<&'a str> {
        let Some(accept) = self.header("accept") else { return offered.first().copied() };
        let weighed = offered.iter().map(|&media_type| (weight(accept, media_type), media_type));
        // The first of those that weigh most.
        let best = weighed.rev().max_by(|(one, _), (other, _)| one.total_cmp(other))?;
        (best.0 > 0.0).then_some(best.1)
    }

    /// The languages that `Accept-Language` names, the most wanted first (RFC 9110, 12.5.4).
    ///
    /// ```
    /// use yearbook_sdk::adapter::Example;
    ///
    /// let example = Example::get("/", 200);
    /// let request = example.header("accept-language", "en;q=0.1, mi, fr;q=0, *").request;
    /// assert_eq!(request.languages(), ["mi", "en"]);
    /// ```
    #[must_use]
    pub fn languages(&self) -> Vec<&str> {
        let header = self.header("accept-language").unwrap_or_default();
        let weighed = header.split(',').map(|range| {
            let mut parts = range.split(';').map(str::trim);
            let language = parts.next().unwrap_or_default();
            (quality(parts), language)
        });
        let mut ranges: Vec<(f64, &str)> = weighed
            .filter(|(quality, range)| *quality > 0.0 && !["", "*"].contains(range))
            .collect();
        // Of equal weights the first one counts.
        ranges.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        ranges.into_iter().map(|(_, range)| range).collect()
    }
}

/// Weight among the parameters of a range: 1 where there is none that is a number from 0 to 1.
fn quality<'a>(mut parameters: impl Iterator<Item = &'a str>) -> f64 {
    let weight = parameters.find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("q").then_some(value.trim())
    });
    let weight = weight.and_then(|text| text.parse().ok());
    weight.filter(|weight| (0.0..=1.0).contains(weight)).unwrap_or(1.0)
}

/// Weight of a media type under `Accept` (RFC 9110, 12.5.1): that of the most specific range.
fn weight(accept: &str, media_type: &str) -> f64 {
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    let kind = essence.split('/').next().unwrap_or_default();
    let ranges = accept.split(',').filter_map(|range| {
        let mut parts = range.split(';').map(str::trim);
        let range = parts.next().unwrap_or_default();
        let precision = if range.eq_ignore_ascii_case(essence) {
            2
        } else if range.strip_suffix("/*").is_some_and(|range| range.eq_ignore_ascii_case(kind)) {
            1
        } else if range == "*/*" {
            0
        } else {
            return None;
        };
        Some((precision, quality(parts)))
    });
    ranges.max_by_key(|(precision, _)| *precision).map_or(0.0, |(_, quality): (u8, f64)| quality)
}

impl Example {
    /// A GET of a path below the mount with its query, and the status that it has over the sample
    /// catalogue.
    ///
    /// ```
    /// use yearbook_sdk::adapter::Example;
    ///
    /// assert_eq!(Example::get("/prices?page=2", 200).request.path, ["prices"]);
    /// ```
    #[must_use]
    pub fn get(address: &str, status: u16) -> Self {
        let (path, query) = address.split_once('?').unwrap_or((address, ""));
        let segments = path.trim_start_matches('/').trim_end_matches('/').split('/');
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        let pair = |pair: &str| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decode(name), decode(value))
        };
        let request = Request {
            method: Method::Get,
            base: String::new(),
            path: segments.filter(|segment| !segment.is_empty()).map(decode).collect(),
            query: pairs.map(pair).collect(),
            headers: Vec::new(),
            body: Vec::new(),
        };
        Self { request, status }
    }

    /// A POST with a body.
    ///
    /// ```
    /// use yearbook_sdk::adapter::{Example, Method};
    ///
    /// let example = Example::post("/", "application/json", "{}", 200);
    /// assert_eq!(example.request.method, Method::Post);
    /// ```
    #[must_use]
    pub fn post(address: &str, media_type: &str, body: impl Into<Vec<u8>>, status: u16) -> Self {
        let mut example = Self::get(address, status).header("content-type", media_type);
        (example.request.method, example.request.body) = (Method::Post, body.into());
        example
    }

    /// The same with a header, its name in lower case.
    ///
    /// ```
    /// use yearbook_sdk::adapter::Example;
    ///
    /// let example = Example::get("/", 200).header("accept", "text/csv");
    /// assert_eq!(example.request.header("accept"), Some("text/csv"));
    /// ```
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.request.headers.push((name.to_owned(), value.to_owned()));
        self
    }
}

/// Adds text percent-encoded: all but what stands for itself everywhere in an address.
fn encode(text: &str, address: &mut String) {
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            address.push(char::from(byte));
        } else {
            let written = write!(address, "%{byte:02X}");
            debug_assert!(written.is_ok(), "a string takes all text");
        }
    }
}

fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let code = (*first == b'%').then(|| tail.get(..2)).flatten();
        let code = code.and_then(|code| std::str::from_utf8(code).ok());
        let code = code.and_then(|code| u8::from_str_radix(code, 16).ok());
        bytes.push(code.unwrap_or(*first));
        rest = &tail[if code.is_some() { 2 } else { 0 }..];
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_wanted_by_their_weight_rfc_9110() {
        for (header, wanted) in [
            ("mi", &["mi"][..]),
            ("en;q=0.1, mi", &["mi", "en"]),
            ("en;q=0.4, mi-NZ;q=0.8, fr; Q=0.8", &["mi-NZ", "fr", "en"]),
            ("en;q=0, mi;q=x, *, fr;q=0.5", &["mi", "fr"]),
            ("en;q=0", &[]),
            ("*", &[]),
            ("", &[]),
        ] {
            let request = Example::get("/", 0).header("accept-language", header).request;
            assert_eq!(request.languages(), wanted, "{header}");
        }
        assert!(Example::get("/", 0).request.languages().is_empty());
    }
}
