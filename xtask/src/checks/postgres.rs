//! A PostgreSQL server for the tests: made in a temporary folder, reached by a socket in it or with
//! a password by TLS, gone when the tests are. Loses everything in a power cut, which makes it
//! fast. Owns the server's process.

mod tls;

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use rustix::process::{Pid, Signal, kill_process};

use crate::{command, server};

/// Variable from which tests read its address.
pub const VARIABLE: &str = "YEARBOOK_TEST_POSTGRES";

/// Variable from which tests read its address by TLS.
pub const TLS_VARIABLE: &str = "YEARBOOK_TEST_POSTGRES_TLS";

/// Longest time to start, and to end after a signal.
const PATIENCE: Duration = Duration::from_secs(60);

/// Root may not run PostgreSQL; Debian's package makes this user for it.
const USER: &str = "postgres";

/// No harm if the machine fails: the data is made up.
const SETTINGS: [&str; 5] = [
    "listen_addresses=localhost",
    "fsync=off",
    "full_page_writes=off",
    "max_connections=300",
    "unix_socket_permissions=0700",
];

/// A running server; dropping it stops it and removes its folder.
#[derive(Debug)]
pub struct Postgres {
    child: Child,
    folder: PathBuf,
    port: u16,
    /// Password for clients that do not use the socket.
    password: String,
}

/// Returns the folder in which Debian has the newest server's programs.
pub fn find_programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?.filter_map(Result::ok);
    let of = |path: &Path| path.file_name()?.to_str()?.parse::<u32>().ok();
    let found = versions.map(|entry| entry.path()).filter(|path| path.join("bin/initdb").exists());
    found.max_by_key(|path| of(path)).map(|path| path.join("bin"))
}

impl Postgres {
    /// Makes and starts a server.
    ///
    /// # Errors
    /// Fails when a program of the server fails, or the server is not ready within 60 s.
    pub fn start(programs: &Path) -> Result<Self> {
        let user = ServerUser::for_servers()?;
        // Short, since the path of a socket has to be; outside of the target folder, which another
        // user may not be let into.
        let folder = std::env::temp_dir().join(format!("yearbook-postgres-{}", std::process::id()));
        fs::create_dir(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700))
            .context("cannot close the folder to others")?;
        if let ServerUser::Other { uid, gid } = user {
            chown(&folder, Some(uid), Some(gid)).context("cannot give the folder away")?;
        }
        let data = folder.join("data");
        let password = command::output(Command::new("openssl").args(["rand", "-hex", "16"]))?
            .trim()
            .to_owned();
        let secret = folder.join("password");
        fs::write(&secret, &password).context("cannot write the server's password")?;
        let mut init = user.command(&programs.join("initdb"));
        init.args([
            "--username=yearbook",
            "--auth-local=trust",
            "--auth-host=scram-sha-256",
            "--encoding=UTF8",
            "--locale=C",
            "--no-sync",
        ]);
        init.arg("--pwfile").arg(&secret).arg("--pgdata").arg(&data);
        if let Err(error) = command::output(&mut init).and_then(|_| tls::make(user, &folder)) {
            let _ = fs::remove_dir_all(&folder);
            return Err(error);
        }
        let port = server::free_address()?.port();
        let log = fs::File::create(folder.join("log")).context("cannot write the server's log")?;
        let mut serve = user.command(&programs.join("postgres"));
        let encrypted = tls::settings(&folder);
        serve.arg("-D").arg(&data).arg("-k").arg(&folder).arg("-p").arg(port.to_string());
        serve
            .args(encrypted.iter().flat_map(|setting| ["-c", setting]))
            .args(SETTINGS.iter().flat_map(|setting| ["-c", setting]));
        serve
            .stdin(Stdio::null())
            .stdout(log.try_clone().context("cannot share the log")?)
            .stderr(log);
        let child =
            serve.spawn().with_context(|| format!("cannot run {}", command::display(&serve)))?;
        let mut server = Self { child, folder, port, password };
        server.wait(programs)?;
        Ok(server)
    }

    /// The process whose children serve.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Its address.
    pub fn url(&self) -> String {
        format!(
            "postgres://yearbook@localhost:{}/postgres?host={}",
            self.port,
            self.folder.display()
        )
    }

    /// Its address over the network, for clients that want to be sure whom they talk to.
    pub fn tls_url(&self) -> String {
        let Self { port, password, folder, .. } = self;
        format!(
            "postgres://yearbook:{password}@localhost:{port}/postgres?sslmode=verify-full&sslrootcert={}/{}",
            folder.display(),
            tls::AUTHORITY
        )
    }

    fn wait(&mut self, programs: &Path) -> Result<()> {
        let started = Instant::now();
        let (folder, port) = (self.folder.display().to_string(), self.port.to_string());
        while started.elapsed() < PATIENCE {
            if self.child.try_wait().context("cannot watch PostgreSQL")?.is_some() {
                bail!(
                    "PostgreSQL ended at once\n{}",
                    fs::read_to_string(self.folder.join("log")).unwrap_or_default()
                );
            }
            if command::exists(
                &programs.join("pg_isready").display().to_string(),
                &["--quiet", "--host", &folder, "--port", &port],
            ) {
                return Ok(());
            }
            sleep(Duration::from_millis(50));
        }
        bail!("PostgreSQL was not ready within {PATIENCE:?}")
    }

    fn stop(&mut self) -> Result<()> {
        // Ends every session at once.
        kill_process(Pid::from_child(&self.child), Signal::INT)
            .context("cannot signal PostgreSQL")?;
        let signalled = Instant::now();
        while signalled.elapsed() < PATIENCE {
            if self.child.try_wait().context("cannot watch PostgreSQL")?.is_some() {
                return Ok(());
            }
            sleep(Duration::from_millis(20));
        }
        self.child.kill().context("cannot kill PostgreSQL")?;
        self.child.wait().context("cannot wait for PostgreSQL").map(drop)
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        let ended = self.child.try_wait().is_ok_and(|status| status.is_some());
        let stopped = if ended { Ok(()) } else { self.stop() };
        if let Err(error) = stopped.and_then(|()| {
            fs::remove_dir_all(&self.folder).context("cannot remove the folder of PostgreSQL")
        }) {
            eprintln!("{error:#}");
        }
    }
}

/// User that runs the server.
#[derive(Clone, Copy, Debug)]
enum ServerUser {
    Ourselves,
    Other { uid: u32, gid: u32 },
}

impl ServerUser {
    fn for_servers() -> Result<Self> {
        if !rustix::process::geteuid().is_root() {
            return Ok(Self::Ourselves);
        }
        let id = |which| -> Result<u32> {
            let found = command::output(Command::new("id").args([which, USER]))?;
            found.trim().parse().with_context(|| format!("{USER} has an odd id"))
        };
        Ok(Self::Other { uid: id("--user")?, gid: id("--group")? })
    }

    /// `program` as this user, asked to end when we do, however that comes.
    fn command(self, program: &Path) -> Command {
        let mut launch = Command::new("setpriv");
        launch.args(["--pdeathsig", "INT"]).current_dir("/");
        if let Self::Other { uid, gid } = self {
            launch
                .arg(format!("--reuid={uid}"))
                .arg(format!("--regid={gid}"))
                .arg("--clear-groups");
        }
        launch.arg(program);
        launch
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use yearbook_prerequisites::Prerequisite;

    use super::*;

    #[test]
    fn a_server_answers_on_its_socket_and_leaves_nothing_behind() {
        let Some(programs) =
            Prerequisite::Postgres.or_skip(find_programs(), "there is no PostgreSQL")
        else {
            return;
        };
        let server = Postgres::start(&programs).unwrap();
        let (folder, url) = (server.folder.clone(), server.url());
        assert!(url.ends_with(&format!("host={}", folder.display())));
        let ask = |url: &str, what: &str| {
            let mut ask = Command::new(programs.join("psql"));
            ask.args(["--no-psqlrc", "--tuples-only", "--no-align", "--command", what, url]);
            command::output(&mut ask).map(|said| said.trim().to_owned())
        };
        assert_eq!(ask(&url, "SHOW fsync").unwrap(), "off");
        let encrypted = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
        assert_eq!(ask(&server.tls_url(), encrypted).unwrap(), "t");
        assert!(ask(&server.tls_url().replace(&server.password, "guessed"), encrypted).is_err());
        drop(server);
        assert!(!folder.exists());
    }
}
