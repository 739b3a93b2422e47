//! Runs in this process: one thread, the paused clock of tokio, no socket.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::fmt::Display;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Once};
use std::time::Duration;

use strum::VariantArray as _;
use tokio::time::Instant;

use crate::control::schedule::{DEFAULT_RATE, Decision, Disturbance, Schedule, SchedulePlan, Source};
use crate::control::seed::Seed;
use crate::explore::run::Run;
use crate::explore::shrink::{Shrinker, Shrunk};
use crate::explore::{Broken, ENOUGH, Explored, FEWER, MAX_TRIES, Replay, Runs, Trial, progress};
use crate::mock::MockSqs;
use crate::mock::builder::MockSqsBuilder;

/// The variables that repeat a run.
const SEED: &str = "SQS_EXPLORE_SEED";
const PLAN: &str = "SQS_EXPLORE_PLAN";

/// The other schedules that are tried.
const OTHERS: u64 = 100;

/// The failure if there was nothing to disturb.
const NO_CALLS: &str =
    "no process made a call that can be disturbed; start one with `Run::process`, and use its client";

/// The failure of a test that takes [too long](TOO_LONG).
const NEVER_ENDED: &str = "the test has not ended within 30 days of virtual time";

/// The time of a run, by the virtual clock. A test that takes longer fails.
const TOO_LONG: Duration = Duration::from_secs(30 * 24 * 3_600);

/// Runs a test under many schedules.
#[derive(Clone, Debug)]
#[must_use = "`run` or `check` runs the test"]
pub struct Explore {
    schedules: u32,
    seed: u64,
    rate: f64,
    kinds: Vec<Disturbance>,
    server: MockSqsBuilder,
    replay: Option<SchedulePlan>,
}

impl Default for Explore {
    fn default() -> Self {
        Self {
            schedules: 100,
            seed: 0,
            rate: DEFAULT_RATE,
            kinds: Disturbance::VARIANTS.to_vec(),
            server: MockSqs::builder(),
            replay: None,
        }
    }
}

impl Explore {
    /// 100 schedules with every kind of disturbance, each for a tenth of all calls.
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of schedules. One without any disturbance comes first.
    pub fn schedules(mut self, count: u32) -> Self {
        self.schedules = count;
        self
    }

    /// The first seed; those of the other schedules follow. The default is 0, so that a test does the same in each run.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The part of all calls that are disturbed, from 0 to 1. The default is 0.1.
    pub fn rate(mut self, rate: f64) -> Self {
        self.rate = if rate.is_nan() { 0.0 } else { rate.clamp(0.0, 1.0) };
        self
    }

    /// The disturbances that may happen. The default is all of them.
    pub fn kinds(mut self, kinds: impl IntoIterator<Item = Disturbance>) -> Self {
        self.kinds = kinds.into_iter().collect();
        self
    }

    /// The settings of the server of each run, such as its queues. Its seed is that of the schedule.
    pub fn server(mut self, server: MockSqsBuilder) -> Self {
        self.server = server;
        self
    }

    /// Runs this plan alone, with the [seed](Self::seed) of its report, instead of many schedules: a regression test for a mistake that
    /// was mended.
    ///
    /// ```no_run
    /// # use sqs_mock_server::explore::Explore;
    /// let plan = "worker DeleteMessage orders #2: lose_response".parse()?;
    /// Explore::new().seed(7).replay(plan).run(|run| async move { run.until_quiet().await });
    /// # Ok::<_, sqs_mock_server::explore::InvalidSchedule>(())
    /// ```
    pub fn replay(mut self, plan: SchedulePlan) -> Self {
        self.replay = Some(plan);
        self
    }

    /// Runs a test under all schedules.
    ///
    /// # Panics
    /// A schedule breaks the test. The text has the smallest plan that does, what happened, and a line that repeats it. The settings
    /// of the server are invalid. It is called in a runtime of tokio: it has its own.
    pub fn run<F, T>(self, test: impl Fn(Run) -> F)
    where
        F: Future<Output = T>,
        T: Outcome,
    {
        match self.check(test) {
            Ok(explored) => eprintln!("{explored}"),
            Err(broken) => panic!("{broken}"),
        }
    }

    /// As [`run`](Self::run), and returns the result.
    ///
    /// # Errors
    /// A schedule breaks the test.
    ///
    /// # Panics
    /// The settings of the server are invalid, or a plan in the environment is. It is called in a runtime of tokio: it has its own.
    pub fn check<F, T>(&self, test: impl Fn(Run) -> F) -> Result<Explored, Box<Broken>>
    where
        F: Future<Output = T>,
        T: Outcome,
    {
        if let Ok(plan) = std::env::var(PLAN) {
            let plan = plan.parse().unwrap_or_else(|error| panic!("{PLAN}: {error}"));
            let seed = std::env::var(SEED).ok().map_or(Ok(self.seed), |seed| seed.parse());
            return self.run_plan(plan, seed.unwrap_or_else(|error| panic!("{SEED}: {error}")), test);
        }
        if let Some(plan) = &self.replay {
            return self.run_plan(plan.clone(), self.seed, test);
        }
        let start = Instant::now();
        let mut explored = Explored::default();
        let mut interleavings = HashSet::new();
        for number in 0..=u64::from(self.schedules) {
            let seed = self.seed.wrapping_add(number);
            let source = match number {
                0 => Source::plan(&SchedulePlan::default()),
                _ => Source::seed(seed, self.rate, &self.kinds),
            };
            let mut trial = self.try_one(seed, source, &test);
            trial.require_calls(NO_CALLS);
            explored.schedules += u32::from(number > 0);
            explored.add(&trial.made, trial.calls, start.elapsed());
            if number > 0 {
                interleavings.insert(trial.interleaving());
            }
            explored.interleavings = interleavings.len();
            if !is_in_a_test() {
                explored.show_progress(self.schedules);
            }
            if trial.failure.is_some() {
                return Err(Box::new(self.broken(seed, trial, explored, &test)));
            }
        }
        Ok(explored)
    }

    /// Looks for the smallest plan that fails.
    fn broken<F, T>(&self, seed: u64, trial: Trial, explored: Explored, test: impl Fn(Run) -> F) -> Broken
    where
        F: Future<Output = T>,
        T: Outcome,
    {
        if !is_in_a_test() {
            progress("");
        }
        let mut smallest = self.smaller(seed, trial, MAX_TRIES, &test);
        let mut tries = smallest.tries;
        for next in 1..=OTHERS {
            if smallest.plan.decisions.len() <= ENOUGH || tries >= MAX_TRIES {
                break;
            }
            let seed = seed.wrapping_add(next);
            let trial = self.try_one(seed, Source::seed(seed, self.rate * FEWER, &self.kinds), &test);
            tries += 1;
            if trial.failure.is_some() {
                let other = self.smaller(seed, trial, MAX_TRIES.saturating_sub(tries), &test);
                tries += other.tries;
                let is_smaller = other.plan.decisions.len() < smallest.plan.decisions.len();
                if is_smaller && other.runs.failed > 0 {
                    smallest = other;
                }
            }
        }
        Broken { tries, explored, ..smallest }
    }

    /// Leaves out what is not needed.
    fn smaller<F, T>(&self, seed: u64, trial: Trial, at_most: usize, test: impl Fn(Run) -> F) -> Broken
    where
        F: Future<Output = T>,
        T: Outcome,
    {
        let decisions = trial.made.decisions.clone();
        let mut best = trial;
        let mut fails = |decisions: &[Decision]| {
            let plan = SchedulePlan { decisions: decisions.to_vec() };
            let trial = self.try_one(seed, Source::plan(&plan), &test);
            let is_broken = trial.failure.is_some();
            if is_broken {
                best = trial;
            }
            is_broken
        };
        // The run without disturbances was that of the empty plan.
        let is_repeatable = decisions.is_empty() || fails(&decisions);
        let Shrunk { kept, tries, is_minimal } = if is_repeatable {
            let mut shrinker = Shrinker::new(decisions, at_most);
            while let Some(shorter) = shrinker.candidate() {
                shrinker.tell(fails(&shorter));
            }
            shrinker.finish()
        } else {
            Shrunk { kept: decisions, tries: 0, is_minimal: false }
        };
        let plan = SchedulePlan { decisions: kept };
        Broken {
            repeat: repeat(seed, &plan),
            seed,
            plan,
            failure: best.failure.unwrap_or_default(),
            rows: best.rows,
            tries,
            runs: Runs { failed: is_repeatable.into(), of: 1 },
            is_minimal,
            explored: Explored::default(),
        }
    }

    fn run_plan<F, T>(
        &self,
        plan: SchedulePlan,
        seed: u64,
        test: impl Fn(Run) -> F,
    ) -> Result<Explored, Box<Broken>>
    where
        F: Future<Output = T>,
        T: Outcome,
    {
        let start = Instant::now();
        let mut trial = self.try_one(seed, Source::plan(&plan), test);
        trial.require_calls(NO_CALLS);
        let replay = Replay { made: trial.made.decisions.len(), planned: plan.decisions.len() };
        let mut explored = Explored { schedules: 1, replay: Some(replay), ..Explored::default() };
        explored.add(&trial.made, trial.calls, start.elapsed());
        match trial.failure {
            None => Ok(explored),
            Some(failure) => Err(Box::new(Broken {
                repeat: repeat(seed, &plan),
                seed,
                plan,
                failure,
                rows: trial.rows,
                tries: 0,
                runs: Runs { failed: 1, of: 1 },
                is_minimal: false,
                explored,
            })),
        }
    }

    /// Runs the test once.
    fn try_one<F, T>(&self, seed: u64, source: Source, test: impl Fn(Run) -> F) -> Trial
    where
        F: Future<Output = T>,
        T: Outcome,
    {
        // Jitter of clients comes from the generator of this thread.
        fastrand::seed(Seed(seed).generator("explore").u64(..));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
        let runtime = runtime.unwrap_or_else(|error| panic!("no runtime: {error}"));
        let schedule = Arc::new(Schedule::of_processes(source));
        let run = runtime.block_on(async {
            let server = self.server.clone().repeatable(seed).in_process();
            let server = server.unwrap_or_else(|error| panic!("the settings of the server: {error}"));
            server.faults().set_schedule(Some(Arc::clone(&schedule)));
            Run::new(server, Arc::clone(&schedule))
        });
        let tested = quietly(|| {
            runtime.block_on(async {
                tokio::select! {
                    biased;
                    () = run.failed() => None,
                    outcome = test(run.clone()) => outcome.failure(),
                    () = tokio::time::sleep(TOO_LONG) => Some(NEVER_ENDED.to_owned()),
                }
            })
        });
        let failure = match tested {
            Ok(failure) => failure,
            Err(panic) => Some(panic),
        };
        let failure = run.failure().or(failure);
        let (made, calls, rows) = (schedule.made(), schedule.calls(), run.rows());
        // Drops the processes, whose futures may use the runtime.
        drop(runtime);
        Trial { failure, made, calls, rows }
    }
}

/// A line that runs the plan in this test again. Threads of tests have the name of their test.
fn repeat(seed: u64, plan: &SchedulePlan) -> String {
    let variables = format!("{SEED}={seed} {PLAN}='{plan}'");
    match std::thread::current().name() {
        Some(name) if is_in_a_test() => format!("{variables} cargo test {name}"),
        _ => format!("run it with {variables}"),
    }
}

/// Whether it runs on a thread of a test, whose terminal is that of the test harness.
fn is_in_a_test() -> bool {
    std::thread::current().name().is_some_and(|name| name != "main")
}

/// The result of a test, or of a process.
pub trait Outcome {
    /// Why it failed; `None` if it did not.
    fn failure(&self) -> Option<String>;
}

impl Outcome for () {
    fn failure(&self) -> Option<String> {
        None
    }
}

impl<T, E: Display> Outcome for Result<T, E> {
    fn failure(&self) -> Option<String> {
        self.as_ref().err().map(ToString::to_string)
    }
}

thread_local! {
    /// Whether panics of this thread are part of an exploration, and the text of the last one.
    static IS_QUIET: Cell<bool> = const { Cell::new(false) };
    static LAST_PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// The text and the place of the last panic of this thread.
pub(crate) fn last_panic() -> Option<String> {
    LAST_PANIC.take()
}

/// Runs something whose panics are its result, and not shown.
fn quietly<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if IS_QUIET.get() {
                let place = info.location().map(|place| format!(" at {place}")).unwrap_or_default();
                LAST_PANIC.set(Some(format!("{}{place}", text_of(info.payload()))));
            } else {
                before(info);
            }
        }));
    });
    LAST_PANIC.set(None);
    IS_QUIET.set(true);
    let result = catch_unwind(AssertUnwindSafe(run));
    IS_QUIET.set(false);
    result.map_err(|panic| LAST_PANIC.take().unwrap_or_else(|| text_of(&*panic)))
}

/// The text of a panic.
fn text_of(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "without a text".to_owned())
}
