//! Sizes that compressed buffers of Arrow IPC claim to expand to, looked at before a reader
//! allocates them: a process that asks for terabytes is ended. Blocks that are not in their file
//! are refused here, since the reader panics at them; everything else that is wrong with a file it
//! says itself.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use arrow::ipc::{Block, Message, root_as_footer, root_as_message};

/// Bytes of the size before a compressed buffer (Arrow columnar format, "Compression").
const SIZE_BYTES: usize = size_of::<i64>();

/// Bytes behind the footer of a file: its length, and `ARROW1`.
const FOOTER_END_BYTES: i64 = 10;

/// Bytes of the metadata of a block at least: the mark and the length before the message.
const MIN_METADATA_BYTES: u64 = 8;

/// Mark before the length of a message.
const CONTINUATION: i32 = -1;

/// Largest size that one batch of a stream claims, in bytes.
pub(super) fn of_stream(file: &mut File) -> io::Result<u64> {
    let mut largest = 0;
    file.rewind()?;
    while let Some(length) = read_message_length(file)? {
        let metadata = read_bytes(file, length)?;
        let body = file.stream_position()?;
        let Ok(message) = root_as_message(&metadata) else { break };
        largest = largest.max(of_message(file, &message, body)?);
        // A length below 0 would lead back, for ever; the reader refuses it.
        let length = u64::try_from(message.bodyLength()).ok();
        let Some(next) = length.and_then(|length| body.checked_add(length)) else { break };
        file.seek(SeekFrom::Start(next))?;
    }
    Ok(largest)
}

/// The same of a file with a footer.
pub(super) fn of_file(file: &mut File) -> io::Result<u64> {
    let end = file.seek(SeekFrom::End(-FOOTER_END_BYTES))?;
    let length = i64::from(read_i32(file)?);
    let Some(start) = end.checked_add_signed(-length) else { return Ok(0) };
    file.seek(SeekFrom::Start(start))?;
    let footer = read_bytes(file, length)?;
    let Ok(footer) = root_as_footer(&footer) else { return Ok(0) };
    let blocks = footer.dictionaries().into_iter().chain(footer.recordBatches());
    blocks.flatten().try_fold(0, |largest, block| Ok(of_block(file, block, end)?.max(largest)))
}

/// The same of a block that ends before `end`.
fn of_block(file: &mut File, block: &Block, end: u64) -> io::Result<u64> {
    let Some((start, body)) = block_places(block, end) else {
        let why = "its footer names a block that is not in the file";
        return Err(io::Error::new(io::ErrorKind::InvalidData, why));
    };
    file.seek(SeekFrom::Start(start))?;
    let Some(length) = read_message_length(file)? else { return Ok(0) };
    let metadata = read_bytes(file, length)?;
    match root_as_message(&metadata) {
        Ok(message) => of_message(file, &message, body),
        Err(_) => Ok(0),
    }
}

/// Places of a block and of its body; `None` where they are not before `most`.
fn block_places(block: &Block, most: u64) -> Option<(u64, u64)> {
    let start = u64::try_from(block.offset()).ok()?;
    let metadata = u64::try_from(block.metaDataLength()).ok()?;
    let body = start.checked_add(metadata)?;
    let end = body.checked_add(u64::try_from(block.bodyLength()).ok()?)?;
    (metadata >= MIN_METADATA_BYTES && end <= most).then_some((start, body))
}

/// Sum of the sizes that the buffers of a message claim, whose body begins at `body`.
fn of_message(file: &mut File, message: &Message<'_>, body: u64) -> io::Result<u64> {
    let dictionary = || message.header_as_dictionary_batch()?.data();
    let batch = message.header_as_record_batch().or_else(dictionary);
    let batch = batch.filter(|batch| batch.compression().is_some());
    let buffers = batch.and_then(|batch| batch.buffers()).into_iter().flatten();
    let mut claimed = 0_u64;
    // An empty buffer has no size before it.
    for buffer in buffers.filter(|buffer| buffer.length() > 0) {
        let Some(start) = body.checked_add_signed(buffer.offset()) else { continue };
        file.seek(SeekFrom::Start(start))?;
        let mut size = [0; SIZE_BYTES];
        file.read_exact(&mut size)?;
        // Less than 0: it is not compressed.
        let size = u64::try_from(i64::from_le_bytes(size)).unwrap_or(0);
        claimed = claimed.saturating_add(size);
    }
    Ok(claimed)
}

/// Length of the metadata that follows; `None` at the end of a stream.
fn read_message_length(file: &mut File) -> io::Result<Option<i64>> {
    let length = match read_i32(file) {
        Ok(CONTINUATION) => read_i32(file)?,
        Ok(length) => length,
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error),
    };
    Ok((length > 0).then_some(length.into()))
}

fn read_i32(file: &mut File) -> io::Result<i32> {
    let mut bytes = [0; size_of::<i32>()];
    file.read_exact(&mut bytes)?;
    Ok(i32::from_le_bytes(bytes))
}

/// Up to `length` bytes.
fn read_bytes(file: &mut File, length: i64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(u64::try_from(length).unwrap_or(0)).read_to_end(&mut bytes)?;
    Ok(bytes)
}
