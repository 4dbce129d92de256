//! WKT into GeoJSON, text to text. Digits are copied; a ring is turned where RFC 7946 (section
//! 3.1.6) wants it the other way round.

use yearbook_wkt::{CoordinateText, GeometryKind, MAX_DEPTH, MalformedWkt, WktReader, value};

/// Keeps the buffer for a ring.
#[derive(Debug, Default)]
pub struct WktToGeoJson {
    /// Positions of the ring at hand, as GeoJSON, one after the other.
    ring: Vec<u8>,
    /// Offset in `ring` at which each of them begins.
    starts: Vec<usize>,
}

impl WktToGeoJson {
    /// Appends the geometry object of a text.
    ///
    /// # Errors
    /// [`MalformedWkt`] for text that is not WKT of two dimensions; `out` may have grown then.
    pub fn geometry(&mut self, text: &str, out: &mut Vec<u8>) -> Result<(), MalformedWkt> {
        let mut reader = WktReader::new(text);
        self.object(&mut reader, MAX_DEPTH, out)?;
        reader.end()
    }

    fn object(
        &mut self,
        reader: &mut WktReader<'_>,
        depth: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), MalformedWkt> {
        let deeper = depth.checked_sub(1).ok_or(MalformedWkt { at: 0 })?;
        let kind = reader.kind()?;
        out.extend_from_slice(b"{\"type\":\"");
        out.extend_from_slice(kind.name().as_bytes());
        out.extend_from_slice(if kind == GeometryKind::GeometryCollection {
            b"\",\"geometries\":"
        } else {
            b"\",\"coordinates\":"
        });
        match kind {
            GeometryKind::GeometryCollection => {
                list(reader, out, |reader, out| self.object(reader, deeper, out))
            }
            kind => self.coordinates(kind, reader, out),
        }?;
        out.push(b'}');
        Ok(())
    }

    fn coordinates(
        &mut self,
        kind: GeometryKind,
        reader: &mut WktReader<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), MalformedWkt> {
        match kind {
            GeometryKind::Point => point(reader, out),
            GeometryKind::LineString => {
                list(reader, out, |reader, out| position(reader.position()?, out))
            }
            GeometryKind::Polygon => {
                let mut outer = true;
                list(reader, out, |reader, out| self.ring(reader, std::mem::take(&mut outer), out))
            }
            GeometryKind::MultiPoint => list(reader, out, |reader, out| {
                if reader.peek_number() {
                    return position(reader.position()?, out);
                }
                point(reader, out)
            }),
            GeometryKind::MultiLineString => list(reader, out, |reader, out| {
                self.coordinates(GeometryKind::LineString, reader, out)
            }),
            GeometryKind::MultiPolygon => list(reader, out, |reader, out| {
                self.coordinates(GeometryKind::Polygon, reader, out)
            }),
            GeometryKind::GeometryCollection => Err(MalformedWkt { at: 0 }),
        }
    }

    /// Counterclockwise where it is an outer one, else clockwise. A ring without area stays as it
    /// is.
    fn ring(
        &mut self,
        reader: &mut WktReader<'_>,
        outer: bool,
        out: &mut Vec<u8>,
    ) -> Result<(), MalformedWkt> {
        let Self { ring, starts } = self;
        ring.clear();
        starts.clear();
        // Twice the area that is on the left, by triangles from the first position, so that digits
        // are not lost to the distance from the origin.
        let (mut area, mut first, mut last) = (0.0, None, [0.0; 2]);
        reader.members(|reader| {
            if !starts.is_empty() {
                ring.push(b',');
            }
            starts.push(ring.len());
            ring.push(b'[');
            let x = number_with_value(reader, ring)?;
            ring.push(b',');
            let y = number_with_value(reader, ring)?;
            ring.push(b']');
            let [x0, y0] = *first.get_or_insert([x, y]);
            let next = [x - x0, y - y0];
            area += last[0] * next[1] - next[0] * last[1];
            last = next;
            Ok(())
        })?;
        out.push(b'[');
        if (area < 0.0) == outer && area != 0.0 {
            let mut end = ring.len();
            for start in starts.iter().rev() {
                out.extend_from_slice(&ring[*start..end]);
                if *start > 0 {
                    out.push(b',');
                }
                // Before the comma.
                end = start.saturating_sub(1);
            }
        } else {
            out.extend_from_slice(ring);
        }
        out.push(b']');
        Ok(())
    }
}

/// Items in brackets; `None` where the text says EMPTY. An empty item is left out: GeoJSON has no
/// position for an empty point, and readers fail at a part without positions.
fn list(
    reader: &mut WktReader<'_>,
    out: &mut Vec<u8>,
    mut item: impl FnMut(&mut WktReader<'_>, &mut Vec<u8>) -> Result<(), MalformedWkt>,
) -> Result<(), MalformedWkt> {
    out.push(b'[');
    let first = out.len();
    reader.members(|reader| {
        let end = out.len();
        if end > first {
            out.push(b',');
        }
        let start = out.len();
        item(reader, out)?;
        if out[start..] == *b"[]" {
            out.truncate(end);
        }
        Ok(())
    })?;
    out.push(b']');
    Ok(())
}

fn point(reader: &mut WktReader<'_>, out: &mut Vec<u8>) -> Result<(), MalformedWkt> {
    match reader.point()? {
        Some(at) => position(at, out),
        None => {
            out.extend_from_slice(b"[]");
            Ok(())
        }
    }
}

fn position([x, y]: CoordinateText<'_>, out: &mut Vec<u8>) -> Result<(), MalformedWkt> {
    out.push(b'[');
    number(x, out)?;
    out.push(b',');
    number(y, out)?;
    out.push(b']');
    Ok(())
}

/// Copies a number and returns its value.
fn number_with_value(reader: &mut WktReader<'_>, out: &mut Vec<u8>) -> Result<f64, MalformedWkt> {
    if let Some((text, value)) = reader.plain_number() {
        out.extend_from_slice(text.as_bytes());
        return Ok(value);
    }
    let text = reader.number()?;
    number(text, out)?;
    value(text)
}

/// Copies the digits of a number; what JSON has no form for (`+1`, `.5`, `1.`, `007`) is written as
/// JSON has it.
fn number(text: &str, out: &mut Vec<u8>) -> Result<(), MalformedWkt> {
    let (negative, rest) = match text.as_bytes() {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    let digits =
        |bytes: &[u8]| bytes.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(bytes.len());
    let (whole, rest) = rest.split_at(digits(rest));
    let (fraction, rest) = match rest {
        [b'.', rest @ ..] => rest.split_at(digits(rest)),
        rest => (&[][..], rest),
    };
    if negative {
        out.push(b'-');
    }
    let zeros = whole.iter().take_while(|byte| **byte == b'0').count();
    match &whole[zeros..] {
        [] => out.push(b'0'),
        whole => out.extend_from_slice(whole),
    }
    if !fraction.is_empty() {
        out.push(b'.');
        out.extend_from_slice(fraction);
    }
    match rest {
        [] if !whole.is_empty() || !fraction.is_empty() => return Ok(()),
        [b'e' | b'E', exponent @ ..] if !whole.is_empty() || !fraction.is_empty() => {
            let unsigned = exponent
                .strip_prefix(b"-")
                .or_else(|| exponent.strip_prefix(b"+"))
                .unwrap_or(exponent);
            if !unsigned.is_empty() && digits(unsigned) == unsigned.len() {
                out.push(b'e');
                out.extend_from_slice(exponent);
                return Ok(());
            }
        }
        _ => {}
    }
    Err(MalformedWkt { at: 0 })
}
