//! `yearbook health`: asks a running server whether it is alive, for containers that have no other
//! program to ask with.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use anyhow::Context as _;
use serde_json::json;

use crate::context::CommandContext;
use crate::http_client;

pub(super) async fn run(context: &CommandContext, url: Option<String>) -> anyhow::Result<()> {
    let server = &context.settings.values.server;
    let url = url.unwrap_or_else(|| {
        format!("http://{}", connect_address(server.admin_listen.unwrap_or(server.listen)))
    });
    http_client::get(&url, "/health")
        .await
        .with_context(|| format!("the server at {url} is not alive"))?;
    context.output.print_result(&json!({ "status": "ok" }), || "ok".to_owned())
}

/// Where this machine reaches who listens at `address`: one that means every address is none to
/// connect to.
fn connect_address(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        any if any.is_unspecified() && any.is_ipv4() => Ipv4Addr::LOCALHOST.into(),
        any if any.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}
