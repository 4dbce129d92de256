//! Cursors: what was altered or made up is refused.

use tokio::runtime::Runtime;
use yearbook_domain::{Plan, Position};
use yearbook_tests::app::{TestApp, harvest};
use yearbook_tests::fuzz::Target;

use super::query::address;

const CURSOR: Target = Target { name: "cursor", inputs: 1_500, words: &["=", "-", "_", "AA", "AQ"] };

#[test]
fn a_cursor_that_nobody_sealed_is_422_contract_3() {
    let runtime = Runtime::new().unwrap();
    let (app, key, sealed) = runtime.block_on(async {
        let app = TestApp::start().await;
        app.publish(&harvest()).await;
        let key = app.key(Plan::Enterprise).await;
        let sealed = app.get("/v1/datasets/harvest/data?limit=5").key(&key).send().await.header("x-next-page");
        (app, key, sealed.into_bytes())
    });
    let status = |cursor: &[u8]| {
        let path = format!("/v1/datasets/harvest/data?limit=5&cursor={}", address(cursor).replace('&', "%26"));
        runtime.block_on(app.get(&path).key(&key).send()).status.as_u16()
    };
    assert_eq!(status(&sealed), 200);
    CURSOR.run(|input| {
        if let Some(position) = Position::from_bytes(input) {
            assert_eq!(position.to_bytes(), input, "a position is written in one way");
        }
        // None at all is the first page.
        if !input.is_empty() && input != sealed {
            assert_eq!(status(input), 422, "made up");
        }
        let mut altered = sealed.clone();
        altered.iter_mut().zip(input).for_each(|(byte, other)| *byte ^= other & 0x1f);
        if altered != sealed {
            assert_eq!(status(&altered), 422, "{}", String::from_utf8_lossy(&altered));
        }
    });
}
