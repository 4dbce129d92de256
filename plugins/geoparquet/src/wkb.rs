//! WKT into well-known binary (OGC 06-103r4, section 8), little-endian, and what the file says of
//! all geometries together.

use yearbook_sdk::Error;
use yearbook_wkt::{GeometryKind, MAX_DEPTH, MalformedWkt, WktReader};

/// Bounding box and kinds of some geometries.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct GeometryExtent {
    /// West, south, east, north; none has a place where west is beyond east.
    bounds: [f64; 4],
    /// A bit a kind, in the order of their numbers.
    kinds: u8,
}

/// Of no geometry.
pub(crate) const EMPTY_EXTENT: GeometryExtent = GeometryExtent {
    bounds: [f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY],
    kinds: 0,
};

/// Bytes of an extent in a note.
pub(crate) const EXTENT_BYTES: usize = 33;

impl GeometryExtent {
    pub(crate) fn join(&mut self, other: &Self) {
        let ([west, south, east, north], own) = (other.bounds, self.bounds);
        self.bounds = [own[0].min(west), own[1].min(south), own[2].max(east), own[3].max(north)];
        self.kinds |= other.kinds;
    }

    fn include(&mut self, x: f64, y: f64) {
        let [west, south, east, north] = self.bounds;
        // Neither is NaN, for which `min` and `max` take longer.
        self.bounds = [
            if x < west { x } else { west },
            if y < south { y } else { south },
            if x > east { x } else { east },
            if y > north { y } else { north },
        ];
    }

    /// West, south, east and north, where there is any position.
    pub(crate) fn bbox(&self) -> Option<[f64; 4]> {
        (self.bounds[0] <= self.bounds[2]).then_some(self.bounds)
    }

    /// Names of the kinds.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = &'static str> {
        GeometryKind::ALL
            .into_iter()
            .filter(|kind| self.kinds >> *kind as u8 & 1 == 1)
            .map(GeometryKind::name)
    }

    pub(crate) fn write(&self, note: &mut Vec<u8>) {
        self.bounds.iter().for_each(|bound| note.extend_from_slice(&bound.to_le_bytes()));
        note.push(self.kinds);
    }

    /// Reads the bytes of [`GeometryExtent::write`]; the second item is the rest.
    ///
    /// # Errors
    /// [`Error::Internal`] when the note is none of this encoder's.
    pub(crate) fn read(note: &[u8]) -> Result<(Self, &[u8]), Error> {
        let parts = note.split_first_chunk::<EXTENT_BYTES>();
        let (own, rest) = parts.ok_or_else(|| {
            Error::Internal("a part's note came back as something else".to_owned())
        })?;
        let bound =
            |at: usize| own[at * 8..].first_chunk().map_or(0.0, |bytes| f64::from_le_bytes(*bytes));
        Ok((Self { bounds: [bound(0), bound(1), bound(2), bound(3)], kinds: own[32] }, rest))
    }
}

/// Appends the geometry of a text and says where it lies.
///
/// # Errors
/// [`MalformedWkt`] for text that is not WKT of two dimensions; `out` may have grown then.
pub(crate) fn geometry(text: &str, out: &mut Vec<u8>) -> Result<GeometryExtent, MalformedWkt> {
    let mut reader = WktReader::new(text);
    let mut extent = EMPTY_EXTENT;
    let kind = write_geometry(&mut reader, MAX_DEPTH, &mut extent, out)?;
    reader.end()?;
    extent.kinds = 1 << kind as u8;
    Ok(extent)
}

fn write_geometry(
    reader: &mut WktReader<'_>,
    depth: usize,
    extent: &mut GeometryExtent,
    out: &mut Vec<u8>,
) -> Result<GeometryKind, MalformedWkt> {
    let deeper = depth.checked_sub(1).ok_or(MalformedWkt { at: 0 })?;
    let kind = reader.kind()?;
    header(kind, out);
    match (kind, kind.member()) {
        (GeometryKind::GeometryCollection, _) => write_with_count(reader, out, |reader, out| {
            write_geometry(reader, deeper, extent, out).map(|_| ())
        })?,
        (_, Some(member)) => write_with_count(reader, out, |reader, out| {
            header(member, out);
            body(member, reader, extent, out)
        })?,
        (_, None) => body(kind, reader, extent, out)?,
    }
    Ok(kind)
}

/// Byte order and kind.
fn header(kind: GeometryKind, out: &mut Vec<u8>) {
    out.push(1);
    out.extend_from_slice(&kind.number().to_le_bytes());
}

/// Bytes behind the header of a geometry without members.
fn body(
    kind: GeometryKind,
    reader: &mut WktReader<'_>,
    extent: &mut GeometryExtent,
    out: &mut Vec<u8>,
) -> Result<(), MalformedWkt> {
    match kind {
        GeometryKind::Point => point(reader, extent, out),
        GeometryKind::Polygon => write_with_count(reader, out, |reader, out| {
            write_with_count(reader, out, |reader, out| {
                position(reader.coordinates()?, extent, out);
                Ok(())
            })
        }),
        _ => write_with_count(reader, out, |reader, out| {
            position(reader.coordinates()?, extent, out);
            Ok(())
        }),
    }
}

/// In parentheses, or bare in a MULTIPOINT; an empty point has the coordinates NaN.
fn point(
    reader: &mut WktReader<'_>,
    extent: &mut GeometryExtent,
    out: &mut Vec<u8>,
) -> Result<(), MalformedWkt> {
    let at = if reader.peek_number() {
        Some(reader.coordinates()?)
    } else {
        reader.point_coordinates()?
    };
    match at {
        Some(at) => position(at, extent, out),
        None => {
            [f64::NAN; 2].iter().for_each(|number| out.extend_from_slice(&number.to_le_bytes()))
        }
    }
    Ok(())
}

fn position([x, y]: [f64; 2], extent: &mut GeometryExtent, out: &mut Vec<u8>) {
    extent.include(x, y);
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&x.to_le_bytes());
    bytes[8..].copy_from_slice(&y.to_le_bytes());
    out.extend_from_slice(&bytes);
}

/// Items with their number before them.
fn write_with_count(
    reader: &mut WktReader<'_>,
    out: &mut Vec<u8>,
    mut item: impl FnMut(&mut WktReader<'_>, &mut Vec<u8>) -> Result<(), MalformedWkt>,
) -> Result<(), MalformedWkt> {
    let at = out.len();
    out.extend_from_slice(&0_u32.to_le_bytes());
    let mut count = 0_u32;
    reader.members(|reader| {
        count += 1;
        item(reader, out)
    })?;
    out[at..at + 4].copy_from_slice(&count.to_le_bytes());
    Ok(())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn encode(text: &str) -> (String, GeometryExtent) {
        let mut out = Vec::new();
        let extent = geometry(text, &mut out).unwrap();
        (out.iter().map(|byte| format!("{byte:02x}")).collect(), extent)
    }

    #[test]
    fn bytes_are_those_of_other_writers() {
        // As shapely 2.1 writes them.
        for (text, expected) in [
            ("POINT (1 2)", "0101000000000000000000f03f0000000000000040"),
            ("LINESTRING EMPTY", "010200000000000000"),
            (
                "MULTIPOINT (1 2, (3 4))",
                "0104000000020000000101000000000000000000f03f0000000000000040010100000000000000000008400000000000001040",
            ),
            ("MULTIPOLYGON EMPTY", "010600000000000000"),
            (
                "GEOMETRYCOLLECTION (POINT (1 2))",
                "0107000000010000000101000000000000000000f03f0000000000000040",
            ),
            (
                "POLYGON ((0 0, 1 0, 1 1, 0 0))",
                "0103000000010000000400000000000000000000000000000000000000000000000000f03f0000000000000000000000000000f03f000000000000f03f00000000000000000000000000000000",
            ),
        ] {
            assert_eq!(encode(text).0, expected, "{text}");
        }
    }

    #[test]
    fn empty_parts_stay_in_wkb_contract_3() {
        // As shapely 2.2, geopandas 1.2 and duckdb 2.0 read them.
        for (text, expected) in [
            ("MULTIPOLYGON (EMPTY)", "010600000001000000010300000000000000"),
            ("MULTILINESTRING (EMPTY)", "010500000001000000010200000000000000"),
            ("MULTIPOINT (EMPTY)", "0104000000010000000101000000000000000000f87f000000000000f87f"),
        ] {
            assert_eq!(encode(text).0, expected, "{text}");
            assert_eq!(encode(text).1.bbox(), None, "{text}");
        }
    }

    #[test]
    fn extents_are_joined_and_come_back_from_notes() {
        let mut extent = EMPTY_EXTENT;
        assert_eq!(extent.bbox(), None);
        extent.join(&encode("MULTIPOINT (1 2, -3 4.5)").1);
        extent.join(&encode("POLYGON EMPTY").1);
        extent.join(&encode("POINT EMPTY").1);
        assert_eq!(extent.bbox(), Some([-3.0, 2.0, 1.0, 4.5]));
        assert_eq!(extent.kinds().collect::<Vec<_>>(), ["Point", "Polygon", "MultiPoint"]);
        let mut note = Vec::new();
        extent.write(&mut note);
        assert_eq!(note.len(), EXTENT_BYTES);
        note.push(7);
        assert_eq!(GeometryExtent::read(&note).unwrap(), (extent, &[7][..]));
        assert!(GeometryExtent::read(&note[..20]).is_err());
    }
}
