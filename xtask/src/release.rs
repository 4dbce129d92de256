//! `cargo xtask release`: a folder with everything that a release hands out, and the notes of its
//! tag. Owns the folder's form; uploads nothing and sets no tag.

mod version;

use std::env::consts::{ARCH, OS};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};

use crate::repository::{Profile, Repository};
use crate::{command, tools};

/// Files of the folder beside the program, the clients and the plugins.
const NOTES: &str = "NOTES.md";
const SBOM: &str = "yearbook.cdx.json";
const SUMS: &str = "SHA256SUMS";

/// Builds a release into `out`. A draft may have changes that are not committed, and notes that are
/// not dated.
pub(crate) fn run(repository: &Repository, out: Option<PathBuf>, draft: bool) -> Result<()> {
    let version = version::agreed(repository)?;
    let notes = version::notes(repository, &version, draft)?;
    if !draft {
        version::tag_is_free(repository, &version)?;
    }
    let out = out.unwrap_or_else(|| folder(repository, &version));
    check_replaceable(&out)?;
    let binary = repository.build_product(Profile::Release)?;
    prepare(repository, &version, &notes, &binary, &out)?;
    println!("{}: look at it, then", out.display());
    println!("  git tag --annotate v{version} --file {}", out.join(NOTES).display());
    Ok(())
}

/// Makes the folder of a draft with a program that is already built, and checks what is in it.
pub(crate) fn rehearse(repository: &Repository, binary: &Path) -> Result<()> {
    let version = version::agreed(repository)?;
    let notes = version::notes(repository, &version, true)?;
    let out = folder(repository, "rehearsal");
    // Nobody else's, whatever an earlier run has left of it.
    remove(&out)?;
    prepare(repository, &version, &notes, binary, &out)?;
    command::run(
        Command::new("sha256sum").args(["--check", "--strict", "--quiet", SUMS]).current_dir(&out),
    )?;
    let names = files(&out, &out)?;
    let sums = fs::read_to_string(out.join(SUMS))?;
    ensure!(
        names.iter().filter(|name| *name != SUMS).all(|name| sums.contains(&format!("  {name}\n"))),
        "{SUMS} does not name every file of {names:?}"
    );
    for needed in [".whl", ".tar.gz", "plugins/json.wasm", SBOM, NOTES] {
        ensure!(names.iter().any(|name| name.ends_with(needed)), "there is no {needed}: {names:?}");
    }
    fs::remove_dir_all(&out).with_context(|| format!("cannot remove {}", out.display()))
}

fn folder(repository: &Repository, name: &str) -> PathBuf {
    repository.target().join("xtask/release").join(name)
}

/// Makes `out`, in place of what an earlier run left there, once everything is in it.
fn prepare(
    repository: &Repository,
    version: &str,
    notes: &str,
    binary: &Path,
    out: &Path,
) -> Result<()> {
    check_replaceable(out)?;
    let mut name = out.file_name().context("the folder of a release needs a name")?.to_owned();
    name.push(".partial");
    let fresh = out.with_file_name(name);
    remove(&fresh)?;
    fill(repository, version, notes, binary, &fresh)?;
    remove(out)?;
    fs::rename(&fresh, out).with_context(|| format!("cannot make {}", out.display()))
}

/// Fails where `out` holds what is no release, since all of it would be removed.
fn check_replaceable(out: &Path) -> Result<()> {
    let is_release = [NOTES, SBOM, SUMS].iter().all(|name| out.join(name).is_file());
    let is_empty = || fs::read_dir(out).is_ok_and(|mut entries| entries.next().is_none());
    if out.exists() && !is_release && !is_empty() {
        bail!("{} holds what is no release; name another folder with --out", out.display());
    }
    Ok(())
}

fn remove(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)
            .with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    Ok(())
}

/// Writes everything into the new folder `out`.
fn fill(
    repository: &Repository,
    version: &str,
    notes: &str,
    binary: &Path,
    out: &Path,
) -> Result<()> {
    fs::create_dir_all(out).with_context(|| format!("cannot make {}", out.display()))?;
    let said = command::output(Command::new(binary).arg("--version"))?;
    ensure!(said.trim().ends_with(&format!(" {version}")), "the program says that it is {said}");
    copy(binary, &out.join(format!("yearbook-{version}-{ARCH}-{OS}")))?;
    copy_components(&repository.build_components()?, &out.join("plugins"))?;
    fs::write(out.join(NOTES), notes)?;
    let commit = Commit::read(repository)?;
    let python =
        tools::python_environment(repository, "release", "xtask/release/requirements.txt")?;
    write_sbom(repository, &python, &commit, &out.join(SBOM))?;
    build_clients(repository, &python, &commit, out)?;
    let names = files(out, out)?;
    let sums = command::output(Command::new("sha256sum").args(names).current_dir(out))?;
    fs::write(out.join(SUMS), sums)?;
    Ok(())
}

/// Copies those of the components that a release hands out, and nothing that lies beside them.
fn copy_components(components: &[PathBuf], to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("cannot make {}", to.display()))?;
    for component in components {
        let name = component.file_name().context("a component without a name")?;
        if name.to_str().is_some_and(is_for_users) {
            copy(component, &to.join(name))?;
        }
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to).with_context(|| format!("cannot copy {}", from.display()))?;
    Ok(())
}

/// Components that a release hands out: all but those that only tests and benchmarks load.
fn is_for_users(name: &str) -> bool {
    const OTHERS: [&str; 6] = [
        "evil.wasm",
        "evil-adapter.wasm",
        "evil-generator.wasm",
        "idle.wasm",
        "idle-transform.wasm",
        "scripted.wasm",
    ];
    name.ends_with(".wasm") && !OTHERS.contains(&name)
}

/// The commit that is built, which dates everything in the folder.
struct Commit {
    id: String,
    seconds: String,
}

impl Commit {
    fn read(repository: &Repository) -> Result<Self> {
        let show = ["show", "--no-patch", "--format=%H %ct"];
        let shown = command::output(Command::new("git").current_dir(repository.root()).args(show))?;
        let (id, seconds) = shown.trim().split_once(' ').context("git shows no commit")?;
        Ok(Self { id: id.to_owned(), seconds: seconds.to_owned() })
    }
}

/// Writes what the program and the plugins are made of.
fn write_sbom(repository: &Repository, python: &Path, commit: &Commit, to: &Path) -> Result<()> {
    let platform = format!("{ARCH}-unknown-{OS}-gnu");
    let metadata = command::output(repository.cargo().args([
        "metadata",
        "--format-version",
        "1",
        "--locked",
        "--offline",
        "--filter-platform",
        &platform,
    ]))?;
    let file = to.with_extension("metadata");
    fs::write(&file, metadata).with_context(|| format!("cannot write {}", file.display()))?;
    let mut sbom = Command::new(python);
    sbom.arg(repository.root().join("xtask/release/sbom.py"));
    sbom.args(["--commit", &commit.id, "--seconds", &commit.seconds, "--metadata"]).arg(&file);
    sbom.arg("--lock").arg(repository.root().join("Cargo.lock")).arg("--out").arg(to);
    command::run(&mut sbom)?;
    fs::remove_file(file).context("cannot remove what cargo metadata printed")
}

/// Builds the wheel of the Python client and the tarball of the R client.
fn build_clients(
    repository: &Repository,
    python: &Path,
    commit: &Commit,
    out: &Path,
) -> Result<()> {
    let clients = repository.root().join("clients");
    let mut wheel = Command::new(python);
    wheel.args(["-m", "build", "--no-isolation", "--wheel", "--outdir"]).arg(out);
    command::run(wheel.arg(clients.join("python")).env("SOURCE_DATE_EPOCH", &commit.seconds))?;
    tools::r_client()?;
    command::run(Command::new("R").args(["CMD", "build"]).arg(clients.join("r")).current_dir(out))
}

/// Paths of the files in `folder`, from `top`, sorted.
fn files(folder: &Path, top: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for entry in
        fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?
    {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path, top)?);
        } else {
            found.push(path.strip_prefix(top)?.to_string_lossy().into_owned());
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    /// An empty folder.
    fn work(name: &str) -> PathBuf {
        let work =
            std::env::temp_dir().join(format!("yearbook-xtask-{name}-{}", std::process::id()));
        remove(&work).unwrap();
        fs::create_dir_all(&work).unwrap();
        work
    }

    #[test]
    fn a_release_has_the_components_that_were_built_and_no_others() {
        let work = work("components");
        let built = ["evil.wasm", "json.wasm"].map(|name| work.join(name));
        for file in [&built[..], &[work.join("stale.wasm")]].concat() {
            fs::write(file, "").unwrap();
        }
        let out = work.join("plugins");
        copy_components(&built, &out).unwrap();
        assert_eq!(files(&out, &out).unwrap(), ["json.wasm"]);
        remove(&work).unwrap();
    }

    #[test]
    fn a_folder_that_is_no_release_is_not_removed() {
        let work = work("replaceable");
        check_replaceable(&work).unwrap();
        check_replaceable(&work.join("new")).unwrap();
        // Others hand out sums too.
        for name in [SUMS, "thesis.txt"] {
            fs::write(work.join(name), "").unwrap();
            let refused = check_replaceable(&work).unwrap_err().to_string();
            assert!(refused.contains("is no release"), "{refused}");
        }
        for name in [NOTES, SBOM] {
            fs::write(work.join(name), "").unwrap();
        }
        check_replaceable(&work).unwrap();
        remove(&work).unwrap();
    }
}
