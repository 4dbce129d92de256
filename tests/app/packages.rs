//! Small data packages for route tests.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// A data package in memory.
pub struct TestTable {
    descriptor: Value,
    csv: String,
}

impl TestTable {
    /// Writes descriptor and data into `folder`; the descriptor's path.
    #[must_use]
    pub fn write(&self, folder: &Path) -> PathBuf {
        let path = folder.join("datapackage.json");
        std::fs::write(folder.join("data.csv"), &self.csv).unwrap();
        std::fs::write(&path, self.descriptor.to_string()).unwrap();
        path
    }

    /// The same with one more row, or several.
    #[must_use]
    pub fn with_appended(mut self, csv: &str) -> Self {
        self.csv.push_str(csv);
        self
    }

    /// The same with one more field, at the end.
    #[must_use]
    pub fn with_field(mut self, name: &str, kind: &str) -> Self {
        let fields = self.descriptor["resources"][0]["schema"]["fields"].as_array_mut().unwrap();
        fields.push(json!({"name": name, "type": kind}));
        self
    }

    /// The same as another dataset.
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        self.with("/name", json!(name)).with("/resources/0/name", json!(name))
    }

    /// The same without a primary key.
    #[must_use]
    pub fn without_key(mut self) -> Self {
        self.descriptor["resources"][0]["schema"]["primaryKey"] = json!([]);
        self
    }

    /// The same with other data.
    #[must_use]
    pub fn with_rows(mut self, csv: &str) -> Self {
        self.csv = csv.to_owned();
        self
    }

    /// The same with topics.
    #[must_use]
    pub fn with_keywords(mut self, keywords: &[&str]) -> Self {
        self.descriptor["keywords"] = json!(keywords);
        self
    }

    /// The same with another value at a place of the descriptor: a JSON pointer to something that
    /// is there, or to a new member of it.
    #[must_use]
    pub fn with(mut self, pointer: &str, value: Value) -> Self {
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        let parent = self.descriptor.pointer_mut(parent);
        match parent.unwrap_or_else(|| panic!("there is nothing above {pointer}")) {
            Value::Array(items) => items[name.parse::<usize>().unwrap()] = value,
            object => object[name] = value,
        }
        self
    }
}

fn table(name: &str, fields: Value, key: &[&str], yearbook: Value, csv: String) -> TestTable {
    let descriptor = json!({
        "name": name,
        "title": format!("Title of {name}"),
        "licenses": [{"name": "CC-BY-4.0", "title": "Attribution 4.0", "path": "https://licence.example/by"}],
        "sources": [{"title": "Agency", "path": "https://agency.example/data"}, {"title": "A second source"}],
        "resources": [{"name": name, "path": "data.csv", "schema": {"fields": fields, "primaryKey": key}}],
        "yearbook": yearbook,
    });
    TestTable { descriptor, csv }
}

/// A long series: 40 dates by three regions, one of them with a macron; `value` is sometimes null.
#[must_use]
pub fn harvest() -> TestTable {
    let mut csv = "date,region,value,final\n".to_owned();
    for index in 0..40 {
        let (year, month) = (2020 + index / 12, index % 12 + 1);
        for (offset, region) in ["Auckland", "Māori land", "Waikato, north"].into_iter().enumerate()
        {
            let value = if (index + offset) % 7 == 0 {
                String::new()
            } else {
                format!("{}.5", index * 10 + offset)
            };
            let _ = writeln!(csv, "{year}-{month:02}-01,\"{region}\",{value},{}", index % 2 == 0);
        }
    }
    let fields = json!([
        {"name": "date", "type": "date"},
        {"name": "region", "type": "string", "description": "Where."},
        {"name": "value", "type": "number", "unit": "tonnes"},
        {"name": "final", "type": "boolean"},
    ]);
    let yearbook = json!({
        "namespace": "farms", "source": "Ministry of Harvest", "attribution_text": "Ahuwhenua Māori, CC BY 4.0",
        "source_url_precision": "dataset", "refresh_cadence": "weekly", "date_filter_column": "date", "dimensions": ["region"],
        "bulk_redistribution": true,
    });
    table("harvest", fields, &["date", "region"], yearbook, csv)
}

/// Three places without dates.
#[must_use]
pub fn parks() -> TestTable {
    let mut csv = "park,area,geometry_wkt\n".to_owned();
    for (index, name) in ["Albert", "Cornwall", "Domain"].into_iter().enumerate() {
        let _ = writeln!(csv, "{name},{index},\"MULTIPOINT ((174.{index} -36.8))\"");
    }
    let fields = json!([
        {"name": "park", "type": "string"},
        {"name": "area", "type": "integer"},
        {"name": "geometry_wkt", "type": "string"},
    ]);
    let yearbook = json!({
        "namespace": "places", "source": "Council", "attribution_text": "Council, CC BY 4.0", "source_url_precision": "source",
        "dimensions": ["park"], "bulk_redistribution": false,
    });
    table("parks", fields, &["park"], yearbook, csv)
}

/// `rows` rows of `columns` texts of `bytes` bytes each, and a number.
#[must_use]
pub fn wide(rows: usize, columns: usize, bytes: usize) -> TestTable {
    let names: Vec<String> = (0..columns).map(|column| format!("text_{column}")).collect();
    let mut csv = format!("row,{}\n", names.join(","));
    let text = "x".repeat(bytes);
    for row in 0..rows {
        let _ = writeln!(csv, "{row},{}", vec![text.as_str(); columns].join(","));
    }
    let fields: Vec<Value> =
        names.iter().map(|name| json!({"name": name, "type": "string"})).collect();
    let fields = [vec![json!({"name": "row", "type": "integer"})], fields].concat();
    let yearbook = json!({
        "namespace": "tests", "source": "Generator", "attribution_text": "Synthetic", "source_url_precision": "source",
        "dimensions": ["text_0"], "bulk_redistribution": true,
    });
    table("wide", json!(fields), &["row"], yearbook, csv)
}

/// `rows` rows of a counter by day, repeated: enough for several batches.
#[must_use]
pub fn big(rows: usize) -> TestTable {
    let mut csv = "date,series,value\n".to_owned();
    for index in 0..rows {
        let day = index / 100;
        let (year, month, day) = (1900 + day / 336, day / 28 % 12 + 1, day % 28 + 1);
        let _ = writeln!(csv, "{year}-{month:02}-{day:02},series {:02},{}", index % 100, index * 3);
    }
    let fields = json!([
        {"name": "date", "type": "date"},
        {"name": "series", "type": "string"},
        {"name": "value", "type": "integer"},
    ]);
    let yearbook = json!({
        "namespace": "tests", "source": "Generator", "attribution_text": "Synthetic", "source_url_precision": "source",
        "date_filter_column": "date", "dimensions": ["series"], "bulk_redistribution": true,
    });
    table("big", fields, &["date", "series"], yearbook, csv)
}
