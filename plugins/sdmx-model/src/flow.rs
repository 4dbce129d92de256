//! Ids and names of what is maintained: the dataflow of a dataset and its structure.

use std::fmt;

const PREFIX: &str = "urn:sdmx:org.sdmx.infomodel";

/// The agency of a namespace: the namespace in upper case. Names are snake_case and begin with a
/// letter, as ids of agencies must.
///
/// ```
/// use yearbook_sdmx_model::agency_id;
///
/// assert_eq!(agency_id("stats_nz"), "STATS_NZ");
/// ```
#[must_use]
pub fn agency_id(namespace: &str) -> String {
    namespace.to_ascii_uppercase()
}

/// The dataflow of a dataset: its name in upper case.
///
/// ```
/// use yearbook_sdmx_model::flow_id;
///
/// assert_eq!(flow_id("retail_quarterly"), "RETAIL_QUARTERLY");
/// ```
#[must_use]
pub fn flow_id(dataset: &str) -> String {
    dataset.to_ascii_uppercase()
}

/// A dataflow's agency, id and version. The structure, and the scheme of its concepts, have the
/// same id; a codelist has that of the flow, `-`, which no name has, and that of the component.
///
/// ```
/// use yearbook_sdmx_model::Flow;
///
/// let flow = Flow::new("synthetic", "retail_quarterly", 2);
/// assert_eq!(flow.to_string(), "SYNTHETIC:RETAIL_QUARTERLY(1.1)");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flow {
    /// [`agency_id`].
    pub agency: String,
    /// [`flow_id`].
    pub id: String,
    /// `1.0`, with a new minor whenever the columns change.
    pub version: String,
}

impl fmt::Display for Flow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { agency, id, version } = self;
        write!(f, "{agency}:{id}({version})")
    }
}

impl Flow {
    /// The dataflow of a dataset, of which `schema_version` counts from 1.
    ///
    /// ```
    /// use yearbook_sdmx_model::Flow;
    ///
    /// let flow = Flow::new("oecd", "mei", 1);
    /// assert_eq!((&*flow.agency, &*flow.id, &*flow.version), ("OECD", "MEI", "1.0"));
    /// ```
    #[must_use]
    pub fn new(namespace: &str, dataset: &str, schema_version: u32) -> Self {
        let version = format!("1.{}", schema_version.saturating_sub(1));
        Self { agency: agency_id(namespace), id: flow_id(dataset), version }
    }

    /// Reads `AGENCY:ID(VERSION)`.
    ///
    /// ```
    /// use yearbook_sdmx_model::Flow;
    ///
    /// let flow = Flow::new("oecd", "mei", 1);
    /// assert_eq!(Flow::parse("OECD:MEI(1.0)"), Some(flow));
    /// assert_eq!(Flow::parse("MEI"), None);
    /// ```
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let of = |part: &str, further: &str| {
            let starts = part.starts_with(|c: char| c.is_ascii_alphabetic());
            let is_of = |c: char| c.is_ascii_alphanumeric() || further.contains(c);
            (starts && part.chars().all(is_of)).then(|| part.to_owned())
        };
        let (agency, rest) = text.split_once(':')?;
        let (id, version) = rest.strip_suffix(')')?.split_once('(')?;
        let is_version = version.split('.').all(|part| {
            !part.is_empty() && part.len() <= 9 && part.bytes().all(|b| b.is_ascii_digit())
        });
        Some(Self {
            agency: of(agency, "_-.")?,
            id: of(id, "_-")?,
            version: is_version.then(|| version.to_owned())?,
        })
    }

    /// The dataflow's name for machines.
    ///
    /// ```
    /// use yearbook_sdmx_model::Flow;
    ///
    /// let urn = Flow::new("oecd", "mei", 1).dataflow_urn();
    /// assert!(urn.ends_with(".datastructure.Dataflow=OECD:MEI(1.0)"));
    /// ```
    #[must_use]
    pub fn dataflow_urn(&self) -> String {
        format!("{PREFIX}.datastructure.Dataflow={self}")
    }

    /// The structure's name for machines.
    ///
    /// ```
    /// use yearbook_sdmx_model::Flow;
    ///
    /// let urn = Flow::new("oecd", "mei", 1).structure_urn();
    /// assert!(urn.ends_with(".datastructure.DataStructure=OECD:MEI(1.0)"));
    /// ```
    #[must_use]
    pub fn structure_urn(&self) -> String {
        format!("{PREFIX}.datastructure.DataStructure={self}")
    }

    /// The name for machines of the scheme of the columns' concepts.
    ///
    /// ```
    /// use yearbook_sdmx_model::Flow;
    ///
    /// let urn = Flow::new("oecd", "mei", 1).concept_scheme_urn();
    /// assert!(urn.ends_with(".conceptscheme.ConceptScheme=OECD:MEI(1.0)"));
    /// ```
    #[must_use]
    pub fn concept_scheme_urn(&self) -> String {
        format!("{PREFIX}.conceptscheme.ConceptScheme={self}")
    }

    /// The name for machines of a component's concept.
    ///
    /// ```
    /// use yearbook_sdmx_model::Flow;
    ///
    /// let urn = Flow::new("oecd", "mei", 1).concept_urn("REF_AREA");
    /// assert!(urn.ends_with(".conceptscheme.Concept=OECD:MEI(1.0).REF_AREA"));
    /// ```
    #[must_use]
    pub fn concept_urn(&self, component: &str) -> String {
        format!("{PREFIX}.conceptscheme.Concept={self}.{component}")
    }

    /// The id of a component's codelist.
    ///
    /// ```
    /// use yearbook_sdmx_model::Flow;
    ///
    /// assert_eq!(Flow::new("oecd", "mei", 1).codelist_id("REF_AREA"), "MEI-REF_AREA");
    /// ```
    #[must_use]
    pub fn codelist_id(&self, component: &str) -> String {
        format!("{}-{component}", self.id)
    }

    /// The name for machines of a component's codelist.
    ///
    /// ```
    /// use yearbook_sdmx_model::Flow;
    ///
    /// let urn = Flow::new("oecd", "mei", 1).codelist_urn("REF_AREA");
    /// assert!(urn.ends_with(".codelist.Codelist=OECD:MEI-REF_AREA(1.0)"));
    /// ```
    #[must_use]
    pub fn codelist_urn(&self, component: &str) -> String {
        let Self { agency, version, .. } = self;
        format!("{PREFIX}.codelist.Codelist={agency}:{}({version})", self.codelist_id(component))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_minor_says_that_columns_changed_contract_19() {
        let version = |schema| Flow::new("oecd", "mei", schema).version;
        assert_eq!((1..4).map(version).collect::<Vec<_>>(), ["1.0", "1.1", "1.2"]);
    }

    #[test]
    fn a_flow_is_read_back_and_nothing_else_is_one_contract_19() {
        let flow = Flow::new("stats_nz", "lives_9", 3);
        assert_eq!(flow.to_string(), "STATS_NZ:LIVES_9(1.2)");
        assert_eq!(Flow::parse(&flow.to_string()), Some(flow));
        for text in ["", "A:B", "A:B()", "A:B(1.)", "A:B(1.0", "A B:C(1.0)", "A:\"(1.0)", "1:B(1)"]
        {
            assert_eq!(Flow::parse(text), None, "{text}");
        }
    }
}
