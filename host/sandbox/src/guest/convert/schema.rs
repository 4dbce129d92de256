//! Schemas spelled as the interface spells them: flat fields in pre-order with the C data
//! interface's format strings. Knows nothing of batches.

use arrow::datatypes::{DataType, Metadata, Schema, TimeUnit};

use super::UnsupportedType;
use crate::guest::bindings::yearbook::plugin::types as wire;

/// The flattened schema, kept in owned form so that `wire::Schema` can borrow from it.
pub(crate) struct WireSchema {
    pub(super) fields: Vec<FlatField>,
    pub(super) metadata: MetadataPairs,
}

pub(super) type MetadataPairs = Vec<(String, String)>;

/// One field in pre-order; none has children.
#[derive(Debug, Default, PartialEq)]
pub(super) struct FlatField {
    pub(super) name: String,
    pub(super) format: String,
    pub(super) nullable: bool,
    pub(super) dictionary: bool,
    pub(super) metadata: MetadataPairs,
}

impl WireSchema {
    /// Flattens `schema` as [`super::WireConverter`] will send its batches.
    pub(crate) fn new(schema: &Schema, dictionaries: bool) -> Result<Self, UnsupportedType> {
        let mut fields = Vec::with_capacity(schema.fields().len());
        for field in schema.fields() {
            let mut flat = FlatField {
                name: field.name().clone(),
                format: String::new(),
                nullable: field.is_nullable(),
                dictionary: false,
                metadata: sorted_pairs(field.metadata()),
            };
            match field.data_type() {
                data_type if let Some(values) = dictionary_values(data_type, dictionaries) => {
                    let values =
                        FlatField { format: format_string(values)?, ..FlatField::default() };
                    fields.extend([
                        FlatField { format: "i".to_owned(), dictionary: true, ..flat },
                        values,
                    ]);
                    continue;
                }
                DataType::Dictionary(_, values) => flat.format = format_string(values)?,
                data_type => flat.format = format_string(data_type)?,
            }
            fields.push(flat);
        }
        Ok(Self { fields, metadata: sorted_pairs(schema.metadata()) })
    }

    /// Calls `with` with the borrowed form.
    pub(crate) fn borrow<T>(&self, with: impl FnOnce(wire::Schema<'_>) -> T) -> T {
        let all = self.fields.iter().flat_map(|field| &field.metadata).chain(&self.metadata);
        let all: Vec<wire::Pair<'_>> = all.map(|(key, value)| wire::Pair { key, value }).collect();
        let mut metadata = all.as_slice();
        let fields = self.fields.iter().map(
            |FlatField { name, format, nullable, dictionary, metadata: own }| {
                let (own, rest) = metadata.split_at(own.len());
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

/// Sorted by key: the order of a map could differ from host to host, and with it the bytes.
fn sorted_pairs(metadata: &Metadata) -> MetadataPairs {
    let mut pairs: MetadataPairs =
        metadata.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
    pairs.sort();
    pairs
}

/// The C data interface's format string of a flat type.
pub(crate) fn format_string(data_type: &DataType) -> Result<String, UnsupportedType> {
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
        DataType::FixedSizeBinary(width) => format!("w:{width}"),
        DataType::Decimal128(precision, scale) => format!("d:{precision},{scale}"),
        DataType::Date32 => "tdD".into(),
        DataType::Date64 => "tdm".into(),
        DataType::Timestamp(of, zone) => {
            format!("ts{}:{}", unit(of), zone.as_deref().unwrap_or_default())
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
