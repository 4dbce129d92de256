//! A citation in RIS: a tag a line, lines end with CR LF.

use super::Citation;

pub(super) fn render(citation: &Citation) -> String {
    let date = citation.date().replace('-', "/");
    let mut lines = vec![
        ("TY", "DATA".to_owned()),
        ("ID", citation.key()),
        ("AU", citation.agency()),
        ("TI", citation.title()),
        ("PY", citation.year()),
        ("DA", date),
        ("PB", citation.agency()),
        ("ET", citation.snapshot_id.to_string()),
        ("UR", citation.url.clone()),
    ];
    lines.extend(citation.notes().into_iter().map(|note| ("N1", note)));
    lines.push(("ER", String::new()));
    lines.iter().map(|(tag, value)| format!("{tag}  - {value}\r\n")).collect()
}
