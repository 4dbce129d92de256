//! A guest that attacks its host, for the host's tests; never installed with the product. The
//! parameter `attack` names what it does and `call` in which call; every attack is a file of its
//! own, and the host's tests say what must become of each. What a release does on its own account
//! stands in `temper`.

mod attacks;
mod temper;

use yearbook_sdk::{
    Batch, Description, Encoder, Error, Kind, Note, Options, Output, Parameter, Schema,
};

/// A response that goes wrong as its options say.
pub struct Evil {
    attack: String,
    call: String,
    /// Parts that this instance has made.
    parts: usize,
}

impl Evil {
    fn reach(&self, call: &str, out: &mut Vec<u8>) -> Result<(), Error> {
        if self.call == call { attacks::run(&self.attack, out) } else { Ok(()) }
    }
}

impl Encoder for Evil {
    fn describe() -> Description {
        Description {
            format: "evil",
            version: env!("CARGO_PKG_VERSION"),
            media_type: "application/x-evil",
            extension: "evil",
            separator: Some(b""),
            part_rows: None,
            dictionaries: true,
            compressible: false,
            parameters: vec![
                Parameter {
                    name: "attack",
                    kind: Kind::Text,
                    default: "none",
                    allowed: attacks::NAMES,
                    docs: "What to do.",
                },
                Parameter {
                    name: "call",
                    kind: Kind::Text,
                    default: "part",
                    allowed: &["open", "head", "part", "tail"],
                    docs: "When to do it.",
                },
            ],
            docs: "Attacks the host. For tests.",
        }
    }

    fn open(_schema: Schema, options: &Options) -> Result<Self, Error> {
        let evil = Self {
            attack: options.text("attack")?.to_owned(),
            call: options.text("call")?.to_owned(),
            parts: 0,
        };
        evil.reach("open", &mut Vec::new())?;
        Ok(evil)
    }

    fn head(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        out.extend_from_slice(b"head ");
        self.reach("head", out)
    }

    fn part(&mut self, batch: Batch, out: &mut Output) -> Result<(), Error> {
        self.parts += 1;
        temper::show(self.parts);
        match self.attack.as_str() {
            // Says that parts are independent, and lies.
            "remember" => out.extend_from_slice(format!("part {} ", self.parts).as_bytes()),
            _ => out.extend_from_slice(format!("{} rows ", batch.rows()).as_bytes()),
        }
        self.reach("part", out)
    }

    fn note(&mut self) -> Vec<u8> {
        match self.attack.as_str() {
            "hoard" => vec![b'x'; 1 << 20],
            "note" => b"note ".to_vec(),
            _ => Vec::new(),
        }
    }

    fn tail(&mut self, notes: &[Note], out: &mut Vec<u8>) -> Result<(), Error> {
        for note in notes {
            out.extend_from_slice(format!("{}:", note.offset).as_bytes());
            out.extend_from_slice(&note.bytes);
        }
        out.extend_from_slice(b"tail");
        self.reach("tail", out)
    }
}

yearbook_sdk::export_encoder!(Evil);
