//! Sign-up: stages that people reached, and mails (contract-10-log).

use std::fmt;

use yearbook_http::metrics::MetricsWriter;
use yearbook_signup::{MailFate, Signup, SignupStage};

/// Writes what sign-up has counted.
pub(crate) fn write(signup: &Signup, sheet: &mut MetricsWriter<'_>) -> fmt::Result {
    let metrics = &signup.metrics;
    sheet.counter(
        "yearbook_signup_stages",
        "Stages of sign-up that were reached, refusals included.",
        SignupStage::ALL.map(|stage| (vec![("stage", stage.name())], metrics.reached(stage))),
    )?;
    sheet.counter(
        "yearbook_signup_mails",
        "Mails that left the queue, and attempts to send one that failed.",
        MailFate::ALL.map(|fate| (vec![("outcome", fate.name())], metrics.mails(fate))),
    )?;
    sheet.gauge(
        "yearbook_signup_mails_waiting",
        "Mails in the queue, of all hosts; half a minute old at most.",
        [(vec![], metrics.waiting())],
    )
}
