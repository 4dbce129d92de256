//! Certificates for the tests' PostgreSQL: an authority of its own, and the server's, made by
//! OpenSSL, which Debian's PostgreSQL brings along.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use super::ServerUser;
use crate::command;

/// The authority's certificate, for clients.
pub(super) const AUTHORITY: &str = "authority.pem";

/// Settings of a server whose folder holds its certificate.
pub(super) fn settings(folder: &Path) -> [String; 3] {
    let file = |name: &str| folder.join(name).display().to_string();
    [
        "ssl=on".to_owned(),
        format!("ssl_cert_file={}", file("server.pem")),
        format!("ssl_key_file={}", file("server.key")),
    ]
}

/// Makes the certificates in `folder`, for a server called `localhost`.
pub(super) fn make(user: ServerUser, folder: &Path) -> Result<()> {
    let openssl = |arguments: &[&str]| {
        let mut openssl = user.command(Path::new("openssl"));
        // In the folder, since names are relative to it.
        command::output(openssl.current_dir(folder).args(arguments)).map(drop)
    };
    let request = ["req", "-newkey", "rsa:2048", "-nodes"];
    let own = [
        "-x509",
        "-days",
        "2",
        "-subj",
        "/CN=yearbook tests",
        "-addext",
        "basicConstraints=critical,CA:TRUE",
    ];
    openssl(&[&request[..], &own, &["-keyout", "authority.key", "-out", AUTHORITY]].concat())?;
    openssl(
        &[&request[..], &["-subj", "/CN=localhost", "-keyout", "server.key", "-out", "server.csr"]]
            .concat(),
    )?;
    fs::write(folder.join("names"), "subjectAltName=DNS:localhost\n")
        .context("cannot write the certificate's names")?;
    let sign = [
        "x509",
        "-req",
        "-in",
        "server.csr",
        "-CA",
        AUTHORITY,
        "-CAkey",
        "authority.key",
        "-CAcreateserial",
    ];
    openssl(&[&sign[..], &["-days", "2", "-extfile", "names", "-out", "server.pem"]].concat())
}
