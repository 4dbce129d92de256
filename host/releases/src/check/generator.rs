//! The trial of a generator: canned requests of every shape, each twice, and every allowed value of
//! every parameter. The sandbox judges what the files may be called and hold.

use yearbook_domain::Plan;
use yearbook_sandbox::{GenerateError, GeneratorRequest, PluginGenerator, TrialError};

use super::allowed_values::allowed_values;
use super::encoder::advice_on;
use super::report::ReportBuilder;
use super::requests;

/// Datasets of the largest request: what a curious client may name in one address.
const MANY: usize = 200;

pub(super) fn check(generator: &PluginGenerator, tally: &mut ReportBuilder) {
    let all =
        requests::sample_request(Plan::Free, &["harvest_long", "prices_wide", "places", "codes"]);
    check_request(generator, "a request for a dataset of every shape", &all, tally);
    for dataset in &all.datasets {
        let alone = GeneratorRequest { datasets: vec![dataset.clone()], ..all.clone() };
        check_request(
            generator,
            &format!("a request for `{}` alone", dataset.dataset.name),
            &alone,
            tally,
        );
    }
    check_request(
        generator,
        "a request on a plan without limits",
        &requests::sample_request(Plan::Enterprise, &["places"]),
        tally,
    );
    check_request(
        generator,
        &format!("a request for {MANY} datasets"),
        &requests::sample_request_of(MANY),
        tally,
    );
    check_options(generator, &all, tally);
}

fn check_request(
    generator: &PluginGenerator,
    place: &str,
    request: &GeneratorRequest,
    tally: &mut ReportBuilder,
) {
    let made = match generator.trial(request) {
        Ok((project, usage)) => {
            tally.record_usage(usage);
            project
        }
        Err(failed) => return report_failure(place, failed, tally),
    };
    match generator.trial(request) {
        Ok((again, usage)) => {
            tally.record_usage(usage);
            if again != made {
                let differs = made
                    .files
                    .iter()
                    .zip(&again.files)
                    .find(|(one, other)| one != other)
                    .map(|(one, _)| one.path.clone());
                let wrong = format!(
                    "the same request gives other files the second time: {}",
                    differs.unwrap_or("another number".to_owned())
                );
                tally.find(place, wrong, "leave out whatever depends on memory addresses, hash order or what came before");
            }
        }
        Err(failed) => report_failure(place, failed, tally),
    }
    if made.files.iter().any(|file| file.content.is_empty()) {
        tally.find(place, "a file is empty", "leave a file out that has nothing to say");
    }
}

fn check_options(generator: &PluginGenerator, all: &GeneratorRequest, tally: &mut ReportBuilder) {
    let description = generator.description();
    for (text, option) in allowed_values(&description.parameters) {
        let place = format!("option {}.{}={text}", description.tool, option.name);
        let request = GeneratorRequest { options: vec![option], ..all.clone() };
        match generator.trial(&request) {
            Ok((_, usage)) => tally.record_usage(usage),
            Err(failed) => report_failure(&place, failed, tally),
        }
    }
}

fn report_failure(place: &str, failed: TrialError<GenerateError>, tally: &mut ReportBuilder) {
    tally.add_dump(failed.dump);
    let advice = match &failed.error {
        GenerateError::Trapped { trap, .. } | GenerateError::TooLarge { trap, .. } => {
            advice_on(trap)
        }
        GenerateError::UnsupportedDataset(_) => {
            "make something of every dataset, or warn that it is left out; declining is a 422 for clients"
        }
        GenerateError::InvalidOption(_) => {
            "take every value that the description allows, or do not declare it"
        }
        GenerateError::Internal { .. } => {
            "an internal error is a 500 for clients; the sentence is the plugin's own"
        }
        GenerateError::Output { .. } => {
            "return at least one file of UTF-8 text, each at a relative path of its own"
        }
        GenerateError::MemoryUsedUp { .. } => {
            "use less memory, or raise sandbox.total_memory_bytes"
        }
        GenerateError::Host(_) => "try again; if it stays so, the fault is the host's",
    };
    tally.find(format!("{place}, generate"), failed.error.to_string(), advice);
}
