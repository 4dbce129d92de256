//! The part of `/account` about webhooks: addresses that are told of new versions
//! (contract-21-webhooks).

use askama::Template;
use axum::response::Response;
use http::request::Parts;
use yearbook_catalog::{AccountRecord, NewWebhook, WEBHOOKS_OF_AN_ACCOUNT, WebhookRecord};
use yearbook_domain::DatasetName;
use yearbook_http::{Error, status};
use yearbook_signup::LinkState;
use yearbook_webhooks::UrlFault;

use super::account::account_page;
use super::posted_form::PostedForm;
use super::{link_gone, respond, service, signup_failure};
use crate::{Frame, PagesState, Section};

/// Id of the field of the address, which errors refer to.
const URL: &str = "url";

/// Id of the field of the dataset.
const DATASET: &str = "dataset";

/// Id of the heading.
const TITLE: &str = "webhooks-title";

/// The webhooks of an account.
pub(super) struct WebhookList<'a> {
    pub(super) lines: Vec<WebhookLine<'a>>,
    /// True where the account has as many as it may.
    pub(super) is_full: bool,
    pub(super) most: u64,
    /// Address as it was typed into the form.
    pub(super) url: &'a str,
    pub(super) dataset: &'a str,
    /// Faults of the form, by the id of the field.
    pub(super) faults: Vec<(&'static str, String)>,
}

/// One webhook.
pub(super) struct WebhookLine<'a> {
    pub(super) id: &'a str,
    pub(super) url: &'a str,
    pub(super) dataset: Option<&'a str>,
    pub(super) state: String,
}

/// A form that was not taken.
pub(super) struct RefusedWebhook<'a> {
    form: &'a PostedForm,
    fault: WebhookFault,
}

/// Reason why a webhook is not added.
#[derive(Debug, thiserror::Error)]
pub(super) enum WebhookFault {
    /// Its address may not be told of anything.
    #[error(transparent)]
    Url(#[from] UrlFault),
    /// There is no dataset of that name.
    #[error("there is no dataset of that name; write its name as in its address, or leave it out")]
    NoSuchDataset,
    /// The account has as many as it may.
    #[error("an account has {WEBHOOKS_OF_AN_ACCOUNT} webhooks at most; remove one first")]
    TooMany,
}

/// The secret, displayed a single time.
#[derive(Template)]
#[template(path = "webhook_secret.html")]
struct SecretPage<'a> {
    frame: Frame<'a>,
    url: &'a str,
    secret: String,
}

impl<'a> WebhookList<'a> {
    pub(super) fn new(account: &'a AccountRecord, refused: Option<RefusedWebhook<'a>>) -> Self {
        let line = |webhook: &'a WebhookRecord| WebhookLine {
            id: &webhook.id,
            url: &webhook.url,
            dataset: webhook.dataset.as_ref().map(DatasetName::as_str),
            state: state_of(webhook),
        };
        let typed = refused.as_ref().map(|refused| refused.form);
        Self {
            lines: account.webhooks.iter().map(line).collect(),
            is_full: account.webhooks.len() as u64 >= WEBHOOKS_OF_AN_ACCOUNT,
            most: WEBHOOKS_OF_AN_ACCOUNT,
            url: typed.map_or("", |form| form.url.as_str()),
            dataset: typed.map_or("", |form| form.dataset.as_str()),
            faults: refused.as_ref().map(RefusedWebhook::fault).into_iter().collect(),
        }
    }

    /// Returns what is wrong with a field; empty where nothing is.
    pub(super) fn fault_of(&self, field: &str) -> &str {
        self.faults.iter().find(|(id, _)| *id == field).map_or("", |(_, fault)| fault)
    }
}

impl RefusedWebhook<'_> {
    fn fault(&self) -> (&'static str, String) {
        let field = match self.fault {
            WebhookFault::NoSuchDataset => DATASET,
            WebhookFault::Url(_) => URL,
            WebhookFault::TooMany => TITLE,
        };
        (field, sentence(&self.fault.to_string()))
    }
}

/// A fault as a sentence.
fn sentence(fault: &str) -> String {
    let mut letters = fault.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).chain(['.']).collect()
}

/// Returns how a webhook does, in words.
fn state_of(webhook: &WebhookRecord) -> String {
    let why = webhook.last_failure.as_deref().unwrap_or("it asked for no more");
    match (webhook.ended_at, webhook.attempts) {
        (Some(at), _) => format!("ended {}: {why}", at.to_rfc3339()),
        (None, 0) => "works".to_owned(),
        (None, 1) => format!("one attempt has failed: {why}"),
        (None, attempts) => format!("{attempts} attempts have failed: {why}"),
    }
}

/// Reads the form of a new webhook.
///
/// # Errors
/// 404 where this service tells nobody; 500 when the machine gives no random numbers.
pub(super) fn read(
    app: &PagesState,
    form: &PostedForm,
) -> Result<Result<NewWebhook, WebhookFault>, Error> {
    let webhooks = app.webhooks.as_ref().ok_or(Error::NoSuchRoute)?;
    let dataset = match form.dataset.trim() {
        "" => None,
        name => match app.core.catalog_cache.dataset(name) {
            Some(dataset) => Some(dataset.name.clone()),
            None => return Ok(Err(WebhookFault::NoSuchDataset)),
        },
    };
    Ok(webhooks.make(&form.url, dataset)?.map_err(WebhookFault::Url))
}

/// The page of the account with the form as it was typed, and what is wrong with it.
pub(super) async fn refuse(
    app: &PagesState,
    parts: &Parts,
    form: &PostedForm,
    fault: WebhookFault,
) -> Result<Response, Error> {
    match service(app)?.look_up(&form.token).await.map_err(signup_failure)? {
        Some(LinkState::Account(account)) => {
            let refused = RefusedWebhook { form, fault };
            account_page(app, parts, &form.token, &account, Some(refused)).await
        }
        _ => link_gone(app, &parts.headers).await,
    }
}

/// The page after a webhook was added.
pub(super) async fn display_secret(
    app: &PagesState,
    parts: &Parts,
    webhook: &NewWebhook,
) -> Result<Response, Error> {
    let webhooks = app.webhooks.as_ref().ok_or(Error::NoSuchRoute)?;
    let page = SecretPage {
        frame: app.site.frame("Your webhook", Section::Keys),
        url: &webhook.url,
        secret: webhooks.secret(&webhook.id),
    };
    respond(app, &parts.headers, &page, status::OK).await
}
