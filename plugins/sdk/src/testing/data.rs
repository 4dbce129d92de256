//! A test table's columns, and how they cross.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use crate::wire;

type Cells = Vec<Option<Vec<u8>>>;

#[derive(Debug, Clone)]
pub(super) enum Data {
    Null(usize),
    Boolean(Vec<Option<bool>>),
    Fixed { format: String, width: usize, cells: Cells },
    Variable { format: &'static str, cells: Cells },
    Dictionary { keys: Vec<Option<i32>>, values: Cells },
    List(Vec<Option<Vec<i64>>>),
    Struct { fields: Vec<(String, Data)>, valid: Vec<bool> },
}

impl Data {
    pub(super) fn rows(&self) -> usize {
        match self {
            Self::Null(rows) => *rows,
            Self::Boolean(values) => values.len(),
            Self::Fixed { cells, .. } | Self::Variable { cells, .. } => cells.len(),
            Self::Dictionary { keys, .. } => keys.len(),
            Self::List(values) => values.len(),
            Self::Struct { valid, .. } => valid.len(),
        }
    }

    /// Values in the order of their first appearance in the whole column, so that batches share
    /// them.
    pub(super) fn dictionary(cells: Cells) -> Self {
        let mut places = HashMap::new();
        let mut values: Cells = Vec::new();
        let keys = cells.into_iter().map(|cell| {
            let cell = cell?;
            let next = i32::try_from(values.len()).ok()?;
            Some(*places.entry(cell).or_insert_with_key(|cell: &Vec<u8>| {
                values.push(Some(cell.clone()));
                next
            }))
        });
        Self::Dictionary { keys: keys.collect(), values }
    }

    /// The distinct values of text, booleans and integers, ascending.
    pub(super) fn distinct(&self) -> Option<Vec<String>> {
        let text = |cell: &Vec<u8>| String::from_utf8(cell.clone()).ok();
        match self {
            Self::Boolean(values) => {
                let values: BTreeSet<bool> = values.iter().copied().flatten().collect();
                Some(values.into_iter().map(|value| value.to_string()).collect())
            }
            Self::Fixed { format, cells, .. } if format == "l" => {
                let integer =
                    |cell: &Vec<u8>| Some(i64::from_le_bytes(cell.as_slice().try_into().ok()?));
                let values: BTreeSet<i64> = cells.iter().flatten().filter_map(integer).collect();
                Some(values.into_iter().map(|value| value.to_string()).collect())
            }
            Self::Variable { format: "u", cells } => {
                let values: BTreeSet<&Vec<u8>> = cells.iter().flatten().collect();
                values.into_iter().map(text).collect()
            }
            Self::Dictionary { keys, values } => {
                let used = keys.iter().flatten().filter_map(|key| usize::try_from(*key).ok());
                let values: BTreeSet<&Vec<u8>> =
                    used.filter_map(|key| values[key].as_ref()).collect();
                values.into_iter().map(text).collect()
            }
            _ => None,
        }
    }

    /// Appends the fields of the column in pre-order.
    pub(super) fn describe(&self, name: &str, dictionaries: bool, out: &mut Vec<wire::RawField>) {
        let mut field = |name: &str, format: &str, dictionary: bool, children: usize| {
            let (name, format) = (name.to_owned(), format.to_owned());
            out.push(wire::RawField {
                name,
                format,
                nullable: true,
                dictionary,
                children: count(children),
                metadata: Vec::new(),
            });
        };
        match self {
            Self::Null(_) => field(name, "n", false, 0),
            Self::Boolean(_) => field(name, "b", false, 0),
            Self::Fixed { format, .. } => field(name, format, false, 0),
            Self::Variable { format, .. } => field(name, format, false, 0),
            Self::Dictionary { .. } if dictionaries => {
                field(name, "i", true, 0);
                field("", "u", false, 0);
            }
            Self::Dictionary { .. } => field(name, "u", false, 0),
            Self::List(_) => {
                field(name, "+l", false, 1);
                field("item", "l", false, 0);
            }
            Self::Struct { fields, .. } => {
                field(name, "+s", false, fields.len());
                for (name, data) in fields {
                    data.describe(name, dictionaries, out);
                }
            }
        }
    }

    /// Appends arrays and buffers of some rows in pre-order.
    pub(super) fn lower(
        &self,
        rows: Range<usize>,
        dictionaries: bool,
        repeated: bool,
        out: &mut wire::RawBatch,
    ) {
        match self {
            Self::Null(_) => {
                let length = count(rows.len());
                out.arrays.push(wire::RawArray {
                    length,
                    null_count: length,
                    buffers: 0,
                    repeated: false,
                });
            }
            Self::Boolean(values) => {
                let values = &values[rows];
                let bits = bitmap(values.iter().map(|value| value.unwrap_or_default()));
                array(out, values.iter().map(Option::is_some), vec![bits]);
            }
            Self::Fixed { width, cells, .. } => {
                let cells = &cells[rows];
                let bytes = cells
                    .iter()
                    .flat_map(|cell| cell.clone().unwrap_or_else(|| vec![0; *width]))
                    .collect();
                array(out, cells.iter().map(Option::is_some), vec![bytes]);
            }
            Self::Variable { format, cells } => {
                variable(out, &cells[rows], matches!(*format, "U" | "Z"))
            }
            Self::Dictionary { keys, values } if dictionaries => {
                dictionary(out, &keys[rows], values, repeated)
            }
            Self::Dictionary { keys, values } => {
                let cells = keys[rows]
                    .iter()
                    .map(|key| key.and_then(|key| values[usize::try_from(key).ok()?].clone()));
                variable(out, &cells.collect::<Vec<_>>(), false);
            }
            Self::List(lists) => {
                let lists = &lists[rows];
                let items: Vec<Vec<u8>> = lists
                    .iter()
                    .flatten()
                    .flatten()
                    .map(|item| item.to_le_bytes().to_vec())
                    .collect();
                let lengths = lists.iter().map(|list| list.as_ref().map_or(0, Vec::len));
                array(out, lists.iter().map(Option::is_some), vec![offsets(lengths, false)]);
                array(out, items.iter().map(|_| true), vec![items.concat()]);
            }
            Self::Struct { fields, valid } => {
                array(out, valid[rows.clone()].iter().copied(), Vec::new());
                for (_, data) in fields {
                    data.lower(rows.clone(), dictionaries, repeated, out);
                }
            }
        }
    }
}

fn variable(out: &mut wire::RawBatch, cells: &[Option<Vec<u8>>], large: bool) {
    let lengths = cells.iter().map(|cell| cell.as_ref().map_or(0, Vec::len));
    let bytes = cells.iter().flatten().flatten().copied().collect();
    array(out, cells.iter().map(Option::is_some), vec![offsets(lengths, large), bytes]);
}

fn dictionary(
    out: &mut wire::RawBatch,
    keys: &[Option<i32>],
    values: &[Option<Vec<u8>>],
    repeated: bool,
) {
    let bytes = keys.iter().flat_map(|key| key.unwrap_or_default().to_le_bytes()).collect();
    array(out, keys.iter().map(Option::is_some), vec![bytes]);
    if repeated {
        out.arrays.push(wire::RawArray {
            length: count(values.len()),
            null_count: 0,
            buffers: 0,
            repeated,
        });
    } else {
        variable(out, values, false);
    }
}

/// Appends an array and its buffers, with a validity buffer that is empty when nothing is null.
fn array(
    out: &mut wire::RawBatch,
    valid: impl ExactSizeIterator<Item = bool> + Clone,
    buffers: Vec<Vec<u8>>,
) {
    let null_count = count(valid.clone().filter(|valid| !valid).count());
    out.arrays.push(wire::RawArray {
        length: count(valid.len()),
        null_count,
        buffers: count(buffers.len() + 1),
        repeated: false,
    });
    let validity = if null_count == 0 { Vec::new() } else { bitmap(valid) };
    out.buffers.extend(std::iter::once(validity).chain(buffers).map(wire::RawBuffer::Bytes));
}

pub(super) fn bitmap(bits: impl Iterator<Item = bool>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (position, bit) in bits.enumerate() {
        if position % 8 == 0 {
            bytes.push(0);
        }
        if let Some(byte) = bytes.last_mut() {
            *byte |= u8::from(bit) << (position % 8);
        }
    }
    bytes
}

fn offsets(lengths: impl Iterator<Item = usize>, large: bool) -> Vec<u8> {
    let mut end = 0;
    let ends = std::iter::once(0).chain(lengths.map(|length| {
        end += length;
        end
    }));
    ends.flat_map(|end| {
        if large { (end as u64).to_le_bytes().to_vec() } else { count(end).to_le_bytes().to_vec() }
    })
    .collect()
}

/// A length as it crosses.
///
/// # Panics
/// Beyond 2^32: test tables are smaller.
pub(super) fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or_else(|_| panic!("a test table of {length} elements"))
}
