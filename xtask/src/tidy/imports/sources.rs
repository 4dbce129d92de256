//! Names that the files of one crate declare, import and use, as far as the tokens of the language
//! say it. Knows no types: a path leads to the file that declares its longest known part.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::ImportGraph;

/// Words before the name of what a file declares.
const DECLARATIONS: [&str; 9] =
    ["fn", "struct", "enum", "trait", "type", "const", "static", "union", "macro_rules"];

/// Segments of a path.
type Segments = Vec<String>;

/// Sources of a crate by module path.
#[derive(Default)]
pub(super) struct CrateSources(BTreeMap<Segments, SourceFile>);

/// Names in a file.
#[derive(Default)]
struct SourceFile {
    path: String,
    declared: BTreeSet<String>,
    /// Paths from the top of the crate, by the name that an import gives them.
    imported: BTreeMap<String, Segments>,
    /// Modules of which everything is imported.
    globs: Vec<Segments>,
    /// Paths from the top of the crate that the file needs.
    needed: BTreeSet<Segments>,
    /// Paths that begin with a name of this file.
    mentioned: BTreeSet<Segments>,
}

impl CrateSources {
    /// Reads `files`, by path below `src/`. A file that is no Rust has no names.
    pub(super) fn read(files: &[(&str, &str)]) -> Self {
        let modules = files.iter().map(|(path, text)| (module_path(path), *path, *text));
        let modules: Vec<_> = modules.collect();
        let paths: BTreeSet<Segments> = modules.iter().map(|(module, ..)| module.clone()).collect();
        let mut sources = Self::default();
        for (module, path, text) in modules {
            let mut reader = FileReader {
                modules: &paths,
                file: SourceFile { path: path.to_owned(), ..SourceFile::default() },
            };
            if let Ok(tokens) = text.parse::<TokenStream>() {
                reader.read(tokens, &module);
            }
            sources.0.insert(module, reader.file);
        }
        sources
    }

    /// Files with those that they need.
    pub(super) fn imports(&self) -> ImportGraph {
        let mut graph = ImportGraph::new();
        for (module, file) in &self.0 {
            let mentioned = file.mentioned.iter().filter_map(|path| {
                let (first, rest) = path.split_first()?;
                Some(file.imported.get(first)?.iter().chain(rest).cloned().collect())
            });
            let needed = file.needed.iter().cloned().chain(mentioned);
            let others = needed.filter_map(|path: Segments| self.declaring(&path, &mut Vec::new()));
            // A child leans on the heads of its folders; they are what it is part of.
            let others = others.filter(|other| !module.starts_with(other));
            let others = others.map(|other| self.0[other].path.clone()).collect();
            graph.insert(file.path.clone(), others);
        }
        graph
    }

    /// Module whose file declares what `path` names, past the files that only pass it on.
    fn declaring(&self, path: &[String], passed: &mut Vec<Segments>) -> Option<&Segments> {
        if passed.iter().any(|before| before == path) {
            return None;
        }
        passed.push(path.to_vec());
        let mut module = Segments::new();
        for (at, name) in path.iter().enumerate() {
            let child: Segments = module.iter().chain([name]).cloned().collect();
            if self.0.contains_key(&child) {
                module = child;
                continue;
            }
            let Some(file) = self.0.get(&module) else { break };
            if file.declared.contains(name) {
                break;
            }
            let rest = &path[at + 1..];
            if let Some(target) = file.imported.get(name) {
                return self.declaring(&[target, rest].concat(), passed);
            }
            let from_glob = file.globs.iter().find(|glob| self.has(glob, name));
            if let Some(glob) = from_glob {
                return self.declaring(&[glob, &path[at..]].concat(), passed);
            }
            break;
        }
        self.0.get_key_value(&module).map(|(module, _)| module)
    }

    /// True where the module `glob` has something called `name`.
    fn has(&self, glob: &[String], name: &str) -> bool {
        self.0.contains_key(&[glob, &[name.to_owned()]].concat())
            || self.0.get(glob).is_some_and(|file| {
                file.declared.contains(name) || file.imported.contains_key(name)
            })
    }
}

/// Reads the tokens of a file.
struct FileReader<'a> {
    modules: &'a BTreeSet<Segments>,
    file: SourceFile,
}

impl FileReader<'_> {
    fn read(&mut self, tokens: TokenStream, module: &[String]) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            at = self.read_item(&tokens, at, module);
        }
    }

    /// Reads what begins at `at`, and returns where the next begins.
    fn read_item(&mut self, tokens: &[TokenTree], at: usize, module: &[String]) -> usize {
        let name = match &tokens[at] {
            TokenTree::Group(_) if is_test(tokens, at) => {
                return end_of_item(tokens, at + 1) + 1;
            }
            TokenTree::Group(group) => {
                self.read(group.stream(), module);
                return at + 1;
            }
            TokenTree::Ident(name) => name.to_string(),
            _ => return at + 1,
        };
        let next = tokens.get(at + 1);
        // `use<'a>` is a bound.
        if name == "use" && !is_punct(next, '<') {
            let end = end_of_item(tokens, at);
            self.read_use(&tokens[at + 1..end], &[], module, is_public(tokens, at));
            return end + 1;
        }
        if name == "mod"
            && let (Some(TokenTree::Ident(inner)), Some(TokenTree::Group(body))) =
                (next, tokens.get(at + 2))
        {
            self.read(body.stream(), &[module, &[inner.to_string()]].concat());
            return at + 3;
        }
        if DECLARATIONS.contains(&name.as_str()) {
            let declared = tokens[at + 1..].iter().find_map(|token| match token {
                TokenTree::Ident(name) => Some(name.to_string()),
                _ => None,
            });
            self.file.declared.extend(declared);
            return at + 1;
        }
        let (path, end) = read_path(tokens, at);
        let is_member = at > 0 && is_punct(tokens.get(at - 1), '.');
        let is_label = path.len() == 1 && is_punct(tokens.get(end), ':');
        if !is_member && !is_label {
            match self.absolute(&path, module) {
                Some(absolute) if path.len() > 1 => _ = self.file.needed.insert(absolute),
                _ => _ = self.file.mentioned.insert(path),
            }
        }
        end
    }

    /// Reads a tree of imports below `prefix`.
    fn read_use(
        &mut self,
        tokens: &[TokenTree],
        prefix: &[String],
        module: &[String],
        is_public: bool,
    ) {
        let (path, end) = read_path(tokens, 0);
        let mut path = [prefix, &path].concat();
        let rest = tokens.get(end..).unwrap_or_default();
        let after = rest.iter().find(|token| !is_punct(Some(token), ':'));
        match after {
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                for one in inner.split(|token| is_punct(Some(token), ',')) {
                    if !one.is_empty() {
                        self.read_use(one, &path, module, is_public);
                    }
                }
                return;
            }
            _ => {}
        }
        if path.last().is_some_and(|last| last == "self") && path.len() > 1 {
            path.pop();
        }
        let Some(absolute) = self.absolute(&path, module) else { return };
        if is_punct(after, '*') {
            self.file.globs.push(absolute);
            return;
        }
        let alias = match (after, rest.last()) {
            (Some(TokenTree::Ident(_as)), Some(TokenTree::Ident(alias))) => Some(alias.to_string()),
            _ => path.last().cloned(),
        };
        // What a file passes on, it does not need by that.
        if !is_public {
            self.file.needed.insert(absolute.clone());
        }
        self.file.imported.extend(alias.map(|alias| (alias, absolute)));
    }

    /// `path` from the top of the crate; `None` if it leads to another one or is a name alone.
    fn absolute(&self, path: &[String], module: &[String]) -> Option<Segments> {
        let (first, rest) = path.split_first()?;
        let child = || [module, std::slice::from_ref(first)].concat();
        match first.as_str() {
            "crate" => Some(rest.to_vec()),
            "self" => Some([module, rest].concat()),
            "super" => {
                let ups = path.iter().take_while(|name| *name == "super").count();
                let above = module.get(..module.len().checked_sub(ups)?)?;
                Some([above, &path[ups..]].concat())
            }
            _ if self.modules.contains(&child()) => Some([module, path].concat()),
            _ => {
                let imported = self.file.imported.get(first)?;
                Some([imported, rest].concat())
            }
        }
    }
}

/// Module of the file at `path`.
fn module_path(path: &str) -> Segments {
    let path = path.trim_end_matches(".rs");
    match path {
        "lib" | "main" => Segments::new(),
        _ => path.split('/').map(str::to_owned).collect(),
    }
}

/// Names from `at` on that `::` joins, and where they end.
fn read_path(tokens: &[TokenTree], at: usize) -> (Segments, usize) {
    let (mut path, mut at) = (Segments::new(), at);
    while let Some(TokenTree::Ident(name)) = tokens.get(at) {
        path.push(name.to_string());
        at += 1;
        let joined = is_punct(tokens.get(at), ':') && is_punct(tokens.get(at + 1), ':');
        if !joined || !matches!(tokens.get(at + 2), Some(TokenTree::Ident(_))) {
            break;
        }
        at += 2;
    }
    (path, at)
}

/// End of the item from `at` on: its semicolon or its braces.
fn end_of_item(tokens: &[TokenTree], at: usize) -> usize {
    let is_use = matches!(&tokens.get(at), Some(TokenTree::Ident(name)) if *name == "use");
    let is_end = |token: &TokenTree| match token {
        TokenTree::Group(group) => !is_use && group.delimiter() == Delimiter::Brace,
        token => is_punct(Some(token), ';'),
    };
    let rest = tokens.get(at..).unwrap_or_default();
    at + rest.iter().position(is_end).unwrap_or(rest.len())
}

/// True for the group of `#[cfg(test)]`.
fn is_test(tokens: &[TokenTree], at: usize) -> bool {
    at > 0
        && is_punct(tokens.get(at - 1), '#')
        && tokens[at].to_string().replace(' ', "") == "[cfg(test)]"
}

/// True where the word at `at` stands behind `pub` or `pub(…)`.
fn is_public(tokens: &[TokenTree], at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).and_then(|at| tokens.get(at));
    let is_pub =
        |token: Option<&TokenTree>| matches!(token, Some(TokenTree::Ident(name)) if *name == "pub");
    is_pub(before(1)) || (matches!(before(1), Some(TokenTree::Group(_))) && is_pub(before(2)))
}

fn is_punct(token: Option<&TokenTree>, character: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == character)
}
