//! Environment variables of the binary.

use std::process::Output;

use crate::command_line::{Running, binary};
use crate::wire::ask;

const HEALTH: &str = "GET /?Action=ListQueues HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";

fn checked(variables: &[(&str, &str)], arguments: &[&str]) -> (Output, String) {
    let mut command = binary();
    let output = command.envs(variables.iter().copied()).args(arguments).output().unwrap();
    let stderr = String::from_utf8(output.stderr.clone()).unwrap();
    (output, stderr)
}

#[test]
fn empty_variables_count_as_absent() {
    let help = String::from_utf8(binary().arg("--help").output().unwrap().stdout).unwrap();
    let names: Vec<_> = help.split("[env: ").skip(1).filter_map(|rest| rest.split('=').next()).collect();
    assert!(names.len() > 15 && names.contains(&"SQS_MOCK_FAULT"), "{names:?}");
    let mut empty: Vec<_> = names.iter().map(|name| (*name, "")).collect();
    empty.push(("SQS_MOCK_NONSENSE", ""));
    let (output, stderr) = checked(&empty, &["--check-config"]);
    assert_eq!((output.status.code(), stderr.as_str()), (Some(0), ""));
    let (output, _) = checked(&empty, &["--help"]);
    assert_eq!(String::from_utf8(output.stdout).unwrap(), help);
}

#[test]
fn check_config_accepts_all_boolean_values() {
    for truth in ["1", "true", "yes"] {
        let (output, stderr) = checked(&[("SQS_MOCK_CHECK_CONFIG", truth)], &[]);
        let stdout = String::from_utf8(output.stdout).unwrap();
        assert_eq!(
            stdout, "flags and environment: no problems found, queues: 0, topics: 0\n",
            "{truth}: {stderr}"
        );
    }
}

#[test]
fn check_config_checks_triggers_without_starting_them() {
    let (output, stderr) = checked(&[("SQS_MOCK_TRIGGER", "orders=http://localhost:1")], &["--check-config"]);
    assert_eq!((output.status.code(), stderr.as_str()), (Some(0), ""));
    let (output, stderr) = checked(&[("SQS_MOCK_TRIGGER", "orders=localhost")], &["--check-config"]);
    let text = "error: triggers[0].url: \"localhost\" is not allowed; allowed is a URL such as \"http://localhost:8080/path\"\n";
    assert_eq!((output.status.code(), stderr.as_str()), (Some(1), text));
}

#[test]
fn error_names_the_variable_of_an_invalid_value() {
    let note = "\nThe value is that of the environment variable SQS_MOCK_";
    for (variable, value) in
        [("PORT", "http://10.0.0.1:9324"), ("DELIVERY", "sloppy"), ("AUTO_CREATE", "maybe")]
    {
        let name = format!("SQS_MOCK_{variable}");
        let (output, stderr) = checked(&[(name.as_str(), value)], &["--check-config"]);
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains(value) && stderr.ends_with(&format!("{note}{variable}.\n")), "{stderr}");
    }
    let (_, stderr) = checked(&[("SQS_MOCK_PORT", "1")], &["--port", "70000"]);
    assert!(stderr.contains("70000") && !stderr.contains(note), "{stderr}");
}

#[test]
fn unknown_variable_causes_a_warning() {
    let (output, stderr) = checked(&[("SQS_MOCK_KEY", "a:b"), ("SQS_MOCK_PORT", "0")], &["--check-config"]);
    let expected = "warning: the environment variable SQS_MOCK_KEY is unknown and ignored; did you mean SQS_MOCK_TLS_KEY or SQS_MOCK_KEYS?\n";
    assert_eq!((output.status.code(), stderr.as_str()), (Some(0), expected));
}

/// What kubelet sets in the containers of a namespace with the services `sqs-mock` and `sqs-mock-s3`.
#[test]
fn variables_of_services_of_kubernetes_are_ignored() {
    let variables = [
        ("SQS_MOCK_PORT", "tcp://10.0.0.1:9324"),
        ("SQS_MOCK_SERVICE_HOST", "10.0.0.1"),
        ("SQS_MOCK_SERVICE_PORT", "9324"),
        ("SQS_MOCK_SERVICE_PORT_HTTP", "9324"),
        ("SQS_MOCK_PORT_9324_TCP", "tcp://10.0.0.1:9324"),
        ("SQS_MOCK_PORT_9324_TCP_PROTO", "tcp"),
        ("SQS_MOCK_PORT_9324_TCP_PORT", "9324"),
        ("SQS_MOCK_PORT_9324_TCP_ADDR", "10.0.0.1"),
        ("SQS_MOCK_S3_PORT", "udp://10.0.0.1:9325"),
        ("SQS_MOCK_S3_SERVICE_HOST", "10.0.0.1"),
    ];
    let (output, stderr) = checked(&variables, &["--check-config"]);
    let note = |name, address| {
        format!(
            "warning: the environment variable SQS_MOCK_{name} is ignored: Kubernetes sets it to the address of a service, \
             {address}\n"
        )
    };
    let expected = note("PORT", "tcp://10.0.0.1:9324") + &note("S3_PORT", "udp://10.0.0.1:9325");
    assert_eq!((output.status.code(), stderr), (Some(0), expected));
}

#[test]
fn variable_accepts_an_array_of_faults() {
    let faults = r#"[{"effect":"status","status":503,"body":"one","times":1},{"effect":"status","status":418,"body":"two"}]"#;
    let mut server = Running::start(binary().args(["--port", "0"]).env("SQS_MOCK_FAULT", faults));
    let endpoint = server.endpoint();
    assert!(ask(&endpoint, HEALTH).starts_with("HTTP/1.1 503"));
    assert!(ask(&endpoint, HEALTH).starts_with("HTTP/1.1 418"));
}

#[test]
fn limits_of_zero_are_rejected() {
    for flag in ["--max-connections", "--max-queues", "--max-memory"] {
        let (output, stderr) = checked(&[], &[flag, "0", "--check-config"]);
        let name = flag.trim_start_matches('-').replace('-', "_");
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr.starts_with(&format!("error: limits.{name}: 0 is not allowed: no")), "{stderr}");
    }
}
