//! A parser of JSON (RFC 8259) whose bytes come in pieces: it tells a handler of each value as it
//! ends, with its path, and holds no more than one text and the names of the objects around it.
//! Readers of formats that are JSON share it. Never builds a tree.

mod path;
mod scalar;
mod text;

pub use path::JsonPath;

use path::Frame;

/// Greatest depth of arrays and objects.
pub const MAX_DEPTH: usize = 64;

/// Longest text or number, bytes.
pub const MAX_TEXT_BYTES: usize = 16 << 20;

/// Something that stands in a file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum JsonEvent<'a> {
    /// `{`; its path is that of the object.
    BeginObject,
    /// `}`, with the same path.
    EndObject,
    /// `[`; its path is that of the array.
    BeginArray,
    /// `]`, with the same path.
    EndArray,
    /// A text.
    Text(&'a str),
    /// A number as it is written.
    Number(&'a str),
    /// `true` or `false`.
    Boolean(bool),
    /// `null`.
    Null,
}

/// Takes what a file holds.
pub trait JsonHandler {
    /// Takes a value, or the beginning or end of one.
    ///
    /// # Errors
    /// A sentence; the parser adds the place.
    fn event(&mut self, event: JsonEvent<'_>, path: JsonPath<'_>) -> Result<(), String>;
}

/// A fault of a file, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonFault {
    /// Line, from 1.
    pub line: u64,
    /// Byte, from 0.
    pub byte: u64,
    /// Path of the value, `$.features[3].geometry`.
    pub path: String,
    /// The fault, one sentence.
    pub sentence: String,
    /// Set where the handler refused a value of right JSON.
    pub by_handler: bool,
}

/// Things that may come next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Value,
    /// Behind `[`.
    ValueOrEnd,
    /// Behind `{`.
    NameOrEnd,
    /// Behind a comma in an object.
    Name,
    Colon,
    CommaOrEnd,
    Done,
    Text {
        name: bool,
    },
    Escape {
        name: bool,
    },
    /// Hexadecimal digits of an escape: how many there are and their value.
    Unicode {
        name: bool,
        digits: u8,
        value: u32,
    },
    Number,
    Word,
}

/// A file being parsed.
#[derive(Debug)]
pub struct JsonParser {
    state: State,
    stack: Vec<Frame>,
    /// The part of a text, number or word that came with earlier bytes.
    token: Vec<u8>,
    /// The first half of a pair of surrogates.
    surrogate: Option<u32>,
    /// Bytes and line breaks before the bytes at hand.
    bytes: u64,
    lines: u64,
}

impl Default for JsonParser {
    fn default() -> Self {
        Self {
            state: State::Value,
            stack: Vec::new(),
            token: Vec::new(),
            surrogate: None,
            bytes: 0,
            lines: 0,
        }
    }
}

impl JsonParser {
    /// At the beginning of a file.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Parses the next bytes.
    ///
    /// # Errors
    /// [`JsonFault`]; the parser is spent.
    pub fn push(&mut self, bytes: &[u8], handler: &mut impl JsonHandler) -> Result<(), JsonFault> {
        let mut at = 0;
        if self.bytes == 0 && self.state == State::Value {
            at = bytes.strip_prefix(b"\xEF\xBB\xBF").map_or(0, |_| 3);
        }
        while at < bytes.len() {
            match self.step(bytes, at, handler) {
                Ok(next) => at = next,
                Err(failure) => return Err(self.fault(&bytes[..at], failure)),
            }
        }
        self.bytes += bytes.len() as u64;
        self.lines += count_lines(bytes);
        Ok(())
    }

    /// Ends the file.
    ///
    /// # Errors
    /// [`JsonFault`], where it ends too early.
    pub fn finish(&mut self, handler: &mut impl JsonHandler) -> Result<(), JsonFault> {
        let ended = match self.state {
            State::Number | State::Word => self.end_scalar(&[], handler),
            _ => Ok(()),
        };
        ended.map_err(|failure| self.fault(&[], failure))?;
        if self.state == State::Done {
            return Ok(());
        }
        let sentence = if self.bytes == 0 {
            "the file is empty"
        } else {
            "the file ends before its JSON does; it may be cut off"
        };
        Err(self.fault(&[], Failure::Malformed(sentence.to_owned())))
    }

    /// Takes what begins at `at`; where the next thing begins.
    fn step(
        &mut self,
        bytes: &[u8],
        at: usize,
        handler: &mut impl JsonHandler,
    ) -> Result<usize, Failure> {
        let byte = bytes[at];
        match self.state {
            State::Text { name } => return self.scan_text(bytes, at, name, handler),
            State::Number => {
                let end = run(bytes, at, |b| b.is_ascii_digit() || b"+-.eE".contains(&b));
                return self.scan_scalar(bytes, at, end, handler);
            }
            State::Word => {
                let end = run(bytes, at, |b| b.is_ascii_alphabetic());
                return self.scan_scalar(bytes, at, end, handler);
            }
            State::Escape { name } => return self.escape(byte, name).map(|()| at + 1),
            State::Unicode { name, digits, value } => {
                return self.unicode(byte, name, digits, value).map(|()| at + 1);
            }
            _ => {}
        }
        match (self.state, byte) {
            (_, b' ' | b'\t' | b'\n' | b'\r') => {}
            (State::Value | State::ValueOrEnd, b'{') => {
                self.open(Frame::object(), JsonEvent::BeginObject, handler)?;
                self.state = State::NameOrEnd;
            }
            (State::Value | State::ValueOrEnd, b'[') => {
                self.open(Frame::array(), JsonEvent::BeginArray, handler)?;
                self.state = State::ValueOrEnd;
            }
            (State::ValueOrEnd, b']') => self.close(JsonEvent::EndArray, handler)?,
            (State::Value | State::ValueOrEnd, b'"') => self.state = State::Text { name: false },
            (State::Value | State::ValueOrEnd, b'-' | b'0'..=b'9') => {
                self.state = State::Number;
                return Ok(at);
            }
            (State::Value | State::ValueOrEnd, b't' | b'f' | b'n') => {
                self.state = State::Word;
                return Ok(at);
            }
            (State::NameOrEnd, b'}') => self.close(JsonEvent::EndObject, handler)?,
            (State::NameOrEnd | State::Name, b'"') => self.state = State::Text { name: true },
            (State::Colon, b':') => self.state = State::Value,
            (State::CommaOrEnd, b',') => self.advance(),
            (State::CommaOrEnd, b']') if self.stack.last().is_some_and(Frame::is_array) => {
                self.close(JsonEvent::EndArray, handler)?;
            }
            (State::CommaOrEnd, b'}') if self.stack.last().is_some_and(|top| !top.is_array()) => {
                self.close(JsonEvent::EndObject, handler)?;
            }
            _ => return Err(self.unexpected(byte)),
        }
        Ok(at + 1)
    }

    fn open(
        &mut self,
        frame: Frame,
        event: JsonEvent<'_>,
        handler: &mut impl JsonHandler,
    ) -> Result<(), Failure> {
        if self.stack.len() == MAX_DEPTH {
            return malformed(format!("is deeper than {MAX_DEPTH} arrays and objects"));
        }
        handler.event(event, JsonPath(&self.stack)).map_err(Failure::Refused)?;
        self.stack.push(frame);
        Ok(())
    }

    fn close(
        &mut self,
        event: JsonEvent<'_>,
        handler: &mut impl JsonHandler,
    ) -> Result<(), Failure> {
        self.stack.pop();
        handler.event(event, JsonPath(&self.stack)).map_err(Failure::Refused)?;
        self.end_value();
        Ok(())
    }

    fn end_value(&mut self) {
        self.state = if self.stack.is_empty() { State::Done } else { State::CommaOrEnd };
    }

    /// Behind a comma.
    fn advance(&mut self) {
        match self.stack.last_mut() {
            Some(Frame::Array(index)) => {
                *index += 1;
                self.state = State::Value;
            }
            _ => self.state = State::Name,
        }
    }

    fn extend_token(&mut self, part: &[u8]) -> Result<(), Failure> {
        if self.token.len() + part.len() > MAX_TEXT_BYTES {
            return malformed(format!("has a text of more than {MAX_TEXT_BYTES} bytes"));
        }
        self.token.extend_from_slice(part);
        Ok(())
    }

    fn unexpected(&self, byte: u8) -> Failure {
        // UTF-16 begins with a byte order mark, or has a NUL beside the bracket that JSON begins
        // with.
        let begins = match self.state {
            State::Value => self.stack.is_empty() && matches!(byte, 0 | 0xFE | 0xFF),
            State::ValueOrEnd | State::NameOrEnd => self.stack.len() == 1 && byte == 0,
            _ => false,
        };
        if begins {
            return Failure::Malformed("is UTF-16, not UTF-8; save the file as UTF-8".to_owned());
        }
        let expected = match self.state {
            State::ValueOrEnd => "a value or ]",
            State::NameOrEnd => "a name in quotes or }",
            State::Name => "a name in quotes",
            State::Colon => "a colon",
            State::CommaOrEnd => "a comma or the end",
            State::Done => "nothing behind the value",
            _ => "a value",
        };
        let found = char::from(byte);
        Failure::Malformed(format!("is not JSON: {found:?} stands where {expected} belongs"))
    }

    fn fault(&self, before: &[u8], failure: Failure) -> JsonFault {
        let (sentence, by_handler) = match failure {
            Failure::Malformed(sentence) => (sentence, false),
            Failure::Refused(sentence) => (sentence, true),
        };
        JsonFault {
            line: self.lines + count_lines(before) + 1,
            byte: self.bytes + before.len() as u64,
            path: JsonPath(&self.stack).to_string(),
            sentence,
            by_handler,
        }
    }
}

/// A fault without its place.
enum Failure {
    Malformed(String),
    Refused(String),
}

fn malformed<T>(sentence: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::Malformed(sentence.into()))
}

/// End of the run of bytes that are `like`.
fn run(bytes: &[u8], at: usize, like: impl Fn(u8) -> bool) -> usize {
    bytes[at..].iter().position(|byte| !like(*byte)).map_or(bytes.len(), |length| at + length)
}

fn count_lines(bytes: &[u8]) -> u64 {
    bytes.iter().map(|byte| u64::from(*byte == b'\n')).sum()
}

#[cfg(test)]
mod tests;
