//! Plugins that were built against a released interface, kept as the files that they were then,
//! beside the digests of what they wrote. They must load, pass their check and write the same bytes
//! on every host that comes after.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, Date32Array, Float64Array, Int64Array, RecordBatch, StringArray,
};
use arrow::datatypes::{DataType, Field, Schema};
use yearbook_domain::{Column, ColumnRole, ColumnType, Digest, Plan};
use yearbook_releases::{CheckReport, ComponentFile, InstallOptions, TrustPolicy, check, install};
use yearbook_sandbox::{Limits, Plugin, PluginEncoder, PluginReader, with_codes};
use yearbook_scan::ResultHasher;
use yearbook_tests::app::{TestApp, harvest};
use yearbook_tests::components::{root, sandbox};

use super::test_hosts::{embedded, eventually, start_reconciler};

/// A component as it was on the day of its release.
struct ReleasedComponent {
    /// Version of the interface that it was built against, and its name.
    name: &'static str,
    /// Digest of its file.
    file: &'static str,
    /// Digests of its output: of an encoder what it writes of [`batches`] and of [`long_batches`],
    /// or the sentence with which it declines them, and of [`keyed_batches`] where it is told
    /// values; of a reader the rows of its example; of a transform those of [`keyed_batches`]. Of a
    /// generator and an adapter nothing: they write what the service says of itself.
    output: &'static [&'static str],
}

/// Components of every released version. They are never built again.
const RELEASED: [ReleasedComponent; 8] = [
    ReleasedComponent {
        name: "1.1.0/arrow",
        file: "cafa17bdbe14f2e503fcda9aef751feacabada8133d12ac078b3042d6ade3163",
        output: &[
            "4d055b62e2e1176cbe83abff0ba9fc446dbb8edf7007207983928cb79bc3461d",
            "6103e6189ed87c9fbf142ddb76a9bab1952b685aae24bf9c3ccbf86b03d778b8",
        ],
    },
    ReleasedComponent {
        name: "1.1.0/csv",
        file: "2ab754a911c4e2082f16f8ac2693aba23132078c406b754fdee4ff0b9817527a",
        output: &[
            "fa83281c69019ae360d7cfa5de52508413360751833dec36f98922cb4dd4c906",
            "dc7e0e162034c13ee3ee009a5c572e84df979bd9454dd1d1a93cbfb7a3760af4",
        ],
    },
    ReleasedComponent {
        name: "1.1.0/parquet",
        file: "da8b02c05a6c132a533219d63fbff2b42beed21fa6ab5614dbbdf6f9c6816011",
        output: &[
            "Parquet has no type for column `day` (tdD); leave it out with `columns`",
            "ac49d595a664b3191e9214c92a2595fd76d67a03cae33b8668c223df02dcbfd9",
        ],
    },
    ReleasedComponent {
        name: "1.1.0/python",
        file: "514e41ad4abddcdbe82d0a3c3962c31333a8492e759fac6b4156b7202505cf7f",
        output: &[],
    },
    ReleasedComponent {
        name: "1.1.0/read-sdmx-csv",
        file: "1a3f493d6e6a29b5056e57ec88f335058491b2a9c69670028ca0b0f65c31a28a",
        output: &["yb1:5a66c0b6d630a1399b99265ba688bbb5cc446aa74a3a44a02cfb4f4526bc45d2"],
    },
    ReleasedComponent {
        name: "1.2.0/growth",
        file: "4b4ae1ed2310451907ce5f8f99f16862da3aa19c73f7041e941ca5e3ba897327",
        output: &["yb1:265f5cdb602046f8c3547b4c04c4278ae800b4f6164593c2455e51fc392c87cb"],
    },
    ReleasedComponent {
        name: "1.2.0/json-stat",
        file: "568fd3c563145acc2f0a405f813631bdb8e191aa8878d0b6771fa2d14846db3b",
        output: &[
            "these rows have no primary key, so that two of them could be one cell of a cube; ask for another format",
            "these rows have no primary key, so that two of them could be one cell of a cube; ask for another format",
            "d676bbdcb3b8330b49c5c5e5bb48044d01ef8466891b6f75697760df3052b24e",
        ],
    },
    ReleasedComponent {
        name: "1.2.0/time-series",
        file: "46df6ee9850ecd577ab5cfd5e658c3a66a5070444f6e288b3c4befb5c42a426e",
        output: &[],
    },
];

fn fixture(name: &str) -> Vec<u8> {
    let path: PathBuf = root().join("tests/fixtures").join(format!("{name}.wasm"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Two batches with every type that datasets have, nulls among them.
fn batches() -> Vec<RecordBatch> {
    let batch = |from: i64| {
        let rows = from..from + 1_000;
        let some = |row: i64| row % 7 != 0;
        let text: StringArray = rows
            .clone()
            .map(|row| some(row).then(|| format!("place \"{}\", Ōtautahi", row % 40)))
            .collect();
        let whole: Int64Array = rows
            .clone()
            .map(|row| some(row).then_some(row.wrapping_mul(9_007_199_254_740_993)))
            .collect();
        let number: Float64Array = rows
            .clone()
            .map(|row| some(row + 1).then(|| f64::from(i32::try_from(row).unwrap()) / 7.0))
            .collect();
        let flag: BooleanArray =
            rows.clone().map(|row| some(row + 2).then_some(row % 3 == 0)).collect();
        let day: Date32Array = rows.map(|row| Some(i32::try_from(row).unwrap() * 31)).collect();
        let columns: [(&str, ArrayRef); 5] = [
            ("day", Arc::new(day)),
            ("text", Arc::new(text)),
            ("whole", Arc::new(whole)),
            ("number", Arc::new(number)),
            ("flag", Arc::new(flag)),
        ];
        RecordBatch::try_from_iter_with_nullable(columns.map(|(name, column)| (name, column, true)))
            .unwrap()
    };
    vec![batch(0), batch(1_000)]
}

/// [`batches`] without days, which are text in datasets, and with a column of long text, of which
/// an encoder need not see the bytes.
fn long_batches() -> Vec<RecordBatch> {
    let with_long_text = |batch: RecordBatch| {
        let outline = |row: usize| {
            let point = |corner: usize| format!("{} {}", 170 + corner % 7, row * corner % 90);
            let points: Vec<String> = (0..60).map(point).collect();
            format!("LINESTRING ({})", points.join(", "))
        };
        let outlines: StringArray =
            (0..batch.num_rows()).map(|row| (row % 7 != 0).then(|| outline(row))).collect();
        let names = batch.schema();
        let named = names.fields().iter().map(|field| field.name().clone()).skip(1);
        let columns = named.zip(batch.columns().iter().skip(1).cloned());
        let columns = columns.chain([("outline".to_owned(), Arc::new(outlines) as ArrayRef)]);
        RecordBatch::try_from_iter_with_nullable(columns.map(|(name, column)| (name, column, true)))
            .unwrap()
    };
    batches().into_iter().map(with_long_text).collect()
}

/// Rows of two batches as a dataset with a key has them, with the values of their columns.
fn keyed_batches() -> (Vec<RecordBatch>, Vec<Option<Vec<String>>>) {
    let regions = ["north", "south"];
    let month = |row: usize| format!("20{:02}-{:02}-01", row / 24, row / 2 % 12 + 1);
    let value =
        |row: usize| (!row.is_multiple_of(7)).then(|| f64::from(u32::try_from(row).unwrap()) / 7.0);
    let column = |name: &str, data_type, facts: &[(&str, &str)]| {
        let facts = facts.iter().map(|(key, fact)| (format!("yearbook.{key}"), (*fact).to_owned()));
        Field::new(name, data_type, true).with_metadata(facts.collect::<HashMap<_, _>>())
    };
    let fields = vec![
        column("date", DataType::Utf8, &[("role", "date"), ("type", "date")]),
        column("region", DataType::Utf8, &[("role", "dimension")]),
        column("value", DataType::Float64, &[("role", "value"), ("unit", "tonnes")]),
    ];
    let facts = [
        ("yearbook.primary_key", r#"["date","region"]"#),
        ("yearbook.series", r#"["region"]"#),
        ("yearbook.axis", "month"),
    ];
    let facts = facts.map(|(key, fact)| (key.to_owned(), fact.to_owned()));
    let schema = Arc::new(Schema::new_with_metadata(fields, HashMap::from(facts)));
    let batch = |rows: Range<usize>| {
        let columns: [ArrayRef; 3] = [
            Arc::new(StringArray::from_iter_values(rows.clone().map(month))),
            Arc::new(StringArray::from_iter_values(rows.clone().map(|row| regions[row % 2]))),
            Arc::new(rows.map(value).collect::<Float64Array>()),
        ];
        RecordBatch::try_new(Arc::clone(&schema), columns.to_vec()).unwrap()
    };
    let months = (0..240).step_by(2).map(month).collect();
    let values = vec![Some(months), Some(regions.map(str::to_owned).to_vec()), None];
    (vec![batch(0..100), batch(100..240)], values)
}

fn digest(bytes: &[u8]) -> String {
    Digest::compute(bytes).to_string()
}

/// Digests of a plugin's output, of each table once.
fn output(plugin: &Plugin, name: &str) -> Vec<String> {
    match plugin {
        Plugin::Encoder(encoder) => {
            let tables = [batches(), long_batches()].map(|batches| {
                let schema = batches[0].schema();
                written(encoder, &schema, &batches, name)
            });
            let mut written_tables = tables.to_vec();
            if encoder.description().codes {
                let (batches, codes) = keyed_batches();
                let schema = with_codes(&batches[0].schema(), codes);
                written_tables.push(written(encoder, &schema, &batches, name));
            }
            written_tables
        }
        Plugin::Adapter(_) | Plugin::Generator(_) => Vec::new(),
        Plugin::Reader(reader) => vec![rows_read(reader)],
        Plugin::Transform(transform) => {
            let (batches, _) = keyed_batches();
            let made = transform.trial(&batches[0].schema(), &[], |_| None, &batches).unwrap();
            vec![digest_of_rows(&made.batches[0].schema(), &made.batches)]
        }
    }
}

/// Digest of a response, which is the same whether one instance makes it or several; the sentence
/// with which the format declines the table.
fn written(
    encoder: &PluginEncoder,
    schema: &Schema,
    batches: &[RecordBatch],
    name: &str,
) -> String {
    let response = |apart| {
        let trial = encoder.trial(schema, &[], batches, apart);
        let trial = trial.map_err(|declined| declined.error.to_string())?;
        Ok(digest(&trial.response(encoder.description().separator.as_deref())))
    };
    let whole: Result<String, String> = response(false);
    assert_eq!(whole, response(true), "{name} writes other bytes where parts are apart");
    whole.unwrap_or_else(|sentence| sentence)
}

/// Digest of the rows of a reader's own example.
fn rows_read(reader: &PluginReader) -> String {
    let read = reader.trial(&[], &[], &[&reader.description().example]).unwrap();
    digest_of_rows(&read.schema, &read.batches)
}

fn digest_of_rows(schema: &Schema, batches: &[RecordBatch]) -> String {
    let columns: Vec<Column> = (schema.fields().iter())
        .map(|field| {
            let column_type = match field.data_type() {
                DataType::Int64 => ColumnType::Integer,
                DataType::Float64 => ColumnType::Number,
                DataType::Boolean => ColumnType::Boolean,
                _ => ColumnType::String,
            };
            Column::new(field.name(), column_type, ColumnRole::Attribute)
        })
        .collect();
    let mut hasher = ResultHasher::new(columns.iter());
    batches.iter().for_each(|batch| hasher.update(batch).unwrap());
    hasher.finish().to_string()
}

#[test]
fn plugins_built_against_a_released_interface_write_the_same_bytes_for_ever() {
    let mut changed = Vec::new();
    for ReleasedComponent { name, file, output: expected } in RELEASED {
        let bytes = fixture(name);
        assert_eq!(digest(&bytes), file, "{name} is not the file that was released");
        let component = ComponentFile::read(bytes, Limits::default().component_bytes).unwrap();
        let checked = check(&sandbox(CheckReport::limits(Limits::default())), &component);
        assert!(checked.report.passed(), "{name}: {:#?}", checked.report.findings);
        let output = output(&checked.plugin.unwrap(), name);
        if output != expected {
            changed.push((name, output));
        }
    }
    assert!(changed.is_empty(), "other output than on the day of the release: {changed:#?}");
}

#[test]
fn every_component_that_was_kept_is_run() {
    let names = |folder: PathBuf| -> BTreeSet<String> {
        let entries = std::fs::read_dir(&folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    };
    // A version that is not listed there is not released.
    let digests = std::fs::read_to_string(root().join("wit/SHA256SUMS")).unwrap();
    let versions = digests.lines().filter_map(|line| line.split_once("  ")?.1.split_once('/'));
    let versions: BTreeSet<String> = versions.map(|(version, _)| version.to_owned()).collect();
    assert!(!versions.is_empty());
    let kept = versions.into_iter().flat_map(|version| {
        let files = names(root().join("tests/fixtures").join(&version));
        files.into_iter().map(move |file| format!("{version}/{file}"))
    });
    let run: BTreeSet<String> =
        RELEASED.iter().map(|released| format!("{}.wasm", released.name)).collect();
    assert_eq!(kept.collect::<BTreeSet<_>>(), run);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_host_serves_plugins_of_a_released_interface() {
    let app = TestApp::start().await;
    app.publish(&harvest()).await;
    let key = app.key(Plan::Enterprise).await;
    let _reconciler = start_reconciler(&app, embedded()).await;
    for ReleasedComponent { name, file, .. } in RELEASED {
        let component = ComponentFile::read(fixture(name), 32 << 20).unwrap();
        let wish = InstallOptions {
            now: true,
            by: "ann".to_owned(),
            reason: None,
            signature: None,
            origin: None,
        };
        install(&app.store, &app.files, &app.sandbox, &TrustPolicy::default(), component, wish)
            .await
            .unwrap();
        let plugin = name.split_once('/').unwrap().1;
        let address = match plugin {
            "growth" => "/v1/datasets/harvest/data?apply=growth&growth.periods=1&growth.unit=year"
                .to_owned(),
            "time-series" => {
                "/api/time-series/series/observations?series_id=harvest.Auckland".to_owned()
            }
            "python" => format!("/v1/integrations/{plugin}?datasets=harvest"),
            // A server loads no reader.
            "read-sdmx-csv" => continue,
            format => format!("/v1/datasets/harvest/data?format={format}"),
        };
        eventually(|| {
            let plugins = app.registry.current();
            let encoder = plugins.encoder(plugin).map(|encoder| encoder.digest().to_string());
            let generator = || plugins.generator(plugin).map(|tool| tool.digest().to_string());
            let transform = || plugins.transform(plugin).map(|found| found.digest().to_string());
            let adapter = || plugins.adapter(plugin).map(|found| found.digest().to_string());
            let found = encoder.or_else(generator).or_else(transform).or_else(adapter);
            found.as_deref() == Some(file)
        })
        .await;
        let answer = app.get(&address).key(&key).send().await;
        assert_eq!(answer.status, 200, "{name}: {}", answer.text());
        let begin: &[u8] = match plugin {
            "csv" => b"date,",
            "parquet" => b"PAR1",
            "arrow" => b"\xff\xff\xff\xff",
            "growth" => b"[",
            "time-series" => b"<?xml",
            _ => b"{",
        };
        assert!(answer.body.starts_with(begin), "{name}");
    }
}
