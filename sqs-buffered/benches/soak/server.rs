//! The server, in a separate process, so that memory of clients and server is measured separately.

use std::time::Duration;

use sqs_benchmarks::server::Server as Process;
use sqs_client::config::{Credentials, Region};
use sqs_client::wire::service_error::ErrorCode;
use sqs_mock_server::MockSqs;
use sqs_mock_server::faults::Fault;

use crate::BoxError;

/// A server process.
pub(crate) struct Server {
    process: Process,
    pub(crate) url: String,
    pub(crate) seed: String,
}

impl Server {
    /// Starts this program as a server. `share` is the probability of each fault.
    pub(crate) fn start(share: f64, seed: Option<u64>) -> Result<Self, BoxError> {
        let arguments = ["--serve".to_owned(), "--faults".to_owned(), share.to_string()].into_iter();
        let seed = seed.into_iter().flat_map(|seed| ["--seed".to_owned(), seed.to_string()]);
        let mut process = Process::spawn_self(arguments.chain(seed))?;
        let (url, seed) = (process.read_line()?, process.read_line()?);
        Ok(Self { process, url, seed })
    }

    pub(crate) fn client(&self) -> sqs_client::Client {
        let config = sqs_client::Config::builder()
            .region(Region::new("us-east-1"))
            .credentials_provider(Credentials::new("test", "test", None, None, "soak"))
            .endpoint_url(&self.url);
        sqs_client::Client::from_conf(config.build())
    }

    /// A client of the AWS SDK, which waits for responses for ever.
    pub(crate) fn aws_client(&self) -> aws_sdk_sqs::Client {
        let config = aws_sdk_sqs::Config::builder()
            .behavior_version(aws_sdk_sqs::config::BehaviorVersion::latest())
            .region(aws_sdk_sqs::config::Region::new("us-east-1"))
            .credentials_provider(aws_sdk_sqs::config::Credentials::new("test", "test", None, None, "soak"))
            .http_client(aws_smithy_http_client::Builder::new().build_http())
            .timeout_config(aws_sdk_sqs::config::timeout::TimeoutConfig::disabled())
            .stalled_stream_protection(aws_sdk_sqs::config::StalledStreamProtectionConfig::disabled())
            .endpoint_url(&self.url);
        aws_sdk_sqs::Client::from_conf(config.build())
    }

    /// Removes all faults. Returns their names and counts.
    pub(crate) fn stop_faults(&mut self) -> Result<Vec<(u64, String)>, BoxError> {
        self.process.write_line("stop-faults")?;
        let mut faults = Vec::new();
        loop {
            match self.process.read_line()? {
                line if line.is_empty() => return Ok(faults),
                line => {
                    let (times, name) =
                        line.split_once(' ').ok_or("a line of the server has no count and fault")?;
                    faults.push((times.parse()?, name.to_owned()));
                }
            }
        }
    }

    /// Lets the server not respond to requests for a queue during `time`. For the queue `*`, all requests of this time are never
    /// answered.
    pub(crate) fn hang(&mut self, queue: &str, time: Duration) -> Result<(), BoxError> {
        self.process.write_line(&format!("hang {queue} {}", time.as_millis()))
    }

    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }
}

/// Runs the server in the child process until the parent ends.
pub(crate) async fn serve(share: f64, seed: Option<u64>) -> Result<(), BoxError> {
    let builder = seed.into_iter().fold(MockSqs::builder(), sqs_mock_server::MockSqsBuilder::seed);
    let server = builder.start().await?;
    let faults = inject_faults(&server, share);
    println!("{}\n{}", server.endpoint_url(), server.seed());
    tokio::task::spawn_blocking(move || {
        for command in std::io::stdin().lines() {
            let command = command?;
            if let Some((queue, time)) = command.strip_prefix("hang ").and_then(|rest| rest.split_once(' ')) {
                let time = Duration::from_millis(time.parse()?);
                let fault = match queue {
                    "*" => Fault::latency(Duration::from_secs(24 * 3_600)),
                    queue => Fault::latency(time).queue(queue),
                };
                let fault = server.faults().inject(fault);
                std::thread::spawn(move || {
                    std::thread::sleep(time);
                    fault.remove();
                });
            } else if command == "stop-faults" {
                server.faults().clear();
                for (name, fault) in &faults {
                    println!("{} {name}", fault.hits());
                }
                println!();
            }
        }
        Ok(())
    })
    .await?
}

fn inject_faults(
    server: &MockSqs,
    share: f64,
) -> Vec<(&'static str, sqs_mock_server::faults::InjectedFault)> {
    let kinds = [
        ("latency up to 20 ms", Fault::latency_between(Duration::ZERO, Duration::from_millis(20))),
        ("throttled", Fault::throttle()),
        ("error 500", Fault::error(ErrorCode::InternalFailure)),
        ("proxy status 503", Fault::status(503, "busy")),
        ("reset before request", Fault::reset_before()),
        ("reset before response", Fault::reset_after()),
        ("response truncated", Fault::truncate()),
        ("entry failed", Fault::fail_entries(ErrorCode::InternalFailure)),
        ("entry omitted", Fault::omit_entries()),
        ("redelivered", Fault::redeliver()),
    ];
    let inject = |(name, fault): (_, Fault)| (name, server.faults().inject(fault.probability(share)));
    kinds.into_iter().map(inject).collect()
}
