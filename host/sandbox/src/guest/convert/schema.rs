//! Schemas spelled as the interface spells them: flat fields in pre-order with the C data
//! interface's format strings. Knows nothing of batches.

use std::borrow::Cow;

use arrow::datatypes::{DataType, Field, Metadata, Schema, TimeUnit};
use yearbook_domain::TextTraits;
use yearbook_domain::metadata_key::{CODE_LABELS, CODES};

use super::UnsupportedType;
use crate::guest::bindings::yearbook::plugin::types as wire;

/// The flattened schema: its formats, and what `wire::Schema` borrows of the one that it was made
/// from.
pub(crate) struct WireSchema<'a> {
    pub(super) fields: Vec<FlatField<'a>>,
    metadata: &'a Metadata,
}

/// One field in pre-order; none has children.
#[derive(Debug, Default, PartialEq)]
pub(super) struct FlatField<'a> {
    pub(super) name: &'a str,
    pub(super) format: Cow<'static, str>,
    pub(super) nullable: bool,
    pub(super) dictionary: bool,
    /// None: nothing is said of it.
    pub(super) metadata: Option<&'a Metadata>,
}

impl<'a> WireSchema<'a> {
    /// Flattens `schema` as [`super::WireConverter`] will send its batches.
    pub(crate) fn new(schema: &'a Schema, dictionaries: bool) -> Result<Self, UnsupportedType> {
        let mut fields = Vec::with_capacity(2 * schema.fields().len());
        for field in schema.fields() {
            let mut flat = FlatField {
                name: field.name(),
                format: Cow::Borrowed(""),
                nullable: field.is_nullable(),
                dictionary: false,
                metadata: Some(field.metadata()),
            };
            match field.data_type() {
                data_type if let Some(values) = dictionary_values(data_type, dictionaries) => {
                    let values =
                        FlatField { format: format_string(values)?, ..FlatField::default() };
                    fields.extend([
                        FlatField { format: "i".into(), dictionary: true, ..flat },
                        values,
                    ]);
                    continue;
                }
                DataType::Dictionary(_, values) => flat.format = format_string(values)?,
                data_type => flat.format = format_string(data_type)?,
            }
            fields.push(flat);
        }
        Ok(Self { fields, metadata: schema.metadata() })
    }

    /// Calls `with` with the borrowed form.
    pub(crate) fn borrow<T>(&self, with: impl FnOnce(wire::Schema<'_>) -> T) -> T {
        // Sorted by key, as the map is: another order on another host would be other bytes.
        let all = self.fields.iter().filter_map(|field| field.metadata).chain([self.metadata]);
        let mut pairs = Vec::with_capacity(all.clone().map(Metadata::len).sum());
        pairs.extend(all.flat_map(public_pairs));
        let mut metadata = pairs.as_slice();
        let fields = self.fields.iter().map(
            |FlatField { name, format, nullable, dictionary, metadata: own }| {
                let (own, rest) = metadata.split_at(own.map_or(0, |own| public_pairs(own).count()));
                metadata = rest;
                wire::Field {
                    name,
                    format,
                    nullable: *nullable,
                    dictionary: *dictionary,
                    children: 0,
                    metadata: own,
                }
            },
        );
        let fields: Vec<_> = fields.collect();
        let metadata = metadata;
        with(wire::Schema { fields: &fields, metadata })
    }

    /// Bytes of column names: what a format that repeats them writes once a row.
    pub(crate) fn name_bytes(&self) -> usize {
        self.fields.iter().map(|field| field.name.len()).sum()
    }
}

/// Metadata without what the host tells itself.
fn public_pairs(metadata: &Metadata) -> impl Iterator<Item = wire::Pair<'_>> {
    let own = |key: &str| matches!(key, TextTraits::FIELD_KEY | CODES | CODE_LABELS);
    let pairs = metadata.iter().filter(move |(key, _)| !own(key));
    pairs.map(|(key, value)| wire::Pair { key, value })
}

/// Traits that all text of a column has, as far as is known.
pub(super) fn known_traits(field: &Field) -> TextTraits {
    let value = field.metadata().get(TextTraits::FIELD_KEY);
    value.map_or_else(TextTraits::empty, |value| TextTraits::from_field_value(value))
}

/// The C data interface's format string of a flat type.
pub(crate) fn format_string(data_type: &DataType) -> Result<Cow<'static, str>, UnsupportedType> {
    let unit = |unit: &TimeUnit| match unit {
        TimeUnit::Second => 's',
        TimeUnit::Millisecond => 'm',
        TimeUnit::Microsecond => 'u',
        TimeUnit::Nanosecond => 'n',
    };
    Ok(match data_type {
        DataType::Boolean => "b".into(),
        DataType::Int8 => "c".into(),
        DataType::UInt8 => "C".into(),
        DataType::Int16 => "s".into(),
        DataType::UInt16 => "S".into(),
        DataType::Int32 => "i".into(),
        DataType::UInt32 => "I".into(),
        DataType::Int64 => "l".into(),
        DataType::UInt64 => "L".into(),
        DataType::Float32 => "f".into(),
        DataType::Float64 => "g".into(),
        DataType::Utf8 => "u".into(),
        DataType::LargeUtf8 => "U".into(),
        DataType::Binary => "z".into(),
        DataType::LargeBinary => "Z".into(),
        DataType::FixedSizeBinary(width) => format!("w:{width}").into(),
        DataType::Decimal128(precision, scale) => format!("d:{precision},{scale}").into(),
        DataType::Date32 => "tdD".into(),
        DataType::Date64 => "tdm".into(),
        DataType::Timestamp(of, zone) => {
            format!("ts{}:{}", unit(of), zone.as_deref().unwrap_or_default()).into()
        }
        other => return Err(UnsupportedType(other.to_string())),
    })
}

/// The values' type, where a column crosses as a dictionary: the interface has int32 keys only.
pub(super) fn dictionary_values(data_type: &DataType, dictionaries: bool) -> Option<&DataType> {
    match data_type {
        DataType::Dictionary(keys, values) if dictionaries && **keys == DataType::Int32 => {
            Some(values)
        }
        _ => None,
    }
}
