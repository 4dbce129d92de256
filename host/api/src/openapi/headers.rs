//! Response headers of the description. Names are those of `headers`, spelled as people write them.

use http::HeaderName;
use http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_RANGE,
    ETAG, LAST_MODIFIED, LINK, LOCATION, REFERRER_POLICY, RETRY_AFTER, VARY, WWW_AUTHENTICATE,
};
use serde_json::{Map, Value, json};
use yearbook_domain::bulk::Freshness;
use yearbook_http::headers::{
    ATTRIBUTION, FRESHNESS, GEOMETRY_OMITTED, HAS_MORE, IETF_RATE_LIMIT, IETF_RATE_LIMIT_POLICY,
    IGNORED, LICENCE, MODIFIED, NAMESPACE, NEXT_PAGE, RATE_LIMIT, RATE_REMAINING, RATE_RESET,
    REPR_DIGEST, REQUEST_ID, ROBOTS, ROW_CAP, ROWS, SNAPSHOT_ID, SOURCE, SOURCE_URL, TOTAL_ROWS,
    TRUNCATED, WATERMARK,
};

use super::examples::SNAPSHOT;

/// The month's quota on keyed answers of a limited plan, the bucket's on a refused burst
/// (contract-5-headers).
pub(super) const RATE_LIMIT_HEADERS: [&str; 5] = [
    "X-RateLimit-Limit",
    "X-RateLimit-Remaining",
    "X-RateLimit-Reset",
    "RateLimit",
    "RateLimit-Policy",
];

/// Credit that must be passed on with data (spec-4.1-attribution).
pub(super) const CREDIT_HEADERS: [&str; 6] = [
    "X-Service-Attribution",
    "X-Service-Source",
    "X-Service-Licence",
    "X-Service-Source-URL",
    "X-Service-Namespace",
    "X-Service-Snapshot-Id",
];

/// Headers that keep the address of a link from others.
pub(super) const LINK_HEADERS: [&str; 2] = ["Referrer-Policy", "X-Robots-Tag"];

/// Every header that a response refers to.
pub(super) fn components() -> Value {
    let text = |example: &str| json!({"type": "string", "examples": [example]});
    let count = |example: u64| json!({"type": "integer", "minimum": 0, "examples": [example]});
    let yes = || json!({"type": "string", "enum": ["true"]});
    let all = [
        (REQUEST_ID, "Identifies this request in our logs.", text("6f1d0c55a3b24f9e"), true),
        (
            ATTRIBUTION,
            "Ready-made credit; pass it on verbatim.",
            text("Contains data from Stats NZ, CC BY 4.0"),
            true,
        ),
        (SOURCE, "The publishing agency.", text("Stats NZ"), true),
        (LICENCE, "The licence.", text("CC-BY-4.0"), true),
        (
            SOURCE_URL,
            "Address of the source; left out where none is known.",
            text("https://www.stats.govt.nz/"),
            false,
        ),
        (NAMESPACE, "Namespace of the dataset.", text("prices"), true),
        (SNAPSHOT_ID, "Version of the data.", text(SNAPSHOT), true),
        (GEOMETRY_OMITTED, "Sent when `geometry=false` was asked for.", yes(), false),
        (
            MODIFIED,
            "Transforms that changed the rows, with the options that are not defaults; sent with `apply`. Who passes the rows on says so.",
            text("growth(periods=4)"),
            false,
        ),
        (TRUNCATED, "Sent when the plan's row cap held rows back.", yes(), false),
        (ROW_CAP, "The row cap that held rows back.", count(50_000), false),
        (
            ROWS,
            "Rows in this answer; left out where only reading all of them would tell.",
            count(100),
            false,
        ),
        (
            TOTAL_ROWS,
            "Rows of the whole selection, on all its pages; left out with `dimensions`, conditions, `bbox`, `first`, `last` and `apply`.",
            count(12_345),
            false,
        ),
        (NEXT_PAGE, "Cursor of the next page, when rows remain.", text("Y3Vyc29y"), false),
        (WATERMARK, "How far the client is now; send it back as `since`.", text(SNAPSHOT), true),
        (
            HAS_MORE,
            "Whether changes remain after the watermark.",
            json!({"type": "string", "enum": ["true", "false"]}),
            true,
        ),
        (
            IGNORED,
            "Names of parameters that were sent and that this route does not know, percent-encoded, the first 20.",
            text("region,order%20by"),
            false,
        ),
        (
            LINK,
            "`rel=\"next\"`: the next page, when rows remain; `rel=\"canonical\"` on an alias; `rel=\"cite-as\"`: the citation of these rows.",
            text(
                "<https://data.example.org/v1/datasets/consumer_prices/data?cursor=Y3Vyc29y>; rel=\"next\"",
            ),
            false,
        ),
        (
            CACHE_CONTROL,
            "Who may keep the answer, and for how long: what is kept is asked for again each time, refusals are not kept.",
            text("private, no-cache"),
            true,
        ),
        (
            VARY,
            "Request headers that the answer depends on.",
            text("Accept, Accept-Encoding, X-API-Key, Authorization"),
            true,
        ),
        (
            CONTENT_LANGUAGE,
            "Language of titles, descriptions, labels and notes; left out where the publisher named none.",
            text("en"),
            false,
        ),
        (
            CONTENT_ENCODING,
            "How the body is compressed; left out where it is not.",
            json!({"type": "string", "enum": ["gzip", "zstd"]}),
            false,
        ),
        (ALLOW, "The methods that there are.", text("GET, HEAD, OPTIONS"), true),
        (
            FRESHNESS,
            "The tier of freshness that the file is of.",
            json!({"type": "string", "enum": [Freshness::Monthly.as_str(), Freshness::Current.as_str()]}),
            true,
        ),
        (
            ETAG,
            "Strong entity tag; send it back as `If-None-Match`.",
            text("\"310413fcb9f65f52b329453883a6535f\""),
            false,
        ),
        (
            LAST_MODIFIED,
            "When the snapshot was committed.",
            text("Sat, 21 Nov 2026 00:00:00 GMT"),
            false,
        ),
        (
            CONTENT_DISPOSITION,
            "Names the file; not on JSON.",
            text("attachment; filename=\"consumer_prices.csv\""),
            false,
        ),
        (
            LOCATION,
            "Where to go on: the file itself, or this address without the slash at its end.",
            text("https://store.example.org/bucket/file.parquet?X-Amz-Signature=abc"),
            true,
        ),
        (CONTENT_RANGE, "Which bytes of how many.", text("bytes 0-1023/123456"), true),
        (
            REPR_DIGEST,
            "SHA-256 of the whole file (RFC 9530).",
            text("sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:"),
            true,
        ),
        (
            RATE_LIMIT,
            "Requests a month; limited plans alone have it. With `slow_down`: requests at once, on every plan.",
            count(10),
            false,
        ),
        (
            RATE_REMAINING,
            "Requests left of the month; with `slow_down` 0, of those at once.",
            count(7),
            false,
        ),
        (
            RATE_RESET,
            "When requests are there again, Unix seconds: the next month, or with `slow_down` after `Retry-After`.",
            count(1_798_761_600),
            false,
        ),
        (
            IETF_RATE_LIMIT,
            "The same in the IETF's spelling.",
            text("\"month\";r=7;t=864000"),
            false,
        ),
        (
            IETF_RATE_LIMIT_POLICY,
            "The policy behind it, `month` or `burst`.",
            text("\"month\";q=10;w=2592000"),
            false,
        ),
        (
            REFERRER_POLICY,
            "Keeps browsers from telling the address to others.",
            text("no-referrer"),
            false,
        ),
        (ROBOTS, "Keeps search engines from listing the address.", text("noindex"), false),
        (RETRY_AFTER, "Whole seconds to wait.", count(5), true),
        (
            WWW_AUTHENTICATE,
            "How to send a key; on a second line `Basic`, but not to scripts in browsers.",
            text("ApiKey realm=\"yearbook\", header=\"X-API-Key\""),
            true,
        ),
    ];
    let header = |(name, description, schema, required): (HeaderName, &str, Value, bool)| {
        (
            display_name(&name),
            json!({"description": description, "required": required, "schema": schema}),
        )
    };
    Value::Object(all.into_iter().map(header).collect())
}

/// References to components of these names, and to those that every answer but a redirect of ours
/// has.
pub(super) fn references(names: &[&str]) -> Value {
    references_alone(&[&["X-Request-Id", "Cache-Control", "Vary"], names].concat())
}

/// References to components of these names.
pub(super) fn references_alone(names: &[&str]) -> Value {
    let all = names.iter().copied();
    Value::Object(
        all.map(|name| (name.to_owned(), json!({"$ref": format!("#/components/headers/{name}")})))
            .collect::<Map<_, _>>(),
    )
}

/// A header's name as specifications write it; case means nothing on the wire.
pub(super) fn display_name(name: &HeaderName) -> String {
    let word = |word: &str| match word {
        "url" | "api" | "www" => word.to_ascii_uppercase(),
        "etag" => "ETag".to_owned(),
        "ratelimit" => "RateLimit".to_owned(),
        _ => {
            let (first, rest) = word.split_at(word.len().min(1));
            first.to_ascii_uppercase() + rest
        }
    };
    name.as_str().split('-').map(word).collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_spelled_as_spec_4_1_has_them() {
        for (name, expected) in [
            (SOURCE_URL, "X-Service-Source-URL"),
            (ROW_CAP, "X-Plan-Row-Cap"),
            (RATE_LIMIT, "X-RateLimit-Limit"),
            (ETAG, "ETag"),
            (WWW_AUTHENTICATE, "WWW-Authenticate"),
            (yearbook_http::headers::API_KEY, "X-API-Key"),
        ] {
            assert_eq!(display_name(&name), expected);
        }
    }

    #[test]
    fn what_is_referred_to_is_there() {
        let components = components();
        for name in RATE_LIMIT_HEADERS.iter().chain(&CREDIT_HEADERS).chain(&[
            "X-Request-Id",
            "Cache-Control",
            "Vary",
        ]) {
            assert!(components[*name].is_object(), "{name}");
        }
    }
}
