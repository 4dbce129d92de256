//! `/account`: with a mailed link the use of the month, and the buttons that replace the key, end
//! its links to rows, add and remove webhooks, revoke the key or delete the account
//! (contract-10-replace, contract-21-webhooks); without one the form of `/signup`. Each button uses
//! the mailed link up.

use std::sync::Arc;

use askama::Template;
use axum::extract::{Request, State};
use axum::response::Response;
use yearbook_catalog::AccountRecord;
use yearbook_domain::Plan;
use yearbook_http::{Error, status};
use yearbook_signup::{AccountAction, LinkAnswer};

use super::confirm::{respond_to_link, token_of};
use super::posted_form::PostedForm;
use super::webhooks::{self, RefusedWebhook, WebhookFault, WebhookList};
use super::{display_key, link_gone, note, respond, service, show_form, signup_failure};
use crate::{Frame, Section};
use crate::{PageRefusal, PagesState};

/// The account.
#[derive(Template)]
#[template(path = "account.html")]
struct AccountPage<'a> {
    frame: Frame<'a>,
    token: &'a str,
    used: u64,
    /// Requests a month; none: unlimited.
    limit: Option<u64>,
    left: Option<u64>,
    resets_on: String,
    keys: Vec<KeyLine>,
    /// Addresses that are told of new versions; none where this service tells nobody.
    webhooks: Option<WebhookList<'a>>,
}

/// A key that works.
struct KeyLine {
    id: String,
    created: String,
    /// The instant at which it ends, where that is known.
    ends: Option<String>,
}

/// `GET /account`.
pub(crate) async fn show_account(
    State(app): State<Arc<PagesState>>,
    request: Request,
) -> Result<Response, Error> {
    let token = token_of(&request);
    if token.is_empty() {
        return show_form(&app, request.headers(), true).await;
    }
    let (parts, _) = request.into_parts();
    respond_to_link(&app, &parts, &token).await
}

/// `POST /account`.
pub(crate) async fn change(
    State(app): State<Arc<PagesState>>,
    request: Request,
) -> Result<Response, Error> {
    let signup = service(&app)?;
    let (parts, form) = PostedForm::read(&app, request).await?;
    let overlap = form.old_key == "later";
    let action = match form.action.as_str() {
        "replace" => AccountAction::Replace { overlap },
        "end_links" => AccountAction::EndLinks,
        "revoke" => AccountAction::Revoke,
        "add_webhook" => match webhooks::read(&app, &form)? {
            Ok(webhook) => AccountAction::AddWebhook(webhook),
            Err(fault) => return webhooks::refuse(&app, &parts, &form, fault).await,
        },
        "remove_webhook" => AccountAction::RemoveWebhook(form.webhook.clone()),
        "delete" => AccountAction::Delete,
        _ => return Err(PageRefusal::UnreadableForm.into()),
    };
    match signup.act(&form.token, action.clone()).await.map_err(signup_failure)? {
        LinkAnswer::Key(issued) => {
            let remark = if overlap {
                "The key before it goes on for 24 hours."
            } else {
                "The key before it has ended."
            };
            display_key(&app, &parts, &issued, remark).await
        }
        LinkAnswer::Done => {
            let (title, sentence) = match &action {
                AccountAction::AddWebhook(webhook) => {
                    return webhooks::display_secret(&app, &parts, webhook).await;
                }
                AccountAction::RemoveWebhook(_) => (
                    "The webhook is removed",
                    "Nothing is sent to its address any more, but for what is on its way.",
                ),
                AccountAction::Delete => (
                    "The account is deleted",
                    "Its keys and webhooks have ended. What stays until the end of the month is a \
                     code that stands for your address, and the number of requests.",
                ),
                AccountAction::EndLinks => (
                    "The links to rows have ended",
                    "Every link to rows that was made so far is refused from now on. The key \
                     works, and can make new ones.",
                ),
                _ => (
                    "The key is revoked",
                    "It has ended. A link to your account, by which you can have a new one, can \
                     be had below.",
                ),
            };
            note(&app, &parts.headers, title, sentence, action != AccountAction::Delete, status::OK)
                .await
        }
        LinkAnswer::Gone => link_gone(&app, &parts.headers).await,
        LinkAnswer::OtherState => respond_to_link(&app, &parts, &form.token).await,
        LinkAnswer::TooManyWebhooks => {
            let fault = WebhookFault::TooMany;
            webhooks::refuse(&app, &parts, &form, fault).await
        }
    }
}

/// The page of `account`, whose buttons use the link up. `refused` is a webhook that was not added.
pub(super) async fn account_page(
    app: &PagesState,
    parts: &http::request::Parts,
    token: &str,
    account: &AccountRecord,
    refused: Option<RefusedWebhook<'_>>,
) -> Result<Response, Error> {
    let plan = account.keys.last().map_or(Plan::Free, |key| key.plan);
    let limits = app.core.settings.plans.limits(plan);
    let usage = app.core.quota.usage_of_key(&account.usage_key, limits).await?;
    let keys = account.keys.iter().map(|key| KeyLine {
        id: key.id.to_string(),
        created: key.created_at.date().to_string(),
        ends: key.revoked_at.map(|at| at.to_rfc3339()),
    });
    let is_refused = refused.is_some();
    let page = AccountPage {
        frame: app
            .site
            .frame(if is_refused { "Error: add a webhook" } else { "Your account" }, Section::Keys),
        token,
        used: usage.used,
        limit: usage.limit,
        left: usage.left(),
        resets_on: usage.resets_at.date().to_string(),
        keys: keys.collect(),
        webhooks: app.webhooks.as_ref().map(|_| WebhookList::new(account, refused)),
    };
    let status = if is_refused { status::UNPROCESSABLE } else { status::OK };
    respond(app, &parts.headers, &page, status).await
}
