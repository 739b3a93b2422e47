//! The server, in a separate process.

use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use sqs_benchmarks::server::Server as Process;
use sqs_client::Client;
use sqs_client::config::{Credentials, Region};

use crate::BoxError;

/// Environment variable with the program of another server. The prefix `SQS_MOCK_` is reserved for settings of the server.
const PROGRAM: &str = "BENCH_SERVER";

/// A server process. Drop stops it.
pub(crate) struct Server {
    _process: Process,
    url: String,
    latency_ms: u64,
}

impl Server {
    /// Starts a server with a latency for sends.
    pub(crate) fn start(latency_ms: u64) -> Result<Self, BoxError> {
        let program = std::env::var_os(PROGRAM).map_or_else(build_server, |path| Ok(path.into()))?;
        let mut command = Command::new(program);
        command.args(["--port", "0"]).env_remove(PROGRAM).stdout(Stdio::piped());
        if latency_ms > 0 {
            command.args(["--fault", &latency(latency_ms)]);
        }
        let mut process = Process::spawn(command)?;
        let url = process
            .read_line()?
            .split_whitespace()
            .next_back()
            .ok_or("the server printed no URL")?
            .to_owned();
        Ok(Self { _process: process, url, latency_ms })
    }

    /// Throttles batch sends above a rate of requests per second, or stops throttling.
    #[allow(dead_code, reason = "not every bench throttles")]
    pub(crate) fn throttle_above(&self, per_second: Option<f64>) -> Result<(), BoxError> {
        self.admin("DELETE", "")?;
        if self.latency_ms > 0 {
            self.admin("POST", &latency(self.latency_ms))?;
        }
        per_second.map_or(Ok(()), |rate| {
            let fault =
                format!(r#"{{"effect":"throttle","above":{rate:.0},"actions":["SendMessageBatch"]}}"#);
            self.admin("POST", &fault)
        })
    }

    fn admin(&self, method: &str, body: &str) -> Result<(), BoxError> {
        let address =
            self.url.strip_prefix("http://").ok_or("the server printed no URL that starts with http://")?;
        let mut stream = std::net::TcpStream::connect(address)?;
        let length = body.len();
        write!(
            stream,
            "{method} /_mock/faults HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
        )?;
        let mut response = String::new();
        stream.read_to_string(&mut response)?;
        if response.starts_with("HTTP/1.1 2") {
            Ok(())
        } else {
            Err(format!("the server rejected the fault {body}: {response}").into())
        }
    }

    pub(crate) fn client(&self) -> Client {
        let config = sqs_client::Config::builder()
            .region(Region::new("us-east-1"))
            .credentials_provider(Credentials::new("test", "test", None, None, "bench"))
            .endpoint_url(&self.url);
        Client::from_conf(config.build())
    }
}

fn latency(milliseconds: u64) -> String {
    format!(
        r#"{{"effect":"latency","latency_ms":{milliseconds},"actions":["SendMessage","SendMessageBatch"]}}"#
    )
}

/// The path of the server, next to this binary. Builds the server if necessary.
fn build_server() -> Result<PathBuf, BoxError> {
    let arguments = ["build", "--release", "--quiet", "--package", "sqs-mock-server"];
    let status = Command::new(env!("CARGO")).args(arguments).status()?;
    let this = std::env::current_exe()?;
    let directory =
        this.parent().and_then(|deps| deps.parent()).ok_or("this program is not in a target directory")?;
    if status.success() {
        Ok(directory.join("sqs-mock-server"))
    } else {
        Err("the build of sqs-mock-server failed".into())
    }
}
