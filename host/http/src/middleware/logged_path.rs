//! Paths as logs and traces have them. The path of a link is as secret as a key, and is cut before
//! its token (contract-15-link-unlogged).

use axum::extract::{MatchedPath, Request};

/// Start of the paths of links.
const LINKS: &str = "/l/";

/// Returns the path of `request` without the token of a link. Where no route matches, a proxy may
/// have left something before the path of a link.
pub(super) fn loggable_path(request: &Request) -> &str {
    let path = request.uri().path();
    let route = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    if route.is_some_and(|route| !route.starts_with(LINKS)) {
        return path;
    }
    path.find(LINKS).map_or(path, |start| &path[..start + LINKS.len()])
}
