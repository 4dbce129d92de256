//! Findings of `plugin check` on our plugins, on evil ones and on files that are none.

use yearbook_releases::{CheckReport, ComponentFile, check};
use yearbook_sandbox::Limits;
use yearbook_tests::app::PLUGINS;
use yearbook_tests::components::{component, sandbox};

/// Adapters that are built in.
const ADAPTERS: [&str; 2] = ["ogc", "mcp"];

fn report(bytes: Vec<u8>, limits: Limits) -> CheckReport {
    let component = ComponentFile::read(bytes, limits.component_bytes).unwrap();
    check(&sandbox(CheckReport::limits(limits)), &component).report
}

/// Place and sentence of every finding.
fn findings(report: &CheckReport) -> Vec<(&str, &str)> {
    report.findings.iter().map(|finding| (finding.place.as_str(), finding.wrong.as_str())).collect()
}

#[test]
fn every_built_in_plugin_passes_its_check_within_its_limits() {
    for name in PLUGINS {
        let report = report(component(name), Limits::default());
        assert!(report.passed(), "{name}: {:#?}", report.findings);
        assert_eq!(report.name.as_deref(), Some(name));
        let imports = report.imports.unwrap();
        assert!(
            imports.iter().all(|import| import.starts_with("yearbook:plugin/")),
            "{name}: {imports:?}"
        );
        assert!(report.tries > 10, "{name}: {}", report.tries);
        for budget in &report.budget {
            assert!(budget.used <= budget.limit, "{name}: {budget:?}");
        }
        let used = |what| report.budget.iter().find(|budget| budget.what == what).unwrap().used;
        assert!(
            used("memory") > 0.5 && used("component") > 0.01 && used("bytes of a call") > 0.0,
            "{name}: {:?}",
            report.budget
        );
    }
}

#[test]
fn the_built_in_adapters_pass_their_check_contract_17() {
    for name in ADAPTERS {
        let report = report(component(name), Limits::default());
        assert!(report.passed(), "{name}: {:#?}", report.findings);
        assert_eq!(report.name.as_deref(), Some(name));
        assert!(report.tries > 20, "{name}: {}", report.tries);
        for budget in &report.budget {
            assert!(budget.used <= budget.limit, "{name}: {budget:?}");
        }
    }
}

#[test]
fn an_adapter_is_tried_by_its_examples_by_odd_requests_and_by_refusals_contract_17() {
    let fine = report(component("time-series"), Limits::default());
    assert!(fine.passed(), "{:#?}", fine.findings);
    assert!(fine.tries > 20, "{}", fine.tries);
    let used = |what: &str| fine.budget.iter().find(|budget| budget.what == what).unwrap().used;
    assert_eq!(["calls", "reads"].map(|of| used(&format!("{of} of a request"))), [3.0, 1.0]);
    assert!(used("facts of a request") > 1.0, "{:?}", fine.budget);

    // The hostile adapter goes wrong where the path of a request says so.
    let evil = component("evil-adapter");
    let replaced = |from: &str, to: &str, mut bytes: Vec<u8>| {
        let at = bytes.windows(from.len()).position(|window| window == from.as_bytes()).unwrap();
        bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
        bytes
    };
    for fine in ["/none", "/rows"] {
        let report = report(replaced("/none", fine, evil.clone()), Limits::default());
        assert!(report.passed(), "{fine}: {:?}", report.findings);
    }
    for attack in ["/body", "/link", "/spin"] {
        let worse = replaced("/none", attack, evil.clone());
        let report = report(worse, Limits { cpu_ms_per_call: 500, ..Limits::default() });
        let found = findings(&report);
        assert!(!report.passed() && found[0].0.starts_with("example 1"), "{attack}: {found:?}");
    }

    // Another status than the one that is named, and a body that is not well-formed.
    for (from, to, place, sentence) in [
        ("/search?", "/searcx?", "example 4, /series/searcx?", "its status is 404 where 200"),
        (
            "</observations>",
            "</observationx>",
            "example 1, /series/obs",
            "its body is not text/xml",
        ),
    ] {
        let report = report(replaced(from, to, component("time-series")), Limits::default());
        let found = findings(&report);
        let is_found =
            |(at, wrong): &&(&str, &str)| at.starts_with(place) && wrong.contains(sentence);
        assert!(found.iter().any(|one| is_found(&one)), "{found:#?}");
    }
}

#[test]
fn an_evil_encoder_is_found_out_by_the_options_that_it_allows() {
    // Long enough for the attacks that other limits end first, also on a busy machine.
    let report = report(
        component("evil"),
        Limits { cpu_ms_per_call: 1_000, memory_bytes: 128 << 20, ..Limits::default() },
    );
    let found = findings(&report);
    let of = |attack: &str| {
        let place = format!("option evil.attack={attack}, part (batch 1)");
        found
            .iter()
            .find(|(at, _)| *at == place)
            .map(|(_, wrong)| *wrong)
            .unwrap_or_else(|| panic!("{attack}: {found:#?}"))
    };
    assert!(of("spin").contains("1000 ms of processor time"), "{found:#?}");
    assert!(of("grow").contains("sandbox.memory_bytes"), "{found:#?}");
    assert!(of("flood").contains("sandbox.output_bytes_per_call"), "{found:#?}");
    assert!(of("amplify").contains("sandbox.amplification"), "{found:#?}");
    assert!(of("panic").contains("trapped"), "{found:#?}");
    assert!(of("refuse").contains("reports"), "{found:#?}");
    // What is promised of parts holds whatever the options.
    let broken = found.iter().find(|(at, _)| *at == "option evil.attack=remember");
    assert!(
        broken.is_some_and(|(_, wrong)| wrong.contains("an instance that sees one batch alone")),
        "{found:#?}"
    );
    assert!(report.findings.iter().all(|finding| !finding.advice.is_empty()));
    assert!(!found.iter().any(|(place, _)| place.contains("attack=none")), "{found:#?}");
}

#[test]
fn an_evil_generator_is_found_out_by_the_options_that_it_allows() {
    let report =
        report(component("evil-generator"), Limits { cpu_ms_per_call: 1_000, ..Limits::default() });
    let found = findings(&report);
    for (attack, sentence) in [
        ("escape", "must be relative"),
        ("absolute", "must be relative"),
        ("twice", "taken twice"),
        ("binary", "UTF-8"),
        ("header", "media type"),
        ("flood", "bytes of files"),
        ("many", "5000 files"),
        ("nothing", "0 files"),
        ("spin", "processor time"),
        ("panic", "trapped"),
    ] {
        let place = format!("option evil.attack={attack}, generate");
        assert!(
            found.iter().any(|(at, wrong)| *at == place && wrong.contains(sentence)),
            "{attack}: {found:#?}"
        );
    }
}

#[test]
fn a_component_that_asks_for_more_is_refused_by_name_and_nothing_of_it_runs() {
    let wat = r#"(component (import "wasi:cli/stdout@0.2.0" (instance)))"#;
    let report = report(wat::parse_str(wat).unwrap(), Limits::default());
    assert_eq!((report.tries, report.name.as_deref()), (0, None));
    let [finding] = report.findings.as_slice() else { panic!("{report:#?}") };
    assert_eq!(finding.place, "imports");
    assert!(finding.wrong.contains("wasi:cli/stdout@0.2.0"), "{finding:?}");
    assert_eq!(report.imports.unwrap(), ["wasi:cli/stdout@0.2.0"]);
}

#[test]
fn a_damaged_component_is_a_finding_and_no_panic() {
    let whole = component("csv");
    for cut in [9, 100, whole.len() / 2, whole.len() - 1] {
        let report = report(whole[..cut].to_vec(), Limits::default());
        assert!(!report.passed() && report.tries == 0, "cut at {cut}: {report:#?}");
    }
}
