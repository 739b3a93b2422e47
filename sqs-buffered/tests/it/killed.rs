//! Consumers in processes that are killed. With `Idempotent` and a store that survives, each message has its effect
//! once.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sqs_buffered::{Attempt, Begin, Consumer, HandlerError, IdempotencyStore, Idempotent, State};
use sqs_client::Client;
use sqs_mock_server::MockSqs;
use tokio::time::{Instant, sleep};

const KILLS: u32 = 40;
/// The arguments of the child process.
const LEDGER: &str = "KILLED_CONSUMER_LEDGER";
const QUEUE: &str = "KILLED_CONSUMER_QUEUE";

/// A store in a file that processes share. Each line is one step, written by one call while the file is locked. A line
/// `completed` is also the effect of the handler: both are one step, as in a transaction.
struct Ledger(Mutex<Inner>);

struct Inner {
    file: File,
    /// How much of the file `records` contains.
    read: u64,
    records: BTreeMap<String, Record>,
}

struct Record {
    attempt: String,
    /// In milliseconds since 1970; `None` once it is completed.
    until: Option<u64>,
}

impl Ledger {
    fn open(path: &Path) -> Self {
        let file = OpenOptions::new().create(true).read(true).append(true).open(path).unwrap();
        Self(Mutex::new(Inner { file, read: 0, records: BTreeMap::new() }))
    }

    /// Executes one step on the records of all processes.
    fn step<T>(&self, step: impl FnOnce(&mut Inner) -> Result<T, HandlerError>) -> Result<T, HandlerError> {
        let inner = &mut *self.0.lock().unwrap();
        inner.file.lock()?;
        let result = inner.catch_up().map_err(HandlerError::from).and_then(|()| step(inner));
        inner.file.unlock()?;
        result
    }
}

impl Inner {
    fn catch_up(&mut self) -> io::Result<()> {
        let mut text = String::new();
        self.file.seek(SeekFrom::Start(self.read))?;
        self.file.read_to_string(&mut text)?;
        self.read += text.len() as u64;
        for line in text.lines() {
            self.apply(line);
        }
        Ok(())
    }

    fn apply(&mut self, line: &str) {
        let mut words = line.split(' ').map(str::to_owned);
        let (what, key) = (words.next().unwrap(), words.next().unwrap());
        let (attempt, until) = (words.next().unwrap_or_default(), words.next());
        match &*what {
            "began" => {
                let until = Some(until.unwrap().parse().unwrap());
                self.records.insert(key, Record { attempt, until });
            }
            "completed" => drop(self.records.insert(key, Record { attempt, until: None })),
            "abandoned" => drop(self.records.remove(&key)),
            _ => {}
        }
    }

    fn write(&mut self, line: &str) -> Result<(), HandlerError> {
        self.file.write_all(format!("{line}\n").as_bytes())?;
        Ok(())
    }

    fn holds(&self, attempt: &Attempt) -> bool {
        let record = self.records.get(attempt.key());
        record.is_some_and(|record| record.attempt == attempt.id())
    }
}

#[expect(clippy::disallowed_methods, reason = "processes have no other clock in common")]
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis().try_into().unwrap()
}

impl IdempotencyStore for Ledger {
    async fn begin(&self, attempt: &Attempt, lease: Duration) -> Result<Begin, HandlerError> {
        self.step(|inner| {
            let (key, now) = (attempt.key(), now());
            match inner.records.get(key).map(|record| (&record.attempt, record.until)) {
                Some((_, None)) => {
                    inner.write(&format!("skipped {key}"))?;
                    return Ok(Begin::Completed);
                }
                Some((other, Some(until))) if until > now && other != attempt.id() => {
                    return Ok(Begin::InProgress { remaining: Duration::from_millis(until - now) });
                }
                _ => {}
            }
            let until = now + u64::try_from(lease.as_millis())?;
            inner.write(&format!("began {key} {} {until}", attempt.id()))?;
            Ok(Begin::Started)
        })
    }

    async fn complete(&self, attempt: &Attempt) -> Result<(), HandlerError> {
        self.step(|inner| {
            if !inner.holds(attempt) {
                return Err("the record belongs to another attempt".into());
            }
            if inner.records[attempt.key()].until.is_some() {
                inner.write(&format!("completed {} {}", attempt.key(), attempt.id()))?;
            }
            Ok(())
        })
    }

    async fn abandon(&self, attempt: &Attempt) -> Result<(), HandlerError> {
        self.step(|inner| {
            if inner.holds(attempt) && inner.records[attempt.key()].until.is_some() {
                inner.write(&format!("abandoned {} {}", attempt.key(), attempt.id()))?;
            }
            Ok(())
        })
    }
}

async fn work(attempt: Attempt, State(ledger): State<Arc<Ledger>>) -> Result<(), HandlerError> {
    sleep(Duration::from_millis(40)).await;
    ledger.complete(&attempt).await?;
    // Some are killed between the effect and the delete of the message.
    sleep(Duration::from_millis(60)).await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "the process that `each_message_has_its_effect_once_although_consumers_are_killed` starts"]
async fn consumer_to_be_killed() {
    let Ok(ledger) = std::env::var(LEDGER) else { return };
    let ledger = Arc::new(Ledger::open(Path::new(&ledger)));
    let consumer = Consumer::builder(Client::from_env().unwrap(), std::env::var(QUEUE).unwrap())
        .concurrency(4)
        .visibility_timeout(Duration::from_secs(1))
        .state(Arc::clone(&ledger))
        .handler(Idempotent::new(work, ledger))
        .build()
        .unwrap();
    // The child does not outlive a killed parent.
    consumer.run_until(sleep(Duration::from_secs(60))).await.unwrap();
}

/// A process that is killed on drop.
struct Killed(Child);

impl Killed {
    fn start(ledger: &Path, server: &MockSqs, queue_url: &str) -> Self {
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "--ignored", "killed::consumer_to_be_killed"])
            .envs(server.environment())
            .envs([(LEDGER, ledger.as_os_str()), (QUEUE, queue_url.as_ref())])
            .stdout(Stdio::null())
            .spawn();
        Self(child.unwrap())
    }
}

impl Drop for Killed {
    fn drop(&mut self) {
        let was_running = self.0.try_wait().is_ok_and(|status| status.is_none());
        self.0.kill().and_then(|()| self.0.wait()).expect("it is killed");
        assert!(was_running || std::thread::panicking(), "a consumer ended by itself");
    }
}

/// The number of attempts that have begun, by the ledger.
fn attempts(ledger: &Path) -> usize {
    let ledger = std::fs::read_to_string(ledger).unwrap_or_default();
    ledger.lines().filter(|line| line.starts_with("began")).count()
}

/// In real time, because the processes are real. Takes some seconds.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_message_has_its_effect_once_if_consumers_are_killed() {
    let server = MockSqs::start().await;
    let client = server.client();
    let url = client.create_queue().queue_name("jobs").send().await.unwrap().queue_url.unwrap();
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("ledger-{}", std::process::id()));
    let start = || Killed::start(&path, &server, &url);
    let mut random = fastrand::Rng::with_seed(server.seed());
    let mut running = [start(), start()];
    let mut ids = Vec::new();
    for kill in 0..KILLS {
        for _ in 0..8 {
            let sent = client.send_message().queue_url(&url).message_body("soup").send().await.unwrap();
            ids.extend(sent.message_id);
        }
        // Kills after an attempt has begun, also on a busy machine: before its effect, or between that and the delete.
        let begun = attempts(&path);
        let give_up = Instant::now() + Duration::from_secs(10);
        while attempts(&path) == begun && Instant::now() < give_up {
            sleep(Duration::from_millis(2)).await;
        }
        sleep(Duration::from_millis(random.u64(0..120))).await;
        running[kill as usize % 2] = start();
    }
    let give_up = Instant::now() + Duration::from_secs(20);
    while !server.queue("jobs").messages().is_empty() {
        assert!(Instant::now() < give_up, "{} messages are left", server.queue("jobs").messages().len());
        sleep(Duration::from_millis(20)).await;
    }
    drop(running);

    let ledger = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let mut effects: BTreeMap<_, u32> = ids.iter().map(|id| (id.as_str(), 0)).collect();
    for line in ledger.lines().filter_map(|line| line.strip_prefix("completed ")) {
        *effects.get_mut(line.split(' ').next().unwrap()).unwrap() += 1;
    }
    assert!(effects.values().all(|effects| *effects == 1), "{effects:?}\n{ledger}");
    let lines = |what| ledger.lines().filter(|line| line.starts_with(what)).count();
    let (began, skipped) = (lines("began"), lines("skipped"));
    println!("{} messages, {began} attempts, {skipped} skipped", ids.len());
    assert!(began > ids.len(), "no attempt was killed before its effect");
    assert!(skipped > 0, "none was killed between its effect and the delete of the message");
}
