//! A real server on a socket with the attacks installed, one client that calls them up, and what
//! came of each.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use yearbook_domain::Plan;
use yearbook_sandbox::{Limits, PluginSet};
use yearbook_tests::app::{PLUGINS, TestApp, big, harvest, parks, unbounded};

use crate::list::{AttackCase, ExpectedEnd, limits};
use crate::log::CapturedLog;
use crate::wire;

/// Threads that panicked since the process began.
static PANICS: AtomicUsize = AtomicUsize::new(0);

/// A service under attack.
pub(crate) struct AttackArena {
    pub(crate) app: TestApp,
    pub(crate) address: SocketAddr,
    pub(crate) key: String,
    log: &'static CapturedLog,
    stop: oneshot::Sender<()>,
    server: tokio::task::JoinHandle<()>,
}

/// Result of an attack.
#[derive(Debug, PartialEq)]
pub(crate) struct AttackResult {
    pub(crate) ends: ExpectedEnd,
    pub(crate) said: Vec<String>,
}

impl AttackArena {
    /// Starts the service with the limits of the list and nothing kept in memory.
    pub(crate) async fn open() -> Self {
        let log = CapturedLog::start();
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            PANICS.fetch_add(1, Ordering::Relaxed);
            before(panic);
        }));
        let mut settings = unbounded();
        settings.server.response_cache_bytes = 0;
        // An attack is to reach the sandbox each time.
        settings.server.failed_input_ms = 0;
        let app = TestApp::with_limits(settings.clone(), sandbox_limits()).await;
        app.publish(&parks()).await;
        app.publish(&harvest()).await;
        app.publish(&big(90_000)).await;
        let key = app.key(Plan::Enterprise).await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (router, (stop, stopped)) = (app.router.clone(), oneshot::channel());
        let server = tokio::spawn(async move {
            let stopped = async move { drop(stopped.await) };
            yearbook_server::serve(listener, router, &settings.server, stopped).await.unwrap();
        });
        Self { app, address, key, log, stop, server }
    }

    /// Stops the server, and waits until it has.
    pub(crate) async fn close(self) {
        let _ = self.stop.send(());
        self.server.await.unwrap();
    }

    /// Loads the attack's guest, asks it for something, and reads answer and log. All instances are
    /// free afterwards.
    pub(crate) async fn run(&self, attack: &AttackCase) -> AttackResult {
        let start = self.log.end();
        let seen = match self.load(attack) {
            Err(reason) => {
                AttackResult { ends: ExpectedEnd::Rejected(reason), said: self.log.since(start) }
            }
            Ok(()) => self.ask(attack, start).await,
        };
        self.wait_until_freed(&attack.name).await;
        seen
    }

    fn load(&self, attack: &AttackCase) -> Result<(), String> {
        let plugin =
            self.app.sandbox.load(&attack.component()).map_err(|rejected| rejected.to_string())?;
        self.app.registry.add(&plugin).map_err(|rejected| rejected.to_string())
    }

    async fn ask(&self, attack: &AttackCase, start: usize) -> AttackResult {
        let name = &attack.name;
        let path = match (attack.tool, attack.many) {
            (true, _) => format!("/v1/integrations/{name}?datasets=parks"),
            (false, false) => format!("/v1/datasets/parks/data?format={name}"),
            (false, true) => format!("/v1/datasets/big/data?limit=0&format={name}"),
        };
        let answer = wire::get(self.address, &path, &self.key).await;
        let text = answer.text();
        match answer.status {
            200 if answer.whole => {
                let ends = if text.len() > 100 {
                    ExpectedEnd::Long(text.len())
                } else {
                    ExpectedEnd::Whole(text)
                };
                if !attack.tool {
                    assert!(
                        answer.head.contains("content-disposition: attachment; "),
                        "{name}: {}",
                        answer.head
                    );
                }
                AttackResult { ends, said: self.log.since(start) }
            }
            200 | wire::NOTHING => {
                // What was on its way when the connection was dropped may be lost.
                assert!(
                    (text.is_empty() || text.starts_with("head ")) && !text.contains("tail"),
                    "{name}: {text}"
                );
                let mut said = self.lines(start, 2).await;
                let reason =
                    reason(&mut said, "ERROR a response was cut off after its first byte; ", name);
                let dropped = "ERROR the connection is dropped; cut: the response was cut off: the response was cut off";
                assert!(said.iter().any(|line| line == dropped), "{name}: {said:?}");
                said.retain(|line| line != dropped);
                AttackResult { ends: ExpectedEnd::Cut(reason), said }
            }
            422 => {
                let place = if attack.tool { "datasets" } else { "format" };
                let problem = answer.problem();
                let sentence = problem["detail"][0]["msg"]
                    .as_str()
                    .unwrap()
                    .replace(&format!("Value error, {name}: "), "");
                let (msg, input) =
                    (&problem["detail"][0]["msg"], if attack.tool { "parks" } else { name });
                let expected = json!({"loc": ["query", place], "msg": msg, "type": "value_error", "input": input, "ctx": {"error": {}}});
                assert_eq!(problem, json!({"detail": [expected]}), "{name}");
                AttackResult { ends: ExpectedEnd::Declined(sentence), said: self.log.since(start) }
            }
            500 => {
                assert_eq!(answer.problem(), broken(), "{name}");
                let doing = if attack.tool {
                    "ERROR cannot generate files; "
                } else {
                    "ERROR cannot encode a response; "
                };
                let mut said = self.lines(start, 1).await;
                let reason = reason(&mut said, doing, name);
                AttackResult { ends: ExpectedEnd::Broken(reason), said }
            }
            status => panic!("{name}: {status} {text}"),
        }
    }

    /// Returns the log since `start`, once there are so many errors.
    async fn lines(&self, start: usize, errors: usize) -> Vec<String> {
        for _ in 0..500 {
            let lines = self.log.since(start);
            if lines.iter().filter(|line| line.starts_with("ERROR")).count() >= errors {
                return lines;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{errors} errors should be in the log: {:?}", self.log.since(start));
    }

    /// Waits until no response holds an instance.
    pub(crate) async fn wait_until_freed(&self, name: &str) {
        for _ in 0..1000 {
            if self.app.free_instances() == limits::INSTANCES as usize {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        panic!("{name} keeps an instance");
    }

    /// Takes every plugin away that attacks.
    pub(crate) fn clear(&self) {
        let current = self.app.registry.current();
        let plugins: Vec<_> = current
            .encoders()
            .cloned()
            .map(yearbook_sandbox::Plugin::Encoder)
            .chain(current.generators().cloned().map(yearbook_sandbox::Plugin::Generator))
            .chain(current.transforms().cloned().map(yearbook_sandbox::Plugin::Transform))
            .filter(|plugin| PLUGINS.contains(&plugin.name()))
            .collect();
        self.app.registry.replace(PluginSet::new(&plugins, []));
    }

    /// The log as an operator's terminal gets it.
    pub(crate) fn terminal(&self) -> String {
        self.log.text()
    }
}

/// Threads that panicked so far.
pub(crate) fn panics() -> usize {
    PANICS.load(Ordering::Relaxed)
}

/// The limits of the list; everything else as shipped.
pub(crate) fn sandbox_limits() -> Limits {
    Limits {
        cpu_ms_per_call: limits::CPU_MS,
        memory_bytes: limits::MEMORY,
        output_bytes_per_call: limits::OUTPUT,
        note_bytes: limits::NOTES,
        instances: limits::INSTANCES,
        component_bytes: limits::COMPONENT,
        ..Limits::default()
    }
}

/// Returns the document of a failure of the service.
fn broken() -> serde_json::Value {
    let detail =
        "Something went wrong on our side; if trying again does not help, report request id ID.";
    json!({
        "type": "about:blank", "title": "Internal Server Error", "status": 500, "detail": detail, "code": "internal", "request_id": "ID",
    })
}

/// Takes the line of the failure out of `lines`; what it says of the plugin.
fn reason(lines: &mut Vec<String>, prefix: &str, plugin: &str) -> String {
    let at = lines
        .iter()
        .position(|line| line.starts_with(prefix))
        .unwrap_or_else(|| panic!("{plugin}: {lines:?}"));
    let line = lines.remove(at);
    // Fields stand in the order of their names.
    let (_, after) = line.split_once("failure: ").or_else(|| line.split_once("error: ")).unwrap();
    let after = after.split_once("; plugin: ").map_or(after, |(reason, _)| reason);
    let after = after.strip_prefix(&format!("plugin {plugin}")).unwrap_or(after);
    after.trim_start_matches(": ").trim_start_matches(" returned ").trim_start().to_owned()
}
