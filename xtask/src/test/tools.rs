//! Programs that only Debian's archive has, for checks that use them; a check without its program is said not to have run.

use std::path::PathBuf;

use anyhow::Result;

use super::postgres;
use crate::{command, debian};

/// Whether R is here, with what the examples in the guide and the checks of readers need.
pub(super) fn r() -> bool {
    let load = ["-e", "library(httr2); library(jsonlite)"];
    has("R as a reader and in examples", &["r-base-core", "r-cran-httr2", "r-cran-jsonlite"], "Rscript", &load)
}

/// Whether a browser is here, and a font for what it shows.
pub(super) fn chromium() -> bool {
    has("/docs in a browser", &["chromium", "fonts-dejavu-core"], "chromium", &["--version"])
}

/// Whether nginx is here.
pub(crate) fn nginx() -> bool {
    has("a fleet behind a proxy", &["nginx-light"], "nginx", &["-v"])
}

/// Whether Node is here, with npm for its packages; `what` needs them.
pub(super) fn node(what: &str) -> bool {
    has(what, &["nodejs", "npm"], "npm", &["--version"])
}

/// Where PostgreSQL's programs are; a quick run makes do with what is here.
pub(crate) fn postgres(quick: bool) -> Option<PathBuf> {
    if !quick {
        said(debian::ensure("the catalogue in PostgreSQL", &["postgresql"], || postgres::programs().is_some()));
    } else if postgres::programs().is_none() {
        println!("NOT CHECKED: the catalogue in PostgreSQL, which a run without --quick installs");
    }
    postgres::programs()
}

/// Whether `program` succeeds with `arguments`, if need be after installing `packages`.
fn has(what: &str, packages: &[&str], program: &str, arguments: &[&str]) -> bool {
    said(debian::ensure(what, packages, || command::exists(program, arguments)))
}

fn said(found: Result<()>) -> bool {
    if let Err(error) = &found {
        println!("NOT CHECKED: {error:#}");
    }
    found.is_ok()
}
