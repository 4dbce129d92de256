//! Sockets as attackers use them: from an address of one's choice, bytes and frames by hand.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use yearbook_sandbox::Limits;
use yearbook_server::{ServerSettings, ServiceSettings};
use yearbook_tests::app::TestApp;
use yearbook_tests::http2::{Http2Frame, kind};

/// An address of this machine that has done nothing yet.
pub(super) const NEIGHBOUR: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));

/// Time in which everything happens on a busy machine. Nothing is to take nearly as long.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// A service on a socket, with the listener for operators where a test asks there.
pub(super) struct SocketServer {
    pub(super) app: TestApp,
    pub(super) address: SocketAddr,
    pub(super) admin: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    public: JoinHandle<std::io::Result<()>>,
}

impl SocketServer {
    /// One with these settings, without burst limits.
    pub(super) async fn start(server: ServerSettings) -> Self {
        let mut settings = ServiceSettings { server, ..ServiceSettings::default() };
        settings.limits.burst_per_second = 0;
        Self::start_with(settings).await
    }

    /// One with these settings.
    pub(super) async fn start_with(settings: ServiceSettings) -> Self {
        let app = TestApp::with_limits(settings, Limits::default()).await;
        let (public, admin) = (
            TcpListener::bind("127.0.0.1:0").await.unwrap(),
            TcpListener::bind("127.0.0.1:0").await.unwrap(),
        );
        let (address, admin_address) = (public.local_addr().unwrap(), admin.local_addr().unwrap());
        let (stop, stopped) = oneshot::channel();
        let public = app.serve_public(public, async { drop(stopped.await) });
        app.serve_admin(admin);
        Self { app, address, admin: admin_address, stop: Some(stop), public }
    }

    /// Stops the server and waits until it has.
    pub(super) async fn stop(&mut self) {
        drop(self.stop.take());
        tokio::time::timeout(PATIENCE, &mut self.public).await.unwrap().unwrap().unwrap();
    }

    /// A metric's sample of the listener for clients, by its name and labels; a whole number.
    pub(super) async fn metric(&self, series: &str) -> u64 {
        let sample = self.app.metric(series).await.unwrap_or_else(|| panic!("no {series}"));
        // Printed without a fraction, which parsing proves.
        format!("{sample}").parse().unwrap()
    }

    /// Connections of clients that are open.
    pub(super) async fn open(&self) -> u64 {
        self.metric("yearbook_connections_open{listener=\"public\"}").await
    }

    /// Connections of clients that ran into this deadline.
    pub(super) async fn timed_out(&self, reason: &str) -> u64 {
        self.metric(&format!(
            "yearbook_connections_timed_out_total{{listener=\"public\",reason=\"{reason}\"}}"
        ))
        .await
    }

    /// Connections of clients that got no slot.
    pub(super) async fn refused(&self, reason: &str) -> u64 {
        self.metric(&format!(
            "yearbook_connections_refused_total{{listener=\"public\",reason=\"{reason}\"}}"
        ))
        .await
    }

    /// Waits until no more than `most` connections are open.
    pub(super) async fn until_open(&self, most: u64) {
        wait_until(async || self.open().await <= most).await;
    }
}

/// Waits until `holds`.
pub(super) async fn wait_until(holds: impl AsyncFn() -> bool) {
    let waiting = async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, waiting).await.expect("it should hold by now");
}

/// A connection to `server` from `address`.
pub(super) async fn connect_from(address: IpAddr, server: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(SocketAddr::new(address, 0)).unwrap();
    socket.connect(server).await.unwrap()
}

/// A connection with `bytes` sent.
pub(super) async fn sent(server: SocketAddr, bytes: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(server).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    stream
}

/// Everything that comes until the server hangs up, kindly or not.
pub(super) async fn until_closed(stream: &mut TcpStream) -> Vec<u8> {
    let mut all = Vec::new();
    let read = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut all)).await;
    assert!(read.is_ok(), "the connection should be closed; {} bytes came", all.len());
    all
}

/// Status of `GET path`, on a connection that stays open.
pub(super) async fn get(stream: &mut TcpStream, path: &str) -> u16 {
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: t\r\n\r\n").as_bytes()).await.unwrap();
    let read = async {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.unwrap());
        }
        let head = String::from_utf8(head).unwrap().to_ascii_lowercase();
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "))
            .expect("a short answer")
            .parse()
            .unwrap();
        stream.read_exact(&mut vec![0; length]).await.unwrap();
        head.split(' ').nth(1).unwrap().parse().unwrap()
    };
    tokio::time::timeout(PATIENCE, read).await.expect("an answer")
}

/// `GET /health` as a block of header fields: three from the static table, and a path.
pub(super) fn health() -> Vec<u8> {
    [&[0x82, 0x86, 0x41, 1, b't', 0x44, 7][..], b"/health"].concat()
}

/// The next frame; `None` when the server has hung up.
pub(super) async fn read_frame(stream: &mut TcpStream) -> Option<Http2Frame> {
    tokio::time::timeout(PATIENCE, Http2Frame::read(stream))
        .await
        .expect("a frame, or the end")
        .ok()
}

/// The reason of a GOAWAY.
fn reason(goaway: &Http2Frame) -> u32 {
    u32::from_be_bytes(goaway.payload[4..8].try_into().unwrap())
}

/// The reason for which the server ends the connection.
pub(super) async fn goaway(stream: &mut TcpStream) -> u32 {
    loop {
        let frame = read_frame(stream).await.expect("GOAWAY before the end");
        if frame.kind == kind::GOAWAY {
            return reason(&frame);
        }
    }
}
