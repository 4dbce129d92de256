//! Body of `/v1/me`.

use yearbook_domain::Plan;
use yearbook_http::body_schema::Rfc3339;
use yearbook_http::json_body;

json_body! {
    pub(crate) struct AccountView named "Me": "The caller's plan and what is left of it." {
        pub(super) plan: Plan,
        pub(super) row_cap: Option<u64>,
        pub(super) requests: MonthView,
    }

    pub(crate) struct MonthView: "Requests of this month (UTC)." {
        pub(super) limit: Option<u64>,
        pub(super) used: u64,
        pub(super) left: Option<u64>,
        pub(super) resets_at: Rfc3339,
    }
}
