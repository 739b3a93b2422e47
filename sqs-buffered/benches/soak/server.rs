//! The server in a process of its own, so that the memory of the clients is theirs alone.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use sqs_client::config::{Credentials, Region};
use sqs_client::service_error::ErrorCode;
use sqs_mock_server::MockSqs;
use sqs_mock_server::faults::Fault;

use crate::Failed;

/// A server, as its parent sees it.
pub(crate) struct Server {
    process: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
    pub(crate) url: String,
    pub(crate) seed: String,
}

impl Server {
    /// Starts this program again, as a server of which each fault strikes so many of the requests.
    pub(crate) fn start(share: f64, seed: Option<u64>) -> Result<Self, Failed> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["--serve", "--faults", &share.to_string()]);
        command.args(seed.into_iter().flat_map(|seed| ["--seed".to_owned(), seed.to_string()]));
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (orders, answers) = process.stdin.take().zip(process.stdout.take()).ok_or("no pipes")?;
        let mut server = Self {
            process,
            orders,
            answers: BufReader::new(answers),
            url: String::new(),
            seed: String::new(),
        };
        (server.url, server.seed) = (server.line()?, server.line()?);
        Ok(server)
    }

    pub(crate) fn client(&self) -> sqs_client::Client {
        let config = sqs_client::Config::builder()
            .region(Region::new("us-east-1"))
            .credentials_provider(Credentials::new("test", "test", None, None, "soak"))
            .endpoint_url(&self.url);
        sqs_client::Client::from_conf(config.build())
    }

    /// Lets nothing go wrong any more, and says how often what did.
    pub(crate) fn calm(&mut self) -> Result<Vec<(u64, String)>, Failed> {
        self.orders.write_all(b"calm\n")?;
        let mut faults = Vec::new();
        loop {
            match self.line()? {
                line if line.is_empty() => return Ok(faults),
                line => {
                    let (times, name) = line.split_once(' ').ok_or("no fault and its times")?;
                    faults.push((times.parse()?, name.to_owned()));
                }
            }
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    fn line(&mut self) -> Result<String, Failed> {
        let mut line = String::new();
        if self.answers.read_line(&mut line)? == 0 {
            return Err("the server has ended".into());
        }
        Ok(line.trim_end().to_owned())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // An error says that it is gone already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What the child does until its parent is gone.
pub(crate) async fn serve(share: f64, seed: Option<u64>) -> Result<(), Failed> {
    let builder = seed.into_iter().fold(MockSqs::builder(), sqs_mock_server::MockSqsBuilder::seed);
    let server = builder.start().await?;
    let faults = misfortune(&server, share);
    println!("{}\n{}", server.endpoint_url(), server.seed());
    tokio::task::spawn_blocking(move || {
        for order in std::io::stdin().lines() {
            if order? == "calm" {
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
