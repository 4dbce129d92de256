//! Arrow values spelled as the interface spells them: the C data interface's format strings and
//! buffers, offsets normalised to 0. Buffers are shared with the batch, not copied, wherever they
//! begin on a byte. Owns which of them cross and which stay, as the guest's views say.

mod buffers;
mod schema;
mod unpack;

use arrow::array::{Array, ArrayData, ArrayRef, AsArray, RecordBatch};
use arrow::buffer::Buffer;
use arrow::datatypes::{DataType, Int32Type, Schema};
use yearbook_domain::TextTraits;

use self::buffers::{push_dictionary, push_flat, to_u32};
pub(crate) use self::schema::WireSchema;
use self::schema::dictionary_values;
pub(crate) use self::unpack::plain;
use super::bindings::exports::yearbook::plugin::encoder as wire;
use super::bindings::yearbook::plugin::types;

/// A type that the interface can spell but this host does not hand over: nested columns, views.
/// Publishing stores none.
#[derive(Debug, thiserror::Error)]
#[error("column type {0} is not handed to plugins")]
pub(crate) struct UnsupportedType(String);

/// A batch ready to cross: what an encoder's or a transform's batch borrows from.
pub(crate) struct WireColumns {
    rows: u32,
    arrays: Vec<types::Array>,
    buffers: Vec<WireBuffer>,
    /// Cells of the batch, for the amplification limit.
    pub(crate) cells: usize,
    /// Bytes of long values that cross as keys, once for each row: what an encoder writes that
    /// spells them out.
    spelled: usize,
}

/// One buffer of a batch.
pub(crate) struct WireBuffer {
    /// Its bytes.
    pub(crate) bytes: Buffer,
    /// Set where the guest learns its length alone.
    held: bool,
}

impl WireColumns {
    /// Calls `with` with the borrowed form.
    ///
    /// # Errors
    /// Fails when a held buffer has more than 2^32 bytes.
    pub(crate) fn borrow<T>(
        &self,
        with: impl FnOnce(wire::Batch<'_>) -> T,
    ) -> Result<T, UnsupportedType> {
        let mut buffers = Vec::with_capacity(self.buffers.len());
        for WireBuffer { bytes, held } in &self.buffers {
            buffers.push(if *held {
                wire::Buffer::Held(to_u32(bytes.len())?)
            } else {
                wire::Buffer::Bytes(bytes.as_slice())
            });
        }
        Ok(with(wire::Batch { rows: self.rows, arrays: &self.arrays, buffers: &buffers }))
    }

    /// Columns that cross whole and without dictionaries.
    ///
    /// # Errors
    /// Fails for a type that the interface does not carry.
    pub(crate) fn whole(rows: usize, columns: &[ArrayRef]) -> Result<Self, UnsupportedType> {
        let mut out = Self {
            rows: to_u32(rows)?,
            arrays: Vec::with_capacity(columns.len()),
            buffers: Vec::with_capacity(columns.len() * 3),
            cells: rows * columns.len(),
            spelled: 0,
        };
        for column in columns {
            push_flat(&mut out, &column.to_data(), wire::Crossing::Whole, TextTraits::empty())?;
        }
        Ok(out)
    }

    /// The arrays, and the bytes of all buffers.
    pub(crate) fn parts(&self) -> (&[types::Array], Vec<&[u8]>) {
        (&self.arrays, self.buffers.iter().map(|buffer| buffer.bytes.as_slice()).collect())
    }

    /// Buffers of the batch, by the index that a splice gives.
    pub(crate) fn buffers(&self) -> &[WireBuffer] {
        &self.buffers
    }

    /// Bytes of all buffers, held or not, and those that keys stand for: what the guest was given
    /// to write.
    pub(crate) fn bytes(&self) -> usize {
        self.buffers
            .iter()
            .map(|buffer| buffer.bytes.len())
            .sum::<usize>()
            .saturating_add(self.spelled)
    }

    fn push(&mut self, bytes: Buffer, held: bool) {
        self.buffers.push(WireBuffer { bytes, held });
    }
}

/// Turns the batches of one response into crossings. Remembers the dictionaries that the guest
/// holds, so that values cross only when they changed.
pub(crate) struct WireConverter {
    dictionaries: bool,
    views: Vec<wire::View>,
    /// Traits that are known of each column's text; none of a dictionary's.
    known: Vec<TextTraits>,
    sent: Vec<Option<ArrayData>>,
}

/// Everything crosses: the view of a guest that says nothing.
const WHOLE: wire::View = wire::View { plain: false, crossing: wire::Crossing::Whole };

impl WireConverter {
    /// For batches of `schema`. `dictionaries`: whether the guest takes them; if not, text is
    /// decoded. `views`: one for each column, or none.
    pub(crate) fn new(schema: &Schema, dictionaries: bool, views: Vec<wire::View>) -> Self {
        let known = schema.fields().iter().map(|field| schema::known_traits(field)).collect();
        Self { dictionaries, views, known, sent: Vec::new() }
    }

    /// Converts one batch.
    pub(crate) fn convert(&mut self, batch: &RecordBatch) -> Result<WireColumns, UnsupportedType> {
        let mut out = WireColumns {
            rows: u32::try_from(batch.num_rows())
                .map_err(|_| UnsupportedType("more than 2^32 rows in a batch".into()))?,
            arrays: Vec::with_capacity(batch.num_columns() * 2),
            buffers: Vec::with_capacity(batch.num_columns() * 4),
            cells: batch.num_rows() * batch.num_columns(),
            spelled: 0,
        };
        self.sent.resize(batch.num_columns(), None);
        for (index, column) in batch.columns().iter().enumerate() {
            let wire::View { plain, crossing } = self.views.get(index).copied().unwrap_or(WHOLE);
            match column.data_type() {
                data_type
                    if dictionary_values(data_type, self.dictionaries && !plain).is_some() =>
                {
                    let dictionary = column.as_dictionary::<Int32Type>();
                    push_dictionary(&mut out, dictionary, crossing, &mut self.sent[index])?;
                }
                DataType::Dictionary(..) => {
                    let plain = unpack::plain(column)
                        .map_err(|error| UnsupportedType(error.to_string()))?;
                    push_flat(&mut out, &plain.to_data(), crossing, TextTraits::empty())?;
                }
                _ => {
                    let known = self.known.get(index).copied().unwrap_or_default();
                    push_flat(&mut out, &column.to_data(), crossing, known)?;
                }
            }
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::sync::Arc;

    use arrow::array::{ArrayRef, BooleanArray, DictionaryArray, Int64Array, StringArray};
    use arrow::datatypes::Field;

    use super::schema::FlatField;
    use super::wire::Traits;
    use super::*;

    fn crossing(column: ArrayRef) -> WireColumns {
        let field = Field::new("c", column.data_type().clone(), true);
        let batch = RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![column]).unwrap();
        WireConverter::new(batch.schema_ref(), true, Vec::new()).convert(&batch).unwrap()
    }

    fn slices(crossing: &WireColumns) -> Vec<&[u8]> {
        crossing.buffers.iter().map(|buffer| buffer.bytes.as_slice()).collect()
    }

    #[test]
    fn offsets_are_normalised_to_zero() {
        let text: ArrayRef =
            Arc::new(StringArray::from(vec![Some("aa"), Some("b"), None, Some("ccc")]));
        let crossed = crossing(text.slice(1, 3));
        let offsets: Vec<u8> =
            [0_i32, 1, 1, 4].iter().flat_map(|offset| offset.to_le_bytes()).collect();
        assert_eq!(slices(&crossed), [&[0b101][..], &offsets, b"bccc"]);
        assert_eq!((crossed.arrays[0].length, crossed.arrays[0].null_count), (3, 1));

        let flags: ArrayRef = Arc::new(BooleanArray::from(vec![true, false, false, true, true]));
        assert_eq!(slices(&crossing(flags.slice(3, 2))), [&[][..], &[0b11]]);

        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
        assert_eq!(slices(&crossing(numbers.slice(2, 1))), [&[][..], &3_i64.to_le_bytes()]);
    }

    #[test]
    fn a_validity_buffer_without_nulls_stays_home() {
        let text: ArrayRef = Arc::new(StringArray::from(vec![None, Some("b")]));
        assert_eq!(slices(&crossing(text.slice(1, 1)))[0], b"");
    }

    #[test]
    fn dictionary_values_cross_when_they_changed() {
        let values: ArrayRef = Arc::new(StringArray::from(vec!["x", "y"]));
        let one = DictionaryArray::<Int32Type>::new(vec![0, 1].into(), Arc::clone(&values));
        let two = DictionaryArray::<Int32Type>::new(vec![1].into(), values);
        let three = DictionaryArray::<Int32Type>::new(
            vec![0].into(),
            Arc::new(StringArray::from(vec!["z"])),
        );
        let field = Field::new("c", one.data_type().clone(), false);
        let schema = Arc::new(Schema::new(vec![field]));
        let mut converter = WireConverter::new(&schema, true, Vec::new());
        let repeated: Vec<bool> = [one, two, three]
            .into_iter()
            .map(|array| {
                let batch =
                    RecordBatch::try_new(Arc::clone(&schema), vec![Arc::new(array)]).unwrap();
                converter.convert(&batch).unwrap().arrays[1].repeated
            })
            .collect();
        assert_eq!(repeated, [false, true, false]);
    }

    #[test]
    fn what_a_column_is_for_crosses_with_its_field() {
        let text = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        let day = Field::new("day", text, false)
            .with_metadata([("yearbook.type", "date"), ("yearbook.role", "date")]);
        let value =
            Field::new("value", DataType::Float64, true).with_metadata([("yearbook.unit", "NZD")]);
        let schema = Schema::new(vec![Field::new("other", DataType::Int64, true), day, value])
            .with_metadata([("yearbook.dataset", "d")]);
        let said = |pairs: &[types::Pair<'_>]| {
            pairs
                .iter()
                .map(|pair| format!("{}={}", pair.key, pair.value))
                .collect::<Vec<_>>()
                .join(" ")
        };
        let crossed = WireSchema::new(&schema, true).unwrap().borrow(|schema| {
            let fields: Vec<_> = schema
                .fields
                .iter()
                .map(|field| (field.name.to_owned(), said(field.metadata)))
                .collect();
            (fields, said(schema.metadata))
        });
        let expected = [
            ("other", ""),
            ("day", "yearbook.role=date yearbook.type=date"),
            ("", ""),
            ("value", "yearbook.unit=NZD"),
        ];
        assert_eq!(
            crossed,
            (
                expected.map(|(name, said)| (name.to_owned(), said.to_owned())).to_vec(),
                "yearbook.dataset=d".to_owned()
            )
        );
    }

    #[test]
    fn long_values_count_for_every_row_though_they_cross_once() {
        let long = "x".repeat(1_000);
        let keyed = |texts: &[Option<&str>]| -> ArrayRef {
            Arc::new(texts.iter().copied().collect::<DictionaryArray<Int32Type>>())
        };
        let short = crossing(keyed(&[Some("short"), None, Some("short")]));
        assert_eq!(short.spelled, 0);
        let crossed = crossing(keyed(&[Some(&long), None, Some("short"), Some(&long)]));
        assert_eq!(crossed.spelled, 2_005);
        assert!(crossed.bytes() > 2_005 + 1_005, "{}", crossed.bytes());
    }

    /// Bytes and whether they are held, of each buffer.
    fn viewed(view: wire::View, column: ArrayRef) -> Vec<(Vec<u8>, bool)> {
        let field = Field::new("c", column.data_type().clone(), true);
        let batch = RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![column]).unwrap();
        let crossed =
            WireConverter::new(batch.schema_ref(), true, vec![view]).convert(&batch).unwrap();
        crossed.buffers.iter().map(|buffer| (buffer.bytes.to_vec(), buffer.held)).collect()
    }

    fn held(mean_bytes: u32, all: Traits, each: Traits) -> wire::View {
        let crossing = wire::Crossing::Offsets(wire::HeldText { mean_bytes, all, each });
        wire::View { plain: false, crossing }
    }

    #[test]
    fn text_is_held_where_it_is_long_and_has_every_trait() {
        let text: ArrayRef = Arc::new(StringArray::from(vec![Some("north"), None, Some("a,b")]));
        let nothing = Traits::empty();
        for (view, stays) in [
            (held(2, nothing, nothing), true),
            (held(3, nothing, nothing), false),
            (held(2, Traits::NO_QUOTE, nothing), true),
            (held(2, Traits::NO_QUOTE | Traits::NO_COMMA, nothing), false),
        ] {
            let buffers = viewed(view, Arc::clone(&text));
            let flags: Vec<bool> = buffers.iter().map(|(_, held)| *held).collect();
            assert_eq!(flags, [false, false, stays], "{view:?}");
            assert_eq!(buffers[2].0, b"northa,b");
        }
        let buffers = viewed(held(2, nothing, Traits::NO_COMMA), text.slice(1, 2));
        assert_eq!(buffers.len(), 3, "shorter than it should be without the first");
        let buffers = viewed(held(1, nothing, Traits::NO_COMMA), text.slice(0, 3));
        assert_eq!(buffers[3], (vec![0b011], false), "a value of its own has a comma");
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1]));
        assert!(viewed(held(0, nothing, nothing), numbers).iter().all(|(_, held)| !held));
    }

    #[test]
    fn traits_that_are_known_are_not_looked_for_and_stay_in_the_host() {
        let text: ArrayRef = Arc::new(StringArray::from(vec!["a \"quote\"", "and,\tmore"]));
        let field = |known: TextTraits| {
            let key = TextTraits::FIELD_KEY.to_owned();
            let metadata = [(key, known.to_field_value()), ("yearbook.role".into(), "key".into())];
            Field::new("c", DataType::Utf8, false).with_metadata(metadata)
        };
        let crossed = |known: TextTraits| {
            let schema = Arc::new(Schema::new(vec![field(known)]));
            let batch = RecordBatch::try_new(Arc::clone(&schema), vec![Arc::clone(&text)]).unwrap();
            let view = held(1, Traits::NO_QUOTE, Traits::NO_COMMA | Traits::NO_TAB);
            let crossed = WireConverter::new(&schema, true, vec![view]).convert(&batch).unwrap();
            let last = crossed.buffers.last().unwrap();
            (crossed.buffers.len(), last.bytes.to_vec())
        };
        assert_eq!(crossed(TextTraits::empty()), (3, b"a \"quote\"and,\tmore".to_vec()));
        // What is said is believed, which shows that nobody looked.
        assert_eq!(crossed(TextTraits::NO_QUOTE | TextTraits::NO_COMMA), (4, vec![0b01]));
        let all = TextTraits::NO_QUOTE | TextTraits::NO_COMMA | TextTraits::NO_TAB;
        assert_eq!(crossed(all), (4, vec![0b11]));
        let schema = Schema::new(vec![field(all)]);
        let said = WireSchema::new(&schema, true).unwrap().borrow(|schema| {
            let pairs = schema.fields[0].metadata.iter();
            pairs.map(|pair| format!("{}={}", pair.key, pair.value)).collect::<Vec<_>>()
        });
        assert_eq!(said, ["yearbook.role=key"]);
    }

    #[test]
    fn a_view_of_lengths_holds_every_buffer_and_a_plain_one_decodes_dictionaries() {
        let keyed: DictionaryArray<Int32Type> =
            vec![Some("x"), None, Some("yy")].into_iter().collect();
        let keyed: ArrayRef = Arc::new(keyed);
        let lengths = |plain| wire::View { plain, crossing: wire::Crossing::Lengths };
        let plain = viewed(lengths(true), Arc::clone(&keyed));
        assert!(plain.iter().all(|(_, held)| *held));
        assert_eq!((plain.len(), plain[2].0.as_slice()), (3, &b"xyy"[..]));
        assert_eq!(viewed(lengths(false), keyed).len(), 5);
    }

    #[test]
    fn held_dictionary_values_are_never_repeated() {
        let long: ArrayRef = Arc::new(StringArray::from(vec!["long enough"]));
        let keyed = DictionaryArray::<Int32Type>::new(vec![0, 0].into(), long);
        let schema = Schema::new(vec![Field::new("c", keyed.data_type().clone(), false)]);
        let batch = RecordBatch::try_new(Arc::new(schema), vec![Arc::new(keyed)]).unwrap();
        for (mean_bytes, repeated) in [(4, false), (40, true)] {
            let view = held(mean_bytes, Traits::empty(), Traits::empty());
            let mut converter = WireConverter::new(batch.schema_ref(), true, vec![view]);
            let again = [(); 2].map(|()| converter.convert(&batch).unwrap().arrays[1].repeated);
            assert_eq!(again, [false, repeated], "{mean_bytes}");
        }
    }

    #[test]
    fn a_guest_that_declines_dictionaries_gets_plain_text() {
        let array: DictionaryArray<Int32Type> =
            vec![Some("x"), None, Some("x")].into_iter().collect();
        let schema = Schema::new(vec![Field::new("c", array.data_type().clone(), true)]);
        assert_eq!(
            WireSchema::new(&schema, false).unwrap().fields,
            [FlatField {
                name: "c",
                format: "u".into(),
                nullable: true,
                dictionary: false,
                metadata: Some(schema.field(0).metadata()),
            }]
        );
        let batch = RecordBatch::try_new(Arc::new(schema), vec![Arc::new(array)]).unwrap();
        let crossed =
            WireConverter::new(batch.schema_ref(), false, Vec::new()).convert(&batch).unwrap();
        assert_eq!((crossed.arrays.len(), slices(&crossed)[2]), (1, &b"xx"[..]));
    }
}
