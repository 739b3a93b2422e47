//! The server, in a separate process, so that the memory of the clients is measured alone.

use std::time::Duration;

use sqs_benchmarks::server::Server as Process;
use sqs_client::config::{Credentials, Region};
use sqs_client::wire::service_error::ErrorCode;
use sqs_mock_server::MockSqs;
use sqs_mock_server::faults::Fault;

use crate::Failed;

/// The handle of a server process.
pub(crate) struct Server {
    process: Process,
    pub(crate) url: String,
    pub(crate) seed: String,
}

impl Server {
    /// Starts this program again, as a server that injects each fault into this fraction of the requests.
    pub(crate) fn start(share: f64, seed: Option<u64>) -> Result<Self, Failed> {
        let words = ["--serve".to_owned(), "--faults".to_owned(), share.to_string()].into_iter();
        let seed = seed.into_iter().flat_map(|seed| ["--seed".to_owned(), seed.to_string()]);
        let mut process = Process::of_this_program(words.chain(seed))?;
        let (url, seed) = (process.line()?, process.line()?);
        Ok(Self { process, url, seed })
    }

    pub(crate) fn client(&self) -> sqs_client::Client {
        let config = sqs_client::Config::builder()
            .region(Region::new("us-east-1"))
            .credentials_provider(Credentials::new("test", "test", None, None, "soak"))
            .endpoint_url(&self.url);
        sqs_client::Client::from_conf(config.build())
    }

    /// Stops all faults, and returns how often each was injected.
    pub(crate) fn calm(&mut self) -> Result<Vec<(u64, String)>, Failed> {
        self.process.tell("calm")?;
        let mut faults = Vec::new();
        loop {
            match self.process.line()? {
                line if line.is_empty() => return Ok(faults),
                line => {
                    let (times, name) = line.split_once(' ').ok_or("no fault and its times")?;
                    faults.push((times.parse()?, name.to_owned()));
                }
            }
        }
    }

    /// Makes requests for a queue hang for this long, from now on.
    pub(crate) fn hang(&mut self, queue: &str, time: Duration) -> Result<(), Failed> {
        self.process.tell(&format!("hang {queue} {}", time.as_millis()))
    }

    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }
}

/// Runs in the child process until its parent ends.
pub(crate) async fn serve(share: f64, seed: Option<u64>) -> Result<(), Failed> {
    let builder = seed.into_iter().fold(MockSqs::builder(), sqs_mock_server::MockSqsBuilder::seed);
    let server = builder.start().await?;
    let faults = misfortune(&server, share);
    println!("{}\n{}", server.endpoint_url(), server.seed());
    tokio::task::spawn_blocking(move || {
        for order in std::io::stdin().lines() {
            let order = order?;
            if let Some((queue, time)) = order.strip_prefix("hang ").and_then(|order| order.split_once(' ')) {
                let time = Duration::from_millis(time.parse()?);
                let hanging = server.faults().inject(Fault::latency(time).queue(queue));
                std::thread::spawn(move || {
                    std::thread::sleep(time);
                    hanging.remove();
                });
            } else if order == "calm" {
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

fn misfortune(server: &MockSqs, share: f64) -> Vec<(&'static str, sqs_mock_server::faults::InjectedFault)> {
    let kinds = [
        ("latency up to 20 ms", Fault::latency_between(Duration::ZERO, Duration::from_millis(20))),
        ("throttled", Fault::throttle()),
        ("error 500", Fault::error(ErrorCode::InternalFailure)),
        ("status 503 of a proxy", Fault::status(503, "busy")),
        ("reset before", Fault::reset_before()),
        ("reset after", Fault::reset_after()),
        ("answer truncated", Fault::truncate()),
        ("entry failed", Fault::fail_entries(ErrorCode::InternalFailure)),
        ("entry not mentioned", Fault::omit_entries()),
        ("delivered again", Fault::redeliver()),
    ];
    let inject = |(name, fault): (_, Fault)| (name, server.faults().inject(fault.probability(share)));
    kinds.into_iter().map(inject).collect()
}
