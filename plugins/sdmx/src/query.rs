//! Queries of structures: what is asked for, of whom, in which version, how much of it.

use yearbook_sdk::adapter::{Refusal, Request, Step};

use crate::message::SENDER;
use crate::negotiation::Face;
use crate::problem::{bad_request, not_found, unsaid};

/// Kinds of structures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    AgencyScheme,
    Dataflow,
    Codelist,
    ConceptScheme,
    DataStructure,
}

/// All of them, as the standard names them.
const KINDS: [(&str, Kind); 5] = [
    ("agencyscheme", Kind::AgencyScheme),
    ("dataflow", Kind::Dataflow),
    ("codelist", Kind::Codelist),
    ("conceptscheme", Kind::ConceptScheme),
    ("datastructure", Kind::DataStructure),
];

/// Kinds that the standard has, and this service has none of.
const NONE_OF: [&str; 39] = [
    "actualconstraint",
    "allowedconstraint",
    "attachmentconstraint",
    "categorisation",
    "categoryscheme",
    "categoryschememap",
    "conceptschememap",
    "contentconstraint",
    "customtypescheme",
    "dataconstraint",
    "dataconsumerscheme",
    "dataproviderscheme",
    "geocodelist",
    "geogridcodelist",
    "hierarchicalcodelist",
    "hierarchy",
    "hierarchyassociation",
    "metadataconstraint",
    "metadataflow",
    "metadataproviderscheme",
    "metadataprovisionagreement",
    "metadatastructure",
    "namealiasscheme",
    "namepersonalisationscheme",
    "organisationscheme",
    "organisationschememap",
    "organisationunitscheme",
    "process",
    "provisionagreement",
    "reportingtaxonomy",
    "reportingtaxonomymap",
    "representationmap",
    "rulesetscheme",
    "structuremap",
    "structureset",
    "transformationscheme",
    "userdefinedoperatorscheme",
    "valuelist",
    "vtlmappingscheme",
];

/// Signs of versions for newer ones and for any.
const SIGNS: [char; 3] = ['+', '~', '*'];

/// Measure of how much is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    Full,
    AllStubs,
    ReferenceStubs,
}

/// A list of ids, or any.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Ids {
    Any,
    Some(Vec<String>),
}

/// A query.
pub(crate) struct Query {
    pub(crate) kinds: Vec<Kind>,
    pub(crate) agencies: Ids,
    pub(crate) ids: Ids,
    pub(crate) versions: Ids,
    pub(crate) items: Ids,
    pub(crate) references: Vec<Kind>,
    pub(crate) detail: Detail,
}

impl Query {
    /// Reads path and parameters.
    ///
    /// # Errors
    /// 400 for what does not comply, 404 for what there is none of, 501 for `asOf`.
    pub(crate) fn parse(face: Face, request: &Request, path: &[&str]) -> Step<Self> {
        let [kind, place @ ..] = path else {
            return Err(bad_request("name what is asked for, `dataflow` for one"));
        };
        let every = match face {
            Face::V21 => "structure",
            Face::V30 => "*",
        };
        let part = |at: usize| place.get(at).map_or(Ids::Any, |text| ids(face, text));
        let named_ids = part(1);
        let kinds: Vec<Kind> = match kind {
            kind if *kind == every => {
                let kinds = KINDS.iter().map(|(_, kind)| *kind);
                kinds.filter(|kind| named_ids.may_be_of(*kind)).collect()
            }
            kind => vec![named(kind)?],
        };
        if place.len() > 4 {
            return Err(bad_request("the address has more parts than a query of structures"));
        }
        parameters(request)?;
        let words = listed(face, request.parameter("references").unwrap_or("none"));
        let references = words.into_iter().map(|word| references(&kinds, word));
        let references = references.collect::<Step<Vec<_>>>()?.concat();
        let detail = detail(request.parameter("detail").unwrap_or("full"))?;
        let [agencies, ids, items] = [part(0), named_ids, part(3)];
        let versions = place.get(2).map_or(Ids::Any, |text| versions(face, text));
        Ok(Self { kinds, agencies, ids, versions, items, references, detail })
    }

    /// Returns whether something of this kind is answered, asked for or referred to.
    pub(crate) fn wants(&self, kind: Kind) -> bool {
        self.kinds.contains(&kind) || self.references.contains(&kind)
    }

    /// Returns whether a part of the items of something of this kind is asked for.
    pub(crate) fn is_part(&self, kind: Kind) -> bool {
        let has_items = !matches!(kind, Kind::Dataflow | Kind::DataStructure);
        has_items && self.kinds.contains(&kind) && self.items != Ids::Any
    }

    /// Returns whether an item of something of this kind is meant. Of what is referred to, every
    /// one is.
    pub(crate) fn has_item(&self, kind: Kind, id: &str) -> bool {
        !self.is_part(kind) || self.items.has(id)
    }

    /// Returns whether something of this kind is told by its name alone.
    pub(crate) fn is_stub(&self, kind: Kind) -> bool {
        match self.detail {
            Detail::Full => false,
            Detail::AllStubs => true,
            Detail::ReferenceStubs => !self.kinds.contains(&kind),
        }
    }
}

impl Ids {
    /// Returns whether an id is meant.
    pub(crate) fn has(&self, id: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Some(ids) => ids.iter().any(|one| one == id),
        }
    }

    /// Returns whether something of a kind can have such an id: those of codelists alone have `-`.
    fn may_be_of(&self, kind: Kind) -> bool {
        let Self::Some(ids) = self else { return true };
        match kind {
            Kind::AgencyScheme => self.has("AGENCIES"),
            Kind::Codelist => ids.iter().any(|id| id.contains('-')),
            _ => !ids.iter().all(|id| id.contains('-')),
        }
    }

    /// Returns whether an agency is meant: by its own id, or by that of the service, for clients
    /// that know one agency a service.
    pub(crate) fn has_agency(&self, id: &str) -> bool {
        self.has(id) || self.has(SENDER)
    }

    /// Returns whether a version is meant: itself, or by a word or a sign for newer ones.
    pub(crate) fn has_version(&self, version: &str) -> bool {
        let Self::Some(versions) = self else { return true };
        let major = |text: &str| text.split('.').next().unwrap_or_default().to_owned();
        versions.iter().any(|wanted| match wanted.find(SIGNS) {
            Some(0) => true,
            Some(_) => major(wanted).trim_end_matches(SIGNS) == major(version),
            // The newest is the only one that there is.
            None => {
                wanted == version
                    || wanted.eq_ignore_ascii_case("latest")
                    || *wanted == format!("{version}.0")
            }
        })
    }
}

/// A part of the path: words for any, else ids with `+` or commas between them.
pub(crate) fn ids(face: Face, text: &str) -> Ids {
    let (any, separator) = match face {
        Face::V21 => ("all", '+'),
        Face::V30 => ("*", ','),
    };
    if text.is_empty() || text.eq_ignore_ascii_case(any) {
        return Ids::Any;
    }
    Ids::Some(text.split(separator).map(str::to_owned).collect())
}

/// Words of a parameter that has several in 3.0.
pub(crate) fn listed(face: Face, text: &str) -> Vec<&str> {
    match face {
        Face::V21 => vec![text],
        Face::V30 => text.split(',').collect(),
    }
}

/// Versions: as ids, and with a sign for newer ones, which separates those of 2.1 otherwise.
pub(crate) fn versions(face: Face, text: &str) -> Ids {
    if text.ends_with('+') { Ids::Some(vec![text.to_owned()]) } else { ids(face, text) }
}

fn named(kind: &str) -> Step<Kind> {
    if let Some((_, found)) = KINDS.iter().find(|(name, _)| *name == kind) {
        return Ok(*found);
    }
    if NONE_OF.contains(&kind) {
        return Err(not_found(format!("there is no {kind} here")));
    }
    Err(bad_request(format!("there is no resource '{kind}'")))
}

/// Refuses parameters that structures do not have.
fn parameters(request: &Request) -> Step<()> {
    for (name, _) in request.parameters() {
        match name {
            "references" | "detail" => {}
            "asOf" => return Err(unsaid("asOf: structures are those of now")),
            _ => return Err(bad_request(format!("'{name}' is no parameter of structures"))),
        }
    }
    Ok(())
}

fn detail(text: &str) -> Step<Detail> {
    match text {
        "full" | "raw" | "referencepartial" => Ok(Detail::Full),
        "allstubs" | "allcompletestubs" => Ok(Detail::AllStubs),
        "referencestubs" | "referencecompletestubs" => Ok(Detail::ReferenceStubs),
        _ => Err(bad_request(format!("detail: '{text}' is none of the standard's"))),
    }
}

/// The kinds that `references` adds.
fn references(kinds: &[Kind], text: &str) -> Step<Vec<Kind>> {
    use Kind::{Codelist, ConceptScheme, DataStructure, Dataflow};
    let items = [ConceptScheme, Codelist];
    let of = |kind: &Kind| -> Option<Vec<Kind>> {
        Some(match (text, kind) {
            ("none", _) | (_, Kind::AgencyScheme) => Vec::new(),
            ("all", _) => vec![Dataflow, DataStructure, ConceptScheme, Codelist],
            ("children", Dataflow) => vec![DataStructure],
            ("descendants", Dataflow) => vec![DataStructure, ConceptScheme, Codelist],
            ("children" | "descendants", DataStructure) => items.to_vec(),
            ("children" | "descendants", _) | ("parents" | "ancestors", Dataflow) => Vec::new(),
            ("parentsandsiblings", Dataflow) => Vec::new(),
            ("parents" | "ancestors" | "parentsandsiblings", DataStructure) => vec![Dataflow],
            ("parents", _) => vec![DataStructure],
            ("ancestors", _) => vec![DataStructure, Dataflow],
            ("parentsandsiblings", _) => vec![DataStructure, ConceptScheme, Codelist],
            _ => return None,
        })
    };
    let related: Option<Vec<Vec<Kind>>> = kinds.iter().map(of).collect();
    match related {
        Some(related) => Ok(related.concat()),
        None => match named(text) {
            Ok(kind) => Ok(vec![kind]),
            // There is nothing of the kind that could be referred to.
            Err(yearbook_sdk::adapter::Stop::Refused(Refusal { status: 404, .. })) => {
                Ok(Vec::new())
            }
            Err(_) => Err(bad_request(format!("references: '{text}' is none of the standard's"))),
        },
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use yearbook_sdk::adapter::{Example, Stop};

    use super::*;

    fn parse(face: Face, address: &str) -> Step<Query> {
        let request = Example::get(address, 0).request;
        Query::parse(face, &request, &request.segments())
    }

    fn status(address: &str) -> u16 {
        match parse(Face::V21, address) {
            Err(Stop::Refused(refusal)) => refusal.status,
            Err(Stop::Document(document)) => document.status,
            _ => 200,
        }
    }

    #[test]
    fn words_and_signs_stand_for_any_and_the_newest_contract_19() {
        let query = parse(Face::V21, "/dataflow/all/all/latest").unwrap();
        assert_eq!((query.agencies.clone(), query.ids), (Ids::Any, Ids::Any));
        assert!(query.versions.has_version("1.3"));
        let query = parse(Face::V30, "/dataflow/A,B/*/1+.0").unwrap();
        assert!(query.agencies.has("B") && !query.agencies.has("C"));
        assert!(query.versions.has_version("1.3") && !query.versions.has_version("2.0"));
        for wanted in ["+", "1+", "1.0+", "latest", "LATEST", "all", "ALL"] {
            assert!(versions(Face::V21, wanted).has_version("1.3"), "{wanted}");
        }
        assert!(versions(Face::V30, "1.*").has_version("1.3"));
        assert!(!versions(Face::V30, "2.*").has_version("1.3"));
        assert!(!versions(Face::V21, "2+").has_version("1.3"));
        for (wanted, is_it) in [("1.3", true), ("1.3.0", true), ("1.2", false), ("+", true)] {
            let version = ids(Face::V30, wanted);
            assert_eq!(version.has_version("1.3"), is_it, "{wanted}");
        }
    }

    #[test]
    fn an_id_says_of_which_kinds_it_can_be_contract_19() {
        let kinds = |id: &str| {
            let query = parse(Face::V30, &format!("/*/*/{id}")).unwrap();
            query.kinds
        };
        assert_eq!(kinds("*").len(), 5);
        assert_eq!(kinds("RATES"), [Kind::Dataflow, Kind::ConceptScheme, Kind::DataStructure]);
        assert_eq!(kinds("RATES-SEX"), [Kind::Codelist]);
        assert!(kinds("AGENCIES").contains(&Kind::AgencyScheme));
    }

    #[test]
    fn references_are_those_of_the_standard_contract_19() {
        let with = |kind: &str, references: &str| {
            let address = format!("/{kind}/all?references={references}");
            parse(Face::V21, &address).unwrap().references
        };
        assert_eq!(with("dataflow", "none"), []);
        assert_eq!(with("dataflow", "children"), [Kind::DataStructure]);
        assert_eq!(with("datastructure", "children"), [Kind::ConceptScheme, Kind::Codelist]);
        assert_eq!(with("codelist", "parents"), [Kind::DataStructure]);
        assert_eq!(with("datastructure", "codelist"), [Kind::Codelist]);
        assert_eq!(with("datastructure", "categorisation"), []);
        assert_eq!(with("datastructure", "valuelist"), []);
        assert_eq!(with("dataflow", "all").len(), 4);
        let several = parse(Face::V30, "/dataflow/*/F?references=codelist,none,children").unwrap();
        assert_eq!(several.references, [Kind::Codelist, Kind::DataStructure]);
    }

    #[test]
    fn what_is_no_query_is_400_and_what_there_is_none_of_404_contract_19() {
        assert_eq!(status("/categoryscheme/all"), 404);
        assert_eq!(status("/namealiasscheme"), 404);
        assert_eq!(status("/dataflow/all?references=codelist,colours"), 400);
        assert_eq!(status("/colours/all"), 400);
        assert_eq!(status("/dataflow/all?references=colours"), 400);
        assert_eq!(status("/dataflow/all?detail=colours"), 400);
        assert_eq!(status("/dataflow/all?colour=red"), 400);
        assert_eq!(status("/dataflow/all?asOf=2020-01-01"), 501);
    }
}
