//! Messages of structures in SDMX-ML, 2.1 and 3.0. They differ in namespaces, in the order of
//! parts, and in how one refers to another.

use yearbook_sdmx_model::{Representation, ValueType};

use crate::flow::{Component, Flow, Kind as Of};
use crate::message::{MESSAGE_ID, Message, SENDER, annotations};
use crate::query::Kind;
use crate::xml::Xml;

/// Writes a message.
pub(crate) fn write(message: &Message<'_>, is_30: bool, address: &str) -> String {
    let version = if is_30 { "v3_0" } else { "v2_1" };
    let space =
        |name: &str| format!("http://www.sdmx.org/resources/sdmxml/schemas/{version}/{name}");
    let (mes, str, com) = (space("message"), space("structure"), space("common"));
    let spaces = [("xmlns:mes", &*mes), ("xmlns:str", &*str), ("xmlns:com", &*com)];
    let mut writer = Writer { xml: Xml::new("mes:Structure", &spaces), message, is_30, address };
    writer.header();
    writer.xml.open("mes:Structures", &[]);
    if is_30 {
        writer.agencies("str:AgencySchemes");
        writer.codelists();
        writer.concepts("str:ConceptSchemes");
        writer.constraint("str:DataConstraints", "str:DataConstraint");
        writer.dataflows();
        writer.data_structures();
    } else {
        writer.agencies("str:OrganisationSchemes");
        writer.dataflows();
        writer.codelists();
        writer.concepts("str:Concepts");
        writer.data_structures();
        writer.constraint("str:Constraints", "str:ContentConstraint");
    }
    writer.xml.finish()
}

pub(crate) struct Writer<'a> {
    pub(crate) xml: Xml,
    pub(crate) message: &'a Message<'a>,
    pub(crate) is_30: bool,
    /// Address of structures.
    address: &'a str,
}

impl Writer<'_> {
    fn header(&mut self) {
        let prepared = &self.message.prepared;
        self.xml.open("mes:Header", &[]);
        self.xml.leaf("mes:ID", &[], MESSAGE_ID).leaf("mes:Test", &[], "false");
        self.xml.leaf("mes:Prepared", &[], prepared).empty("mes:Sender", &[("id", SENDER)]).close();
    }

    fn agencies(&mut self, container: &'static str) {
        let Some(agencies) = &self.message.agencies else { return };
        let mut attributes = vec![("id", "AGENCIES"), ("agencyID", "SDMX"), ("version", "1.0")];
        if self.is_30 {
            attributes.pop();
        }
        if self.message.query.is_part(Kind::AgencyScheme) {
            attributes.push(("isPartial", "true"));
        }
        self.xml.open(container, &[]).open("str:AgencyScheme", &attributes);
        self.name("en", "Agencies", None);
        for agency in agencies {
            self.xml.open("str:Agency", &[("id", agency)]);
            self.name("en", agency, None);
            self.xml.close();
        }
        self.xml.close().close();
    }

    fn dataflows(&mut self) {
        if !self.message.has(Kind::Dataflow) {
            return;
        }
        self.xml.open("str:Dataflows", &[]);
        for flow in &self.message.flows {
            let urn = flow.name.dataflow_urn();
            self.maintained("str:Dataflow", flow, &flow.name.id, &urn, Kind::Dataflow);
            self.reference("str:Structure", flow, &flow.name.id, "DataStructure");
            self.xml.close();
        }
        self.xml.close();
    }

    fn codelists(&mut self) {
        if !self.message.has(Kind::Codelist) {
            return;
        }
        self.xml.open("str:Codelists", &[]);
        for flow in &self.message.flows {
            for component in flow.components() {
                let id = flow.name.codelist_id(&component.id);
                if component.representation != Representation::Coded || !self.is_meant(&id) {
                    continue;
                }
                let urn = flow.name.codelist_urn(&component.id);
                let title = &component.name;
                self.titled("str:Codelist", flow, &id, &urn, Kind::Codelist, title);
                if !self.message.query.is_stub(Kind::Codelist) {
                    self.codes(flow, &component);
                }
                self.xml.close();
            }
        }
        self.xml.close();
    }

    fn codes(&mut self, flow: &Flow, component: &Component) {
        for code in flow.codes(&component.id) {
            if !self.message.query.has_item(Kind::Codelist, &code.id) {
                continue;
            }
            self.xml.open("str:Code", &[("id", &code.id)]);
            self.name(flow.language(), &code.name, code.description.as_deref());
            self.xml.close();
        }
    }

    fn concepts(&mut self, container: &'static str) {
        if !self.message.has(Kind::ConceptScheme) {
            return;
        }
        self.xml.open(container, &[]);
        for flow in &self.message.flows {
            let urn = flow.name.concept_scheme_urn();
            self.maintained("str:ConceptScheme", flow, &flow.name.id, &urn, Kind::ConceptScheme);
            let is_stub = self.message.query.is_stub(Kind::ConceptScheme);
            for component in flow.components().iter().filter(|_| !is_stub) {
                if !self.message.query.has_item(Kind::ConceptScheme, &component.id) {
                    continue;
                }
                let urn = flow.name.concept_urn(&component.id);
                self.xml.open("str:Concept", &[("id", &component.id), ("urn", &urn)]);
                if let Some(unit) = &component.unit {
                    self.xml.open("com:Annotations", &[]);
                    self.annotation(flow.language(), "UNIT", unit, None);
                    self.xml.close();
                }
                self.name(flow.language(), &component.name, component.description.as_deref());
                self.xml.close();
            }
            self.xml.close();
        }
        self.xml.close();
    }

    fn data_structures(&mut self) {
        if !self.message.has(Kind::DataStructure) {
            return;
        }
        self.xml.open("str:DataStructures", &[]);
        for flow in &self.message.flows {
            let urn = flow.name.structure_urn();
            self.maintained("str:DataStructure", flow, &flow.name.id, &urn, Kind::DataStructure);
            if !self.message.query.is_stub(Kind::DataStructure) {
                self.components(flow);
            }
            self.xml.close();
        }
        self.xml.close();
    }

    fn components(&mut self, flow: &Flow) {
        let components = flow.components();
        let of = |kind: Of| components.iter().filter(move |component| component.kind == kind);
        self.xml.open("str:DataStructureComponents", &[]);
        self.xml.open("str:DimensionList", &[("id", "DimensionDescriptor")]);
        for (at, dimension) in of(Of::Dimension).enumerate() {
            let position = (at + 1).to_string();
            let attributes = [("id", &*dimension.id), ("position", &position)];
            self.component("str:Dimension", &attributes, flow, dimension);
            self.xml.close();
        }
        let position = (of(Of::Dimension).count() + 1).to_string();
        for time in of(Of::Time) {
            let attributes = [("id", &*time.id), ("position", &position)];
            let attributes = if self.is_30 { &attributes[..1] } else { &attributes };
            self.component("str:TimeDimension", attributes, flow, time);
            self.xml.close();
        }
        self.xml.close();
        if of(Of::Attribute).next().is_some() {
            self.xml.open("str:AttributeList", &[("id", "AttributeDescriptor")]);
        }
        for attribute in of(Of::Attribute) {
            let usage = if self.is_30 {
                ("usage", "optional")
            } else {
                ("assignmentStatus", "Conditional")
            };
            self.component("str:Attribute", &[("id", &*attribute.id), usage], flow, attribute);
            self.xml.open("str:AttributeRelationship", &[]);
            if self.is_30 {
                // Its measure is not said: there is one, and sdmx1 reads no more.
                self.xml.empty("str:Observation", &[]);
            } else {
                self.xml.open("str:PrimaryMeasure", &[]).empty("Ref", &[("id", "OBS_VALUE")]);
                self.xml.close();
            }
            self.xml.close().close();
        }
        if of(Of::Attribute).next().is_some() {
            self.xml.close();
        }
        self.xml.open("str:MeasureList", &[("id", "MeasureDescriptor")]);
        for measure in of(Of::Measure) {
            if self.is_30 {
                let attributes = [("id", &*measure.id), ("usage", "optional")];
                self.component("str:Measure", &attributes, flow, measure);
            } else {
                self.component("str:PrimaryMeasure", &[("id", &measure.id)], flow, measure);
            }
            self.xml.close();
        }
        self.xml.close().close();
    }

    /// Opens a component, with its concept and its representation.
    fn component(
        &mut self,
        name: &'static str,
        attributes: &[(&str, &str)],
        flow: &Flow,
        component: &Component,
    ) {
        self.xml.open(name, attributes);
        if self.is_30 {
            self.xml.leaf("str:ConceptIdentity", &[], &flow.name.concept_urn(&component.id));
        } else {
            let reference = [
                ("id", &*component.id),
                ("maintainableParentID", &flow.name.id),
                ("maintainableParentVersion", &flow.name.version),
                ("agencyID", &flow.name.agency),
                ("package", "conceptscheme"),
                ("class", "Concept"),
            ];
            self.xml.open("str:ConceptIdentity", &[]).empty("Ref", &reference).close();
        }
        self.xml.open("str:LocalRepresentation", &[]);
        match (component.kind, component.representation) {
            (Of::Time, _) => {
                self.xml.empty("str:TextFormat", &[("textType", "ObservationalTimePeriod")]);
            }
            (_, Representation::Coded) if self.is_30 => {
                self.xml.leaf("str:Enumeration", &[], &flow.name.codelist_urn(&component.id));
            }
            (_, Representation::Coded) => {
                let id = flow.name.codelist_id(&component.id);
                self.reference("str:Enumeration", flow, &id, "Codelist");
            }
            (_, Representation::Plain(value_type)) => {
                self.xml.empty("str:TextFormat", &[("textType", text_type(value_type))]);
            }
        }
        self.xml.close();
    }

    /// Opens something with the name of its dataflow.
    fn maintained(&mut self, element: &'static str, flow: &Flow, id: &str, urn: &str, kind: Kind) {
        self.titled(element, flow, id, urn, kind, flow.title());
    }

    fn titled(
        &mut self,
        element: &'static str,
        flow: &Flow,
        id: &str,
        urn: &str,
        kind: Kind,
        title: &str,
    ) {
        let (agency, version) = (&*flow.name.agency, &*flow.name.version);
        let mut attributes = vec![("id", id), ("urn", urn), ("agencyID", agency)];
        attributes.push(("version", version));
        let is_stub = self.message.query.is_stub(kind);
        let address = is_stub.then(|| self.place(kind, agency, id, version));
        if !self.is_30 {
            attributes.push(("isFinal", "true"));
        }
        if let Some(address) = &address {
            attributes.extend([("isExternalReference", "true"), ("structureURL", address)]);
        }
        if self.message.is_part(kind, flow, id) {
            attributes.push(("isPartial", "true"));
        }
        self.xml.open(element, &attributes);
        if kind == Kind::Dataflow {
            self.xml.open("com:Annotations", &[]);
            for note in annotations(flow) {
                self.annotation(flow.language(), note.kind, note.text, note.address);
            }
            self.xml.close();
        }
        let description = flow.dataset.description.as_deref();
        self.name(flow.language(), title, description.filter(|_| kind == Kind::Dataflow));
    }

    fn place(&self, kind: Kind, agency: &str, id: &str, version: &str) -> String {
        let kind = match kind {
            Kind::AgencyScheme => "agencyscheme",
            Kind::Dataflow => "dataflow",
            Kind::Codelist => "codelist",
            Kind::ConceptScheme => "conceptscheme",
            Kind::DataStructure => "datastructure",
        };
        format!("{}/{kind}/{agency}/{id}/{version}", self.address)
    }

    fn annotation(&mut self, language: &str, kind: &str, text: &str, address: Option<&str>) {
        self.xml.open("com:Annotation", &[]).leaf("com:AnnotationType", &[], kind);
        if let Some(address) = address {
            self.xml.leaf("com:AnnotationURL", &[], address);
        }
        self.xml.leaf("com:AnnotationText", &[("xml:lang", language)], text).close();
    }

    pub(crate) fn name(&mut self, language: &str, name: &str, description: Option<&str>) {
        self.xml.leaf("com:Name", &[("xml:lang", language)], name);
        if let Some(description) = description {
            self.xml.leaf("com:Description", &[("xml:lang", language)], description);
        }
    }

    /// An element that refers to something of the same agency and version.
    pub(crate) fn reference(
        &mut self,
        element: &'static str,
        flow: &Flow,
        id: &str,
        class: &'static str,
    ) {
        let package = if class == "Codelist" { "codelist" } else { "datastructure" };
        let (agency, version) = (&*flow.name.agency, &*flow.name.version);
        if self.is_30 {
            let urn =
                format!("urn:sdmx:org.sdmx.infomodel.{package}.{class}={agency}:{id}({version})");
            self.xml.leaf(element, &[], &urn);
            return;
        }
        let reference = [
            ("id", id),
            ("version", version),
            ("agencyID", agency),
            ("package", package),
            ("class", class),
        ];
        self.xml.open(element, &[]).empty("Ref", &reference).close();
    }

    /// Returns whether a codelist is answered: one by its own id, or all of a flow.
    fn is_meant(&self, id: &str) -> bool {
        let query = self.message.query;
        !query.kinds.contains(&Kind::Codelist) || query.ids.has(id)
    }
}

/// Name of a type of values.
pub(crate) fn text_type(value_type: ValueType) -> &'static str {
    match value_type {
        ValueType::Text => "String",
        ValueType::Integer => "Long",
        ValueType::Number => "Double",
        ValueType::Boolean => "Boolean",
        ValueType::Date => "GregorianDay",
    }
}
