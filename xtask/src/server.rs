//! A `yearbook serve` that automation starts, waits for and stops. Owns the child process; knows of
//! HTTP only how to ask `/health`.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use rustix::process::{Pid, Signal, kill_process};

use crate::command;

/// Longest time for a server to answer `/health`, and to end after a signal.
const TIMEOUT: Duration = Duration::from_secs(180);

/// A running server; dropping it stops it.
#[derive(Debug)]
pub struct ServerProcess {
    child: Child,
    address: SocketAddr,
}

impl ServerProcess {
    /// Starts `binary` on `data_dir` and waits until it is healthy. `log` takes its output; without
    /// one it shares ours. `settings` are environment variables.
    ///
    /// # Errors
    /// Fails when the address is taken, or when the server cannot be run or is not healthy within
    /// 180 s.
    pub fn start(
        binary: &Path,
        data_dir: &Path,
        address: SocketAddr,
        log: Option<&Path>,
        settings: &[(&str, &str)],
    ) -> Result<Self> {
        // Whatever listens there could answer in the server's place.
        check_free(address)?;
        let mut serve = Command::new(binary);
        serve.arg("serve").arg("--listen").arg(address.to_string()).arg("--data-dir").arg(data_dir);
        serve.envs(settings.iter().copied()).stdin(Stdio::null());
        println!("$ {}", command::display(&serve));
        if let Some(log) = log {
            let file =
                File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
            serve.stdout(file.try_clone().context("cannot share the log file")?).stderr(file);
        }
        let child = serve.spawn().with_context(|| format!("cannot run {}", binary.display()))?;
        let mut server = Self { child, address };
        server.wait_until_healthy(log)?;
        Ok(server)
    }

    /// `http://host:port`.
    pub fn base(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The server's process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns true if the server has ended by itself.
    ///
    /// # Errors
    /// Fails when the process cannot be watched.
    pub fn has_ended(&mut self) -> Result<bool> {
        Ok(self.exit_status()?.is_some())
    }

    /// The status with which the server has ended by itself; none while it runs.
    ///
    /// # Errors
    /// Fails when the process cannot be watched.
    pub fn exit_status(&mut self) -> Result<Option<ExitStatus>> {
        self.child.try_wait().context("cannot watch the server")
    }

    /// Asks the server to finish what it is doing and end, and waits for it.
    ///
    /// # Errors
    /// Fails when the server does not end within 180 s; it is then killed.
    pub fn stop(&mut self) -> Result<()> {
        if self.has_ended()? {
            return Ok(());
        }
        kill_process(Pid::from_child(&self.child), Signal::TERM)
            .context("cannot signal the server")?;
        let signalled = Instant::now();
        while signalled.elapsed() < TIMEOUT {
            if self.has_ended()? {
                return Ok(());
            }
            sleep(Duration::from_millis(50));
        }
        self.child.kill().context("cannot kill the server")?;
        self.child.wait().context("cannot wait for the server")?;
        bail!("the server did not end within {TIMEOUT:?} of SIGTERM and was killed")
    }

    fn wait_until_healthy(&mut self, log: Option<&Path>) -> Result<()> {
        let started = Instant::now();
        while started.elapsed() < TIMEOUT {
            if self.has_ended()? {
                let said =
                    log.and_then(|log| std::fs::read_to_string(log).ok()).unwrap_or_default();
                bail!("the server ended before it was healthy\n{said}");
            }
            if is_healthy(self.address) {
                return Ok(());
            }
            sleep(Duration::from_millis(50));
        }
        bail!("the server was not healthy within {TIMEOUT:?}")
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        if let Err(error) = self.stop() {
            eprintln!("{error:#}");
        }
    }
}

/// An address of this machine that nothing listens on.
///
/// # Errors
/// Fails when there is no free port.
pub fn free_address() -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").context("no free port")?;
    listener.local_addr().context("no free port")
}

/// Fails where `address` cannot be listened on.
///
/// # Errors
/// With what to do.
pub fn check_free(address: SocketAddr) -> Result<()> {
    TcpListener::bind(address).map(drop).with_context(|| {
        format!("cannot listen on {address}; choose another, or end what listens there")
    })
}

fn is_healthy(address: SocketAddr) -> bool {
    let ask = || -> std::io::Result<bool> {
        let mut stream = TcpStream::connect_timeout(&address, Duration::from_secs(1))?;
        stream.set_read_timeout(Some(Duration::from_secs(2)))?;
        write!(stream, "GET /health HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer.starts_with("HTTP/1.1 200"))
    };
    ask().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn what_another_program_answers_is_not_the_server() {
        let other = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = other.local_addr().unwrap();
        std::thread::spawn(move || {
            for client in other.incoming() {
                let _ = client.unwrap().write_all(b"HTTP/1.1 200 OK\r\n\r\n");
            }
        });
        // Would end at once, as a server does that cannot listen.
        let started = ServerProcess::start(Path::new("true"), Path::new("."), address, None, &[]);
        let error = format!("{:#}", started.unwrap_err());
        assert!(error.contains(&format!("cannot listen on {address}")), "{error}");
    }
}
