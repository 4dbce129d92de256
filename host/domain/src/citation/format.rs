//! Formats of citations: names, media types and file names (contract-13-media-types).

/// A format for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CitationFormat {
    /// A sentence for a list of references.
    Text,
    /// `BibTeX`.
    Bibtex,
    /// RIS, which reference managers import.
    Ris,
    /// CSL JSON, which citation processors read.
    CslJson,
    /// Citation File Format 1.2.
    Cff,
    /// DataCite's JSON of its metadata schema 4.
    DataciteJson,
}

impl CitationFormat {
    /// All, in the order in which they are listed.
    pub const ALL: [Self; 6] =
        [Self::Text, Self::Bibtex, Self::Ris, Self::CslJson, Self::Cff, Self::DataciteJson];

    /// Returns its name for `format=`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Bibtex => "bibtex",
            Self::Ris => "ris",
            Self::CslJson => "csl-json",
            Self::Cff => "cff",
            Self::DataciteJson => "datacite-json",
        }
    }

    /// Returns its media type, without parameters.
    #[must_use]
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Text => "text/plain",
            Self::Bibtex => "application/x-bibtex",
            Self::Ris => "application/x-research-info-systems",
            Self::CslJson => "application/vnd.citationstyles.csl+json",
            Self::Cff => "application/yaml",
            Self::DataciteJson => "application/vnd.datacite.datacite+json",
        }
    }

    /// Returns the value of `Content-Type`.
    #[must_use]
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Text => "text/plain; charset=utf-8",
            Self::Bibtex => "application/x-bibtex; charset=utf-8",
            Self::Ris => "application/x-research-info-systems; charset=utf-8",
            Self::CslJson | Self::Cff | Self::DataciteJson => self.media_type(),
        }
    }

    /// Returns its name for people.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Text => "Text",
            Self::Bibtex => "BibTeX",
            Self::Ris => "RIS",
            Self::CslJson => "CSL JSON",
            Self::Cff => "CITATION.cff",
            Self::DataciteJson => "DataCite JSON",
        }
    }

    /// Returns the format called `name`.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }
}
