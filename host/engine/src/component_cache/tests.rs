//! Entries that this host did not make, or did not make for this component, are never loaded.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::cell::Cell;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, SystemTime};

use tempfile::TempDir;
use yearbook_domain::Digest;

use super::*;

/// The smallest component.
const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";

struct Host {
    folder: TempDir,
    engine: Engine,
}

impl Host {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), engine: Engine::default() }
    }

    fn cache(&self, key: &str) -> ComponentCache {
        ComponentCache::open(&self.folder.path().join("cache"), &self.folder.path().join(key))
            .unwrap()
    }

    /// Returns whether the component had to be compiled.
    fn compiles(&self, cache: &ComponentCache, engine: &Engine, label: &str) -> bool {
        let compiled = Cell::new(false);
        let made = cache.component(engine, &digest(label), || -> wasmtime::Result<Vec<u8>> {
            compiled.set(true);
            Component::new(engine, COMPONENT)?.serialize()
        });
        made.unwrap();
        compiled.get()
    }

    fn entry(&self, label: &str) -> PathBuf {
        let mut entries = std::fs::read_dir(self.folder.path().join("cache"))
            .unwrap()
            .map(|entry| entry.unwrap().path());
        entries
            .find(|path| {
                path.file_name().unwrap().to_str().unwrap().starts_with(digest(label).as_str())
            })
            .unwrap()
    }
}

/// The digest that stands for `label`.
fn digest(label: &str) -> Digest {
    Digest::compute(label.as_bytes())
}

#[test]
fn an_entry_with_a_seal_is_loaded_and_nothing_is_compiled() {
    let host = Host::new();
    assert!(host.compiles(&host.cache("key"), &host.engine, "a"));
    assert!(!host.compiles(&host.cache("key"), &host.engine, "a"), "the secret is kept");
    assert!(host.compiles(&host.cache("key"), &host.engine, "b"));
}

#[test]
fn an_entry_that_was_changed_anywhere_is_compiled_again_and_replaced() {
    let host = Host::new();
    let cache = host.cache("key");
    host.compiles(&cache, &host.engine, "a");
    let (path, good) = (host.entry("a"), std::fs::read(host.entry("a")).unwrap());
    let last = good.len() - 1;
    let code = good.len() - SEAL_BYTES;
    // The header of the machine code, its middle, its end, the seal.
    for at in [0, 40, code / 2, code - 1, code, last] {
        let mut bad = good.clone();
        bad[at] ^= 1;
        std::fs::write(&path, bad).unwrap();
        assert!(host.compiles(&cache, &host.engine, "a"), "byte {at}");
        assert!(!host.compiles(&cache, &host.engine, "a"), "replaced after byte {at}");
    }
    for length in [0, 1, SEAL_BYTES, code, last] {
        std::fs::write(&path, &good[..length]).unwrap();
        assert!(host.compiles(&cache, &host.engine, "a"), "{length} bytes");
    }
    std::fs::write(&path, [good.as_slice(), b"x"].concat()).unwrap();
    assert!(host.compiles(&cache, &host.engine, "a"), "a byte more");
}

#[test]
fn an_entry_that_others_can_write_is_compiled_again_since_it_is_mapped() {
    let host = Host::new();
    let cache = host.cache("key");
    host.compiles(&cache, &host.engine, "a");
    let mode = |mode| {
        std::fs::set_permissions(host.entry("a"), PermissionsExt::from_mode(mode)).unwrap();
    };
    mode(0o620);
    assert!(host.compiles(&cache, &host.engine, "a"));
    assert!(!host.compiles(&cache, &host.engine, "a"), "replaced");
}

#[test]
fn a_component_in_use_stays_when_its_entry_is_removed_or_replaced() {
    let host = Host::new();
    let cache = host.cache("key");
    let made = cache.component(&host.engine, &digest("a"), || -> wasmtime::Result<Vec<u8>> {
        Component::new(&host.engine, COMPONENT)?.serialize()
    });
    let (component, _) = made.unwrap();
    let image = component.image_range();
    std::fs::remove_file(host.entry("a")).unwrap();
    assert!(host.compiles(&cache, &host.engine, "a"));
    assert_eq!(component.image_range(), image);
    assert!(component.serialize().is_ok(), "its pages are there");
}

#[test]
fn an_entry_of_another_component_engine_or_host_is_compiled_again() {
    let host = Host::new();
    let cache = host.cache("key");
    host.compiles(&cache, &host.engine, "a");
    host.compiles(&cache, &host.engine, "b");
    let (a, b) = (host.entry("a"), host.entry("b"));
    std::fs::copy(&a, &b).unwrap();
    assert!(host.compiles(&cache, &host.engine, "b"), "another component's");

    let mut config = wasmtime::Config::new();
    config.epoch_interruption(true);
    let other = Engine::new(&config).unwrap();
    host.compiles(&cache, &other, "c");
    let foreign = host.entry("c");
    let entry = |engine: &Engine| {
        host.folder.path().join("cache").join(format!(
            "{}-{:016x}.cwasm",
            digest("c"),
            engine_hash(engine)
        ))
    };
    std::fs::rename(&foreign, entry(&host.engine)).unwrap();
    assert!(host.compiles(&cache, &host.engine, "c"), "another engine's");

    let stranger = host.cache("another-key");
    assert!(host.compiles(&stranger, &host.engine, "a"), "another host's");
    assert!(host.compiles(&cache, &host.engine, "a"), "which replaced it with its own");
}

#[test]
fn a_secret_that_others_can_read_or_that_was_cut_is_refused_with_what_to_do() {
    let host = Host::new();
    let refused = || {
        ComponentCache::open(&host.folder.path().join("cache"), &host.folder.path().join("key"))
            .err()
            .map(|error| error.to_string())
    };
    assert_eq!(refused(), None);
    let key = host.folder.path().join("key");
    let mode = |mode| std::fs::set_permissions(&key, PermissionsExt::from_mode(mode)).unwrap();
    assert_eq!(std::fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    mode(0o640);
    assert!(refused().unwrap().contains("others may read or write it; remove it"));
    mode(0o600);
    std::fs::write(&key, [7; 31]).unwrap();
    assert!(refused().unwrap().contains("does not have 32 bytes; remove it"));
}

#[test]
fn of_many_that_make_a_secret_at_once_all_have_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    let seals = std::thread::scope(|scope| {
        let made: Vec<_> =
            (0..8).map(|_| scope.spawn(|| MacKey::open(&path).unwrap().sign("a", b"b"))).collect();
        made.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    assert!(seals.iter().all(|seal| *seal == seals[0]));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing half-written stays");
}

#[test]
fn what_no_start_has_used_for_a_month_goes_and_what_is_used_stays() {
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    let host = Host::new();
    let cache = host.cache("key");
    let aged = |path: &Path, days: u32| {
        std::fs::File::options()
            .append(true)
            .open(path)
            .unwrap()
            .set_modified(SystemTime::now() - DAY * days)
            .unwrap();
    };
    for (label, days) in [("fresh", 0), ("used", 29), ("unused", 31)] {
        host.compiles(&cache, &host.engine, label);
        aged(&host.entry(label), days);
    }
    let partial = |name: &str, days| {
        let path = host.entry("fresh").with_file_name(name);
        std::fs::write(&path, "half").unwrap();
        aged(&path, days);
        path
    };
    let (abandoned, written, strange) =
        (partial("x.1.partial", 2), partial("x.2.partial", 0), partial("notes.txt", 400));
    assert!(!host.compiles(&host.cache("key"), &host.engine, "used"));
    assert!(!abandoned.exists() && written.exists() && strange.exists());
    assert!(host.compiles(&host.cache("key"), &host.engine, "unused"), "swept");

    aged(&host.entry("fresh"), 31);
    assert!(!host.compiles(&cache, &host.engine, "fresh"), "used now, which counts from now on");
    host.cache("key");
    assert!(!host.compiles(&cache, &host.engine, "fresh"));
}

#[test]
fn a_disk_without_room_gets_no_entry_and_no_half_of_one_contract_6() {
    let host = Host::new();
    let full = ComponentCache { reserved: u64::MAX, ..host.cache("key") };
    for _ in 0..2 {
        assert!(host.compiles(&full, &host.engine, "a"), "compiled, and not kept");
    }
    let files = || std::fs::read_dir(host.folder.path().join("cache")).unwrap().count();
    assert_eq!(files(), 0);
    // A write that fails: the entry's place is taken by a folder.
    host.compiles(&host.cache("key"), &host.engine, "a");
    let place = host.entry("a");
    std::fs::remove_file(&place).unwrap();
    std::fs::create_dir(&place).unwrap();
    assert!(host.compiles(&host.cache("key"), &host.engine, "a"));
    assert_eq!(files(), 1, "nothing half-written stays");
    std::fs::remove_dir(&place).unwrap();
    host.compiles(&host.cache("key"), &host.engine, "a");
    assert!(!host.compiles(&host.cache("key"), &host.engine, "a"), "kept where there is room");
}

#[test]
fn a_folder_or_a_secret_of_another_user_is_refused_whatever_its_mode() {
    let host = Host::new();
    let (folder, key) = (host.folder.path().join("cache"), host.folder.path().join("key"));
    let refused = || ComponentCache::open(&folder, &key).err().map(|error| error.to_string());
    assert_eq!(refused(), None);
    if !rustix::process::geteuid().is_root() {
        // Only root can give files away; the root of the file system belongs to it already.
        let root = ComponentCache::open(Path::new("/"), &key).err().unwrap().to_string();
        assert!(root.contains("belongs to user 0"), "{root}");
        return;
    }
    let give = |path: &Path, user| std::os::unix::fs::chown(path, Some(user), None).unwrap();
    give(&folder, 65_534);
    let said = refused().unwrap();
    assert!(
        said.contains("it belongs to user 65534, and this is user 0") && said.contains("chown"),
        "{said}"
    );
    give(&folder, 0);
    give(&key, 65_534);
    let said = refused().unwrap();
    assert!(said.contains("its key") && said.contains("it belongs to user 65534"), "{said}");
    give(&key, 0);
    assert_eq!(refused(), None);
}
