//! Progress of a response: the host's counts and notes between an encoder's calls. Owns the
//! places of notes and the size of buffers; never keeps what was made.

use std::marker::PhantomData;
use std::rc::Rc;

use super::held;
use crate::capacity::BufferEstimate;
use crate::{Batch, Encoder, Error, Note, Output};

/// A response under way, whatever makes its parts.
pub(super) struct EncodingDriver<E> {
    /// Bytes so far, separators included.
    offset: u64,
    parts: usize,
    guess: BufferEstimate,
    /// Notes of the parts for the tail.
    pub(super) notes: Vec<Note>,
    encoder: PhantomData<E>,
}

impl<E> Default for EncodingDriver<E> {
    fn default() -> Self {
        Self {
            offset: 0,
            parts: 0,
            guess: BufferEstimate::default(),
            notes: Vec::new(),
            encoder: PhantomData,
        }
    }
}

impl<E: Encoder> EncodingDriver<E> {
    pub(super) fn head(&mut self, encoder: &mut E) -> Result<Vec<u8>, Error> {
        let mut head = Vec::new();
        encoder.head(&mut head)?;
        self.offset += head.len() as u64;
        Ok(head)
    }

    pub(super) fn part(&mut self, encoder: &mut E, batch: Batch) -> Result<Vec<u8>, Error> {
        if self.parts > 0 {
            self.offset += E::describe().separator.unwrap_or_default().len() as u64;
        }
        self.parts += 1;
        let rows = batch.rows();
        let kept = Rc::clone(&batch.kept);
        let mut out = Output::from(self.guess.buffer(rows));
        encoder.part(batch, &mut out)?;
        self.guess.update(rows, out.len());
        let (part, splices) = out.into_parts();
        let part = if splices.is_empty() { part } else { held::join(&part, &splices, &kept) };
        let bytes = encoder.note();
        if !bytes.is_empty() {
            self.notes.push(Note { offset: self.offset, bytes });
        }
        self.offset += part.len() as u64;
        Ok(part)
    }

    pub(super) fn tail(&mut self, encoder: &mut E) -> Result<Vec<u8>, Error> {
        let mut tail = Vec::new();
        encoder.tail(&self.notes, &mut tail)?;
        Ok(tail)
    }
}
