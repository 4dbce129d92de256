//! Documents, and the bytes around rows.

use std::fmt::Display;

use super::{Document, Framing, Link, Problem, Refusal, Reply, Rows, Segment, Wrapping};

impl Document {
    /// A document of this status and media type.
    ///
    /// ```
    /// use yearbook_sdk::adapter::Document;
    ///
    /// let document = Document::new(200, "text/csv", "region\n");
    /// assert_eq!(document.body, b"region\n");
    /// ```
    #[must_use]
    pub fn new(status: u16, media_type: impl Into<String>, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            media_type: media_type.into(),
            language: None,
            location: None,
            links: Vec::new(),
            body: body.into(),
        }
    }

    /// JSON: what displays as such, a value of the crate `serde_json` for one.
    ///
    /// ```
    /// use yearbook_sdk::adapter::Document;
    ///
    /// assert_eq!(Document::json(200, &"{}").media_type, "application/json");
    /// ```
    #[must_use]
    pub fn json(status: u16, value: &impl Display) -> Self {
        Self::new(status, "application/json", value.to_string())
    }

    /// XML, in UTF-8.
    ///
    /// ```
    /// use yearbook_sdk::adapter::Document;
    ///
    /// assert_eq!(Document::xml(404, "<none/>").status, 404);
    /// ```
    #[must_use]
    pub fn xml(status: u16, body: impl Into<String>) -> Self {
        Self::new(status, "application/xml; charset=utf-8", body.into())
    }

    /// Plain text.
    ///
    /// ```
    /// use yearbook_sdk::adapter::Document;
    ///
    /// assert_eq!(Document::text(404, "not here\n").body, b"not here\n");
    /// ```
    #[must_use]
    pub fn text(status: u16, body: impl Into<String>) -> Self {
        Self::new(status, "text/plain; charset=utf-8", body.into())
    }

    /// No body: 202, 204, or a status that says all.
    ///
    /// ```
    /// use yearbook_sdk::adapter::Document;
    ///
    /// assert!(Document::empty(204).body.is_empty());
    /// ```
    #[must_use]
    pub fn empty(status: u16) -> Self {
        Self::text(status, "")
    }

    /// 303 to a path of this service.
    ///
    /// ```
    /// use yearbook_sdk::adapter::Document;
    ///
    /// assert_eq!(Document::see_other("/catalogue").location.as_deref(), Some("/catalogue"));
    /// ```
    #[must_use]
    pub fn see_other(path: impl Into<String>) -> Self {
        Self { location: Some(path.into()), ..Self::empty(303) }
    }

    /// The same with an entry of `Link`.
    ///
    /// ```
    /// use yearbook_sdk::adapter::Document;
    ///
    /// let document = Document::text(200, "").link("describedby", "/v1/openapi.json");
    /// assert_eq!(document.links[0].rel, "describedby");
    /// ```
    #[must_use]
    pub fn link(mut self, rel: impl Into<String>, address: impl Into<String>) -> Self {
        self.links.push(Link { href: address.into(), rel: rel.into(), media_type: None });
        self
    }
}

impl Wrapping {
    /// These bytes before and after what the format writes.
    ///
    /// ```
    /// use yearbook_sdk::adapter::{Segment, Wrapping};
    ///
    /// assert_eq!(Wrapping::bytes("<rows>", "</rows>").before, b"<rows>");
    /// ```
    #[must_use]
    pub fn bytes(before: impl Into<Vec<u8>>, after: impl Into<Vec<u8>>) -> Self {
        let after = after.into();
        let after = if after.is_empty() { Vec::new() } else { vec![Segment::Bytes(after)] };
        Self { before: before.into(), after, links: Vec::new() }
    }

    /// A JSON object with these members, and then the member `name`, whose value the format writes.
    /// `members` displays as a JSON object.
    ///
    /// ```
    /// use yearbook_sdk::adapter::Wrapping;
    ///
    /// let wrapping = Wrapping::object(&r#"{"kind":"page"}"#, "results");
    /// assert_eq!(wrapping.before, br#"{"kind":"page","results":"#);
    /// ```
    ///
    /// # Panics
    /// Panics where `members` is no object.
    #[must_use]
    pub fn object(members: &impl Display, name: &str) -> Self {
        let mut before = members.to_string();
        assert!(before.starts_with('{') && before.ends_with('}'), "the members are a JSON object");
        before.pop();
        if before.trim_end() != "{" {
            before.push(',');
        }
        Self::bytes(format!("{before}\"{name}\":"), "}")
    }

    /// The same with a last member of the object that holds the number of rows that were sent.
    ///
    /// ```
    /// use yearbook_sdk::adapter::{Segment, Wrapping};
    ///
    /// let wrapping = Wrapping::object(&"{}", "results").count("sent");
    /// let object = Segment::Bytes(b"}".to_vec());
    /// let member = Segment::Bytes(br#","sent":"#.to_vec());
    /// assert_eq!(wrapping.after, [member, Segment::RowCount, object]);
    /// ```
    #[must_use]
    pub fn count(mut self, name: &str) -> Self {
        let member = Segment::Bytes(format!(",\"{name}\":").into());
        self.after.splice(0..0, [member, Segment::RowCount]);
        self
    }

    /// The same with an entry of `Link`.
    ///
    /// ```
    /// use yearbook_sdk::adapter::Wrapping;
    ///
    /// let wrapping = Wrapping::bytes("", "").link("next", "/api/tables/prices?page=2");
    /// assert_eq!(wrapping.links[0].rel, "next");
    /// ```
    #[must_use]
    pub fn link(mut self, rel: impl Into<String>, address: impl Into<String>) -> Self {
        self.links.push(Link { href: address.into(), rel: rel.into(), media_type: None });
        self
    }
}

impl Refusal {
    /// A refusal of the adapter's own, which [`super::Adapter::refuse`] writes as it writes those
    /// of the host.
    ///
    /// ```
    /// use yearbook_sdk::adapter::{Refusal, Step};
    ///
    /// fn page(text: &str) -> Step<u32> {
    ///     text.parse().map_err(|_| Refusal::new(400, "`page` is no number").into())
    /// }
    /// assert!(page("x").is_err());
    /// ```
    #[must_use]
    pub fn new(status: u16, sentence: impl Into<String>) -> Self {
        let problem = Problem { place: Vec::new(), sentence: sentence.into() };
        Self { status, code: String::new(), problems: vec![problem], retry_after: None }
    }

    /// Its sentences as one text.
    ///
    /// ```
    /// use yearbook_sdk::adapter::Refusal;
    ///
    /// assert_eq!(Refusal::new(404, "no such series").sentence(), "no such series");
    /// ```
    #[must_use]
    pub fn sentence(&self) -> String {
        let sentences = self.problems.iter().map(|problem| problem.sentence.as_str());
        sentences.collect::<Vec<_>>().join("; ")
    }
}

impl From<Document> for Reply {
    fn from(document: Document) -> Self {
        Self::Document(document)
    }
}

impl From<Rows> for Reply {
    fn from(rows: Rows) -> Self {
        Self::Rows(rows)
    }
}

impl From<Wrapping> for Framing {
    fn from(wrapping: Wrapping) -> Self {
        Self::Wrap(wrapping)
    }
}

impl From<Document> for Framing {
    fn from(document: Document) -> Self {
        Self::Instead(document)
    }
}
