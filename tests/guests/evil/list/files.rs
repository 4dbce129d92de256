//! Files that would do harm where they are unpacked.

use super::limits::OUTPUT;
use super::{AttackCase, ExpectedEnd, broken};
use crate::guest::GeneratorGuest;

fn path(name: &str, does: &str, path: &'static [u8], shown: &str) -> AttackCase {
    let rule = "must be relative, at most 200 bytes, with `/` between ASCII names that every system can store";
    let ends = ExpectedEnd::Broken(format!("path \"{shown}\" {rule}"));
    AttackCase::new(
        name,
        does,
        move |name| GeneratorGuest::named(name).file(path).build(),
        ends,
        "rules for files",
    )
    .generator()
}

pub(crate) fn list() -> Vec<AttackCase> {
    vec![
        path("path-up", "a file above the folder", b"../../etc/cron.d/evil", "../../etc/cron.d/evil"),
        path("path-inner-up", "a file above the folder by a way through it", b"a/../../evil", "a/../../evil"),
        path("path-absolute", "a file at an absolute path", b"/etc/cron.d/evil", "/etc/cron.d/evil"),
        path("path-backslash", "a file above the folder on Windows", b"..\\..\\evil", "..\\\\..\\\\evil"),
        path("path-drive", "a file on another drive", b"C:/evil", "C:/evil"),
        path("path-nul", "a file whose name ends early", b"good.txt\0.exe", "good.txt\\0.exe"),
        path("path-device", "a file that Windows takes for a device", b"docs/NUL.txt", "docs/NUL.txt"),
        path("path-reversed", "a file that looks like another kind", "photo\u{202e}gpj.exe".as_bytes(), "photo\\u{202e}gpj.exe"),
        path("path-git", "a hook that git runs", b".git/hooks/post-checkout", ".git/hooks/post-checkout"),
        path("path-empty", "a file without a name", b"", ""),
        AttackCase::new(
            "path-twice",
            "a file that hides another where case does not count",
            |name| GeneratorGuest::named(name).file(b"readme.MD").build(),
            broken("path \"readme.MD\" is taken twice"),
            "rules for files",
        )
        .generator(),
        AttackCase::new(
            "path-file-and-folder",
            "a file that is another's folder",
            |name| GeneratorGuest::named(name).file(b"a").file(b"a/b").build(),
            broken("path \"a\" is taken twice: by a file and by a folder"),
            "rules for files",
        )
        .generator(),
        AttackCase::new(
            "file-header",
            "a media type with a header in it",
            |name| GeneratorGuest::named(name).typed(b"a", b"text/plain\r\nX-Evil: 1", b"x").build(),
            broken(
                "\"a\": media type \"text/plain\\r\\nX-Evil: 1\" must be type/subtype in printable ASCII (RFC 9110, 8.3.1), at most 200 bytes",
            ),
            "rules for files",
        )
        .generator(),
        AttackCase::new(
            "file-binary",
            "a program",
            |name| GeneratorGuest::named(name).typed(b"a", b"text/plain", b"\x7fELF\xff\xfe").build(),
            broken("\"a\": a file must be UTF-8 text"),
            "rules for files",
        )
        .generator(),
        AttackCase::new(
            "files-many",
            "a hundred thousand files",
            |name| {
                // The same description of a file again and again, from a list in fresh memory of
                // nothing but zeros.
                let body = "(i32.store (i32.const 2052) (i32.mul (memory.grow (i32.const 40)) (i32.const 65536)))
                    (i32.store (i32.const 2056) (i32.const 100000)) (i32.const 2048)";
                GeneratorGuest::named(name).does(body).build()
            },
            ExpectedEnd::Broken(format!("returned more than {OUTPUT} bytes in one call (sandbox.output_bytes_per_call)")),
            "`output_bytes_per_call`, 2,048 files",
        )
        .generator(),
        AttackCase::new(
            "files-too-many",
            "three thousand files",
            |name| {
                let body = "(i32.store (i32.const 2052) (i32.mul (memory.grow (i32.const 2)) (i32.const 65536)))
                    (i32.store (i32.const 2056) (i32.const 3000)) (i32.const 2048)";
                GeneratorGuest::named(name).does(body).build()
            },
            broken("3000 files; 1 to 2048 are taken"),
            "2,048 files",
        )
        .generator(),
        AttackCase::new(
            "file-bomb",
            "a file of 30 MB of nothing, small when it is packed",
            |name| {
                let body = "(i32.store (i32.const 256) (i32.const 4096)) (i32.store (i32.const 260) (i32.const 1))
                    (i32.store (i32.const 264) (i32.const 4096))
                    (i32.store (i32.const 268) (i32.const 0))
                    (i32.store (i32.const 272)
                      (i32.mul (memory.grow (i32.const 460)) (i32.const 65536)))
                    (i32.store (i32.const 276) (i32.const 30000000))
                    (i32.store (i32.const 2052) (i32.const 256))
                    (i32.store (i32.const 2056) (i32.const 1)) (i32.const 2048)";
                GeneratorGuest::named(name).does(body).build()
            },
            ExpectedEnd::Broken(format!("returned more than {OUTPUT} bytes in one call (sandbox.output_bytes_per_call)")),
            "`output_bytes_per_call`, 16 MiB of files",
        )
        .generator(),
        AttackCase::new("files-none", "no file", |name| GeneratorGuest::named(name).does("(i32.store (i32.const 2056) (i32.const 0)) (i32.const 2048)").build(), broken("0 files; 1 to 2048 are taken"), "rules for files").generator(),
    ]
}
