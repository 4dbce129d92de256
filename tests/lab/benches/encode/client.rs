//! The client of an encoder: takes chunks that it owns, as a server's socket does. Owns how a
//! writer that only knows `Write` makes such chunks.

use std::io::{Result, Write};

use bytes::Bytes;

/// Bytes of a chunk that a [`ChunkedWriter`] makes.
const CHUNK: usize = 1 << 20;

/// A sink of chunks.
pub(crate) trait ChunkSink: Send {
    fn take(&mut self, chunk: Bytes);
}

/// A sink that keeps everything.
impl ChunkSink for Vec<u8> {
    fn take(&mut self, chunk: Bytes) {
        self.extend_from_slice(&chunk);
    }
}

/// A sink that drops a chunk when the next one comes: the socket holds one while another is made.
#[derive(Default)]
pub(crate) struct SocketSink {
    sending: Bytes,
    pub(crate) bytes: usize,
}

impl ChunkSink for SocketSink {
    fn take(&mut self, chunk: Bytes) {
        self.bytes += chunk.len();
        self.sending = std::hint::black_box(chunk);
    }
}

/// A writer that hands over what it is given, in chunks.
pub(crate) struct ChunkedWriter<'a, C> {
    client: &'a mut C,
    chunk: Vec<u8>,
}

impl<'a, C: ChunkSink> ChunkedWriter<'a, C> {
    pub(crate) fn new(client: &'a mut C) -> Self {
        Self { client, chunk: Vec::new() }
    }

    /// Hands over what is left.
    pub(crate) fn finish(mut self) {
        self.send_chunk();
    }

    fn send_chunk(&mut self) {
        self.client.take(std::mem::take(&mut self.chunk).into());
    }
}

impl<C: ChunkSink> Write for ChunkedWriter<'_, C> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        if self.chunk.capacity() == 0 {
            self.chunk.reserve_exact(CHUNK);
        }
        let taken = bytes.len().min(CHUNK - self.chunk.len());
        self.chunk.extend_from_slice(&bytes[..taken]);
        if self.chunk.len() == CHUNK {
            self.send_chunk();
        }
        Ok(taken)
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}
