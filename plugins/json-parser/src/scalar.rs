//! Numbers, `true`, `false` and `null`.

use crate::{Failure, JsonEvent, JsonHandler, JsonParser, JsonPath, State, malformed};

impl JsonParser {
    /// A number or a word that ends at `end`, or goes on in later bytes.
    pub(crate) fn scan_scalar(
        &mut self,
        bytes: &[u8],
        at: usize,
        end: usize,
        handler: &mut impl JsonHandler,
    ) -> Result<usize, Failure> {
        if end == bytes.len() {
            self.extend_token(&bytes[at..end])?;
            return Ok(end);
        }
        self.end_scalar(&bytes[at..end], handler)?;
        Ok(end)
    }

    pub(crate) fn end_scalar(
        &mut self,
        part: &[u8],
        handler: &mut impl JsonHandler,
    ) -> Result<(), Failure> {
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
