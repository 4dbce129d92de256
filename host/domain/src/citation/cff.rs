//! A citation as `CITATION.cff` 1.2. Every text is a double-quoted scalar, so that no character of
//! a title means anything to YAML.

use std::fmt::Write as _;

use super::{Citation, one_line};

/// Licences of data with an SPDX id that the format accepts. Another licence is named by its
/// address and in the abstract.
const SPDX: [&str; 20] = [
    "CC-BY-1.0",
    "CC-BY-2.0",
    "CC-BY-2.5",
    "CC-BY-3.0",
    "CC-BY-4.0",
    "CC-BY-NC-4.0",
    "CC-BY-NC-ND-4.0",
    "CC-BY-NC-SA-4.0",
    "CC-BY-ND-4.0",
    "CC-BY-SA-2.0",
    "CC-BY-SA-2.5",
    "CC-BY-SA-3.0",
    "CC-BY-SA-4.0",
    "CC0-1.0",
    "ODC-By-1.0",
    "ODbL-1.0",
    "OGL-UK-1.0",
    "OGL-UK-2.0",
    "OGL-UK-3.0",
    "PDDL-1.0",
];

pub(super) fn render(citation: &Citation) -> String {
    let credit = &citation.credit;
    let spdx = SPDX.into_iter().find(|known| known.eq_ignore_ascii_case(credit.licence.trim()));
    let is_web = |url: &&String| url.starts_with("https://") || url.starts_with("http://");
    let licence = match (spdx, credit.licence_url.as_ref().filter(is_web)) {
        (Some(spdx), _) => Some(("license", spdx)),
        (None, Some(url)) => Some(("license-url", url.as_str())),
        (None, None) => None,
    };
    let mut text = String::new();
    let mut line = |indent: &str, name: &str, value: &str| {
        let _ = writeln!(text, "{indent}{name}: {}", quote(value));
    };
    line("", "cff-version", "1.2.0");
    line("", "message", "If you use this data, please cite it as below.");
    line("", "type", "dataset");
    line("", "title", &citation.title());
    line("", "version", citation.snapshot_id.as_str());
    line("", "date-released", &citation.date());
    line("", "url", &citation.url);
    if let Some((name, value)) = licence {
        line("", name, &one_line(value));
    }
    line("", "abstract", &citation.notes().join(" "));
    text += "authors:\n";
    let _ = writeln!(text, "  - name: {}", quote(&citation.agency()));
    if let Some(digest) = citation.digest {
        text += "identifiers:\n  - type: other\n";
        let _ = writeln!(text, "    value: {}", quote(&digest.to_string()));
        text += "    description: \"Digest of the result (yearbook-result-1)\"\n";
    }
    text
}

/// Returns a double-quoted YAML scalar.
fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                quoted.push('\\');
                quoted.push(c);
            }
            // Not printable in YAML, or a line break in its older version.
            '\u{0}'..='\u{1f}'
            | '\u{7f}'..='\u{9f}'
            | '\u{2028}'
            | '\u{2029}'
            | '\u{feff}'
            | '\u{fffe}'
            | '\u{ffff}' => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(c));
            }
            _ => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
