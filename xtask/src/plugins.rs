//! Builds the guests: every folder under `plugins/` and `examples/` whose crate is a `cdylib`
//! becomes the component `plugins/dist/<name>.wasm`. Same sources, same bytes, on every machine:
//! paths are remapped, and nothing of the machine or the hour goes in.

mod build_cache;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};

use crate::command;
use crate::toolchain::{self, GUEST_TARGET};

use build_cache::BuildCache;

/// The profile in the workspace's Cargo.toml whose bytes are released.
pub(crate) const PROFILE: &str = "plugin";
/// Measured: without bulk-memory encoders take 40 % longer. Relaxed SIMD stays off: its results
/// differ from machine to machine.
const FEATURES: &str = "-Ctarget-feature=+simd128,+bulk-memory";
/// Bytes of the guest's own stack, and of memory that it has from the start: a small response then
/// fits in few pages and asks for no more. (Rust's default is a stack of 1 MiB, which every address
/// lies behind.)
const MEMORY: &str = "-Clink-arg=-zstack-size=262144\u{1f}-Clink-arg=--initial-memory=2097152";
/// Exports beside which an encoder may stand that is of another version: of adapters with a format
/// of their own, and of encoders that are told distinct values.
const BESIDE: [&str; 2] = ["yearbook:plugin/adapter@1.2.0", "yearbook:plugin/codelists@1.2.0"];
/// Imports that a plugin of each version may have: one function's interface, and others that hold
/// only types. No other component has those of two versions.
const IMPORTS: [&[&str]; 2] = [
    &["yearbook:plugin/log@1.1.0", "yearbook:plugin/types@1.1.0"],
    &[
        "yearbook:plugin/log@1.2.0",
        "yearbook:plugin/types@1.2.0",
        "yearbook:plugin/statistics@1.2.0",
        "yearbook:plugin/catalogue@1.2.0",
    ],
];

/// Builds every plugin in `target_dir` with a profile ([`PROFILE`] as a rule) and returns the
/// components' paths, sorted. What was built of the same sources before is taken as it is; a
/// component that came out as before is not written again.
///
/// # Errors
/// Fails when the target is missing, cargo fails, or a component wants imports that no plugin may
/// have.
pub(crate) fn build(root: &Path, target_dir: &Path, profile: &str) -> Result<Vec<PathBuf>> {
    let packages = packages(root)?;
    ensure!(!packages.is_empty(), "no plugin under {}", root.join("plugins").display());
    let flags = flags(root, &toolchain::sysroot(root)?)?;
    let compiler =
        command::output(Command::new("rustc").current_dir(root).arg("--version").arg("--verbose"))?;
    let cache = BuildCache::open(
        root,
        target_dir,
        &compiler,
        &format!("{profile} {}", machine_independent(root, &flags)),
    )?;
    let names: Vec<String> = packages.iter().map(|(name, _)| format!("{name}.wasm")).collect();
    let found: Option<Vec<Vec<u8>>> = names.iter().map(|name| cache.component(name)).collect();
    let components = match found {
        Some(components) => names.into_iter().zip(components).collect(),
        None => {
            compile(root, target_dir, profile, &flags, &packages)?;
            let components = componentize_all(target_dir, profile, &packages)?;
            cache.insert(&components)?;
            components
        }
    };
    let dist = root.join("plugins/dist");
    fs::create_dir_all(&dist).with_context(|| format!("cannot make {}", dist.display()))?;
    let mut paths = Vec::new();
    for (name, component) in components {
        let path = dist.join(name);
        write_if_changed(&path, &component)?;
        paths.push(path);
    }
    Ok(paths)
}

/// File name and bytes of each component.
fn componentize_all(
    target_dir: &Path,
    profile: &str,
    packages: &[(String, String)],
) -> Result<Vec<(String, Vec<u8>)>> {
    let built =
        target_dir.join(GUEST_TARGET).join(if profile == "dev" { "debug" } else { profile });
    let mut components = Vec::new();
    for (name, package) in packages {
        let module = built.join(format!("{}.wasm", package.replace('-', "_")));
        let component = componentize(&module)
            .with_context(|| format!("cannot make a component of {}", module.display()))?;
        components.push((format!("{name}.wasm"), component));
    }
    Ok(components)
}

/// Folder and package name of each guest, sorted by folder.
fn packages(root: &Path) -> Result<Vec<(String, String)>> {
    let mut packages = Vec::new();
    for folder in ["plugins", "examples"].map(|folder| root.join(folder)) {
        packages_in(&folder, &mut packages)?;
    }
    packages.sort();
    Ok(packages)
}

fn packages_in(folder: &Path, packages: &mut Vec<(String, String)>) -> Result<()> {
    for entry in
        fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?
    {
        let path = entry?.path();
        let Ok(manifest) = fs::read_to_string(path.join("Cargo.toml")) else { continue };
        if !manifest.contains("\"cdylib\"") {
            continue;
        }
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .context("a plugin's folder has a name that is not UTF-8")?;
        let package =
            manifest.lines().find_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'));
        let package = package
            .with_context(|| format!("{}/Cargo.toml has no line `name = \"…\"`", path.display()))?;
        packages.push((name.to_owned(), package.to_owned()));
    }
    Ok(())
}

/// One call of cargo for all guests: they share what they depend on, and features of shared crates
/// are the same in every build, without which digests would depend on what else was built.
fn compile(
    root: &Path,
    target_dir: &Path,
    profile: &str,
    flags: &str,
    packages: &[(String, String)],
) -> Result<()> {
    toolchain::ensure_target(root)?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(root).args([
        "build",
        "--quiet",
        "--lib",
        "--target",
        GUEST_TARGET,
        "--profile",
        profile,
    ]);
    for (_, package) in packages {
        command.args(["--package", package]);
    }
    command.env("CARGO_TARGET_DIR", target_dir).env("CARGO_ENCODED_RUSTFLAGS", flags);
    // ahash, by way of Arrow, would bake other random numbers into every build.
    command.env("CONST_RANDOM_SEED", "yearbook");
    // What a caller's cargo or shell sets for the host must not reach the guests.
    command.env_remove("RUSTFLAGS").env_remove("CARGO_BUILD_TARGET").env_remove("RUSTC_WRAPPER");
    let status = command.status().context("cannot run cargo")?;
    ensure!(status.success(), "building the plugins failed; cargo's messages stand above");
    Ok(())
}

/// Compiler flags, separated by 0x1f as cargo wants them.
fn flags(root: &Path, sysroot: &Path) -> Result<String> {
    let mut flags = format!("{FEATURES}\u{1f}{MEMORY}");
    let mut remap = |from: &Path, to: &str| -> Result<()> {
        let from = from.to_str().with_context(|| format!("{} is not UTF-8", from.display()))?;
        write!(flags, "\u{1f}--remap-path-prefix={from}={to}")?;
        Ok(())
    };
    remap(root, "/yearbook")?;
    remap(&cargo_home()?, "/cargo")?;
    remap(sysroot, "/rust")?;
    Ok(flags)
}

/// The flags without the folder of this clone, which is remapped and leaves no trace.
fn machine_independent(root: &Path, flags: &str) -> String {
    flags.replace(&root.display().to_string(), "")
}

fn cargo_home() -> Result<PathBuf> {
    if let Some(home) = std::env::var_os("CARGO_HOME") {
        return Ok(home.into());
    }
    let home = std::env::home_dir().context("neither CARGO_HOME nor a home directory is set")?;
    Ok(home.join(".cargo"))
}

/// The component of a core module. Validated, and refused when it asks for more than `log`.
fn componentize(module: &Path) -> Result<Vec<u8>> {
    let module = fs::read(module)?;
    // Merged by version, an encoder would import what came with transforms (decision 0444).
    let component = wit_component::ComponentEncoder::default()
        .merge_imports_based_on_semver(false)
        .module(&module)?
        .encode()?;
    let wit_component::DecodedWasm::Component(resolve, world) = wit_component::decode(&component)?
    else {
        bail!("it is a WIT package, not a component");
    };
    let world = &resolve.worlds[world];
    let imports: Vec<String> =
        world.imports.keys().map(|key| resolve.name_world_key(key)).collect();
    let mixes = world.exports.keys().any(|key| BESIDE.contains(&&*resolve.name_world_key(key)));
    let within = |allowed: &[&str]| imports.iter().all(|name| allowed.contains(&name.as_str()));
    let all: Vec<&str> = IMPORTS.iter().copied().flatten().copied().collect();
    ensure!(
        IMPORTS.iter().any(|allowed| within(allowed)) || (mixes && within(&all)),
        "it imports {}; a plugin may import nothing but yearbook:plugin/log of one version",
        imports.join(", ")
    );
    Ok(component)
}

/// Writes beside the file and renames, so that a reader never sees half a component.
fn write_if_changed(path: &Path, bytes: &[u8]) -> Result<()> {
    if fs::read(path).is_ok_and(|before| before == bytes) {
        return Ok(());
    }
    let beside = path.with_extension(format!("wasm.{}", std::process::id()));
    fs::write(&beside, bytes).with_context(|| format!("cannot write {}", beside.display()))?;
    fs::rename(&beside, path).with_context(|| format!("cannot rename to {}", path.display()))
}
