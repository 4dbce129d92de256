//! Answers to an adapter's questions about the catalogue (contract-17-facts).

use yearbook_http::Error;
use yearbook_sandbox::catalogue::{Fact, Question};

use crate::AdaptersState;
use crate::request::Exchange;

/// Returns whether `question` is a read, of which a request has four and for which it needs a key.
pub(crate) fn is_read(question: &Question) -> bool {
    matches!(question, Question::Count(_) | Question::Rows(_))
}

/// Answers `question`.
///
/// # Errors
/// 401, 402, 403, 429 and 5xx, which end the request. What is wrong with the question alone is a
/// fact.
pub(crate) async fn answer(
    _app: &AdaptersState,
    _exchange: &mut Exchange,
    _question: &Question,
) -> Result<Fact, Error> {
    Err(Error::internal("answer a question", &"facts are not built"))
}
