//! Has the built-in plugins built where the binary carries them: in every release build, and in
//! others with the feature `embed`. `plugins/dist` is where they lie then. Cargo runs this late, so
//! whoever wants guests and host built at the same time starts `cargo xtask plugins` beside it, as
//! the demo does. How guests are built, and what that installs, is xtask's.

#![expect(clippy::disallowed_methods, reason = "cargo speaks to build scripts by variables")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

#[path = "src/builtin/names.rs"]
#[expect(unreachable_pub, reason = "the library shows the names of its plugins")]
mod names;

/// The level at which zstd takes most time. It need not be tuned: a build does this once.
const LEVEL: i32 = 19;

/// Set by `cargo xtask` to its own program, which need not be built a second time then.
const XTASK: &str = "YEARBOOK_XTASK";

/// Variables that cargo sets for build scripts. They would have what guests are made of built
/// again.
const CARGOS: [&str; 14] = [
    "CARGO_CFG_",
    "CARGO_FEATURE_",
    "CARGO_PKG_",
    "CARGO_MANIFEST_",
    "CARGO_ENCODED_RUSTFLAGS",
    "RUSTC",
    "RUSTDOC",
    "TARGET",
    "HOST",
    "NUM_JOBS",
    "OPT_LEVEL",
    "PROFILE",
    "DEBUG",
    "OUT_DIR",
];

fn main() {
    println!("cargo::rustc-check-cfg=cfg(embedded_plugins)");
    println!("cargo::rerun-if-changed=build.rs");
    let release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    if !release && env::var_os("CARGO_FEATURE_EMBED").is_none() {
        return;
    }
    println!("cargo::rustc-cfg=embedded_plugins");
    // Of this run: two clones that share a build folder share the compiled script, too.
    let root = env::var_os("CARGO_MANIFEST_DIR")
        .and_then(|folder| Path::new(&folder).join("../..").canonicalize().ok());
    let Some(root) = root else { fail("cargo does not say where the crate is") };
    for path in made_of(&root) {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    let mut build = command(&root);
    match build.status() {
        Ok(status) if status.success() => {}
        Ok(status) => fail(&format!("{build:?} ended with {status}")),
        Err(error) => fail(&format!("cannot run {build:?}: {error}")),
    }
    if let Err(error) = pack(&root) {
        fail(&format!("cannot pack them: {error}"));
    }
}

/// Writes all components into one file for the binary, each behind its length.
fn pack(root: &Path) -> io::Result<()> {
    let mut all = Vec::new();
    for name in names::all() {
        let component = fs::read(root.join(format!("plugins/dist/{name}.wasm")))?;
        let length = u32::try_from(component.len()).map_err(io::Error::other)?;
        all.extend(length.to_le_bytes());
        all.extend(component);
    }
    let packed = zstd::encode_all(&all[..], LEVEL)?;
    fs::write(Path::new(&env::var_os("OUT_DIR").unwrap_or_default()).join("plugins.zst"), packed)
}

/// Files that decide the components' bytes, and the components.
fn made_of(root: &Path) -> Vec<PathBuf> {
    let mut found: Vec<_> =
        ["wit", "Cargo.toml", "Cargo.lock"].iter().map(|name| root.join(name)).collect();
    if let Ok(plugins) = root.join("plugins").read_dir() {
        found.extend(
            plugins
                .filter_map(Result::ok)
                .map(|entry| entry.path())
                .filter(|path| !path.ends_with("dist")),
        );
    }
    if let Ok(built) = root.join("plugins/dist").read_dir() {
        found.extend(built.filter_map(Result::ok).map(|entry| entry.path()));
    } else {
        found.push(root.join("plugins/dist"));
    }
    found
}

/// `xtask plugins`, by the program that runs this build or by one built for it.
fn command(root: &Path) -> Command {
    let mut build = match env::var_os(XTASK) {
        Some(program) => Command::new(program),
        None => {
            let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
            cargo.args(["run", "--quiet", "--package", "yearbook-xtask", "--"]);
            // The folder of this build is locked.
            if let Some(out) = env::var_os("OUT_DIR") {
                cargo.env("CARGO_TARGET_DIR", Path::new(&out).join("xtask"));
            }
            cargo
        }
    };
    build.arg("plugins").current_dir(root);
    for (name, _) in env::vars_os() {
        if name.to_str().is_some_and(|name| CARGOS.iter().any(|cargos| name.starts_with(cargos))) {
            build.env_remove(name);
        }
    }
    // As cargo says it to programs that it runs: which tree to build.
    build.env("CARGO_MANIFEST_DIR", root.join("xtask"));
    build
}

fn fail(why: &str) -> ! {
    println!(
        "cargo::error=the built-in plugins were not built: {why}; `cargo xtask plugins` says more"
    );
    std::process::exit(1)
}
