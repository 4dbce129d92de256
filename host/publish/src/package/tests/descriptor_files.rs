//! Descriptors and data files as files: pipes, links, lengths.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};

use serde_json::json;

use super::{good, with};
use crate::package::{DESCRIPTOR, DataPackage, MAX_DESCRIPTOR_BYTES};

#[test]
fn broken_and_missing_descriptors_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(DESCRIPTOR);
    let missing = DataPackage::open(folder.path()).unwrap_err().to_string();
    assert!(missing.contains("datapackage.json"), "{missing}");
    for (text, expected) in
        [("{", "is not JSON"), ("[]", "must be an object, not an array"), ("", "is not JSON")]
    {
        std::fs::write(&file, text).unwrap();
        let found = DataPackage::open(&file).unwrap_err().to_string();
        assert!(found.contains(expected), "{found}");
    }
    // As PowerShell writes what is redirected.
    let wide: Vec<u8> = "\u{feff}{}".encode_utf16().flat_map(u16::to_le_bytes).collect();
    std::fs::write(&file, wide).unwrap();
    let found = DataPackage::open(&file).unwrap_err().to_string();
    assert!(found.contains("is UTF-16 or UTF-32 text; save it as UTF-8"), "{found}");
}

/// A folder with `good` beside an empty `cpi.csv`.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("cpi.csv"), "").unwrap();
    std::fs::write(folder.path().join(DESCRIPTOR), good().to_string()).unwrap();
    folder
}

#[test]
fn a_descriptor_that_is_a_device_or_a_pipe_is_refused_at_once_contract_7() {
    let folder = folder();
    let pipe = folder.path().join("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR)
        .unwrap();
    for path in [Path::new("/dev/zero"), Path::new("/dev/null"), &pipe] {
        let found = DataPackage::open(path).unwrap_err().to_string();
        assert!(found.contains("it is not a regular file"), "{found}");
    }
    for (name, expected) in
        [("pipe", "\"pipe\" is not a regular file"), ("sub", "\"sub\" is not a regular file")]
    {
        let _ = std::fs::create_dir(folder.path().join("sub"));
        let mut descriptor = with("/resources/0/path", json!(name));
        descriptor["resources"][0]["format"] = json!("csv");
        std::fs::write(folder.path().join(DESCRIPTOR), descriptor.to_string()).unwrap();
        let found = DataPackage::open(folder.path()).unwrap_err().to_string();
        assert!(found.contains(expected), "{found}");
    }
}

#[test]
fn a_descriptor_that_links_out_of_its_folder_is_refused() {
    let (outside, inside) = (folder(), folder());
    let descriptor = inside.path().join(DESCRIPTOR);
    std::fs::remove_file(&descriptor).unwrap();
    for (target, expected) in [
        (outside.path().join(DESCRIPTOR), "it is a link out of its folder"),
        (PathBuf::from("/dev/zero"), "it is not a regular file"),
    ] {
        std::os::unix::fs::symlink(&target, &descriptor).unwrap();
        let found = DataPackage::open(inside.path()).unwrap_err().to_string();
        assert!(found.contains(expected), "{found}");
        std::fs::remove_file(&descriptor).unwrap();
    }
    std::fs::write(inside.path().join("v1.json"), good().to_string()).unwrap();
    std::os::unix::fs::symlink("v1.json", &descriptor).unwrap();
    DataPackage::open(inside.path()).unwrap();
    let linked = outside.path().join("linked");
    std::os::unix::fs::symlink(inside.path(), &linked).unwrap();
    DataPackage::open(&linked).unwrap();
}

#[test]
fn a_descriptor_is_read_within_a_bound() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(DESCRIPTOR);
    std::fs::File::create(&file).unwrap().set_len(MAX_DESCRIPTOR_BYTES + 1).unwrap();
    let found = DataPackage::open(&file).unwrap_err().to_string();
    assert!(found.contains("it has more than 16777216 bytes"), "{found}");
}

#[test]
fn a_link_out_of_the_folder_is_refused() {
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret.csv");
    std::fs::write(&secret, "").unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(&secret, folder.path().join("cpi.csv")).unwrap();
    std::fs::write(folder.path().join(DESCRIPTOR), good().to_string()).unwrap();
    let found = DataPackage::open(folder.path()).unwrap_err().to_string();
    assert!(found.contains("link out of the package's folder"), "{found}");
}
