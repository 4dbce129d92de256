//! Credential helpers of Docker: programs `docker-credential-NAME` that are asked for one registry
//! on standard input and answer with JSON. Owns the bounds on what one may take and say.

use std::io::{BufReader, Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde::Deserialize;

use super::{CredentialError, Credentials};
use crate::manifest::clean;

/// Longest time of one helper: somebody may have to unlock a key ring.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Longest answer, bytes.
const ANSWER_BYTES: u64 = 64 << 10;

/// Longest wait for the end of an answer once its helper has ended.
const END_TIMEOUT: Duration = Duration::from_secs(1);

/// Interval between two looks at a helper.
const POLL: Duration = Duration::from_millis(10);

/// Name in the place of a user's where the secret is an identity token.
const IDENTITY_TOKEN: &str = "<token>";

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct HelperAnswer {
    username: String,
    secret: String,
}

/// Asks the helper called `name` for the credentials of `host`; `None` where it has none.
pub(super) fn ask(name: &str, host: &str) -> Result<Option<Credentials>, CredentialError> {
    let program = format!("docker-credential-{name}");
    let failed = |reason: &str| CredentialError::Helper {
        program: clean(&program),
        host: clean(host),
        reason: clean(reason),
    };
    if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b)) {
        return Err(failed("that is no name of a program"));
    }
    let mut child = Command::new(&program)
        .arg("get")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| failed(&format!("it cannot be started ({error})")))?;
    if let Some(mut input) = child.stdin.take() {
        // One that does not read its input may still answer.
        let _ = input.write_all(host.as_bytes());
    }
    let output = child.stdout.take();
    let (sender, written) = mpsc::channel();
    std::thread::spawn(move || {
        let Some(output) = output else { return };
        let bytes = BufReader::new(output.take(ANSWER_BYTES)).bytes();
        // Nobody waits for what comes too late.
        let _ = bytes.map_while(Result::ok).try_for_each(|byte| sender.send(byte));
    });
    let succeeded = wait(&mut child).ok_or_else(|| failed("it takes longer than a minute"))?;
    // All that it wrote is on its way, but a process that it left behind may keep the end open.
    let until = Instant::now() + END_TIMEOUT;
    let left = || until.saturating_duration_since(Instant::now());
    let answer: Vec<u8> = std::iter::from_fn(|| written.recv_timeout(left()).ok()).collect();
    if !succeeded {
        // The protocol's sentence for an unknown host, on standard output.
        let unknown = String::from_utf8_lossy(&answer).contains("credentials not found");
        return if unknown { Ok(None) } else { Err(failed("it fails")) };
    }
    let answer: HelperAnswer =
        serde_json::from_slice(&answer).map_err(|_| failed("its answer is not the protocol's"))?;
    let HelperAnswer { username, secret } = answer;
    Ok(match (username.as_str(), secret.is_empty()) {
        (_, true) => None,
        (IDENTITY_TOKEN, _) => Some(Credentials::IdentityToken(secret)),
        _ => Some(Credentials::Basic { username, secret }),
    })
}

/// True for a success, none where it took too long and was killed.
fn wait(child: &mut Child) -> Option<bool> {
    let begun = Instant::now();
    while begun.elapsed() < TIMEOUT {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status.success()),
            Ok(None) => std::thread::sleep(POLL),
            Err(_) => return Some(false),
        }
    }
    let _ = child.kill();
    let _ = child.wait();
    None
}
