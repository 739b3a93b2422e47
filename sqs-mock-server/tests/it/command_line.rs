//! The binary: what it prints, how it stops, what it says about bad settings.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, ChildStdout, Command, Output, Stdio};

/// A running binary, which does not outlive the test.
struct Running {
    child: Child,
    stdout: BufReader<ChildStdout>,
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may be gone already, which is just as well.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn binary() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sqs-mock-server"));
    command.env_clear().stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run(arguments: &[&str]) -> Output {
    binary().args(arguments).output().unwrap()
}

impl Running {
    fn start(command: &mut Command) -> Self {
        let mut child = command.spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self { child, stdout }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// The endpoint of the first line, up to which the server is ready.
    fn endpoint(&mut self) -> String {
        let line = self.line();
        line.rsplit(' ').next().unwrap().to_owned()
    }
}

fn ask(endpoint: &str, request: &str) -> String {
    let mut stream = std::net::TcpStream::connect(endpoint.trim_start_matches("http://")).unwrap();
    std::io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn start_prints_the_endpoint_and_an_environment_to_paste() {
    let mut server = Running::start(binary().args(["--port", "0", "--region", "eu-west-1"]));
    let endpoint = server.endpoint();
    assert!(endpoint.starts_with("http://127.0.0.1:"), "{endpoint}");
    let lines: Vec<String> = (0..5).map(|_| server.line()).collect();
    let expected = [
        String::new(),
        format!("export AWS_ENDPOINT_URL_SQS={endpoint}"),
        "export AWS_REGION=eu-west-1".to_owned(),
        "export AWS_ACCESS_KEY_ID=test".to_owned(),
        "export AWS_SECRET_ACCESS_KEY=test".to_owned(),
    ];
    assert_eq!(lines, expected);
    let answer = ask(&endpoint, "GET /health HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
}

#[test]
fn environment_sets_what_flags_do_not() {
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
fn queues_are_created_on_demand_and_named_in_the_style_asked_for() {
    let arguments = ["--port", "0", "--auto-create", "--queue-url-style", "subdomain"];
    let mut server = Running::start(binary().args(arguments));
    let endpoint = server.endpoint();
    let request = "GET /?Action=GetQueueUrl&QueueName=q HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    let answer = ask(&endpoint, request);
    assert!(answer.contains("<QueueUrl>http://sqs.us-east-1.x/000000000000/q</QueueUrl>"), "{answer}");
}

#[test]
fn signatures_are_asked_for_on_request() {
    let mut server =
        Running::start(binary().args(["--port", "0", "--auth", "sigv4", "--key", "AKID:secret"]));
    let endpoint = server.endpoint();
    let lines: Vec<String> = (0..5).map(|_| server.line()).collect();
    assert_eq!(lines[3..], ["export AWS_ACCESS_KEY_ID=AKID", "export AWS_SECRET_ACCESS_KEY=secret"]);
    let answer = ask(&endpoint, "GET /?Action=ListQueues HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 403") && answer.contains("<Code>AccessDenied</Code>"), "{answer}");
    let refused = run(&["--auth", "sigv4", "--key", "no-colon"]);
    let text = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && text.contains("ID:SECRET"), "{text}");
}

#[cfg(unix)]
#[test]
fn sigterm_stops_it_gracefully() {
    let mut server = Running::start(binary().args(["--port", "0"]));
    let endpoint = server.endpoint();
    ask(&endpoint, "GET /?Action=CreateQueue&QueueName=q HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    let mut stream = std::net::TcpStream::connect(endpoint.trim_start_matches("http://")).unwrap();
    let poll = "GET /000000000000/q?Action=ReceiveMessage&WaitTimeSeconds=20 HTTP/1.1\r\nhost: x\r\n\r\n";
    std::io::Write::write_all(&mut stream, poll.as_bytes()).unwrap();
    // Another process has to read the request; nothing tells when it has.
    std::thread::sleep(std::time::Duration::from_millis(90));
    assert!(Command::new("kill").arg(server.child.id().to_string()).status().unwrap().success());
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.contains("<ReceiveMessageResult/>"), "{answer}");
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
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
fn bad_settings_are_explained() {
    for (arguments, expected) in [
        (["--account", "12"], "error: the account must be 12 digits, not \"12\"\n"),
        (["--region", "Mars!"], "error: \"Mars!\" is not the name of a region\n"),
        (["--public-url", "sqs"], "error: the public URL must look like http://host:port, not \"sqs\"\n"),
    ] {
        let output = run(&arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), expected);
    }
    for arguments in [["--port", "70000"], ["--seed", "x"], ["--log", "sqs=loud"]] {
        let output = run(&arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(stderr.contains(arguments[0]) && stderr.contains(arguments[1]), "{stderr}");
    }
}

#[test]
fn help_teaches_by_examples() {
    let help = String::from_utf8(run(&["--help"]).stdout).unwrap();
    for text in ["Examples:", "--relaxed-timing", "SQS_MOCK_PORT", "9324", "sqs create-queue"] {
        assert!(help.contains(text), "{text} is missing in:\n{help}");
    }
}
