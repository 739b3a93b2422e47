//! Runs of a command in any language: a server for each, over HTTP, in real time.

use std::ffi::OsString;
use std::io::{self, Read as _, Seek as _};
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use strum::VariantArray as _;
use tokio::process::Command;
use tokio::time::Instant;

use crate::control::faults::fault::NOTE;
use crate::control::schedule::{DEFAULT_RATE, Decision, Disturbance, Schedule, SchedulePlan, Source};
use crate::explore::shrink::{Shrinker, Shrunk};
use crate::explore::{Broken, Explored, MAX_TRIES, Row, Trial, progress};
use crate::mock::MockSqs;
use crate::mock::builder::MockSqsBuilder;
use crate::sqs::journal::RecordedRequest;

/// How long a run may take, by default.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The end of the output of a command that a report shows.
const MAX_OUTPUT: u64 = 4_000;

/// Of this many runs of one plan, most decide: outside of this process, nothing is repeated exactly.
const VOTES: u32 = 3;

/// Runs a command under many schedules. A failing exit code is a failing schedule.
///
/// The command finds the server in `AWS_ENDPOINT_URL` and the like, and credentials and a region in the usual variables.
#[derive(Clone, Debug)]
#[must_use = "`run` runs the command"]
pub struct ExploreCommand {
    command: Vec<OsString>,
    server: MockSqsBuilder,
    schedules: u32,
    seed: u64,
    rate: f64,
    kinds: Vec<Disturbance>,
    timeout: Duration,
    replay: Option<SchedulePlan>,
}

impl ExploreCommand {
    /// 100 schedules of a program with its arguments.
    pub fn new(command: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        Self {
            command: command.into_iter().map(Into::into).collect(),
            server: MockSqsBuilder::default(),
            schedules: 100,
            seed: 0,
            rate: DEFAULT_RATE,
            kinds: Disturbance::VARIANTS.to_vec(),
            timeout: TIMEOUT,
            replay: None,
        }
    }

    /// The settings of the server of each run. Its port is a free one.
    pub fn server(mut self, server: MockSqsBuilder) -> Self {
        self.server = server;
        self
    }

    /// The number of schedules. One without any disturbance comes first.
    pub fn schedules(mut self, count: u32) -> Self {
        self.schedules = count;
        self
    }

    /// The first seed; those of the other schedules follow. The default is 0.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The part of all calls that are disturbed, from 0 to 1. The default is 0.1.
    pub fn rate(mut self, rate: f64) -> Self {
        self.rate = if rate.is_nan() { 0.0 } else { rate.clamp(0.0, 1.0) };
        self
    }

    /// The disturbances that may happen. The default is all of them, without those of processes.
    pub fn kinds(mut self, kinds: impl IntoIterator<Item = Disturbance>) -> Self {
        self.kinds = kinds.into_iter().collect();
        self
    }

    /// A run that takes longer than this, in real time, is killed and fails. The default is a minute.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Runs this plan once, instead of many schedules.
    pub fn replay(mut self, plan: SchedulePlan) -> Self {
        self.replay = Some(plan);
        self
    }

    /// Runs the command. Call it in a runtime of tokio.
    ///
    /// # Errors
    /// The server cannot start, or the command cannot.
    ///
    /// # Cancel safety
    /// If the future is dropped, the command that runs is killed.
    pub async fn run(&self) -> io::Result<Result<Explored, Box<Broken>>> {
        let start = Instant::now();
        let mut explored = Explored::default();
        if let Some(plan) = &self.replay {
            let trial = self.try_one(self.seed, Source::plan(plan)).await?;
            explored.add(&trial.made, trial.calls, start.elapsed());
            explored.schedules = 1;
            return Ok(match trial.failure {
                None => Ok(explored),
                Some(failure) => {
                    let shrunk = Shrunk { kept: plan.decisions.clone(), tries: 0, is_minimal: false };
                    Err(Box::new(self.broken(self.seed, shrunk, true, failure, trial.rows, explored)))
                }
            });
        }
        for number in 0..=u64::from(self.schedules) {
            let seed = self.seed.wrapping_add(number);
            let source = match number {
                0 => Source::plan(&SchedulePlan::default()),
                _ => Source::seed(seed, self.rate, &self.kinds),
            };
            let trial = self.try_one(seed, source).await?;
            explored.schedules += u32::from(number > 0);
            explored.add(&trial.made, trial.calls, start.elapsed());
            progress(&explored, self.schedules);
            if let Some(failure) = trial.failure.clone() {
                return self
                    .smaller(seed, trial, failure, explored)
                    .await
                    .map(|broken| Err(Box::new(broken)));
            }
        }
        Ok(Ok(explored))
    }

    /// Makes a failing plan smaller.
    async fn smaller(
        &self,
        seed: u64,
        trial: Trial,
        failure: String,
        explored: Explored,
    ) -> io::Result<Broken> {
        let decisions = trial.made.decisions.clone();
        let mut best = (failure, trial.rows);
        let is_repeatable = match self.fails(seed, &decisions).await? {
            Some(trial) => {
                best = trial;
                true
            }
            None => false,
        };
        let shrunk = if is_repeatable {
            if !decisions.is_empty() {
                eprintln!(
                    "a schedule with {} disturbances fails; looking for the smallest one",
                    decisions.len()
                );
            }
            let mut shrinker = Shrinker::new(decisions, MAX_TRIES);
            while let Some(shorter) = shrinker.candidate() {
                let failed = self.fails(seed, &shorter).await?;
                shrinker.tell(failed.is_some());
                best = failed.unwrap_or(best);
            }
            shrinker.finish()
        } else {
            Shrunk { kept: decisions, tries: 0, is_minimal: false }
        };
        let (failure, rows) = best;
        Ok(self.broken(seed, shrunk, is_repeatable, failure, rows, explored))
    }

    /// Whether most runs of a plan fail, with the failure of the last.
    async fn fails(&self, seed: u64, decisions: &[Decision]) -> io::Result<Option<(String, Vec<Row>)>> {
        let plan = SchedulePlan { decisions: decisions.to_vec() };
        let (mut failed, mut passed, mut last) = (0, 0, None);
        while failed.max(passed) <= VOTES / 2 {
            let trial = self.try_one(seed, Source::plan(&plan)).await?;
            match trial.failure {
                Some(failure) => {
                    failed += 1;
                    last = Some((failure, trial.rows));
                }
                None => passed += 1,
            }
        }
        Ok(last.filter(|_| failed > passed))
    }

    fn broken(
        &self,
        seed: u64,
        Shrunk { kept, tries, is_minimal }: Shrunk<Decision>,
        is_repeatable: bool,
        failure: String,
        rows: Vec<Row>,
        explored: Explored,
    ) -> Broken {
        let plan = SchedulePlan { decisions: kept };
        let command: Vec<_> = self.command.iter().map(|part| part.to_string_lossy()).collect();
        let repeat =
            format!("sqs-mock-server explore --seed {seed} --replay '{plan}' -- {}", command.join(" "));
        Broken { seed, plan, failure, rows, repeat, tries, is_repeatable, is_minimal, explored }
    }

    /// Runs the command once.
    async fn try_one(&self, seed: u64, source: Source) -> io::Result<Trial> {
        let schedule = Arc::new(Schedule::new(source));
        let server = self.server.clone().port(0).seed(seed).journal(10_000).start().await?;
        server.faults().set_schedule(Some(Arc::clone(&schedule)));
        let mut output = tempfile::tempfile()?;
        let (program, arguments) = self.command.split_first().ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::InvalidInput,
                "no command; allowed is a program with its arguments after --",
            )
        })?;
        let mut command = Command::new(program);
        command.args(arguments).envs(server.environment()).env("AWS_ENDPOINT_URL", server.endpoint_url());
        command.env("AWS_DEFAULT_REGION", "us-east-1").stdin(Stdio::null());
        command.stdout(output.try_clone()?).stderr(output.try_clone()?).kill_on_drop(true);
        // A group of its own, so that what it starts ends with it.
        #[cfg(unix)]
        command.process_group(0);
        let explain =
            |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", program.display()));
        let mut child = Group(command.spawn().map_err(explain)?);
        let ended = tokio::time::timeout(self.timeout, child.0.wait()).await;
        let failure = match ended {
            Ok(status) => failure_of(status?),
            Err(_) => Some(format!("it has not ended within {}", humantime::format_duration(self.timeout))),
        };
        drop(child);
        let failure = match failure {
            Some(failure) => Some(format!("{failure}\n\n{}", end_of(&mut output)?)),
            None => None,
        };
        let rows = rows(&server);
        Ok(Trial { failure, made: schedule.made(), calls: schedule.calls(), rows })
    }
}

/// The requests to SQS that change or receive messages.
fn rows(server: &MockSqs) -> Vec<Row> {
    let requests = server.requests();
    let start = requests.all().iter().map(RecordedRequest::time).min().unwrap_or_default();
    let row = |request: &RecordedRequest| {
        let disturbed = request.warnings().iter().find_map(|note| {
            let decision: Decision = note.strip_prefix(NOTE)?.parse().ok()?;
            Some(decision.disturbance.about())
        });
        let action = request.action().map(|action| action.as_str()).unwrap_or_default();
        let queue = request.queue().map(|queue| queue.name.to_string()).unwrap_or_default();
        Row {
            at: request.time().saturating_since(start),
            who: "".into(),
            what: format!("{action} {queue} {}", request.ending()),
            disturbed,
        }
    };
    requests.all().iter().map(row).collect()
}

/// A process that ends, with those that it has started, when this is dropped.
struct Group(tokio::process::Child);

impl Drop for Group {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(id) = self.0.id() {
            // There is no signal to a group in the standard library.
            let _ = std::process::Command::new("kill")
                .args(["-KILL", "--", &format!("-{id}")])
                .stderr(Stdio::null())
                .status();
        }
        let _ = self.0.start_kill();
    }
}

fn failure_of(status: ExitStatus) -> Option<String> {
    (!status.success()).then(|| match status.code() {
        Some(code) => format!("it ends with exit code {code}"),
        None => format!("it is ended by a signal ({status})"),
    })
}

/// The end of the output of a command.
fn end_of(output: &mut std::fs::File) -> io::Result<String> {
    let length = output.metadata()?.len();
    output.seek(io::SeekFrom::Start(length.saturating_sub(MAX_OUTPUT)))?;
    let mut bytes = Vec::new();
    output.take(MAX_OUTPUT).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.lines().map(|line| format!("    {line}\n")).collect())
}
