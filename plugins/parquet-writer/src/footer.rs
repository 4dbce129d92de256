//! The end of a file: page indexes, then the footer that lists all row groups, spelled in Thrift
//! after <https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift>.
//! Field numbers are that file's.

use crate::bounds::{MinMax, compare};
use crate::column_chunk::{DATA_PAGE, DICTIONARY_PAGE, PLAIN, RLE, RLE_DICTIONARY};
use crate::column_type::{FileColumn, PhysicalType};
use crate::compression::Codec;
use crate::part_note::{ColumnChunkNote, PageNote, RowGroupNote};
use crate::thrift::Thrift;

/// First and last bytes of a file.
pub(crate) const MAGIC: &[u8] = b"PAR1";

/// A row group with the place of its first byte.
pub(crate) struct PlacedRowGroup {
    pub(crate) offset: u64,
    pub(crate) group: RowGroupNote,
}

/// Places of a chunk's two indexes: offset and length, none where there is no index.
#[derive(Default)]
struct IndexLocations {
    columns: Option<(u64, usize)>,
    offsets: (u64, usize),
}

/// Metadata of the file.
pub(crate) struct FooterMetadata<'a> {
    pub(crate) columns: &'a [FileColumn],
    pub(crate) codec: Codec,
    pub(crate) pairs: &'a [(String, String)],
    pub(crate) created_by: &'a str,
}

/// Appends everything behind the last row group. `at` is where the first byte of it stands.
pub(crate) fn write(
    about: &FooterMetadata<'_>,
    groups: &[PlacedRowGroup],
    at: u64,
    out: &mut Vec<u8>,
) {
    let start = out.len();
    let place = |out: &Vec<u8>| at + (out.len() - start) as u64;
    let mut indexes: Vec<Vec<IndexLocations>> = Vec::new();
    for PlacedRowGroup { group, .. } in groups {
        let of_columns = group.chunks.iter().zip(about.columns).map(|(chunk, column)| {
            let offset = place(out);
            let before = out.len();
            let written = column_index(out, chunk, column.physical);
            IndexLocations {
                columns: written.then(|| (offset, out.len() - before)),
                offsets: (0, 0),
            }
        });
        indexes.push(of_columns.collect());
    }
    for (PlacedRowGroup { offset, group }, indexes) in groups.iter().zip(&mut indexes) {
        let mut first = *offset;
        for (chunk, index) in group.chunks.iter().zip(indexes) {
            let before = out.len();
            index.offsets.0 = place(out);
            offset_index(out, chunk, first);
            index.offsets.1 = out.len() - before;
            first += chunk.size();
        }
    }
    let before = out.len();
    file(out, about, groups, &indexes);
    let length = u32::try_from(out.len() - before).unwrap_or(u32::MAX);
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(MAGIC);
}

/// Says whether there is one: not where a page has values without an order.
fn column_index(out: &mut Vec<u8>, chunk: &ColumnChunkNote, physical: PhysicalType) -> bool {
    if !chunk.is_ordered() {
        return false;
    }
    let mut thrift = Thrift::new(out);
    thrift.bools(1, chunk.pages.iter().map(PageNote::is_null));
    thrift.binaries(2, chunk.pages.iter().map(PageNote::min));
    thrift.binaries(3, chunk.pages.iter().map(PageNote::max));
    thrift.i32(4, boundary_order(chunk, physical));
    thrift.i64s(5, chunk.pages.iter().map(|page| signed(page.nulls)));
    thrift.end();
    true
}

/// 1 where no page's bounds lie below those of a page before, 2 where none lie above, else 0.
fn boundary_order(chunk: &ColumnChunkNote, physical: PhysicalType) -> i32 {
    let bounds: Vec<&MinMax> = chunk.pages.iter().filter_map(|page| page.bounds.as_ref()).collect();
    let holds = |wrong: std::cmp::Ordering| {
        bounds.windows(2).all(|pair| {
            compare(&pair[1].min.bytes, &pair[0].min.bytes, physical) != wrong
                && compare(&pair[1].max.bytes, &pair[0].max.bytes, physical) != wrong
        })
    };
    match (holds(std::cmp::Ordering::Less), holds(std::cmp::Ordering::Greater)) {
        (true, _) => 1,
        (false, true) => 2,
        (false, false) => 0,
    }
}

fn offset_index(out: &mut Vec<u8>, chunk: &ColumnChunkNote, first: u64) {
    let mut thrift = Thrift::new(out);
    let (mut offset, mut row) = (first + chunk.dictionary, 0);
    thrift.structs(1, chunk.pages.iter(), |location, page| {
        location.i64(1, signed(offset));
        location.i32(2, i32::try_from(page.size).unwrap_or(i32::MAX));
        location.i64(3, signed(row));
        offset += page.size;
        row += page.rows;
    });
    thrift.end();
}

fn file(
    out: &mut Vec<u8>,
    about: &FooterMetadata<'_>,
    groups: &[PlacedRowGroup],
    indexes: &[Vec<IndexLocations>],
) {
    let mut file = Thrift::new(out);
    file.i32(1, 1);
    file.structs(
        2,
        std::iter::once(None).chain(about.columns.iter().map(Some)).collect::<Vec<_>>().into_iter(),
        |element, column| match column {
            None => write_root_element(element, about.columns.len()),
            Some(column) => write_column_element(element, column),
        },
    );
    file.i64(3, signed(groups.iter().map(|placed| placed.group.rows).sum()));
    file.structs(
        4,
        groups.iter().zip(indexes).enumerate(),
        |element, (ordinal, (placed, indexes))| {
            row_group(element, about, ordinal, placed, indexes);
        },
    );
    file.structs(5, about.pairs.iter(), |pair, (key, value)| {
        pair.binary(1, key.as_bytes());
        pair.binary(2, value.as_bytes());
    });
    file.binary(6, about.created_by.as_bytes());
    // Every column has the order that its type defines.
    file.structs(7, about.columns.iter(), |order, _| order.nested(1, |_| ()));
    file.end();
}

fn write_root_element(element: &mut Thrift<'_>, columns: usize) {
    element.binary(4, b"arrow_schema");
    element.i32(5, i32::try_from(columns).unwrap_or(i32::MAX));
}

fn write_column_element(element: &mut Thrift<'_>, column: &FileColumn) {
    element.i32(1, column.physical.id());
    element.i32(3, i32::from(column.nullable));
    element.binary(4, column.name.as_bytes());
    if column.physical == PhysicalType::Text {
        // UTF8, in the old spelling and in the new one.
        element.i32(6, 0);
        element.nested(10, |logical| logical.nested(1, |_| ()));
    }
}

fn row_group(
    element: &mut Thrift<'_>,
    about: &FooterMetadata<'_>,
    ordinal: usize,
    placed: &PlacedRowGroup,
    indexes: &[IndexLocations],
) {
    let PlacedRowGroup { offset, group } = placed;
    let mut first = *offset;
    element.structs(
        1,
        about.columns.iter().zip(&group.chunks).zip(indexes),
        |element, ((column, chunk), indexes)| {
            element.i64(2, 0);
            element.nested(3, |element| column_chunk(element, column, chunk, about.codec, first));
            element.i64(4, signed(indexes.offsets.0));
            element.i32(5, i32::try_from(indexes.offsets.1).unwrap_or(i32::MAX));
            if let Some((offset, length)) = indexes.columns {
                element.i64(6, signed(offset));
                element.i32(7, i32::try_from(length).unwrap_or(i32::MAX));
            }
            first += chunk.size();
        },
    );
    element.i64(2, signed(group.chunks.iter().map(|chunk| chunk.plain).sum()));
    element.i64(3, signed(group.rows));
    element.i64(5, signed(*offset));
    element.i64(6, signed(group.chunks.iter().map(ColumnChunkNote::size).sum()));
    if let Ok(ordinal) = i16::try_from(ordinal) {
        element.i16(7, ordinal);
    }
}

fn column_chunk(
    element: &mut Thrift<'_>,
    column: &FileColumn,
    chunk: &ColumnChunkNote,
    codec: Codec,
    first: u64,
) {
    let keyed = chunk.dictionary > 0;
    let encodings: &[i32] = if keyed { &[PLAIN, RLE, RLE_DICTIONARY] } else { &[PLAIN, RLE] };
    element.i32(1, column.physical.id());
    element.i32s(2, encodings.iter().copied());
    element.binaries(3, std::iter::once(column.name.as_bytes()));
    element.i32(4, if chunk.compressed { codec.id() } else { Codec::None.id() });
    element.i64(5, signed(chunk.pages.iter().map(|page| page.rows).sum()));
    element.i64(6, signed(chunk.plain));
    element.i64(7, signed(chunk.size()));
    element.i64(9, signed(first + chunk.dictionary));
    if keyed {
        element.i64(11, signed(first));
    }
    element.nested(12, |statistics| {
        statistics.i64(3, signed(chunk.pages.iter().map(|page| page.nulls).sum()));
        let bounds = chunk
            .pages
            .iter()
            .filter(|_| chunk.is_ordered())
            .filter_map(|page| page.bounds.as_ref());
        let joined = bounds.fold(None, |joined: Option<MinMax>, bounds| match joined {
            Some(joined) => Some(joined.join(bounds, column.physical)),
            None => Some(bounds.clone()),
        });
        if let Some(MinMax { min, max }) = joined {
            statistics.binary(5, &max.bytes);
            statistics.binary(6, &min.bytes);
            statistics.bool(7, max.exact);
            statistics.bool(8, min.exact);
        }
    });
    let pages = i32::try_from(chunk.pages.len()).unwrap_or(i32::MAX);
    let kinds: &[(i32, i32, i32)] = if keyed {
        &[(DICTIONARY_PAGE, PLAIN, 1), (DATA_PAGE, RLE_DICTIONARY, pages)]
    } else {
        &[(DATA_PAGE, PLAIN, pages)]
    };
    element.structs(13, kinds.iter(), |kind, (page, encoding, count)| {
        kind.i32(1, *page);
        kind.i32(2, *encoding);
        kind.i32(3, *count);
    });
}

/// Sizes and counts are far below 2^63.
fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
