//! Geometry as spec-2.2-geometry promises it: WKT, `MULTI*` forms, EPSG:4326 with longitude first.
//! Checked and bounded in one pass without building geometry; never repaired, never changed.

mod wkt;

pub(crate) use wkt::check;
