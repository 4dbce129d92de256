//! An encoder that takes rows and writes nothing. `yearbook plugin bench` measures with it what the
//! crossing of rows into a guest costs; it is never installed, and no client can ask for it.

use yearbook_sdk::{Batch, Description, Encoder, Error, Options, Output, Schema};

yearbook_sdk::export_encoder!(Idle);

/// A response without bytes.
#[derive(Debug)]
pub struct Idle;

impl Encoder for Idle {
    fn describe() -> Description {
        Description {
            format: "idle",
            version: env!("CARGO_PKG_VERSION"),
            media_type: "application/octet-stream",
            extension: "idle",
            separator: Some(b""),
            part_rows: None,
            dictionaries: true,
            compressible: false,
            parameters: Vec::new(),
            docs: "Takes rows and writes nothing, to measure the crossing.",
        }
    }

    fn open(_: Schema, _: &Options) -> Result<Self, Error> {
        Ok(Self)
    }

    fn part(&mut self, _: Batch, _: &mut Output) -> Result<(), Error> {
        Ok(())
    }
}
