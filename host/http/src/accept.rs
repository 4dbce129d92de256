//! `Accept` (RFC 9110, 12.5.1): which of several media types a client would rather have. `text/csv`
//! matches any `text/csv` whatever its parameters; of the parameters only `q` counts.

use http::HeaderMap;
use http::header::ACCEPT;

use crate::media_types::PROBLEM_JSON;

/// One media range with its weight in thousandths. Names are compared in any case.
#[derive(Debug, PartialEq)]
struct MediaRange<'h> {
    kind: &'h str,
    subtype: &'h str,
    weight: u16,
}

impl MediaRange<'_> {
    /// Returns whether it is this very media type, without parameters.
    fn names(&self, media_type: &str) -> bool {
        let same = |(kind, subtype): (&str, &str)| {
            self.kind.eq_ignore_ascii_case(kind) && self.subtype.eq_ignore_ascii_case(subtype)
        };
        media_type.split_once('/').is_some_and(same)
    }
}

/// Position of the best of `offers` (media types, the service's favourite first). None when the
/// client accepts none of them. Equal weights: the range that names the type more precisely, then
/// the earlier offer. A header that is absent or says nothing about data accepts everything.
pub fn choose(headers: &HeaderMap, offers: &[&str]) -> Option<usize> {
    let ranges: Vec<MediaRange<'_>> =
        media_ranges(headers).filter(|range| !range.names(PROBLEM_JSON)).collect();
    if ranges.is_empty() {
        return (!offers.is_empty()).then_some(0);
    }
    let rated = offers.iter().enumerate().filter_map(|(index, offer)| {
        let (precision, weight) = best_match(&ranges, offer)?;
        (weight > 0).then_some((weight, precision, std::cmp::Reverse(index)))
    });
    rated.max().map(|(_, _, std::cmp::Reverse(index))| index)
}

/// Returns whether `media_type` is accepted by its own name.
pub fn names(headers: &HeaderMap, media_type: &str) -> bool {
    media_ranges(headers).any(|range| range.weight > 0 && range.names(media_type))
}

/// Precision and weight of the most precise range that matches.
fn best_match(ranges: &[MediaRange<'_>], offer: &str) -> Option<(u8, u16)> {
    let essence = offer.split(';').next().unwrap_or_default().trim();
    let (kind, _) = essence.split_once('/')?;
    let precision = |range: &MediaRange<'_>| match (range.kind, range.subtype) {
        ("*", "*") => Some(0),
        (k, "*") if k.eq_ignore_ascii_case(kind) => Some(1),
        _ if range.names(essence) => Some(2),
        _ => None,
    };
    ranges.iter().filter_map(|range| Some((precision(range)?, range.weight))).max()
}

fn media_ranges(headers: &HeaderMap) -> impl Iterator<Item = MediaRange<'_>> {
    headers
        .get_all(ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|text| text.split(','))
        .filter_map(parse_media_range)
}

fn parse_media_range(text: &str) -> Option<MediaRange<'_>> {
    let mut parts = text.split(';').map(str::trim);
    let (kind, subtype) = parts.next()?.split_once('/')?;
    Some(MediaRange { kind: kind.trim(), subtype: subtype.trim(), weight: weight(parts) })
}

/// The `q` among parameters, in thousandths; 1000 where there is none or it makes no sense.
pub(super) fn weight<'a>(mut parameters: impl Iterator<Item = &'a str>) -> u16 {
    let q = parameters.find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("q").then_some(value.trim())
    });
    let number: f32 = q
        .and_then(|text| text.parse().ok())
        .filter(|number: &f32| number.is_finite())
        .unwrap_or(1.0);
    #[expect(clippy::cast_possible_truncation, reason = "clamped to 0..=1000")]
    let thousandths = (number.clamp(0.0, 1.0) * 1000.0).round() as u16;
    thousandths
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    const OFFERS: [&str; 4] = [
        "application/json",
        "text/csv; charset=utf-8; header=present",
        "application/vnd.apache.arrow.stream",
        "application/vnd.apache.parquet",
    ];

    fn headers(accept: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(accept))])
    }

    #[test]
    fn the_best_offer_is_chosen_by_weight_then_precision_rfc_9110() {
        let cases = [
            ("*/*", Some(0)),
            ("text/csv", Some(1)),
            ("Text/CSV; charset=utf-8", Some(1)),
            ("text/csv;q=0.5, application/json;q=0.4", Some(1)),
            ("text/csv, */*", Some(1)),
            ("text/*", Some(1)),
            ("application/*", Some(0)),
            ("application/json;q=0, */*", Some(1)),
            ("application/json;q=0", None),
            ("text/html, application/xhtml+xml, application/xml;q=0.9, */*;q=0.8", Some(0)),
            ("application/vnd.apache.parquet, application/json;q=0.9", Some(3)),
            ("application/json; charset=utf-8", Some(0)),
            ("text/html", None),
            ("image/*", None),
            ("text/csv; q=0.001", Some(1)),
            ("text/csv;q=nonsense", Some(1)),
            ("", Some(0)),
            ("garbage", Some(0)),
            ("application/problem+json", Some(0)),
            ("application/problem+json, text/csv", Some(1)),
        ];
        for (accept, expected) in cases {
            assert_eq!(choose(&headers(accept), &OFFERS), expected, "{accept}");
        }
        assert_eq!(choose(&HeaderMap::new(), &OFFERS), Some(0));
    }

    #[test]
    fn several_accept_lines_count_as_one() {
        let mut several = headers("text/html");
        several.append(ACCEPT, HeaderValue::from_static("text/csv"));
        assert_eq!(choose(&several, &OFFERS), Some(1));
    }

    #[test]
    fn problem_details_are_only_for_those_who_name_them_contract_2() {
        assert!(names(&headers("application/json, Application/Problem+JSON"), PROBLEM_JSON));
        assert!(!names(&headers("application/problem+json;q=0"), PROBLEM_JSON));
        assert!(!names(&headers("*/*"), PROBLEM_JSON));
    }
}
