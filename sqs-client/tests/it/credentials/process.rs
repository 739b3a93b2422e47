//! Credentials from a `credential_process`.

use std::time::Duration;

use sqs_client::config::credentials::{ProcessCredentials, ProfileCredentials};
use sqs_client::time::{SystemClock, TimeSource as _};
use tokio::time::Instant;

use super::rig::*;

fn process(command: &str) -> ProcessCredentials {
    ProcessCredentials::new(World::new().environment(), command)
}

fn printing(fields: &str) -> ProcessCredentials {
    process(&format!("echo '{{\"Version\":1,{fields}}}'"))
}

#[tokio::test]
async fn expiry_of_program_credentials_is_optional() {
    let keys = format!("\"AccessKeyId\":\"AK\",\"SecretAccessKey\":\"{SECRET}\"");
    let lasting = given(&printing(&keys)).await;
    assert_eq!((lasting.access_key_id(), lasting.expiry()), ("AK", None));
    let expiry = stamp(in_an_hour());
    let fields = format!("{keys},\"SessionToken\":\"T\",\"Expiration\":\"{expiry}\"");
    let expiring = given(&printing(&fields)).await;
    assert_eq!(expiring.session_token(), Some("T"));
    assert!(expiring.expiry().is_some());
    let fields = format!("{keys},\"Expiration\":\"2020-01-01T00:00:00Z\"");
    let expiry = given(&printing(&fields)).await.expiry().expect("set");
    assert!(expiry > SystemClock.now(), "the local clock may be wrong");
}

#[tokio::test]
async fn program_comes_from_the_profile() {
    let line = format!(r#"echo '{{"Version":1,"AccessKeyId":"AK","SecretAccessKey":"{SECRET}"}}'"#);
    let world = World::new().file(".aws/config", &format!("[default]\ncredential_process = {line}\n"));
    assert_eq!(given(&ProfileCredentials::new(world.environment())).await.access_key_id(), "AK");
}

#[tokio::test]
async fn error_names_the_line_of_the_profile_that_sets_the_program() {
    let world =
        World::new().file(".aws/config", "[default]\nregion = eu-west-1\ncredential_process = echo hello\n");
    let text = invalid(&ProfileCredentials::new(world.environment())).await;
    assert_contains(&text, &["credential_process", "/.aws/config:3", "not JSON"]);
}

#[tokio::test]
async fn error_for_invalid_output_quotes_nothing() {
    assert_contains(&invalid(&process(&format!("echo {SECRET}"))).await, &["credential_process", "not JSON"]);
    let other = format!("echo '{{\"Version\":2,\"SecretAccessKey\":\"{SECRET}\"}}'");
    assert_contains(&invalid(&process(&other)).await, &["\"Version\" must be 1"]);
    let lone = format!("\"SecretAccessKey\":\"{SECRET}\"");
    assert_contains(&invalid(&printing(&lone)).await, &["AccessKeyId"]);
    assert_contains(&invalid(&process("true")).await, &["expected a JSON object"]);
    let endless = invalid(&process("yes")).await;
    assert_contains(&endless, &["more than 65536 bytes"]);
}

#[tokio::test]
async fn error_of_failing_program_quotes_stderr() {
    let text = passing(&process(&format!("echo {SECRET}; echo 'sign in first' >&2; exit 3"))).await;
    assert_contains(&text, &["exit status: 3", "sign in first"]);
    let chatty = passing(&process("yes complaint | head -c 1000000 >&2; exit 1")).await;
    assert!(chatty.len() < 500, "{}", chatty.len());
    assert_contains(&invalid(&process("no-such-program-here")).await, &["no-such-program-here"]);
}

#[tokio::test]
async fn hanging_program_is_killed() {
    let world = World::new();
    let marker = world.path("marker");
    let command = format!("sleep 0.3; touch {}", marker.display());
    let limit = Duration::from_millis(50);
    let started = Instant::now();
    let provider = ProcessCredentials::new(world.environment().process_timeout(limit), command);
    assert_contains(&passing(&provider).await, &["did not exit within 50ms"]);
    assert!(started.elapsed() < Duration::from_millis(250));
    // Longer than the program would run.
    tokio::time::sleep(Duration::from_millis(400)).await;
    assert!(!marker.exists(), "the program was not killed");
}

#[tokio::test]
async fn longest_process_timeout_is_no_timeout() {
    let line = format!(r#"echo '{{"Version":1,"AccessKeyId":"AK","SecretAccessKey":"{SECRET}"}}'"#);
    let world = World::new()
        .with("AWS_REGION", "eu-west-1")
        .file(".aws/config", &format!("[default]\ncredential_process = {line}\n"));
    let server = sqs_mock_server::MockSqs::in_process();
    for environment in [
        world.environment().process_timeout(Duration::MAX),
        world.environment().service_timeout(Duration::MAX).retry_pause(Duration::MAX),
    ] {
        let builder = sqs_client::config::Builder::from_environment(environment).expect("valid");
        let client = sqs_client::Client::from_conf(builder.transport(server.transport()).build());
        client.list_queues().send().await.expect("signed with the keys of the program");
    }
}
