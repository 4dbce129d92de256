//! The release calendar as iCalendar (RFC 5545), for programs that people keep their calendars in.

use yearbook_domain::Millis;

use super::view::CatalogView;
use crate::calendar::{Calendar, CalendarEvent, EventOutcome};
use crate::html::visible;

/// Bytes of a line at most, its end not counted (RFC 5545, 3.1).
const LINE_BYTES: usize = 75;

/// Properties of a calendar without events, which must have a component (RFC 5545, 3.4).
const NOTHING: [(&str, &str); 8] = [
    ("BEGIN", "VTIMEZONE"),
    ("TZID", "UTC"),
    ("BEGIN", "STANDARD"),
    ("DTSTART", "19700101T000000"),
    ("TZOFFSETFROM", "+0000"),
    ("TZOFFSETTO", "+0000"),
    ("END", "STANDARD"),
    ("END", "VTIMEZONE"),
];

/// Returns the calendar.
pub(super) fn calendar(catalog: &CatalogView<'_>, calendar: &Calendar) -> String {
    let mut file = CalendarFile::default();
    let name = escaped(&format!("{}: release calendar", catalog.settings.title));
    file.line("BEGIN", "VCALENDAR");
    file.line("VERSION", "2.0");
    file.line("PRODID", "-//Yearbook//Release calendar//EN");
    file.line("NAME", &name);
    // NAME is of RFC 7986; older programs know only this one.
    file.line("X-WR-CALNAME", &name);
    file.line("REFRESH-INTERVAL;VALUE=DURATION", "PT1H");
    for event in &calendar.events {
        file.event(event, catalog.base_url);
    }
    if calendar.events.is_empty() {
        NOTHING.into_iter().for_each(|(name, value)| file.line(name, value));
    }
    file.line("END", "VCALENDAR");
    file.text
}

/// A file so far.
#[derive(Default)]
struct CalendarFile {
    text: String,
}

impl CalendarFile {
    fn event(&mut self, event: &CalendarEvent, base_url: &str) {
        let is_sure = event.is_announced || matches!(event.outcome, EventOutcome::Released { .. });
        self.line("BEGIN", "VEVENT");
        self.line("UID", &event.uid);
        self.line("SEQUENCE", &event.moves.to_string());
        self.line("DTSTAMP", &basic(event.announced_at));
        self.line("DTSTART", &basic(event.at));
        self.line("SUMMARY", &escaped(&event.title));
        self.line("DESCRIPTION", &escaped(&event.sentence()));
        self.line("STATUS", if is_sure { "CONFIRMED" } else { "TENTATIVE" });
        // A release takes nobody's time.
        self.line("TRANSP", "TRANSPARENT");
        if let Some(page) = event.page_url(base_url) {
            self.line("URL", &page);
        }
        self.line("END", "VEVENT");
    }

    /// Adds a property; a long one in several lines, none of which ends within a character.
    fn line(&mut self, name: &str, value: &str) {
        let line = format!("{name}:{value}");
        let (mut rest, mut room) = (line.as_str(), LINE_BYTES);
        while rest.len() > room {
            let (part, left) = rest.split_at(rest.floor_char_boundary(room));
            self.text.push_str(part);
            self.text.push_str("\r\n ");
            // The blank counts.
            (rest, room) = (left, LINE_BYTES - 1);
        }
        self.text.push_str(rest);
        self.text.push_str("\r\n");
    }
}

/// Returns an instant in the basic format of ISO 8601: `20261126T214500Z`.
fn basic(at: Millis) -> String {
    at.to_rfc3339().replace(['-', ':'], "")
}

/// Escapes a text (RFC 5545, 3.3.11). Control characters are replaced as in pages.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\\' | ';' | ',' => escaped.extend(['\\', letter]),
            '\n' => escaped.push_str("\\n"),
            '\r' => {}
            _ => escaped.push(visible(letter)),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(name: &str, value: &str) -> String {
        let mut file = CalendarFile::default();
        file.line(name, value);
        file.text
    }

    #[test]
    fn lines_are_folded_between_characters_rfc_5545() {
        for length in [0, 1, 66, 67, 68, 140, 141, 142, 500] {
            for letter in ["a", "ā", "語", "💩"] {
                let value = letter.repeat(length);
                let text = folded("SUMMARY", &value);
                assert!(text.ends_with("\r\n"), "{text:?}");
                let lines: Vec<&str> = text.trim_end_matches("\r\n").split("\r\n").collect();
                assert!(lines.iter().all(|line| line.len() <= 75), "{lines:?}");
                // No line is shorter than it must be.
                let full = lines.len() - 1;
                assert!(lines[..full].iter().all(|line| line.len() > 75 - 4), "{lines:?}");
                assert!(lines[1..].iter().all(|line| line.starts_with(' ') && line.len() > 1));
                assert_eq!(text.replace("\r\n ", ""), format!("SUMMARY:{value}\r\n"));
            }
        }
        assert_eq!(folded("A", &"b".repeat(73)).matches("\r\n").count(), 1);
        assert_eq!(folded("A", &"b".repeat(74)).matches("\r\n").count(), 2);
    }

    #[test]
    fn texts_end_no_property_rfc_5545() {
        assert_eq!(
            escaped("a,b;c\\n\nBEGIN:VEVENT\r\nd\u{0}\u{85}\t\"é\""),
            "a\\,b\\;c\\\\n\\nBEGIN:VEVENT\\nd␀\u{fffd}\t\"é\""
        );
        assert_eq!(basic(Millis(1_798_761_599_999)), "20261231T235959Z");
    }
}
