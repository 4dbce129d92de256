//! The adapter world: the export. Its types are generated natively too (`adapter/world.rs`).

use std::marker::PhantomData;

use super::install_log;
use crate::Adapter;
use crate::adapter::{Document, Fact, Framing, Known, Refusal, Reply, Request, driver};
use crate::log::Level;
use adapter_world::exports::yearbook::plugin::adapter as wit;
use adapter_world::yearbook::plugin::log as wit_log;

#[doc(hidden)]
pub use crate::adapter::world as adapter_world;

/// The type that [`crate::export_adapter!`] exports.
#[doc(hidden)]
#[derive(Debug)]
pub struct AdapterExport<A>(PhantomData<A>);

impl<A: Adapter> wit::Guest for AdapterExport<A> {
    fn describe() -> wit::Description {
        install_log(write_log);
        let description = A::describe();
        wit::Description {
            name: description.name.into(),
            version: description.version.into(),
            title: description.title.into(),
            docs: description.docs.into(),
            posts: description.posts,
            plus_is_space: description.plus_is_space,
            headers: description.headers.into_iter().map(Into::into).collect(),
            key_parameter: description.key_parameter.map(Into::into),
            examples: description.examples,
        }
    }

    fn answer(request: Request, facts: Vec<Fact>) -> Reply {
        install_log(write_log);
        driver::answer::<A>(&request, facts)
    }

    fn frame(request: Request, facts: Vec<Fact>, known: Known) -> Framing {
        install_log(write_log);
        A::frame(&request, &facts, &known)
    }

    fn refuse(request: Request, refusal: Refusal) -> Document {
        install_log(write_log);
        A::refuse(&request, &refusal)
    }
}

fn write_log(level: Level, message: &str) {
    let level = match level {
        Level::Trace => wit_log::Level::Trace,
        Level::Debug => wit_log::Level::Debug,
        Level::Info => wit_log::Level::Info,
        Level::Warn => wit_log::Level::Warn,
        Level::Error => wit_log::Level::Error,
    };
    wit_log::write(level, message);
}
