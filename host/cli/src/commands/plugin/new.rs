//! `yearbook plugin new`: a project that builds, tests and passes its check, with the SDK inside,
//! so that it needs nothing that this binary does not carry but crates from the registry.

mod manifest;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use include_dir::{Dir, include_dir};
use serde_json::json;

use crate::arguments::TemplateKind;
use crate::context::CommandContext;

/// Source of the SDK, and the interface that it implements for guests.
static SDK: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../plugins/sdk/src");
static INTERFACE: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../wit");
const TOOLCHAIN: &str = include_str!("../../../../../rust-toolchain.toml");

pub(super) fn run(context: &CommandContext, kind: TemplateKind, name: &str) -> anyhow::Result<()> {
    let folder = PathBuf::from(name);
    if folder.exists() {
        bail!("{name} exists already; choose another name, or work in another folder");
    }
    let files = project(kind, name)?;
    for (path, content) in &files {
        write(&folder.join(path), content)
            .with_context(|| format!("cannot write {name}/{path}"))?;
    }
    let module = format!("target/wasm32-unknown-unknown/release/{}.wasm", module_name(name));
    let value =
        json!({ "folder": name, "files": files.keys().collect::<Vec<_>>(), "module": module });
    context.output.print_result(&value, || {
        format!("{name} is made. Next:\n\n    cd {name}\n    cargo test\n    cargo wasm\n    yearbook plugin check {module}")
    })
}

/// Path and content of each file.
fn project(kind: TemplateKind, name: &str) -> anyhow::Result<BTreeMap<String, String>> {
    let source = match kind {
        TemplateKind::Adapter => include_str!("../../../template/adapter/lib.rs"),
        TemplateKind::Encoder => include_str!("../../../template/encoder/lib.rs"),
        TemplateKind::Generator => include_str!("../../../template/generator/lib.rs"),
        TemplateKind::Reader => include_str!("../../../template/reader/lib.rs"),
        TemplateKind::Transform => include_str!("../../../template/transform/lib.rs"),
    };
    let fill = |text: &str| {
        let address = name.replace('_', "-");
        let text = text.replace("{{name}}", name).replace("{{module}}", &module_name(name));
        text.replace("{{address}}", &address)
    };
    let mut manifest = fill(include_str!("../../../template/common/manifest.toml"));
    if kind == TemplateKind::Adapter {
        manifest = manifest.replace("\nyearbook-sdk =", "\nserde_json = \"1\"\nyearbook-sdk =");
    }
    let mut files = BTreeMap::from([
        ("Cargo.toml".to_owned(), manifest),
        (
            ".cargo/config.toml".to_owned(),
            include_str!("../../../template/common/config.toml").to_owned(),
        ),
        (".gitignore".to_owned(), include_str!("../../../template/common/gitignore").to_owned()),
        ("README.md".to_owned(), fill(include_str!("../../../template/common/README.md"))),
        ("rust-toolchain.toml".to_owned(), TOOLCHAIN.to_owned()),
        ("src/lib.rs".to_owned(), fill(source)),
        ("yearbook/plugins/sdk/Cargo.toml".to_owned(), manifest::sdk_manifest()?),
    ]);
    add_folder(&SDK, "yearbook/plugins/sdk/src", &mut files)?;
    for version in INTERFACE.dirs() {
        add_folder(version, "yearbook/plugins/sdk/wit", &mut files)?;
    }
    Ok(files)
}

/// Adds what is in `folder`, below `target`.
fn add_folder(
    folder: &Dir<'_>,
    target: &str,
    files: &mut BTreeMap<String, String>,
) -> anyhow::Result<()> {
    for file in folder.files() {
        let content = file
            .contents_utf8()
            .with_context(|| format!("{} is not text", file.path().display()))?;
        files.insert(format!("{target}/{}", file.path().display()), content.to_owned());
    }
    folder.dirs().try_for_each(|inner| add_folder(inner, target, files))
}

/// Name that Cargo gives the built crate.
fn module_name(name: &str) -> String {
    name.replace('-', "_")
}

fn write(path: &Path, content: &str) -> std::io::Result<()> {
    path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
    std::fs::write(path, content)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use clap::ValueEnum as _;

    use super::*;

    #[test]
    fn the_project_has_every_file_of_the_sdk() {
        fn count(folder: &Path) -> usize {
            let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
            entries.map(|path| if path.is_dir() { count(&path) } else { 1 }).sum()
        }
        let files = project(TemplateKind::Encoder, "lines").unwrap();
        let carried =
            files.keys().filter(|path| path.starts_with("yearbook/plugins/sdk/src/")).count();
        let there = count(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins/sdk/src"));
        assert_eq!(
            carried, there,
            "touch host/cli/src/commands/plugin/new.rs after adding a file to the SDK"
        );
    }

    #[test]
    fn nothing_of_the_template_stays_unfilled() {
        for kind in TemplateKind::value_variants() {
            let files = project(*kind, "my-plugin").unwrap();
            for path in ["Cargo.toml", "README.md", "src/lib.rs"] {
                assert!(!files[path].contains("{{") && files[path].contains("my-plugin"), "{path}");
            }
            assert!(files["README.md"].contains("release/my_plugin.wasm"));
        }
    }
}
