//! Run with: `cargo bench -p sqs-buffered --bench throughput`
//!
//! Messages a second and the time of a send, for single sends, for the buffered client, and for batches of ten made by hand,
//! which are the ceiling: over HTTP on the loopback interface, against the server in a process of its own.

use std::collections::VecDeque;
use std::error::Error;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use sqs_buffered::{BufferedClient, Builder, Entry};
use sqs_client::Client;
use sqs_client::config::{Credentials, Region};
use sqs_client::types::SendMessageBatchRequestEntry;

const HELP: &str = "\
Compares single sends, the buffered client and batches made by hand.

  --seconds COUNT     how long each row is measured, 3 by default
  --latency LIST      milliseconds that the server takes for an answer, 0,5,20 by default
  --producers LIST    how many tasks send, 1,64 by default
  --rows TEXT         only rows with this text in their names
  --help              this text

Batches by hand are sent by as many tasks as there are producers: the same concurrency, and ten times the messages on their
way that producers have there who await each send; the second row of batches by hand has as many as these. The buffered
client has its default of batches in flight, and in the two last rows as many as there are producers. Where answers are
awaited later, 1,000 messages are on their way, in the last row more than the client has room for, so that producers wait.

The table goes to standard output. CPU is that of this process, user and system, a message.";

/// Messages on their way where answers are awaited later, over all producers.
const UNANSWERED: usize = 1000;

struct Options {
    time: Duration,
    latencies: Vec<u64>,
    producers: Vec<usize>,
    rows: String,
}

type Failed = Box<dyn Error + Send + Sync>;

fn main() -> Result<(), Failed> {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let mut options = Options {
        time: Duration::from_secs(3),
        latencies: vec![0, 5, 20],
        producers: vec![1, 64],
        rows: String::new(),
    };
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} wants a value"));
        match argument.as_str() {
            "--seconds" => options.time = Duration::from_secs(value()?.parse()?),
            "--latency" => options.latencies = list(&value()?)?,
            "--producers" => options.producers = list(&value()?)?,
            "--rows" => options.rows = value()?,
            "--help" => {
                println!("{HELP}");
                return Ok(());
            }
            other => return Err(format!("unknown option {other}; --help says which there are").into()),
        }
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(all(options))
}

fn list<T: std::str::FromStr<Err = std::num::ParseIntError>>(text: &str) -> Result<Vec<T>, Failed> {
    Ok(text.split(',').map(str::parse).collect::<Result<_, _>>()?)
}

async fn all(options: Options) -> Result<(), Failed> {
    println!(
        "| Latency | Producers | How | Messages/s | of the ceiling | p50 | p99 | CPU a message | of the ceiling | Entries a request |"
    );
    println!("|--:|--:|---|--:|--:|--:|--:|--:|--:|--:|");
    for &latency in &options.latencies {
        let server = Server::start(latency)?;
        let bench = Bench { client: server.client(), time: options.time, body: "x".repeat(1024) };
        for &producers in &options.producers {
            bench.rows(latency, producers, &options.rows).await?;
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

/// A way to send.
#[derive(Clone, Copy, Debug)]
enum How {
    /// With so many tasks.
    ByHand(usize),
    Singly,
    /// How many sends of a producer may be unanswered (1: each is awaited before the next), and how many batches may be
    /// in flight where not the default.
    Buffered {
        window: usize,
        in_flight: Option<usize>,
    },
}

impl Measured {
    #[expect(clippy::cast_precision_loss, reason = "a rate needs no more digits")]
    fn rate(&self) -> f64 {
        self.messages as f64 / self.took.as_secs_f64()
    }

    fn cpu_per_message(&self) -> f64 {
        self.cpu.as_secs_f64() * 1e6 / self.rate() / self.took.as_secs_f64()
    }

    fn cells(&self, ceiling: &Self) -> String {
        let quantile = |share: usize| self.times.get(self.times.len().saturating_sub(1) * share / 100);
        let shown = |time: Option<&Duration>| {
            time.map_or("-".to_owned(), |time| format!("{:.2} ms", time.as_secs_f64() * 1e3))
        };
        let (rate, cpu) = (self.rate(), self.cpu_per_message());
        let (p50, p99) = (shown(quantile(50)), shown(quantile(99)));
        let (of_rate, of_cpu) = (rate / ceiling.rate(), cpu / ceiling.cpu_per_message());
        let fill = self.fill;
        format!("{rate:.0} | {of_rate:.2} | {p50} | {p99} | {cpu:.1} us | {of_cpu:.2} | {fill:.1} |")
    }
}

impl Bench {
    async fn rows(&self, latency: u64, producers: usize, only: &str) -> Result<(), Failed> {
        let buffered = |window, in_flight| How::Buffered { window, in_flight };
        let share = (UNANSWERED / producers.max(1)).max(1);
        let rows = [
            ("single sends", How::Singly),
            ("by hand, as much on its way as with each send awaited", How::ByHand(producers.div_ceil(10))),
            ("buffered, each send awaited", buffered(1, None)),
            ("buffered, answers awaited later", buffered(share, None)),
            ("the same, in flight as by hand", buffered(share, Some(producers))),
            ("the same, waiting for room", buffered(20_000 / producers.max(1), Some(producers))),
        ];
        let show = |name: &str, measured: &Measured, ceiling: &Measured| {
            println!("| {latency} ms | {producers} | {name} | {}", measured.cells(ceiling));
        };
        let ceiling = self.run(How::ByHand(producers), producers).await?;
        show("batches of ten by hand", &ceiling, &ceiling);
        for (name, how) in rows.into_iter().filter(|(name, _)| name.contains(only)) {
            show(name, &self.run(how, producers).await?, &ceiling);
        }
        Ok(())
    }

    async fn run(&self, how: How, producers: usize) -> Result<Measured, Failed> {
        match how {
            How::ByHand(tasks) => self.by_hand(tasks).await,
            How::Singly => self.singly(producers).await,
            How::Buffered { window, in_flight } => self.buffered(producers, window, in_flight).await,
        }
    }

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

    async fn buffered(
        &self,
        producers: usize,
        window: usize,
        in_flight: Option<usize>,
    ) -> Result<Measured, Failed> {
        let (time, body) = (self.time, self.body.clone());
        let builder = BufferedClient::builder(self.client.clone());
        let builder = in_flight.into_iter().fold(builder, Builder::max_in_flight);
        let buffered = Arc::new(builder.build()?);
        let sender = Arc::clone(&buffered);
        let work = move |_: Client, url: String| {
            let (body, buffered) = (body.clone(), Arc::clone(&sender));
            async move {
                let mut clock = now();
                let (end, mut times) = (clock + time, Vec::new());
                let mut unanswered = VecDeque::with_capacity(window);
                while clock < end {
                    unanswered.push_back((clock, buffered.enqueue(Entry::new(&url, &body)).await?));
                    if unanswered.len() >= window
                        && let Some((start, ticket)) = unanswered.pop_front()
                    {
                        ticket.await?;
                        clock = now();
                        times.push(clock.duration_since(start));
                    }
                }
                for (start, ticket) in unanswered {
                    ticket.await?;
                    times.push(start.elapsed());
                }
                Ok(times)
            }
        };
        let mut measured = self.measure(producers, 0.0, work).await?;
        measured.fill = buffered.stats().mean_fill();
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
