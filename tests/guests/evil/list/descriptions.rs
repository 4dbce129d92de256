//! Descriptions that lie, forge, collide or do not end.

use super::{AttackCase, ExpectedEnd, complete_body, rejected};
use crate::guest::{Guest, Image, ImageParameter};

fn parameter(name: &'static str) -> ImageParameter {
    ImageParameter { name, kind: 0, default: "a", allowed: &[] }
}

/// A guest that says something else of itself, and is not loaded.
fn false_description(name: &str, does: &str, spoil: fn(&mut Image), reason: &str) -> AttackCase {
    let guest = move |name: &str| Guest::named(name).with_image(spoil).build();
    AttackCase::new(
        name,
        does,
        guest,
        ExpectedEnd::Rejected(format!("describe: {reason}")),
        "rules for descriptions",
    )
}

/// A description whose bytes are wrong: words at an address of its record are replaced.
fn pokes(name: &str, does: &str, pokes: &'static [(u32, u32)], reason: &str) -> AttackCase {
    let guest = move |name: &str| {
        let stores: String = pokes
            .iter()
            .map(|(at, word)| format!("(i32.store (i32.const {}) (i32.const {word}))", 1024 + at))
            .collect();
        Guest::named(name).does("describe", &format!("{stores} (i32.const 1024)")).build()
    };
    AttackCase::new(
        name,
        does,
        guest,
        rejected(&format!("describe: {reason}")),
        "the host's reading of answers",
    )
}

pub(crate) fn list() -> Vec<AttackCase> {
    let shape = "must be type/subtype in printable ASCII (RFC 9110, 8.3.1), at most 200 bytes";
    let name_rule = "must be lower-case letters, digits and underscores, at most 32 bytes";
    let extension = "must be lower-case letters and digits, with a dot between words";
    vec![
        false_description(
            "media-type-header",
            "a media type with a header in it",
            |d| d.media_type = b"text/csv\r\nSet-Cookie: a=b".into(),
            &format!("media type \"text/csv\\r\\nSet-Cookie: a=b\" {shape}"),
        ),
        false_description(
            "media-type-not-ascii",
            "a media type beyond ASCII",
            |d| d.media_type = "text/csv; name=\u{e9}".into(),
            &format!("media type \"text/csv; name=\u{e9}\" {shape}"),
        ),
        false_description(
            "media-type-none",
            "no media type",
            |d| d.media_type.clear(),
            &format!("media type \"\" {shape}"),
        ),
        false_description(
            "name-long",
            "a name of 1 MiB",
            |d| d.format = vec![b'a'; 1 << 20],
            &format!("format \"{}…\" {name_rule}", "a".repeat(60)),
        ),
        false_description(
            "name-not-ascii",
            "a name of letters that look like others",
            |d| d.format = "j\u{455}on".into(),
            &format!("format \"j\u{455}on\" {name_rule}"),
        ),
        false_description(
            "name-escape",
            "a name with a terminal escape",
            |d| d.format = b"\x1b[2J".into(),
            &format!("format \"\\u{{1b}}[2J\" {name_rule}"),
        ),
        false_description(
            "name-path",
            "a name that is a path",
            |d| d.format = b"../data".into(),
            &format!("format \"../data\" {name_rule}"),
        ),
        false_description(
            "version-escape",
            "a version with a line break",
            |d| d.version = b"1\n2".into(),
            "version \"1\\n2\" must be printable ASCII without spaces, at most 64 bytes",
        ),
        false_description(
            "extension-slash",
            "an extension with a slash",
            |d| d.extension = b"csv/../../x".into(),
            &format!("extension \"csv/../../x\" {extension}"),
        ),
        false_description(
            "extension-quote",
            "an extension that ends the header's quotes",
            |d| d.extension = b"csv\"; x=\"".into(),
            &format!("extension \"csv\\\"; x=\\\"\" {extension}"),
        ),
        false_description(
            "extension-dots",
            "an extension of dots",
            |d| d.extension = b"..".into(),
            &format!("extension \"..\" {extension}"),
        ),
        false_description(
            "separator-huge",
            "a separator of 1 MiB",
            |d| d.separator = Some(vec![b','; 1 << 20]),
            "separator is longer than 64 bytes",
        ),
        false_description(
            "rows-none",
            "parts of no row",
            |d| d.part_rows = Some(0),
            "part-rows is 0; a part has rows (none: batches as they come)",
        ),
        false_description(
            "docs-long",
            "documentation of 1 MiB",
            |d| d.docs = vec![b'x'; 1 << 20],
            "docs must be text of at most 4096 bytes without control characters",
        ),
        false_description(
            "docs-escape",
            "documentation with a terminal escape",
            |d| d.docs = b"\x1b]0;owned\x07".into(),
            "docs must be text of at most 4096 bytes without control characters",
        ),
        false_description(
            "docs-reversed",
            "documentation that reads backwards",
            |d| d.docs = "\u{202e}moc.catalog_cache".into(),
            "docs must be text of at most 4096 bytes without control characters",
        ),
        false_description(
            "parameters-many",
            "33 parameters",
            |d| d.parameters = vec![parameter("a"); 33],
            "33 parameters; at most 32 are taken",
        ),
        false_description(
            "parameters-twice",
            "a parameter twice",
            |d| d.parameters = vec![parameter("a"), parameter("a")],
            "parameter \"a\" is declared twice",
        ),
        false_description(
            "parameter-dot",
            "a parameter that reads like another format's",
            |d| d.parameters = vec![parameter("csv.delimiter")],
            &format!("parameter \"csv.delimiter\" {name_rule}"),
        ),
        false_description(
            "parameter-forged",
            "a parameter that ends the query",
            |d| d.parameters = vec![parameter("a&limit")],
            &format!("parameter \"a&limit\" {name_rule}"),
        ),
        false_description(
            "default-not-allowed",
            "a default that its own list does not allow",
            |d| d.parameters = vec![ImageParameter { allowed: &["b"], ..parameter("a") }],
            "parameter \"a\": the default \"a\" is not among the allowed values",
        ),
        false_description(
            "default-not-a-number",
            "a number whose default is none",
            |d| d.parameters = vec![ImageParameter { kind: 2, ..parameter("a") }],
            "parameter \"a\": \"a\" is not a Number of at most 64 bytes",
        ),
        false_description(
            "parameter-kind-unknown",
            "a parameter of a kind that there is not",
            |d| d.parameters = vec![ImageParameter { kind: 9, ..parameter("a") }],
            "trapped: unexpected discriminant: 9",
        ),
        false_description(
            "name-not-text",
            "a name that is not UTF-8",
            |d| d.format = vec![b'a', 0xff],
            "trapped: invalid utf-8 sequence of 1 bytes from index 1",
        ),
        false_description(
            "docs-surrogate",
            "documentation with half a surrogate",
            |d| d.docs = b"\xed\xa0\x80".into(),
            "trapped: invalid utf-8 sequence of 1 bytes from index 0",
        ),
        pokes(
            "name-beyond",
            "a name behind its memory",
            &[(0, 0xffff_fff0), (4, 64)],
            "trapped: string pointer/length out of bounds of memory",
        ),
        pokes(
            "option-unknown",
            "a separator that is neither there nor not",
            &[(32, 5)],
            "trapped: invalid option discriminant",
        ),
        pokes(
            "parameters-beyond",
            "parameters behind its memory",
            &[(56, 4096), (60, 0xffff_ffff)],
            "trapped: list pointer/length out of bounds of memory",
        ),
        pokes(
            "parameters-misaligned",
            "parameters at an odd address",
            &[(56, 4097), (60, 1)],
            "trapped: list pointer is not aligned",
        ),
        AttackCase::new(
            "name-of-another",
            "the name of a built-in format",
            |_| Guest::named("json").build(),
            rejected(
                "\"json\" is taken by another plugin (names have at most 32 bytes, one plugin each)",
            ),
            "one plugin a name; replacing one is a release that an operator promotes",
        ),
        AttackCase::new(
            "parameters-of-the-api",
            "parameters named as the API's own",
            |name| {
                Guest::named(name)
                    .with_image(|says| {
                        says.parameters = ["limit", "format", "cursor"].map(parameter).to_vec()
                    })
                    .build()
            },
            complete_body("head rows tail"),
            "clients write `<format>.<name>`",
        ),
        AttackCase::new(
            "docs-html",
            "documentation with a script",
            |name| {
                Guest::named(name)
                    .with_image(|says| says.docs = b"<script>alert(1)</script>".into())
                    .build()
            },
            complete_body("head rows tail"),
            "text in JSON; `/docs` never takes it for HTML",
        ),
        AttackCase::new(
            "media-type-html",
            "a page with a script",
            |name| {
                Guest::named(name).with_image(|says| says.media_type = b"text/html".into()).build()
            },
            complete_body("head rows tail"),
            "everything but JSON is an attachment",
        ),
    ]
}
