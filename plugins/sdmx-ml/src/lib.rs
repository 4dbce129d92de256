//! The format `sdmx-ml`: structure-specific data of SDMX-ML 2.1 and 3.0
//! (<https://github.com/sdmx-twg/sdmx-ml>). What the columns are is `yearbook-sdmx-model`'s.
//! Observations stand one by one, each with its whole key, so that parts are independent; or, for
//! rows that come in the order of their series, inside series.

mod head;
mod plan;
mod xml;

use yearbook_sdk::{
    Batch, Description, Encoder, Error, Kind, Options, Output, Parameter, Schema, View,
};
use yearbook_sdmx_model::Structure;

use self::head::Head;
use self::plan::{Layout, Plan, Shown};

yearbook_sdk::export_encoder!(SdmxMlEncoder);
yearbook_sdk::export_codelists!();

/// One message.
#[derive(Debug)]
pub struct SdmxMlEncoder {
    head: Head,
    plan: Plan,
    views: Vec<View>,
}

impl Encoder for SdmxMlEncoder {
    fn describe() -> Description {
        let parameter =
            |name, kind, default, allowed, docs| Parameter { name, kind, default, allowed, docs };
        Description {
            format: "sdmx-ml",
            version: env!("CARGO_PKG_VERSION"),
            media_type: "application/vnd.sdmx.structurespecificdata+xml",
            extension: "xml",
            separator: Some(b""),
            part_rows: None,
            dictionaries: true,
            compressible: true,
            parameters: vec![
                parameter("version", Kind::Text, "2.1", &["2.1", "3.0"], "The version of SDMX-ML."),
                parameter(
                    "layout",
                    Kind::Text,
                    "flat",
                    &["flat", "series"],
                    "How observations stand: each with its whole key, or inside series, which rows in the order of series need.",
                ),
                parameter(
                    "detail",
                    Kind::Text,
                    "full",
                    &["full", "dataonly", "serieskeysonly", "nodata"],
                    "As in SDMX REST: everything, no attributes, or series without observations.",
                ),
                parameter(
                    "structure",
                    Kind::Text,
                    "",
                    &[],
                    "`AGENCY:ID(VERSION)` of the dataflow; otherwise namespace and dataset in upper case, and 1.0.",
                ),
                parameter(
                    "wide",
                    Kind::Boolean,
                    "false",
                    &[],
                    "Whether MEASURE is a dimension though one column of values is asked for.",
                ),
            ],
            docs: "SDMX-ML 2.1 or 3.0, structure-specific data, for sdmx1, pysdmx, rsdmx and other readers of SDMX. The dimensions are the \
                   columns of the primary key and TIME_PERIOD; the value is OBS_VALUE, and of several columns of values the dimension MEASURE \
                   tells which; other columns are attributes, without geometry. Ids of values: what SDMX does not take in an id is `$` and \
                   two hexadecimal digits. For tables with a primary key and a column of values.",
        }
    }

    fn open(schema: Schema, options: &Options) -> Result<Self, Error> {
        let structure = Structure::of_schema(&schema, options.boolean("wide")?)
            .map_err(|decline| Error::UnsupportedSchema(decline.to_string()))?;
        let shown = match options.text("detail")? {
            "full" => Shown { values: true, attributes: true },
            "dataonly" => Shown { values: true, attributes: false },
            _ => Shown { values: false, attributes: false },
        };
        // Without time there are no series.
        let layout = match (shown.values, options.text("layout")?) {
            _ if structure.time.is_none() => Layout::Flat,
            (false, _) => Layout::SeriesKeys,
            (true, "series") => Layout::Series,
            _ => Layout::Flat,
        };
        let plan = Plan::new(&structure, layout, shown);
        let views = plan.views(&schema)?;
        let in_series = layout != Layout::Flat;
        let is_version_3 = options.text("version")? == "3.0";
        let head = Head::new(&schema, options.text("structure")?, is_version_3, in_series)?;
        Ok(Self { head, plan, views })
    }

    fn views(&self) -> Vec<View> {
        self.views.clone()
    }

    fn head(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        self.head.write(out);
        Ok(())
    }

    fn part(&mut self, batch: Batch, out: &mut Output) -> Result<(), Error> {
        self.plan.write(&batch, out);
        Ok(())
    }

    fn tail(&mut self, _: &[yearbook_sdk::Note], out: &mut Vec<u8>) -> Result<(), Error> {
        out.extend_from_slice(b"</mes:DataSet>\n</mes:StructureSpecificData>\n");
        Ok(())
    }
}
