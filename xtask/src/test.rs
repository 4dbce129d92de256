//! `cargo xtask test`: everything that must hold before a change is merged, one named step after the
//! other. Owns the order of the steps; a failed step does not hide what the later ones find.

use crate::command;
use crate::repository::Repository;
use crate::spec;

mod guide;
mod integrations;
mod licences;
mod openapi;
mod readers;
mod report;
mod suites;

use report::Report;

/// Runs every step; whether all passed. The totals are the last line printed.
pub(crate) fn run(repository: &Repository, quick: bool) -> bool {
    let mut report = Report::default();
    report.step("formatting: rustfmt would change nothing", || command::run(repository.cargo().args(["fmt", "--all", "--check"])));
    report.step("specification: every rule has a test or a reason to wait", || spec::run(repository));
    if !quick {
        report.step("lints: clippy has nothing to say about any target", || {
            command::run(repository.cargo().args(["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"]))
        });
        report.step("dependencies: licences, duplicates and sources are as deny.toml allows", || licences::check(repository));
    }
    let built = report.step("plugins: each builds to a component that imports nothing but log", || repository.build_plugins());
    report.counted("tests of the workspace", || suites::tests(repository));
    if !quick {
        report.counted("examples in the documentation", || suites::examples(repository));
        if built {
            report.counted("readers: DuckDB, pyarrow, pandas and polars get the published tables back", || readers::check(repository));
            report.counted("integrations: Meltano, Fivetran's SDK and Data Factory's models take the generated projects", || {
                integrations::check(repository)
            });
            report.counted("openapi: schemathesis finds the service as /openapi.json describes it", || openapi::check(repository));
            report.counted("guide: the examples in docs/api.md print what it shows", || guide::check(repository));
        }
    }
    report.print()
}
