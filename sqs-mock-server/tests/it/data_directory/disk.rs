//! A disk without room, and what a server says of its data directory.

use std::time::Duration;

use super::start;
use crate::command_line::{Running, binary};

/// A limit on the size of files stands for a full disk: writes fail in the same way.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn full_disk_fails_requests_until_there_is_room() {
    let directory = tempfile::tempdir().unwrap();
    // Without this, the system kills a process that exceeds the limit.
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "trap '' XFSZ; exec \"$@\"", "sh"]).arg(binary().get_program());
    shell.args(["--port", "0", "--data"]).arg(directory.path()).stdout(std::process::Stdio::piped());
    let mut server = Running::start(&mut shell);
    let endpoint = server.endpoint();
    let client = crate::kills::client(&endpoint);
    let url = client.create_queue().queue_name("orders").send().await.unwrap().queue_url.unwrap();
    let limit = |size: &str| {
        let pid = server.child.id().to_string();
        let limited =
            std::process::Command::new("prlimit").args(["--pid", &pid, &format!("--fsize={size}:")]).status();
        assert!(limited.unwrap().success());
    };
    let send = |body: String| client.send_message().queue_url(&url).message_body(body).send();
    let health =
        || crate::wire::ask(&endpoint, "GET /health HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");

    // It is not used up by a request that fails anyway.
    let fault = br#"{"effect":"throttle","service":"sns"}"#;
    let mut wire = crate::wire::Wire::open(&endpoint).await.unwrap();
    let injected = wire.exchange("POST /_mock/faults", "content-type: application/json\r\n", fault).await;
    assert!(injected.status < 300, "{}", injected.text());

    limit("262144");
    let mut confirmed = 0;
    let error = loop {
        match send("x".repeat(10_000)).await {
            Ok(_) => confirmed += 1,
            Err(error) => break error,
        }
        assert!(confirmed < 1_000, "the limit has no effect");
    };
    assert_eq!(error.code(), Some("ServiceUnavailable"), "{error}");
    let answer = wire.form("/", "Action=CreateTopic&Name=orders&Version=2010-03-31").await;
    assert_eq!((answer.status, &*answer.value("Code")), (503, "ServiceUnavailable"));
    assert!(health().starts_with("HTTP/1.1 503"), "{}", health());

    limit("unlimited");
    let recovered = async {
        while health().starts_with("HTTP/1.1 503") {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), recovered).await.expect("it recovers when there is room");
    send("after".to_owned()).await.unwrap();
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    let server = start(directory.path()).await;
    let bodies = server.queue("orders").bodies();
    assert!(
        bodies.len() > confirmed && bodies.contains(&"after".to_owned()),
        "{} of {confirmed}",
        bodies.len()
    );
}

#[tokio::test]
async fn health_and_metrics_show_durability_size_and_commits() {
    let directory = tempfile::tempdir().unwrap();
    let server = start(directory.path()).await;
    server.client().create_queue().queue_name("orders").send().await.unwrap();

    let mut wire = crate::wire::Wire::connect(&server).await;
    let health: serde_json::Value = serde_json::from_str(wire.get("/health").await.text()).unwrap();
    assert_eq!(health["data"]["durability"], "process", "{health}");
    assert!(health["data"]["bytes"].as_u64().unwrap() >= 4096, "{health}");
    let mean = health["data"]["mean_commit_seconds"].as_f64().unwrap();
    assert!(mean > 0.0 && mean < 10.0, "{health}");

    let metrics = server.metrics().await;
    assert!(metrics.contains("\nsqs_mock_data_info{durability=\"process\"} 1\n"), "{metrics}");
    assert!(metrics.contains("\nsqs_mock_data_commit_seconds_count "), "{metrics}");
    assert!(metrics.contains("\nsqs_mock_data_bytes "), "{metrics}");
}

#[tokio::test]
async fn server_without_a_directory_shows_none() {
    let server = sqs_mock_server::MockSqs::start().await;
    let mut wire = crate::wire::Wire::connect(&server).await;
    let health: serde_json::Value = serde_json::from_str(wire.get("/health").await.text()).unwrap();
    assert!(health["status"] == "ok" && health.get("data").is_none(), "{health}");
    assert!(!server.metrics().await.contains("sqs_mock_data"));
}
