//! Every attack by name: what it does, what the client gets, what the operator reads, and what
//! catches it. `docs/attacks.md` shows this list; attacks of readers, which no client reaches,
//! stand in `readers`, those of transforms in `transforms`.

mod answers;
mod call_order;
mod descriptions;
mod files;
mod loading;
mod parts;
pub(crate) mod readers;
mod references;
mod shapes;
pub(crate) mod transforms;

/// Makes the component of the plugin of a name.
type Make = Box<dyn Fn(&str) -> Vec<u8>>;

/// An attack.
pub(crate) struct AttackCase {
    /// Also the format or the tool that its guest says it is.
    pub(crate) name: String,
    /// In words.
    pub(crate) does: String,
    guest: Make,
    /// True if its request goes to a generator.
    pub(crate) tool: bool,
    /// True if it needs so many rows that they cross in several chunks.
    pub(crate) many: bool,
    /// Its outcome.
    pub(crate) ends: ExpectedEnd,
    /// Lines that it adds to the log.
    pub(crate) said: Vec<String>,
    /// The guard that stops it.
    pub(crate) caught: &'static str,
    /// Findings of `plugin check`, where hosts cannot know.
    pub(crate) found: Option<&'static str>,
}

/// Outcome of a plugin's attack.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ExpectedEnd {
    /// No harm: 200 with these bytes.
    Whole(String),
    /// No harm: 200 with so many bytes.
    Long(usize),
    /// 500, and this in the log.
    Broken(String),
    /// 200 and a body without its end, and this in the log.
    Cut(String),
    /// 422 with this sentence.
    Declined(String),
    /// It is not loaded, for this reason; clients learn that there is no such format.
    Rejected(String),
}

/// Limits of the sandbox while attacks run: small, so that a loop ends soon.
pub(crate) mod limits {
    pub(crate) const CPU_MS: u64 = 60;
    pub(crate) const MEMORY: usize = 32 << 20;
    pub(crate) const OUTPUT: usize = 4 << 20;
    pub(crate) const NOTES: usize = 1 << 20;
    pub(crate) const INSTANCES: u32 = 8;
    pub(crate) const COMPONENT: usize = 12 << 20;
}

/// Every attack.
pub(crate) fn attacks() -> Vec<AttackCase> {
    [
        call_order::list(),
        shapes::list(),
        answers::list(),
        parts::list(),
        references::list(),
        descriptions::list(),
        loading::list(),
        files::list(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// A response that is stopped before its first byte.
fn broken(reason: &str) -> ExpectedEnd {
    ExpectedEnd::Broken(reason.to_owned())
}

fn rejected(reason: &str) -> ExpectedEnd {
    ExpectedEnd::Rejected(reason.to_owned())
}

fn complete_body(body: &str) -> ExpectedEnd {
    ExpectedEnd::Whole(body.to_owned())
}

impl AttackCase {
    fn new(
        name: &str,
        does: &str,
        guest: impl Fn(&str) -> Vec<u8> + 'static,
        ends: ExpectedEnd,
        caught: &'static str,
    ) -> Self {
        Self {
            name: name.to_owned(),
            does: does.to_owned(),
            guest: Box::new(guest),
            tool: false,
            many: false,
            ends,
            said: Vec::new(),
            caught,
            found: None,
        }
    }

    /// Asks for several parts.
    fn repeated(mut self) -> Self {
        self.many = true;
        self
    }

    /// It is a generator.
    fn generator(mut self) -> Self {
        self.tool = true;
        self
    }

    /// It logs this, in order.
    fn expect_log(mut self, lines: impl IntoIterator<Item = String>) -> Self {
        self.said.extend(lines);
        self
    }

    /// `plugin check` finds this.
    fn expect_finding(mut self, sentence: &'static str) -> Self {
        self.found = Some(sentence);
        self
    }

    /// The component.
    pub(crate) fn component(&self) -> Vec<u8> {
        (self.guest)(&self.name)
    }
}
