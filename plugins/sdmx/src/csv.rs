//! The format that no client can name: SDMX-CSV 1.0 and 2.0 in the ids of the structures here. A
//! row of a wide table is an observation of each of its measures.

use yearbook_sdk::text::csv;
use yearbook_sdk::{
    Batch, Description, Encoder, Error, Kind, Options, Output, Parameter, Schema, View,
};
use yearbook_sdmx_model::{Cells, OBS_VALUE, Representation, Source, Structure, TIME_PERIOD};

const DIALECT: csv::Csv = csv::Csv { delimiter: b',' };

/// One response.
pub struct Csv {
    cells: Cells<csv::Csv>,
    /// Lanes of the key, and of the observations of each column of values.
    key: Vec<usize>,
    measures: Vec<Vec<usize>>,
    /// The beginning of each line.
    lead: String,
    header: String,
    views: Vec<View>,
}

impl Encoder for Csv {
    fn describe() -> Description {
        let parameter =
            |name, kind, default, allowed, docs| Parameter { name, kind, default, allowed, docs };
        Description {
            format: "sdmx",
            version: env!("CARGO_PKG_VERSION"),
            media_type: "application/vnd.sdmx.data+csv",
            extension: "csv",
            separator: Some(b""),
            part_rows: None,
            dictionaries: true,
            compressible: true,
            parameters: vec![
                parameter("version", Kind::Text, "2.0.0", &["1.0.0", "2.0.0"], "Of SDMX-CSV."),
                parameter("structure", Kind::Text, "", &[], "`AGENCY:ID(VERSION)`."),
                parameter(
                    "detail",
                    Kind::Text,
                    "full",
                    &["full", "dataonly", "serieskeysonly"],
                    "Everything, no attributes, or keys of series alone.",
                ),
                parameter("key", Kind::Text, "", &[], "Names of the columns of the primary key."),
                parameter("wide", Kind::Boolean, "false", &[], "Whether MEASURE is a dimension."),
            ],
            docs: "SDMX-CSV in the ids of the structures of this API.",
        }
    }

    fn open(mut schema: Schema, options: &Options) -> Result<Self, Error> {
        // Tables that no host sends do not say their key.
        if schema.primary_key().is_none() {
            let key = options.text("key")?.replace(',', "\",\"");
            schema.metadata.push(("yearbook.primary_key".to_owned(), format!("[\"{key}\"]")));
        }
        let structure = Structure::of_schema(&schema, options.boolean("wide")?)
            .map_err(|reason| Error::UnsupportedSchema(reason.to_string()))?;
        let (flow, detail) = (options.text("structure")?, options.text("detail")?);
        let (header, lead) = if options.text("version")? == "1.0.0" {
            ("DATAFLOW", flow.to_owned())
        } else {
            ("STRUCTURE,STRUCTURE_ID,ACTION", format!("dataflow,{flow},I"))
        };
        let has_values = detail != "serieskeysonly";
        let attributes = if detail == "full" { &*structure.attributes } else { &[] };
        let mut ids = structure.dimension_ids();
        ids.retain(|id| has_values || *id != TIME_PERIOD);
        ids.extend(has_values.then_some(OBS_VALUE));
        ids.extend(attributes.iter().map(|attribute| &*attribute.id));
        let header = format!("{header},{}\n", ids.join(","));
        let mut cells = Cells::new(DIALECT, b"", true);
        let mut add = |source| cells.add(source, b",".to_vec());
        let key = structure.dimensions.iter().map(|one| add(Source::Code(one.column))).collect();
        let measures = structure.measures.iter().enumerate().map(|(at, measure)| {
            let code = || Source::Constant(measure.code.clone().into_bytes());
            let mut lanes: Vec<usize> =
                structure.is_wide.then(|| add(code())).into_iter().collect();
            if has_values {
                lanes.extend(structure.time.map(|time| add(Source::Time(time))));
                lanes.push(add(Source::Plain(measure.column)));
            }
            lanes.extend(attributes.iter().map(|attribute| {
                add(match (attribute.column(at), attribute.representation) {
                    (None, _) => Source::Constant(Vec::new()),
                    (Some(column), Representation::Coded) => Source::Code(column),
                    (Some(column), Representation::Plain(_)) => Source::Plain(column),
                })
            }));
            lanes
        });
        let measures = measures.collect();
        let views = cells.views(&schema)?;
        Ok(Self { cells, key, measures, lead, header, views })
    }

    fn views(&self) -> Vec<View> {
        self.views.clone()
    }

    fn head(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        out.extend_from_slice(self.header.as_bytes());
        Ok(())
    }

    fn part(&mut self, batch: Batch, out: &mut Output) -> Result<(), Error> {
        let cells = self.cells.prepare_batch(&batch);
        let mut key = Vec::new();
        for row in 0..batch.rows() {
            key.clear();
            key.extend_from_slice(self.lead.as_bytes());
            self.key.iter().for_each(|lane| cells.write(*lane, row, &mut key));
            for lanes in &self.measures {
                out.extend_from_slice(&key);
                lanes.iter().for_each(|lane| cells.write(*lane, row, out));
                out.push(b'\n');
            }
        }
        Ok(())
    }
}
