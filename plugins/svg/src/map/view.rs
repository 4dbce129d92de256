//! The part of the world that a map shows, and its projection: degrees of longitude as long as they
//! are in the middle of the map, degrees of latitude all the same (equirectangular).

use crate::picture::Area;

/// Bounds in degrees. `east` is never west of `west`, so it may be beyond 180.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct MapBounds {
    pub west: f64,
    pub south: f64,
    pub east: f64,
    pub north: f64,
}

/// Least degrees that a map shows: some two kilometres.
const LEAST_DEGREES: f64 = 0.02;

/// Share of the map that is left free around what is drawn.
const MARGIN: f64 = 0.07;

/// Degrees of longitude from which on the whole world is shown.
const NEARLY_ALL: f64 = 300.0;

/// A map's bounds and frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MapView {
    /// Bounds of what is shown.
    pub bounds: MapBounds,
    /// The rectangle in the picture.
    pub frame: Area,
    /// Pixels of a degree of latitude.
    pub pixels_per_degree: f64,
    /// Length of a degree of longitude in degrees of latitude, in the middle of the map.
    pub shrink: f64,
}

impl MapView {
    /// Fits bounds into a room, with a margin. More is shown on two sides where the shapes differ,
    /// and the frame is smaller than the room where the world ends. A map of the whole world begins
    /// at the longitude `cut`.
    #[must_use]
    pub fn fit(places: &MapBounds, room: &Area, cut: f64) -> Self {
        let mut bounds = widened(places, cut);
        let middle = f64::midpoint(bounds.south, bounds.north);
        let shrink = middle.to_radians().cos().max(0.2);
        let (across, up) = ((bounds.east - bounds.west) * shrink, bounds.north - bounds.south);
        let pixels_per_degree = (room.width() / across).min(room.height() / up);
        let longitudes = (room.width() / (pixels_per_degree * shrink)).min(360.0);
        let latitudes = (room.height() / pixels_per_degree).min(180.0);
        let center = f64::midpoint(bounds.west, bounds.east);
        bounds.west = center - longitudes / 2.0;
        bounds.east = center + longitudes / 2.0;
        let middle = middle.clamp(-90.0 + latitudes / 2.0, 90.0 - latitudes / 2.0);
        bounds.south = middle - latitudes / 2.0;
        bounds.north = middle + latitudes / 2.0;
        let width = longitudes * shrink * pixels_per_degree;
        let left = room.left + (room.width() - width) / 2.0;
        let top = room.top + (room.height() - latitudes * pixels_per_degree) / 2.0;
        let frame =
            Area { left, top, right: left + width, bottom: top + latitudes * pixels_per_degree };
        Self { bounds, frame, pixels_per_degree, shrink }
    }

    /// The pixel of a position, its longitude taken around the world into the map.
    #[must_use]
    pub fn pixel(&self, [longitude, latitude]: [f64; 2]) -> [f64; 2] {
        let east = (longitude - self.bounds.west).rem_euclid(360.0);
        self.pixel_at(self.bounds.west + east, latitude)
    }

    /// The pixel of a longitude that is already counted from the map's west.
    #[must_use]
    pub fn pixel_at(&self, longitude: f64, latitude: f64) -> [f64; 2] {
        let scale = self.pixels_per_degree;
        [
            self.frame.left + (longitude - self.bounds.west) * self.shrink * scale,
            self.frame.top + (self.bounds.north - latitude) * scale,
        ]
    }
}

fn widened(places: &MapBounds, cut: f64) -> MapBounds {
    let MapBounds { mut west, mut east, south, north } = *places;
    if east - west > NEARLY_ALL {
        (west, east) = (cut, cut + 360.0);
    } else {
        let room = ((east - west) * MARGIN).max(LEAST_DEGREES);
        (west, east) = (west - room, east + room);
    }
    let room = ((north - south) * MARGIN).max(LEAST_DEGREES);
    MapBounds { west, east, south: (south - room).max(-90.0), north: (north + room).min(90.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: Area = Area { left: 10.0, top: 20.0, right: 610.0, bottom: 320.0 };

    #[test]
    fn all_dots_lie_within_the_frame_and_shapes_are_kept() {
        for bounds in [
            MapBounds { west: 166.4, south: -47.3, east: 183.5, north: -34.4 },
            MapBounds { west: -180.0, south: -90.0, east: 179.0, north: 90.0 },
            MapBounds { west: 10.0, south: 50.0, east: 10.0, north: 50.0 },
            MapBounds { west: -71.2, south: 42.1, east: -70.9, north: 42.5 },
            MapBounds { west: 0.0, south: 88.0, east: 5.0, north: 90.0 },
        ] {
            let view = MapView::fit(&bounds, &ROOM, -180.0);
            for position in [[bounds.west, bounds.south], [bounds.east, bounds.north]] {
                let [x, y] = view.pixel(position);
                assert!(
                    x >= view.frame.left - 0.1 && x <= view.frame.right + 0.1,
                    "{bounds:?}: {x} {view:?}"
                );
                assert!(
                    y >= view.frame.top - 0.1 && y <= view.frame.bottom + 0.1,
                    "{bounds:?}: {y} {view:?}"
                );
            }
            assert!(view.frame.left >= ROOM.left - 1e-9 && view.frame.right <= ROOM.right + 1e-9);
            assert!(view.frame.bottom <= ROOM.bottom + 1e-9);
            assert!(view.bounds.south >= -90.0 - 1e-9 && view.bounds.north <= 90.0 + 1e-9);
            assert!(view.bounds.east - view.bounds.west <= 360.0 + 1e-9);
        }
    }
}
