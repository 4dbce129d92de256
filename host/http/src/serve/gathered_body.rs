//! A body on its way into the transport, its small chunks gathered: each one that the transport
//! sees has a frame of its own around it, which clients take apart again. Copies nothing.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, HttpBody};
use bytes::{Buf, Bytes};
use bytes_utils::SegmentedBuf;
use http_body::{Frame, SizeHint};

/// Bytes from which on nothing more is gathered: a slow client is handed as much at a time.
const GATHERED_BYTES: usize = 64 << 10;

/// Chunks that are gathered at most: what one system call writes (`IOV_MAX` allows 1,024; hyper
/// gives it 64).
const GATHERED_CHUNKS: usize = 64;

/// A frame, or a failure in its place.
type Step = Result<Frame<SegmentedBuf<Bytes>>, axum::Error>;

/// A body whose chunks are gathered as far as they are there. It never waits for a second one.
pub(super) struct GatheredBody {
    body: Body,
    /// Step behind gathered chunks that is no chunk.
    held: Option<Step>,
    ended: bool,
}

impl GatheredBody {
    /// `body`, gathered.
    pub(super) fn new(body: Body) -> Self {
        Self { body, held: None, ended: false }
    }
}

impl HttpBody for GatheredBody {
    type Data = SegmentedBuf<Bytes>;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Step>> {
        let this = &mut *self;
        if let Some(held) = this.held.take() {
            return Poll::Ready(Some(held));
        }
        let (mut gathered, mut chunks) = (SegmentedBuf::new(), 0);
        while !this.ended && gathered.remaining() < GATHERED_BYTES && chunks < GATHERED_CHUNKS {
            let next = match Pin::new(&mut this.body).poll_frame(context) {
                Poll::Pending if chunks == 0 => return Poll::Pending,
                Poll::Pending => break,
                Poll::Ready(None) => {
                    this.ended = true;
                    break;
                }
                Poll::Ready(Some(next)) => next,
            };
            match next.map(Frame::into_data) {
                Ok(Ok(chunk)) => {
                    gathered.push(chunk);
                    chunks += 1;
                    // Asked for more, it would wake the connection once more when all has gone.
                    if this.body.size_hint().upper() == Some(0) {
                        break;
                    }
                }
                // Trailers have no bytes.
                Ok(Err(other)) => this.held = Some(Ok(other.map_data(|_| SegmentedBuf::new()))),
                Err(failure) => this.held = Some(Err(failure)),
            }
            if this.held.is_some() {
                break;
            }
        }
        if chunks > 0 {
            return Poll::Ready(Some(Ok(Frame::data(gathered))));
        }
        Poll::Ready(this.held.take())
    }

    fn is_end_stream(&self) -> bool {
        self.held.is_none() && (self.ended || self.body.is_end_stream())
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::io::IoSlice;

    use futures::StreamExt;
    use futures::stream;
    use http_body_util::BodyExt;

    use super::*;

    fn body(chunks: Vec<Result<&'static [u8], &'static str>>, ends: bool) -> GatheredBody {
        let chunks = stream::iter(chunks.into_iter().map(|chunk| chunk.map(Bytes::from_static)));
        let rest = stream::pending().take(usize::from(!ends));
        GatheredBody::new(Body::from_stream(chunks.chain(rest)))
    }

    /// Sizes of the segments of the next frame; none at the end.
    async fn next(body: &mut GatheredBody) -> Option<Result<Vec<usize>, axum::Error>> {
        let frame = body.frame().await?;
        Some(frame.map(|frame| {
            let buffer = frame.into_data().unwrap();
            let mut slices = [IoSlice::new(&[]); 128];
            let filled = buffer.chunks_vectored(&mut slices);
            slices[..filled].iter().map(|slice| slice.len()).collect()
        }))
    }

    #[tokio::test]
    async fn chunks_that_are_there_leave_together_and_none_is_waited_for() {
        let mut waiting = body(vec![Ok(b"one"), Ok(b"three")], false);
        assert_eq!(next(&mut waiting).await.unwrap().unwrap(), [3, 5]);
        assert!(!waiting.is_end_stream());
        let mut ended = body(vec![Ok(b"one"), Ok(b"three")], true);
        assert_eq!(next(&mut ended).await.unwrap().unwrap(), [3, 5]);
        assert!(next(&mut ended).await.is_none());
        assert!(next(&mut ended).await.is_none(), "asked again");
    }

    #[tokio::test]
    async fn a_frame_has_64_kib_and_one_chunk_more_at_most() {
        static CHUNK: [u8; 30_000] = [0; 30_000];
        let mut large = body(vec![Ok(&CHUNK[..]); 4], true);
        assert_eq!(next(&mut large).await.unwrap().unwrap(), [30_000; 3]);
        assert_eq!(next(&mut large).await.unwrap().unwrap(), [30_000]);
        let mut many = body(vec![Ok(&b"x"[..]); 70], true);
        assert_eq!(next(&mut many).await.unwrap().unwrap().len(), GATHERED_CHUNKS);
        assert_eq!(next(&mut many).await.unwrap().unwrap().len(), 6);
    }

    #[tokio::test]
    async fn a_cut_comes_behind_the_bytes_before_it_contract_3() {
        let mut cut = body(vec![Ok(b"one"), Err("expected by this test")], true);
        assert_eq!(next(&mut cut).await.unwrap().unwrap(), [3]);
        assert!(!cut.is_end_stream());
        assert!(next(&mut cut).await.unwrap().is_err());
    }
}
