//! The subcommand `healthcheck` of the binary.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::Output;

use crate::command_line::{Running, binary, run};

/// The exit code, standard output and standard error.
fn outcome(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// The outcome of a check of a server that answers anything with `response`.
fn check_of(response: &'static [u8]) -> (String, (Option<i32>, String, String)) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let other = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = [0; 1024];
        let read = stream.read(&mut request).unwrap();
        assert!(request[..read].starts_with(b"GET /health HTTP/1.1\r\n"));
        // The check may have closed the connection already.
        let _ = stream.write_all(response);
    });
    let output = run(&["healthcheck", "--port", &port]);
    other.join().unwrap();
    (port, outcome(&output))
}

#[test]
fn running_server_is_healthy() {
    let mut server = Running::start(binary().args(["--port", "0"]));
    let endpoint = server.endpoint();
    let port = endpoint.rsplit(':').next().unwrap();
    let version = env!("CARGO_PKG_VERSION");
    let healthy = format!("sqs-mock-server {version} at port {port} of 127.0.0.1: ok\n");
    let expected = (Some(0), healthy, String::new());
    assert_eq!(outcome(&run(&["healthcheck", "--port", port])), expected);
    assert_eq!(outcome(&run(&["--port", port, "healthcheck"])), expected);

    let variables = [("SQS_MOCK_PORT", port), ("SQS_MOCK_HOST", "0.0.0.0"), ("SQS_MOCK_NONSENSE", "1")];
    assert_eq!(outcome(&binary().envs(variables).arg("healthcheck").output().unwrap()), expected);

    let config = std::env::temp_dir().join(format!("healthcheck-{}.toml", std::process::id()));
    std::fs::write(&config, format!("port = {port}")).unwrap();
    let output = binary().arg("healthcheck").arg("--config").arg(&config).output().unwrap();
    std::fs::remove_file(config).unwrap();
    assert_eq!(outcome(&output), expected);
}

#[test]
fn port_without_server_is_unhealthy() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port().to_string();
    drop(free);
    let (code, stdout, stderr) = outcome(&run(&["healthcheck", "--port", &port]));
    assert_eq!((code, stdout.as_str()), (Some(1), ""));
    assert!(stderr.starts_with(&format!("error: port {port} of 127.0.0.1: ")), "{stderr}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
}

#[test]
fn other_servers_are_unhealthy() {
    static ENDLESS: [u8; 1 << 20] = [b'x'; 1 << 20];
    for response in [
        b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok".as_slice(),
        b"HTTP/1.1 200 OK\r\n\r\n{\"status\":\"down\",\"version\":\"1\"}",
        b"HTTP/1.1 503 Service Unavailable\r\n\r\n{\"status\":\"ok\",\"version\":\"1\"}",
        b"",
        b"\xff",
        &ENDLESS,
    ] {
        let (port, outcome) = check_of(response);
        let text = "the response is not that of a healthy sqs-mock-server";
        let expected = format!("error: port {port} of 127.0.0.1: {text}\n");
        assert_eq!(outcome, (Some(1), String::new(), expected));
    }
}

#[test]
fn silent_server_is_unhealthy_after_two_seconds() {
    // The real time of a real process: the operating system accepts the connection, and nobody answers.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port().to_string();
    let expected = format!("error: port {port} of 127.0.0.1: no response within 2 s\n");
    assert_eq!(outcome(&run(&["healthcheck", "--port", &port])), (Some(1), String::new(), expected));
}

#[test]
fn port_zero_is_rejected() {
    let expected = "error: port 0 means any free port; name that of the server with --port\n";
    assert_eq!(outcome(&run(&["healthcheck", "--port", "0"])), (Some(1), String::new(), expected.to_owned()));
}

#[test]
fn check_of_a_compatible_server_uses_its_port() {
    for arguments in [&["healthcheck", "--compat", "localstack"][..], &["--compat=localstack", "healthcheck"]]
    {
        let (_, stdout, stderr) = outcome(&run(arguments));
        assert!(format!("{stdout}{stderr}").contains("port 4566 of 127.0.0.1: "), "{stdout}{stderr}");
    }
    let output = binary().env("SQS_MOCK_COMPAT", "localstack").arg("healthcheck").output().unwrap();
    let (_, stdout, stderr) = outcome(&output);
    assert!(format!("{stdout}{stderr}").contains("port 4566 of 127.0.0.1: "), "{stdout}{stderr}");
}
