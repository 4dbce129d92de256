//! Rows that a transform returned, checked against its output and against what it was given. Its
//! values become columns slice by slice: text of dates and of groups may be much longer than what
//! crossed.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Date32Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int32Type};

use super::codes::CodeTable;
use super::groups::{Groups, host_error};
use super::output::{Kind, Relation, Source, TransformOutput};
use crate::guest::bindings::transform::exports::yearbook::plugin::transform as guest;
use crate::guest::check_arrays;
use crate::guest::parameters::quote;
use crate::guest_error::GuestError;

/// Days from 1970-01-01 to the first day of the year 1, and to the last of 9999.
const DAYS: std::ops::RangeInclusive<i32> = -719_162..=2_932_896;

/// Checked rows.
pub(super) struct MadeRows {
    pub(super) rows: usize,
    /// Rows of the batch that come out, where they are chosen.
    pub(super) take: Vec<u32>,
    /// Number of each row's group, where a column needs it.
    pub(super) groups: Vec<u32>,
    arrays: Vec<ArrayRef>,
    /// Bytes that crossed.
    pub(super) bytes: usize,
}

/// Facts that a result is checked against.
pub(super) struct Expected<'a> {
    pub(super) output: &'a TransformOutput,
    /// Values that made columns may have, where they are known, by their positions in the output.
    pub(super) values_of: &'a [Option<Arc<CodeTable>>],
    /// Rows of the batch; `None` in `finish`.
    pub(super) batch_rows: Option<usize>,
    pub(super) groups: Option<&'a Groups>,
}

impl MadeRows {
    /// Reads a result.
    ///
    /// # Errors
    /// The rule that it breaks.
    pub(super) fn check(raw: guest::MadeRows, expected: &Expected<'_>) -> Result<Self, String> {
        let guest::MadeRows { rows, take, groups, arrays, buffers } = raw;
        let Expected { output, values_of, batch_rows, groups: given } = expected;
        let length = usize::try_from(rows).map_err(|_| "too many rows".to_owned())?;
        if length == 0 {
            return Err("a result without rows".to_owned());
        }
        let bytes = buffers.iter().map(Vec::len).sum::<usize>();
        let bytes = bytes.saturating_add((take.len() + groups.len()) * size_of::<u32>());
        match (output.relation, batch_rows) {
            (Relation::New, _) => {}
            (_, None) => return Err("rows of `finish` where rows are the input's".to_owned()),
            (Relation::Same, Some(batch)) if *batch != length => {
                return Err(format!("{length} rows for a batch of {batch}"));
            }
            (Relation::Same, Some(_)) => {}
            (Relation::Chosen, Some(batch)) => check_take(&take, length, *batch)?,
        }
        if output.relation != Relation::Chosen && !take.is_empty() {
            return Err("`take` with rows that are not chosen".to_owned());
        }
        let of_groups = output.sources.iter().any(|source| matches!(source, Source::Group(_)));
        if groups.len() != if of_groups { length } else { 0 } {
            return Err(format!("{} numbers of groups for {length} rows", groups.len()));
        }
        if of_groups && given.and_then(|given| given.bytes_of(&groups)).is_none() {
            return Err("a number of a group that was not given".to_owned());
        }
        let made = output.sources.iter().zip(output.schema.fields());
        let made = made.filter_map(|(source, field)| match source {
            Source::Made(_, Kind::Date) => Some((field.name().as_str(), &DataType::Int32)),
            Source::Made(..) => Some((field.name().as_str(), field.data_type())),
            Source::Passed(_) | Source::Group(_) => None,
        });
        let made: Vec<_> = made.collect();
        let arrays = check_arrays(rows, arrays, buffers, made.into_iter())?;
        for ((source, field), values) in
            output.sources.iter().zip(output.schema.fields()).zip(*values_of)
        {
            let Source::Made(place, kind) = source else { continue };
            if *kind == Kind::Date {
                check_days(&arrays[*place], field.name())?;
            }
            if let Some(values) = values {
                values.encode(&arrays[*place]).map_err(|value| {
                    let column = quote(field.name());
                    format!("a column {column} with {}, which values-of has not", quote(&value))
                })?;
            }
        }
        Ok(Self { rows: length, take, groups, arrays, bytes })
    }

    /// Rows `at` to `at + count` of a made column.
    pub(super) fn column(
        &self,
        place: usize,
        kind: Kind,
        at: usize,
        count: usize,
    ) -> Result<ArrayRef, GuestError> {
        let slice = self.arrays[place].slice(at, count);
        if kind != Kind::Date {
            return Ok(slice);
        }
        let days = slice.as_primitive::<Int32Type>();
        let days = Date32Array::new(days.values().clone(), days.nulls().cloned());
        cast(&days, &DataType::Utf8).map_err(host_error)
    }
}

fn check_take(take: &[u32], length: usize, batch: usize) -> Result<(), String> {
    let inside = |row: &u32| usize::try_from(*row).is_ok_and(|row| row < batch);
    if take.len() != length {
        return Err(format!("{} rows taken for {length}", take.len()));
    }
    if !take.is_sorted_by(|one, next| one < next) {
        return Err("`take` that does not ascend".to_owned());
    }
    if !take.last().is_none_or(inside) {
        return Err(format!("`take` of a row outside of a batch of {batch}"));
    }
    Ok(())
}

fn check_days(days: &ArrayRef, name: &str) -> Result<(), String> {
    let days = days.as_primitive::<Int32Type>();
    if days.iter().flatten().all(|day| DAYS.contains(&day)) {
        Ok(())
    } else {
        Err(format!("a column {} with a date outside of 0001 to 9999", quote(name)))
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use arrow::array::RecordBatch;
    use arrow::datatypes::{Field, Schema};

    use super::*;
    use crate::admission::MemoryBudget;
    use crate::guest::bindings::yearbook::plugin::types;
    use crate::transform::budget::HeldBytes;

    /// An output of a date and of a text, and of a group where rows are its own.
    fn output(relation: Relation) -> TransformOutput {
        let fields = ["day", "label", "region"].map(|name| Field::new(name, DataType::Utf8, true));
        let last = if relation == Relation::New { Source::Group(0) } else { Source::Passed(0) };
        TransformOutput {
            sources: vec![Source::Made(0, Kind::Date), Source::Made(1, Kind::Text), last],
            relation,
            order: Vec::new(),
            made_order: 0,
            values_of: vec![None, Some(0), None],
            schema: Arc::new(Schema::new(fields.to_vec())),
        }
    }

    /// Groups of two regions.
    fn groups() -> Groups {
        let column: ArrayRef = Arc::new(arrow::array::StringArray::from(vec!["a", "b"]));
        let batch = RecordBatch::try_from_iter([("region", column)]).unwrap();
        let held = HeldBytes::new(&Arc::new(MemoryBudget::new(1 << 20)));
        let mut groups = Groups::new(&batch.schema(), &[0], held).ok().unwrap();
        groups.number(&batch, &[0]).ok().unwrap();
        groups
    }

    /// Two rows: 1970-01-01 `ab`, null `c`.
    fn two_rows() -> guest::MadeRows {
        let array =
            |null_count, buffers| types::Array { length: 2, null_count, buffers, repeated: false };
        let offsets = [0_i32, 2, 3].iter().flat_map(|offset| offset.to_le_bytes()).collect();
        guest::MadeRows {
            rows: 2,
            take: Vec::new(),
            groups: Vec::new(),
            arrays: vec![array(1, 2), array(0, 3)],
            buffers: vec![vec![0b01], vec![0; 8], vec![], offsets, b"abc".to_vec()],
        }
    }

    fn check(
        raw: guest::MadeRows,
        relation: Relation,
        batch_rows: Option<usize>,
    ) -> Result<MadeRows, String> {
        let (output, groups) = (output(relation), groups());
        let codes = CodeTable::new(["ab", "c"].map(str::to_owned).to_vec());
        let values_of = [None, codes, None];
        let groups = Some(&groups);
        MadeRows::check(
            raw,
            &Expected { output: &output, values_of: &values_of, batch_rows, groups },
        )
    }

    #[test]
    fn a_result_is_taken_only_where_everything_of_it_fits_contract_16() {
        assert_eq!(check(two_rows(), Relation::Same, Some(2)).unwrap().rows, 2);
        let chosen = || guest::MadeRows { take: vec![1, 4], ..two_rows() };
        assert_eq!(check(chosen(), Relation::Chosen, Some(5)).unwrap().take, [1, 4]);
        let own = || guest::MadeRows { groups: vec![1, 0], ..two_rows() };
        assert_eq!(check(own(), Relation::New, None).unwrap().groups, [1, 0]);
        type Spoil = fn(&mut guest::MadeRows);
        let (same, some, new) = (Relation::Same, Relation::Chosen, Relation::New);
        let cases: [(&str, Relation, Option<usize>, Spoil); 19] = [
            ("without rows", new, None, |m| m.rows = 0),
            ("rows for a batch of 3", same, Some(3), |_| {}),
            ("`finish` where rows are the input's", same, None, |_| {}),
            ("`finish` where rows are the input's", some, None, |m| m.take = vec![1, 4]),
            ("`take` with rows", same, Some(2), |m| m.take = vec![0, 1]),
            ("`take` with rows", new, Some(2), |m| m.take = vec![0, 1]),
            ("0 rows taken for 2", some, Some(2), |m| m.take = Vec::new()),
            ("that does not ascend", some, Some(5), |m| m.take = vec![4, 1]),
            ("that does not ascend", some, Some(5), |m| m.take = vec![1, 1]),
            ("outside of a batch of 5", some, Some(5), |m| m.take = vec![1, 5]),
            ("outside of a batch", some, Some(5), |m| m.take = vec![1, u32::MAX]),
            ("2 numbers of groups", same, Some(2), |m| m.groups = vec![0, 0]),
            ("0 numbers of groups", new, None, |m| m.groups = Vec::new()),
            ("that was not given", new, None, |m| m.groups = vec![0, 2]),
            ("outside of 0001 to 9999", same, Some(2), |m| {
                m.buffers[1][..4].copy_from_slice(&328_716_000_i32.to_le_bytes())
            }),
            ("outside of 0001 to 9999", same, Some(2), |m| {
                m.buffers[1][..4].copy_from_slice(&(-719_163_i32).to_le_bytes())
            }),
            ("\"ax\", which values-of has not", same, Some(2), |m| m.buffers[4] = b"axc".to_vec()),
            ("that is damaged", same, Some(2), |m| m.buffers[4] = vec![0xff; 3]),
            ("nulls are miscounted", same, Some(2), |m| m.arrays[0].null_count = 2),
        ];
        for (rule, relation, batch_rows, spoil) in cases {
            let mut raw = if relation == new { own() } else { two_rows() };
            spoil(&mut raw);
            let found = check(raw, relation, batch_rows).err();
            assert!(found.as_ref().is_some_and(|found| found.contains(rule)), "{rule}: {found:?}");
        }
    }

    #[test]
    fn days_become_text_of_dates_contract_16() {
        let mut raw = two_rows();
        raw.buffers[1][..4].copy_from_slice(&DAYS.start().to_le_bytes());
        raw.buffers[1][4..].copy_from_slice(&DAYS.end().to_le_bytes());
        raw.arrays[0].null_count = 0;
        raw.buffers[0] = Vec::new();
        let made = check(raw, Relation::Same, Some(2)).unwrap();
        let text = made.column(0, Kind::Date, 0, 2).ok().unwrap();
        let text: Vec<_> = text.as_string::<i32>().iter().flatten().collect();
        assert_eq!(text, ["0001-01-01", "9999-12-31"]);
    }
}
