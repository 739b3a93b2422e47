//! The subcommand `healthcheck`: asks a running server for its health.

use std::io;
use std::time::Duration;

use serde::Deserialize;
use sqs_mock_server::Config;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::cli::PORT;

/// The maximum time for connecting and for the response together.
const TIMEOUT: Duration = Duration::from_secs(2);
/// The maximum size of a response. Those of the server are far smaller.
const MAX_RESPONSE: u64 = 4096;
/// Health needs neither a token nor an allowed host.
const REQUEST: &[u8] = b"GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";

/// The body of `GET /health`.
#[derive(Deserialize)]
struct Health {
    status: String,
    version: String,
}

/// Asks the server that these settings start, and prints its version.
///
/// # Errors
/// The server cannot be reached, or does not answer in time; or another server answers.
pub(crate) async fn check(config: &Config) -> Result<(), String> {
    let (host, port) = (host(config), config.port.unwrap_or(PORT));
    if port == 0 {
        return Err("port 0 means any free port; name that of the server with --port".to_owned());
    }
    let response = match timeout(TIMEOUT, exchange(host, port)).await {
        Ok(Ok(response)) => response,
        Ok(Err(error)) => return Err(format!("port {port} of {host}: {error}")),
        Err(_) => return Err(format!("port {port} of {host}: no response within {} s", TIMEOUT.as_secs())),
    };
    match read(&response) {
        Some(health) if health.status == "ok" => {
            println!("sqs-mock-server {} at port {port} of {host}: ok", health.version);
            Ok(())
        }
        _ => Err(format!("port {port} of {host}: the response is not that of a healthy sqs-mock-server")),
    }
}

/// The host to connect to; for all interfaces, the loopback address.
fn host(config: &Config) -> &str {
    match config.host.as_deref() {
        None | Some("0.0.0.0") => "127.0.0.1",
        Some("::") => "::1",
        Some(host) => host,
    }
}

async fn exchange(host: &str, port: u16) -> io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect((host, port)).await?;
    stream.write_all(REQUEST).await?;
    let mut response = Vec::new();
    stream.take(MAX_RESPONSE).read_to_end(&mut response).await?;
    Ok(response)
}

fn read(response: &[u8]) -> Option<Health> {
    let (head, body) = str::from_utf8(response).ok()?.split_once("\r\n\r\n")?;
    head.starts_with("HTTP/1.1 200 ").then(|| serde_json::from_str(body).ok())?
}
