//! Plugins that were built against a released interface, kept as the files that they were then,
//! beside the digests of what they wrote. They must load, pass their check and write the same bytes
//! on every host that comes after.

use std::path::PathBuf;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, Date32Array, Float64Array, Int64Array, RecordBatch, StringArray,
};
use yearbook_domain::{Digest, Plan};
use yearbook_releases::{CheckReport, ComponentFile, InstallOptions, TrustPolicy, check, install};
use yearbook_sandbox::{Limits, Plugin, PluginEncoder, TrialError};
use yearbook_sdk::testing::{conformance, record_batches};
use yearbook_tests::app::{TestApp, harvest};
use yearbook_tests::components::{component, root, sandbox};

use super::test_hosts::{embedded, eventually, start_reconciler};

/// Digests of the components' files, and of what the encoders make of [`batches`].
const RELEASED: [(&str, &str, Option<&str>); 3] = [
    (
        "1.0.0/csv",
        "d95f6d2bcfd715f52f09b4dd7bad1eb4f6fd7a96b55f25648d3a77783f8bb83e",
        Some("fa83281c69019ae360d7cfa5de52508413360751833dec36f98922cb4dd4c906"),
    ),
    (
        "1.0.0/parquet",
        "3bcea4b4849cb98a6f052beaf9937c84e35166289e319b94f244c9af69d7c4f9",
        Some("d0d59bad0abe17eff17b962aa868b19440400aba368dbff551f1b254a1aeb3b4"),
    ),
    ("1.0.0/meltano", "7fe025040f32c0a2a2d4648f31598b32e5fd0d98e3044f356777ee9b007639a3", None),
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

fn digest(bytes: &[u8]) -> String {
    Digest::of(bytes).to_string()
}

#[test]
fn plugins_built_against_a_released_interface_write_the_same_bytes_for_ever() {
    for (name, file, written) in RELEASED {
        let bytes = fixture(name);
        assert_eq!(digest(&bytes), file, "{name} is not the file that was released");
        let component = ComponentFile::read(bytes, Limits::default().component_bytes).unwrap();
        let checked = check(&sandbox(CheckReport::limits(Limits::default())), &component);
        assert!(checked.report.passed(), "{name}: {:#?}", checked.report.findings);
        let (Plugin::Encoder(encoder), Some(written)) = (checked.plugin.unwrap(), written) else {
            assert_eq!(written, None, "{name} is no encoder");
            continue;
        };
        let batches = batches();
        for apart in [false, true] {
            let trial = encoder.trial(&batches[0].schema(), &[], &batches, apart).unwrap();
            assert_eq!(
                digest(&trial.response(encoder.description().separator.as_deref())),
                written,
                "{name}, parts apart: {apart}"
            );
        }
    }
}

/// Components of the first version whose formats the second still writes, byte for byte.
const SAME_BYTES: [&str; 5] = ["arrow", "csv", "json", "ndjson", "sdmx-csv"];

#[test]
fn both_versions_of_the_interface_write_the_same_bytes_of_every_conformance_table() {
    let sandbox = sandbox(CheckReport::limits(Limits::default()));
    for name in SAME_BYTES {
        let old = sandbox.load_encoder(&fixture(&format!("1.0.0/{name}"))).unwrap();
        let new = sandbox.load_encoder(&component(name)).unwrap();
        let mut compared = 0;
        // Formats that want a column of a certain role take the tables that have one.
        let furnished = conformance::cases().into_iter().map(conformance::Case::furnished);
        for case in conformance::cases().into_iter().chain(furnished) {
            for rows in [usize::MAX, 7] {
                let table = case.table.clone().batches_of(rows);
                let (schema, batches) = record_batches(&table).unwrap();
                let response = |encoder: &PluginEncoder| {
                    let trial = encoder.trial(&schema, &[], &batches, false)?;
                    Ok(trial.response(encoder.description().separator.as_deref()))
                };
                match (response(&old), response(&new)) {
                    (Ok(old), Ok(new)) => {
                        compared += 1;
                        let at = old.iter().zip(&new).position(|(old, new)| old != new);
                        assert!(
                            old == new,
                            "{name}, {}: {} and {} bytes, which differ from {at:?} on",
                            case.name,
                            old.len(),
                            new.len()
                        );
                    }
                    (Err(old), Err(new)) => {
                        let (old, new): (TrialError, TrialError) = (old, new);
                        assert_eq!(old.error.to_string(), new.error.to_string(), "{}", case.name);
                    }
                    (old, new) => panic!("{name}, {}: {old:?} and {new:?}", case.name),
                }
            }
        }
        assert!(compared >= 24, "{name}: {compared}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_host_serves_plugins_of_a_released_interface() {
    let app = TestApp::start().await;
    app.publish(&harvest()).await;
    let key = app.key(Plan::Enterprise).await;
    let _keeper = start_reconciler(&app, embedded()).await;
    for (name, ..) in RELEASED {
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
    }
    eventually(|| {
        let plugins = app.registry.current();
        plugins.encoder("csv").is_some()
            && plugins.encoder("parquet").is_some()
            && plugins.generator("meltano").is_some()
    })
    .await;
    let csv = app.get("/v1/datasets/harvest/data?format=csv").key(&key).send().await;
    assert!(csv.text().starts_with("date,"), "{}", csv.text());
    assert_eq!(
        app.get("/v1/datasets/harvest/data?format=parquet").key(&key).send().await.status,
        200
    );
    let project = app.get("/v1/integrations/meltano?datasets=harvest").key(&key).send().await;
    assert!(project.text().contains("meltano.yml"), "{}", project.text());
}
