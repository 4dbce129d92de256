//! Rows of each value of a column that is kept: what an index of a database is, of one column of
//! one row group.

use arrow::array::{Array, ArrayRef, AsArray, PrimitiveArray};
use arrow::datatypes::{
    ArrowDictionaryKeyType, ArrowNativeType, DataType, Int32Type, UInt8Type, UInt16Type,
};

/// Values of a column for which its rows are worth being kept: of fewer, a value has more rows than
/// are looked up.
const MIN_VALUES: usize = 64;

/// Rows of which the place of each takes two bytes.
const BLOCK_ROWS: usize = 1 << 16;

/// Rows by the number of their value.
pub(crate) struct ValuePlaces {
    values: usize,
    /// End of the rows of each value in each block; those of the next begin there.
    ends: Box<[u32]>,
    /// Rows of one value after another in each block, counted within it, ascending.
    places: Box<[u16]>,
}

impl ValuePlaces {
    /// Bytes that they take for a column, at most; `None` where nobody would look them up.
    pub(crate) fn bytes_for(column: &ArrayRef) -> Option<usize> {
        let values = column.as_any_dictionary_opt()?.values().len();
        let ends = column.len().div_ceil(BLOCK_ROWS) * values * size_of::<u32>();
        (values >= MIN_VALUES).then(|| ends + column.len() * size_of::<u16>())
    }

    /// Finds the places of values in a column with a dictionary; `None` for another.
    pub(crate) fn new(column: &ArrayRef) -> Option<Self> {
        let keyed = column.as_any_dictionary_opt()?;
        let (keys, values) = (keyed.keys(), keyed.values().len());
        match keys.data_type() {
            DataType::UInt8 => Some(Self::sort::<UInt8Type>(keys.as_primitive(), values)),
            DataType::UInt16 => Some(Self::sort::<UInt16Type>(keys.as_primitive(), values)),
            DataType::Int32 => Some(Self::sort::<Int32Type>(keys.as_primitive(), values)),
            _ => None,
        }
    }

    /// Rows of the value with this number, ascending.
    pub(crate) fn rows_of(&self, value: usize) -> impl Iterator<Item = usize> {
        let blocks = self.ends.len() / self.values.max(1);
        (0..blocks).filter(move |_| value < self.values).flat_map(move |block| {
            let end = |place: usize| self.ends.get(place).map_or(0, |end| *end as usize);
            let place = block * self.values + value;
            let rows = place.checked_sub(1).map_or(0, end)..end(place);
            let places = self.places.get(rows).unwrap_or_default();
            places.iter().map(move |row| block * BLOCK_ROWS + usize::from(*row))
        })
    }

    /// Bytes in memory.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.ends) + size_of_val(&*self.places)
    }

    /// Counts the rows of each value, then puts every row where those of its value stand.
    fn sort<K: ArrowDictionaryKeyType>(keys: &PrimitiveArray<K>, values: usize) -> Self {
        let block = |(number, block): (usize, &[K::Native])| {
            let first = number * BLOCK_ROWS;
            let rows = (0..=u16::MAX).zip(block);
            let rows = rows.filter(move |(row, _)| keys.is_valid(first + usize::from(*row)));
            let keyed = rows.map(|(row, key)| (row, key.as_usize()));
            keyed.filter(|(_, value)| *value < values).collect::<Vec<_>>()
        };
        let mut ends = Vec::with_capacity(keys.len().div_ceil(BLOCK_ROWS) * values);
        let mut places = Vec::with_capacity(keys.len());
        for rows in keys.values().chunks(BLOCK_ROWS).enumerate().map(block) {
            let (first, mut behind) = (ends.len(), u32::try_from(places.len()).unwrap_or(u32::MAX));
            ends.resize(first + values, 0_u32);
            places.resize(places.len() + rows.len(), 0_u16);
            let ends = &mut ends[first..];
            for (_, value) in &rows {
                ends[*value] += 1;
            }
            for end in ends.iter_mut() {
                behind += std::mem::replace(end, behind);
            }
            for (row, value) in rows {
                places[ends[value] as usize] = row;
                ends[value] += 1;
            }
        }
        Self { values, ends: ends.into(), places: places.into() }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::sync::Arc;

    use arrow::array::{DictionaryArray, Int32Array, StringArray};
    use arrow::compute::cast;

    use super::*;

    #[test]
    fn every_row_stands_with_its_value_and_nulls_with_none() {
        let keys = [Some(2), Some(0), None, Some(2), Some(3), Some(0), None];
        let values = StringArray::from(vec!["a", "b", "c", "d"]);
        let keyed: DictionaryArray<Int32Type> =
            DictionaryArray::try_new(Int32Array::from(keys.to_vec()), Arc::new(values)).unwrap();
        for keys in [DataType::UInt8, DataType::UInt16, DataType::Int32] {
            let held = DataType::Dictionary(keys.into(), DataType::Utf8.into());
            let places = ValuePlaces::new(&cast(&keyed, &held).unwrap()).unwrap();
            let rows = (0..5).map(|value| places.rows_of(value).collect());
            let rows: Vec<Vec<usize>> = rows.collect();
            assert_eq!(rows, [&[1, 5][..], &[], &[0, 3], &[4], &[]]);
            assert_eq!(places.bytes(), 4 * 4 + 2 * 5);
        }
        assert!(ValuePlaces::new(&cast(&keyed, &DataType::Utf8).unwrap()).is_none());
    }

    #[test]
    fn rows_beyond_a_block_stand_with_their_value_too() {
        let rows = 2 * BLOCK_ROWS + 100;
        let texts = (0..rows).map(|row| (row % 3 > 0).then(|| format!("{}", row % 500)));
        let texts: ArrayRef = Arc::new(texts.collect::<StringArray>());
        let held = DataType::Dictionary(DataType::UInt16.into(), DataType::Utf8.into());
        let column = cast(&texts, &held).unwrap();
        let places = ValuePlaces::new(&column).unwrap();
        assert!(places.bytes() <= ValuePlaces::bytes_for(&column).unwrap());
        let mut found = 0;
        for (value, text) in
            column.as_any_dictionary().values().as_string::<i32>().iter().enumerate()
        {
            let rows: Vec<usize> = places.rows_of(value).collect();
            assert!(rows.is_sorted());
            assert!(rows.iter().all(|row| texts.is_valid(*row)));
            assert!(rows.iter().all(|row| Some(texts.as_string::<i32>().value(*row)) == text));
            found += rows.len();
        }
        assert_eq!(found, rows - texts.null_count());
    }
}
