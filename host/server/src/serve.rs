//! Connections: accepting, limits of a request's head, and stopping without cutting anybody off.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tower::ServiceExt;

use crate::bodies;
use crate::settings::ServerSettings;

/// Streams of one HTTP/2 connection: what browsers open at once, with room.
const STREAMS: u32 = 128;

/// Header fields of one request: hyper's own bound is as many.
const FIELDS: usize = 100;

/// What hyper may buffer beyond our own limits, bytes, so that ours are reached first and answer in words.
const SLACK_BYTES: usize = 16 << 10;

/// How long to wait when the operating system refuses a connection for lack of files.
const PAUSE: Duration = Duration::from_millis(50);

/// Serves `app` on `listener` until `shutdown` is ready, then lets open responses finish for `server.shutdown_ms`.
/// Speaks HTTP/1.1 and HTTP/2 without TLS; every request knows its client's address.
///
/// # Errors
/// When the listener has no address; later trouble with single connections is logged.
pub async fn serve(
    listener: TcpListener,
    app: Router,
    settings: &ServerSettings,
    shutdown: impl Future<Output = ()> + Send,
) -> io::Result<()> {
    let address = listener.local_addr()?;
    tracing::debug!(%address, "accepting connections");
    let builder = Arc::new(builder(settings));
    let graceful = GracefulShutdown::new();
    let room = Arc::new(Semaphore::new(settings.connections.max(1)));
    tokio::pin!(shutdown);
    loop {
        let accepted = async {
            let place = Arc::clone(&room).acquire_owned().await;
            (place, listener.accept().await)
        };
        let (place, accepted) = tokio::select! {
            accepted = accepted => accepted,
            () = &mut shutdown => break,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(failure) => {
                tracing::warn!(%failure, "a connection was not accepted");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        let watcher = graceful.watcher();
        let (builder, app) = (Arc::clone(&builder), app.clone());
        bodies::spawn(async move {
            // Given back when the connection ends.
            let _place = place;
            let service = service_fn(move |mut request: http::Request<Incoming>| {
                request.extensions_mut().insert(ConnectInfo(peer));
                app.clone().oneshot(request.map(Body::new))
            });
            let connection = builder.serve_connection_with_upgrades(prepared(stream), service);
            if let Err(failure) = watcher.watch(connection.into_owned()).await {
                // Clients that go away, and bodies that were cut on purpose.
                tracing::debug!(%failure, %peer, "a connection ended early");
            }
        });
    }
    drop(listener);
    let open = graceful.count();
    tracing::info!(open, "stopping; open responses may finish");
    if tokio::time::timeout(settings.shutdown(), graceful.shutdown()).await.is_err() {
        tracing::warn!("some responses did not finish in time and are cut off");
    }
    Ok(())
}

fn builder(settings: &ServerSettings) -> Builder<bodies::Tasks> {
    let mut builder = Builder::new(bodies::Tasks);
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(settings.header_read())
        .max_headers(FIELDS)
        .max_buf_size(settings.uri_bytes + settings.header_bytes + SLACK_BYTES);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS)
        .keep_alive_interval(Duration::from_secs(30))
        .max_header_list_size(u32::try_from(settings.uri_bytes + settings.header_bytes + SLACK_BYTES).unwrap_or(u32::MAX));
    builder
}

fn prepared(stream: TcpStream) -> TokioIo<TcpStream> {
    // Small answers should not wait for company; where it cannot be set they still arrive.
    let _ = stream.set_nodelay(true);
    TokioIo::new(stream)
}
