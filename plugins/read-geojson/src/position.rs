//! Positions of geometries, and how exact they are taken to be.

/// A position: longitude and latitude.
pub(crate) type Position = [f64; 2];

/// Degrees by which programs that export miss a pole or the antimeridian where they mean it, at
/// most: a tenth of a millimetre.
pub(crate) const NOISE: f64 = 1e-9;
