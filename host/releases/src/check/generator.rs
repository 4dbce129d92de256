//! The trial of a generator: canned requests of every shape, each twice, and every allowed value of
//! every parameter. The sandbox checks what the files may be called and hold.

use yearbook_domain::Plan;
use yearbook_sandbox::{GeneratorRequest, PluginGenerator};

use super::allowed_values::allowed_values;
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
        Err(failed) => return tally.find_failure(place, failed),
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
        Err(failed) => tally.find_failure(place, failed),
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
            Err(failed) => tally.find_failure(&place, failed),
        }
    }
}
