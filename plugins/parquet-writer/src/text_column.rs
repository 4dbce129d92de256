//! Columns of text: plain, or by a dictionary where values repeat. Few-valued text comes with a
//! dictionary from the host, whose values are not looked at row by row.

use std::borrow::Cow;
use std::cmp::Ordering;

use yearbook_sdk::Error;

use crate::bounds::MinMax;
use crate::column_chunk::{ChunkWriter, PAGE_BYTES, PAGE_ROWS, PageBuffers, PageRows};
use crate::levels;
use crate::part_note::ColumnChunkNote;
use crate::rle_bit_packing;
use crate::row_group::Recode;

mod repeats;

/// Texts in a row, each from its offset to the next.
#[derive(Clone, Copy)]
pub(crate) struct TextValues<'a> {
    pub(crate) offsets: &'a [i32],
    pub(crate) bytes: &'a [u8],
}

/// Distinct texts a dictionary may have: their positions have sixteen bits.
const MAX_DISTINCT: usize = 1 << 16;
/// Texts up to this length are copied sixteen bytes at a time, past their end: that is quicker than
/// a call that copies exactly.
const SHORT_BYTES: usize = 64;
const STEP: usize = 16;
/// Bytes of a recoded column by which it is decided whether compressing pays.
const SAMPLE_BYTES: usize = 32 * 1024;

impl<'a> TextValues<'a> {
    pub(crate) fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    fn start(&self, at: usize) -> usize {
        usize::try_from(self.offsets[at]).unwrap_or(0)
    }

    fn get(&self, at: usize) -> &'a [u8] {
        &self.bytes[self.start(at)..self.start(at + 1)]
    }
}

/// Writes a column that came plain. `valid` begins with the first row; `None` where no row is null.
pub(crate) fn write(
    out: &mut Vec<u8>,
    tools: &mut PageBuffers,
    optional: bool,
    texts: TextValues<'_>,
    valid: Option<&[u8]>,
) -> Result<ColumnChunkNote, Error> {
    match repeats::find(texts, valid) {
        Some((distinct, positions)) => {
            sort_dictionary(out, tools, optional, texts.len(), valid, distinct, positions)
        }
        None => write_plain_pages(out, tools, optional, texts, valid),
    }
}

/// Writes a column that came plain and is stored as other bytes, of which no bounds are told.
pub(crate) fn write_recoded(
    out: &mut Vec<u8>,
    tools: &mut PageBuffers,
    optional: bool,
    texts: TextValues<'_>,
    valid: Option<&[u8]>,
    recode: &mut Recode<'_>,
) -> Result<ColumnChunkNote, Error> {
    let rows = || (0..texts.len()).filter(|row| is_valid(valid, *row));
    if let Some((distinct, positions)) = repeats::find(texts, valid) {
        let (mut bytes, mut ends) = (Vec::new(), Vec::with_capacity(distinct.len()));
        for (row, position) in rows().zip(&positions) {
            if usize::from(*position) == ends.len() {
                recode(row, &mut bytes)?;
                ends.push(bytes.len());
            }
        }
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let distinct = starts.zip(&ends).map(|(start, end)| &bytes[start..*end]).collect();
        let length = texts.len();
        return sort_dictionary(out, tools, optional, length, valid, distinct, positions)
            .map(ColumnChunkNote::without_bounds);
    }
    let mut sample = Vec::new();
    for row in rows() {
        recode(row, &mut sample)?;
        if sample.len() > SAMPLE_BYTES {
            break;
        }
    }
    let compressed = tools.press.is_worthwhile(&sample)?;
    let mut writer = ChunkWriter::new(out, tools, optional, compressed);
    let (mut first, mut done) = (0, Ok(()));
    let without_bounds = |_: TextValues<'_>, _: Option<&[u8]>| None;
    write_pages(&mut writer, texts, valid, without_bounds, |body, page, valid| {
        for row in (0..page.len()).filter(|row| is_valid(valid, *row)) {
            let at = body.len();
            body.extend_from_slice(&[0; 4]);
            done = std::mem::replace(&mut done, Ok(())).and_then(|()| recode(first + row, body));
            let length = length_prefix(body.len() - at - 4);
            body[at..at + 4].copy_from_slice(&length);
        }
        first += page.len();
    })?;
    done.map(|()| writer.finish())
}

/// Writes a column that came as keys of a dictionary, none of whose values is null.
pub(crate) fn write_keys(
    out: &mut Vec<u8>,
    tools: &mut PageBuffers,
    optional: bool,
    keys: &[i32],
    valid: Option<&[u8]>,
    values: TextValues<'_>,
) -> Result<ColumnChunkNote, Error> {
    let mut present = Cow::Borrowed(keys);
    if let Some(valid) = valid {
        let mut closed = Vec::new();
        levels::append_valid(&mut closed, keys, valid);
        present = Cow::Owned(closed);
    }
    let index = |key: i32| usize::try_from(key).unwrap_or(usize::MAX);
    let mut used = vec![false; values.len()];
    for &key in present.iter() {
        used[index(key)] = true;
    }
    let count = used.iter().filter(|used| **used).count();
    if count * 2 > present.len() || count > MAX_DISTINCT {
        let (offsets, bytes) = gather(keys, valid, values);
        return write_plain_pages(
            out,
            tools,
            optional,
            TextValues { offsets: &offsets, bytes: &bytes },
            valid,
        );
    }
    let mut places = vec![0; values.len()];
    let mut distinct = Vec::with_capacity(count);
    for at in (0..values.len()).filter(|at| used[*at]) {
        places[at] = place(distinct.len());
        distinct.push(values.get(at));
    }
    let positions = present.iter().map(|key| places[index(*key)]).collect();
    sort_dictionary(out, tools, optional, keys.len(), valid, distinct, positions)
}

/// A position among at most [`MAX_DISTINCT`] texts.
fn place(at: usize) -> u16 {
    u16::try_from(at).unwrap_or(u16::MAX)
}

/// The texts of all rows; those of nulls are empty.
fn gather(keys: &[i32], valid: Option<&[u8]>, values: TextValues<'_>) -> (Vec<i32>, Vec<u8>) {
    let (mut offsets, mut bytes) = (vec![0], Vec::new());
    for (row, key) in keys.iter().enumerate() {
        if is_valid(valid, row) {
            bytes.extend_from_slice(values.get(usize::try_from(*key).unwrap_or(usize::MAX)));
        }
        offsets.push(i32::try_from(bytes.len()).unwrap_or(i32::MAX));
    }
    (offsets, bytes)
}

fn is_valid(valid: Option<&[u8]>, row: usize) -> bool {
    valid.is_none_or(|valid| valid[row / 8] >> (row % 8) & 1 == 1)
}

/// With a dictionary in ascending order, so that the least and the greatest position of a page are
/// those of its least and greatest text. `positions` are those of the rows that are not null.
fn sort_dictionary(
    out: &mut Vec<u8>,
    tools: &mut PageBuffers,
    optional: bool,
    length: usize,
    valid: Option<&[u8]>,
    distinct: Vec<&[u8]>,
    mut positions: Vec<u16>,
) -> Result<ColumnChunkNote, Error> {
    let mut order: Vec<usize> = (0..distinct.len()).collect();
    order.sort_unstable_by_key(|at| distinct[*at]);
    let mut ranks = vec![0; distinct.len()];
    let mut texts: Vec<&[u8]> = Vec::with_capacity(distinct.len());
    for at in order {
        if texts.last() != Some(&distinct[at]) {
            texts.push(distinct[at]);
        }
        ranks[at] = place(texts.len() - 1);
    }
    for position in &mut positions {
        *position = ranks[usize::from(*position)];
    }
    let compressed = tools.press.compresses();
    let mut writer = ChunkWriter::new(out, tools, optional, compressed);
    writer.dictionary(texts.len(), true, |body| {
        for text in &texts {
            body.extend_from_slice(&length_prefix(text.len()));
            body.extend_from_slice(text);
        }
    })?;
    let width = rle_bit_packing::width(place(texts.len().saturating_sub(1)));
    let mut start = 0;
    for first in (0..length).step_by(PAGE_ROWS) {
        let count = PAGE_ROWS.min(length - first);
        // Pages begin on a byte of the bitmap.
        let valid = valid.map(|valid| &valid[first / 8..(first + count).div_ceil(8)]);
        let end = start + valid.map_or(count, |valid| levels::count(valid, count));
        let page = &positions[start..end];
        let ends = page
            .iter()
            .fold((u16::MAX, 0), |(min, max), &position| (position.min(min), position.max(max)));
        let text = |position: u16| texts[usize::from(position)];
        let bounds = (!page.is_empty()).then(|| MinMax::text(text(ends.0), text(ends.1)));
        writer.data(&PageRows { count, nulls: count - page.len(), valid }, bounds, |body| {
            body.extend(u8::try_from(width));
            rle_bit_packing::write(body, page, width);
        })?;
        start = end;
    }
    Ok(writer.finish())
}

/// Each text behind its length.
fn write_plain_pages(
    out: &mut Vec<u8>,
    tools: &mut PageBuffers,
    optional: bool,
    texts: TextValues<'_>,
    valid: Option<&[u8]>,
) -> Result<ColumnChunkNote, Error> {
    let compressed =
        tools.press.is_worthwhile(&texts.bytes[texts.start(0)..texts.start(texts.len())])?;
    let mut writer = ChunkWriter::new(out, tools, optional, compressed);
    write_pages(&mut writer, texts, valid, bounds, append)?;
    Ok(writer.finish())
}

/// Cuts texts into pages, whose bodies `append` makes.
fn write_pages(
    writer: &mut ChunkWriter<'_>,
    texts: TextValues<'_>,
    valid: Option<&[u8]>,
    bounds: impl Fn(TextValues<'_>, Option<&[u8]>) -> Option<MinMax>,
    mut append: impl FnMut(&mut Vec<u8>, TextValues<'_>, Option<&[u8]>),
) -> Result<(), Error> {
    let mut bits = Vec::new();
    let mut first = 0;
    while first < texts.len() {
        let most = (first + PAGE_ROWS).min(texts.len());
        let fits = texts.offsets[first + 1..=most].partition_point(|end| {
            usize::try_from(*end).unwrap_or(0) - texts.start(first) <= PAGE_BYTES
        });
        let count = fits.max(1);
        let valid = valid.map(|valid| {
            bits.clear();
            levels::bits(&mut bits, valid, first, count);
            bits.as_slice()
        });
        let nulls = valid.map_or(0, |valid| count - levels::count(valid, count));
        let page =
            TextValues { offsets: &texts.offsets[first..=first + count], bytes: texts.bytes };
        let bounds = bounds(page, valid);
        writer.data(&PageRows { count, nulls, valid }, bounds, |body| append(body, page, valid))?;
        first += count;
    }
    Ok(())
}

/// Lengths as the plain encoding has them.
fn length_prefix(length: usize) -> [u8; 4] {
    u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes()
}

fn append(body: &mut Vec<u8>, texts: TextValues<'_>, valid: Option<&[u8]>) {
    let mut at = body.len();
    body.resize(at + texts.len() * 4 + texts.start(texts.len()) - texts.start(0) + STEP, 0);
    for row in 0..texts.len() {
        if !is_valid(valid, row) {
            continue;
        }
        let (from, to) = (texts.start(row), texts.start(row + 1));
        let length = to - from;
        body[at..at + 4].copy_from_slice(&length_prefix(length));
        at += 4;
        if length <= SHORT_BYTES && texts.bytes.len() - from >= length.next_multiple_of(STEP) {
            for done in (0..length).step_by(STEP) {
                body[at + done..at + done + STEP]
                    .copy_from_slice(&texts.bytes[from + done..from + done + STEP]);
            }
        } else {
            body[at..at + length].copy_from_slice(&texts.bytes[from..to]);
        }
        at += length;
    }
    body.truncate(at);
}

/// Of the least and the greatest text; `None` where all are null.
fn bounds(texts: TextValues<'_>, valid: Option<&[u8]>) -> Option<MinMax> {
    let mut rows = (0..texts.len()).filter(|row| is_valid(valid, *row));
    let first = rows.next()?;
    let first = (prefix(texts, first), texts.get(first));
    let (min, max) = rows.fold((first, first), |(min, max), row| {
        let this = (prefix(texts, row), texts.get(row));
        // Eight bytes at once decide nearly always.
        let order = |other: &(u64, &[u8])| this.0.cmp(&other.0).then_with(|| this.1.cmp(other.1));
        (
            if order(&min) == Ordering::Less { this } else { min },
            if order(&max) == Ordering::Greater { this } else { max },
        )
    });
    Some(MinMax::text(min.1, max.1))
}

/// The first eight bytes as a number that sorts as they do, filled up with zeros.
fn prefix(texts: TextValues<'_>, row: usize) -> u64 {
    let text = texts.get(row);
    match text.first_chunk() {
        Some(eight) => u64::from_be_bytes(*eight),
        None => text.iter().rev().fold(0, |number, byte| number >> 8 | u64::from(*byte) << 56),
    }
}
