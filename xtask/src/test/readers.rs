//! The reader checks: a server with every demo dataset, tables of difficult values and a million
//! synthetic rows, and `tests/external/readers`, which downloads them in every format and compares
//! them with what was published. Prometheus's client reads what the server tells about itself.

use anyhow::Result;

use crate::checks::report::CheckCounts;
use crate::checks::served::ServerFixture;
use crate::repository::Repository;
use crate::{command, demo, packages, server, tools};

pub(super) fn check(repository: &Repository) -> Result<CheckCounts> {
    let python = tools::readers_python(repository)?;
    let r = tools::r();
    let fixture = ServerFixture::prepare(repository, "readers")?;
    let mut descriptors = fixture.publish_demo()?;
    let generated = demo::million_rows(repository)?;
    let difficult = fixture.folder().join("difficult");
    command::run(fixture.script(&python, "readers/difficult.py").arg(&difficult))?;
    let mut extra = packages::descriptors(&difficult)?;
    extra.push(generated.clone());
    fixture.publish(&extra)?;
    descriptors.extend(extra);
    fixture.install_formats(repository)?;
    for transform in ["rolling", "simplify"] {
        let component = repository.root().join("plugins/dist").join(transform);
        let component = component.with_extension("wasm");
        command::run(fixture.yearbook().args(["plugin", "install", "--now"]).arg(component))?;
    }
    let key = fixture.key("enterprise")?;

    let admin = server::free_address()?.to_string();
    // Many requests with one key from one address, and at once, are the point here, so no burst
    // limit and no shares.
    let settings = [
        ("YEARBOOK_LIMITS__BURST_PER_SECOND", "0"),
        ("YEARBOOK_LIMITS__KEY_SHARE_PERCENT", "0"),
        ("YEARBOOK_LIMITS__ADDRESS_SHARE_PERCENT", "0"),
        // What 200 slow clients hold is measured; with the default some of them would wait, and be
        // 503.
        ("YEARBOOK_SERVER__BODY_BYTES", "1073741824"),
        // They are slow for as long as it takes to open them all.
        ("YEARBOOK_SERVER__WRITE_IDLE_MS", "600000"),
        ("YEARBOOK_SANDBOX__STALLED_CLIENT_MS", "600000"),
        ("YEARBOOK_SERVER__ADMIN_LISTEN", admin.as_str()),
    ];
    let tally = fixture.count(&settings, |server| {
        let mut run = fixture.script(&python, "readers/main.py");
        run.args([
            "--base",
            &server.base(),
            "--admin",
            &format!("http://{admin}"),
            "--process",
            &server.id().to_string(),
            "--large",
        ])
        .arg(&generated);
        if r.is_err() {
            run.arg("--without-r");
        }
        run.arg("--downloads")
            .arg(fixture.folder().join("downloads"))
            .args(packages::newest_versions(&descriptors));
        run.env("YEARBOOK_KEY", key);
        Ok(run)
    })?;
    Ok(tally.and_tool(&r))
}
