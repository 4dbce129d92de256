//! The attacks of one caller on a server: each is some connections from an address of its own,
//! which begin again whenever the server ends them.

use std::net::{Ipv4Addr, SocketAddr};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt, Result};
use tokio::net::{TcpSocket, TcpStream};
use tokio::runtime::Handle;
use tokio::task::{JoinSet, yield_now};
use tokio::time::sleep;
use yearbook_catalog::key;
use yearbook_tests::http2::{self, frame, kind};

use crate::{server, sign_up};

/// Address from which attacks come; the polite client has another address.
const ATTACKER_ADDRESS: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);

/// Bytes that a client's socket takes in unread, so that the server keeps the rest.
const RECEIVE_BUFFER: u32 = 4 << 10;

/// Before a connection that was refused or ended is tried again.
const RETRY_DELAY: Duration = Duration::from_millis(20);

/// Attacker, target and tools.
#[derive(Clone)]
pub(crate) struct AttackClient {
    pub(crate) server: SocketAddr,
    pub(crate) keys: [String; 2],
    /// Connections or requests so far.
    pub(crate) tries: Arc<AtomicU64>,
    /// Threads of its own.
    pub(crate) runtime: Handle,
}

/// Attacks, for as long as the set lives.
pub(crate) type AttackFn = fn(&AttackClient, &mut JoinSet<()>);

impl AttackClient {
    async fn connect(&self) -> Result<TcpStream> {
        let socket = TcpSocket::new_v4()?;
        socket.set_recv_buffer_size(RECEIVE_BUFFER)?;
        socket.bind(SocketAddr::from((ATTACKER_ADDRESS, 0)))?;
        self.tries.fetch_add(1, Ordering::Relaxed);
        socket.connect(self.server).await
    }

    /// Repeats `once` on so many connections at a time.
    fn repeat<F>(
        &self,
        tasks: &mut JoinSet<()>,
        connections: usize,
        once: impl Fn(Self, usize) -> F + Clone + Send + 'static,
    ) where
        F: Future<Output = Result<()>> + Send,
    {
        for number in 0..connections {
            let (attacker, once) = (self.clone(), once.clone());
            let again = async move {
                for turn in 0_usize.. {
                    // Whether it was refused or came to its end: it begins again.
                    let _ = once(attacker.clone(), turn * connections + number).await;
                    sleep(RETRY_DELAY).await;
                }
            };
            tasks.spawn_on(again, &self.runtime);
        }
    }

    /// Sends a request's head and reads nothing of the answer until the server ends it.
    async fn unread(&self, head: &str) -> Result<()> {
        let mut stream = self.connect().await?;
        stream.write_all(head.as_bytes()).await?;
        ended(&stream).await
    }

    /// Sends a request and reads the answer to its end.
    async fn read(&self, head: &str) -> Result<()> {
        let mut stream = self.connect().await?;
        stream.write_all(head.as_bytes()).await?;
        until_closed(&mut stream).await;
        Ok(())
    }

    /// The stamp of a form that was asked for now.
    async fn shown_stamp(&self) -> Result<String> {
        let mut stream = self.connect().await?;
        stream.write_all(only(sign_up::PATH, "Accept: text/html\r\n").as_bytes()).await?;
        let mut page = String::new();
        stream.read_to_string(&mut page).await?;
        sign_up::stamp_in(&page).ok_or_else(|| std::io::Error::other(page))
    }

    /// The cursor behind the first row of a selection.
    async fn cursor(&self, key: &str) -> Result<String> {
        let mut stream = self.connect().await?;
        let path = "/v1/datasets/large/data?limit=1&sort=-value&start=1900-01-01&end=1900-01-02";
        stream.write_all(only(path, &format!("X-API-Key: {key}\r\n")).as_bytes()).await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        let cursor = answer.lines().find_map(|line| line.strip_prefix("x-next-page: "));
        cursor.map(str::to_owned).ok_or_else(|| std::io::Error::other(answer))
    }

    /// Sends requests on one connection and reads their answers.
    async fn ask(&self, heads: impl Iterator<Item = String>) -> Result<()> {
        let mut stream = self.connect().await?;
        let mut buffer = vec![0; 64 << 10];
        for head in heads {
            self.tries.fetch_add(1, Ordering::Relaxed);
            stream.write_all(head.as_bytes()).await?;
            if stream.read(&mut buffer).await? == 0 {
                break;
            }
        }
        Ok(())
    }
}

/// No attack: both of his threads compute and ask the server for nothing. What others notice of it
/// is the machine's doing.
pub(crate) fn computing(attacker: &AttackClient, tasks: &mut JoinSet<()>) {
    for _ in 0..attacker.runtime.metrics().num_workers() {
        let tries = Arc::clone(&attacker.tries);
        let compute = async move {
            loop {
                let until = Instant::now() + Duration::from_millis(1);
                while Instant::now() < until {
                    std::hint::spin_loop();
                }
                tries.fetch_add(1, Ordering::Relaxed);
                // The task can be stopped here.
                yield_now().await;
            }
        };
        tasks.spawn_on(compute, &attacker.runtime);
    }
}

/// Begins a connection of HTTP/2 and takes the server's settings unseen.
async fn begin(stream: &mut TcpStream) -> Result<()> {
    stream.write_all(&http2::client_preface()).await?;
    stream.write_all(&frame(kind::SETTINGS, http2::ACK, 0, &[])).await
}

/// Gives up stream `id` (CANCEL).
fn reset(id: u32) -> Vec<u8> {
    frame(kind::RST_STREAM, 0, id, &[0, 0, 0, 8])
}

/// Takes what comes until the connection ends; no window is ever opened again, so bodies of HTTP/2
/// stay unread.
async fn until_closed(stream: &mut TcpStream) {
    let mut buffer = vec![0; 16 << 10];
    while stream.read(&mut buffer).await.is_ok_and(|read| read > 0) {}
}

/// Waits until the server has ended the connection, without taking what it sent.
async fn ended(stream: &TcpStream) -> Result<()> {
    loop {
        stream.ready(tokio::io::Interest::ERROR | tokio::io::Interest::READABLE).await?;
        // A byte that lies there unread says nothing; an end or an error does.
        let mut byte = [0];
        if stream.peek(&mut byte).await? == 0 {
            return Ok(());
        }
        if let Some(error) = stream.take_error()? {
            return Err(error);
        }
        sleep(Duration::from_millis(100)).await;
    }
}

fn head(path: &str, key: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: test.example\r\nX-API-Key: {key}\r\n\r\n")
}

/// A request after whose answer the connection ends.
fn only(path: &str, more: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: test.example\r\nConnection: close\r\n{more}\r\n")
}

/// All rows of the large table, in a format that needs a guest.
const EXPORT: &str = "/v1/datasets/large/data?start=0001-01-01&limit=0&format=csv";

/// 550 exports on five connections, with one key, none of them read.
pub(crate) fn unread_streams(attacker: &AttackClient, tasks: &mut JoinSet<()>) {
    attacker.repeat(tasks, 5, async |attacker: AttackClient, _| {
        let mut stream = attacker.connect().await?;
        begin(&mut stream).await?;
        for stream_id in 0..110 {
            attacker.tries.fetch_add(1, Ordering::Relaxed);
            stream.write_all(&http2::get(2 * stream_id + 1, EXPORT, &attacker.keys[0])).await?;
        }
        until_closed(&mut stream).await;
        Ok(())
    });
}

/// Exports that are compressed and read as fast as they come.
pub(crate) fn busy_exports(attacker: &AttackClient, tasks: &mut JoinSet<()>) {
    attacker.repeat(tasks, 32, async |attacker: AttackClient, number| {
        let more =
            format!("X-API-Key: {}\r\nAccept-Encoding: zstd, gzip\r\n", attacker.keys[number % 2]);
        attacker.read(&only(EXPORT, &more)).await
    });
}

/// Projects for a data tool, which a plugin makes whole.
pub(crate) fn many_projects(attacker: &AttackClient, tasks: &mut JoinSet<()>) {
    attacker.repeat(tasks, 32, async |attacker: AttackClient, number| {
        let path = "/v1/integrations/meltano?datasets=large,harvest,wide";
        attacker.read(&only(path, &format!("X-API-Key: {}\r\n", attacker.keys[number % 2]))).await
    });
}

/// Exports of which a kilobyte is read a second.
pub(crate) fn slow_readers(attacker: &AttackClient, tasks: &mut JoinSet<()>) {
    attacker.repeat(tasks, 200, async |attacker: AttackClient, _| {
        let mut stream = attacker.connect().await?;
        stream.write_all(head(EXPORT, &attacker.keys[0]).as_bytes()).await?;
        let mut buffer = [0; 1024];
        while stream.read(&mut buffer).await? > 0 {
            sleep(Duration::from_secs(1)).await;
        }
        Ok(())
    });
}

/// Downloads of a whole file, unread.
pub(crate) fn unread_files(attacker: &AttackClient, tasks: &mut JoinSet<()>) {
    attacker.repeat(tasks, 300, async |attacker: AttackClient, _| {
        attacker.unread(&head("/v1/bulk/tests/large", &attacker.keys[0])).await
    });
}

/// Connections on which nothing is ever said, or half of HTTP/2's preface, or a head that never
/// ends.
pub(crate) fn silent_connections(attacker: &AttackClient, tasks: &mut JoinSet<()>) {
    attacker.repeat(tasks, 2_000, async |attacker: AttackClient, number| match number % 3 {
        0 => attacker.unread("").await,
        1 => attacker.unread(std::str::from_utf8(&http2::PREFACE[..12]).unwrap_or_default()).await,
        _ => {
            let mut stream = attacker.connect().await?;
            stream.write_all(b"GET / HTTP/1.1\r\nHost: test.example\r\nX-Slow: ").await?;
            loop {
                stream.write_all(b"a").await?;
                sleep(Duration::from_millis(500)).await;
            }
        }
    });
}

/// Requests that are given up as soon as they are sent (CVE-2023-44487).
pub(crate) fn rapid_resets(attacker: &AttackClient, tasks: &mut JoinSet<()>) {
    attacker.repeat(tasks, 4, async |attacker: AttackClient, _| {
        let mut stream = attacker.connect().await?;
        begin(&mut stream).await?;
        for stream_id in 0..100_000 {
            attacker.tries.fetch_add(1, Ordering::Relaxed);
            let id = 2 * stream_id + 1;
            stream
                .write_all(&[http2::get(id, EXPORT, &attacker.keys[0]), reset(id)].concat())
                .await?;
        }
        Ok(())
    });
}

/// Sixteen kilobytes of column names that nobody knows.
pub(crate) fn long_lists(attacker: &AttackClient, tasks: &mut JoinSet<()>) {
    attacker.repeat(tasks, 8, async |attacker: AttackClient, _| {
        let names: Vec<String> = (0..3_000).map(|number| format!("{number:x}")).collect();
        let path = format!("/v1/datasets/large/data?columns={}", names.join(","));
        attacker.ask((0..1_000).map(|_| head(&path, &attacker.keys[0]))).await
    });
}

/// Previews of a table with huge cells, which need no key.
pub(crate) fn heavy_previews(attacker: &AttackClient, tasks: &mut JoinSet<()>) {
    attacker.repeat(tasks, 32, async |attacker: AttackClient, _| {
        attacker.read(&only("/v1/datasets/cells/preview", "")).await
    });
}

/// Keys that look right and that nobody was given.
pub(crate) fn unknown_keys(attacker: &AttackClient, tasks: &mut JoinSet<()>) {
    attacker.repeat(tasks, 16, async |attacker: AttackClient, _| {
        let keys = (0..1_000).filter_map(|_| key::issue().ok());
        attacker.ask(keys.map(|(key, _)| head("/v1/me", key.expose()))).await
    });
}

/// Two keys page through a wide table, with options of every length.
pub(crate) fn wide_pages(attacker: &AttackClient, tasks: &mut JoinSet<()>) {
    attacker.repeat(tasks, 8, async |attacker: AttackClient, number| {
        let more = if number % 4 == 0 {
            format!("&delimiter={}", "x".repeat(12_000))
        } else {
            String::new()
        };
        let format = ["json", "csv"][number % 2];
        let path = format!("/v1/datasets/wide/data?limit=5000&format={format}{more}");
        attacker.read(&only(&path, &format!("X-API-Key: {}\r\n", attacker.keys[number % 2]))).await
    });
}

/// Selections that hold and read as much as one may: large orders, rows of each series, conditions
/// up to their bounds, places within a box, and a cursor of another selection.
pub(crate) fn worst_selections(attacker: &AttackClient, tasks: &mut JoinSet<()>) {
    attacker.repeat(tasks, 32, async |attacker: AttackClient, number| {
        let key = attacker.keys[number % 2].clone();
        let path = match number / 2 % 8 {
            0 => "large/data?sort=-value&limit=10000".to_owned(),
            1 => "large/data?sort=series,-value,-date&last=1000&limit=10000".to_owned(),
            2 => format!("large/data?last=1000&limit=0&start=1900-01-01&{}", values()),
            3 => format!("wide/data?limit=5000&{}", conditions()),
            4 => format!("wide/data?limit=0&sort={}", columns(0..8).collect::<Vec<_>>().join(",")),
            5 => "points/data?limit=0&bbox=-179.5,-89.5,179.5,89.5&sort=-area".to_owned(),
            6 => "points/values?columns=park,area&limit=10000&bbox=-0.001,-89,0.001,89".to_owned(),
            _ => format!("large/data?sort=value&cursor={}", attacker.cursor(&key).await?),
        };
        let more = format!("X-API-Key: {key}\r\n");
        attacker.read(&only(&format!("/v1/datasets/{path}"), &more)).await
    });
}

/// As many values as a request may have, none of which a row has but for chance.
fn values() -> String {
    (0..1_024).map(|value| format!("where.value={value}")).collect::<Vec<_>>().join("&")
}

/// As many conditions as a request may have, one of them of as many texts.
fn conditions() -> String {
    let texts = (0..64).map(|text| format!("where.region.contains={text:x}"));
    let columns = columns(0..63).map(|column| format!("where.{column}=true"));
    texts.chain(columns).collect::<Vec<_>>().join("&")
}

/// Columns of the wide table.
fn columns(numbers: Range<usize>) -> impl Iterator<Item = String> {
    numbers.map(server::column)
}

/// A stored file in a thousand pieces.
pub(crate) fn small_ranges(attacker: &AttackClient, tasks: &mut JoinSet<()>) {
    attacker.repeat(tasks, 8, async |attacker: AttackClient, _| {
        let ranges: Vec<String> = (0..1_000).map(|number| format!("{0}-{0}", number * 7)).collect();
        let more =
            format!("X-API-Key: {}\r\nRange: bytes={}\r\n", attacker.keys[0], ranges.join(","));
        attacker.read(&only("/v1/bulk/tests/large", &more)).await
    });
}

/// Forms of sign-up, each for an address of its own, sent back no sooner than a person types.
pub(crate) fn sign_ups(attacker: &AttackClient, tasks: &mut JoinSet<()>) {
    attacker.repeat(tasks, 16, async |attacker: AttackClient, number| {
        let stamp = attacker.shown_stamp().await?;
        sleep(sign_up::TYPING_TIME).await;
        attacker
            .ask((0..2_000).map(|turn| {
                sign_up::head(&format!("person-{number}-{turn}@elsewhere.example"), &stamp)
            }))
            .await
    });
}
