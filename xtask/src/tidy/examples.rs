//! Checks that the documentation of every public item of the SDK has an example: authors of plugins
//! read nothing else. Owns what counts as an item; rustdoc runs the examples.

use super::{SourceTree, numbered, product_code};

/// Folder of the sources that are documented so.
const SDK: &str = "plugins/sdk/src/";

/// Files of what macros expand to and the host's check calls, which no author calls and
/// documentation hides.
const HIDDEN: [&str; 8] = [
    "guest.rs",
    "guest/adapter.rs",
    "guest/codelists.rs",
    "guest/generator.rs",
    "guest/reader.rs",
    "guest/transform.rs",
    "raw.rs",
    "testing/adapting/trial.rs",
];

/// Words that make an item public, with what they are followed by.
const ITEMS: [&str; 8] = [
    "pub fn ",
    "pub const fn ",
    "pub const ",
    "pub struct ",
    "pub enum ",
    "pub trait ",
    "pub type ",
    "macro_rules! ",
];

/// Public items whose documentation has no example.
pub(super) fn of_the_sdk(tree: &SourceTree) -> Vec<String> {
    let sources = tree.texts.iter().filter_map(|(path, text)| {
        let file = path.strip_prefix(SDK)?;
        (file.ends_with(".rs") && !HIDDEN.contains(&file)).then_some((path, text))
    });
    sources.flat_map(|(path, text)| without_example(path, text)).collect()
}

fn without_example(path: &str, text: &str) -> Vec<String> {
    // The test kit is what authors use most.
    let code = if path.contains("/testing") {
        text.split("#[cfg(test)]\nmod ").next().unwrap_or_default()
    } else {
        product_code(path, text)
    };
    let (mut faults, mut has_example) = (Vec::new(), false);
    for (number, line) in numbered(code) {
        let line = line.trim_start();
        if ITEMS.iter().any(|item| line.starts_with(item)) {
            if !has_example {
                let item = line.split(['(', '{', '=', ';']).next().unwrap_or_default().trim();
                faults
                    .push(format!("{path}:{number}: `{item}` has no example in its documentation"));
            }
            has_example = false;
        } else if line.starts_with("/// ```") {
            has_example = true;
        } else if !line.starts_with("///") && (line.is_empty() || line.starts_with('}')) {
            has_example = false;
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_without_an_example_is_found_and_one_behind_attributes_is_not() {
        let text = "\
/// One.
///
/// ```
/// assert!(true);
/// ```
#[must_use]
#[expect(
    missing_docs,
    reason = \"x\"
)]
pub fn one() {}

/// Two.
pub struct Two<'a>(&'a str);

impl Two<'_> {
    /// Three.
    pub(crate) fn three() {}

    /// ```
    /// ```
    pub const FOUR: u8 = 4;
    /// Five.
    pub const FIVE: u8 = 5;
}

#[cfg(test)]
mod tests {
    pub fn six() {}
}
";
        assert_eq!(
            without_example("plugins/sdk/src/a.rs", text),
            [
                "plugins/sdk/src/a.rs:14: `pub struct Two<'a>` has no example in its documentation",
                "plugins/sdk/src/a.rs:24: `pub const FIVE: u8` has no example in its documentation",
            ]
        );
    }
}
