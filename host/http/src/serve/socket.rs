//! Options of sockets. Those of the listener are inherited by every connection, as Linux does it,
//! so that accepting one costs no further system call.

use std::io;
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpListener, TcpStream};

/// Silence after which the kernel asks whether the other end is still there. As long as the idle
/// time that most proxies have: those that are there are rarely asked.
const KEEPALIVE_AFTER: Duration = Duration::from_secs(60);

/// Pause between two such questions.
const KEEPALIVE_EVERY: Duration = Duration::from_secs(15);

/// Questions without an answer after which the connection is gone: after two minutes of silence.
const KEEPALIVE_TRIES: u32 = 4;

/// Bytes that the kernel may hold of a connection before it has sent them. Without a bound it
/// grows to 4 MiB (`tcp_wmem`): 300 clients that read nothing would hold a gibibyte of the kernel's
/// memory, and a client of 50 kB/s would let a writer wait for half a minute between two writes.
#[cfg(target_os = "linux")]
const UNSENT_BYTES: u32 = 256 << 10;

/// Sets what connections inherit from `listener`. What the system does not know is left as it is.
pub(super) fn configure_listener(listener: &TcpListener, write_idle: Duration) {
    if let Err(failure) = set_options(&SockRef::from(listener), write_idle) {
        tracing::debug!(%failure, "options of the listener were not set");
    }
}

#[cfg_attr(not(target_os = "linux"), expect(unused_variables, reason = "an option of Linux"))]
fn set_options(socket: &SockRef<'_>, write_idle: Duration) -> io::Result<()> {
    let keepalive = TcpKeepalive::new()
        .with_time(KEEPALIVE_AFTER)
        .with_interval(KEEPALIVE_EVERY)
        .with_retries(KEEPALIVE_TRIES);
    socket.set_tcp_keepalive(&keepalive)?;
    #[cfg(target_os = "linux")]
    {
        socket.set_tcp_notsent_lowat(UNSENT_BYTES)?;
        // Beyond our own deadline: for what lies in the kernel after we have closed.
        socket.set_tcp_user_timeout(Some(write_idle.saturating_mul(2)))?;
    }
    Ok(())
}

/// Sets what a connection does not inherit everywhere.
pub(super) fn configure_stream(stream: &TcpStream) {
    // Small answers should not wait for company; where it cannot be set they still arrive.
    let _ = stream.set_nodelay(true);
}

/// Has the kernel take as little as it can of what a client goes on sending.
pub(super) fn stop_receiving(stream: &TcpStream) {
    let _ = SockRef::from(stream).set_recv_buffer_size(0);
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[tokio::test]
    async fn connections_inherit_keep_alive_and_bounds_on_what_the_kernel_holds() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        configure_listener(&listener, Duration::from_secs(30));
        let _client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (stream, _) = listener.accept().await.unwrap();
        let socket = SockRef::from(&stream);
        assert!(socket.keepalive().unwrap());
        assert_eq!(socket.tcp_keepalive_time().unwrap(), KEEPALIVE_AFTER);
        assert_eq!(socket.tcp_keepalive_interval().unwrap(), KEEPALIVE_EVERY);
        assert_eq!(socket.tcp_keepalive_retries().unwrap(), KEEPALIVE_TRIES);
        assert_eq!(socket.tcp_notsent_lowat().unwrap(), UNSENT_BYTES);
        assert_eq!(socket.tcp_user_timeout().unwrap(), Some(Duration::from_secs(60)));
    }
}
