//! The sandbox against generators: what crosses, and what becomes of one that misbehaves
//! (`plugins/evil-generator`).

use std::sync::Arc;

use yearbook_domain::{Plan, PlanTable, PluginKind};
use yearbook_sandbox::{
    ComponentRejection, GeneratedProject, GeneratorRequest, GuestError, Limits, OptionScalar,
    OptionValue, Plugin, PluginGenerator, ResponseOutcome, Trap, TrapKind,
};
use yearbook_shares::CallerShare;
use yearbook_tests::app::{TestApp, harvest};
use yearbook_tests::components::{component, sandbox};

fn evil(limits: Limits) -> Arc<PluginGenerator> {
    sandbox(limits).load_generator(&component("evil-generator")).unwrap()
}

fn request(attack: &str) -> GeneratorRequest {
    GeneratorRequest {
        base_url: "https://data.example.org".to_owned(),
        plan: Plan::Free,
        limits: PlanTable::default().free,
        datasets: Vec::new(),
        options: vec![OptionValue {
            name: "attack".to_owned(),
            value: OptionScalar::Text(attack.to_owned()),
        }],
    }
}

async fn attack(limits: Limits, attack: &str) -> Result<GeneratedProject, GuestError> {
    evil(limits).generate(&CallerShare::default(), request(attack)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_could_do_harm_never_leave_the_sandbox() {
    assert_eq!(attack(Limits::default(), "none").await.unwrap().files.len(), 1);
    for (name, rule) in [
        ("escape", "path"),
        ("absolute", "path"),
        ("twice", "taken twice"),
        ("binary", "UTF-8"),
        ("header", "media type"),
        ("flood", "bytes of files"),
        ("many", "5000 files"),
        ("nothing", "0 files"),
    ] {
        match attack(Limits::default(), name).await {
            Err(GuestError::Output { plugin, rule: said }) => {
                assert!(plugin.name == "evil" && said.contains(rule), "{name}: {said}")
            }
            other => panic!("{name}: {other:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_generator_is_stopped_by_the_limits_of_every_guest() {
    let limits = Limits { cpu_ms_per_call: 1_000, ..Limits::default() };
    assert!(matches!(
        attack(limits, "spin").await,
        Err(GuestError::Trapped { trap: Trap::Cpu(1_000), .. })
    ));
    assert!(matches!(
        attack(limits, "panic").await,
        Err(GuestError::Trapped { trap: Trap::Wasm(_), .. })
    ));
    let small = Limits { output_bytes_per_call: 1 << 20, ..Limits::default() };
    assert!(matches!(
        attack(small, "flood").await,
        Err(GuestError::TooLarge { trap: Trap::Output(1_048_576), .. })
    ));
    assert!(
        matches!(attack(limits, "refuse").await, Err(GuestError::Declined(said)) if said == "not  this")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_generator_is_counted_as_an_encoder_is_issue_5_8() {
    let generator = evil(Limits { cpu_ms_per_call: 1_000, ..Limits::default() });
    let project = generator.generate(&CallerShare::default(), request("none")).await.unwrap();
    assert!(generator.generate(&CallerShare::default(), request("spin")).await.is_err());
    assert!(generator.generate(&CallerShare::default(), request("escape")).await.is_err());
    let counts = generator.metrics().counts();
    assert_eq!(
        (counts.begun, counts.outcome(ResponseOutcome::Completed), counts.trap(TrapKind::Cpu)),
        (3, 1, 1)
    );
    assert_eq!(
        (counts.outcome(ResponseOutcome::BadOutput), counts.failures(), counts.instances),
        (1, 2, 0)
    );
    assert!(
        counts.bytes_out > project.files.iter().map(|file| file.content.len() as u64).sum::<u64>(),
        "bad files were returned too"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn more_requests_than_instances_wait_for_one_contract_4() {
    let generator = evil(Limits { instances: 1, queue_ms: 0, ..Limits::default() });
    let holder = CallerShare::default();
    let all = (0..8).map(|_| generator.generate(&holder, request("none")));
    assert!(futures::future::join_all(all).await.iter().all(Result::is_ok));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_finds_the_memory_of_all_guests_used_up_waits_for_some_contract_4() {
    let alone = evil(Limits::default());
    assert!(alone.generate(&CallerShare::default(), request("flood")).await.is_err());
    let need = alone.metrics().counts().memory_bytes;
    // Room for one of them and a half: the last to grow finds none.
    let generator = evil(Limits { total_memory_bytes: need + need / 2, ..Limits::default() });
    let holder = CallerShare::default();
    // Whether two meet is the machine's affair, so there are several rounds.
    for _ in 0..20 {
        let all = (0..8).map(|_| generator.generate(&holder, request("flood")));
        for project in futures::future::join_all(all).await {
            assert!(matches!(project, Err(GuestError::Output { .. })), "{project:?}");
        }
        if generator.metrics().counts().outcome(ResponseOutcome::Host) > 0 {
            break;
        }
    }
    assert!(
        generator.metrics().counts().outcome(ResponseOutcome::Host) > 0,
        "none of them ran out of memory"
    );
    let small = evil(Limits { total_memory_bytes: need * 3 / 4, ..Limits::default() });
    assert!(
        matches!(
            small.generate(&CallerShare::default(), request("flood")).await,
            Err(GuestError::MemoryUsedUp { shared: false })
        ),
        "nobody will give memory back"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_exports_tell_which_kind_of_plugin_a_component_is() {
    let sandbox = sandbox(Limits::default());
    assert!(matches!(sandbox.load(&component("json")).unwrap(), Plugin::Encoder(_)));
    let generator = sandbox.load(&component("meltano")).unwrap();
    assert_eq!((generator.kind(), generator.name()), (PluginKind::Generator, "meltano"));
    assert!(matches!(
        sandbox.load_encoder(&component("meltano")),
        Err(ComponentRejection::Interface(_))
    ));
    assert!(matches!(
        sandbox.load_generator(&component("json")),
        Err(ComponentRejection::Interface(_))
    ));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_generator_receives_everything_about_a_dataset() {
    let app = TestApp::start().await;
    app.load("evil-generator");
    app.publish(&harvest()).await;
    let key = app.key(Plan::Starter).await;
    let reply =
        app.get("/v1/integrations/evil?datasets=harvest&evil.attack=say").key(&key).send().await;
    let json = reply.json();
    let said = json["files"]["good.txt"].as_str().unwrap();
    for part in [
        "base_url: \"http://test.example\"",
        "name: \"starter\"",
        "monthly_requests: Some(\n            1000,",
        "row_cap: Some(\n            50000,",
        "bulk: None",
        "name: \"harvest\"",
        "title: Some(\n                \"Title of harvest\"",
        "attribution: \"Ahuwhenua Māori, CC BY 4.0\"",
        "column_type: Date",
        "role: Dimension",
        "\"tonnes\"",
        "primary_key: [\n                \"date\",\n                \"region\"",
        "layout: Long",
        "\"2020-01-01\",\n                    \"2023-04-01\"",
        "rows: 120",
        "data_url: \"http://test.example/v1/datasets/harvest/data\"",
        "changes_url: \"http://test.example/v1/datasets/harvest/changes\"",
        "\"http://test.example/v1/bulk/farms/harvest\"",
    ] {
        assert!(said.contains(part), "{part}\n{said}");
    }
}
