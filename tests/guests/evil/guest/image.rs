//! A guest's memory as it begins: what it says of itself, byte by byte, so that it may say what no
//! SDK lets it.

use std::fmt::Write;

/// Offset of strings and lists.
const STRINGS: usize = 4096;

/// An encoder's description, in bytes that need not be text.
pub(crate) struct Image {
    pub(crate) format: Vec<u8>,
    pub(crate) version: Vec<u8>,
    pub(crate) media_type: Vec<u8>,
    pub(crate) extension: Vec<u8>,
    pub(crate) separator: Option<Vec<u8>>,
    pub(crate) part_rows: Option<u32>,
    pub(crate) parameters: Vec<ImageParameter>,
    pub(crate) docs: Vec<u8>,
    /// Bytes for the guest to use, at [`Image::EXTRA`].
    pub(crate) extra: Vec<u8>,
    /// Bits of the record that are turned over.
    pub(crate) damage: Vec<u8>,
}

/// A declared parameter.
#[derive(Clone)]
pub(crate) struct ImageParameter {
    pub(crate) name: &'static str,
    /// Discriminant of the kind: text, integer, number, boolean.
    pub(crate) kind: u8,
    pub(crate) default: &'static str,
    pub(crate) allowed: &'static [&'static str],
}

impl Image {
    /// Offset of `extra`.
    pub(crate) const EXTRA: usize = STRINGS;

    /// A good description of a format whose parts are independent.
    pub(crate) fn from_format(format: &str) -> Self {
        Self {
            format: format.into(),
            version: b"1.0.0".into(),
            media_type: b"application/x-evil".into(),
            extension: b"evil".into(),
            separator: Some(Vec::new()),
            part_rows: None,
            parameters: Vec::new(),
            docs: b"Attacks the host.".into(),
            extra: Vec::new(),
            damage: Vec::new(),
        }
    }

    /// Data segments, and the first address behind them.
    pub(crate) fn data(&self) -> (String, usize) {
        let mut heap = GuestHeap { bytes: self.extra.clone() };
        let mut record = Vec::new();
        for text in [&self.format, &self.version, &self.media_type, &self.extension] {
            heap.string(&mut record, text);
        }
        record.extend(u32::from(self.separator.is_some()).to_le_bytes());
        heap.string(&mut record, self.separator.as_deref().unwrap_or_default());
        record.extend(u32::from(self.part_rows.is_some()).to_le_bytes());
        record.extend(self.part_rows.unwrap_or_default().to_le_bytes());
        // Takes dictionaries, is not compressible, and two bytes of nothing.
        record.extend([1, 0, 0, 0]);
        let mut list = Vec::new();
        for ImageParameter { name, kind, default, allowed } in &self.parameters {
            let mut values = Vec::new();
            allowed.iter().for_each(|value| heap.string(&mut values, value.as_bytes()));
            heap.string(&mut list, name.as_bytes());
            list.extend(u32::from(*kind).to_le_bytes());
            heap.string(&mut list, default.as_bytes());
            heap.list(&mut list, &values, allowed.len());
            heap.string(&mut list, b"A parameter.");
        }
        heap.list(&mut record, &list, self.parameters.len());
        heap.string(&mut record, &self.docs);
        record.iter_mut().zip(&self.damage).for_each(|(byte, damage)| *byte ^= damage);
        let text = format!("{}\n  {}", segment(1024, &record), segment(STRINGS, &heap.bytes));
        (text, STRINGS + heap.bytes.len())
    }
}

/// Strings and lists, one after the other.
pub(super) struct GuestHeap {
    pub(super) bytes: Vec<u8>,
}

impl GuestHeap {
    /// Appends address and length of `text` to `record`.
    pub(super) fn string(&mut self, record: &mut Vec<u8>, text: &[u8]) {
        self.list(record, text, text.len());
    }

    /// Appends address and number of elements.
    pub(super) fn list(&mut self, record: &mut Vec<u8>, elements: &[u8], count: usize) {
        self.bytes.resize(self.bytes.len().next_multiple_of(8), 0);
        for number in [STRINGS + self.bytes.len(), count] {
            record.extend(u32::try_from(number).unwrap().to_le_bytes());
        }
        self.bytes.extend_from_slice(elements);
    }
}

/// A data segment.
pub(crate) fn segment(at: usize, bytes: &[u8]) -> String {
    let mut text = format!("(data (i32.const {at}) \"");
    for byte in bytes {
        let _ = write!(text, "\\{byte:02x}");
    }
    text.push_str("\")");
    text
}
