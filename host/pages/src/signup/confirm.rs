//! `/signup/confirm`: the page behind a mailed link. GET displays a button and consumes nothing,
//! since link scanners open links too; POST uses the link up and displays the key a single time
//! (contract-10-get-consumes-nothing).

use std::sync::Arc;

use askama::Template;
use axum::extract::{Request, State};
use axum::response::Response;
use yearbook_http::{Error, status};
use yearbook_signup::{AccountAction, LinkAnswer, LinkState};

use super::account::account_page;
use super::posted_form::PostedForm;
use super::{display_key, link_gone, respond, service, show_form, signup_failure};
use crate::PagesState;
use crate::{Frame, Section};

/// Name of the parameter that carries the secret of a link.
const TOKEN: &str = "token";

/// One button.
#[derive(Template)]
#[template(path = "signup_confirm.html")]
struct ConfirmPage<'a> {
    frame: Frame<'a>,
    token: &'a str,
}

/// `GET /signup/confirm`.
pub(crate) async fn show_link(
    State(app): State<Arc<PagesState>>,
    request: Request,
) -> Result<Response, Error> {
    let token = token_of(&request);
    if token.is_empty() {
        return show_form(&app, request.headers(), false).await;
    }
    let (parts, _) = request.into_parts();
    respond_to_link(&app, &parts, &token).await
}

/// `POST /signup/confirm`.
pub(crate) async fn open_account(
    State(app): State<Arc<PagesState>>,
    request: Request,
) -> Result<Response, Error> {
    let signup = service(&app)?;
    let (parts, form) = PostedForm::read(&app, request).await?;
    match signup.act(&form.token, AccountAction::Open).await.map_err(signup_failure)? {
        LinkAnswer::Key(issued) => display_key(&app, &parts, &issued, "").await,
        LinkAnswer::Gone | LinkAnswer::Done | LinkAnswer::TooManyWebhooks => {
            link_gone(&app, &parts.headers).await
        }
        // Another link of the same address was faster: this one leads to the account.
        LinkAnswer::OtherState => respond_to_link(&app, &parts, &form.token).await,
    }
}

/// The page that a link leads to now, whichever path it has.
pub(super) async fn respond_to_link(
    app: &PagesState,
    parts: &http::request::Parts,
    token: &str,
) -> Result<Response, Error> {
    match service(app)?.look_up(token).await.map_err(signup_failure)? {
        None => link_gone(app, &parts.headers).await,
        Some(LinkState::Account(account)) => account_page(app, parts, token, &account, None).await,
        Some(LinkState::NewAccount) => {
            let frame = app.site.frame("One more step", Section::Keys);
            respond(app, &parts.headers, &ConfirmPage { frame, token }, status::OK).await
        }
    }
}

/// The secret in the query of a link; empty where there is none.
pub(super) fn token_of(request: &Request) -> String {
    let query = request.uri().query().unwrap_or_default();
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    pairs.find(|(name, _)| name == TOKEN).map(|(_, value)| value.into_owned()).unwrap_or_default()
}
