//! `yearbook serve`: puts the server together and runs it until SIGINT or SIGTERM
//! (contract-6-fresh). A fresh data directory needs no step before it.

pub(super) mod presence;
mod signals;

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::{Arc, Weak};
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use serde_json::json;
use tokio::net::{TcpListener, TcpSocket};
use yearbook_catalog::{Catalog, CatalogCache, KeyUses, KeyVerifier, Quota};
use yearbook_domain::WaitingFiles;
use yearbook_history::History;
use yearbook_iceberg::IcebergWriter;
use yearbook_publish::finish_releases;
use yearbook_scan::Reader;
use yearbook_server::{AppState, ServerSettings, ServiceSettings, Services};
use yearbook_storage::{MadeFiles, ObjectStorage};

use self::presence::Presence;
use super::{signup, webhooks};
use crate::builtin;
use crate::context::CommandContext;
use crate::descriptors;
use crate::memory_return::MemoryReturn;
use crate::plugin_runtime::{self, PluginRuntime};
use crate::settings::LogFormat;

pub(super) use signals::stop_signal;

/// Time after which a server has started, with what it makes ready behind its first answers.
const STARTING: Duration = Duration::from_secs(5);

pub(super) async fn run(context: &CommandContext) -> anyhow::Result<()> {
    // Registered first: a signal that comes while plugins are compiled must not be lost.
    let stop = stop_signal()?;
    // A port that is taken is reported before a second of compiling.
    let settings = bounded_by_descriptors(context);
    let (listener, address) = listen(settings.listen, "--listen").await?;
    signup::check(context, address)?;
    let admin = match settings.admin_listen {
        Some(address) => Some(listen(address, "--admin-listen").await?),
        None => None,
    };

    // What starting frees would stay as long as the host is idle: nobody frees anything then, which
    // is when the allocator gives back.
    (context.set_memory_return)(MemoryReturn::AtOnce);
    let RunningServer { state, plugins, store, meter, uses, presence } =
        start(context, settings, address).await?;
    // Search and what pages need are made ready behind the first answers.
    let set_memory_return = context.set_memory_return;
    tokio::spawn(async move {
        tokio::time::sleep(STARTING).await;
        set_memory_return(MemoryReturn::Soon);
    });

    announce(context, address, admin.as_ref().map(|(_, address)| *address))?;
    // Longer than the public listener, so that metrics can be read while it stops.
    let admin_server = admin
        .map(|(listener, _)| tokio::spawn(yearbook_server::serve_admin(listener, state.clone())));
    yearbook_server::serve_public(listener, state, stop).await.context("the server stopped")?;
    if let Some(admin_server) = admin_server {
        admin_server.abort();
    }
    // Releases are followed until the last response has ended.
    drop(plugins);
    meter.shutdown().await.context("the requests of the last second could not be counted")?;
    if let Err(failure) = uses.flush().await {
        tracing::warn!(%failure, "the last use of some keys is not known");
    }
    presence.end().await;
    store.close().await;
    tracing::info!("stopped");
    Ok(())
}

/// Server that is put together, with what it holds while it serves.
pub(super) struct RunningServer {
    pub(super) state: AppState,
    pub(super) plugins: PluginRuntime,
    store: Arc<Catalog>,
    meter: Arc<Quota>,
    uses: Arc<KeyUses>,
    presence: Presence,
}

/// Puts a server together that will listen at `address`.
pub(super) async fn start(
    context: &CommandContext,
    settings: ServerSettings,
    address: SocketAddr,
) -> anyhow::Result<RunningServer> {
    let store = context.serving_catalog().await?;
    let made = MadeFiles::new(context.settings.values.retention.cache_bytes);
    let waiting = WaitingFiles::default();
    let files = context.files()?.with_made_files(made.clone()).with_waiting_files(waiting.clone());
    let workers = context.workers();
    let plugins =
        plugin_runtime::start_runtime(context, &store, &files, Arc::clone(&workers)).await?;
    let live = CatalogCache::start(Arc::clone(&store), CatalogCache::POLL_INTERVAL)
        .await
        .context("the catalog cannot be read")?;
    live.follow_waiting_files(waiting);
    if let Some(iceberg) = context.iceberg_writer(&store, &files, &workers)? {
        let followed = (Arc::downgrade(&live), Arc::clone(&store), files.clone());
        tokio::spawn(describe_releases(followed, iceberg));
    }
    plugins.follow(&live).await;
    let meter = Quota::new(Arc::clone(&store));
    let base = signup::base_url(context, address);
    let signup = signup::start(context, &store, &base).await?;
    let webhooks = webhooks::start(context, &store, &base).await?;
    let keys = KeyVerifier::new(
        Arc::clone(&store),
        Arc::clone(&live),
        &context.settings.values.database.bounds,
        context.settings.values.plans,
    );
    let uses = keys.uses();
    let presence = Presence::start(&store, &live, address)?;
    let state = AppState::new(Services {
        keys,
        catalog_cache: live,
        catalog: Arc::clone(&store),
        quota: Arc::clone(&meter),
        reader: Reader::new(files.clone(), Arc::clone(&workers))
            .with_selection_budget(context.settings.values.limits.selection_bytes)
            .with_column_cache(context.settings.values.server.column_cache_bytes),
        past_files: Arc::new(History::new(
            Arc::clone(&store),
            files.clone(),
            Arc::clone(&workers),
            made,
        )),
        storage: files,
        plugins: Arc::clone(&plugins.registry),
        sandbox: Arc::clone(&plugins.sandbox),
        releases: plugins.guard.clone(),
        workers,
        required_formats: builtin::FORMATS.map(str::to_owned).to_vec(),
        signup,
        webhooks,
        settings: ServiceSettings { server: settings, ..context.settings.values.http_settings() },
    })
    .await
    .context("the server cannot start")?;
    Ok(RunningServer { state, plugins, store, meter, uses, presence })
}

/// Interval at which hosts look for released tables that readers of Iceberg do not know.
const DESCRIBE_INTERVAL: Duration = Duration::from_secs(15);

/// Describes released versions for readers of Iceberg, whose files move for it, as long as the
/// server runs. Another host may be faster, and a host that may not write leaves it to `gc`.
async fn describe_releases(
    (live, catalog, files): (Weak<CatalogCache>, Arc<Catalog>, ObjectStorage),
    iceberg: IcebergWriter,
) {
    loop {
        tokio::time::sleep(DESCRIBE_INTERVAL).await;
        if live.upgrade().is_none() {
            return;
        }
        let finished = finish_releases(&catalog, &files, Some(&iceberg));
        if let Err(failure) = Box::pin(finished).await {
            tracing::warn!(%failure, "released tables are not described for readers of Iceberg yet");
        }
    }
}

/// Settings of the server with the connections that its descriptors leave, once it has as many of
/// these as the system gives.
fn bounded_by_descriptors(context: &CommandContext) -> ServerSettings {
    let values = &context.settings.values;
    let most = descriptors::raise_limit();
    let Some(fitted) = descriptors::fit_connections(values, most) else {
        return values.server.clone();
    };
    tracing::warn!(
        descriptors = most,
        needed = descriptors::needed(values),
        connections = fitted.connections,
        connections_per_address = fitted.connections_per_address,
        "this process may open fewer files than server.connections needs, so it serves fewer connections; raise the hard limit (LimitNOFILE, ulimit -Hn)"
    );
    fitted
}

/// Says where the server listens: people and scripts wait for this line.
fn announce(
    context: &CommandContext,
    address: SocketAddr,
    admin: Option<SocketAddr>,
) -> anyhow::Result<()> {
    let url = |address: SocketAddr| format!("http://{address}");
    let (url, admin) = (url(address), admin.map(url));
    let lines = [format!("listening on {url}")]
        .into_iter()
        .chain(admin.as_ref().map(|admin| format!("metrics on {admin}/metrics")));
    for line in lines {
        match context.settings.values.log.format {
            LogFormat::Text => eprintln!("{line}"),
            // Every line of a JSON log is JSON.
            LogFormat::Json => tracing::info!("{line}"),
        }
    }
    if context.output.json {
        context.output.print_result(&json!({ "listening": url, "admin": admin }), String::new)?;
    }
    Ok(())
}

/// Connections that the kernel keeps until they are accepted, where `net.core.somaxconn` allows as
/// many. A client that finds no room waits a second before it tries again.
const BACKLOG: u32 = 4_096;

fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // A server that was just stopped has left connections behind.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Listens at `address`, which `flag` sets, and says where that is.
pub(super) async fn listen(
    address: SocketAddr,
    flag: &str,
) -> anyhow::Result<(TcpListener, SocketAddr)> {
    let listener = bind(address).map_err(|error| {
        let advice = bind_advice(error.kind());
        anyhow!("{advice} with {flag} ({error})").context(format!("cannot listen on {address}"))
    })?;
    let address = listener.local_addr().context("the listening address is unknown")?;
    Ok((listener, address))
}

/// Cause and way out where an address cannot be listened on.
pub(super) fn bind_advice(failure: ErrorKind) -> &'static str {
    match failure {
        ErrorKind::AddrInUse => "another program listens there; stop it, or choose another port",
        ErrorKind::PermissionDenied => "this user may not listen there; choose a port from 1024 on",
        ErrorKind::AddrNotAvailable => "this machine does not have that address; choose another",
        _ => "choose another address",
    }
}
