//! An adapter that attacks its host, for the host's tests; never installed with the product. The
//! first segment of the path names what it does, in `answer`, `frame` or `refuse`. It brings a
//! format of its own, which is honest. What an encoder can do to the host stands in `plugins/evil`;
//! here stands what only adapters can.

use std::sync::atomic::{AtomicU32, Ordering};

use yearbook_sdk::adapter::{
    AdapterDescription, Document, Example, Fact, Framing, Host, Known, Link, Question, Refusal,
    Reply, Request, Rows, Segment, Selection, Step, Wrapping,
};
use yearbook_sdk::{Adapter, Batch, Description, Encoder, Error, Options, Output, Schema};

/// Calls that this instance has seen: what a call leaves behind.
static CALLS: AtomicU32 = AtomicU32::new(0);

/// Goes wrong as the path says.
pub struct EvilAdapter;

impl Adapter for EvilAdapter {
    fn describe() -> AdapterDescription {
        AdapterDescription {
            name: "evil",
            version: env!("CARGO_PKG_VERSION"),
            title: "Evil",
            docs: "Attacks the host. For tests.",
            posts: true,
            plus_is_space: true,
            headers: vec!["x-evil"],
            key_parameter: Some("api_key"),
            examples: vec![Example::get("/none", 200)],
        }
    }

    fn answer(request: &Request, host: &mut Host) -> Step<Reply> {
        let segments = request.segments();
        let calls = CALLS.fetch_add(1, Ordering::Relaxed) + 1;
        let fine = Document::text(200, "fine");
        let rows = || Rows::own_format(Selection::new("harvest_long"));
        Ok(match segments.first().copied().unwrap_or_default() {
            "ask-for-ever" => Reply::Ask(vec![Question::Formats]),
            "ask-nothing" => Reply::Ask(Vec::new()),
            "ask-much" => Reply::Ask(vec![Question::Formats; 2_000]),
            "ask-longly" => Reply::Ask(vec![Question::Dataset(("x".repeat(300_000), None))]),
            "flood" => Document::text(200, "x".repeat(17 << 20)).into(),
            "flood-more" => Document::text(200, "x".repeat(100 << 20)).into(),
            "status" => Document { status: number(segments.get(1)), ..fine }.into(),
            "type" => Document::new(200, segments[1..].join("/"), "x").into(),
            "header" => Document::new(200, "text/plain\r\nSet-Cookie: a=b", "x").into(),
            "language" => Document { language: Some("en\r\nX: y".to_owned()), ..fine }.into(),
            "location" => Document::see_other("//evil.example").into(),
            "link" => fine.link("next", "https://evil.example/").into(),
            "links" => Document { links: vec![link("/"); 17], ..fine }.into(),
            "body" => Document { body: b"x".to_vec(), ..Document::empty(204) }.into(),
            "file-name" => Rows { file_name: Some("../x".to_owned()), ..rows() }.into(),
            "rows-type" => Rows { media_type: Some("text/html".to_owned()), ..rows() }.into(),
            "rows-much" => {
                let columns = Some(vec!["x".to_owned(); 40_000]);
                let selection = Selection { columns, ..Selection::new("harvest_long") };
                Rows::own_format(selection).into()
            }
            "spin" => spin(),
            "panic" => panic!("on purpose"),
            "recurse" => Document::text(200, recurse(request.path.len() as u64).to_string()).into(),
            "memory" => Document::new(200, "text/plain", vec![b'x'; 512 << 20]).into(),
            // Half of what it may spend for each of its calls.
            "spend" => {
                burn(number(segments.get(1)).into());
                host.formats()?;
                fine.into()
            }
            // What a call leaves behind for the next.
            "remember" => {
                host.formats()?;
                Document::text(200, format!("{calls} {host:?}")).into()
            }
            // Shows a test what reached the guest.
            "say" => Document::text(200, format!("{request:#?}")).into(),
            "frame" | "rows" => rows().into(),
            _ => fine.into(),
        })
    }

    fn frame(request: &Request, _: &[Fact], _: &Known) -> Framing {
        let fine = Wrapping::bytes("<", ">");
        match request.segments().get(1).copied().unwrap_or_default() {
            "before" => Wrapping::bytes("x".repeat((64 << 10) + 1), "").into(),
            "after" => Wrapping::bytes("", "x".repeat((64 << 10) + 1)).into(),
            "segments" => Wrapping { after: vec![Segment::RowCount; 17], ..fine }.into(),
            "link" => fine.link("next", "//evil.example/").into(),
            "instead" => Document::text(200, "no rows").into(),
            "panic" => panic!("on purpose"),
            _ => fine.into(),
        }
    }

    fn refuse(request: &Request, refusal: &Refusal) -> Document {
        let sentence = Document::text(refusal.status, refusal.sentence());
        match request.segments().get(1).copied().unwrap_or_default() {
            "html" => Document { media_type: "text/html".to_owned(), ..sentence },
            "status" => Document { status: number(request.segments().get(2)), ..sentence },
            "panic" => panic!("on purpose"),
            _ => sentence,
        }
    }
}

fn link(href: &str) -> Link {
    Link { href: href.to_owned(), rel: "next".to_owned(), media_type: None }
}

fn number(text: Option<&&str>) -> u16 {
    text.and_then(|text| text.parse().ok()).unwrap_or(200)
}

fn spin() -> ! {
    loop {
        std::hint::spin_loop();
    }
}

/// Some million steps, many times.
fn burn(times: u64) {
    for step in 0..times * 1_000_000 {
        std::hint::black_box(step);
    }
}

/// Deeper at each call, with something to do after it.
fn recurse(depth: u64) -> u64 {
    if std::hint::black_box(depth) == u64::MAX {
        return 0;
    }
    recurse(depth + 1) + std::hint::black_box(depth)
}

/// The format that the adapter brings: the first column, one line a row.
pub struct Lines;

impl Encoder for Lines {
    fn describe() -> Description {
        Description {
            format: "evil",
            version: env!("CARGO_PKG_VERSION"),
            media_type: "text/plain; charset=utf-8",
            extension: "txt",
            separator: Some(b""),
            part_rows: None,
            dictionaries: false,
            compressible: true,
            parameters: vec![],
            docs: "The first column, one line a row.",
        }
    }

    fn open(_: Schema, _: &Options) -> Result<Self, Error> {
        Ok(Self)
    }

    fn part(&mut self, batch: Batch, out: &mut Output) -> Result<(), Error> {
        for row in 0..batch.rows() {
            out.extend_from_slice(batch.column(0).text(row).unwrap_or("-").as_bytes());
            out.push(b'\n');
        }
        Ok(())
    }
}

yearbook_sdk::export_adapter!(EvilAdapter);
yearbook_sdk::export_encoder!(Lines);
