//! The real binary on tables that are worth an attack: one that fills buffers, one with huge cells,
//! one with many columns, one of a million points. Owns the process, its data and what it holds.

use std::fmt::Write as _;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use yearbook_tests::app::{big, harvest, parks};
use yearbook_tests::fuzz::FuzzRng;
use yearbook_tests::process::{self, ChildProcess, free_port};

use crate::polite;

/// Rows of the large table: its file is larger than what sockets buffer.
const ROWS: usize = 400_000;

/// Bytes of a huge cell; ten of them are in the first rows.
const CELL: usize = 4 << 20;

/// Columns of the wide table.
const COLUMNS: usize = 500;

/// Points of the table of places, and those of one row.
const POINTS: usize = 1_000_000;
const POINTS_OF_ROW: usize = 100;

/// Longest time for the server to answer.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Data that every server of a run serves.
struct Data {
    binary: PathBuf,
    folder: PathBuf,
    variables: Vec<(String, String)>,
    polite: Vec<String>,
    hostile: [String; 2],
}

/// A running server.
pub(crate) struct AttackedServer {
    process: ChildProcess,
    pub(crate) address: SocketAddr,
    /// Keys that nobody attacks with.
    pub(crate) polite: Vec<String>,
    /// The keys of who attacks, which are allowed everything.
    pub(crate) hostile: [String; 2],
}

impl Data {
    /// Publishes it and makes keys, the first time that it is asked for.
    fn published(binary: PathBuf) -> &'static Self {
        static DATA: OnceLock<Data> = OnceLock::new();
        DATA.get_or_init(|| Self::new(binary))
    }

    fn new(binary: PathBuf) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hostile");
        let _ = fs::remove_dir_all(folder.join("data"));
        let mut variables = process::cache(&folder).to_vec();
        let ours = [
            ("YEARBOOK_DATA_DIR", folder.join("data").display().to_string()),
            // Every answer is made by a guest.
            ("YEARBOOK_SERVER__RESPONSE_CACHE_BYTES", "0".to_owned()),
        ];
        variables.extend(ours.map(|(name, value)| (name.to_owned(), value)));
        let run = |arguments: &[&str]| -> Vec<u8> {
            let output =
                process::yearbook(&binary, &folder, &variables).args(arguments).output().unwrap();
            assert!(output.status.success(), "{arguments:?}: {output:?}");
            output.stdout
        };
        let sources = TempDir::new().unwrap();
        let packages = packages(sources.path());
        let packages: Vec<&str> = packages.iter().map(|path| path.to_str().unwrap()).collect();
        run(&[&["publish"], packages.as_slice()].concat());
        let key = |plan: &str| {
            let said: Value =
                serde_json::from_slice(&run(&["keys", "create", "--plan", plan, "--json"]))
                    .unwrap();
            said["key"].as_str().unwrap().to_owned()
        };
        let polite = (0..polite::CLIENTS).map(|_| key("enterprise")).collect();
        let hostile = [key("pro"), key("pro")];
        Self { binary, folder, variables, polite, hostile }
    }
}

impl AttackedServer {
    /// Starts one. None where there is no binary and none is required.
    pub(crate) async fn start() -> Option<Self> {
        Self::start_with(&[]).await
    }

    /// Starts one with more variables.
    pub(crate) async fn start_with(more: &[(&str, &str)]) -> Option<Self> {
        let data = Data::published(process::binary()?);
        let address = SocketAddr::from(([127, 0, 0, 1], free_port()));
        let log = fs::File::create(data.folder.join("server.log")).unwrap();
        let mut serve = process::yearbook(&data.binary, &data.folder, &data.variables);
        serve
            .args(["serve", "--listen", &address.to_string()])
            .envs(more.iter().copied())
            .stdout(log.try_clone().unwrap())
            .stderr(log);
        let process = ChildProcess::start(&mut serve);
        let server =
            Self { process, address, polite: data.polite.clone(), hostile: data.hostile.clone() };
        server.is_ready().await;
        Some(server)
    }

    async fn is_ready(&self) {
        let (began, client, address) =
            (Instant::now(), polite::client(0), format!("http://{}/health/full", self.address));
        while !client.get(&address).send().await.is_ok_and(|answer| answer.status() == 200) {
            assert!(began.elapsed() < TIMEOUT, "the server does not answer");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Mebibytes resident.
    pub(crate) fn memory(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap();
        let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        resident.trim().trim_end_matches(" kB").parse::<u64>().unwrap() >> 10
    }

    /// Returns true if it ended by itself.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.process.has_ended()
    }
}

/// Texts of the mails that sign-up has in its outbox. None where there is no binary and none is
/// required.
pub(crate) fn waiting_mails() -> Option<Vec<String>> {
    let data = Data::published(process::binary()?);
    let mut outbox = process::yearbook(&data.binary, &data.folder, &data.variables);
    let output = outbox.args(["signup", "outbox", "--json"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let mails: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    Some(mails.iter().map(|mail| mail["text"].as_str().unwrap().to_owned()).collect())
}

/// Name of a column of the wide table.
pub(crate) fn column(number: usize) -> String {
    format!("a_rather_long_name_of_a_column_{number:04}")
}

/// Writes the tables below `folder`; their descriptors.
fn packages(folder: &Path) -> Vec<PathBuf> {
    let of = |name: &str| {
        let place = folder.join(name);
        fs::create_dir(&place).unwrap();
        place
    };
    // Numbers compress badly, so that the file is as large as it looks.
    let (mut large, mut random) = ("date,series,value\n".to_owned(), FuzzRng::from_seed(1));
    for row in 0..ROWS {
        let (day, series) = (row / 100, row % 100);
        let (year, month, day) = (1900 + day / 336, day / 28 % 12 + 1, day % 28 + 1);
        let _ =
            writeln!(large, "{year}-{month:02}-{day:02},series {series:02},{}", random.any() >> 1);
    }
    let mut cells = "park,area,geometry_wkt\n".to_owned();
    for row in 0..10 {
        let _ =
            writeln!(cells, "{},{row},\"MULTIPOINT ((174.{row} -36.8))\"", "n".repeat(CELL + row));
    }
    let (mut wide, mut header, mut row) = (
        harvest().with("/name", json!("wide")),
        "date,region,value,final".to_owned(),
        String::new(),
    );
    for column in 0..COLUMNS {
        let name = self::column(column);
        header = format!("{header},{name}");
        row += ",true";
        wide = wide.with_field(&name, "boolean");
    }
    let mut rows = format!("{header}\n");
    for number in 0..5_000 {
        let _ = writeln!(rows, "2020-01-01,{number},1.5,true{row}");
    }
    let mut points = "park,area,geometry_wkt\n".to_owned();
    for row in 0..POINTS / POINTS_OF_ROW {
        let place = |point: usize| {
            // Over the whole world, no two alike.
            let number = row * POINTS_OF_ROW + point;
            let (longitude, latitude) = (number % 359, number % 179);
            format!("({}.{number:07} {}.{number:07})", longitude as i64 - 179, latitude as i64 - 89)
        };
        let places: Vec<String> = (0..POINTS_OF_ROW).map(place).collect();
        let _ = writeln!(points, "park {row},{row},\"MULTIPOINT ({})\"", places.join(", "));
    }
    vec![
        big(1).with("/name", json!("large")).with_rows(&large).write(&of("large")),
        parks().with("/name", json!("cells")).with_rows(&cells).write(&of("cells")),
        parks().with("/name", json!("points")).with_rows(&points).write(&of("points")),
        wide.with_rows(&rows).write(&of("wide")),
        harvest().write(&of("harvest")),
    ]
}
