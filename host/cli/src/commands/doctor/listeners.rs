//! Whether the addresses to listen on are free, or a server of ours answers there.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use super::{Finding, Status};

/// How long whoever listens there may take to say who it is.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Bytes of an answer that are looked at.
const MAX_RESPONSE_BYTES: u64 = 4 << 10;

/// Looks at the address that `setting` names.
pub(super) async fn check_listener(setting: &str, address: SocketAddr) -> Finding {
    let failed = match TcpListener::bind(address).await {
        Ok(_) => return (Status::Ok, format!("{address} ({setting}) is free")),
        Err(error) => error,
    };
    let wrong = |why: &str| (Status::Fail, format!("{address} ({setting}): {why}"));
    match failed.kind() {
        ErrorKind::AddrInUse => match timeout(TIMEOUT, is_yearbook(address)).await {
            Ok(Ok(true)) => {
                (Status::Ok, format!("{address} ({setting}): a yearbook answers there"))
            }
            _ => wrong(
                "another program listens there, or a yearbook that does not answer; stop it, or choose another port",
            ),
        },
        ErrorKind::PermissionDenied => {
            wrong("this user may not listen there; choose a port from 1024 on")
        }
        ErrorKind::AddrNotAvailable => {
            wrong("this machine does not have that address; choose another")
        }
        _ => wrong(&format!("{failed}; choose another address")),
    }
}

/// Whether `/health` is answered as we answer it.
async fn is_yearbook(address: SocketAddr) -> std::io::Result<bool> {
    // Who listens everywhere is reached at home.
    let host = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    let mut stream = TcpStream::connect((host, address.port())).await?;
    stream
        .write_all(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        .await?;
    let mut answer = Vec::new();
    stream.take(MAX_RESPONSE_BYTES).read_to_end(&mut answer).await?;
    let answer = String::from_utf8_lossy(&answer);
    Ok(answer.starts_with("HTTP/1.1 200") && answer.ends_with(r#"{"status":"ok"}"#))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    /// Somebody who answers every connection with these bytes.
    async fn spawn_responder(answer: &'static str) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let _ = stream.read(&mut [0; 1024]).await;
                let _ = stream.write_all(answer.as_bytes()).await;
            }
        });
        address
    }

    #[tokio::test]
    async fn an_address_is_free_or_ours_or_somebody_elses() {
        let check = async |address: SocketAddr, status, words: &str| {
            let found = check_listener("server.listen", address).await;
            assert!(
                found.0 == status && found.1.contains(words) && found.1.contains("server.listen"),
                "{found:?}"
            );
        };
        check("127.0.0.1:0".parse().unwrap(), Status::Ok, "is free").await;
        let ours = "HTTP/1.1 200 OK\r\ncontent-length: 15\r\n\r\n{\"status\":\"ok\"}";
        check(spawn_responder(ours).await, Status::Ok, "a yearbook answers").await;
        check(
            spawn_responder("220 mail.example.org ESMTP\r\n").await,
            Status::Fail,
            "choose another port",
        )
        .await;
        check("192.0.2.1:8080".parse().unwrap(), Status::Fail, "does not have that address").await;
    }
}
