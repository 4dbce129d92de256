//! Few rows of many row groups as one batch: an encoder takes one of six hundred rows in a fraction
//! of the time of eighty of seven. What it is depends on the rows alone, whichever way they were
//! decoded.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayAccessor, ArrayRef, AsArray, BooleanBuilder, DictionaryArray, Float64Builder,
    Int64Builder, RecordBatch, RecordBatchOptions, StringArray, StringBuilder,
    StringDictionaryBuilder,
};
use arrow::datatypes::{
    ArrowDictionaryKeyType, ArrowNativeType, DataType, Float64Type, Int32Type, Int64Type,
    SchemaRef, UInt8Type, UInt16Type,
};
use arrow::error::ArrowError;

/// Rows that leave together.
pub(super) struct JoinedRows {
    schema: SchemaRef,
    columns: Vec<JoinedColumn>,
    rows: usize,
}

/// A column of them. Text with a dictionary has its values in the order in which rows name them.
enum JoinedColumn {
    Boolean(BooleanBuilder),
    Integer(Int64Builder),
    Number(Float64Builder),
    Text(StringBuilder),
    Keyed(StringDictionaryBuilder<Int32Type>),
}

impl JoinedRows {
    /// No rows yet, of columns that publishing stores.
    pub(super) fn new(schema: &SchemaRef) -> Result<Self, ArrowError> {
        let columns = schema.fields().iter().map(|field| JoinedColumn::new(field.data_type()));
        let columns = columns.collect::<Result<_, _>>()?;
        Ok(Self { schema: Arc::clone(schema), columns, rows: 0 })
    }

    /// Number of rows.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Bytes of text that is held as such.
    pub(super) fn text_bytes(&self) -> usize {
        let bytes = |column: &JoinedColumn| match column {
            JoinedColumn::Text(texts) => texts.values_slice().len(),
            _ => 0,
        };
        self.columns.iter().map(bytes).sum()
    }

    /// Adds the rows `places` of `columns`, which are in the order of the schema; their text may be
    /// in dictionaries of any size.
    pub(super) fn add<'a>(
        &mut self,
        columns: impl Iterator<Item = &'a ArrayRef>,
        places: &[u32],
    ) -> Result<(), ArrowError> {
        for (joined, column) in self.columns.iter_mut().zip(columns) {
            joined.add(column, places)?;
        }
        self.rows += places.len();
        Ok(())
    }

    /// The rows as a batch; none are left.
    pub(super) fn finish(&mut self) -> Result<RecordBatch, ArrowError> {
        let columns = self.columns.iter_mut().map(JoinedColumn::finish).collect();
        let rows = std::mem::take(&mut self.rows);
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)
    }
}

impl JoinedColumn {
    fn new(data_type: &DataType) -> Result<Self, ArrowError> {
        Ok(match data_type {
            DataType::Boolean => Self::Boolean(BooleanBuilder::new()),
            DataType::Int64 => Self::Integer(Int64Builder::new()),
            DataType::Float64 => Self::Number(Float64Builder::new()),
            DataType::Utf8 => Self::Text(StringBuilder::new()),
            DataType::Dictionary(..) => Self::Keyed(StringDictionaryBuilder::new()),
            other => return Err(unexpected(other)),
        })
    }

    fn add(&mut self, column: &ArrayRef, places: &[u32]) -> Result<(), ArrowError> {
        let wrong = || unexpected(column.data_type());
        match self {
            Self::Boolean(built) => {
                let column = column.as_boolean_opt().ok_or_else(wrong)?;
                each(column, places, |flag| built.append_option(flag));
            }
            Self::Integer(built) => {
                let column = column.as_primitive_opt::<Int64Type>().ok_or_else(wrong)?;
                each(column, places, |number| built.append_option(number));
            }
            Self::Number(built) => {
                let column = column.as_primitive_opt::<Float64Type>().ok_or_else(wrong)?;
                each(column, places, |number| built.append_option(number));
            }
            Self::Text(built) => each_text(column, places, |text, rows| {
                (0..rows).for_each(|_| built.append_option(text));
            })?,
            Self::Keyed(built) => each_text(column, places, |text, rows| {
                built.append_options(text, rows);
            })?,
        }
        Ok(())
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Boolean(built) => Arc::new(built.finish()),
            Self::Integer(built) => Arc::new(built.finish()),
            Self::Number(built) => Arc::new(built.finish()),
            Self::Text(built) => Arc::new(built.finish()),
            Self::Keyed(built) => Arc::new(built.finish()),
        }
    }
}

/// The values of the rows `places`.
fn each<A: ArrayAccessor>(column: A, places: &[u32], mut take: impl FnMut(Option<A::Item>)) {
    for &place in places {
        let place = place as usize;
        take(column.is_valid(place).then(|| column.value(place)));
    }
}

/// The texts of the rows `places`, each with the number of rows in which it stands one after
/// another, as far as that is known.
fn each_text<'a>(
    column: &'a ArrayRef,
    places: &[u32],
    mut take: impl FnMut(Option<&'a str>, usize),
) -> Result<(), ArrowError> {
    if let Some(texts) = column.as_string_opt::<i32>() {
        each(texts, places, |text| take(text, 1));
        return Ok(());
    }
    match column.data_type() {
        DataType::Dictionary(keys, _) => match **keys {
            DataType::UInt8 => each_keyed::<UInt8Type>(column.as_dictionary(), places, take),
            DataType::UInt16 => each_keyed::<UInt16Type>(column.as_dictionary(), places, take),
            DataType::Int32 => each_keyed::<Int32Type>(column.as_dictionary(), places, take),
            _ => Err(unexpected(column.data_type())),
        },
        other => Err(unexpected(other)),
    }
}

fn each_keyed<'a, K: ArrowDictionaryKeyType>(
    column: &'a DictionaryArray<K>,
    places: &[u32],
    mut take: impl FnMut(Option<&'a str>, usize),
) -> Result<(), ArrowError> {
    let (keys, values) = (column.keys(), column.values());
    let values: &StringArray =
        values.as_string_opt().ok_or_else(|| unexpected(values.data_type()))?;
    let key = |place: &u32| {
        let place = *place as usize;
        keys.is_valid(place).then(|| keys.value(place).as_usize())
    };
    for run in places.chunk_by(|one, other| key(one) == key(other)) {
        let text = run.first().and_then(key).map(|key| values.value(key));
        take(text, run.len());
    }
    Ok(())
}

fn unexpected(data_type: &DataType) -> ArrowError {
    ArrowError::InvalidArgumentError(format!("rows of a column of the type {data_type}"))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use arrow::array::{BooleanArray, Float64Array, Int64Array};
    use arrow::compute::{cast, concat_batches, take_record_batch};
    use arrow::datatypes::{Field, Schema};

    use super::*;
    use crate::schema::dictionary;

    fn batch(types: [DataType; 5], seed: i64) -> RecordBatch {
        let texts = (0..50).map(|row| (row % 7 != 3).then(|| format!("é{}", (row * seed) % 5)));
        let texts: ArrayRef = Arc::new(texts.collect::<StringArray>());
        let numbers = (0..50).map(|row| (row % 5 != seed % 5).then_some(row * seed));
        let integers: Int64Array = numbers.clone().collect();
        let floats: Float64Array =
            numbers.clone().map(|number| Some(number? as f64 / 3.0)).collect();
        let flags: BooleanArray = numbers.map(|number| Some(number? % 2 == 0)).collect();
        let columns: [ArrayRef; 5] =
            [Arc::new(flags), Arc::new(integers), Arc::new(floats), Arc::clone(&texts), texts];
        let fields = types.iter().zip(["a", "b", "c", "d", "e"]);
        let schema = Schema::new(
            fields.map(|(of, name)| Field::new(name, of.clone(), true)).collect::<Vec<_>>(),
        );
        let columns = columns.iter().zip(&types).map(|(column, to)| cast(column, to).unwrap());
        RecordBatch::try_new(Arc::new(schema), columns.collect()).unwrap()
    }

    #[test]
    fn rows_are_the_same_whatever_numbers_their_values_have_contract_3_same_bytes() {
        let types = |text: DataType, keyed: DataType| {
            [DataType::Boolean, DataType::Int64, DataType::Float64, text, keyed]
        };
        let keyed = |keys: DataType| DataType::Dictionary(keys.into(), DataType::Utf8.into());
        let sent = types(DataType::Utf8, dictionary());
        let places: [&[u32]; 3] = [&[0, 3, 4, 9, 10, 11, 49], &[], &[7, 8, 9, 10, 17]];
        let parts = [1, 2, 3].map(|seed| batch(sent.clone(), seed));
        let taken = parts.iter().zip(places).map(|(part, places)| {
            take_record_batch(part, &arrow::array::UInt32Array::from(places.to_vec())).unwrap()
        });
        let expected = concat_batches(parts[0].schema_ref(), &taken.collect::<Vec<_>>()).unwrap();
        let mut first = None;
        for (text, dictionary) in [
            (DataType::Utf8, dictionary()),
            (keyed(DataType::UInt8), keyed(DataType::UInt16)),
            (keyed(DataType::Int32), keyed(DataType::UInt8)),
        ] {
            let mut joined = JoinedRows::new(parts[0].schema_ref()).unwrap();
            for (seed, places) in [1, 2, 3].into_iter().zip(places) {
                let held = batch(types(text.clone(), dictionary.clone()), seed);
                joined.add(held.columns().iter(), places).unwrap();
            }
            assert_eq!(joined.rows(), 12);
            let made = joined.finish().unwrap();
            assert_eq!(joined.rows(), 0);
            assert_eq!(made, expected, "{text} and {dictionary}");
            let first = first.get_or_insert_with(|| made.clone());
            for (one, other) in made.columns().iter().zip(first.columns()) {
                assert_eq!(one.to_data(), other.to_data(), "its buffers too");
            }
        }
    }

    #[test]
    fn values_stand_in_the_order_in_which_rows_name_them() {
        let texts: ArrayRef = Arc::new(StringArray::from(vec!["z", "a", "z", "b"]));
        let field = Field::new("d", dictionary(), true);
        let mut joined = JoinedRows::new(&Arc::new(Schema::new(vec![field]))).unwrap();
        joined.add(std::iter::once(&texts), &[2, 1]).unwrap();
        joined.add(std::iter::once(&texts), &[3, 0]).unwrap();
        let made = joined.finish().unwrap();
        let values = made.column(0).as_any_dictionary().values().as_string::<i32>();
        assert_eq!(values.iter().flatten().collect::<Vec<_>>(), ["z", "a", "b"]);
    }
}
