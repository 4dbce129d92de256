//! Stored form of values: compressed JSON, since neighbours are alike and files are to grow little.

use std::io::{Error, ErrorKind, Read as _, Result};

use yearbook_domain::values::StoredValues;
use zstd::Decoder;

/// Level at which most is gained: higher ones save a tenth and take many times as long.
const LEVEL: i32 = 3;

/// Bytes of values that are read at most: what lies there may inflate to any size.
const MAX_BYTES: u64 = 128 << 20;

/// Returns the stored form of `values`.
///
/// # Errors
/// Those of the compressor.
pub fn compress_values(values: &StoredValues) -> Result<Vec<u8>> {
    zstd::bulk::compress(&values.to_json(), LEVEL)
}

/// Returns the JSON of a stored form.
///
/// # Errors
/// [`ErrorKind::InvalidData`] where it is none, or larger than values are.
pub(super) fn inflate(stored: &[u8]) -> Result<Vec<u8>> {
    let mut json = Vec::new();
    Decoder::with_buffer(stored)?.take(MAX_BYTES).read_to_end(&mut json)?;
    if json.len() as u64 == MAX_BYTES {
        return Err(Error::new(ErrorKind::InvalidData, "its values are too large"));
    }
    Ok(json)
}
