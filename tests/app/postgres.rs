//! The PostgreSQL server of the tests, and a line to it that can be cut.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::watch;
use yearbook_prerequisites::Prerequisite;

/// Variable in which `cargo xtask test` puts the address of its server: one that is reached by a
/// socket in a folder.
const VARIABLE: &str = "YEARBOOK_TEST_POSTGRES";

/// The address of a catalog of its own for one test. None where there is no server and none is
/// required.
#[must_use]
pub fn postgres() -> Option<String> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let server = Prerequisite::Postgres
        .or_skip(std::env::var(VARIABLE).ok(), format!("{VARIABLE} names no PostgreSQL server"))?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos();
    let and = if server.contains('?') { '&' } else { '?' };
    let name =
        format!("host_{}_{now:x}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    Some(format!("{server}{and}options[search_path]={name}"))
}

/// Treatment of the bytes that are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It arrives.
    Whole,
    /// Connections are reset, and new ones are as soon as they are made: the server has ended.
    Cut,
    /// Nothing arrives, and no side learns of it: the network has swallowed it.
    Silent,
}

/// A line to the server.
pub struct PostgresProxy {
    /// The address of the catalog by this line.
    pub url: String,
    state: Arc<watch::Sender<State>>,
}

impl PostgresProxy {
    /// A line to the catalog at `url`, which [`postgres`] gave.
    pub async fn to(url: &str) -> Self {
        let (address, query) = url.split_once('?').unwrap();
        let folder = query
            .split('&')
            .find_map(|pair| pair.strip_prefix("host="))
            .expect("an address with a socket's folder");
        let rest: Vec<&str> = query.split('&').filter(|pair| !pair.starts_with("host=")).collect();
        let (user, database) = address.split_once("localhost").unwrap();
        let (port, database) = database.split_once('/').unwrap();
        let port = port.strip_prefix(':').unwrap_or("5432");
        let socket = PathBuf::from(folder).join(format!(".s.PGSQL.{port}"));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("{user}{}/{database}?{}", listener.local_addr().unwrap(), rest.join("&"));
        let state = Arc::new(watch::Sender::new(State::Whole));
        let follow = state.subscribe();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                client.set_nodelay(true).unwrap();
                tokio::spawn(forward(client, socket.clone(), follow.clone()));
            }
        });
        Self { url, state }
    }

    /// As if the server had ended.
    pub fn cut(&self) {
        self.state.send_replace(State::Cut);
    }

    /// As if the network swallowed everything.
    pub fn blackhole(&self) {
        self.state.send_replace(State::Silent);
    }

    /// As if nothing had been.
    pub fn mend(&self) {
        self.state.send_replace(State::Whole);
    }
}

/// Carries one connection until the line is cut or the other end hangs up.
async fn forward(mut client: TcpStream, socket: PathBuf, mut state: watch::Receiver<State>) {
    let Ok(mut server) = UnixStream::connect(socket).await else { return };
    loop {
        let now = *state.borrow_and_update();
        match now {
            State::Cut => return,
            // A connection that has been silenced stays so: what was sent meanwhile is lost.
            State::Silent => {
                if state.wait_for(|state| *state != State::Silent).await.is_err()
                    || *state.borrow() == State::Whole
                {
                    return;
                }
            }
            State::Whole => {
                tokio::select! {
                    _ = copy_bidirectional(&mut client, &mut server) => return,
                    changed = state.changed() => if changed.is_err() { return },
                }
            }
        }
    }
}
