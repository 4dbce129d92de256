//! Rate-limit headers: the usual `X-RateLimit-*` and the IETF pair
//! (draft-ietf-httpapi-ratelimit-headers-10, structured fields).

use http::{HeaderMap, HeaderValue};
use yearbook_catalog::QuotaUsage;
use yearbook_domain::Millis;

use crate::headers::{
    IETF_RATE_LIMIT, IETF_RATE_LIMIT_POLICY, RATE_LIMIT, RATE_REMAINING, RATE_RESET, insert_text,
};

/// One limit at one moment.
pub(super) struct RateLimitWindow<'a> {
    /// Name of the policy, an sf-string without characters to escape.
    pub(super) policy: &'a str,
    /// Requests a window.
    pub(super) limit: u64,
    /// Requests left.
    pub(super) left: u64,
    /// Length of the window, seconds.
    pub(super) length: u64,
    /// Seconds until requests are there again.
    pub(super) wait: u64,
    /// The same as an instant, Unix seconds.
    pub(super) reset: i64,
}

/// The month's quota of a limited plan; nothing for an unlimited one.
pub fn write_month_quota(headers: &mut HeaderMap, usage: &QuotaUsage) {
    write_month_quota_at(headers, usage, yearbook_catalog::clock::now());
}

/// Removes what is said of any limit.
pub fn remove_headers(headers: &mut HeaderMap) {
    for name in [RATE_LIMIT, RATE_REMAINING, RATE_RESET, IETF_RATE_LIMIT, IETF_RATE_LIMIT_POLICY] {
        headers.remove(name);
    }
}

fn write_month_quota_at(headers: &mut HeaderMap, usage: &QuotaUsage, now: Millis) {
    let (Some(limit), Some(left)) = (usage.limit, usage.left()) else { return };
    let seconds =
        |from: Millis, to: Millis| to.0.saturating_sub(from.0).max(0).unsigned_abs().div_ceil(1000);
    RateLimitWindow {
        policy: "month",
        limit,
        left,
        length: seconds(now.month_start(), now.next_month()),
        wait: seconds(now, usage.resets_at),
        reset: usage.resets_at.0.div_euclid(1000),
    }
    .write(headers);
}

impl RateLimitWindow<'_> {
    /// Writes all five headers.
    pub(super) fn write(&self, headers: &mut HeaderMap) {
        let Self { policy, limit, left, length, wait, reset } = self;
        headers.insert(RATE_LIMIT, HeaderValue::from(*limit));
        headers.insert(RATE_REMAINING, HeaderValue::from(*left));
        headers.insert(RATE_RESET, HeaderValue::from(*reset));
        let quota = format!("\"{policy}\";q={limit};w={length}");
        insert_text(headers, IETF_RATE_LIMIT_POLICY, &quota);
        insert_text(headers, IETF_RATE_LIMIT, &format!("\"{policy}\";r={left};t={wait}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_is_told_in_both_spellings_contract_5() {
        let mut headers = HeaderMap::new();
        let now = Millis(1_795_219_200_000); // 2026-11-21T00:00:00Z
        write_month_quota_at(
            &mut headers,
            &QuotaUsage { used: 3, limit: Some(10), resets_at: now.next_month() },
            now,
        );
        let found: Vec<_> =
            [RATE_LIMIT, RATE_REMAINING, RATE_RESET, IETF_RATE_LIMIT_POLICY, IETF_RATE_LIMIT]
                .iter()
                .map(|name| headers[name].clone())
                .collect();
        assert_eq!(
            found,
            ["10", "7", "1796083200", "\"month\";q=10;w=2592000", "\"month\";r=7;t=864000"]
        );
    }

    #[test]
    fn unlimited_plans_get_none_contract_5() {
        let mut headers = HeaderMap::new();
        write_month_quota(&mut headers, &QuotaUsage { used: 3, limit: None, resets_at: Millis(0) });
        assert!(headers.is_empty());
    }
}
