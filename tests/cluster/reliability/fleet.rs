//! Three `yearbook serve`, the real binary, on one PostgreSQL and one S3 server, behind nginx with
//! the configuration that is shipped.

use std::fs::File;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;
use yearbook_tests::app::{PostgresProxy, S3Server, postgres};
use yearbook_tests::process::{self, ChildProcess, free_port};

use crate::data::{PublishedVersions, VersionPublisher};
use crate::load::{self, FleetLoad};
use crate::{compiled_plugins, nginx};

const HOSTS: usize = 3;

/// Longest time for a process to answer.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// Everything.
pub(crate) struct Fleet {
    pub(crate) hosts: Vec<FleetHost>,
    _nginx: ChildProcess,
    /// Address of nginx.
    pub(crate) base: String,
    /// The store.
    pub(crate) s3: S3Server,
    /// The line of all hosts to the database.
    pub(crate) line: PostgresProxy,
    pub(crate) versions: Arc<PublishedVersions>,
    /// The publisher, with connections of its own.
    pub(crate) publisher: VersionPublisher,
    /// A key without a quota.
    pub(crate) key: String,
    setting: HostSettings,
}

/// Settings with which a process is started.
#[derive(Clone)]
struct HostSettings {
    binary: PathBuf,
    variables: Vec<(String, String)>,
    folder: Arc<TempDir>,
}

/// One host.
pub(crate) struct FleetHost {
    number: usize,
    port: u16,
    process: Option<ChildProcess>,
    setting: HostSettings,
}

impl Fleet {
    /// Starts all of it with one version published. None where something is missing that is not
    /// required.
    pub(crate) async fn start() -> Option<Self> {
        let database = postgres()?;
        let binary = process::binary()?;
        nginx::is_available()?;
        let (line, s3) = (PostgresProxy::to(&database).await, S3Server::start().await);
        let mut variables = s3.variables();
        variables.extend(process::cache(&compiled_plugins()));
        let ours = [
            ("YEARBOOK_DATABASE_URL", line.url.clone()),
            ("YEARBOOK_STORAGE_URL", s3.url.clone()),
            ("YEARBOOK_LIMITS__BURST_PER_SECOND", "0".to_owned()),
            ("YEARBOOK_SANDBOX__THREADS", "2".to_owned()),
        ];
        variables.extend(ours.map(|(name, value)| (name.to_owned(), value)));
        let setting = HostSettings { binary, variables, folder: Arc::new(TempDir::new().unwrap()) };
        let versions = Arc::new(PublishedVersions::default());
        let mut publisher =
            VersionPublisher::open(&database, &s3.url, &s3.variables(), Arc::clone(&versions))
                .await;
        publisher.publish().await.unwrap();
        let mut hosts: Vec<FleetHost> =
            (0..HOSTS).map(|number| FleetHost::new(number, setting.clone())).collect();
        for host in &mut hosts {
            host.start();
            host.healthy().await;
        }
        let ports: Vec<u16> = hosts.iter().map(|host| host.port).collect();
        let (nginx, base) = nginx::start_proxy(setting.folder.path(), &ports);
        let mut fleet = Self {
            hosts,
            _nginx: nginx,
            base,
            s3,
            line,
            versions,
            publisher,
            key: String::new(),
            setting,
        };
        fleet.key = fleet.create_key("enterprise").0;
        fleet.wait_for_response().await;
        Some(fleet)
    }

    /// Runs a command of the binary on the fleet's catalog and store.
    pub(crate) fn command(&self, arguments: &[&str]) -> Output {
        let mut command = self.setting.command();
        command
            .args(arguments)
            .arg("--json")
            .arg("--data-dir")
            .arg(self.setting.folder.path().join("operator"));
        command.output().unwrap()
    }

    /// A new key of `plan`, and its id.
    pub(crate) fn create_key(&self, plan: &str) -> (String, String) {
        let output = self.command(&["keys", "create", "--plan", plan]);
        let said: Value =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
        let text = |name: &str| said[name].as_str().unwrap().to_owned();
        (text("key"), text("id"))
    }

    /// Clients at work.
    pub(crate) fn load(&self) -> FleetLoad {
        FleetLoad::start(&self.base, &self.key, &self.versions)
    }

    /// Addresses of the hosts themselves.
    pub(crate) fn addresses(&self) -> Vec<String> {
        self.hosts.iter().map(FleetHost::base).collect()
    }

    /// Waits until every host serves the newest version to the key; how long that took.
    pub(crate) async fn wait_for_response(&self) -> Duration {
        let began = Instant::now();
        let client = load::client();
        for base in self.addresses().iter().chain([&self.base]) {
            loop {
                let asked = crate::data::FleetRequest::Few;
                let outcome = load::ask(&client, base, &self.key, asked, &self.versions).await;
                if outcome.ended == load::RequestResult::Right(self.versions.newest()) {
                    break;
                }
                assert!(began.elapsed() < START_TIMEOUT, "{base}: {outcome:?}");
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
        began.elapsed()
    }
}

impl HostSettings {
    fn command(&self) -> Command {
        process::yearbook(&self.binary, self.folder.path(), &self.variables)
    }
}

impl FleetHost {
    fn new(number: usize, setting: HostSettings) -> Self {
        Self { number, port: free_port(), process: None, setting }
    }

    /// Its address.
    pub(crate) fn base(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Starts it, where it was before.
    pub(crate) fn start(&mut self) {
        let folder = self.setting.folder.path();
        let log = File::options()
            .create(true)
            .append(true)
            .open(folder.join(format!("host-{}.log", self.number)))
            .unwrap();
        let mut serve = self.setting.command();
        serve.arg("serve").arg("--listen").arg(format!("127.0.0.1:{}", self.port));
        serve
            .arg("--data-dir")
            .arg(folder.join(format!("host-{}", self.number)))
            .stdout(log.try_clone().unwrap())
            .stderr(log);
        self.process = Some(ChildProcess::start(&mut serve));
    }

    /// SIGKILL.
    pub(crate) fn kill(&mut self) {
        self.process = None;
    }

    /// Waits until it answers; how long that took.
    pub(crate) async fn healthy(&mut self) -> Duration {
        let began = Instant::now();
        let client = load::client();
        while !client
            .get(format!("{}/health", self.base()))
            .send()
            .await
            .is_ok_and(|response| response.status() == 200)
        {
            let ended = self.process.as_mut().is_none_or(ChildProcess::has_ended);
            assert!(
                !ended && began.elapsed() < START_TIMEOUT,
                "host {} does not start: {}",
                self.number,
                self.log()
            );
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        began.elapsed()
    }

    /// Returns its log.
    fn log(&self) -> String {
        std::fs::read_to_string(
            self.setting.folder.path().join(format!("host-{}.log", self.number)),
        )
        .unwrap_or_default()
    }
}
