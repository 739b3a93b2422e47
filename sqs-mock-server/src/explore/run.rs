//! One run of a test under a schedule: its server, its processes, and what they did.

use std::collections::{HashMap, HashSet};
use std::fmt::{self, Display};
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use aws_credential_types::Credentials;
use bytes::Bytes;
use http::{Request, StatusCode};
use parking_lot::Mutex;
use serde_json::Value;
use sqs_client::Client;
use sqs_client::transport::{Transport, TransportError, TransportErrorKind, TransportFuture};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

use crate::config::file::excerpt;
use crate::control::clock::{Clock, Timestamp};
use crate::control::schedule::{
    Call, CallName, CallNumber, Disturbance, JUMP, SLOW, Schedule, SchedulePlan, is_name_byte,
};
use crate::explore::in_process::{Outcome, last_panic};
use crate::explore::{Messages, Row, SHOWN, mark, queue_of};
use crate::mock::MockSqs;
use crate::router::InProcess;

/// How long a process that ended with an error or was killed is down, in virtual time.
const RESTART: Duration = Duration::from_secs(1);

/// The errors with which a process may end before the run fails.
const MAX_ERRORS: u32 = 1_000;

/// How long a call takes at least, in virtual time: so time passes for a process that calls again and again without waiting.
const LATENCY: Duration = Duration::from_millis(1);

/// The calls and other rows of a run. A run with more fails.
const MAX_TRACED: usize = 20_000;

/// The caller of [`Run::client`].
const TEST: &str = "test";

/// How long queues must be empty to be [quiet](Run::until_quiet).
const QUIET: Duration = Duration::from_secs(5);

/// How long [`Run::until_quiet`] waits.
const PATIENCE: Duration = Duration::from_secs(3_600);

/// A run of a test under one schedule. Clones share it.
#[derive(Clone, Debug)]
pub struct Run {
    pub(crate) shared: Arc<Shared>,
}

#[derive(Debug)]
pub(crate) struct Shared {
    server: MockSqs,
    schedule: Arc<Schedule>,
    trace: Trace,
    /// The names of processes.
    names: Mutex<HashSet<String>>,
    /// Why the run fails, besides the result of the test.
    pub(crate) failure: Mutex<Option<String>>,
}

impl Run {
    pub(crate) fn new(server: MockSqs, schedule: Arc<Schedule>) -> Self {
        let trace =
            Trace { start: server.clock().now(), clock: server.clock().clone(), state: Mutex::default() };
        let shared = Shared { server, schedule, trace, names: Mutex::default(), failure: Mutex::default() };
        Self { shared: Arc::new(shared) }
    }

    /// The server, to look into its queues or inject faults.
    pub fn server(&self) -> &MockSqs {
        &self.shared.server
    }

    /// What the schedule has decided so far.
    pub fn decisions(&self) -> SchedulePlan {
        self.shared.schedule.made()
    }

    /// What happened so far, a line each: calls, restarts and [records](Ledger). The same seed gives the same text, if the code under
    /// test is deterministic.
    pub fn trace(&self) -> String {
        let rows = self.rows();
        let width = Row::width(&rows);
        rows.iter().map(|row| row.line(width)).collect()
    }

    pub(crate) fn rows(&self) -> Vec<Row> {
        self.shared.trace.rows(&self.shared.schedule)
    }

    /// Ends when the run has failed.
    pub(crate) async fn failed(&self) {
        while self.failure().is_none() {
            sleep(RESTART).await;
        }
    }

    /// Why the run fails, besides the result of the test.
    pub(crate) fn failure(&self) -> Option<String> {
        let is_full = self.shared.trace.is_full();
        let too_many = || {
            format!(
                "the run has more than {MAX_TRACED} calls; does a process receive again and again without waiting?"
            )
        };
        self.shared.failure.lock().clone().or_else(|| is_full.then(too_many))
    }

    /// A client that no schedule disturbs, for what the test itself does.
    pub fn client(&self) -> Client {
        let transport = self.transport(TEST, Arc::default());
        Client::from_conf(self.shared.server.client_config().transport(transport).build())
    }

    /// Starts a process: code whose calls the schedule disturbs, and which it may kill and start again. `start` is called for each
    /// start. A process that ends with an error starts again after a second, as an orchestrator does; one that panics makes the
    /// run fail.
    ///
    /// A kill drops the future, and from then on its [client](Process::client) and its [fenced](Process::fenced) handles refuse.
    /// Tasks that it has spawned go on, until they meet one of these.
    ///
    /// # Panics
    /// The name is not made of 1 to 40 letters, digits, `-` and `_`, or it is taken: by another process, or `test` by the test.
    pub fn process<F, T>(&self, name: &str, start: impl Fn(Process) -> F + Send + 'static)
    where
        F: Future<Output = T> + Send + 'static,
        T: Outcome + Send + 'static,
    {
        assert!(
            (1..=40).contains(&name.len()) && name.bytes().all(is_name_byte),
            "{name:?} is not the name of a process; allowed are 1 to 40 letters, digits, - and _"
        );
        let is_free = name != TEST && self.shared.names.lock().insert(name.to_owned());
        assert!(is_free, "{name:?} is taken; allowed is a name that no other process has, nor the test");
        let (run, name) = (self.clone(), name.to_owned());
        drop(tokio::spawn(async move { run.supervise(&name, start).await }));
    }

    async fn supervise<F, T>(self, name: &str, start: impl Fn(Process) -> F)
    where
        F: Future<Output = T> + Send + 'static,
        T: Outcome + Send + 'static,
    {
        let mut errors = 0;
        for number in 1.. {
            let fence = Arc::<Fence>::default();
            let kill = Arc::clone(&fence);
            self.shared.schedule.add_process(name, move || kill.close());
            let process = Process { run: self.clone(), name: name.into(), number, fence: Arc::clone(&fence) };
            let Ok(started) = catch_unwind(AssertUnwindSafe(|| start(process))) else {
                let panic = last_panic().unwrap_or_default();
                return self.fail(format!("process {name} panicked: {panic}"));
            };
            let mut task = tokio::spawn(started);
            let ended = tokio::select! {
                biased;
                () = fence.closed() => None,
                ended = &mut task => Some(ended),
            };
            let trace = &self.shared.trace;
            match ended {
                None => {
                    task.abort();
                    // It is dropped when this returns.
                    let _ = task.await;
                    trace.add(name, "is killed".to_owned());
                }
                Some(Ok(outcome)) => match outcome.failure() {
                    None => return trace.add(name, "ends".to_owned()),
                    Some(error) => {
                        errors += 1;
                        if errors == MAX_ERRORS {
                            return self.fail(format!("process {name} has failed {errors} times: {error}"));
                        }
                        trace.add(name, format!("ends with an error: {error}"));
                    }
                },
                Some(Err(error)) => {
                    let panic = last_panic().unwrap_or_else(|| error.to_string());
                    return self.fail(format!("process {name} panicked: {panic}"));
                }
            }
            // Whatever it has spawned is fenced off, also after an error.
            fence.close();
            sleep(RESTART).await;
            trace.add(name, "starts again".to_owned());
        }
    }

    /// Makes the run fail.
    fn fail(&self, text: String) {
        self.shared.failure.lock().get_or_insert(text);
    }

    fn transport(&self, caller: &str, fence: Arc<Fence>) -> Wire {
        Wire { inner: self.shared.server.transport(), run: self.clone(), caller: caller.into(), fence }
    }

    /// Waits until all queues except dead-letter queues have been empty for five seconds, at most an hour, in virtual time. Messages
    /// in flight and delayed ones count.
    pub async fn until_quiet(&self) {
        let end = Instant::now() + PATIENCE;
        let mut since = None;
        while Instant::now() < end {
            if self.failure().is_some() {
                // The run ends soon.
                return std::future::pending().await;
            }
            let now = Instant::now();
            match (self.is_empty(), since) {
                (false, _) => since = None,
                (true, None) => since = Some(now),
                (true, Some(since)) if now.duration_since(since) >= QUIET => return,
                (true, Some(_)) => {}
            }
            sleep(QUIET / 10).await;
        }
    }

    fn is_empty(&self) -> bool {
        let service = self.shared.server.sqs();
        let all = service.shared.all_queues();
        let dead: Vec<_> = all
            .iter()
            .filter_map(|queue| {
                queue.attribute(|all| all.redrive.as_ref().map(|redrive| redrive.target.clone()))
            })
            .collect();
        all.iter().filter(|queue| !dead.contains(queue.arn())).all(|queue| {
            let counts = service.counts(queue.arn()).unwrap_or_default();
            counts.available + counts.in_flight + counts.delayed == 0
        })
    }
}

/// A process in a run, from one start to its end.
#[derive(Clone, Debug)]
pub struct Process {
    run: Run,
    name: Box<str>,
    number: u32,
    fence: Arc<Fence>,
}

impl Process {
    /// The client of this start of the process. The schedule disturbs its calls; after a kill, it refuses.
    pub fn client(&self) -> Client {
        let transport = self.run.transport(&self.name, Arc::clone(&self.fence));
        let credentials = Credentials::new(&*self.name, "secret", None, None, "explore");
        let config = self.run.shared.server.client_config().transport(transport);
        Client::from_conf(config.credentials_provider(credentials).build())
    }

    /// A handle that refuses after a kill, for what the process changes outside of SQS: a database, a ledger.
    pub fn fenced<T: Clone>(&self, inner: &T) -> Fenced<T> {
        Fenced { inner: inner.clone(), process: self.clone() }
    }

    /// Calls another service, which the schedule disturbs like SQS: the call may fail before it is made, its answer may be lost, it
    /// may be slow, and the process may be killed before or after it. `service` and `action` name it, such as `bank` and `charge`.
    ///
    /// # Errors
    /// The call failed, or the process was killed.
    ///
    /// # Panics
    /// A name has spaces or colons.
    pub async fn call<T>(
        &self,
        service: &str,
        action: &str,
        work: impl Future<Output = T>,
    ) -> Result<T, Disturbed> {
        let is_legal = |name: &str| !name.is_empty() && !name.contains([' ', ':', ';', '\n']);
        assert!(
            is_legal(service) && is_legal(action),
            "{action:?} of {service:?}: spaces and colons are not allowed"
        );
        let killed = || Disturbed(Killed.to_string());
        self.fence.enter().await.map_err(|Killed| killed())?;
        let shared = &self.run.shared;
        let (_, name) = shared.trace.begin(&self.name, action, service, format!("{action} {service}"));
        let call = Call {
            caller: &self.name,
            action,
            queue: service,
            is_fifo: true,
            entries: 0,
            is_process: true,
            is_of_sqs: false,
            number: Some(CallNumber(name.number)),
        };
        let decision = shared.schedule.decide(call).map(|decision| decision.disturbance);
        let failed =
            |disturbance: Disturbance| Err(Disturbed(format!("{action} {service}: {}", disturbance.about())));
        if let Some(
            before @ (Disturbance::LoseRequest | Disturbance::ServerError | Disturbance::KillBefore),
        ) = decision
        {
            return failed(before);
        }
        let done = self.fence.unless_closed(work).await.map_err(|Killed| killed())?;
        match decision {
            Some(Disturbance::LoseResponse) => return failed(Disturbance::LoseResponse),
            Some(Disturbance::KillAfter) => {
                self.fence.close();
                return failed(Disturbance::KillAfter);
            }
            Some(Disturbance::Slow) => {
                self.fence.unless_closed(sleep(SLOW)).await.map_err(|Killed| killed())?;
            }
            Some(Disturbance::Jump) => shared.server.clock().advance(JUMP),
            _ => {}
        }
        Ok(done)
    }

    /// How often the process was started, this start included.
    pub fn starts(&self) -> u32 {
        self.number
    }
}

/// Tells that a process was killed.
#[derive(Debug, Default)]
struct Fence {
    is_closed: AtomicBool,
    changed: Notify,
}

impl Fence {
    fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
        self.changed.notify_waiters();
    }

    fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Acquire)
    }

    /// Begins a call, which takes some time. A refusal takes longer, so that code that ignores errors does not stop the clock.
    async fn enter(&self) -> Result<(), Killed> {
        if self.is_closed() {
            sleep(RESTART).await;
            return Err(Killed);
        }
        self.unless_closed(sleep(LATENCY)).await
    }

    /// The result of a future, which is dropped when the process is killed.
    async fn unless_closed<T>(&self, future: impl Future<Output = T>) -> Result<T, Killed> {
        tokio::select! {
            biased;
            () = self.closed() => Err(Killed),
            done = future => Ok(done),
        }
    }

    async fn closed(&self) {
        let changed = self.changed.notified();
        let mut changed = std::pin::pin!(changed);
        changed.as_mut().enable();
        if !self.is_closed() {
            changed.await;
        }
    }
}

/// The process was killed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Killed;

impl Display for Killed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the process was killed")
    }
}

impl std::error::Error for Killed {}

/// A call that a schedule has made fail.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Disturbed(String);

impl Display for Disturbed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Disturbed {}

/// A handle of a [process](Process::fenced) that refuses after a kill.
#[derive(Clone, Debug)]
pub struct Fenced<T> {
    inner: T,
    process: Process,
}

impl<T> Fenced<T> {
    /// What is behind the fence.
    ///
    /// # Errors
    /// [`Killed`].
    pub fn get(&self) -> Result<&T, Killed> {
        if self.process.fence.is_closed() { Err(Killed) } else { Ok(&self.inner) }
    }
}

impl Fenced<Ledger> {
    /// Records an effect. It is in the trace of a failure.
    ///
    /// # Errors
    /// [`Killed`].
    pub fn record(&self, key: impl Display) -> Result<(), Killed> {
        let ledger = self.get()?;
        let Process { run, name, .. } = &self.process;
        run.shared.trace.add(name, format!("records {}", excerpt(&key.to_string(), SHOWN)));
        ledger.record(key);
        Ok(())
    }
}

/// The transport of a client in a run.
#[derive(Clone, Debug)]
struct Wire {
    inner: InProcess,
    run: Run,
    caller: Box<str>,
    fence: Arc<Fence>,
}

impl Transport for Wire {
    fn send(&self, mut request: Request<Bytes>) -> TransportFuture<'_> {
        let killed = |Killed| TransportError::new(TransportErrorKind::Connect, Killed);
        Box::pin(async move {
            self.fence.enter().await.map_err(killed)?;
            let Shared { trace, schedule, .. } = &*self.run.shared;
            let call = TracedCall::of(&request);
            let row = trace.begin_call(&self.caller, &call);
            if let Some((_, name)) = &row {
                request.extensions_mut().insert(CallNumber(name.number));
            }
            let answer = self.fence.unless_closed(self.inner.send(request)).await.map_err(killed)?;
            if let Some((at, name)) = row {
                trace.finish_call(at, &call, answer.as_ref().ok());
                if schedule.decision(&name) == Some(Disturbance::KillAfter) {
                    self.fence.close();
                }
            }
            if self.fence.is_closed() { Err(killed(Killed)) } else { answer }
        })
    }
}

/// What happened in a run.
#[derive(Debug)]
struct Trace {
    start: Timestamp,
    clock: Clock,
    state: Mutex<Traced>,
}

#[derive(Debug, Default)]
struct Traced {
    rows: Vec<(Row, Option<CallName>)>,
    /// Whether there were more.
    is_full: bool,
    /// The calls so far, which count as those of a schedule do.
    calls: HashMap<[Box<str>; 3], u32>,
    messages: Messages,
}

/// The parts of a call that people want to see.
#[derive(Debug, Default)]
struct TracedCall {
    action: String,
    input: Value,
}

impl TracedCall {
    fn of(request: &Request<Bytes>) -> Self {
        let target = request.headers().get("x-amz-target").and_then(|target| target.to_str().ok());
        if let Some((_, action)) = target.and_then(|target| target.split_once('.')) {
            let input = serde_json::from_slice(request.body()).unwrap_or_default();
            return Self { action: action.to_owned(), input };
        }
        // The Query protocol.
        let members = form_urlencoded::parse(request.body());
        let input: Value =
            members.map(|(name, value)| (name.into_owned(), Value::from(value.into_owned()))).collect();
        Self { action: input["Action"].as_str().unwrap_or_default().to_owned(), input }
    }
}

impl Trace {
    fn is_full(&self) -> bool {
        self.state.lock().is_full
    }

    fn add(&self, who: &str, what: String) {
        let _ = self.push(&mut self.state.lock(), who, what, None);
    }

    /// Returns the number of the row, unless there are too many.
    fn push(&self, state: &mut Traced, who: &str, what: String, call: Option<CallName>) -> Option<usize> {
        state.is_full |= state.rows.len() == MAX_TRACED;
        let at = self.clock.now().saturating_since(self.start);
        let row = (Row { at, who: who.into(), what, disturbed: None }, call);
        (!state.is_full).then(|| state.rows.push(row))?;
        Some(state.rows.len() - 1)
    }

    /// A call begins. Returns its row and its name.
    fn begin(&self, who: &str, action: &str, target: &str, what: String) -> (Option<usize>, CallName) {
        let mut state = self.state.lock();
        let number = state.calls.entry([who.into(), action.into(), target.into()]).or_default();
        *number += 1;
        let name =
            CallName { caller: who.into(), action: action.into(), queue: target.into(), number: *number };
        (self.push(&mut state, who, what, Some(name.clone())), name)
    }

    fn begin_call(
        &self,
        who: &str,
        TracedCall { action, input }: &TracedCall,
    ) -> Option<(Option<usize>, CallName)> {
        let what = self.state.lock().messages.text(action, input, &Value::Null, "no answer");
        (!action.is_empty()).then(|| self.begin(who, action, queue_of(input), what))
    }

    fn finish_call(
        &self,
        at: Option<usize>,
        TracedCall { action, input }: &TracedCall,
        answer: Option<&http::Response<Bytes>>,
    ) {
        let (Some(at), Some(answer)) = (at, answer) else { return };
        let output: Value = serde_json::from_slice(answer.body()).unwrap_or_default();
        let code = output["__type"].as_str().and_then(|code| code.rsplit('#').next()).unwrap_or_default();
        let failure = match answer.status() {
            StatusCode::OK => String::new(),
            status => format!("{} {code}", status.as_u16()),
        };
        let mut state = self.state.lock();
        let what = state.messages.text(action, input, &output, &failure);
        if let Some((row, _)) = state.rows.get_mut(at) {
            row.what = what;
        }
    }

    fn rows(&self, schedule: &Schedule) -> Vec<Row> {
        let made: HashMap<_, _> =
            schedule.made().decisions.into_iter().map(|made| (made.call.clone(), made)).collect();
        let state = self.state.lock();
        let rows = state.rows.iter().map(|(row, call)| {
            let decision = call.as_ref().and_then(|call| made.get(call));
            Row { disturbed: decision.map(mark), ..row.clone() }
        });
        rows.collect()
    }
}

/// Effects of processes, for assertions: which, and how often. Clones share them.
///
/// Record through [`Process::fenced`], so that a killed process has no effects any more.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    recorded: Arc<Mutex<Vec<String>>>,
}

impl Ledger {
    /// Records an effect.
    pub fn record(&self, key: impl Display) {
        self.recorded.lock().push(key.to_string());
    }

    /// All effects, in the order in which they happened.
    pub fn recorded(&self) -> Vec<String> {
        self.recorded.lock().clone()
    }

    /// How often an effect happened.
    pub fn count(&self, key: impl Display) -> usize {
        let key = key.to_string();
        self.recorded.lock().iter().filter(|one| **one == key).count()
    }

    /// Each of these happened once, and nothing else did.
    ///
    /// # Errors
    /// Which are missing, were repeated or are unknown.
    pub fn expect_each_once(&self, keys: impl IntoIterator<Item: Display>) -> Result<(), NotAsExpected> {
        self.expect(keys, |count| count == 1)
    }

    /// Each of these happened at least once, and nothing else did.
    ///
    /// # Errors
    /// Which are missing or unknown.
    pub fn expect_each(&self, keys: impl IntoIterator<Item: Display>) -> Result<(), NotAsExpected> {
        self.expect(keys, |count| count >= 1)
    }

    /// These happened in this order; repetitions do not count.
    ///
    /// # Errors
    /// The first that came too early.
    pub fn expect_order(&self, keys: impl IntoIterator<Item: Display>) -> Result<(), NotAsExpected> {
        let recorded = self.recorded.lock();
        let mut last = None;
        for key in keys {
            let key = key.to_string();
            let Some(place) = recorded.iter().position(|one| *one == key) else {
                return Err(NotAsExpected(format!("{key} was never recorded")));
            };
            if let Some((before, _)) = last.filter(|(_, before)| *before > place) {
                return Err(NotAsExpected(format!("{key} was recorded before {before}")));
            }
            last = Some((key, place));
        }
        Ok(())
    }

    fn expect(
        &self,
        keys: impl IntoIterator<Item: Display>,
        is_right: impl Fn(usize) -> bool,
    ) -> Result<(), NotAsExpected> {
        let recorded = self.recorded();
        let keys: Vec<_> = keys.into_iter().map(|key| key.to_string()).collect();
        let mut wrong = Vec::new();
        for key in &keys {
            match recorded.iter().filter(|one| *one == key).count() {
                count if is_right(count) => {}
                0 => wrong.push(format!("{key} was never recorded")),
                count => wrong.push(format!("{key} was recorded {count} times")),
            }
        }
        let mut unknown: Vec<_> = recorded.iter().filter(|one| !keys.contains(one)).collect();
        unknown.dedup();
        wrong.extend(unknown.into_iter().map(|key| format!("{key} was recorded, and not expected")));
        if wrong.is_empty() { Ok(()) } else { Err(NotAsExpected(wrong.join("; "))) }
    }
}

/// A [`Ledger`] differs from what a test expects.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NotAsExpected(String);

impl Display for NotAsExpected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NotAsExpected {}
