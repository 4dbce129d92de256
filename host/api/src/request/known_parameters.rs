//! Query parameters that each route knows. All others are ignored, and named in
//! `X-Service-Ignored`; the description of the service has the same ones.

use yearbook_domain::query::DATA_PARAMETERS;
use yearbook_http::ignored_parameters::RouteParameters;
use yearbook_http::language::LANG;

/// Routes without parameters.
pub(crate) const NONE: RouteParameters =
    RouteParameters { names: &[], prefix: None, has_tool: false };

/// Documents in several languages.
pub(crate) const LANGUAGE: RouteParameters = RouteParameters { names: &[LANG], ..NONE };

/// `/data`.
pub(crate) const DATA: RouteParameters = RouteParameters {
    names: &DATA_PARAMETERS,
    // Conditions on columns; one that is none is refused, not ignored.
    prefix: Some("where."),
    ..NONE
};

/// `/link`: what `/data` knows, but for the page.
pub(crate) const LINK: RouteParameters = RouteParameters {
    names: &[
        "start",
        "end",
        "dimensions",
        "limit",
        "format",
        "geometry",
        "envelope",
        "snapshot",
        "columns",
        "where",
        "sort",
        "first",
        "last",
        "bbox",
        "as_of",
        "apply",
        "days",
    ],
    prefix: Some("where."),
    ..NONE
};

/// `/l/{file}`.
pub(crate) const LINK_READ: RouteParameters = RouteParameters { names: &["cursor"], ..NONE };

/// `/changes`.
pub(crate) const CHANGES: RouteParameters =
    RouteParameters { names: &["since", "limit", "format", "geometry"], ..NONE };

/// `/revisions`: what `/data` knows, but for what chooses a version or rows of a series.
pub(crate) const REVISIONS: RouteParameters = RouteParameters {
    names: &[
        "start",
        "end",
        "dimensions",
        "limit",
        "format",
        "geometry",
        "envelope",
        "cursor",
        "columns",
        "where",
        "sort",
        "bbox",
        "apply",
        "since",
    ],
    prefix: Some("where."),
    ..NONE
};

/// `/values`.
pub(crate) const VALUES: RouteParameters = RouteParameters {
    names: &[
        "start",
        "end",
        "dimensions",
        "limit",
        "snapshot",
        "columns",
        "bbox",
        "as_of",
        "after",
        LANG,
    ],
    prefix: Some("where."),
    ..NONE
};

/// `/v1/bulk`.
pub(crate) const BULK: RouteParameters = RouteParameters { names: &["freshness"], ..NONE };

/// `/v1/integrations`.
pub(crate) const INTEGRATION: RouteParameters =
    RouteParameters { names: &["datasets"], has_tool: true, ..NONE };
