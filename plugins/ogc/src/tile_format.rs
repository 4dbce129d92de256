//! The format of vector tiles, which an operator may have installed, and what announces tiles where
//! it is there.

use yearbook_sdk::adapter::{Asked, Format, Host, Step};

use crate::problem::not_found;

/// Its name, and its media type.
pub(crate) const FORMAT: &str = "mvt";
pub(crate) const MVT: &str = "application/vnd.mapbox-vector-tile";

/// Relations of the links from a collection to its tilesets, and from the landing page to the tile
/// matrix set.
pub(crate) const TILESETS: &str = "http://www.opengis.net/def/rel/ogc/1.0/tilesets-vector";
pub(crate) const TILING_SCHEMES: &str = "http://www.opengis.net/def/rel/ogc/1.0/tiling-schemes";

/// Returns whether it is among the formats of a host.
pub(crate) fn is_among(formats: &[Format]) -> bool {
    formats.iter().any(|format| format.name == FORMAT)
}

/// Makes sure that it is among the formats of a host.
///
/// # Errors
/// 404.
pub(crate) fn check(formats: &[Format]) -> Step<()> {
    if is_among(formats) {
        return Ok(());
    }
    Err(not_found("there are no tiles: the operator of this service has not installed `mvt`"))
}

/// Asks a host for it.
///
/// # Errors
/// As [`check`].
pub(crate) fn ask(host: &mut Host) -> Step<()> {
    check(&host.ask(Asked::formats())?)
}
