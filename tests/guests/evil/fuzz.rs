//! Components that were damaged: cut, flipped and spliced from whole ones. Loading one is an error
//! in one line, or a plugin that stays within its limits; it is never a panic.

use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::array::{ArrayRef, RecordBatch, StringArray};
use yearbook_sandbox::{Limits, Plugin, Sandbox};
use yearbook_tests::components::component;
use yearbook_tests::fuzz::FuzzRng;
use yearbook_workers::Workers;

use crate::attack_arena::sandbox_limits;
use crate::exclusive;
use crate::guest::{GeneratorGuest, Guest, bare_request};

/// Seconds to fuzz, unless `YEARBOOK_FUZZ_SECONDS` is set; `YEARBOOK_FUZZ_SEED` sets the seed.
const SECONDS: u64 = 6;

fn number(variable: &str, usual: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// Damages `whole`, with pieces of `other`.
fn mutate_component(whole: &[u8], other: &[u8], random: &mut FuzzRng) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    match random.below(4) {
        0 => bytes.truncate(random.below(whole.len())),
        1 => {
            for _ in 0..=random.below(8) {
                let at = random.below(bytes.len());
                bytes[at] ^= 1 << random.below(8);
            }
        }
        2 => {
            let at = random.below(bytes.len());
            let value = [0, 0x7f, 0x80, 0xff][random.below(4)];
            let end = (at + 1 + random.below(5)).min(bytes.len());
            bytes[at..end].fill(value);
        }
        _ => {
            let (at, from) = (random.below(bytes.len()), random.below(other.len()));
            let end = (from + 1 + random.below(200)).min(other.len());
            bytes.splice(at..at, other[from..end].iter().copied());
        }
    }
    bytes
}

#[test]
fn a_damaged_component_is_an_error_in_one_line_or_a_plugin_within_its_limits() {
    let _alone = exclusive();
    let limits = Limits { cpu_ms_per_call: 30, ..sandbox_limits() };
    // No cache: nobody asks for these again.
    let sandbox =
        Sandbox::new(&yearbook_sandbox::SandboxConfig { limits, ..config() }, Workers::new(1))
            .unwrap();
    let mut whole = vec![
        Guest::named("fuzz").build(),
        Guest::named("fuzz").build(),
        GeneratorGuest::named("fuzz").build(),
    ];
    let built = [
        "evil",
        "evil-generator",
        "csv",
        "json",
        "arrow",
        "parquet",
        "meltano",
        "fivetran",
        "azure-data-factory",
        "read-geojson",
    ];
    whole.extend(built.iter().map(|name| component(name)));
    let seed = number("YEARBOOK_FUZZ_SEED", 1);
    let end = Instant::now() + Duration::from_secs(number("YEARBOOK_FUZZ_SECONDS", SECONDS));
    let (mut random, mut tried, mut loaded) = (FuzzRng::from_seed(seed), 0, 0);
    while Instant::now() < end {
        // The small ones compile quickly, so they come more often.
        let pick = (0..4).map(|_| random.below(whole.len())).min().unwrap_or_default();
        let other = random.below(whole.len());
        let bytes = mutate_component(&whole[pick], &whole[other], &mut random);
        tried += 1;
        match sandbox.load(&bytes) {
            Ok(plugin) => {
                loaded += 1;
                run(&plugin);
            }
            Err(rejected) => {
                let text = rejected.to_string();
                assert!(
                    text.len() < 2_000 && !text.contains(char::is_control),
                    "damage {tried} of seed {seed}: {text:?}"
                );
            }
        }
        assert_eq!(
            sandbox.free_instances(),
            limits.instances as usize,
            "damage {tried} of seed {seed} keeps an instance"
        );
    }
    println!("{tried} damaged components, {loaded} of them loaded");
    assert!(tried > 5, "{tried} tried");
}

/// A response; whatever it is, it ends.
fn run(plugin: &Plugin) {
    match plugin {
        Plugin::Adapter(_) => {}
        Plugin::Encoder(encoder) => {
            let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None, Some("ccc")]));
            let batch = RecordBatch::try_from_iter_with_nullable([("t", texts, true)]).unwrap();
            let _ = encoder.trial(&batch.schema(), &[], &[batch.clone(), batch.clone()], true);
        }
        Plugin::Generator(generator) => {
            let _ = generator.trial(&bare_request());
        }
        Plugin::Reader(reader) => {
            let _ = reader.trial(&[], &[], &[&reader.description().example]);
        }
        Plugin::Transform(transform) => {
            let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None, Some("ccc")]));
            let batch = RecordBatch::try_from_iter_with_nullable([("t", texts, true)]).unwrap();
            let _ = transform.trial(&batch.schema(), &[], |_| None, &[batch]);
        }
    }
}

fn config() -> yearbook_sandbox::SandboxConfig {
    yearbook_sandbox::SandboxConfig {
        limits: Limits::default(),
        ..yearbook_sandbox::SandboxConfig::default()
    }
}
