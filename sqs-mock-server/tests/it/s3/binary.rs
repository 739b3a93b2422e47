//! S3 in the binary, and its settings in a config file.

use std::fs;

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
            "config:3:1: s3.host: unknown setting; known are buckets, directory, port",
        ),
        ("port = 1", "config:1:1: s3: `directory` is missing"),
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
        let lines: Vec<String> = (0..12).map(|_| server.line()).collect();
        let endpoint = lines[8].strip_prefix("export AWS_ENDPOINT_URL_S3=").unwrap();
        assert_eq!(lines[10], format!("S3 listens on {endpoint}"));
        assert!(lines[11].starts_with("  directory: "), "{lines:?}");
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
    let lines: Vec<String> = (0..13).map(|_| server.line()).collect();
    assert_eq!(lines[12], "  buckets: four, three");
    assert!(objects.join("buckets/three").is_dir());
    let output = run(&["--s3-bucket", "orders", "--check-config"]);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(stderr, "error: --s3-port and --s3-bucket require --with-s3 DIR\n");
    let checked =
        run(&["--with-s3", directory.0.join("none").to_str().unwrap(), "--s3-bucket", "x", "--check-config"]);
    assert!(String::from_utf8_lossy(&checked.stderr).contains("\"x\" is not a valid bucket name"));
    assert!(!directory.0.join("none").exists());
}
