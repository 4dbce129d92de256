//! A citation as a paragraph for a list of references.

use super::Citation;

pub(super) fn render(citation: &Citation) -> String {
    let head = format!(
        "{} ({}). {} [data set]. Version {} (snapshot {}). {}",
        citation.agency(),
        citation.year(),
        citation.title(),
        citation.date(),
        citation.snapshot_id,
        citation.url,
    );
    // Nothing touches the address, so that programs find its end.
    let mut parts = vec![head];
    parts.extend(citation.notes());
    parts.join(" ") + "\n"
}
