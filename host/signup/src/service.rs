//! Questions of a server to sign-up: a mail for an address, and the changes that its link allows.
//! Known and unknown addresses cost the same here, because nothing looks an account up before a
//! link is opened (contract-10-same-answer).

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use tokio::sync::{Notify, Semaphore, SemaphorePermit};
use tokio::time::timeout;
use yearbook_catalog::{
    AccountChange, AccountOutcome, AccountRecord, Catalog, IssuedKey, KeyRecord, LINK_LIFETIME_MS,
    NewAccountKey, NewSignupLink, NewWebhook, QueueOutcome, clock, key,
};
use yearbook_domain::{MailAddress, Millis, Plan};

use crate::metrics::{SignupMetrics, SignupStage};
use crate::secrets::SignupSecrets;
use crate::token::LinkToken;
use crate::{FormFault, SignupError, SignupMode, SignupSettings, sealed_mail};

/// Requests of this process that ask the catalog at once: its other connections stay free for
/// clients with keys.
const TURNS: usize = 2;

/// Longest wait for a turn.
const PATIENCE: Duration = Duration::from_secs(2);

/// Time that a replaced key goes on working where its holder wishes it, milliseconds.
const OVERLAP_MS: i64 = 24 * 3_600_000;

/// Label of the keys that sign-up issues, for operators.
const LABEL: &str = "sign-up";

/// Sign-up of one process.
pub struct Signup {
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) secrets: SignupSecrets,
    settings: SignupSettings,
    /// Start of mailed links, without a slash at its end.
    base: String,
    /// Counts for operators.
    pub metrics: SignupMetrics,
    /// Instant until which the installation has had its mails, milliseconds: no query is needed to
    /// refuse.
    full_until: AtomicI64,
    turns: Semaphore,
    /// Wakes the sender when a mail was queued.
    pub(crate) bell: Arc<Notify>,
}

/// Answer to a request for a mail.
#[derive(Debug)]
pub enum RequestAnswer {
    /// A mail is on its way, or a bound forbids it: the answer does not say which.
    Accepted,
    /// Mode `show`: the key.
    Key(IssuedKey),
    /// Mode `show`, and a bound forbids another key today.
    Exhausted,
}

/// Meaning of a link that works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkState {
    /// The address has no account: the link opens one.
    NewAccount,
    /// The account that the link leads to.
    Account(AccountRecord),
}

/// Change that the holder of a link asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccountAction {
    /// A first key.
    Open,
    /// A new key; the old one ends at once, or after 24 hours.
    Replace {
        /// Keep the old key for 24 hours.
        overlap: bool,
    },
    /// The end of every link to rows so far.
    EndLinks,
    /// The end of every key.
    Revoke,
    /// One more address that is told of new versions.
    AddWebhook(NewWebhook),
    /// The end of the address with this id.
    RemoveWebhook(String),
    /// The end of the account.
    Delete,
}

/// Answer to such a change.
#[derive(Debug)]
pub enum LinkAnswer {
    /// A new key, to be displayed once.
    Key(IssuedKey),
    /// The change is made; there is no new key.
    Done,
    /// The link was used, has expired or never existed.
    Gone,
    /// The account is not in the state for this change; the link still works.
    OtherState,
    /// The account has as many addresses that are told of new versions as it may have; the link
    /// still works.
    TooManyWebhooks,
}

impl Signup {
    /// Prepares sign-up with the secret of `catalog`. Mailed links begin with `base`, an absolute
    /// address.
    ///
    /// # Errors
    /// Fails when the database does not give the secret.
    pub async fn open(
        catalog: Arc<Catalog>,
        settings: SignupSettings,
        base: &str,
    ) -> Result<Arc<Self>, SignupError> {
        let secrets = SignupSecrets::read(&catalog).await?;
        Ok(Arc::new(Self {
            catalog,
            secrets,
            settings,
            base: base.trim_end_matches('/').to_owned(),
            metrics: SignupMetrics::default(),
            full_until: AtomicI64::new(0),
            turns: Semaphore::new(TURNS),
            bell: Arc::default(),
        }))
    }

    /// Settings of the operator.
    #[must_use]
    pub fn settings(&self) -> &SignupSettings {
        &self.settings
    }

    /// The signed time for a form that is displayed now.
    #[must_use]
    pub fn form_stamp(&self) -> String {
        self.secrets.form_stamp(clock::now())
    }

    /// Checks the signed time of a form that was sent now.
    ///
    /// # Errors
    /// [`FormFault`].
    pub fn check_form(&self, stamp: &str) -> Result<(), FormFault> {
        self.secrets.check_form(stamp, clock::now())
    }

    /// Queues a mail to `address` for the client at `network`; in mode `show`, issues the key.
    ///
    /// # Errors
    /// [`SignupError`] when the database fails or too many wait for their turn.
    pub async fn request(
        &self,
        address: &MailAddress,
        network: IpAddr,
    ) -> Result<RequestAnswer, SignupError> {
        let now = clock::now();
        let show = self.settings.mode == SignupMode::Show;
        let refused = if show { RequestAnswer::Exhausted } else { RequestAnswer::Accepted };
        // What is further ahead than a link lasts was written by a clock that was ahead.
        let full_for = self.full_until.load(Ordering::Relaxed).saturating_sub(now.0);
        if (1..=LINK_LIFETIME_MS).contains(&full_for) {
            self.metrics.record_stage(SignupStage::InstallationExhausted);
            return Ok(refused);
        }
        let token = LinkToken::issue()?;
        let link = NewSignupLink {
            hash: token.hash(),
            address: self.secrets.address(address),
            network: self.secrets.network(network),
            at: now,
        };
        let bounds = self.settings.bounds();
        let _turn = self.turn().await?;
        if show {
            let (issued, key) = new_key(now)?;
            let others_end = Millis(now.0.saturating_add(OVERLAP_MS));
            let outcome = self.catalog.issue_unconfirmed(&link, &key, others_end, bounds).await?;
            let queued = self.count_outcome(outcome, SignupStage::Opened);
            return Ok(if queued { RequestAnswer::Key(issued) } else { refused });
        }
        let mail = sealed_mail::seal(&self.secrets, address, &token, &self.base, now)?;
        let outcome = self.catalog.queue_mail(&link, &mail, bounds).await?;
        if self.count_outcome(outcome, SignupStage::Queued) {
            self.bell.notify_one();
        }
        Ok(RequestAnswer::Accepted)
    }

    /// Reads what a link leads to; `None` where it does not work. Consumes nothing, however often
    /// it is called (contract-10-get-consumes-nothing).
    ///
    /// # Errors
    /// [`SignupError`] when the database fails or too many wait for their turn.
    pub async fn look_up(&self, token: &str) -> Result<Option<LinkState>, SignupError> {
        let Some(token) = LinkToken::parse(token) else { return Ok(None) };
        let now = clock::now();
        let _turn = self.turn().await?;
        let Some(address) = self.catalog.link_address(&token.hash(), now).await? else {
            return Ok(None);
        };
        let account = self.catalog.account(&address, now).await?;
        Ok(Some(account.map_or(LinkState::NewAccount, LinkState::Account)))
    }

    /// Uses a link up for `action`. Of many calls with one link, on whatever hosts, one has an
    /// effect.
    ///
    /// # Errors
    /// [`SignupError`] when the database fails or too many wait for their turn; the link still
    /// works then.
    pub async fn act(&self, token: &str, action: AccountAction) -> Result<LinkAnswer, SignupError> {
        let Some(token) = LinkToken::parse(token) else {
            self.metrics.record_stage(SignupStage::LinkGone);
            return Ok(LinkAnswer::Gone);
        };
        let now = clock::now();
        let (mut issued, stage) = (None, action.stage());
        let change = match action {
            AccountAction::EndLinks => AccountChange::EndLinks,
            AccountAction::Revoke => AccountChange::Revoke,
            AccountAction::AddWebhook(webhook) => AccountChange::AddWebhook(webhook),
            AccountAction::RemoveWebhook(id) => AccountChange::RemoveWebhook(id),
            AccountAction::Delete => AccountChange::Delete,
            AccountAction::Open | AccountAction::Replace { .. } => {
                let (text, key) = new_key(now)?;
                issued = Some(text);
                match action {
                    AccountAction::Replace { overlap } => {
                        let longer = if overlap { OVERLAP_MS } else { 0 };
                        AccountChange::Replace(key, Millis(now.0.saturating_add(longer)))
                    }
                    _ => AccountChange::Open(key),
                }
            }
        };
        let _turn = self.turn().await?;
        match self.catalog.change_account(&token.hash(), &change, now).await? {
            AccountOutcome::Done => {
                self.metrics.record_stage(stage);
                Ok(issued.map_or(LinkAnswer::Done, LinkAnswer::Key))
            }
            AccountOutcome::LinkGone => {
                self.metrics.record_stage(SignupStage::LinkGone);
                Ok(LinkAnswer::Gone)
            }
            AccountOutcome::OtherState => Ok(LinkAnswer::OtherState),
            AccountOutcome::TooManyWebhooks => Ok(LinkAnswer::TooManyWebhooks),
        }
    }

    /// Counts the outcome of a request; true when it was granted.
    fn count_outcome(&self, outcome: QueueOutcome, granted: SignupStage) -> bool {
        let stage = match outcome {
            QueueOutcome::Queued => granted,
            QueueOutcome::AddressExhausted => SignupStage::AddressExhausted,
            QueueOutcome::NetworkExhausted => SignupStage::NetworkExhausted,
            QueueOutcome::InstallationExhausted { until } => {
                self.full_until.store(until.0, Ordering::Relaxed);
                SignupStage::InstallationExhausted
            }
        };
        self.metrics.record_stage(stage);
        outcome == QueueOutcome::Queued
    }

    async fn turn(&self) -> Result<SemaphorePermit<'_>, SignupError> {
        let turn = timeout(PATIENCE, self.turns.acquire()).await;
        turn.ok().and_then(Result::ok).ok_or(SignupError::Busy)
    }
}

impl AccountAction {
    fn stage(&self) -> SignupStage {
        match self {
            Self::Open => SignupStage::Opened,
            Self::Replace { .. } => SignupStage::Replaced,
            Self::EndLinks => SignupStage::LinksEnded,
            Self::Revoke => SignupStage::Revoked,
            Self::AddWebhook(_) => SignupStage::WebhookAdded,
            Self::RemoveWebhook(_) => SignupStage::WebhookRemoved,
            Self::Delete => SignupStage::Deleted,
        }
    }
}

/// A Free key and its record.
fn new_key(now: Millis) -> Result<(IssuedKey, NewAccountKey), SignupError> {
    let (issued, hash) = key::issue()?;
    let record = KeyRecord {
        id: key::new_id()?,
        label: Some(LABEL.to_owned()),
        plan: Plan::Free,
        created_at: now,
        revoked_at: None,
    };
    Ok((issued, NewAccountKey { account_id: key::new_record_id("acct")?, record, hash }))
}
