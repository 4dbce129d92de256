//! The input format `sdmx-ml`: structure-specific data of SDMX-ML 2.1 and 3.0
//! (<https://github.com/sdmx-twg/sdmx-ml>), with observations in series or one by one. Tags come
//! from [`tags`]; what a row holds is in [`components`]. The structure itself is not needed: what
//! the columns are is asked for.

use yearbook_sdk::reader::{
    ColumnRequest, FilePlace, ReadColumn, ReadRefusal, ReaderDescription, RowBuilder,
};
use yearbook_sdk::{Kind, Options, Parameter, Reader};
use yearbook_sdmx_values::{REPORTING_YEAR, Values, is_calendar_year, quote};

mod components;
mod footer;
mod tags;

use components::{Components, Level};
use footer::Footer;
use tags::{Tag, Tags, local, refusal};

yearbook_sdk::export_reader!(SdmxMlReader);

/// A message that is being read.
#[derive(Debug)]
pub struct SdmxMlReader {
    tags: Tags,
    components: Components,
    values: Values,
    /// Open elements.
    path: Vec<Element>,
    /// The structure that the first data set names.
    structure: Option<String>,
    /// Line of the observation that is no row yet.
    observation: Option<u64>,
    footer: Footer,
    /// Set once a data set was there.
    has_data_set: bool,
    /// Set once an observation was there.
    has_rows: bool,
    /// Set once the columns are known.
    is_ready: bool,
    is_last: bool,
}

/// An element, as far as it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Element {
    Message,
    Header,
    /// The header's word on what to do.
    Action,
    DataSet,
    /// Attributes of many observations, told apart from them.
    Group,
    Series,
    Observation,
    /// A component that is an element, since it has several values.
    Component,
    Footer,
    /// Status of the message in the footer.
    Status,
    /// Words of a status.
    StatusText,
    Other,
}

impl Element {
    fn new(parent: Option<Self>, name: &str) -> Self {
        match (parent, name) {
            (None, _) => Self::Message,
            (Some(Self::Message), "DataSet") => Self::DataSet,
            (Some(Self::Message), "Header") => Self::Header,
            (Some(Self::Header), "DataSetAction") => Self::Action,
            (Some(Self::Message), "Footer") => Self::Footer,
            (Some(Self::Footer), "Message") => Self::Status,
            (Some(Self::Status), _) => Self::StatusText,
            (Some(Self::DataSet | Self::Group | Self::Series), "Group" | "Atts") => Self::Group,
            (Some(Self::DataSet), "Series") => Self::Series,
            (Some(Self::DataSet | Self::Series), "Obs") => Self::Observation,
            (Some(Self::DataSet | Self::Group | Self::Series | Self::Observation), "Comp") => {
                Self::Component
            }
            _ => Self::Other,
        }
    }
}

impl Reader for SdmxMlReader {
    fn describe() -> ReaderDescription {
        let optional = Parameter {
            name: "optional",
            kind: Kind::Text,
            default: "",
            allowed: &[],
            docs: "Components that no observation need have, with spaces between them: what is null is left out.",
        };
        ReaderDescription {
            format: "sdmx-ml",
            version: env!("CARGO_PKG_VERSION"),
            title: "SDMX-ML",
            parameters: Values::parameters().into_iter().chain([optional]).collect(),
            example: EXAMPLE,
            docs: "Structure-specific data of SDMX-ML 2.1 and 3.0, in series or flat. The components are columns under their ids; \
                   those of the series and the data set are told with every observation. All data sets are of one structure, and \
                   none deletes. Groups are not joined with observations: what they alone have is refused where it is asked for. An empty value is null, and so are NaN as a number and what `missing_values` \
                   lists. What Yearbook sends comes back exactly with `nulls`, `escaped` and `optional`.",
        }
    }

    fn open(requests: &[ColumnRequest], options: &Options) -> Result<Self, ReadRefusal> {
        let values = Values::from_options(options)?;
        Ok(Self {
            tags: Tags::default(),
            components: Components::new(requests, values.escaped(), options.text("optional")?),
            values,
            path: Vec::new(),
            structure: None,
            observation: None,
            footer: Footer::default(),
            has_data_set: false,
            has_rows: false,
            is_ready: false,
            is_last: false,
        })
    }

    fn push(&mut self, bytes: &[u8], last: bool) -> Result<(), ReadRefusal> {
        self.tags.push(bytes, last);
        self.is_last = last;
        if !self.is_ready {
            self.is_ready = self.find_observation()? || last;
            if self.is_ready && !self.has_rows && self.components.columns().is_empty() {
                return Err(refusal(1, "the message has no observation, so it names no column"));
            }
        }
        Ok(())
    }

    fn columns(&self) -> Option<Vec<ReadColumn>> {
        self.is_ready.then(|| self.components.columns().iter().map(ReadColumn::from).collect())
    }

    fn pull(&mut self, rows: &mut RowBuilder) -> Result<(), ReadRefusal> {
        while !rows.is_full() && self.find_observation()? {
            let line = self.observation.take().unwrap_or_default();
            let year = self.components.reporting_year();
            for (at, column) in self.components.columns().iter().enumerate() {
                let request = &column.request;
                let text = column.text();
                self.values
                    .check_reporting_year(year, request.requested_type, text)
                    .and_then(|()| {
                        let requested_type = request.requested_type;
                        self.values.add(rows, at, requested_type, text, column.is_escaped)
                    })
                    .map_err(|why| {
                        ReadRefusal::unsupported(FilePlace::line(line, &request.name), why)
                    })?;
            }
            rows.end_row();
        }
        Ok(())
    }
}

impl SdmxMlReader {
    /// Reads up to the next observation; false where more bytes are needed, or at the end.
    fn find_observation(&mut self) -> Result<bool, ReadRefusal> {
        if self.observation.is_some() {
            return Ok(true);
        }
        while let Some(tag) = self.tags.read()? {
            if tag.is_end {
                let line = tag.line;
                match self.path.pop() {
                    Some(Element::Action) if is_deletion(self.tags.text()) => {
                        return Err(deletion(line, "DataSetAction"));
                    }
                    Some(Element::StatusText) => self.footer.add_text(self.tags.text()),
                    Some(Element::Status) => self.footer.finish_status()?,
                    _ => {}
                }
                continue;
            }
            let element = Element::new(self.path.last().copied(), tag.local_name());
            if !tag.is_empty {
                self.path.push(element);
            }
            let level = match element {
                Element::Message => {
                    check_message(&tag)?;
                    continue;
                }
                Element::DataSet => {
                    self.has_data_set = true;
                    Level::DataSet
                }
                Element::Series => Level::Series,
                Element::Observation => Level::Observation,
                Element::Group => {
                    check_group(&tag, &mut self.components)?;
                    continue;
                }
                Element::Component => {
                    check_component(&tag, &mut self.components)?;
                    continue;
                }
                Element::Status => {
                    self.footer.begin_status(&tag)?;
                    continue;
                }
                Element::Other if matches!(tag.local_name(), "DataSet" | "Series" | "Obs") => {
                    let name = tag.local_name();
                    let sentence = format!("has <{name}> where data of SDMX-ML has none");
                    return Err(refusal(tag.line, sentence));
                }
                Element::Header
                | Element::Action
                | Element::Footer
                | Element::StatusText
                | Element::Other => continue,
            };
            // An observation outside series has none of the series before it.
            self.components.clear(match level {
                Level::Observation if !self.path.contains(&Element::Series) => Level::Series,
                level => level,
            });
            take_attributes(&tag, level, &mut self.components, &mut self.structure)?;
            if level == Level::Observation {
                self.observation = Some(tag.line);
                self.has_rows = true;
                self.components.close(tag.line)?;
                return Ok(true);
            }
        }
        if self.is_last && !self.has_data_set {
            return Err(self.footer.no_data_set());
        }
        if self.is_last && self.has_rows {
            self.components.finish()?;
        }
        Ok(false)
    }
}

/// Takes the components of an element, and checks what it says of the message.
fn take_attributes(
    tag: &Tag<'_>,
    level: Level,
    components: &mut Components,
    structure: &mut Option<String>,
) -> Result<(), ReadRefusal> {
    for attribute in tag.attributes() {
        let (name, attribute) = attribute?;
        match local(name) {
            "structureRef" if level == Level::DataSet => {
                let text = tag.text_of(&attribute)?;
                if structure.get_or_insert_with(|| text.clone().into_owned()) != &text {
                    return Err(ReadRefusal::unsupported(
                        FilePlace::line(tag.line, name),
                        "is another one than that of the first data set; split the file, a dataset has one structure",
                    ));
                }
            }
            "action" if name.contains(':') => {
                if is_deletion(tag.text_of(&attribute)?.as_bytes()) {
                    return Err(deletion(tag.line, name));
                }
            }
            _ if name.contains(':') || name == "xmlns" => {}
            id => {
                if components.wants(id, tag.line)? {
                    components.set(id, level, &tag.text_of(&attribute)?, tag.line)?;
                }
            }
        }
    }
    Ok(())
}

fn is_deletion(action: &[u8]) -> bool {
    action.eq_ignore_ascii_case(b"delete")
}

fn deletion(line: u64, path: &str) -> ReadRefusal {
    ReadRefusal::unsupported(
        FilePlace::line(line, path),
        "deletes observations; publish the whole of the data, not what changed since an earlier message",
    )
}

/// Notes the components of a group, and refuses those that are meant for its observations.
fn check_group(tag: &Tag<'_>, components: &mut Components) -> Result<(), ReadRefusal> {
    for attribute in tag.attributes() {
        let (name, attribute) = attribute?;
        if name.contains(':') || name == "xmlns" {
            continue;
        }
        if name == REPORTING_YEAR && !is_calendar_year(&tag.text_of(&attribute)?) {
            return Err(ReadRefusal::unsupported(
                FilePlace::line(tag.line, name),
                "stands at a group, whose reporting years do not begin on the first of January; take the data as SDMX-CSV",
            ));
        }
        components.note_group(name, tag.line)?;
    }
    Ok(())
}

/// Refuses a component with several values, where it is asked for.
fn check_component(tag: &Tag<'_>, components: &mut Components) -> Result<(), ReadRefusal> {
    for attribute in tag.attributes() {
        let (name, attribute) = attribute?;
        let id = if name == "id" { tag.text_of(&attribute)? } else { continue };
        if components.wants(&id, tag.line)? {
            return Err(ReadRefusal::unsupported(
                FilePlace::line(tag.line, quote(&id)),
                "may have several values, for which a table has no place; leave the column out",
            ));
        }
    }
    Ok(())
}

/// Refuses what is no structure-specific data.
fn check_message(tag: &Tag<'_>) -> Result<(), ReadRefusal> {
    let advice = match tag.local_name() {
        "StructureSpecificData" | "StructureSpecificTimeSeriesData" => return Ok(()),
        "GenericData" | "GenericTimeSeriesData" => {
            "is generic data; ask the service for structure-specific data or SDMX-CSV".to_owned()
        }
        other => {
            format!("begins with {}; SDMX-ML data begins with StructureSpecificData", quote(other))
        }
    };
    Err(ReadRefusal::unsupported(FilePlace::line(tag.line, ""), advice))
}

/// A message of version 2.1 in series.
const EXAMPLE: &[u8] = br#"<?xml version="1.0" encoding="UTF-8"?>
<!-- Made up. -->
<mes:StructureSpecificData xmlns:mes="http://www.sdmx.org/resources/sdmxml/schemas/v2_1/message" xmlns:ss="http://www.sdmx.org/resources/sdmxml/schemas/v2_1/data/structurespecific">
<mes:Header><mes:ID>CROPS</mes:ID></mes:Header>
<mes:DataSet ss:structureRef="CROPS" ss:action="Information">
<Series FREQ="Q" REF_AREA="NZ">
<Obs TIME_PERIOD="2024-Q1" OBS_VALUE="12.5" NOTE="frost &amp; &#34;hail&#34;"/>
<Obs TIME_PERIOD="2024-Q2" OBS_VALUE="NaN"/>
</Series>
<Series FREQ="Q" REF_AREA="AU"><Obs TIME_PERIOD='2024-Q1'/></Series>
</mes:DataSet>
</mes:StructureSpecificData>
"#;
