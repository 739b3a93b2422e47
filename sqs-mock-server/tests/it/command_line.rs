//! The binary: output, signals, and errors in settings.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, ChildStdout, Command, Output, Stdio};

use sqs_mock_server::{ByteSize, Limits};

use crate::wire::ask;

/// The text that replaces a secret.
pub(crate) const SECRET_IS_KNOWN: &str = "# AWS_SECRET_ACCESS_KEY is the secret that was given for this key";

/// A running binary, which does not outlive the test.
pub(crate) struct Running {
    pub(crate) child: Child,
    stdout: BufReader<ChildStdout>,
}

impl Drop for Running {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn binary() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sqs-mock-server"));
    command.env_clear().stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

pub(crate) fn run(arguments: &[&str]) -> Output {
    binary().args(arguments).output().unwrap()
}

impl Running {
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command.spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self { child, stdout }
    }

    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// The endpoint in the first line, which is printed once the server is ready.
    pub(crate) fn endpoint(&mut self) -> String {
        let line = self.line();
        line.rsplit(' ').next().unwrap().to_owned()
    }
}

#[test]
fn start_prints_the_endpoint_and_environment_variables() {
    let mut server = Running::start(binary().args(["--port", "0", "--region", "eu-west-1"]));
    let endpoint = server.endpoint();
    assert!(endpoint.starts_with("http://127.0.0.1:"), "{endpoint}");
    let lines: Vec<String> = (0..9).map(|_| server.line()).collect();
    let expected = [
        String::new(),
        format!("export AWS_ENDPOINT_URL_SQS={endpoint}"),
        format!("export AWS_ENDPOINT_URL_SNS={endpoint}"),
        format!("export AWS_ENDPOINT_URL_STS={endpoint}"),
        "export AWS_REGION=eu-west-1".to_owned(),
        "export AWS_DEFAULT_REGION=eu-west-1".to_owned(),
        "export AWS_ACCESS_KEY_ID=test".to_owned(),
        "export AWS_SECRET_ACCESS_KEY=test".to_owned(),
        format!("export AWS_ENDPOINT_URL_S3={endpoint}"),
    ];
    assert_eq!(lines, expected);
    let answer = ask(&endpoint, "GET /health HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
}

#[test]
fn compatible_server_prints_that_it_is_ready() {
    let mut server = Running::start(binary().args(["--port", "0", "--compat", "localstack"]));
    let endpoint = server.endpoint();
    let lines: Vec<String> = (0..13).map(|_| server.line()).collect();
    assert_eq!(lines[9..], ["", &format!("Console: {endpoint}/_mock/console/"), "", "Ready."]);
    let answer = ask(&endpoint, "GET /_localstack/health HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
}

#[test]
fn topics_of_a_config_file_are_listed_at_the_start() {
    let config = std::env::temp_dir().join(format!("topics-{}.toml", std::process::id()));
    std::fs::write(&config, "[[topics]]\nname = 'shop'").unwrap();
    let mut server = Running::start(binary().args(["--port", "0"]).arg("--config").arg(&config));
    let lines: Vec<String> = (0..13).map(|_| server.line()).collect();
    std::fs::remove_file(config).unwrap();
    assert_eq!(lines[10..], ["", "Topics:", "  arn:aws:sns:us-east-1:000000000000:shop"]);
}

#[test]
fn environment_variables_apply_without_flags() {
    let mut command = binary();
    command.env("SQS_MOCK_PORT", "1").env("SQS_MOCK_ACCOUNT", "123456789012").args(["--port", "0"]);
    let endpoint = Running::start(&mut command);
    let mut server = endpoint;
    let endpoint = server.endpoint();
    let request = "GET /?Action=CreateQueue&QueueName=q HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    let answer = ask(&endpoint, request);
    assert!(answer.contains("<QueueUrl>http://x/123456789012/q</QueueUrl>"), "{answer}");
}

#[test]
fn queues_are_created_on_first_use_with_urls_in_the_configured_style() {
    let arguments = ["--port", "0", "--auto-create", "--queue-url-style", "subdomain"];
    let mut server = Running::start(binary().args(arguments));
    let endpoint = server.endpoint();
    let request = "GET /?Action=GetQueueUrl&QueueName=q HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    let answer = ask(&endpoint, request);
    assert!(answer.contains("<QueueUrl>http://sqs.us-east-1.x/000000000000/q</QueueUrl>"), "{answer}");
}

#[test]
fn signatures_are_required_with_auth_sigv4() {
    let mut server =
        Running::start(binary().args(["--port", "0", "--auth", "sigv4", "--key", "AKID:secret"]));
    let endpoint = server.endpoint();
    let lines: Vec<String> = (0..8).map(|_| server.line()).collect();
    assert_eq!(lines[6..], ["export AWS_ACCESS_KEY_ID=AKID", SECRET_IS_KNOWN]);
    let answer = ask(&endpoint, "GET /?Action=ListQueues HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 403") && answer.contains("<Code>AccessDenied</Code>"), "{answer}");
    let refused = run(&["--auth", "sigv4", "--key", "no-colon"]);
    let text = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && text.contains("ID:SECRET"), "{text}");
}

#[test]
fn seed_is_shown_in_a_format_that_the_flag_accepts() {
    let index = "GET /_mock HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    for seed in ["48879", "0xbeef"] {
        let mut server = Running::start(binary().args(["--port", "0", "--seed", seed]));
        let answer = ask(&server.endpoint(), index);
        assert!(answer.contains(r#""seed":"0xbeef""#), "{answer}");
    }
}

#[test]
fn journal_has_the_configured_capacity() {
    let get = |path: &str| format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    for (capacity, total) in [("0", 0), ("2", 2)] {
        let mut server = Running::start(binary().args(["--port", "0", "--journal", capacity]));
        let endpoint = server.endpoint();
        for _ in 0..3 {
            ask(&endpoint, &get("/?Action=ListQueues"));
        }
        let answer = ask(&endpoint, &get("/_mock/requests"));
        assert!(answer.contains(&format!(r#""total":{total}}}"#)), "{answer}");
    }
}

#[cfg(unix)]
#[test]
fn log_explains_empty_receives() {
    let mut server = Running::start(binary().args(["--port", "0", "--log", "sqs_mock_server=debug"]));
    let endpoint = server.endpoint();
    let get = |query: &str| {
        ask(&endpoint, &format!("GET /{query} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"))
    };
    get("?Action=CreateQueue&QueueName=q");
    get("000000000000/q?Action=ReceiveMessage");
    assert!(Command::new("kill").arg(server.child.id().to_string()).status().unwrap().success());
    let mut log = String::new();
    server.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    assert!(log.contains("nothing to receive") && log.contains("the queue has no messages"), "{log}");
}

#[cfg(unix)]
#[test]
fn either_signal_stops_it_gracefully() {
    for signal in ["-TERM", "-INT"] {
        stops_gracefully(signal);
    }
}

#[cfg(unix)]
fn stops_gracefully(signal: &str) {
    let mut server = Running::start(binary().args(["--port", "0"]));
    let endpoint = server.endpoint();
    ask(&endpoint, "GET /?Action=CreateQueue&QueueName=q HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    let mut stream = std::net::TcpStream::connect(endpoint.trim_start_matches("http://")).unwrap();
    let poll = "GET /000000000000/q?Action=ReceiveMessage&WaitTimeSeconds=20 HTTP/1.1\r\nhost: x\r\n\r\n";
    std::io::Write::write_all(&mut stream, poll.as_bytes()).unwrap();
    // The server must have read the request; nothing signals that.
    std::thread::sleep(std::time::Duration::from_millis(90));
    assert!(Command::new("kill").arg(signal).arg(server.child.id().to_string()).status().unwrap().success());
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.contains("<ReceiveMessageResult/>"), "{answer}");
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
}

/// As while a large data directory is read.
#[cfg(unix)]
#[test]
fn signal_ends_a_start_that_takes_long() {
    let config = std::env::temp_dir().join(format!("long-start-{}.toml", std::process::id()));
    let queues: Vec<_> = (0..50_000).map(|number| format!("[[queues]]\nname = 'q{number}'")).collect();
    std::fs::write(&config, queues.join("\n")).unwrap();
    let mut server =
        Running::start(binary().args(["--port", "0", "--log", "info"]).env("SQS_MOCK_CONFIG", &config));
    let stderr = BufReader::new(server.child.stderr.take().unwrap());
    let mut log = stderr.lines().map(Result::unwrap);
    assert!(log.any(|line| line.contains("starting")));
    assert!(Command::new("kill").args(["-TERM", &server.child.id().to_string()]).status().unwrap().success());
    assert!(log.any(|line| line.contains("ended before the start was complete")));
    assert_eq!(server.child.wait().unwrap().code(), Some(143));
    std::fs::remove_file(config).unwrap();
}

#[cfg(unix)]
#[test]
fn second_signal_ends_the_process_immediately() {
    use std::io::Write as _;
    let arguments = ["--port", "0", "--log", "info"];
    let config = std::env::temp_dir().join(format!("second-signal-{}.toml", std::process::id()));
    std::fs::write(&config, "limits.grace = '30s'\nlimits.body_timeout = '30s'").unwrap();
    let mut server = Running::start(binary().args(arguments).env("SQS_MOCK_CONFIG", &config));
    let endpoint = server.endpoint();
    let signal = |process: u32| {
        assert!(Command::new("kill").arg("-TERM").arg(process.to_string()).status().unwrap().success());
    };
    // A request in progress, whose body never arrives.
    let mut stream = std::net::TcpStream::connect(endpoint.trim_start_matches("http://")).unwrap();
    stream
        .write_all(b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\nexpect: 100-continue\r\n\r\n")
        .unwrap();
    let mut go_on = [0; 12];
    stream.read_exact(&mut go_on).unwrap();
    assert_eq!(&go_on, b"HTTP/1.1 100");
    let stderr = BufReader::new(server.child.stderr.take().unwrap());
    let mut log = stderr.lines().map(Result::unwrap);
    signal(server.child.id());
    assert!(log.any(|line| line.contains("stopping")), "no first signal");
    signal(server.child.id());
    assert_eq!(server.child.wait().unwrap().code(), Some(143));
    std::fs::remove_file(config).unwrap();
}

#[test]
fn port_in_use_is_explained() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let output = run(&["--port", &port]);
    assert_eq!(output.status.code(), Some(1));
    let expected = format!(
        "error: port {port} of 127.0.0.1 is in use; choose another with --port, or any free one with --port 0\n"
    );
    assert_eq!(String::from_utf8_lossy(&output.stderr), expected);
}

#[test]
fn invalid_settings_are_explained() {
    for (arguments, expected) in [
        (["--account", "12"], "error: account: \"12\" is not allowed; allowed are 12 digits\n"),
        (
            ["--region", "Mars!"],
            "error: region: \"Mars!\" is not allowed; allowed are 1 to 32 of a-z, 0-9 and -, such as \"eu-west-1\"\n",
        ),
        (
            ["--public-url", "sqs"],
            "error: public_url: \"sqs\" is not allowed; allowed is a URL such as \"http://host:port\"\n",
        ),
    ] {
        let output = run(&arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), expected);
    }
    for (arguments, allowed) in [
        (["--port", "70000"], "allowed is a whole number from 0 to 65535"),
        (["--journal", "many"], "allowed is a whole number of 64 bits, such as 1000"),
        (["--seed", "x"], "such as 7 or 0xbeef"),
        (["--log", "sqs=loud"], "invalid"),
    ] {
        let output = run(&arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        for part in [arguments[0], arguments[1], allowed] {
            assert!(stderr.contains(part), "{stderr}");
        }
    }
}

#[test]
fn help_has_examples() {
    let help = String::from_utf8(run(&["--help"]).stdout).unwrap();
    for text in [
        "Examples:",
        "--one-minute-rules",
        "SQS_MOCK_PORT",
        "sqs create-queue",
        "/metrics",
        "Limits:",
        "the second one immediately",
    ] {
        assert!(help.contains(text), "{text} is missing in:\n{help}");
    }
}

#[test]
fn help_shows_the_defaults_of_the_server() {
    let help = String::from_utf8(run(&["--help"]).stdout).unwrap();
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    let limits = Limits::default();
    let defaults = [
        ("--host", "127.0.0.1".to_owned()),
        ("--port", "9324".to_owned()),
        ("--account", "000000000000".to_owned()),
        ("--region", "us-east-1".to_owned()),
        ("--auth", "none".to_owned()),
        ("--key", "test:test".to_owned()),
        ("--delivery", "ordered".to_owned()),
        ("--max-memory", ByteSize(limits.max_memory).to_string()),
        ("--max-queues", limits.max_queues.to_string()),
        ("--max-connections", limits.max_connections.to_string()),
        ("--log", "warn".to_owned()),
        ("--log-format", "text".to_owned()),
    ];
    for (flag, default) in defaults {
        let (_, from) = help.split_once(&format!(" {flag} <")).expect(flag);
        let (text, _) = from.split_once("[env:").expect(flag);
        assert!(text.contains(&format!("[default: {default}]")), "{flag}: {text}");
    }
}

#[test]
fn each_flag_has_an_environment_variable() {
    let help = String::from_utf8(run(&["--help"]).stdout).unwrap();
    // Texts, which also mention flags, have another indentation.
    let flags = help.lines().filter(|line| line.starts_with("      --")).count();
    assert!(flags > 30, "{help}");
    assert_eq!(flags, help.matches("[env: SQS_MOCK_").count(), "{help}");
}

#[test]
fn delivery_accepts_two_values() {
    let output = run(&["--delivery", "sloppy"]);
    assert!(!output.status.success());
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("sloppy") && text.contains("ordered, aws-like"), "{text}");
    let mut command = binary();
    command.env("SQS_MOCK_DELIVERY", "aws-like").args(["--port", "0"]);
    assert!(Running::start(&mut command).endpoint().starts_with("http://"));
}
