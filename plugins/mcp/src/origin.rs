//! The page that a request comes from: one of another site is refused, so that no page can use a
//! service that only its reader's machine reaches.

use yearbook_sdk::adapter::Request;

/// Returns false where a browser says that a page of another origin sends this request.
pub(crate) fn is_own(request: &Request) -> bool {
    let Some(sent) = request.header("origin") else { return true };
    let mount = request.base.split("://").nth(1).and_then(|rest| rest.split('/').next());
    let scheme = request.base.split("://").next();
    let own = scheme.zip(mount).map(|(scheme, host)| format!("{scheme}://{host}"));
    own.is_some_and(|own| own.eq_ignore_ascii_case(sent))
}
