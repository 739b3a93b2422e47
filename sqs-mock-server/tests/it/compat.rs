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
    assert!(wire.get("/_localstack/init").await.error(404).contains("unknown path"));
}
