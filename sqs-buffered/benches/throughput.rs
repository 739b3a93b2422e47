//! Run with: `cargo bench -p sqs-buffered --bench throughput`
//!
//! Messages a second and the time of a send, for single sends, for the buffered client, and for batches of ten made by hand,
//! which are the ceiling: over HTTP on the loopback interface, against the server in a process of its own.

use std::error::Error;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use sqs_buffered::{BufferedClient, Entry};
use sqs_client::Client;
use sqs_client::config::{Credentials, Region};
use sqs_client::types::SendMessageBatchRequestEntry;

const HELP: &str = "\
Compares single sends, the buffered client and batches made by hand.

  --seconds COUNT   how long each row is measured, 3 by default
  --help            this text

The table goes to standard output. CPU is that of this process, user and system, a message.";

/// Batches in flight: of the buffered client by default, and of those made by hand.
const IN_FLIGHT: usize = 5;

type Failed = Box<dyn Error + Send + Sync>;

fn main() -> Result<(), Failed> {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let mut seconds = 3;
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--seconds" => seconds = arguments.next().ok_or("--seconds wants a number")?.parse()?,
            "--help" => {
                println!("{HELP}");
                return Ok(());
            }
            other => return Err(format!("unknown option {other}").into()),
        }
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(all(Duration::from_secs(seconds)))
}

async fn all(time: Duration) -> Result<(), Failed> {
    println!(
        "| Latency | Producers | How | Messages/s | of the ceiling | p50 | p99 | CPU a message | Entries a request |"
    );
    println!("|--:|--:|---|--:|--:|--:|--:|--:|--:|");
    for latency in [0, 5, 20] {
        let server = Server::start(latency)?;
        let bench = Bench { client: server.client(), time, body: "x".repeat(1024) };
        for producers in [1, 64] {
            let row = |how: &str, measured: &Measured, ceiling: f64| {
                println!("| {latency} ms | {producers} | {how} | {}", measured.cells(ceiling));
            };
            let ceiling = bench.by_hand(if producers == 1 { 1 } else { IN_FLIGHT }).await?;
            let most = ceiling.rate();
            row("batches of ten by hand", &ceiling, most);
            row("single sends", &bench.singly(producers).await?, most);
            row("buffered, each send awaited", &bench.buffered(producers, true).await?, most);
            row("buffered, tickets awaited later", &bench.buffered(producers, false).await?, most);
        }
    }
    Ok(())
}

/// The server as a process of its own.
struct Server {
    process: Child,
    url: String,
}

impl Server {
    fn start(latency_ms: u64) -> Result<Self, Failed> {
        let binary = option_env!("SQS_MOCK_SERVER").map_or_else(Self::built, |path| Ok(path.into()))?;
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

    fn client(&self) -> Client {
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

struct Bench {
    client: Client,
    time: Duration,
    body: String,
}

/// What a run gave.
struct Measured {
    messages: usize,
    took: Duration,
    cpu: Duration,
    /// How long sends took, sorted.
    times: Vec<Duration>,
    fill: f64,
}

impl Measured {
    #[expect(clippy::cast_precision_loss, reason = "a rate needs no more digits")]
    fn rate(&self) -> f64 {
        self.messages as f64 / self.took.as_secs_f64()
    }

    fn cells(&self, ceiling: f64) -> String {
        let quantile = |share: usize| self.times.get(self.times.len().saturating_sub(1) * share / 100);
        let shown = |time: Option<&Duration>| {
            time.map_or("-".to_owned(), |time| format!("{:.2} ms", time.as_secs_f64() * 1e3))
        };
        let (rate, cpu) = (self.rate(), self.cpu.as_secs_f64() * 1e6 / self.rate() / self.took.as_secs_f64());
        let (p50, p99) = (shown(quantile(50)), shown(quantile(99)));
        format!("{rate:.0} | {:.2} | {p50} | {p99} | {cpu:.1} us | {:.1} |", rate / ceiling, self.fill)
    }
}

impl Bench {
    /// Runs `tasks` tasks of `work` until the time is over; `work` gives how many messages it has sent.
    async fn measure<F, R>(&self, tasks: usize, per_request: f64, work: F) -> Result<Measured, Failed>
    where
        F: Fn(Client, String) -> R,
        R: Future<Output = Result<Vec<Duration>, Failed>> + Send + 'static,
    {
        let url = self.queue().await?;
        let (start, cpu) = (now(), cpu_time()?);
        let tasks: Vec<_> =
            (0..tasks).map(|_| tokio::spawn(work(self.client.clone(), url.clone()))).collect();
        let mut times = Vec::new();
        for task in tasks {
            times.extend(task.await??);
        }
        let (took, cpu) = (start.elapsed(), cpu_time()?.saturating_sub(cpu));
        times.sort_unstable();
        self.client.delete_queue().queue_url(url).send().await?;
        let messages = times.len();
        Ok(Measured { messages, took, cpu, times, fill: per_request })
    }

    async fn queue(&self) -> Result<String, Failed> {
        static QUEUES: AtomicUsize = AtomicUsize::new(0);
        let name = format!("bench-{}", QUEUES.fetch_add(1, Ordering::Relaxed));
        let created = self.client.create_queue().queue_name(name).send().await?;
        Ok(created.queue_url.unwrap_or_default())
    }

    async fn singly(&self, producers: usize) -> Result<Measured, Failed> {
        let (time, body) = (self.time, self.body.clone());
        let work = move |client: Client, url: String| {
            let body = body.clone();
            async move {
                let (end, mut times) = (now() + time, Vec::new());
                while now() < end {
                    let start = now();
                    client.send_message().queue_url(&url).message_body(&body).send().await?;
                    times.push(start.elapsed());
                }
                Ok(times)
            }
        };
        self.measure(producers, 1.0, work).await
    }

    async fn by_hand(&self, tasks: usize) -> Result<Measured, Failed> {
        let (time, body) = (self.time, self.body.clone());
        let work = move |client: Client, url: String| {
            let body = body.clone();
            async move {
                let (end, mut times) = (now() + time, Vec::new());
                while now() < end {
                    let start = now();
                    let mut batch = client.send_message_batch().queue_url(&url);
                    for id in 0..10 {
                        let entry =
                            SendMessageBatchRequestEntry::builder().id(id.to_string()).message_body(&body);
                        batch = batch.entries(entry.build()?);
                    }
                    let sent = batch.send().await?.successful.len();
                    times.extend(std::iter::repeat_n(start.elapsed(), sent));
                }
                Ok(times)
            }
        };
        self.measure(tasks, 10.0, work).await
    }

    async fn buffered(&self, producers: usize, awaits_each: bool) -> Result<Measured, Failed> {
        let (time, body) = (self.time, self.body.clone());
        let buffered = Arc::new(BufferedClient::new(self.client.clone()));
        let sender = Arc::clone(&buffered);
        let work = move |_: Client, url: String| {
            let (body, buffered) = (body.clone(), Arc::clone(&sender));
            async move {
                let (end, mut times, mut tickets) = (now() + time, Vec::new(), Vec::new());
                while now() < end {
                    let start = now();
                    if awaits_each {
                        buffered.send(&url, &body).await?;
                        times.push(start.elapsed());
                        continue;
                    }
                    tickets.push(buffered.enqueue(Entry::new(&url, &body)).await?);
                    if tickets.len() == 1000 {
                        for ticket in tickets.drain(..) {
                            ticket.await?;
                            times.push(start.elapsed());
                        }
                    }
                }
                for ticket in tickets {
                    ticket.await?;
                    times.push(Duration::ZERO);
                }
                Ok(times)
            }
        };
        let mut measured = self.measure(producers, 0.0, work).await?;
        measured.fill = buffered.stats().mean_fill();
        if !awaits_each {
            measured.messages = measured.times.len();
            measured.times.clear();
        }
        Ok(measured)
    }
}

#[expect(clippy::disallowed_methods, reason = "this measures real time")]
fn now() -> Instant {
    Instant::now()
}

/// User and system time of this process, where `/proc` tells it in hundredths of a second.
fn cpu_time() -> Result<Duration, Failed> {
    let text = std::fs::read_to_string("/proc/self/stat")?;
    let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: u64 = fields.skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    Ok(Duration::from_millis(ticks * 10))
}
