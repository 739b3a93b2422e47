//! The config file: examples of the guides, precedence, queues and errors.

use std::io;
use std::path::PathBuf;

use sqs_mock_server::{Config, MockSqs, MockSqsBuilder};

use crate::command_line::{Running, SECRET_IS_KNOWN, binary, run};
use crate::wire::ask;

/// The TOML of a page.
fn examples_of(page: &'static str) -> impl Iterator<Item = &'static str> {
    let blocks = page.split("```toml\n").skip(1);
    blocks.map(|from| from.split_once("```").expect("its end").0)
}

/// The TOML of the guide to config files: all settings, and those of S3, which is a feature.
fn examples() -> impl Iterator<Item = &'static str> {
    examples_of(include_str!("../../docs/config-file.md"))
}

fn example() -> &'static str {
    examples().next().expect("an example")
}

/// A file that is removed after the test.
struct File(PathBuf);

impl File {
    fn new(name: &str, text: &str) -> Self {
        let path = std::env::temp_dir().join(format!("{name}-{}.toml", std::process::id()));
        std::fs::write(&path, text).unwrap();
        Self(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for File {
    fn drop(&mut self) {
        // The file may not exist.
        let _ = std::fs::remove_file(&self.0);
    }
}

fn server(text: &str) -> io::Result<MockSqs> {
    MockSqsBuilder::from_toml(text)?.in_process()
}

fn refusal(text: &str) -> String {
    server(text).expect_err("an error").to_string()
}

async fn attributes(server: &MockSqs, name: &str) -> std::collections::HashMap<String, String> {
    let url = server.queue_url(name);
    let answer = server.client().get_queue_attributes().queue_url(url).attribute_names("All".into()).send();
    let attributes = answer.await.unwrap().attributes.unwrap();
    attributes.into_iter().map(|(name, value)| (name.as_str().to_owned(), value)).collect()
}

#[tokio::test]
async fn example_of_the_guide_works() {
    let server = server(example()).unwrap();
    let urls = ["orders", "orders-dead", "jobs.fifo"]
        .map(|name| format!("http://localhost:9324/000000000000/{name}"));
    assert_eq!(server.configured_queues(), urls);
    let orders = attributes(&server, "orders").await;
    assert_eq!(orders["MessageRetentionPeriod"], "345600");
    let policy: serde_json::Value = serde_json::from_str(&orders["RedrivePolicy"]).unwrap();
    let dead = "arn:aws:sqs:us-east-1:000000000000:orders-dead";
    assert_eq!(policy, serde_json::json!({ "deadLetterTargetArn": dead, "maxReceiveCount": 3 }));
    assert_eq!(attributes(&server, "orders-dead").await["KmsDataKeyReusePeriodSeconds"], "300");
    assert_eq!(attributes(&server, "jobs.fifo").await["FifoThroughputLimit"], "perMessageGroupId");
    let tags = server.client().list_queue_tags().queue_url(server.queue_url("orders")).send().await.unwrap();
    assert_eq!(tags.tags.unwrap()["team"], "shop");
}

#[test]
fn example_of_the_guide_has_every_setting() {
    let mut tables = vec![
        "x = 1",
        "[limits]\nx = 1",
        "[[queues]]\nname = 'a'\nx = 1",
        "[[topics]]\nname = 'a'\nx = 1",
        "[[subscriptions]]\ntopic = 'a'\nx = 1",
    ];
    if cfg!(feature = "s3") {
        tables.push("[s3]\ndirectory = 'd'\nx = 1");
        tables.push("[[buckets]]\nname = 'abc'\nx = 1");
        tables.push("[[buckets]]\nname = 'abc'\nnotifications = [{ x = 1 }]");
    }
    for text in tables {
        let text = refusal(text);
        let (_, known) = text.rsplit_once("known are ").unwrap();
        for name in known.split(", ") {
            let is_there = examples().flat_map(str::lines).any(|line| {
                let line = line.trim_start_matches('[').trim_start_matches("buckets.");
                line.strip_prefix(name).is_some_and(|rest| rest.starts_with([' ', ']']))
            });
            assert!(is_there, "{name}");
        }
    }
}

#[test]
fn config_of_the_other_guides_is_valid() {
    for page in [include_str!("../../docs/faults.md"), include_str!("../../docs/dead-letters.md")] {
        let mut examples = examples_of(page).peekable();
        assert!(examples.peek().is_some(), "{page}");
        examples.for_each(|example| drop(server(example).unwrap()));
    }
}

#[cfg(feature = "s3")]
#[test]
fn example_of_s3_works() {
    let file = Config::parse(examples().nth(1).unwrap(), "config-file.md").unwrap();
    let expected = sqs_mock_server::s3::S3::in_dir("payloads").port(9325).bucket("orders").bucket("audit");
    assert_eq!(file.s3, Some(expected));
    MockSqsBuilder::from(file).in_process().expect("valid buckets");
    for example in examples_of(include_str!("../../docs/s3.md")) {
        server(example).expect("a valid example");
    }
}

#[cfg(not(feature = "s3"))]
#[test]
fn build_without_s3_rejects_its_settings() {
    for (text, place) in [("[s3]\ndirectory = 'd'", "1:1: s3"), ("[[buckets]]\nname = 'abc'", "1:1: buckets")]
    {
        let expected = format!("config:{place}: this build has no S3; enable the cargo feature s3");
        assert_eq!(refusal(text), expected);
    }
    let output = run(&["--with-s3", "d"]);
    assert_eq!(output.status.code(), Some(2));
}

#[tokio::test]
async fn queues_can_be_in_any_order() {
    let forwards = "[[queues]]\nname = 'a'\ndead_letter_queue = 'b'\nmax_receive_count = 1\n[[queues]]\nname = 'b'\n\
                    dead_letter_queue = 'a'\nmax_receive_count = 2";
    let server = server(forwards).unwrap();
    for (name, other) in [("a", "b"), ("b", "a")] {
        assert!(attributes(&server, name).await["RedrivePolicy"].contains(&format!(":{other}\"")));
    }
}

#[test]
fn same_name_can_be_in_two_regions() {
    let two = "[[queues]]\nname = 'a'\n[[queues]]\nname = 'a'\nregion = 'eu-west-1'";
    assert_eq!(server(two).unwrap().configured_queues().len(), 2);
    let same = "region = 'eu-west-1'\n[[queues]]\nname = 'a'\n[[queues]]\nname = 'a'\nregion = 'eu-west-1'";
    assert_eq!(
        refusal(same),
        "config:5:8: queues[1].name: duplicate queue name; first defined at config:3:8"
    );
}

#[test]
fn dead_letter_queue_must_exist_and_have_the_same_type() {
    let with = |target: &str| {
        format!(
            "[[queues]]\nname = 'a'\ndead_letter_queue = '{target}'\nmax_receive_count = 1\n[[queues]]\nname = 'b'\n[[queues]]\nname = 'c.fifo'"
        )
    };
    assert!(server(&with("b")).is_ok());
    let text = refusal(&with("x"));
    assert!(
        text.starts_with("config:3:21: queues[0].dead_letter_queue: there is no queue \"x\" in region"),
        "{text}"
    );
    assert!(text.ends_with("candidates are a, b"), "{text}");
    let text = refusal(&with("c.fifo"));
    assert!(
        text.contains("queues[0].dead_letter_queue: the dead-letter queue of a FIFO queue must be FIFO"),
        "{text}"
    );
}

#[test]
fn dead_letter_queue_can_deny_its_sources() {
    let text = refusal(
        "[[queues]]\nname = 'a'\ndead_letter_queue = 'b'\nmax_receive_count = 1\n[[queues]]\nname = 'b'\n\
         redrive_allow_policy = '{\"redrivePermission\":\"denyAll\"}'",
    );
    assert!(text.starts_with("config:3:21: queues[0].dead_letter_queue: "), "{text}");
    assert!(text.contains("does not allow redrive"), "{text}");
}

#[test]
fn queue_over_the_limit_is_rejected_with_its_position() {
    let text = refusal("limits.max_queues = 1\n[[queues]]\nname = 'a'\n[[queues]]\nname = 'b'");
    assert!(text.starts_with("config:5:8: queues[1].name: This server has 1 queues"), "{text}");
}

#[tokio::test]
async fn later_calls_of_the_builder_replace_settings_of_the_file() {
    let text = "port = 1\naccount = '111122223333'\nregion = 'eu-west-1'\n[[queues]]\nname = 'a'";
    let builder = MockSqsBuilder::from_toml(text).unwrap().port(0).region("us-west-2");
    let server = builder.start().await.unwrap();
    assert!(server.queue("a").exists());
    assert!(server.configured_queues()[0].ends_with("/111122223333/a"));
    assert_eq!(server.environment()[3], ("AWS_REGION", "us-west-2".to_owned()));
}

#[test]
fn keys_without_auth_are_not_required() {
    assert!(server("[keys]\nAKID = 'secret'").is_ok());
    assert!(refusal("auth = 'sigv4'").contains("without a single key"));
}

#[test]
fn error_names_a_file_that_cannot_be_read() {
    let error = MockSqsBuilder::from_file("/nowhere/sqs.toml").unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
    assert!(error.to_string().starts_with("cannot read the config file /nowhere/sqs.toml: "));
}

#[test]
fn flags_override_the_environment_which_overrides_the_file() {
    let file = File::new(
        "precedence",
        "host = 'nowhere.invalid'\nport = 1\nregion = 'eu-west-1'\naccount = '111122223333'\none_minute_rules = false\nstrict = true\n[[queues]]\nname = 'a'",
    );
    let mut command = binary();
    command
        .env("SQS_MOCK_CONFIG", file.path())
        .env("SQS_MOCK_HOST", "127.0.0.1")
        .env("SQS_MOCK_PORT", "2")
        .env("SQS_MOCK_REGION", "us-west-2");
    command.env("SQS_MOCK_ONE_MINUTE_RULES", "false").args(["--port", "0", "--one-minute-rules"]);
    let mut server = Running::start(&mut command);
    let endpoint = server.endpoint();
    let lines: Vec<_> = (0..12).map(|_| server.line()).collect();
    assert_eq!(lines[4], "export AWS_REGION=us-west-2");
    assert!(!endpoint.ends_with(":1") && !endpoint.ends_with(":2"), "{endpoint}");
    assert_eq!(lines[9..], [String::new(), "Queues:".to_owned(), format!("  {endpoint}/111122223333/a")]);
    // Callers that do not sign are in the region of the server.
    let get = |query: &str| {
        ask(&endpoint, &format!("GET {query} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"))
    };
    assert!(get("/111122223333/a?Action=DeleteQueue").contains("200 OK"));
    let again = get("/?Action=CreateQueue&QueueName=a");
    assert!(again.contains("QueueDeletedRecently"), "the flag applies: {again}");
}

#[test]
fn keys_of_the_file_are_accepted() {
    let file = File::new("keys", "port = 0\nauth = 'sigv4'\n[keys]\nAKID = 'secret'");
    let mut server = Running::start(binary().args(["--config", file.path()]));
    let endpoint = server.endpoint();
    let lines: Vec<_> = (0..8).map(|_| server.line()).collect();
    assert_eq!(lines[6..], ["export AWS_ACCESS_KEY_ID=AKID", SECRET_IS_KNOWN]);
    let answer = ask(&endpoint, "GET /?Action=ListQueues HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
}

#[test]
fn errors_end_the_binary_before_it_listens() {
    let file = File::new(
        "mistakes",
        "port = 0\n[[queues]]\nname = 'a'\ndelay = '1h'\n[[queues]]\nname = 'b'\nregion = 'X'",
    );
    for arguments in [&["--config", file.path()][..], &["--config", file.path(), "--check-config"]] {
        let output = run(arguments);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
        let stderr = String::from_utf8(output.stderr).unwrap();
        let lines: Vec<_> = stderr.lines().collect();
        assert_eq!(lines.len(), 2, "{stderr}");
        assert!(lines[0].starts_with(&format!("error: {}:4:9: queues[0].delay: ", file.path())), "{stderr}");
        assert!(
            lines[1].starts_with(&format!("error: {}:7:10: queues[1].region: ", file.path())),
            "{stderr}"
        );
    }
}

#[test]
fn check_reports_a_valid_file_and_exits() {
    let file = File::new("fine", example());
    let output = run(&["--config", file.path(), "--check-config"]);
    let expected = format!("{}: no problems found, queues: 3, topics: 2\n", file.path());
    assert_eq!((output.status.code(), String::from_utf8(output.stdout).unwrap()), (Some(0), expected));
}

#[test]
fn file_can_be_read_without_a_server() {
    let file = File::new("apart", example());
    let read = Config::read(&file.0).unwrap();
    assert_eq!((read.port, read.seed), (Some(9324), Some(7)));
}
