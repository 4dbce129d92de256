//! `cargo xtask test`: everything that must hold before a change is merged, one named step after
//! the other. Owns the order of the steps; a failed step does not hide what the later ones find.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use clap::ValueEnum;

use crate::checks::postgres::Postgres;
use crate::checks::report::{CheckCounts, StepReport};
use crate::checks::served::ServerFixture;
use crate::checks::suites;
use crate::repository::Repository;
use crate::{command, lab, release, spec, tidy, toolchain, tools};

mod beside;
mod clients;
mod integrations;
mod languages;
mod pages;
mod readers;
mod share;
mod steps;

use beside::StepsBeside;

const LINTS: &str = "lints: clippy has nothing to say about any target, nor about the program as the \
    demo builds it";
const INSTRUCTIONS: &str = "instructions: encoders, planning and scanning take what was recorded";
const PLUGINS: &str = "plugins: each builds to a component that imports nothing but log";

/// Steps in which other programs use the product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ServedStep {
    Readers,
    Integrations,
    Openapi,
    Pages,
    Guide,
    Languages,
    Adapters,
    Citations,
    Deploy,
    Signup,
    ClientsPython,
    ClientsR,
    Discovery,
    Share,
    Iceberg,
}

impl ServedStep {
    fn title(self) -> &'static str {
        match self {
            Self::Readers => {
                "readers: DuckDB, pyarrow, pandas, polars and R get the published tables back"
            }
            Self::Integrations => {
                "integrations: Meltano, Fivetran's SDK and Data Factory's models take the generated \
                projects"
            }
            Self::Openapi => {
                "openapi: schemathesis and a browser find the service as /openapi.json describes it"
            }
            Self::Pages => {
                "pages: a browser, axe-core and html-validate have nothing against the catalogue's pages"
            }
            Self::Guide => "guide: the examples in docs/api.md print what it shows",
            Self::Languages => {
                "languages: plugins in Python and JavaScript serve like those in Rust"
            }
            Self::Adapters => "adapters: clients of other APIs read what is published, unmodified",
            Self::Citations => "citations: the tools of their formats read citations",
            Self::Deploy => "deploy: unit, image and manifests fit the binary",
            Self::Signup => {
                "signup: mails outlive a mail server in trouble and a service that is killed"
            }
            Self::ClientsPython => {
                "clients-python: the Python client on every Python, its types, wheel and recipes"
            }
            Self::ClientsR => {
                "clients-r: the R package reads, plans and cites, and R's own checks find no fault"
            }
            Self::Discovery => {
                "discovery: validators of DCAT-AP, Croissant, schema.org, Atom and Signposting take \
                every dataset"
            }
            Self::Share => {
                "share: the client of Delta Sharing and polars read every table, version and change"
            }
            Self::Iceberg => {
                "iceberg: PyIceberg and DuckDB read every table of a bucket, whatever was killed"
            }
        }
    }

    /// Time that the step takes on two cores beside others, with its tools to be installed.
    fn usual_time(self) -> Duration {
        Duration::from_secs(match self {
            Self::Readers => 400,
            Self::Integrations => 300,
            Self::Openapi => 170,
            Self::Pages => 120,
            Self::Guide => 75,
            Self::Languages => 220,
            Self::Adapters => 300,
            Self::Citations => 45,
            Self::Deploy => 25,
            Self::Signup => 140,
            Self::ClientsPython => 400,
            Self::ClientsR => 200,
            Self::Discovery => 50,
            Self::Share => 120,
            Self::Iceberg => 145,
        })
    }

    fn check(self, repository: &Repository) -> Result<CheckCounts> {
        match self {
            Self::Readers => readers::check(repository),
            Self::Integrations => integrations::check(repository),
            Self::Openapi => steps::openapi(repository),
            Self::Pages => pages::check(repository),
            Self::Guide => steps::guide(repository),
            Self::Languages => languages::check(repository),
            Self::Adapters => steps::adapters(repository),
            Self::Citations => steps::citations(repository),
            Self::Deploy => steps::deploy(repository),
            Self::Signup => steps::signup(repository),
            Self::ClientsPython => clients::python(repository),
            Self::ClientsR => clients::r(repository),
            Self::Discovery => steps::discovery(repository),
            Self::Share => share::check(repository),
            Self::Iceberg => steps::iceberg(repository),
        }
    }

    fn run(self, report: &mut StepReport, repository: &Repository) -> bool {
        report.counted_step(self.title(), || self.check(repository))
    }
}

/// Runs every step, or `only` one, and returns true if all passed. The totals are the last line
/// printed.
pub(crate) fn run(repository: &Repository, quick: bool, only: Option<ServedStep>) -> bool {
    let mut report = StepReport::default();
    if let Some(step) = only {
        if report.step(PLUGINS, || repository.build_plugins()) {
            step.run(&mut report, repository);
        }
        return report.print();
    }
    report.step("toolchain: rustfmt, clippy and the target of guests are there", || {
        toolchain::ensure_all(repository)
    });
    report.step("formatting: rustfmt would change nothing", || {
        command::run(repository.cargo().args(["fmt", "--all", "--check"]))
    });
    report.step("interface: what is released is as it was", || steps::interface(repository));
    report
        .step("specification: every rule has a test or a reason to wait", || spec::run(repository));
    report.step("tidy: sources and pages keep the house rules", || tidy::run(repository));
    if !quick {
        report.step("crates: everything that Cargo.lock names is fetched", || {
            steps::fetch_crates(repository)
        });
        report.step(LINTS, || {
            command::run(repository.cargo().args([
                "clippy",
                "--workspace",
                "--all-targets",
                "--features",
                "yearbook-fuzz/libfuzzer",
                "--",
                "--deny",
                "warnings",
            ]))?;
            command::run(repository.cargo().args([
                "clippy",
                "--package",
                "yearbook-cli",
                "--no-default-features",
                "--",
                "--deny",
                "warnings",
            ]))
        });
        report
            .step("dependencies: licences, duplicates and sources are as deny.toml allows", || {
                steps::licences(repository)
            });
    }
    if !quick {
        report.step("sdk: it is a package that needs no workspace", || steps::sdk(repository));
        report.step("documentation: every link of rustdoc leads somewhere", || {
            steps::documentation(repository)
        });
    }
    let built = report.step(PLUGINS, || repository.build_plugins());
    let mut server = None;
    let programs =
        if quick { tools::installed_postgres().map(Ok) } else { Some(tools::postgres()) };
    if let Some(programs) = programs {
        report.step("PostgreSQL: a server for the tests starts", || {
            Postgres::start(&programs?).map(|started| server = Some(started))
        });
    }
    if !quick {
        report.step("registry: Debian's docker-registry and skopeo are there", tools::registry);
    }
    let mut product = None;
    if !quick && built {
        report.step(
            "product: yearbook with its plugins inside builds, and publishes the demo",
            || {
                let built = ServerFixture::prepare(repository, "product")?;
                built.publish_demo()?;
                product = Some(built);
                Ok(())
            },
        );
    }
    // Beside all further steps: they wait for requests, for tools and for their own timeouts.
    let counting = (!quick && built).then(|| StepsBeside::counting(INSTRUCTIONS));
    let unhurried = product.as_ref().map(StepsBeside::unhurried);
    report.counted_step("tests of the workspace", || {
        suites::run_workspace_tests(repository, server.as_ref(), !quick)
    });
    if let (false, true, Some(server)) = (quick, built, &server) {
        report.counted_step(
            "fleet: three hosts behind nginx keep what is promised under load, whatever goes wrong",
            || lab::check(repository, "fleet", Some(server)),
        );
    }
    drop(server);
    if !quick && built {
        report.counted_step(
            "attacks: whatever one client does, another reads on, and memory stays within bounds",
            || lab::check(repository, "hostile", None),
        );
    }
    if !quick {
        report.counted_step("examples in the documentation", || suites::run_doc_tests(repository));
        if let Some(product) = &product {
            report.step("release: the folder of a release is whole", || {
                release::rehearse(repository, Path::new(product.yearbook().get_program()))
            });
        }
        if built {
            report.counted_step("soak: a minute of mixed traffic leaves nothing behind", || {
                lab::check(repository, "soak", None)
            });
        }
        let served = product.as_ref().map(StepsBeside::served);
        for steps in served.into_iter().chain(unhurried).chain(counting) {
            steps.end(&mut report);
        }
        report.step("specification: every test that a rule names ran", || {
            suites::with_executed(|executed| spec::check_executed(repository, executed))
        });
    }
    report.print()
}
