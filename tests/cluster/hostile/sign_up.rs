//! The form of sign-up as a client sends it: the stamp that it was shown with, and the request.

use std::time::Duration;

/// Path of the form, and of where it is sent.
pub(crate) const PATH: &str = "/signup";

/// Time in which nobody fills in a form; what comes back sooner is taken for a robot's.
pub(crate) const TYPING_TIME: Duration = Duration::from_millis(2_100);

/// The stamp in the form of a page.
pub(crate) fn stamp_in(page: &str) -> Option<String> {
    let (_, after) = page.split_once("name=\"stamp\"")?;
    let (_, after) = after.split_once("value=\"")?;
    Some(after.split_once('"')?.0.to_owned())
}

/// The fields for an address.
pub(crate) fn fields(email: &str, stamp: &str) -> String {
    format!("email={}&website=&stamp={stamp}", email.replace('@', "%40"))
}

/// A request with them on a connection that goes on.
pub(crate) fn head(email: &str, stamp: &str) -> String {
    let body = fields(email, stamp);
    format!(
        "POST {PATH} HTTP/1.1\r\nHost: test.example\r\nOrigin: http://test.example\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}
