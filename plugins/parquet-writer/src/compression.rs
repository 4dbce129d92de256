//! Compression of pages.

use yearbook_sdk::{Error, Kind, Options, Parameter};

/// Codec that a client may choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the format's own names")]
pub enum Codec {
    None,
    Snappy,
    Lz4Raw,
}

/// Bytes of each of three samples of a column.
const SAMPLE: usize = 8 * 1024;

impl Codec {
    /// The parameter by which a client chooses it.
    #[must_use]
    pub fn parameter() -> Parameter {
        Parameter {
            name: "compression",
            kind: Kind::Text,
            default: "snappy",
            allowed: &["none", "snappy", "lz4_raw"],
            docs: "How columns are compressed, other than those that it would not make a tenth smaller.",
        }
    }

    /// The choice among a client's options.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] where it is none of those allowed.
    pub fn from_options(options: &Options) -> Result<Self, Error> {
        match options.text("compression")? {
            "none" => Ok(Self::None),
            "snappy" => Ok(Self::Snappy),
            "lz4_raw" => Ok(Self::Lz4Raw),
            other => Err(Error::InvalidOption(format!(
                "compression cannot be `{other}`; take none, snappy or lz4_raw"
            ))),
        }
    }

    /// Its number in the format.
    pub(crate) fn id(self) -> i32 {
        match self {
            Self::None => 0,
            Self::Snappy => 1,
            Self::Lz4Raw => 7,
        }
    }
}

/// A codec with its tables and a buffer, made once a response.
pub(crate) struct PageCompressor {
    codec: Codec,
    snappy: snap::raw::Encoder,
    lz4: Option<Box<lz4_flex::block::CompressTable>>,
    buffer: Vec<u8>,
}

impl PageCompressor {
    pub(crate) fn new(codec: Codec) -> Self {
        let lz4 =
            (codec == Codec::Lz4Raw).then(|| Box::new(lz4_flex::block::CompressTable::large()));
        Self { codec, snappy: snap::raw::Encoder::new(), lz4, buffer: Vec::new() }
    }

    /// True unless the client chose no compression.
    pub(crate) fn compresses(&self) -> bool {
        self.codec != Codec::None
    }

    /// The bytes compressed.
    ///
    /// # Errors
    /// [`Error::Internal`], which bounded pages never cause.
    pub(crate) fn squeeze<'a>(&'a mut self, bytes: &'a [u8]) -> Result<&'a [u8], Error> {
        let (room, internal) = match self.codec {
            Codec::None => return Ok(bytes),
            Codec::Snappy => (snap::raw::max_compress_len(bytes.len()), "snappy"),
            Codec::Lz4Raw => (lz4_flex::block::get_maximum_output_size(bytes.len()), "lz4"),
        };
        if self.buffer.len() < room {
            self.buffer.resize(room, 0);
        }
        let length = match &mut self.lz4 {
            None => {
                self.snappy.compress(bytes, &mut self.buffer).map_err(|error| error.to_string())
            }
            Some(table) => {
                lz4_flex::block::compress_into_with_table(bytes, &mut self.buffer, table)
                    .map_err(|error| error.to_string())
            }
        };
        let length = length.map_err(|error| {
            Error::Internal(format!("{internal} cannot compress a page: {error}"))
        })?;
        Ok(&self.buffer[..length])
    }

    /// True where compressing a column of such values saves a tenth, by samples from its start,
    /// middle and end. Measurements seldom do, and then reading and writing them plain is cheaper
    /// for both sides.
    ///
    /// # Errors
    /// As [`PageCompressor::squeeze`].
    pub(crate) fn is_worthwhile(&mut self, values: &[u8]) -> Result<bool, Error> {
        if !self.compresses() {
            return Ok(false);
        }
        if values.len() <= 3 * SAMPLE {
            return Ok(true);
        }
        let last = values.len() - SAMPLE;
        let mut squeezed = 0;
        for start in [0, last / 2, last] {
            squeezed += self.squeeze(&values[start..start + SAMPLE])?.len();
        }
        Ok(squeezed * 10 < 3 * SAMPLE * 9)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_column_is_compressed_only_where_that_pays() {
        let mut state = 1_u64;
        let mut noise = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state.to_be_bytes()[0]
        };
        let noise: Vec<u8> = (0..100_000).map(|_| noise()).collect();
        let text = b"the same again and again, ".repeat(4_000);
        for codec in [Codec::Snappy, Codec::Lz4Raw] {
            let mut press = PageCompressor::new(codec);
            assert!(!press.is_worthwhile(&noise).unwrap());
            assert!(press.is_worthwhile(&text).unwrap());
            assert!(press.is_worthwhile(&noise[..100]).unwrap(), "too little to tell");
            assert!(press.squeeze(&text).unwrap().len() < text.len() / 4);
        }
        let mut press = PageCompressor::new(Codec::None);
        assert!(!press.is_worthwhile(&text).unwrap());
        assert_eq!(press.squeeze(&text).unwrap(), text);
    }
}
