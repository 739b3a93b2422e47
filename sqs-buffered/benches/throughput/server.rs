//! The server, a process of its own.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use sqs_benchmarks::server::Server as Process;
use sqs_client::Client;
use sqs_client::config::{Credentials, Region};

use crate::Failed;

/// Names the program of another server. It is none of `SQS_MOCK_..`: those are settings of the server itself.
const PROGRAM: &str = "BENCH_SERVER";

/// A server that runs until this is dropped.
pub(crate) struct Server {
    _process: Process,
    url: String,
}

impl Server {
    /// A server whose answers take so long.
    pub(crate) fn start(latency_ms: u64) -> Result<Self, Failed> {
        let program = std::env::var_os(PROGRAM).map_or_else(built, |path| Ok(path.into()))?;
        let fault = format!(
            r#"{{"effect":"latency","latency_ms":{latency_ms},"actions":["SendMessage","SendMessageBatch"]}}"#
        );
        let mut command = Command::new(program);
        command.args(["--port", "0"]).env_remove(PROGRAM).stdout(Stdio::piped());
        if latency_ms > 0 {
            command.args(["--fault", &fault]);
        }
        let mut process = Process::of(command)?;
        let url = process.line()?.split_whitespace().next_back().ok_or("no greeting")?.to_owned();
        Ok(Self { _process: process, url })
    }

    pub(crate) fn client(&self) -> Client {
        let config = sqs_client::Config::builder()
            .region(Region::new("us-east-1"))
            .credentials_provider(Credentials::new("test", "test", None, None, "bench"))
            .endpoint_url(&self.url);
        Client::from_conf(config.build())
    }
}

/// Beside this binary, built if need be.
fn built() -> Result<PathBuf, Failed> {
    let arguments = ["build", "--release", "--quiet", "--package", "sqs-mock-server"];
    let status = Command::new(env!("CARGO")).args(arguments).status()?;
    let this = std::env::current_exe()?;
    let directory = this.parent().and_then(|deps| deps.parent()).ok_or("no target directory")?;
    if status.success() {
        Ok(directory.join("sqs-mock-server"))
    } else {
        Err("the server does not build".into())
    }
}
