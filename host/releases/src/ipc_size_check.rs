//! Sizes that an Arrow IPC stream of unknown origin claims, checked before a reader believes them:
//! readers allocate what a compressed buffer claims, and panic where a buffer lies outside its
//! message. Decodes nothing.

use arrow::ipc::{MessageHeader, RecordBatch, root_as_message};

/// Stands before a message's length.
const CONTINUATION: [u8; 4] = [0xff; 4];

/// Uncompressed bytes that the compressed buffers of a stream claim, all together. None where the
/// stream is malformed: a message is no message, or a part of it lies outside.
#[must_use]
pub(crate) fn claimed_uncompressed_bytes(mut stream: &[u8]) -> Option<u64> {
    let mut claimed = 0_u64;
    loop {
        stream = stream.strip_prefix(&CONTINUATION).unwrap_or(stream);
        let Some((length, rest)) = stream.split_first_chunk() else {
            return stream.is_empty().then_some(claimed);
        };
        let length = usize::try_from(i32::from_le_bytes(*length)).ok()?;
        if length == 0 {
            return Some(claimed);
        }
        let (message, rest) = rest.split_at_checked(length)?;
        let message = root_as_message(message).ok()?;
        let (body, rest) = rest.split_at_checked(usize::try_from(message.bodyLength()).ok()?)?;
        let batch = match message.header_type() {
            MessageHeader::RecordBatch => message.header_as_record_batch(),
            MessageHeader::DictionaryBatch => {
                message.header_as_dictionary_batch().and_then(|dictionary| dictionary.data())
            }
            _ => None,
        };
        if let Some(batch) = batch {
            claimed = claimed.checked_add(claimed_batch_bytes(&batch, body)?)?;
        }
        stream = rest;
    }
}

fn claimed_batch_bytes(batch: &RecordBatch<'_>, body: &[u8]) -> Option<u64> {
    let mut claimed = 0_u64;
    for buffer in batch.buffers().into_iter().flatten() {
        let (start, length) =
            (usize::try_from(buffer.offset()).ok()?, usize::try_from(buffer.length()).ok()?);
        let bytes = body.get(start..start.checked_add(length)?)?;
        if batch.compression().is_none() || bytes.is_empty() {
            continue;
        }
        // Eight bytes before the compressed ones: how many there will be, or -1 where they are
        // stored as they are.
        let claim = i64::from_le_bytes(*bytes.first_chunk()?);
        let claim = if claim == -1 { length as u64 } else { u64::try_from(claim).ok()? };
        claimed = claimed.checked_add(claim)?;
    }
    Some(claimed)
}
