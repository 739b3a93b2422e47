//! S3 in the binary, and its settings in a config file.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
#[cfg(unix)]
use std::time::Duration;

use sqs_mock_server::MockSqsBuilder;

use super::files::Directory;
use crate::command_line::{Running, binary, run};
use crate::wire::ask;

#[test]
fn invalid_s3_settings_in_a_config_file_are_rejected() {
    for (toml, expected) in [
        ("directory = 'd'\nbuckets = ['X']", "config:3:12: s3.buckets[0]: \"X\" is not a valid bucket name"),
        ("directory = ''", "config:2:13: s3.directory: it is empty; allowed is the path of a directory"),
        (
            "directory = 'd'\nhost = 1",
            "config:3:1: s3.host: unknown setting; known are buckets, directory, enabled, port",
        ),
    ] {
        let error = MockSqsBuilder::from_toml(&format!("[s3]\n{toml}")).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn objects_survive_a_restart_of_the_binary() {
    let directory = Directory::new("binary");
    let path = directory.0.to_str().unwrap();
    for round in 0..2 {
        let mut server = Running::start(binary().args([
            "--port",
            "0",
            "--with-s3",
            path,
            "--s3-port",
            "0",
            "--s3-bucket",
            "orders",
        ]));
        let lines: Vec<String> = (0..13).map(|_| server.line()).collect();
        let endpoint = lines[9].strip_prefix("export AWS_ENDPOINT_URL_S3=").unwrap();
        assert_eq!(lines[11], format!("S3 listens on {endpoint}"));
        assert!(lines[12].starts_with("  directory: "), "{lines:?}");
        let request = |line: &str, rest: &str| {
            ask(endpoint, &format!("{line} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{rest}"))
        };
        if round == 0 {
            let put = request("PUT /orders/a%2Fb", "x-amz-meta-m: 1\r\ncontent-length: 3\r\n\r\ntea");
            assert!(put.starts_with("HTTP/1.1 200 OK"), "{put}");
        }
        let got = request("GET /orders/a/b", "\r\n");
        assert!(got.contains("x-amz-meta-m: 1\r\n") && got.ends_with("\r\n\r\ntea"), "{got}");
    }
}

#[test]
fn config_file_and_environment_configure_s3() {
    let directory = Directory::new("config");
    fs::create_dir(&directory.0).unwrap();
    let (file, objects) = (directory.0.join("sqs.toml"), directory.0.join("objects"));
    let text =
        format!("port = 0\n[s3]\ndirectory = '{}'\nport = 0\nbuckets = ['one', 'two']", objects.display());
    fs::write(&file, text).unwrap();
    let mut server =
        Running::start(binary().env("SQS_MOCK_CONFIG", &file).env("SQS_MOCK_S3_BUCKETS", "three,four"));
    let lines: Vec<String> = (0..14).map(|_| server.line()).collect();
    assert_eq!(lines[13], "  buckets: four, three");
    assert!(objects.join("buckets/three").is_dir());
    let output = run(&["--no-s3", "--s3-bucket", "orders", "--check-config"]);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(stderr, "error: --no-s3 cannot be combined with --with-s3, --s3-port and --s3-bucket\n");
    let checked =
        run(&["--with-s3", directory.0.join("none").to_str().unwrap(), "--s3-bucket", "x", "--check-config"]);
    assert!(String::from_utf8_lossy(&checked.stderr).contains("\"x\" is not a valid bucket name"));
    assert!(!directory.0.join("none").exists());
}

/// A signed request to S3 on any port.
fn signed(endpoint: &str, line: &str, body: &str) -> String {
    let scope = "authorization: AWS4-HMAC-SHA256 Credential=test/20261123/us-east-1/s3/aws4_request, \
                 SignedHeaders=host, Signature=0\r\n";
    let length = body.len();
    let head = format!("{line} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {length}\r\n");
    ask(endpoint, &format!("{head}{scope}\r\n{body}"))
}

/// The temporary directories in a directory.
fn temporary(parent: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(parent).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("sqs-mock-s3-")).collect()
}

/// The binary with temporary files of its own.
fn binary_in(parent: &Path) -> Command {
    let mut command = binary();
    command.args(["--port", "0"]).env("TMPDIR", parent).env("TMP", parent);
    command
}

#[test]
fn s3_is_on_without_flags_and_makes_a_directory_with_the_first_bucket() {
    let parent = tempfile::tempdir().unwrap();
    let mut server = Running::start(&mut binary_in(parent.path()));
    let endpoint = server.endpoint();
    assert!(!signed(&endpoint, "GET /", "").contains("<Name>"), "there are no buckets");
    assert_eq!(temporary(parent.path()), Vec::<PathBuf>::new());
    for (line, body) in [("PUT /orders", ""), ("PUT /orders/a", "tea")] {
        let answer = signed(&endpoint, line, body);
        assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
    }
    assert_eq!(temporary(parent.path()).len(), 1);
    // Without a signature, the host decides.
    for (host, path) in [("s3.localhost", "/orders/a"), ("orders.s3.localhost", "/a")] {
        let got =
            ask(&endpoint, &format!("GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n"));
        assert!(got.ends_with("\r\n\r\ntea"), "{host}: {got}");
    }
    let got = ask(&endpoint, "GET /orders/a HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    assert!(!got.ends_with("tea"), "{got}");
}

#[cfg(unix)]
#[test]
fn directory_of_a_killed_process_is_removed_at_the_next_start_and_that_of_a_live_one_stays() {
    let parent = tempfile::tempdir().unwrap();
    let start = || {
        let mut server = Running::start(&mut binary_in(parent.path()));
        let endpoint = server.endpoint();
        signed(&endpoint, "PUT /orders", "");
        (server, endpoint)
    };
    let (killed, _) = start();
    let abandoned = temporary(parent.path());
    let (live, endpoint) = start();
    // Sends SIGKILL.
    drop(killed);
    assert!(abandoned[0].exists());
    let (next, _) = start();
    // The removal does not delay the start.
    let is_gone = (0..1000).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        !abandoned[0].exists()
    });
    assert!(is_gone);
    assert_eq!(temporary(parent.path()).len(), 2);
    assert!(signed(&endpoint, "PUT /orders/a", "tea").starts_with("HTTP/1.1 200 OK"));
    drop((live, next));
}

#[test]
fn objects_are_in_the_data_directory_and_survive_with_it() {
    let data = tempfile::tempdir().unwrap();
    for round in 0..2 {
        let mut server = Running::start(binary().args(["--port", "0", "--data"]).arg(data.path()));
        let endpoint = server.endpoint();
        if round == 0 {
            assert!(!data.path().join("s3").exists());
            signed(&endpoint, "PUT /orders", "");
            assert!(signed(&endpoint, "PUT /orders/a", "tea").starts_with("HTTP/1.1 200 OK"));
        }
        assert!(signed(&endpoint, "GET /orders/a", "").ends_with("\r\n\r\ntea"));
    }
    assert!(data.path().join("s3/buckets/orders").is_dir());
}

#[test]
fn flag_or_file_turns_s3_off_and_a_flag_turns_it_on_again() {
    let directory = Directory::new("off");
    fs::create_dir(&directory.0).unwrap();
    let file = directory.0.join("sqs.toml");
    fs::write(&file, "port = 0\n[s3]\nenabled = false\n").unwrap();
    let file = file.to_str().unwrap();
    for (arguments, is_on) in [
        (vec!["--port", "0", "--no-s3"], false),
        (vec!["--config", file], false),
        (vec!["--config", file, "--s3-bucket", "orders"], true),
    ] {
        let mut server = Running::start(binary().args(&arguments));
        let endpoint = server.endpoint();
        let answer = signed(&endpoint, "GET /", "");
        assert_eq!(answer.contains("<Name>orders</Name>"), is_on, "{arguments:?}: {answer}");
        assert_eq!(answer.contains("S3 is off; the binary serves it without --no-s3"), !is_on, "{answer}");
    }
}

#[test]
fn port_of_its_own_needs_no_directory() {
    let mut server =
        Running::start(binary().args(["--port", "0", "--s3-port", "0", "--s3-bucket", "orders"]));
    let lines: Vec<String> = (0..12).map(|_| server.line()).collect();
    let own = lines[9].strip_prefix("export AWS_ENDPOINT_URL_S3=").unwrap();
    assert!(!lines[0].ends_with(own), "{lines:?}");
    let put =
        ask(own, "PUT /orders/a HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 3\r\n\r\ntea");
    assert!(put.starts_with("HTTP/1.1 200 OK"), "{put}");
}
