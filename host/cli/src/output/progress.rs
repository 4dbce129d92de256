//! Progress of a publication: a bar on a terminal, nothing elsewhere, so that a pipe gets one line
//! a dataset.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use yearbook_publish::ProgressReporter;

use super::Output;

/// Shows how far one package is.
pub struct PublishProgress {
    output: Output,
    package: String,
    bar: Mutex<Option<ProgressBar>>,
}

impl PublishProgress {
    /// Progress of the package that people know as `package`.
    #[must_use]
    pub fn new(output: Output, package: &str) -> Self {
        Self { output, package: package.to_owned(), bar: Mutex::new(None) }
    }

    /// Takes the bar away, so that the result stands alone.
    pub fn finish(&self) {
        if let Some(bar) = self.bar.lock().unwrap_or_else(PoisonError::into_inner).take() {
            bar.finish_and_clear();
        }
    }

    fn add_bar(&self, name: &str, total: Option<u64>) -> ProgressBar {
        let (bar, template) = match total {
            Some(total) => (
                ProgressBar::new(total),
                "{spinner} {prefix}: {msg} [{bar:30}] {percent:>3} % {eta}",
            ),
            None => (ProgressBar::new_spinner(), "{spinner} {prefix}: {msg} {human_pos}"),
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_prefix(self.package.clone());
        bar.set_message(name.to_owned());
        bar.enable_steady_tick(Duration::from_millis(100));
        bar
    }
}

impl ProgressReporter for PublishProgress {
    fn stage(&self, name: &str, total: Option<u64>) {
        self.finish();
        if self.output.shows_progress() {
            *self.bar.lock().unwrap_or_else(PoisonError::into_inner) =
                Some(self.add_bar(name, total));
        }
    }

    fn advance(&self, by: u64) {
        if let Some(bar) = &*self.bar.lock().unwrap_or_else(PoisonError::into_inner) {
            bar.inc(by);
        }
    }
}

impl Drop for PublishProgress {
    fn drop(&mut self) {
        self.finish();
    }
}
