//! One call of an adapter, as the export and the test kit make it.

use super::{Adapter, Fact, Host, Reply, Request, Stop};

/// Answers or asks: what stopped the call becomes its reply.
pub(crate) fn answer<A: Adapter>(request: &Request, facts: Vec<Fact>) -> Reply {
    match A::answer(request, &mut Host::new(facts)) {
        Ok(reply) => reply,
        Err(Stop::Ask(questions)) => Reply::Ask(questions),
        Err(Stop::Document(document)) => Reply::Document(*document),
        Err(Stop::Refused(refusal)) => Reply::Document(A::refuse(request, &refusal)),
    }
}
