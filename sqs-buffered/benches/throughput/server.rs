//! The server, a process of its own.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use sqs_client::Client;
use sqs_client::config::{Credentials, Region};

use crate::Failed;

/// A server that runs until this is dropped.
pub(crate) struct Server {
    process: Child,
    url: String,
}

impl Server {
    /// A server whose answers take so long.
    pub(crate) fn start(latency_ms: u64) -> Result<Self, Failed> {
        let binary = std::env::var_os("SQS_MOCK_SERVER").map_or_else(Self::built, |path| Ok(path.into()))?;
        let fault = format!(
            r#"{{"effect":"latency","latency_ms":{latency_ms},"actions":["SendMessage","SendMessageBatch"]}}"#
        );
        let mut command = Command::new(binary);
        command.args(["--port", "0"]).stdout(Stdio::piped());
        if latency_ms > 0 {
            command.args(["--fault", &fault]);
        }
        let mut process = command.spawn()?;
        let mut line = String::new();
        BufReader::new(process.stdout.take().ok_or("no output")?).read_line(&mut line)?;
        let url = line.split_whitespace().next_back().ok_or("no greeting")?.to_owned();
        Ok(Self { process, url })
    }

    /// Beside this binary, built if need be.
    fn built() -> Result<std::path::PathBuf, Failed> {
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

    pub(crate) fn client(&self) -> Client {
        let config = sqs_client::Config::builder()
            .region(Region::new("us-east-1"))
            .credentials_provider(Credentials::new("test", "test", None, None, "bench"))
            .endpoint_url(&self.url);
        Client::from_conf(config.build())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // An error says that it is gone already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
