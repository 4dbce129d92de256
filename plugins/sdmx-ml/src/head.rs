//! All of a message before its first observation.

use yearbook_sdk::text::Dialect as _;
use yearbook_sdk::{Error, Schema};
use yearbook_sdmx_model::{Flow, TIME_PERIOD, encode};

use crate::xml::Xml;

/// Time of messages about tables that no host published, as those of tests.
const NEVER: &str = "1970-01-01T00:00:00Z";

/// Facts that a message tells of itself.
#[derive(Debug)]
pub(crate) struct Head {
    flow: Flow,
    id: String,
    prepared: String,
    is_version_3: bool,
    in_series: bool,
}

impl Head {
    /// `structure` is `AGENCY:ID(VERSION)`, or empty.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] for a structure of another form.
    pub(crate) fn new(
        schema: &Schema,
        structure: &str,
        is_version_3: bool,
        in_series: bool,
    ) -> Result<Self, Error> {
        let of = |key| schema.metadata(key).unwrap_or("unknown");
        let flow = if structure.is_empty() {
            Flow::new(of("yearbook.namespace"), of("yearbook.dataset"), 1)
        } else {
            Flow::parse(structure).ok_or_else(|| {
                Error::InvalidOption(format!(
                    "`sdmx-ml.structure` must have the form `AGENCY:ID(VERSION)`, such as `OECD:MEI(4.0)`, not `{structure}`"
                ))
            })?
        };
        let id = format!("{}-{}", of("yearbook.dataset"), of("yearbook.snapshot_id"));
        let prepared = schema.metadata("yearbook.published_at").unwrap_or(NEVER);
        Ok(Self {
            flow,
            id: encode(&id).into_owned(),
            prepared: prepared.to_owned(),
            is_version_3,
            in_series,
        })
    }

    /// Appends everything up to the first observation.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let Self { flow, id, is_version_3, in_series, .. } = self;
        let (version, scope) =
            if *is_version_3 { ("v3_0", "") } else { ("v2_1", r#" ss:dataScope="DataStructure""#) };
        let schemas = format!("http://www.sdmx.org/resources/sdmxml/schemas/{version}");
        let at = if *in_series { TIME_PERIOD } else { "AllDimensions" };
        let namespace = format!("{}:ObsLevelDim:{at}", flow.dataflow_urn());
        let mut prepared = Vec::new();
        Xml.text(self.prepared.as_bytes(), &mut prepared);
        let prepared = String::from_utf8_lossy(&prepared);
        let usage = if *is_version_3 {
            flow.dataflow_urn()
        } else {
            let Flow { agency, id, version } = flow;
            format!(r#"<Ref agencyID="{agency}" id="{id}" version="{version}" class="Dataflow"/>"#)
        };
        // rsdmx looks for a structure of this name; some ids are none in XML.
        let name = if flow.id.contains(['@', '$']) { "FLOW" } else { &flow.id };
        // Further namespaces on the first element change what sdmx1 does with the next message.
        let text = format!(
            r#"<?xml version="1.0" encoding="UTF-8"?>
<mes:StructureSpecificData xmlns:mes="{schemas}/message" xmlns:com="{schemas}/common" xmlns:ss="{schemas}/data/structurespecific" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
<mes:Header>
<mes:ID>{id}</mes:ID>
<mes:Test>false</mes:Test>
<mes:Prepared>{prepared}</mes:Prepared>
<mes:Sender id="YEARBOOK"/>
<mes:Structure structureID="{name}" namespace="{namespace}" dimensionAtObservation="{at}"><com:StructureUsage>{usage}</com:StructureUsage></mes:Structure>
</mes:Header>
<mes:DataSet xmlns:flow="{namespace}" ss:structureRef="{name}" xsi:type="flow:DataSetType"{scope} ss:action="Information">
"#
        );
        out.extend_from_slice(text.as_bytes());
    }
}
