//! Connections: accepting, limits of a request's head, deadlines, and stopping without cutting
//! anybody off.

mod activity;
mod connection;
mod connection_slots;
mod deadlines;
mod gathered_body;
mod observed_stream;
mod socket;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use http::Method;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, watch};
use tower::ServiceExt;

use crate::client_address::address_block;
use crate::metrics::{ConnectionMetrics, ConnectionRefusal, OpenConnection};
use crate::open_responses;
use crate::rate_limit::RefusalPace;
use crate::settings::{LimitSettings, ServerSettings};
use activity::{ConnectionActivity, OpenRequest};
use connection_slots::{ConnectionAdmission, ConnectionSlots};
use deadlines::ConnectionTimeouts;
use gathered_body::GatheredBody;
use observed_stream::ObservedStream;

/// Streams of one HTTP/2 connection: what browsers open at once, with room.
const STREAMS: u32 = 128;

/// Header fields of one request: hyper's own bound is as many.
const FIELDS: usize = 100;

/// Bytes that hyper may buffer beyond our own limits, so that ours are reached first and answer in
/// words.
const SLACK_BYTES: usize = 16 << 10;

/// Bytes of request bodies that an HTTP/2 client may send unasked, for a stream and for all of
/// them: the least that the protocol knows, since few routes take a body.
const REQUEST_WINDOW: u32 = 65_535;

/// Streams that a client may open and reset before they are looked at; with one more the connection
/// ends (CVE-2023-44487).
const RESET_STREAMS: usize = 20;

/// Streams that we may reset for a client's mistakes, in the life of a connection, before it ends
/// (CVE-2025-8671). An honest proxy makes few in days.
const MISTAKEN_STREAMS: usize = 1_024;

/// Time to wait when the operating system refuses a connection for lack of files.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(50);

/// Serves `app` on `listener` until `shutdown` is ready, then lets open responses finish for
/// `server.shutdown_ms`. Speaks HTTP/1.1 and HTTP/2 without TLS; every request knows its client's
/// address. Connections are counted for nobody.
///
/// # Errors
/// Fails when the listener has no address; later trouble with single connections is logged.
pub async fn serve(
    listener: TcpListener,
    app: Router,
    settings: &ServerSettings,
    shutdown: impl Future<Output = ()> + Send,
) -> io::Result<()> {
    let pace = Arc::new(RefusalPace::new(LimitSettings::default()));
    accept(listener, app, settings, Arc::default(), pace, shutdown).await
}

/// State that connections of one listener share.
struct Server {
    app: Router,
    builder: Builder<open_responses::TransportExecutor>,
    timeouts: ConnectionTimeouts,
    metrics: Arc<ConnectionMetrics>,
    refusal_pace: Arc<RefusalPace>,
}

/// Accepts connections until `shutdown` is ready. Never waits for a slot: whoever holds them cannot
/// keep others from being heard or refused.
pub async fn accept(
    listener: TcpListener,
    app: Router,
    settings: &ServerSettings,
    metrics: Arc<ConnectionMetrics>,
    refusal_pace: Arc<RefusalPace>,
    shutdown: impl Future<Output = ()> + Send,
) -> io::Result<()> {
    let address = listener.local_addr()?;
    let timeouts = ConnectionTimeouts::new(settings);
    socket::configure_listener(&listener, timeouts.write);
    metrics.set_limit(settings.connections.max(1));
    tracing::debug!(%address, "accepting connections");
    let builder = builder(settings);
    let server = Arc::new(Server { app, builder, timeouts, metrics, refusal_pace });
    let slots = ConnectionSlots::new(settings);
    let (stop, stopped) = watch::channel(());
    tokio::pin!(shutdown);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut shutdown => break,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(failure) => {
                tracing::warn!(%failure, "a connection was not accepted");
                tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
                continue;
            }
        };
        let open = server.metrics.accept();
        match slots.admit(peer.ip()) {
            Ok(admission) => drop(open_responses::spawn_transport(Arc::clone(&server).run(
                stream,
                peer,
                admission,
                open,
                stopped.clone(),
            ))),
            Err(reason) => server.refuse_in_time(stream, peer, reason, slots.late_place()),
        }
    }
    drop((listener, stopped));
    tracing::info!(open = stop.receiver_count(), "stopping; open responses may finish");
    stop.send_replace(());
    if tokio::time::timeout(settings.shutdown(), stop.closed()).await.is_err() {
        tracing::warn!("some responses did not finish in time and are cut off");
    }
    Ok(())
}

impl Server {
    /// Serves one connection, from the moment at which it was accepted.
    async fn run(
        self: Arc<Self>,
        stream: TcpStream,
        peer: SocketAddr,
        admission: ConnectionAdmission,
        _open: OpenConnection,
        mut stop: watch::Receiver<()>,
    ) {
        let activity = ConnectionActivity::new();
        let _slot = tokio::select! {
            biased;
            slot = admission.wait_for_slot() => slot,
            () = tokio::time::sleep(self.timeouts.head) => return self.refuse(&stream, peer, ConnectionRefusal::Full),
            _ = stop.changed() => return,
        };
        let service = service_fn(|request: http::Request<Incoming>| {
            let open = OpenRequest::begin(&activity, request.version());
            // Only forms and queries of the share have a body that is read, each to a bound of its
            // own (contract-10-form, contract-12-routes). What has come of any other is dropped,
            // and no more is read.
            let is_post = request.method() == Method::POST;
            let mut request =
                request.map(|body| if is_post { Body::new(body) } else { Body::empty() });
            request.extensions_mut().insert(ConnectInfo(peer));
            let response = self.app.clone().oneshot(request);
            async move {
                response.await.map(|response| open.until_end_of(response.map(GatheredBody::new)))
            }
        });
        socket::configure_stream(&stream);
        let stream = TokioIo::new(ObservedStream::new(stream, Arc::clone(&activity)));
        let connection = self.builder.serve_connection_with_upgrades(stream, service);
        match connection::drive(connection, &activity, &self.timeouts, &self.metrics, stop).await {
            Some(Ok(())) => {}
            // Clients that go away, and bodies that were cut on purpose.
            Some(Err(failure)) => tracing::debug!(%failure, %peer, "a connection ended early"),
            None => tracing::debug!(%peer, "a connection ran into a deadline"),
        }
    }

    /// Closes a connection that gets no slot: at once, or late where its address collects such
    /// refusals.
    fn refuse_in_time(
        &self,
        stream: TcpStream,
        peer: SocketAddr,
        reason: ConnectionRefusal,
        late: Option<OwnedSemaphorePermit>,
    ) {
        self.refuse(&stream, peer, reason);
        let place = self.refusal_pace.place(address_block(peer.ip()));
        if let (Some(place), Some(late)) = (place, late) {
            socket::stop_receiving(&stream);
            tokio::spawn(async move {
                place.wait().await;
                drop((stream, late));
            });
        }
    }

    /// Has a connection that gets no slot be closed so that nothing of it is left.
    fn refuse(&self, stream: &TcpStream, peer: SocketAddr, reason: ConnectionRefusal) {
        self.metrics.refuse(reason);
        tracing::debug!(%peer, ?reason, "a connection was refused");
        let _ = stream.set_zero_linger();
    }
}

fn builder(settings: &ServerSettings) -> Builder<open_responses::TransportExecutor> {
    let head_bytes = settings.uri_bytes + settings.header_bytes + SLACK_BYTES;
    let mut builder = Builder::new(open_responses::TransportExecutor);
    builder
        .http1()
        .timer(TokioTimer::new())
        // Deadlines are ours: hyper's counts from the end of the response before.
        .header_read_timeout(None)
        .max_headers(FIELDS)
        .max_buf_size(head_bytes);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS)
        .max_pending_accept_reset_streams(RESET_STREAMS)
        .max_local_error_reset_streams(MISTAKEN_STREAMS)
        .initial_stream_window_size(REQUEST_WINDOW)
        .initial_connection_window_size(REQUEST_WINDOW)
        .keep_alive_interval(Duration::from_secs(30))
        .max_header_list_size(u32::try_from(head_bytes).unwrap_or(u32::MAX));
    builder
}
