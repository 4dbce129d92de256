//! Lines that open a dataset in programs which speak other people's APIs (contract-9-open-in), one
//! or more for each adapter that is loaded. An adapter is known by the standard that its title
//! begins with, as a format is by its media type; one of another title says itself what reads it.

use yearbook_domain::{ColumnRole, Dataset};
use yearbook_sandbox::AdapterDescription;

use crate::copy_lines::CopyLine;

/// Beginnings of titles: the standards that the programs below read.
const FEATURES: &str = "OGC API Features";
const ASSISTANTS: &str = "Model Context Protocol";
const STATISTICS: &str = "SDMX";

/// Characters of an adapter's own words.
const MAX_CHARACTERS: usize = 300;

/// Lines for `dataset` of a service at `base_url`.
pub(crate) fn open_lines<'a>(
    base_url: &str,
    dataset: &Dataset,
    adapters: impl Iterator<Item = &'a AdapterDescription>,
) -> Vec<CopyLine<'a>> {
    let has_geometry = dataset.current.has_geometry();
    let mut lines = Vec::new();
    for AdapterDescription { name, title, docs, .. } in adapters {
        let address = format!("{base_url}/api/{name}");
        if title.starts_with(FEATURES) {
            if has_geometry {
                lines.push(qgis(&address));
                lines.push(gdal(&address, dataset));
            }
        } else if title.starts_with(ASSISTANTS) {
            lines.push(assistant(&address));
        } else if title.starts_with(STATISTICS) {
            let columns = &dataset.current.columns;
            let has_values = columns.iter().any(|column| column.role == ColumnRole::Value);
            if has_values && !dataset.current.primary_key.is_empty() {
                lines.push(statistics(&address, dataset));
            }
        } else {
            let advice = yearbook_domain::preview_facts::cut_text(docs, MAX_CHARACTERS);
            lines.push(CopyLine { tool: title, advice, text: address });
        }
    }
    lines
}

fn qgis<'a>(address: &str) -> CopyLine<'a> {
    CopyLine {
        tool: "QGIS",
        advice: "Layer, Add Layer, Add WFS / OGC API - Features Layer, New: this is the URL. Under Authentication, Basic, your key is the password, with any user name. The layer has the name of the dataset.",
        text: address.to_owned(),
    }
}

fn gdal<'a>(address: &str, dataset: &Dataset) -> CopyLine<'a> {
    let name = &dataset.name;
    CopyLine {
        tool: "GDAL",
        advice: "Put your key into the variable SERVICE_API_KEY first.",
        text: format!(
            "ogrinfo -so OAPIF:{address} {name} -oo USERPWD=\"key:$SERVICE_API_KEY\"\n\
             ogr2ogr {name}.gpkg OAPIF:{address} {name} \\\n  \
             -oo USERPWD=\"key:$SERVICE_API_KEY\" -oo PAGE_SIZE=10000"
        ),
    }
}

fn statistics<'a>(address: &str, dataset: &Dataset) -> CopyLine<'a> {
    let flow = dataset.name.as_str().to_ascii_uppercase();
    CopyLine {
        tool: "sdmx1",
        advice: "Python; put your key into the variable SERVICE_API_KEY first.",
        text: format!(
            "import os, sdmx\n\
             sdmx.add_source({{\"id\": \"YEARBOOK\", \"url\": \"{address}/2.1\", \"name\": \"Yearbook\"}})\n\
             client = sdmx.Client(\"YEARBOOK\", headers={{\"X-API-Key\": os.environ[\"SERVICE_API_KEY\"]}})\n\
             rows = sdmx.to_pandas(client.data(\"{flow}\"))"
        ),
    }
}

fn assistant<'a>(address: &str) -> CopyLine<'a> {
    CopyLine {
        tool: "Assistant",
        advice: "Put this into the list of servers of your program, with your key. Without the header an assistant finds and describes datasets, but reads no rows.",
        text: format!(
            "{{\n  \"mcpServers\": {{\n    \"yearbook\": {{\n      \"type\": \"http\",\n      \
             \"url\": \"{address}\",\n      \"headers\": {{ \"X-API-Key\": \"yb_…\" }}\n    }}\n  }}\n}}"
        ),
    }
}
