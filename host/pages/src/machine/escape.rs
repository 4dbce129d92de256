//! Publishers' text in XML and JSON, and addresses that a publisher wrote.

use serde_json::Value;

use crate::html::visible;

/// Writes `value` as JSON that can stand in an HTML script: `<`, `>` and `&` are escaped, and so
/// are the line ends that only JSON allows and what a page does not hold as it is.
pub(super) fn json_text(value: &Value) -> String {
    let json = value.to_string();
    let mut text = String::with_capacity(json.len());
    for letter in json.chars() {
        match letter {
            // They stand only within strings.
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => push_escape(&mut text, letter),
            _ if visible(letter) != letter => push_escape(&mut text, letter),
            _ => text.push(letter),
        }
    }
    text
}

fn push_escape(text: &mut String, letter: char) {
    text.push_str(&format!("\\u{:04x}", u32::from(letter)));
}

/// Escapes `text` for an element or an attribute of XML. What XML 1.0 cannot hold is replaced as in
/// pages.
pub(super) fn xml_text(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            _ => escaped.push(visible(letter)),
        }
    }
    escaped
}

/// Returns `text` where it is an address that may stand in a link: `http` or `https`, and only
/// characters of RFC 3986.
pub(super) fn web_address(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"))?;
    let is_allowed =
        |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=%".contains(&byte);
    (!rest.is_empty() && rest.bytes().all(is_allowed)).then_some(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn no_text_ends_the_script_or_the_element_around_it() {
        let value = json!({"name": "</script><!-- & \u{2028} \u{7f} \"ā\""});
        let text = json_text(&value);
        let expected = r#"{"name":"\u003c/script\u003e\u003c!-- \u0026 \u2028 \u007f \"ā\""}"#;
        assert_eq!(text, expected);
        assert_eq!(serde_json::from_str::<Value>(&text).ok(), Some(value));
        assert_eq!(
            xml_text("a]]>\u{1}<b> & \"c\"\u{ffff}\n💩"),
            "a]]&gt;␁&lt;b&gt; &amp; &quot;c&quot;\u{fffd}\n💩"
        );
    }

    #[test]
    fn only_web_addresses_become_links() {
        for (text, expected) in [
            ("https://example.org/a?b=c#d", true),
            ("http://[::1]:80/", true),
            ("https://example.org/a b", false),
            ("https://example.org/>;x", false),
            ("https://example.org/ā", false),
            ("javascript:alert(1)", false),
            ("https://", false),
            ("/relative", false),
        ] {
            assert_eq!(web_address(text).is_some(), expected, "{text}");
        }
    }
}
