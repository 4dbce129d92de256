//! Compression as a stage of a body's stream, on worker threads. Every chunk is flushed: what has
//! been encoded reaches the client before the next chunk is asked for, and what comes out is a
//! function of the chunks that go in.

use std::io::{self, Write};
use std::sync::Arc;
use std::thread;

use bytes::Bytes;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use yearbook_sandbox::{EncodedChunk, EncodedChunks};
use yearbook_shares::CallerShare;
use yearbook_workers::Workers;

use super::body::BodyError;
use crate::content_coding::ContentCoding;

/// gzip's level: at 3 a core keeps up with a fast link; 6 costs twice the time for a tenth less.
const GZIP_LEVEL: u32 = 3;

/// zstd's level: 1 is denser than gzip at 3 and several times faster.
const ZSTD_LEVEL: i32 = 1;

/// Bytes after which the core is offered to threads that wait for one, which the kernel would do at
/// a tick of its clock: a fraction of a millisecond.
const STEP_BYTES: usize = 64 << 10;

/// Compresses all of a body on the account of `caller`.
///
/// # Errors
/// [`BodyError`] when a worker panicked or the library failed, which for a buffer in memory is a
/// bug.
pub async fn compress(
    workers: &Workers,
    caller: &CallerShare,
    coding: ContentCoding,
    bytes: Bytes,
) -> Result<Bytes, BodyError> {
    let job = move || -> io::Result<Bytes> {
        let mut compressor = Compressor::new(coding)?;
        compressor.write(&bytes)?;
        compressor.finish()
    };
    workers.run_for(caller, job).await.map_err(BodyError::new)?.map_err(BodyError::new)
}

/// Compresses a stream on the account of `caller`, a job for each chunk. One that is an error ends
/// it without the coding's own ending, so that no client takes what arrived for all there is.
pub fn compress_stream(
    workers: Arc<Workers>,
    caller: CallerShare,
    coding: ContentCoding,
    chunks: EncodedChunks,
) -> BoxStream<'static, Result<Bytes, BodyError>> {
    let state = Some((None, chunks));
    let steps = stream::unfold(state, move |state| {
        let (workers, caller) = (Arc::clone(&workers), caller.clone());
        async move {
            let (compressor, mut chunks): (Option<Compressor>, _) = state?;
            let chunk = match chunks.next().await {
                Some(Ok(chunk)) => Some(chunk),
                Some(Err(cut)) => return Some((Err(BodyError::new(cut)), None)),
                None => None,
            };
            let last = chunk.is_none();
            let job = move || -> io::Result<(Option<Compressor>, Bytes)> {
                let mut compressor = compressor.map_or_else(|| Compressor::new(coding), Ok)?;
                match chunk {
                    Some(chunk) => {
                        let bytes = compressor.compress_chunk(chunk)?;
                        Ok((Some(compressor), bytes))
                    }
                    None => compressor.finish().map(|bytes| (None, bytes)),
                }
            };
            match workers
                .run_for(&caller, job)
                .await
                .map_err(BodyError::new)
                .and_then(|done| done.map_err(BodyError::new))
            {
                Ok((_, bytes)) if last => Some((Ok(bytes), None)),
                Ok((compressor, bytes)) => Some((Ok(bytes), Some((compressor, chunks)))),
                Err(cut) => Some((Err(cut), None)),
            }
        }
    });
    steps.filter(|step| std::future::ready(!matches!(step, Ok(bytes) if bytes.is_empty()))).boxed()
}

enum Compressor {
    Gzip(flate2::write::GzEncoder<Vec<u8>>),
    Zstd(zstd::stream::write::Encoder<'static, Vec<u8>>),
}

impl Compressor {
    fn new(coding: ContentCoding) -> io::Result<Self> {
        Ok(match coding {
            ContentCoding::Gzip => Self::Gzip(flate2::write::GzEncoder::new(
                Vec::new(),
                flate2::Compression::new(GZIP_LEVEL),
            )),
            ContentCoding::Zstd => {
                Self::Zstd(zstd::stream::write::Encoder::new(Vec::new(), ZSTD_LEVEL)?)
            }
        })
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        for step in bytes.chunks(STEP_BYTES) {
            match self {
                Self::Gzip(encoder) => encoder.write_all(step)?,
                Self::Zstd(encoder) => encoder.write_all(step)?,
            }
            if step.len() == STEP_BYTES {
                thread::yield_now();
            }
        }
        Ok(())
    }

    /// Everything that `chunk` becomes, nothing held back.
    fn compress_chunk(&mut self, chunk: EncodedChunk) -> io::Result<Bytes> {
        for segment in chunk {
            self.write(&segment)?;
        }
        let output = match self {
            Self::Gzip(encoder) => {
                encoder.flush()?;
                std::mem::take(encoder.get_mut())
            }
            Self::Zstd(encoder) => {
                encoder.flush()?;
                std::mem::take(encoder.get_mut())
            }
        };
        Ok(output.into())
    }

    fn finish(self) -> io::Result<Bytes> {
        match self {
            Self::Gzip(encoder) => encoder.finish().map(Bytes::from),
            Self::Zstd(encoder) => encoder.finish().map(Bytes::from),
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::io::Read;

    use yearbook_sandbox::TruncatedBody;

    use super::*;

    fn chunk(bytes: &[u8]) -> EncodedChunk {
        EncodedChunk::new(Bytes::copy_from_slice(bytes), Vec::new())
    }

    fn plain(coding: ContentCoding, bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        match coding {
            ContentCoding::Gzip => flate2::read::GzDecoder::new(bytes).read_to_end(&mut out)?,
            ContentCoding::Zstd => {
                zstd::stream::read::Decoder::new(bytes)?.read_to_end(&mut out)?
            }
        };
        Ok(out)
    }

    #[tokio::test]
    async fn what_is_compressed_reads_back_in_both_codings() {
        let workers = Workers::new(1);
        let text = Bytes::from("abc,1\n".repeat(10_000));
        for coding in [ContentCoding::Gzip, ContentCoding::Zstd] {
            let packed =
                compress(&workers, &CallerShare::default(), coding, text.clone()).await.unwrap();
            assert!(packed.len() < text.len() / 10);
            assert_eq!(plain(coding, &packed).unwrap(), text);
            let chunks: Vec<_> = text.chunks(7_000).map(|bytes| Ok(chunk(bytes))).collect();
            let packed: Vec<Bytes> = compress_stream(
                Arc::clone(&workers),
                CallerShare::default(),
                coding,
                stream::iter(chunks).boxed(),
            )
            .map(Result::unwrap)
            .collect()
            .await;
            assert_eq!(plain(coding, &packed.concat()).unwrap(), text);
        }
    }

    #[tokio::test]
    async fn the_first_chunk_is_readable_before_the_second_is_asked_for() {
        let workers = Workers::new(1);
        for coding in [ContentCoding::Gzip, ContentCoding::Zstd] {
            let chunks = stream::once(async { Ok(chunk(b"[")) }).chain(stream::pending()).boxed();
            let first =
                compress_stream(Arc::clone(&workers), CallerShare::default(), coding, chunks)
                    .next()
                    .await
                    .unwrap()
                    .unwrap();
            let mut byte = [0];
            match coding {
                ContentCoding::Gzip => {
                    flate2::read::GzDecoder::new(&first[..]).read_exact(&mut byte).unwrap()
                }
                ContentCoding::Zstd => zstd::stream::read::Decoder::new(&first[..])
                    .unwrap()
                    .read_exact(&mut byte)
                    .unwrap(),
            }
            assert_eq!(&byte, b"[");
        }
    }

    #[tokio::test]
    async fn a_cut_body_has_no_ending_contract_3() {
        let workers = Workers::new(1);
        for coding in [ContentCoding::Gzip, ContentCoding::Zstd] {
            let chunks =
                stream::iter([Ok(chunk(b"abc")), Err(TruncatedBody { by_plugin: false })]).boxed();
            let output: Vec<_> =
                compress_stream(Arc::clone(&workers), CallerShare::default(), coding, chunks)
                    .collect()
                    .await;
            assert!(output.len() == 2 && output[1].is_err());
            assert!(plain(coding, output[0].as_ref().unwrap()).is_err(), "{coding:?} has no end");
        }
    }
}
