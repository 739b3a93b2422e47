//! Throughput quotas in a config file, and in flags of the binary.

use sqs_mock_server::{MockSqsBuilder, QuotaScope};

use crate::command_line::{Running, binary, run};
use crate::quotas::{arn, calls, quota_of};
use crate::wire::ask;

#[tokio::test]
async fn quota_of_the_builder_replaces_that_of_a_file() {
    let toml = "[[queues]]\nname = 'jobs.fifo'\nthroughput_quotas = { calls = 300 }";
    let builder = MockSqsBuilder::from_toml(toml).unwrap();
    let server =
        builder.throughput_quotas(QuotaScope::Queue(arn("jobs.fifo")), calls(5)).in_process().unwrap();
    assert_eq!(quota_of(&server, "jobs.fifo"), Some(5));
}

#[test]
fn config_file_sets_quotas_for_the_server_and_for_queues() {
    let text = "throughput_quotas = true\n\
                [[queues]]\nname = 'aws.fifo'\n\
                [[queues]]\nname = 'none.fifo'\nthroughput_quotas = false\n\
                [[queues]]\nname = 'own.fifo'\nthroughput_quotas = { calls = 5 }";
    let server = MockSqsBuilder::from_toml(text).unwrap().in_process().unwrap();
    let quotas = ["aws.fifo", "none.fifo", "own.fifo"].map(|name| quota_of(&server, name));
    assert_eq!(quotas, [Some(300), None, Some(5)]);
    assert_eq!(server.queue("own.fifo").throughput_quotas(), Some(calls(5)));
}

#[test]
fn invalid_quotas_in_a_config_file_are_rejected() {
    let refusal = |text: &str| {
        let server = MockSqsBuilder::from_toml(text).and_then(MockSqsBuilder::in_process);
        server.expect_err("an error").to_string()
    };
    for (text, part) in [
        ("throughput_quotas = 5", "allowed is true, false, or a table with calls"),
        ("throughput_quotas = { call = 5 }", "unknown setting; did you mean calls?"),
        ("throughput_quotas = { calls = -5 }", "-5"),
        (
            "[[queues]]\nname = 'orders'\nthroughput_quotas = true",
            "only FIFO queues have this attribute; their names end in .fifo",
        ),
    ] {
        let refusal = refusal(text);
        assert!(refusal.contains(part), "{text}: {refusal}");
    }
}

#[test]
fn flags_set_quotas_and_strict_mode() {
    let get = |endpoint: &str, path: &str| {
        ask(endpoint, &format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"))
    };
    let quotas = r#"--throughput-quotas={"calls":7}"#;
    let mut server = Running::start(binary().args(["--port", "0", "--strict", quotas]));
    let endpoint = server.endpoint();
    let shown = get(&endpoint, "/_mock/quotas");
    assert!(shown.contains(r#"[{"quotas":{"calls":7,"#), "{shown}");
    let findings = get(&endpoint, "/_mock/findings");
    assert!(findings.contains(r#"{"findings":[],"omitted":0}"#), "{findings}");
    let mut server = Running::start(binary().args(["--port", "0", "--throughput-quotas"]));
    let shown = get(&server.endpoint(), "/_mock/quotas");
    assert!(shown.contains(r#"[{"quotas":{"calls":300,"#), "{shown}");
    let refused = run(&["--throughput-quotas=many"]);
    let text = String::from_utf8(refused.stderr).unwrap();
    assert!(text.contains(r#"allowed is true, false, or JSON such as {"calls":300}"#), "{text}");
}
