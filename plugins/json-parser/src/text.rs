//! Texts and names, with their escapes. A text that comes in one piece is not copied.

use crate::path::Frame;
use crate::{Failure, JsonEvent, JsonHandler, JsonParser, JsonPath, State, malformed, run};

impl JsonParser {
    pub(crate) fn scan_text(
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
                self.extend_token(part)?;
                Ok(end)
            }
            Some(b'\\') => {
                self.extend_token(part)?;
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

    pub(crate) fn escape(&mut self, byte: u8, name: bool) -> Result<(), Failure> {
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
        self.extend_token(&[escaped])?;
        self.state = State::Text { name };
        Ok(())
    }

    pub(crate) fn unicode(
        &mut self,
        byte: u8,
        name: bool,
        digits: u8,
        value: u32,
    ) -> Result<(), Failure> {
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
        self.extend_token(&utf8[..encoded])
    }
}
