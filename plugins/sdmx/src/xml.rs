//! XML as it is made: elements with attributes and text, each closed in its turn.

use yearbook_sdmx_model::escape_xml;

/// A document in the making.
pub(crate) struct Xml {
    text: String,
    open: Vec<&'static str>,
}

impl Xml {
    /// Begins a document.
    pub(crate) fn new(root: &'static str, attributes: &[(&str, &str)]) -> Self {
        let mut xml = Self {
            text: "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned(),
            open: Vec::new(),
        };
        xml.open(root, attributes);
        xml
    }

    /// Opens an element.
    pub(crate) fn open(&mut self, name: &'static str, attributes: &[(&str, &str)]) -> &mut Self {
        self.tag(name, attributes);
        self.text.push('>');
        self.open.push(name);
        self
    }

    /// Closes the element that was opened last.
    pub(crate) fn close(&mut self) -> &mut Self {
        if let Some(name) = self.open.pop() {
            self.text.push_str("</");
            self.text.push_str(name);
            self.text.push('>');
        }
        self
    }

    /// Writes an element without content.
    pub(crate) fn empty(&mut self, name: &'static str, attributes: &[(&str, &str)]) -> &mut Self {
        self.tag(name, attributes);
        self.text.push_str("/>");
        self
    }

    /// Writes an element with text.
    pub(crate) fn leaf(
        &mut self,
        name: &'static str,
        attributes: &[(&str, &str)],
        text: &str,
    ) -> &mut Self {
        self.open(name, attributes);
        escape_xml(text, &mut self.text);
        self.close()
    }

    /// Closes what is open.
    pub(crate) fn finish(mut self) -> String {
        while !self.open.is_empty() {
            self.close();
        }
        self.text.push('\n');
        self.text
    }

    fn tag(&mut self, name: &str, attributes: &[(&str, &str)]) {
        self.text.push('<');
        self.text.push_str(name);
        for (attribute, value) in attributes {
            self.text.push(' ');
            self.text.push_str(attribute);
            self.text.push_str("=\"");
            escape_xml(value, &mut self.text);
            self.text.push('"');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_a_meaning_in_xml_is_escaped_contract_19() {
        let mut xml = Xml::new("a", &[("b", "\"<\u{1}")]);
        xml.leaf("c", &[], "x & \r\n").empty("d", &[]).open("e", &[]);
        let body = xml.finish();
        let body = body.split_once("?>\n").map(|(_, body)| body);
        let wanted = "<a b=\"&quot;&lt;\u{fffd}\"><c>x &amp; &#13;&#10;</c><d/><e></e></a>\n";
        assert_eq!(body, Some(wanted));
    }
}
