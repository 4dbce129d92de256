//! Cursors: what was altered or made up is refused.

use tokio::runtime::Runtime;
use yearbook_domain::{CursorPosition, Plan};

use super::query::address;
use super::{FuzzSubject, FuzzTargetSpec};
use crate::app::{TestApp, harvest};

const CURSOR: FuzzTargetSpec =
    FuzzTargetSpec { name: "cursor", inputs: 1_500, words: &["=", "-", "_", "AA", "AQ"] };

/// A service, a key that may ask for everything, and a cursor that it sealed.
pub struct CursorSubject {
    runtime: Runtime,
    app: TestApp,
    key: String,
    sealed: Vec<u8>,
}

impl CursorSubject {
    fn status(&self, cursor: &[u8]) -> u16 {
        let path = format!(
            "/v1/datasets/harvest/data?limit=5&cursor={}",
            address(cursor).replace('&', "%26")
        );
        self.runtime.block_on(self.app.get(&path).key(&self.key).send()).status.as_u16()
    }
}

impl FuzzSubject for CursorSubject {
    const TARGET: FuzzTargetSpec = CURSOR;

    fn start() -> Self {
        let runtime = Runtime::new().unwrap();
        let (app, key, sealed) = runtime.block_on(async {
            let app = TestApp::start().await;
            app.publish(&harvest()).await;
            let key = app.key(Plan::Enterprise).await;
            let sealed = app
                .get("/v1/datasets/harvest/data?limit=5")
                .key(&key)
                .send()
                .await
                .header("x-next-page");
            (app, key, sealed.into_bytes())
        });
        let cursor = Self { runtime, app, key, sealed };
        assert_eq!(cursor.status(&cursor.sealed), 200);
        cursor
    }

    fn check(&mut self, input: &[u8]) {
        if let Some(position) = CursorPosition::from_bytes(input) {
            assert_eq!(position.to_bytes(), input, "a position is written in one way");
        }
        // None at all is the first page.
        if !input.is_empty() && input != self.sealed {
            assert_eq!(self.status(input), 422, "made up");
        }
        let mut altered = self.sealed.clone();
        altered.iter_mut().zip(input).for_each(|(byte, other)| *byte ^= other & 0x1f);
        if altered != self.sealed {
            assert_eq!(self.status(&altered), 422, "{}", String::from_utf8_lossy(&altered));
        }
    }
}
