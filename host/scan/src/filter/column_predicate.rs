//! A condition on one column: a test of single values, of dictionaries and of decoded columns
//! (contract-15-types).

use std::cmp::Ordering;

use arrow::array::{Array, ArrayRef, AsArray, BooleanBufferBuilder, PrimitiveArray, StringArray};
use arrow::buffer::{BooleanBuffer, Buffer};
use arrow::datatypes::{
    ArrowDictionaryKeyType, ArrowNativeType, DataType, Float64Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type,
};
use parquet::errors::ParquetError;
use yearbook_domain::read_plan::{ColumnTest, ColumnValue, FloatKey};

use crate::decode::ColumnDictionary;
use crate::search_pattern::{CaseFolded, SearchPattern};

/// A value that is not null, compared with those of conditions without a copy of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ValueRef<'a> {
    Boolean(bool),
    Integer(i64),
    Number(FloatKey),
    Text(&'a [u8]),
}

impl ValueRef<'_> {
    /// Compares it with `value` in the order of [`ColumnValue`]. A plan has no values of another
    /// type than its column's; they would be greater.
    pub(super) fn compare(self, value: &ColumnValue) -> Ordering {
        match (self, value) {
            (Self::Boolean(one), ColumnValue::Boolean(other)) => one.cmp(other),
            (Self::Integer(one), ColumnValue::Integer(other)) => one.cmp(other),
            (Self::Number(one), ColumnValue::Number(other)) => one.cmp(other),
            (Self::Text(one), ColumnValue::Text(other)) => one.cmp(other.as_bytes()),
            _ => Ordering::Less,
        }
    }

    fn is_nan(self) -> bool {
        matches!(self, Self::Number(number) if number.is_nan())
    }
}

/// A test of the values of a column.
pub(super) struct ColumnPredicate {
    /// Column of the file.
    pub(super) leaf: usize,
    /// The test.
    pub(super) test: ColumnTest,
    /// Its texts, folded, where it compares folded text.
    patterns: Vec<SearchPattern>,
}

impl ColumnPredicate {
    /// The `test` of column `leaf` of the file.
    pub(super) fn new(leaf: usize, test: ColumnTest) -> Self {
        let patterns = match &test {
            ColumnTest::Contains(texts) | ColumnTest::Starts(texts) => {
                texts.iter().map(|text| SearchPattern::new(text)).collect()
            }
            _ => Vec::new(),
        };
        Self { leaf, test, patterns }
    }

    /// Returns true where values decide, and not whether there is one.
    pub(super) fn is_of_values(&self) -> bool {
        !matches!(self.test, ColumnTest::IsNull(_))
    }

    /// Returns true where `value` passes a test that compares with values.
    pub(super) fn accepts(&self, value: ValueRef<'_>) -> bool {
        let is_in = |values: &[ColumnValue]| {
            values.binary_search_by(|other| value.compare(other).reverse()).is_ok()
        };
        match &self.test {
            ColumnTest::AnyOf(values) => is_in(values),
            ColumnTest::NoneOf(values) => !is_in(values),
            ColumnTest::Bound(side, bound) => !value.is_nan() && side.holds(value.compare(bound)),
            ColumnTest::IsNull(is_null) => !is_null,
            ColumnTest::Contains(_) | ColumnTest::Starts(_) => false,
        }
    }

    /// The values of `dictionary` that pass, one bit each; `None` where they are not text, or do
    /// not decide: a dictionary says nothing of nulls.
    pub(super) fn dictionary_hits(&self, dictionary: &ColumnDictionary) -> Option<BooleanBuffer> {
        if !self.is_of_values() {
            return None;
        }
        let texts = dictionary.texts()?;
        if let ColumnTest::AnyOf(values) = &self.test {
            return Some(equal_values(texts, dictionary.order(), values));
        }
        if self.patterns.is_empty() {
            return Some(self.text_hits(texts));
        }
        dictionary.folded().map(|folded| self.folded_hits(folded))
    }

    /// The rows of a decoded column that pass; `hits` are those of its dictionary.
    pub(super) fn rows(
        &self,
        column: &ArrayRef,
        hits: Option<&BooleanBuffer>,
    ) -> Result<BooleanBuffer, ParquetError> {
        let length = column.len();
        let nulls = column.nulls();
        if let ColumnTest::IsNull(is_null) = self.test {
            let valid =
                nulls.map_or_else(|| BooleanBuffer::new_set(length), |all| all.inner().clone());
            return Ok(if is_null { !&valid } else { valid });
        }
        let rows = match column.data_type() {
            DataType::Boolean => {
                let values = column.as_boolean().values();
                self.hits(length, |row| ValueRef::Boolean(values.value(row)))
            }
            DataType::Int64 => {
                let values = column.as_primitive::<Int64Type>().values();
                self.hits(length, |row| ValueRef::Integer(values[row]))
            }
            DataType::Float64 => {
                let values = column.as_primitive::<Float64Type>().values();
                self.hits(length, |row| ValueRef::Number(FloatKey::new(values[row])))
            }
            DataType::Utf8 => self.plain_hits(column.as_string()),
            _ => return keyed_rows(column, hits, |values| Ok(self.plain_hits(values))),
        };
        Ok(nulls.map_or_else(|| rows.clone(), |nulls| &rows & nulls.inner()))
    }

    fn plain_hits(&self, texts: &StringArray) -> BooleanBuffer {
        if self.patterns.is_empty() {
            self.text_hits(texts)
        } else {
            self.folded_hits(&CaseFolded::new(texts))
        }
    }

    fn text_hits(&self, texts: &StringArray) -> BooleanBuffer {
        // The condition that most requests have.
        if let ColumnTest::AnyOf(values) = &self.test
            && let [ColumnValue::Text(value)] = values.as_slice()
        {
            return BooleanBuffer::collect_bool(texts.len(), |row| texts.value(row) == value);
        }
        self.hits(texts.len(), |row| ValueRef::Text(texts.value(row).as_bytes()))
    }

    fn hits<'a>(&self, length: usize, value: impl Fn(usize) -> ValueRef<'a>) -> BooleanBuffer {
        BooleanBuffer::collect_bool(length, |row| self.accepts(value(row)))
    }

    fn folded_hits(&self, texts: &CaseFolded) -> BooleanBuffer {
        let is_prefix = matches!(self.test, ColumnTest::Starts(_));
        let hits = |pattern: &SearchPattern| {
            if is_prefix { pattern.prefix_hits(texts) } else { pattern.hits(texts, None) }
        };
        let all = self.patterns.iter().map(hits).reduce(|one, other| &one | &other);
        all.unwrap_or_else(|| BooleanBuffer::new_unset(texts.len()))
    }
}

/// The texts that equal one of `values`. `order` are their places, least text first.
fn equal_values(texts: &StringArray, order: &[u32], values: &[ColumnValue]) -> BooleanBuffer {
    let mut hits = BooleanBufferBuilder::new(texts.len());
    hits.append_n(texts.len(), false);
    let text = |place: &u32| ValueRef::Text(texts.value(*place as usize).as_bytes());
    for value in values {
        let from = order.partition_point(|place| text(place).compare(value).is_lt());
        // A dictionary may have a value twice.
        let equal = order.get(from..).unwrap_or_default().iter();
        for place in equal.take_while(|place| text(place).compare(value).is_eq()) {
            hits.set_bit(*place as usize, true);
        }
    }
    hits.finish()
}

/// The rows of a dictionary-encoded column whose value is among `hits` of its dictionary, or among
/// those that `test` finds where these are not known; null never is.
pub(super) fn keyed_rows(
    column: &ArrayRef,
    hits: Option<&BooleanBuffer>,
    test: impl FnOnce(&StringArray) -> Result<BooleanBuffer, ParquetError>,
) -> Result<BooleanBuffer, ParquetError> {
    let unexpected = || ParquetError::General(format!("a filter column is {}", column.data_type()));
    let keyed = column.as_any_dictionary_opt().ok_or_else(unexpected)?;
    let tested = match hits {
        Some(_) => None,
        None => Some(test(keyed.values().as_string_opt().ok_or_else(unexpected)?)?),
    };
    let hits = hits.or(tested.as_ref()).ok_or_else(unexpected)?;
    let keys = keyed.keys();
    match keys.data_type() {
        DataType::UInt8 => Ok(key_rows(keys.as_primitive::<UInt8Type>(), hits)),
        DataType::UInt16 => Ok(key_rows(keys.as_primitive::<UInt16Type>(), hits)),
        DataType::Int32 => Ok(key_rows(keys.as_primitive::<Int32Type>(), hits)),
        _ => Err(unexpected()),
    }
}

/// The rows whose number is among `hits`.
fn key_rows<K: ArrowDictionaryKeyType>(
    keys: &PrimitiveArray<K>,
    hits: &BooleanBuffer,
) -> BooleanBuffer {
    let numbers = keys.values();
    let rows = match (hits.count_set_bits(), hits.set_indices().next()) {
        (1, Some(hit)) if let Some(hit) = K::Native::from_usize(hit) => equal_rows(numbers, hit),
        _ => {
            let hit = |row: usize| {
                let key = numbers.get(row).map(|key| key.as_usize());
                key.is_some_and(|key| key < hits.len() && hits.value(key))
            };
            BooleanBuffer::collect_bool(numbers.len(), hit)
        }
    };
    keys.nulls().map_or_else(|| rows.clone(), |nulls| &rows & nulls.inner())
}

/// The rows at which `number` stands. A value that few rows have is looked for in 64 rows at a
/// time, without a branch, and nothing is written where it is not.
fn equal_rows<N: ArrowNativeType>(numbers: &[N], number: N) -> BooleanBuffer {
    let mut words = vec![0_u64; numbers.len().div_ceil(64)];
    let is_equal = |other: &N| *other == number;
    let bits = |part: &[N]| {
        let numbered = part.iter().enumerate();
        numbered.fold(0, |bits, (bit, other)| bits | u64::from(is_equal(other)) << bit)
    };
    let (parts, rest) = numbers.as_chunks::<64>();
    for (word, part) in words.iter_mut().zip(parts) {
        if part.iter().fold(false, |any, other| any | is_equal(other)) {
            *word = bits(part);
        }
    }
    if let Some(last) = words.get_mut(parts.len()) {
        *last = bits(rest);
    }
    BooleanBuffer::new(Buffer::from_vec(words), 0, numbers.len())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn a_value_is_found_wherever_a_dictionary_has_it_contract_15() {
        // In two runs, as the values of a key begin within a row group, and one of them twice.
        let texts = StringArray::from(vec!["f", "g", "a", "c", "é", "a"]);
        let dictionary = ColumnDictionary::new(Arc::new(texts));
        let values = ["a", "b", "f", "é", "z"].map(|text| ColumnValue::Text(text.to_owned()));
        let predicate = ColumnPredicate::new(0, ColumnTest::AnyOf(values.to_vec()));
        let hits = predicate.dictionary_hits(&dictionary);
        let places = hits.map(|hits| hits.set_indices().collect::<Vec<_>>());
        assert_eq!(places, Some(vec![0, 2, 4, 5]));
    }

    #[test]
    fn a_number_is_found_in_every_row_up_to_the_last_contract_15() {
        for length in [0, 1, 63, 64, 65, 127, 128, 130] {
            for place in 0..length {
                let numbers: Vec<u16> = (0..length).map(|row| u16::from(row == place)).collect();
                let rows = equal_rows(&numbers, 1);
                assert_eq!(rows.len(), length);
                assert_eq!(rows.set_indices().collect::<Vec<_>>(), [place]);
                let others = equal_rows(&numbers, 0);
                assert_eq!(others.count_set_bits(), length - 1);
            }
        }
    }
}
