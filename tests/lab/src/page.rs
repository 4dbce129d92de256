//! Every page that measuring writes: a template in `tests/lab/templates`, which has its words and
//! its columns, with figures. Owns what all templates are given.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use askama::Template;

use crate::measurements::Measurements;

/// Values that every template is given.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageHead<'a> {
    /// The command that makes the page.
    pub(crate) command: &'a str,
    /// The line about the machine.
    pub(crate) machine: &'a str,
    pub(crate) figures: &'a Measurements,
}

impl PageHead<'_> {
    /// The line below a title.
    pub(crate) fn made(&self) -> String {
        format!("Made by `{}`, which replaces this page. {}", self.command, self.machine)
    }

    /// Returns true if something of a part was measured.
    pub(crate) fn has(&self, part: &str) -> bool {
        !self.figures.of_part(part).is_empty()
    }
}

/// Renders `page`.
///
/// # Errors
/// Fails when a figure is missing that the page cannot be without.
pub(crate) fn render(page: &impl Template) -> Result<String> {
    let text = page.render().context("cannot render the page")?;
    Ok(format!("{}\n", text.trim_end()))
}

/// Renders `page` to `path`, in place of an older one, and says so.
///
/// # Errors
/// Fails when a figure is missing, or the file cannot be written.
pub(crate) fn replace(path: &Path, page: &impl Template) -> Result<()> {
    fs::write(path, render(page)?).with_context(|| format!("cannot write {}", path.display()))?;
    println!("wrote {}", path.display());
    Ok(())
}
