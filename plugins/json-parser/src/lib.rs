//! A parser of JSON (RFC 8259) whose bytes come in pieces: it tells a handler of each value as it
//! ends, with its path, and holds no more than one text and the names of the objects around it.
//! Readers of formats that are JSON share it. Never builds a tree.

mod path;

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

    fn scan_text(
        &mut self,
        bytes: &[u8],
        at: usize,
        name: bool,
        handler: &mut impl JsonHandler,
    ) -> Result<usize, Failure> {
        let end = run(bytes, at, |b| b != b'"' && b != b'\\' && b >= b' ');
        if end > at && self.surrogate.is_some() {
            return malformed("has half a pair of surrogates");
        }
        let part = &bytes[at..end];
        match bytes.get(end) {
            None => {
                self.keep(part)?;
                Ok(end)
            }
            Some(b'\\') => {
                self.keep(part)?;
                self.state = State::Escape { name };
                Ok(end + 1)
            }
            Some(b'"') if self.surrogate.is_some() => malformed("has half a pair of surrogates"),
            Some(b'"') => {
                let mut token = std::mem::take(&mut self.token);
                let ended = if token.is_empty() {
                    self.end_text(part, name, handler)
                } else {
                    token.extend_from_slice(part);
                    self.end_text(&token, name, handler)
                };
                token.clear();
                self.token = token;
                ended.map(|()| end + 1)
            }
            Some(_) => malformed("has a control character in a text; escape it"),
        }
    }

    fn end_text(
        &mut self,
        text: &[u8],
        name: bool,
        handler: &mut impl JsonHandler,
    ) -> Result<(), Failure> {
        let Ok(text) = std::str::from_utf8(text) else {
            return malformed("is not UTF-8; convert the file");
        };
        if name {
            if let Some(Frame::Object(key)) = self.stack.last_mut() {
                key.clear();
                key.push_str(text);
            }
            self.state = State::Colon;
            return Ok(());
        }
        handler.event(JsonEvent::Text(text), JsonPath(&self.stack)).map_err(Failure::Refused)?;
        self.end_value();
        Ok(())
    }

    fn escape(&mut self, byte: u8, name: bool) -> Result<(), Failure> {
        if byte == b'u' {
            self.state = State::Unicode { name, digits: 0, value: 0 };
            return Ok(());
        }
        if self.surrogate.is_some() {
            return malformed("has half a pair of surrogates");
        }
        let escaped = match byte {
            b'"' | b'\\' | b'/' => byte,
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            _ => return malformed("has an unknown escape in a text"),
        };
        self.keep(&[escaped])?;
        self.state = State::Text { name };
        Ok(())
    }

    fn unicode(&mut self, byte: u8, name: bool, digits: u8, value: u32) -> Result<(), Failure> {
        let Some(digit) = char::from(byte).to_digit(16) else {
            return malformed("has an escape in a text without four hexadecimal digits");
        };
        let value = value * 16 + digit;
        if digits < 3 {
            self.state = State::Unicode { name, digits: digits + 1, value };
            return Ok(());
        }
        self.state = State::Text { name };
        let scalar = match (self.surrogate.take(), value) {
            (None, 0xD800..0xDC00) => {
                self.surrogate = Some(value);
                return Ok(());
            }
            (Some(high), 0xDC00..0xE000) => 0x10000 + ((high - 0xD800) << 10) + (value - 0xDC00),
            (Some(_), _) => return malformed("has half a pair of surrogates"),
            (None, value) => value,
        };
        let Some(character) = char::from_u32(scalar) else {
            return malformed("has half a pair of surrogates");
        };
        let mut utf8 = [0; 4];
        let encoded = character.encode_utf8(&mut utf8).len();
        self.keep(&utf8[..encoded])
    }

    /// A number or a word that ends at `end`, or goes on in later bytes.
    fn scan_scalar(
        &mut self,
        bytes: &[u8],
        at: usize,
        end: usize,
        handler: &mut impl JsonHandler,
    ) -> Result<usize, Failure> {
        if end == bytes.len() {
            self.keep(&bytes[at..end])?;
            return Ok(end);
        }
        self.end_scalar(&bytes[at..end], handler)?;
        Ok(end)
    }

    fn end_scalar(&mut self, part: &[u8], handler: &mut impl JsonHandler) -> Result<(), Failure> {
        let mut token = std::mem::take(&mut self.token);
        let whole = if token.is_empty() {
            part
        } else {
            token.extend_from_slice(part);
            &token
        };
        let event = match (self.state, std::str::from_utf8(whole).unwrap_or_default()) {
            (State::Number, text) if is_number(text.as_bytes()) => JsonEvent::Number(text),
            (_, "true") => JsonEvent::Boolean(true),
            (_, "false") => JsonEvent::Boolean(false),
            (_, "null") => JsonEvent::Null,
            (_, text) => {
                let short: String = text.chars().take(40).collect();
                return malformed(format!("{short:?} is no value of JSON"));
            }
        };
        handler.event(event, JsonPath(&self.stack)).map_err(Failure::Refused)?;
        token.clear();
        self.token = token;
        self.end_value();
        Ok(())
    }

    fn keep(&mut self, part: &[u8]) -> Result<(), Failure> {
        if self.token.len() + part.len() > MAX_TEXT_BYTES {
            return malformed(format!("has a text of more than {MAX_TEXT_BYTES} bytes"));
        }
        self.token.extend_from_slice(part);
        Ok(())
    }

    fn unexpected(&self, byte: u8) -> Failure {
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

/// Returns whether `text` is a number (RFC 8259, section 6).
fn is_number(text: &[u8]) -> bool {
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let rest = text.strip_prefix(b"-").unwrap_or(text);
    let whole = digits(rest);
    if whole == 0 || (whole > 1 && rest[0] == b'0') {
        return false;
    }
    let mut rest = &rest[whole..];
    if let Some(fraction) = rest.strip_prefix(b".") {
        let length = digits(fraction);
        if length == 0 {
            return false;
        }
        rest = &fraction[length..];
    }
    if let [b'e' | b'E', exponent @ ..] = rest {
        let exponent = match exponent {
            [b'+' | b'-', exponent @ ..] => exponent,
            exponent => exponent,
        };
        return digits(exponent) == exponent.len() && !exponent.is_empty();
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests;
