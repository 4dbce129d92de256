//! nginx: with the configuration that is shipped in front of hosts, or as the end of TLS in front
//! of a store.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use yearbook_prerequisites::Prerequisite;
use yearbook_tests::components::root;
use yearbook_tests::process::{ChildProcess, free_port};

/// None where it cannot be run and is not required.
pub(crate) fn is_available() -> Option<()> {
    let version = Command::new("nginx").arg("-v").output();
    Prerequisite::Nginx.or_skip(version.ok().map(drop), "there is no nginx")
}

/// With the shipped configuration, for hosts at these ports; and its address. Writes into `folder`.
pub(crate) fn start_proxy(folder: &Path, hosts: &[u16]) -> (ChildProcess, String) {
    let mut shipped = std::fs::read_to_string(root().join("deploy/nginx/yearbook.conf")).unwrap();
    let port = free_port();
    let mut replace = |from: &str, to: String| {
        assert_eq!(shipped.matches(from).count(), 1, "{from} in the shipped configuration");
        shipped = shipped.replace(from, &to);
    };
    replace("listen 80;", format!("listen 127.0.0.1:{port};"));
    for log in ["access.log", "error.log"] {
        replace(&format!("/var/log/nginx/{log}"), log.to_owned());
    }
    for (number, host) in hosts.iter().enumerate() {
        replace(&format!("10.0.0.1{}:8080", number + 1), format!("127.0.0.1:{host}"));
    }
    (run(folder, &shipped), format!("http://127.0.0.1:{port}"))
}

/// TLS with `localhost`'s certificate and key, in front of `endpoint`; and its address. Writes into
/// `folder`.
pub(crate) fn tls(
    folder: &Path,
    certificate: &Path,
    key: &Path,
    endpoint: &str,
) -> (ChildProcess, String) {
    let port = free_port();
    let (certificate, key) = (certificate.display(), key.display());
    // The signature of a request covers the name that the client used.
    let server = format!(
        "server {{ listen 127.0.0.1:{port} ssl; ssl_certificate {certificate}; ssl_certificate_key {key};\n\
         location / {{ proxy_pass {endpoint}; proxy_set_header Host $http_host; proxy_http_version 1.1; client_max_body_size 0; }} }}\n"
    );
    (run(folder, &server), format!("https://localhost:{port}"))
}

/// `http` is what stands in the block of that name.
fn run(folder: &Path, http: &str) -> ChildProcess {
    let place = folder.join("nginx");
    std::fs::create_dir(&place).unwrap();
    std::fs::write(place.join("http.conf"), http).unwrap();
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|name| format!("{name}_temp_path temp-{name};\n"))
        .concat();
    // Root would hand over to a user that may not read the folder.
    let user = if rustix::process::geteuid().is_root() { "user root;\n" } else { "" };
    // One process, so that none is left when it is killed.
    let main = format!(
        "{user}daemon off;\nmaster_process off;\npid pid;\nerror_log error.log;\nevents {{}}\nhttp {{\naccess_log off;\n{temporary}include http.conf;\n}}\n"
    );
    std::fs::write(place.join("nginx.conf"), main).unwrap();
    let mut nginx = Command::new("nginx");
    nginx
        .arg("-p")
        .arg(&place)
        .arg("-c")
        .arg(place.join("nginx.conf"))
        .arg("-e")
        .arg(place.join("error.log"))
        .stdin(Stdio::null());
    ChildProcess::start(&mut nginx)
}

#[test]
fn no_log_of_the_proxy_has_the_token_of_a_link_in_it() {
    if is_available().is_none() {
        return;
    }
    let folder = TempDir::new().unwrap();
    // Nobody listens there, which is an error of every request.
    let (_nginx, base) = start_proxy(folder.path(), &[free_port(), free_port(), free_port()]);
    let address = base.strip_prefix("http://").unwrap();
    let begun = Instant::now();
    let mut client = loop {
        match TcpStream::connect(address) {
            Ok(client) => break client,
            Err(failure) => assert!(begun.elapsed() < Duration::from_secs(20), "{failure}"),
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    let request = "GET /l/t0ken.csv?mailed=t0ken HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    client.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 502"), "{answer}");
    let log = |name: &str| std::fs::read_to_string(folder.path().join("nginx").join(name)).unwrap();
    let requests = log("access.log");
    assert!(requests.contains("\"GET /l/ HTTP/1.1\" 502"), "{requests}");
    for text in [requests, log("error.log")] {
        assert!(!text.contains("t0ken"), "{text}");
    }
}
