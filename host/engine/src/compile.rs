//! Compiling under limits. A compiler cannot be interrupted, so hosts have it done by a child
//! process of the same program, which can: it may use so much memory and time, write no file, and
//! goes when its parent goes. Its answer is machine code for the parent's engine, or a sentence.
//! Knows nothing of the cache or of what a component means.

mod child;

use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;

use rustix::process::Signal;
use wasmtime::Engine;

use crate::error::ComponentRejection;
use crate::limits::Limits;
use crate::sanitize::sanitize_sentence;

pub use child::compile_as_child;

/// The argument that makes this program a compiler; the next ones are what it may use: address
/// space in bytes, and processor time in seconds.
const ARGUMENT: &str = "__compile";

/// Machine code of one component at most, bytes: the largest component has 32 MiB by default, and
/// code is some four times as large.
const ARTIFACT_BYTES: u64 = 1 << 30;

/// By how much the clock may run ahead of the processor time that is allowed: on a busy machine a
/// component is not at fault, but a host cannot wait for ever.
const WALL_TIME_FACTOR: u32 = 10;

/// Threads that compile one component at most.
const THREADS: usize = 4;

/// First byte of an answer.
const DONE: u8 = b'+';
const REFUSED: u8 = b'-';

/// Process that compiles for a sandbox.
#[derive(Clone, Debug, Default)]
pub enum Compiler {
    /// This process, without a limit of time or memory: for components that are trusted, as those
    /// of tests are.
    #[default]
    InProcess,
    /// A child process under limits: this program, which hands its arguments to
    /// [`compile_as_child`].
    ChildProcess(PathBuf),
}

impl Compiler {
    /// Machine code for `engine`, as [`wasmtime::component::Component::deserialize`] takes it.
    ///
    /// # Errors
    /// [`ComponentRejection`] for what cannot be compiled within `limits`.
    pub fn compile(
        &self,
        engine: &Engine,
        limits: &Limits,
        bytes: &[u8],
    ) -> Result<Vec<u8>, ComponentRejection> {
        match self {
            Self::InProcess => Ok(engine.precompile_component(bytes)?),
            Self::ChildProcess(program) => {
                let started = Command::new(program)
                    .args([
                        ARGUMENT,
                        &limits.compile_memory_bytes.to_string(),
                        &limits.compile_ms.div_ceil(1_000).max(1).to_string(),
                    ])
                    // Variables hold passwords of the host's.
                    .env_clear()
                    // Each thread takes address space; Cranelift's pool reads this.
                    .env(
                        "RAYON_NUM_THREADS",
                        std::thread::available_parallelism()
                            .map_or(1, usize::from)
                            .min(THREADS)
                            .to_string(),
                    )
                    .current_dir("/")
                    .stdin(Stdio::piped())
                    .stdout(Stdio::piped())
                    .stderr(Stdio::null())
                    .spawn();
                let child = started.map_err(ComponentRejection::CompilerUnavailable)?;
                wait_for_child(child, limits, bytes)
            }
        }
    }
}

/// The child's answer, or the reason it was given up. The child is gone afterwards.
fn wait_for_child(
    mut child: Child,
    limits: &Limits,
    bytes: &[u8],
) -> Result<Vec<u8>, ComponentRejection> {
    let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(ComponentRejection::CompileFailed(
            "the process for it has no input or output".to_owned(),
        ));
    };
    let (sender, receiver) = mpsc::channel();
    let answer = std::thread::scope(|scope| {
        // Ends with the child at the latest.
        scope.spawn(move || {
            let _ = input.write_all(bytes);
            drop(input);
            let mut answer = Vec::new();
            let read = output.take(ARTIFACT_BYTES + 1).read_to_end(&mut answer);
            let _ = sender.send(read.map(|_| answer));
        });
        let answer = receiver.recv_timeout(limits.compile_timeout() * WALL_TIME_FACTOR);
        if answer.is_err() {
            let _ = child.kill();
        }
        answer
    });
    let status = child.wait();
    let answer = match answer {
        Ok(Ok(answer)) => answer,
        Ok(Err(error)) => {
            return Err(ComponentRejection::CompileFailed(format!(
                "its result cannot be read: {error}"
            )));
        }
        Err(_) => {
            let patience = limits.compile_ms * u64::from(WALL_TIME_FACTOR);
            return Err(ComponentRejection::CompileFailed(format!(
                "it was not done after {patience} ms (ten times sandbox.compile_ms)"
            )));
        }
    };
    if status.as_ref().is_ok_and(|status| status.signal() == Some(Signal::XCPU.as_raw())) {
        return Err(ComponentRejection::CompileFailed(format!(
            "it took more than {} ms of processor time (sandbox.compile_ms)",
            limits.compile_ms
        )));
    }
    match answer.split_first() {
        Some((&DONE, artifact))
            if status.is_ok_and(|status| status.success())
                && artifact.len() as u64 <= ARTIFACT_BYTES =>
        {
            Ok(artifact.to_vec())
        }
        Some((&REFUSED, sentence)) => Err(ComponentRejection::Malformed(sanitize_sentence(
            &String::from_utf8_lossy(sentence),
        ))),
        _ => Err(ComponentRejection::CompileFailed(format!(
            "it wanted more than {} bytes of memory (sandbox.compile_memory_bytes), or the compiler failed",
            limits.compile_memory_bytes
        ))),
    }
}

#[cfg(test)]
mod tests;
