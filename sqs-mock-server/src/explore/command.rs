//! Runs of a command in any language: a server for each, over HTTP, in real time.

use std::collections::{BTreeSet, VecDeque};
use std::convert::Infallible;
use std::ffi::{OsStr, OsString};
use std::io::{self, Read as _};
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;
#[cfg(unix)]
use rustix::process::{Pid, Signal, kill_process_group};
use strum::VariantArray as _;
use tokio::process::{Child, Command};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

use crate::control::faults::fault::NOTE;
use crate::control::schedule::{
    DEFAULT_RATE, Decision, Disturbance, Schedule, SchedulePlan, Source, refuse_kills,
};
use crate::explore::shrink::{Shrinker, Shrunk};
use crate::explore::{
    Broken, ENOUGH, Explored, FEWER, MAX_TRIES, Messages, ProgressLine, Replay, Row, Runs, Trial, mark,
    progress,
};
use crate::mock::MockSqs;
use crate::mock::builder::MockSqsBuilder;
use crate::sqs::journal::RecordedRequest;

/// How long a run may take, by default.
const TIMEOUT: Duration = Duration::from_secs(60);

/// How long a smaller schedule is looked for.
const SHRINKING: Duration = Duration::from_secs(600);

/// The failure of a command that passes whatever SQS does.
const NO_CALLS: &str =
    "it made no call to SQS that can be disturbed; its clients must use the endpoint in AWS_ENDPOINT_URL";

/// The failure of a command whose callers are all undisturbed.
const ONLY_UNDISTURBED: &str = "it made no call to SQS that can be disturbed; what is tested needs an access key that is not in --undisturbed";

/// The other schedules that are tried for a smaller one. Each takes real time.
const OTHERS: u64 = 10;

/// The end of the output of a command that a report shows.
const MAX_OUTPUT: usize = 4_000;

/// How long the output of a command is read after its end.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Of this many runs of one plan, most decide: outside of this process, nothing is repeated exactly.
const RUNS: u32 = 3;

/// The failure of a run, and what happened.
type Failed = (String, Vec<Row>);

/// The decisions of a run that failed.
type Found = (SchedulePlan, Failed);

/// Runs a command under many schedules. A failing exit code is a failing schedule.
///
/// The command finds the server in `AWS_ENDPOINT_URL` and the like, and credentials and a region in the usual variables.
// For the binary.
#[doc(hidden)]
#[derive(Clone, Debug)]
#[must_use = "`run` runs the command"]
pub struct ExploreCommand {
    command: Vec<OsString>,
    server: MockSqsBuilder,
    schedules: u32,
    seed: u64,
    rate: f64,
    kinds: Vec<Disturbance>,
    undisturbed: Vec<String>,
    timeout: Duration,
    replay: Option<SchedulePlan>,
    invocation: Vec<OsString>,
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
            kinds: Disturbance::VARIANTS.iter().copied().filter(|kind| !kind.is_kill()).collect(),
            undisturbed: Vec::new(),
            timeout: TIMEOUT,
            replay: None,
            invocation: vec!["sqs-mock-server".into()],
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

    /// The callers, by their access keys, whose calls are left alone. The default is none.
    pub fn undisturbed(mut self, callers: impl IntoIterator<Item = String>) -> Self {
        self.undisturbed = callers.into_iter().collect();
        self
    }

    /// A run that takes longer than this, in real time, is killed and fails. The default is a minute.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Runs this plan three times, instead of many schedules.
    pub fn replay(mut self, plan: SchedulePlan) -> Self {
        self.replay = Some(plan);
        self
    }

    /// The program and its flags that a report names as the line that repeats a run, if they are not just `sqs-mock-server`.
    pub fn invocation(mut self, program_and_flags: Vec<OsString>) -> Self {
        self.invocation = program_and_flags;
        self
    }

    /// Runs the command. Call it in a runtime of tokio.
    ///
    /// # Errors
    /// The server or the command cannot start, or an undisturbed caller makes no call.
    ///
    /// # Cancel safety
    /// If the future is dropped, the command that runs is killed.
    pub async fn run(&self) -> io::Result<Result<Explored, Box<Broken>>> {
        let _line = ProgressLine;
        refuse_kills(&self.kinds, self.replay.as_ref()).map_err(invalid)?;
        let start = Instant::now();
        let mut explored = Explored::default();
        if let Some(plan) = &self.replay {
            let (mut runs, mut last) = (Runs { failed: 0, of: RUNS }, None);
            for _ in 0..runs.of {
                let mut trial = self.try_one(self.seed, &self.schedule(Source::plan(plan))).await?;
                trial.require_calls(NO_CALLS);
                explored.add(&trial.made, trial.calls, start.elapsed());
                let replay = Replay { made: trial.made.decisions.len(), planned: plan.decisions.len() };
                if let Some(failure) = trial.failure {
                    runs.failed += 1;
                    last = Some((failure, trial.rows));
                    explored.replay = Some(replay);
                }
                explored.replay.get_or_insert(replay);
            }
            let shrunk = Shrunk { kept: plan.decisions.clone(), tries: 0, is_minimal: false };
            return Ok(match last {
                None => Ok(explored),
                Some(failed) => {
                    Err(Box::new(Broken { explored, ..self.broken(self.seed, shrunk, runs, failed) }))
                }
            });
        }
        for number in 0..=u64::from(self.schedules) {
            let seed = self.seed.wrapping_add(number);
            let source = match number {
                0 => Source::plan(&SchedulePlan::default()),
                _ => Source::seed(seed, self.rate, &self.kinds),
            };
            let schedule = self.schedule(source);
            let mut trial = self.try_one(seed, &schedule).await?;
            let callers = schedule.callers();
            trial.require_calls(if callers.is_empty() { NO_CALLS } else { ONLY_UNDISTURBED });
            if number == 0 && trial.failure.is_none() {
                self.require_undisturbed(&callers)?;
            }
            explored.schedules += u32::from(number > 0);
            explored.add(&trial.made, trial.calls, start.elapsed());
            explored.show_progress(self.schedules);
            if let Some(failure) = trial.failure {
                progress("");
                let found = (trial.made, (failure, trial.rows));
                return Ok(Err(Box::new(self.smallest(seed, found, explored).await?)));
            }
        }
        Ok(Ok(explored))
    }

    /// A misspelled caller would be disturbed.
    fn require_undisturbed(&self, callers: &BTreeSet<Box<str>>) -> io::Result<()> {
        let Some(unknown) = self.undisturbed.iter().find(|caller| !callers.contains(caller.as_str())) else {
            return Ok(());
        };
        let known = callers.iter().map(|caller| &**caller).collect::<Vec<_>>().join(", ");
        Err(invalid(format!(
            "no call to SQS has the access key {unknown:?} of --undisturbed; keys of calls: {known}"
        )))
    }

    /// Looks for the smallest plan that fails.
    async fn smallest(&self, seed: u64, found: Found, explored: Explored) -> io::Result<Broken> {
        let end = Instant::now() + SHRINKING;
        if !found.0.decisions.is_empty() {
            eprintln!(
                "schedule {} breaks it; looking for the smallest one that does, at most {}. This one:\n  {}",
                explored.schedules,
                humantime::format_duration(SHRINKING),
                self.repeat(seed, &found.0)
            );
        }
        let mut smallest = self.smaller(seed, found, MAX_TRIES, end).await?;
        let mut tries = smallest.tries;
        for next in 1..=OTHERS {
            if smallest.plan.decisions.len() <= ENOUGH || tries >= MAX_TRIES || Instant::now() > end {
                break;
            }
            let seed = seed.wrapping_add(next);
            let source = Source::seed(seed, self.rate * FEWER, &self.kinds);
            let Ok(trial) = timeout_at(end, self.try_one(seed, &self.schedule(source))).await else { break };
            let trial = trial?;
            tries += 1;
            if let Some(failure) = trial.failure {
                let found = (trial.made, (failure, trial.rows));
                let other = self.smaller(seed, found, MAX_TRIES.saturating_sub(tries), end).await?;
                tries += other.tries;
                if other.plan.decisions.len() < smallest.plan.decisions.len() && other.runs.is_majority() {
                    smallest = other;
                }
            }
        }
        Ok(Broken { tries, explored, ..smallest })
    }

    /// Leaves out what is not needed.
    async fn smaller(
        &self,
        seed: u64,
        (made, failed): Found,
        at_most: usize,
        end: Instant,
    ) -> io::Result<Broken> {
        let decisions = made.decisions;
        let (mut runs, again) = match decisions.as_slice() {
            // The run without disturbances was that of the empty plan.
            [] => (Runs { failed: 1, of: 1 }, None),
            _ => match timeout_at(end, self.run_again(seed, &decisions)).await {
                Ok(again) => again?,
                // There was no time to see whether it does so again.
                Err(_) => (Runs { failed: 1, of: 1 }, None),
            },
        };
        let mut best = again.unwrap_or(failed);
        if !runs.is_majority() {
            let shrunk = Shrunk { kept: decisions, tries: 0, is_minimal: false };
            return Ok(self.broken(seed, shrunk, runs, best));
        }
        let mut shrinker = Shrinker::new(decisions, at_most);
        while let Some(shorter) = shrinker.candidate() {
            progress(&format!("{} disturbances break it, {} tries", shrinker.kept().len(), shrinker.tries()));
            let Ok(again) = timeout_at(end, self.run_again(seed, &shorter)).await else { break };
            let (of_shorter, failed) = again?;
            shrinker.tell(of_shorter.is_majority());
            if let Some(failed) = failed.filter(|_| of_shorter.is_majority()) {
                (runs, best) = (of_shorter, failed);
            }
        }
        progress("");
        Ok(self.broken(seed, shrinker.finish(), runs, best))
    }

    /// Runs a plan until most runs have failed or most have passed. Returns the failure of the last that failed.
    async fn run_again(&self, seed: u64, decisions: &[Decision]) -> io::Result<(Runs, Option<Failed>)> {
        let plan = SchedulePlan { decisions: decisions.to_vec() };
        let (mut runs, mut last) = (Runs::default(), None);
        while runs.failed.max(runs.of - runs.failed) <= RUNS / 2 {
            let trial = self.try_one(seed, &self.schedule(Source::plan(&plan))).await?;
            runs.of += 1;
            if let Some(failure) = trial.failure {
                runs.failed += 1;
                last = Some((failure, trial.rows));
            }
        }
        Ok((runs, last))
    }

    fn broken(
        &self,
        seed: u64,
        Shrunk { kept, tries, is_minimal }: Shrunk<Decision>,
        runs: Runs,
        (failure, rows): Failed,
    ) -> Broken {
        let plan = SchedulePlan { decisions: kept };
        let repeat = self.repeat(seed, &plan);
        Broken { seed, plan, failure, rows, repeat, tries, runs, is_minimal, explored: Explored::default() }
    }

    /// A line that runs the plan again.
    fn repeat(&self, seed: u64, plan: &SchedulePlan) -> String {
        let timeout = match self.timeout {
            TIMEOUT => String::new(),
            other => {
                format!(" --timeout {}", quoted(&[humantime::format_duration(other).to_string().into()]))
            }
        };
        let undisturbed = match self.undisturbed.as_slice() {
            [] => String::new(),
            callers => format!(" --undisturbed {}", quoted(&[callers.join(",").into()])),
        };
        let plan = match plan.decisions.as_slice() {
            [] => "--schedules 0".to_owned(),
            _ => format!("--replay '{plan}'"),
        };
        let (invocation, command) = (quoted(&self.invocation), quoted(&self.command));
        format!("{invocation} explore{timeout}{undisturbed} --seed {seed} {plan} -- {command}")
    }

    fn schedule(&self, source: Source) -> Arc<Schedule> {
        Arc::new(Schedule::new(source).undisturbed(self.undisturbed.clone()))
    }

    /// Runs the command once.
    async fn try_one(&self, seed: u64, schedule: &Arc<Schedule>) -> io::Result<Trial> {
        let server = self.server.clone().port(0).seed(seed).journal(10_000).start().await?;
        server.faults().set_schedule(Some(Arc::clone(schedule)));
        let (program, arguments) = self.command.split_first().ok_or_else(|| {
            invalid("no command; allowed is a program with its arguments after --".to_owned())
        })?;
        let (output, writer) = Output::pipe()?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).envs(server.environment());
        // What only some clients read.
        command.env("AWS_ENDPOINT_URL", server.endpoint_url());
        command.stdout(writer.try_clone()?).stderr(writer).kill_on_drop(true);
        // A group of its own, so that what it starts ends with it.
        #[cfg(unix)]
        command.process_group(0);
        let explain =
            |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", program.display()));
        let mut child = Group::of(command.spawn().map_err(explain)?);
        // It has an end of the pipe.
        drop(command);
        let ended = tokio::time::timeout(self.timeout, child.leader.wait()).await;
        let failure = match ended {
            Ok(status) => failure_of(status?),
            Err(_) => Some(format!("it has not ended within {}", humantime::format_duration(self.timeout))),
        };
        drop(child);
        let failure = match failure {
            Some(failure) => Some(format!("{failure}\n\n{}", output.end().await)),
            None => None,
        };
        let rows = rows(&server);
        Ok(Trial { failure, made: schedule.made(), calls: schedule.calls(), rows })
    }
}

/// The requests to SQS.
fn rows(server: &MockSqs) -> Vec<Row> {
    let requests = server.requests();
    let start = requests.all().iter().map(RecordedRequest::time).min().unwrap_or_default();
    let mut messages = Messages::default();
    let mut row = |request: &RecordedRequest| {
        let disturbed = request.warnings().iter().find_map(|note| {
            let decision: Decision = note.strip_prefix(NOTE)?.parse().ok()?;
            Some(mark(&decision))
        });
        let failure = request.error_code().map(ToString::to_string).unwrap_or_default();
        let (input, output) = request.in_json();
        let what = messages.text(request.action_name(), &input, &output, &failure);
        Row { at: request.time().saturating_since(start), who: request.caller().into(), what, disturbed }
    };
    // They are recorded at their ends.
    let mut requests = requests.all().to_vec();
    requests.sort_by_key(RecordedRequest::time);
    requests.iter().map(&mut row).collect()
}

/// As a shell reads it.
fn quoted(words: &[OsString]) -> String {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "-_./=:,@%+".contains(char);
    let quoted = |word: &OsStr| {
        let word = word.to_string_lossy();
        if !word.is_empty() && word.chars().all(is_plain) {
            word.into_owned()
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    };
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// A process that ends, with those that it has started, when this is dropped.
struct Group {
    leader: Child,
    #[cfg(unix)]
    id: Option<Pid>,
}

impl Group {
    fn of(leader: Child) -> Self {
        Self {
            #[cfg(unix)]
            id: leader.id().and_then(|id| Pid::from_raw(id.try_into().ok()?)),
            leader,
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // They may have ended, which is an error.
        #[cfg(unix)]
        let _ = self.id.map(|id| kill_process_group(id, Signal::KILL));
        let _ = self.leader.start_kill();
    }
}

fn failure_of(status: ExitStatus) -> Option<String> {
    (!status.success()).then(|| match status.code() {
        Some(code) => format!("it ends with exit code {code}"),
        None => format!("it is ended by a signal ({status})"),
    })
}

/// The output of a command, which is read by a thread.
struct Output {
    last: Arc<Mutex<VecDeque<u8>>>,
    /// An error at its end.
    reading: oneshot::Receiver<Infallible>,
}

impl Output {
    fn pipe() -> io::Result<(Self, io::PipeWriter)> {
        let (mut reader, writer) = io::pipe()?;
        let last = Arc::<Mutex<VecDeque<u8>>>::default();
        let (ended, reading) = oneshot::channel();
        // A thread, as it may outlive the runtime: a process that has left the group keeps the pipe open.
        thread::Builder::new().name("explore-output".to_owned()).spawn({
            let last = Arc::clone(&last);
            move || {
                let _ended = ended;
                let mut bytes = vec![0; MAX_OUTPUT];
                while let Ok(read @ 1..) = reader.read(&mut bytes) {
                    let mut last = last.lock();
                    last.extend(bytes.iter().take(read));
                    let too_many = last.len().saturating_sub(MAX_OUTPUT);
                    last.drain(..too_many);
                }
            }
        })?;
        Ok((Self { last, reading }, writer))
    }

    /// Its last part. A process that has left the group may still write.
    async fn end(self) -> String {
        let _ = tokio::time::timeout(LAST_WORDS, self.reading).await;
        let bytes: Vec<u8> = self.last.lock().iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<_> = text.lines().map(|line| format!("    {line}")).collect();
        lines.join("\n")
    }
}

fn invalid(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_is_quoted_as_a_shell_reads_it() {
        let words = ["pytest", "-k", "it's slow", "", "a=b"].map(OsString::from);
        assert_eq!(quoted(&words), r"pytest -k 'it'\''s slow' '' a=b");
    }
}
