//! In the place of another server.

use serde_json::json;
use sqs_mock_server::{Compat, MockSqs};

use crate::wire::Wire;

const HEALTH: &str = "/_localstack/health";

fn state(runs: bool) -> &'static str {
    if runs { "running" } else { "disabled" }
}

#[tokio::test]
async fn health_of_localstack_names_the_services() {
    let server = MockSqs::builder().compat(Compat::LocalStack).start().await.unwrap();
    let health = Wire::connect(&server).await.get(HEALTH).await.content(200);
    let topics = state(true);
    let services = json!({ "sqs": "running", "sns": topics, "sts": topics, "s3": "disabled" });
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(health, json!({ "services": services, "edition": "community", "version": version }));
}

#[cfg(feature = "s3")]
#[tokio::test]
async fn health_of_localstack_names_s3_if_it_runs() {
    let builder = MockSqs::builder().compat(Compat::LocalStack).s3(sqs_mock_server::s3::S3::temporary());
    let server = builder.start().await.unwrap();
    let health = Wire::connect(&server).await.get(HEALTH).await.content(200);
    assert_eq!(health["services"]["s3"], "running");
}

#[tokio::test]
async fn health_of_localstack_needs_neither_token_nor_allowed_host() {
    let builder = MockSqs::builder().compat(Compat::LocalStack).admin_token("hush");
    let server = builder.start().await.unwrap();
    let mut wire = Wire::connect(&server).await;
    for path in [HEALTH.to_owned(), format!("{HEALTH}/")] {
        wire.write(format!("GET {path} HTTP/1.1\r\nhost: example.com\r\n\r\n")).await.unwrap();
        assert_eq!(wire.answer().await.unwrap().status, 200, "{path}");
    }
}

#[tokio::test]
async fn without_the_setting_the_error_names_the_flag() {
    let server = MockSqs::start().await;
    let mut wire = Wire::connect(&server).await;
    assert!(wire.get(HEALTH).await.error(404).contains("--compat localstack"));
    for path in ["/_localstack/info", "/_localstack/init", "/_localstack/init/ready"] {
        assert!(wire.get(path).await.error(404).contains("--compat localstack"), "{path}");
    }
    let reset = wire.exchange("POST /_localstack/state/reset", "", b"").await;
    assert!(reset.error(404).contains("POST /_mock/reset"));
    assert!(wire.get("/_localstack/plugins").await.error(404).contains("unknown path"));
}

#[tokio::test]
async fn paths_of_localstack_tell_that_it_is_ready_and_reset_the_server() {
    let server = MockSqs::builder().compat(Compat::LocalStack).start().await.unwrap();
    let mut wire = Wire::connect(&server).await;
    let info = wire.get("/_localstack/info").await.content(200);
    assert_eq!(
        (&info["edition"], &info["version"]),
        (&json!("community"), &json!(env!("CARGO_PKG_VERSION")))
    );
    let init = wire.get("/_localstack/init").await.content(200);
    let completed = json!({ "BOOT": true, "START": true, "READY": true, "SHUTDOWN": false });
    assert_eq!(init, json!({ "completed": completed, "scripts": [] }));
    let ready = wire.get("/_localstack/init/ready").await.content(200);
    assert_eq!(ready, json!({ "completed": true, "scripts": [] }));
    assert!(
        wire.get("/_localstack/init/lunch")
            .await
            .error(404)
            .contains("there are boot, start, ready and shutdown")
    );
    server.client().create_queue().queue_name("q").send().await.unwrap();
    let reset = wire.exchange("POST /_localstack/state/reset", "", b"").await;
    assert_eq!(reset.content(200), json!({ "reset": true }));
    assert!(!server.queue("q").exists());
}
