//! Advice to the author of a plugin whose call failed: by the failure, and by the kind where the
//! same failure has another remedy.

use yearbook_domain::PluginKind;
use yearbook_sandbox::{GuestError, Trap};

/// Advice on `error` of a plugin of the kind `kind`.
pub(super) fn advice_on(kind: PluginKind, error: &GuestError) -> &'static str {
    match (error, kind) {
        (GuestError::Trapped { trap, .. } | GuestError::TooLarge { trap, .. }, _) => {
            advice_on_trap(trap)
        }
        (GuestError::Declined(_), PluginKind::Encoder) => {
            "take every type that datasets have: text, integers, floats, booleans, all of them nullable"
        }
        (GuestError::Declined(_), PluginKind::Generator) => {
            "make something of every dataset, or warn that it is left out; declining is a 422 for clients"
        }
        (GuestError::Declined(_), PluginKind::Reader) => {
            "the example must be read with the default options"
        }
        (
            GuestError::Declined(_)
            | GuestError::UnsupportedRows(_)
            | GuestError::TooManyRows(_)
            | GuestError::TooManyGroups { .. },
            _,
        ) => "take a table with a date, a text and a value where the options allow",
        (GuestError::InvalidOption(_) | GuestError::InvalidTransformOption { .. }, _) => {
            "take every value that the description allows, or do not declare it"
        }
        (GuestError::Internal { .. }, PluginKind::Reader) => {
            "refuse what is wrong with the file as the file's fault"
        }
        (GuestError::Internal { .. }, _) => {
            "an internal error is a 500 for clients; the sentence is the plugin's own"
        }
        (GuestError::Output { .. }, PluginKind::Reader) => {
            "return one array a column of the type that `columns` names, each as long as the batch"
        }
        (GuestError::Output { .. }, PluginKind::Adapter) => {
            "keep the rule, which stands beside the field in `wit/1.2.0/adapter.wit`"
        }
        (GuestError::Output { .. }, PluginKind::Transform) => {
            "return what `plan` and `output` promise; the rules stand in `wit`"
        }
        (GuestError::Output { .. }, _) => {
            "return at least one file of UTF-8 text, each at a relative path of its own"
        }
        (GuestError::MemoryUsedUp { .. }, _) => {
            "use less memory, or raise sandbox.total_memory_bytes"
        }
        (
            GuestError::Busy { .. }
            | GuestError::ShareUsedUp
            | GuestError::Input(_)
            | GuestError::Host(_),
            _,
        ) => "try again; if it stays so, the fault is the host's",
    }
}

fn advice_on_trap(trap: &Trap) -> &'static str {
    match trap {
        Trap::Cpu(_) | Trap::Wall(_) => {
            "do less in one call; a batch of 4 MB should take milliseconds"
        }
        Trap::Memory(_) => {
            "free what a part needed before the next one, and hold no whole response"
        }
        Trap::TotalMemory { .. } => {
            "try again; other plugins hold the memory that all may have together"
        }
        Trap::Table(_) => "a table holds functions; it need not grow while rows are written",
        Trap::Stack(_) => "do not recurse over rows or text",
        Trap::Output(_)
        | Trap::Amplification { .. }
        | Trap::ReadAmplification { .. }
        | Trap::TransformAmplification { .. } => "write what the rows need and no more",
        Trap::Notes(_) => "leave for the tail what an index needs and no more",
        Trap::Splice(_) => {
            "name ranges of this batch's buffers only, in the order of the output; the SDK's `Output::pass` does"
        }
        Trap::Views { .. } => "return a view for each column of the schema, or none at all",
        Trap::Wasm(_) => {
            "a panic, or an access out of bounds; a Rust plugin's panic message stands in the log on standard error"
        }
    }
}
