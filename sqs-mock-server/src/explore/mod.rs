//! Runs a test under hundreds of schedules: faults, duplicates, delays, lost responses and killed processes, all from a seed. A failure
//! comes back as the smallest schedule that breaks the test, with a line that repeats it.
//!
//! ```text
//! seed 0, 1, 2 .. -> a run each: server in this process, paused clock, one thread -> passes, or fails
//!                                                                                      |
//!                    the smallest plan that fails, its trace, a line to repeat it <- shrink
//! ```
//! ```
//! # async fn charge(_: &str) {}
//! use sqs_mock_server::explore::{Explore, Ledger, Process};
//!
//! /// Charges each order, and deletes its message.
//! async fn worker(process: Process, ledger: Ledger) -> Result<(), sqs_client::Error> {
//!     let (client, ledger) = (process.client(), process.fenced(&ledger));
//!     let url = client.get_queue_url().queue_name("orders").send().await?.queue_url.unwrap();
//!     loop {
//!         let received = client.receive_message().queue_url(&url).wait_time_seconds(20).send().await?;
//!         for message in received.messages() {
//!             let Ok(()) = ledger.record(message.body().unwrap()) else { return Ok(()) };
//!             let handle = message.receipt_handle().unwrap();
//!             client.delete_message().queue_url(&url).receipt_handle(handle).send().await?;
//!         }
//!     }
//! }
//!
//! let found = Explore::new().schedules(50).check(|run| async move {
//!     let url = run.client().create_queue().queue_name("orders").send().await?.queue_url.unwrap();
//!     let ledger = Ledger::default();
//!     run.process("worker", { let ledger = ledger.clone(); move |process| worker(process, ledger.clone()) });
//!     for order in 0..5 {
//!         run.client().send_message().queue_url(&url).message_body(order.to_string()).send().await?;
//!     }
//!     run.until_quiet().await;
//!     Ok::<_, Box<dyn std::error::Error>>(ledger.expect_each_once(0..5)?)
//! });
//! // SQS delivers at least once: the worker charges some order twice.
//! println!("{}", found.unwrap_err());
//! ```

#[cfg(feature = "cli")]
mod command;
#[cfg(feature = "explore")]
mod in_process;
#[cfg(feature = "explore")]
mod run;
mod shrink;

use std::collections::{BTreeMap, HashMap};
use std::fmt::{self, Display, Write as _};
#[cfg(feature = "explore")]
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

use serde_json::Value;

pub use crate::control::schedule::{CallName, Decision, Disturbance, InvalidSchedule, SchedulePlan};
// For the binary.
#[cfg(feature = "cli")]
#[doc(hidden)]
pub use crate::explore::command::ExploreCommand;
#[cfg(feature = "explore")]
pub use crate::explore::in_process::{Explore, Outcome};
#[cfg(feature = "explore")]
pub use crate::explore::run::{Disturbed, Fenced, Killed, Ledger, NotAsExpected, Process, Run};

use crate::config::file::excerpt;
use crate::control::faults::fault::name_of;

/// The runs that make a failing plan smaller.
const MAX_TRIES: usize = 500;

/// A schedule that breaks a test may become small only as far as its own decisions allow: one that is left out moves the numbers of
/// later calls. So others are tried, with this part of the rate, unless it has only [one decision](ENOUGH).
const FEWER: f64 = 0.25;

/// A plan that needs not be smaller.
const ENOUGH: usize = 1;

/// The rows before and after a disturbance that a report shows.
const AROUND: usize = 3;

/// The width of the bar of progress.
const BAR: u32 = 30;

/// The characters of a message in a report.
const SHOWN: usize = 40;

/// The rows of a report.
const MAX_ROWS: usize = 60;

/// Something that happened in a run.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// Since the start of the run, by the clock of the server.
    at: Duration,
    who: Box<str>,
    what: String,
    disturbed: Option<Box<str>>,
}

impl Row {
    /// The width of the column of callers.
    fn width(rows: &[Self]) -> usize {
        rows.iter().map(|row| row.who.len()).max().unwrap_or(0)
    }

    fn line(&self, width: usize) -> String {
        let Self { at, who, what, disturbed } = self;
        let mark = disturbed.as_ref().map(|mark| format!("   <- {mark}")).unwrap_or_default();
        format!("  {:>9.3} s  {who:width$}  {what}{mark}\n", at.as_secs_f64())
    }
}

/// What a report says of a disturbed call.
fn mark(Decision { call, disturbance }: &Decision) -> Box<str> {
    format!("#{}: {}", call.number, disturbance.about()).into()
}

/// The name of the queue in an input; empty if there is none.
fn queue_of(input: &Value) -> &str {
    input["QueueUrl"].as_str().map(name_of).or(input["QueueName"].as_str()).unwrap_or_default()
}

/// The texts of calls of SQS. Receipt handles become the messages that were received with them.
#[derive(Debug, Default)]
struct Messages {
    by_handle: HashMap<String, String>,
}

impl Messages {
    /// A call in AWS JSON, and how it failed.
    fn text(&mut self, action: &str, input: &Value, output: &Value, failure: &str) -> String {
        let queue = queue_of(input);
        let shown = |body: &Value, group: &Value| {
            let body = excerpt(body.as_str().unwrap_or_default(), SHOWN);
            group.as_str().map_or(body.clone(), |group| format!("{body} of group {group}"))
        };
        let mut messages = Vec::new();
        for message in output["Messages"].as_array().into_iter().flatten() {
            let body = shown(&message["Body"], &message["Attributes"]["MessageGroupId"]);
            let handle = message["ReceiptHandle"].as_str().unwrap_or_default().to_owned();
            self.by_handle.insert(handle, body.clone());
            messages.push(body);
        }
        let entries = input["Entries"].as_array().map_or(std::slice::from_ref(input), Vec::as_slice);
        for entry in entries {
            if !entry["MessageBody"].is_null() {
                messages.push(shown(&entry["MessageBody"], &entry["MessageGroupId"]));
            }
            messages.extend(
                entry["ReceiptHandle"].as_str().and_then(|handle| self.by_handle.get(handle)).cloned(),
            );
        }
        let parts = [action, queue, &messages.join(", "), failure];
        let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        parts.join(" ")
    }
}

/// A run that has ended.
struct Trial {
    failure: Option<String>,
    made: SchedulePlan,
    calls: u64,
    rows: Vec<Row>,
}

impl Trial {
    /// A run in which nothing could be disturbed fails.
    fn require_calls(&mut self, failure: &str) {
        if self.calls == 0 {
            self.failure.get_or_insert_with(|| failure.to_owned());
        }
    }
}

#[cfg(feature = "explore")]
impl Trial {
    /// Equal for runs in which the same happened in the same order.
    fn interleaving(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for row in &self.rows {
            (&row.who, &row.what).hash(&mut hasher);
        }
        hasher.finish()
    }
}

/// A test that no schedule has broken.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Explored {
    /// The schedules, besides the one without disturbances.
    pub schedules: u32,
    /// The calls of all runs that a schedule could have disturbed.
    pub calls: u64,
    /// The disturbances by kind.
    pub decisions: BTreeMap<Disturbance, usize>,
    /// The number of runs in which something else happened, or in another order; 0 for a command, of which that is not known.
    pub interleavings: usize,
    /// In real time.
    pub took: Duration,
    replay: Option<Replay>,
}

/// The disturbances of a replay that took place, and those of its plan.
#[derive(Clone, Copy, Debug)]
struct Replay {
    made: usize,
    planned: usize,
}

impl Display for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} disturbances took place", self.made, self.planned)
    }
}

impl Explored {
    /// Adds a run.
    fn add(&mut self, made: &SchedulePlan, calls: u64, took: Duration) {
        self.calls += calls;
        for decision in &made.decisions {
            *self.decisions.entry(decision.disturbance).or_default() += 1;
        }
        self.took = took;
    }

    /// Shows how far it is.
    fn show_progress(&self, of: u32) {
        let done = u64::from(self.schedules) * u64::from(BAR) / u64::from(of.max(1));
        let bar: String = (0..BAR).map(|at| if u64::from(at) < done { '#' } else { '-' }).collect();
        let disturbances: usize = self.decisions.values().sum();
        let schedules = self.schedules;
        if schedules == of {
            progress("");
        } else {
            progress(&format!("[{bar}] {schedules} of {of} schedules, {disturbances} disturbances"));
        }
    }
}

impl Display for Explored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let disturbances: usize = self.decisions.values().sum();
        let Self { schedules, calls, interleavings, took, .. } = self;
        if let Some(replay) = self.replay {
            return write!(f, "the plan does not break the test; {replay}");
        }
        write!(f, "explored {schedules} {}, ", if *schedules == 1 { "schedule" } else { "schedules" })?;
        if *interleavings > 0 {
            write!(f, "{interleavings} of them different, ")?;
        }
        write!(f, "with {disturbances} disturbances of {calls} calls, in {:.1} s", took.as_secs_f64())?;
        let kinds: Vec<_> = self.decisions.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
        if kinds.is_empty() { Ok(()) } else { write!(f, "\n  {}", kinds.join(", ")) }
    }
}

/// How often a plan broke a test. In Rust, one more run tells; a command is run up to three times.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Runs {
    /// The runs that failed.
    pub failed: u32,
    /// All runs of the plan.
    pub of: u32,
}

#[cfg(feature = "cli")]
impl Runs {
    fn is_majority(self) -> bool {
        self.failed > self.of / 2
    }
}

/// A test that a schedule breaks. Its text is the report.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Broken {
    /// The seed of the schedule, and of the server.
    pub seed: u64,
    /// The smallest plan that was found. Empty if the test fails without any disturbance.
    pub plan: SchedulePlan,
    /// The text of the failure.
    pub failure: String,
    rows: Vec<Row>,
    /// A command that repeats it.
    pub repeat: String,
    /// The runs that made the plan smaller.
    pub tries: usize,
    /// What the plan did when it ran again.
    pub runs: Runs,
    /// Whether each decision of the plan is needed.
    pub is_minimal: bool,
    explored: Explored,
}

impl std::error::Error for Broken {}

impl Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { plan, failure, rows, explored, .. } = self;
        if plan.decisions.is_empty() {
            writeln!(f, "the test fails without any disturbance: {failure}")?;
        } else {
            let count = plan.decisions.len();
            let Runs { failed, of } = self.runs;
            let again = if failed == of { String::new() } else { format!(", in {failed} of {of} runs") };
            if let Some(replay) = explored.replay {
                writeln!(f, "the plan breaks the test{again}: {failure}\n\n{replay}:")?;
            } else {
                writeln!(f, "schedule {} breaks the test: {failure}\n", explored.schedules)?;
                match (failed, self.is_minimal, count) {
                    (0, ..) => writeln!(
                        f,
                        "With the same {count} disturbances, it passed when it ran again. It depends on more than the schedule:"
                    )?,
                    (_, true, 1) => writeln!(f, "One disturbance is enough to break it{again}:")?,
                    (_, true, _) => writeln!(f, "It takes {count} disturbances to break it{again}:")?,
                    (_, false, _) => writeln!(f, "These {count} disturbances break it{again}:")?,
                }
            }
            for Decision { call, disturbance } in &plan.decisions {
                writeln!(f, "  {call}: {}", disturbance.about())?;
            }
        }
        if rows.is_empty() {
            writeln!(f, "\nThere were no requests to SQS.")?;
        } else {
            writeln!(f, "\nWhat happened, by the clock of SQS:")?;
            f.write_str(&table(rows))?;
        }
        write!(f, "\nTo repeat it:\n  {}", self.repeat)
    }
}

/// The rows around disturbances, and the last ones.
fn table(rows: &[Row]) -> String {
    let is_disturbed = |at: usize| rows.get(at).is_some_and(|row| row.disturbed.is_some());
    let is_shown = |at: usize| {
        let near = at.saturating_sub(AROUND)..=at + AROUND;
        near.clone().any(is_disturbed) || at + AROUND >= rows.len() || rows.len() <= MAX_ROWS / 2
    };
    let width = Row::width(rows);
    let (mut text, mut shown, mut left_out) = (String::new(), 0, 0);
    for (at, row) in rows.iter().enumerate() {
        if !is_shown(at) || shown == MAX_ROWS {
            left_out += 1;
            continue;
        }
        tell_left_out(&mut text, std::mem::take(&mut left_out));
        shown += 1;
        text.push_str(&row.line(width));
    }
    tell_left_out(&mut text, left_out);
    text
}

fn tell_left_out(text: &mut String, rows: usize) {
    if rows > 0 {
        // Writing to a String does not fail.
        let _ = writeln!(text, "             .. {rows} more");
    }
}

/// Clears the line that shows progress, when it is dropped.
#[cfg(feature = "cli")]
struct ProgressLine;

#[cfg(feature = "cli")]
impl Drop for ProgressLine {
    fn drop(&mut self) {
        progress("");
    }
}

/// Replaces the line that shows progress, on a terminal.
fn progress(text: &str) {
    let mut error = std::io::stderr();
    if error.is_terminal() {
        let _ = write!(error, "\r\x1b[K{text}");
        let _ = error.flush();
    }
}
