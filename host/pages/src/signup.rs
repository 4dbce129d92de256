//! `/signup`: the form with one field, and what becomes of it (contract-10-form). The answer is the
//! same page for every address; it never says whether an address is known.

mod account;
mod confirm;
mod posted_form;
mod webhooks;

use std::sync::Arc;

use askama::Template;
use axum::extract::{Request, State};
use axum::response::Response;
use http::{HeaderMap, StatusCode};
use yearbook_catalog::IssuedKey;
use yearbook_domain::MailAddress;
use yearbook_signup::{FormFault, RequestAnswer, Signup, SignupError, SignupMode, SignupStage};

pub(crate) use account::{change, show_account};
pub(crate) use confirm::{open_account, show_link};

use super::{Frame, Section, html};
use crate::PagesState;
use posted_form::PostedForm;
use yearbook_http::client_address::ClientAddress;
use yearbook_http::document::CachePolicy;
use yearbook_http::{Error, status};

/// Id of the one field, which errors refer to.
const EMAIL: &str = "email";

/// The form.
#[derive(Template)]
#[template(path = "signup.html")]
struct SignupPage<'a> {
    frame: Frame<'a>,
    /// True on `/account`.
    account: bool,
    mode: ModeText,
    email: &'a str,
    error: String,
    faults: Vec<(&'static str, String)>,
    stamp: String,
    free_requests: Option<u64>,
}

/// The answer to the form.
#[derive(Template)]
#[template(path = "signup_sent.html")]
struct SentPage<'a> {
    frame: Frame<'a>,
    mode: ModeText,
}

/// A key, displayed a single time.
#[derive(Template)]
#[template(path = "signup_key.html")]
struct KeyPage<'a> {
    frame: Frame<'a>,
    key: &'a str,
    example: String,
    /// Sentence about the keys before this one.
    remark: &'a str,
}

/// A link that does not work, or a change without a key.
#[derive(Template)]
#[template(path = "signup_note.html")]
struct NotePage<'a> {
    frame: Frame<'a>,
    sentence: &'a str,
    /// True where a new link helps.
    again: bool,
}

/// Way from the form to the key, as pages tell it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ModeText {
    /// A mail comes by itself.
    Mailed,
    /// The operator passes the link on.
    PassedOn,
    /// The key is displayed at once.
    Shown,
}

impl From<&Signup> for ModeText {
    fn from(signup: &Signup) -> Self {
        match signup.settings().mode {
            SignupMode::Outbox => Self::PassedOn,
            SignupMode::Show => Self::Shown,
            SignupMode::Smtp | SignupMode::Off => Self::Mailed,
        }
    }
}

/// `GET /signup`.
pub(crate) async fn show(
    State(app): State<Arc<PagesState>>,
    request: Request,
) -> Result<Response, Error> {
    show_form(&app, request.headers(), false).await
}

/// `POST /signup`.
pub(crate) async fn submit(
    State(app): State<Arc<PagesState>>,
    request: Request,
) -> Result<Response, Error> {
    let signup = service(&app)?;
    let client = ClientAddress::from_request(&request).address;
    let (parts, form) = PostedForm::read(&app, request).await?;
    let refuse = async |stage, error: String| {
        signup.metrics.record_stage(stage);
        refuse_form(&app, &parts.headers, &form.email, error).await
    };
    match signup.check_form(&form.stamp) {
        Ok(()) => {}
        Err(FormFault::TooYoung) => {
            let error = "The form came back faster than anybody types. Send it once more.";
            return refuse(SignupStage::Robot, error.to_owned()).await;
        }
        Err(FormFault::Expired) => {
            let error = "The form is too old. It is new now: send it once more.";
            return refuse(SignupStage::Invalid, error.to_owned()).await;
        }
    }
    if !form.website.is_empty() {
        // A robot learns nothing.
        signup.metrics.record_stage(SignupStage::Robot);
        return accepted(&app, &parts.headers).await;
    }
    let address = match MailAddress::parse(&form.email) {
        Ok(address) => address,
        Err(fault) => return refuse(SignupStage::Invalid, fault.to_string()).await,
    };
    match signup.request(&address, client).await.map_err(signup_failure)? {
        RequestAnswer::Accepted => accepted(&app, &parts.headers).await,
        RequestAnswer::Key(issued) => {
            let remark = "Keys that the address had before go on for 24 hours.";
            display_key(&app, &parts, &issued, remark).await
        }
        RequestAnswer::Exhausted => {
            let sentence = "No more keys are issued here today. Come back tomorrow.";
            note(&app, &parts.headers, "No more keys today", sentence, true, status::OK).await
        }
    }
}

/// Sign-up, where it is on.
fn service(app: &PagesState) -> Result<Arc<Signup>, Error> {
    app.signup.clone().ok_or(Error::NoSuchRoute)
}

/// The empty form.
async fn show_form(
    app: &PagesState,
    headers: &HeaderMap,
    account: bool,
) -> Result<Response, Error> {
    let signup = service(app)?;
    let page = form_page(app, &signup, account, "", String::new());
    respond(app, headers, &page, status::OK).await
}

/// The form with what was typed and what is wrong with it.
async fn refuse_form(
    app: &PagesState,
    headers: &HeaderMap,
    email: &str,
    error: String,
) -> Result<Response, Error> {
    let signup = service(app)?;
    let page = form_page(app, &signup, false, email, error);
    respond(app, headers, &page, status::UNPROCESSABLE).await
}

fn form_page<'a>(
    app: &'a PagesState,
    signup: &Signup,
    account: bool,
    email: &'a str,
    error: String,
) -> SignupPage<'a> {
    let title = match (error.is_empty(), account) {
        (false, _) => "Error: get a key",
        (true, true) => "Your account",
        (true, false) => "Get a key",
    };
    let faults = if error.is_empty() { Vec::new() } else { vec![(EMAIL, error.clone())] };
    SignupPage {
        frame: app.site.frame(title, Section::Keys),
        account,
        mode: ModeText::from(signup),
        email,
        error,
        faults,
        stamp: signup.form_stamp(),
        free_requests: app.core.settings.plans.free.requests_per_month,
    }
}

/// The page after the form: the same for every address, whatever becomes of the mail.
async fn accepted(app: &PagesState, headers: &HeaderMap) -> Result<Response, Error> {
    let signup = service(app)?;
    let page = SentPage {
        frame: app.site.frame("Look for the link", Section::Keys),
        mode: ModeText::from(&*signup),
    };
    respond(app, headers, &page, status::OK).await
}

async fn display_key(
    app: &PagesState,
    parts: &http::request::Parts,
    issued: &IssuedKey,
    remark: &str,
) -> Result<Response, Error> {
    let base = app.core.base_url(parts);
    let page = KeyPage {
        frame: app.site.frame("Your API key", Section::Keys),
        key: issued.expose(),
        example: format!("curl -H 'X-API-Key: {}' {base}/v1/datasets", issued.expose()),
        remark,
    };
    respond(app, &parts.headers, &page, status::OK).await
}

async fn note(
    app: &PagesState,
    headers: &HeaderMap,
    title: &str,
    sentence: &str,
    again: bool,
    status: StatusCode,
) -> Result<Response, Error> {
    let page = NotePage { frame: app.site.frame(title, Section::Keys), sentence, again };
    respond(app, headers, &page, status).await
}

/// Answers with a page of sign-up, which no cache may store.
async fn respond(
    app: &PagesState,
    headers: &HeaderMap,
    page: &impl Template,
    status: StatusCode,
) -> Result<Response, Error> {
    let document = html::render(page)?;
    let mut response = html::respond(app, headers, &document, CachePolicy::NoStore).await?;
    *response.status_mut() = status;
    Ok(response)
}

/// The page for a link that was used, has expired, or never was one.
async fn link_gone(app: &PagesState, headers: &HeaderMap) -> Result<Response, Error> {
    let sentence = "This link was used already, is older than 24 hours, or was not copied whole. \
                    A new one can be had below.";
    note(app, headers, "This link does not work", sentence, true, status::GONE).await
}

/// Returns the error for a failure of sign-up.
fn signup_failure(failure: SignupError) -> Error {
    match failure {
        SignupError::Catalog(failure) => failure.into(),
        SignupError::Busy => Error::Busy { retry_after: 2 },
        other => Error::internal("sign somebody up", &other),
    }
}
