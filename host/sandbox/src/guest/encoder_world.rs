//! The two released versions of the encoder world behind one set of calls, in the words of the
//! newer. Owns what differs between them, and nothing of what the calls mean.

use wasmtime::Store;
use wasmtime::component::ResourceAny;

use super::HostState;
use super::bindings::exports::yearbook::plugin::encoder as wire;
use super::bindings::yearbook::plugin::types;
use super::bindings::{EncoderPlugin, EncoderPluginPre, v1_0};
use v1_0::exports::yearbook::plugin::encoder as old;

/// A component linked as an encoder of the version that it exports.
pub(crate) enum EncoderPre {
    /// `yearbook:plugin/encoder@1.0.0`.
    V1_0(v1_0::EncoderPluginPre<HostState>),
    /// `yearbook:plugin/encoder@1.1.0`.
    V1_1(EncoderPluginPre<HostState>),
}

/// An instance of either version.
pub(crate) enum EncoderGuest {
    V1_0(v1_0::EncoderPlugin),
    V1_1(EncoderPlugin),
}

/// Result of a call that a guest may decline.
type Answer<T> = wasmtime::Result<Result<T, types::Error>>;

impl EncoderPre {
    /// A fresh instance in `store`.
    pub(crate) fn instantiate(
        &self,
        store: &mut Store<HostState>,
    ) -> wasmtime::Result<EncoderGuest> {
        Ok(match self {
            Self::V1_0(pre) => EncoderGuest::V1_0(pre.instantiate(store)?),
            Self::V1_1(pre) => EncoderGuest::V1_1(pre.instantiate(store)?),
        })
    }
}

impl EncoderGuest {
    pub(crate) fn call_describe(
        &self,
        store: &mut Store<HostState>,
    ) -> wasmtime::Result<wire::Description> {
        match self {
            Self::V1_0(guest) => {
                guest.yearbook_plugin_encoder().call_describe(store).map(description)
            }
            Self::V1_1(guest) => guest.yearbook_plugin_encoder().call_describe(store),
        }
    }

    pub(crate) fn call_open(
        &self,
        store: &mut Store<HostState>,
        schema: types::Schema<'_>,
        options: &[types::OptionValue<'_>],
    ) -> Answer<ResourceAny> {
        match self {
            Self::V1_0(guest) => {
                let fields: Vec<old::Field<'_>> = schema.fields.iter().map(field).collect();
                let schema = old::Schema { fields: &fields, metadata: schema.metadata };
                guest.yearbook_plugin_encoder().encoding().call_open(store, schema, options)
            }
            Self::V1_1(guest) => {
                guest.yearbook_plugin_encoder().encoding().call_open(store, schema, options)
            }
        }
    }

    /// Views of the columns; none from 1.0.0, which takes everything.
    pub(crate) fn call_views(
        &self,
        store: &mut Store<HostState>,
        encoding: ResourceAny,
    ) -> wasmtime::Result<Vec<wire::View>> {
        match self {
            Self::V1_0(_) => Ok(Vec::new()),
            Self::V1_1(guest) => {
                guest.yearbook_plugin_encoder().encoding().call_views(store, encoding)
            }
        }
    }

    pub(crate) fn call_head(
        &self,
        store: &mut Store<HostState>,
        encoding: ResourceAny,
    ) -> Answer<Vec<u8>> {
        match self {
            Self::V1_0(guest) => {
                guest.yearbook_plugin_encoder().encoding().call_head(store, encoding)
            }
            Self::V1_1(guest) => {
                guest.yearbook_plugin_encoder().encoding().call_head(store, encoding)
            }
        }
    }

    pub(crate) fn call_part(
        &self,
        store: &mut Store<HostState>,
        encoding: ResourceAny,
        rows: wire::Batch<'_>,
    ) -> Answer<wire::Piece> {
        match self {
            Self::V1_0(guest) => {
                let arrays: Vec<old::Array> = rows.arrays.iter().map(array).collect();
                let buffers: Vec<&[u8]> = rows.buffers.iter().map(bytes).collect();
                let rows = old::Batch { rows: rows.rows, arrays: &arrays, buffers: &buffers };
                let made =
                    guest.yearbook_plugin_encoder().encoding().call_part(store, encoding, rows)?;
                Ok(made.map(|old::Piece { bytes, note }| wire::Piece {
                    bytes,
                    splices: Vec::new(),
                    note,
                }))
            }
            Self::V1_1(guest) => {
                guest.yearbook_plugin_encoder().encoding().call_part(store, encoding, rows)
            }
        }
    }

    pub(crate) fn call_tail(
        &self,
        store: &mut Store<HostState>,
        encoding: ResourceAny,
        notes: &[wire::Noted<'_>],
    ) -> Answer<Vec<u8>> {
        match self {
            Self::V1_0(guest) => {
                let notes: Vec<old::Noted<'_>> = notes
                    .iter()
                    .map(|noted| old::Noted { offset: noted.offset, note: noted.note })
                    .collect();
                guest.yearbook_plugin_encoder().encoding().call_tail(store, encoding, &notes)
            }
            Self::V1_1(guest) => {
                guest.yearbook_plugin_encoder().encoding().call_tail(store, encoding, notes)
            }
        }
    }
}

fn description(raw: old::Description) -> wire::Description {
    let old::Description {
        format,
        version,
        media_type,
        extension,
        separator,
        part_rows,
        dictionaries,
        compressible,
        parameters,
        docs,
    } = raw;
    wire::Description {
        format,
        version,
        media_type,
        extension,
        separator,
        part_rows,
        dictionaries,
        compressible,
        parameters,
        docs,
    }
}

fn field<'a>(field: &types::Field<'a>) -> old::Field<'a> {
    let types::Field { name, format, nullable, dictionary, children, metadata } = *field;
    old::Field { name, format, nullable, dictionary, children, metadata }
}

fn array(array: &types::Array) -> old::Array {
    let types::Array { length, null_count, buffers, repeated } = *array;
    old::Array { length, null_count, buffers, repeated }
}

/// A buffer that crosses. Without views none is held.
fn bytes<'a>(buffer: &wire::Buffer<'a>) -> &'a [u8] {
    match *buffer {
        wire::Buffer::Bytes(bytes) => bytes,
        wire::Buffer::Held(_) => &[],
    }
}
