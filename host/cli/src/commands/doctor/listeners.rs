//! Check of the addresses to listen on: free, or taken by a server of ours.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::TcpListener;

use super::{Finding, Status};
use crate::commands::serve::bind_advice;
use crate::http_client;

/// Longest time for the program that listens there to answer.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Body of `/health` of a yearbook that is alive.
const HEALTHY: &str = r#"{"status":"ok"}"#;

/// Checks the address that `setting` names.
pub(super) async fn check_listener(setting: &str, address: SocketAddr) -> Finding {
    let failed = match TcpListener::bind(address).await {
        Ok(_) => return (Status::Ok, format!("{address} ({setting}) is free")),
        Err(error) => error,
    };
    if failed.kind() == ErrorKind::AddrInUse && is_yearbook(address).await {
        return (Status::Ok, format!("{address} ({setting}): a yearbook answers there"));
    }
    let advice = bind_advice(failed.kind());
    (Status::Fail, format!("{address} ({setting}): {advice} ({failed})"))
}

/// True where `/health` at `address` is answered as we answer it.
async fn is_yearbook(address: SocketAddr) -> bool {
    let url = format!("http://{}", http_client::connect_address(address));
    http_client::get(&url, "/health", TIMEOUT).await.is_ok_and(|body| body == HEALTHY)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    /// Address of a listener that answers every connection with these bytes.
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
