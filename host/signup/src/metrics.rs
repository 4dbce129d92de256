//! Counts of sign-up since the start of the process (contract-10-log). Label values come from fixed
//! sets.

use yearbook_counters::{Counter, Gauge, Metric as _};
use yearbook_domain::words;

/// Stages that a person can reach, and ways in which a request ends before it gets a mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignupStage {
    /// A mail was queued.
    Queued,
    /// No mail: the address has had its mails.
    AddressExhausted,
    /// No mail: the network has had its mails.
    NetworkExhausted,
    /// No mail: the installation has had its mails.
    InstallationExhausted,
    /// No mail: the hidden field was filled, or the form was sent within two seconds.
    Robot,
    /// No mail: the text is no address, or the form too old.
    Invalid,
    /// A link opened an account, or a key was displayed at once.
    Opened,
    /// A key was replaced.
    Replaced,
    /// Links to rows were ended.
    LinksEnded,
    /// Keys were revoked.
    Revoked,
    /// An address was added that is told of new versions.
    WebhookAdded,
    /// One was removed.
    WebhookRemoved,
    /// An account was deleted.
    Deleted,
    /// A link was used before, had expired or never existed.
    LinkGone,
}

/// Ways in which a mail leaves the queue, and failed attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MailFate {
    /// The SMTP server took it.
    Sent,
    /// An attempt failed; there will be another.
    Retried,
    /// The mailbox does not exist.
    Rejected,
    /// Nobody handed it over within 24 hours.
    Expired,
}

words! {
    SignupStage {
        Queued = "queued", AddressExhausted = "address_exhausted",
        NetworkExhausted = "network_exhausted", InstallationExhausted = "installation_exhausted",
        Robot = "robot", Invalid = "invalid", Opened = "opened", Replaced = "replaced",
        LinksEnded = "links_ended", Revoked = "revoked",
        WebhookAdded = "webhook_added", WebhookRemoved = "webhook_removed", Deleted = "deleted",
        LinkGone = "link_gone",
    }
}

words! {
    MailFate { Sent = "sent", Retried = "retried", Rejected = "rejected", Expired = "expired" }
}

impl SignupStage {
    /// Returns true where somebody got nothing.
    fn is_refusal(self) -> bool {
        !matches!(
            self,
            Self::Queued
                | Self::Opened
                | Self::Replaced
                | Self::LinksEnded
                | Self::Revoked
                | Self::WebhookAdded
                | Self::WebhookRemoved
                | Self::Deleted
        )
    }

    /// Value of the label.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.as_str()
    }
}

impl MailFate {
    /// Value of the label.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.as_str()
    }
}

/// The counts.
#[derive(Debug, Default)]
pub struct SignupMetrics {
    stages: [Counter; SignupStage::ALL.len()],
    mails: [Counter; MailFate::ALL.len()],
    waiting: Gauge,
}

impl SignupMetrics {
    /// Counts a stage, and writes its line of the log.
    pub fn record_stage(&self, stage: SignupStage) {
        if stage.is_refusal() {
            // A flood must not fill the log.
            tracing::debug!(stage = stage.name(), "sign-up: refused");
        } else {
            tracing::info!(stage = stage.name(), "sign-up");
        }
        self.stages[stage as usize].increment();
    }

    /// Number of times that a stage was reached.
    #[must_use]
    pub fn reached(&self, stage: SignupStage) -> u64 {
        self.stages[stage as usize].read()
    }

    /// Number of mails with this fate.
    #[must_use]
    pub fn mails(&self, fate: MailFate) -> u64 {
        self.mails[fate as usize].read()
    }

    /// Mails that waited when the queue was last counted.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.read()
    }

    pub(crate) fn count_mails(&self, fate: MailFate, mails: u64) {
        self.mails[fate as usize].add(mails);
    }

    pub(crate) fn set_waiting(&self, mails: u64) {
        self.waiting.set(usize::try_from(mails).unwrap_or(usize::MAX));
    }
}
