//! Schedules: what goes wrong with which call, decided by a seed or listed in a plan.
//!
//! ```text
//! call -> its name: caller, action, queue, number -> hash of seed and name -> nothing, or a disturbance -> faults::Plan
//!                                                  `-> a plan, which lists names with their disturbances
//! ```
//! A decision depends on the name of its call alone. So one decision more or less, in another order or on a slower machine,
//! does not move the others, and a list of decisions can be made smaller one by one.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use sqs_client::wire::validate;
use strum::{IntoStaticStr, VariantArray};

use crate::control::seed::Seed;
use crate::control::text::serialize_as_text;

/// The error of a text that is not a [`Disturbance`], a [`Decision`] or a [`SchedulePlan`]. `Display` says which part, and what is
/// allowed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct InvalidSchedule(Box<str>);

impl fmt::Display for InvalidSchedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InvalidSchedule {}

/// The name of a call: the `number`th of this action on this queue by this caller, from 1.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct CallName {
    /// The process under exploration; over HTTP, the access key.
    pub caller: Box<str>,
    /// Such as `SendMessage`.
    pub action: Box<str>,
    /// The name of the queue.
    pub queue: Box<str>,
    /// Counts from 1.
    pub number: u32,
}

/// Such as `worker DeleteMessage orders #2`.
impl fmt::Display for CallName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { caller, action, queue, number } = self;
        write!(f, "{caller} {action} {queue} #{number}")
    }
}

/// What goes wrong with a call. Each is something that SQS or a network may do; those of standard queues never happen to FIFO
/// queues.
#[derive(
    Clone, Copy, Debug, strum::Display, Eq, Hash, IntoStaticStr, Ord, PartialEq, PartialOrd, VariantArray,
)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum Disturbance {
    /// The connection breaks before SQS has the request.
    LoseRequest,
    /// SQS applies the request, and the response is lost.
    LoseResponse,
    /// SQS refuses the request, since there are too many.
    Throttle,
    /// SQS fails, and does not apply the request.
    ServerError,
    /// The response takes longer than usual: two seconds.
    Slow,
    /// One entry of the batch fails, the others are applied.
    FailEntry,
    /// The receive finds nothing, though there are messages.
    Miss,
    /// The receive returns one message, though there are more.
    Fewer,
    /// A receive from a standard queue returns messages in another order.
    Reorder,
    /// A standard queue delivers the messages of this receive once more, though they may be deleted meanwhile.
    Repeat,
    /// A standard queue delivers the messages of this receive again after half a second, whatever their visibility timeout.
    EndLease,
    /// A minute passes for SQS during the call, and no time for its callers, as if their machine was suspended.
    Jump,
    /// The process is killed when it makes the call, which does not reach SQS.
    KillBefore,
    /// The process is killed during the call, which SQS applies.
    KillAfter,
}

impl Disturbance {
    /// The name in plans, such as `lose_response`.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// What it is, for people.
    // For the binary.
    #[doc(hidden)]
    pub fn about(self) -> &'static str {
        match self {
            Self::LoseRequest => "the request is lost",
            Self::LoseResponse => "it is applied, the response is lost",
            Self::Throttle => "it is throttled",
            Self::ServerError => "it fails and is not applied",
            Self::Slow => "it takes two seconds",
            Self::FailEntry => "one entry of the batch fails",
            Self::Miss => "it finds nothing",
            Self::Fewer => "it returns one message only",
            Self::Reorder => "it returns messages in another order",
            Self::Repeat => "SQS delivers its messages once more",
            Self::EndLease => "SQS delivers its messages again after half a second",
            Self::Jump => "a minute passes for the service during it",
            Self::KillBefore => "the process is killed before it",
            Self::KillAfter => "it is applied, and the process is killed",
        }
    }

    /// Whether the caller gets an error. Clients retry these, so that a few in a row exhaust their attempts.
    fn is_error(self) -> bool {
        matches!(self, Self::LoseRequest | Self::LoseResponse | Self::Throttle | Self::ServerError)
    }

    /// Whether it needs a process that can be killed.
    // For the binary.
    #[doc(hidden)]
    pub fn is_kill(self) -> bool {
        matches!(self, Self::KillBefore | Self::KillAfter)
    }

    /// Whether it can happen to a call.
    fn is_possible(self, call: &Call<'_>) -> bool {
        let receives = call.action == "ReceiveMessage";
        match self {
            Self::FailEntry => call.entries > 0 && call.action.ends_with("Batch"),
            Self::Miss | Self::Fewer => receives,
            Self::Reorder | Self::Repeat | Self::EndLease => receives && !call.is_fifo,
            Self::KillBefore | Self::KillAfter => call.is_process,
            Self::Throttle => call.is_of_sqs,
            _ => true,
        }
    }
}

serialize_as_text!(Disturbance);

impl<'de> Deserialize<'de> for Disturbance {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl FromStr for Disturbance {
    type Err = InvalidSchedule;

    fn from_str(text: &str) -> Result<Self, InvalidSchedule> {
        let found = Self::VARIANTS.iter().copied().find(|one| one.as_str() == text);
        found.ok_or_else(|| {
            let all: Vec<_> = Self::VARIANTS.iter().map(|one| one.as_str()).collect();
            InvalidSchedule(format!("{text:?} is not a disturbance; allowed are {}", all.join(", ")).into())
        })
    }
}

/// A call and what goes wrong with it.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Decision {
    /// The call.
    pub call: CallName,
    /// What goes wrong.
    pub disturbance: Disturbance,
}

/// Such as `worker DeleteMessage orders #2: lose_response`.
impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.call, self.disturbance.as_str())
    }
}

impl FromStr for Decision {
    type Err = InvalidSchedule;

    fn from_str(text: &str) -> Result<Self, InvalidSchedule> {
        let malformed = || {
            let example = "worker DeleteMessage orders #2: lose_response";
            InvalidSchedule(format!("{text:?} is not a decision; allowed is text such as {example:?}").into())
        };
        let (call, effect) = text.trim().rsplit_once(':').ok_or_else(malformed)?;
        let words: Vec<_> = call.split_whitespace().collect();
        let [caller, action, queue, number] = words[..] else { return Err(malformed()) };
        let number =
            number.strip_prefix('#').and_then(|number| number.parse().ok()).filter(|number| *number > 0);
        let number = number.ok_or_else(malformed)?;
        let call = CallName { caller: caller.into(), action: action.into(), queue: queue.into(), number };
        Ok(Self { call, disturbance: effect.trim().parse()? })
    }
}

serialize_as_text!(Decision);

impl<'de> Deserialize<'de> for Decision {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// A list of decisions. Its text has one after the other, with semicolons between them.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(transparent)]
pub struct SchedulePlan {
    /// The decisions, in the order in which they were made.
    pub decisions: Vec<Decision>,
}

impl fmt::Display for SchedulePlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Vec<_> = self.decisions.iter().map(ToString::to_string).collect();
        f.write_str(&all.join("; "))
    }
}

impl FromStr for SchedulePlan {
    type Err = InvalidSchedule;

    fn from_str(text: &str) -> Result<Self, InvalidSchedule> {
        let parts = text.split(';').map(str::trim).filter(|part| !part.is_empty());
        Ok(Self { decisions: parts.map(str::parse).collect::<Result<_, _>>()? })
    }
}

/// A call, for a decision.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call<'a> {
    pub(crate) caller: &'a str,
    pub(crate) action: &'a str,
    pub(crate) queue: &'a str,
    pub(crate) is_fifo: bool,
    /// The number of its entries.
    pub(crate) entries: usize,
    /// Whether the caller is a process that can be killed. The schedule sets it.
    pub(crate) is_process: bool,
    /// Whether it is a call of SQS; others are of a service of which nothing else is known.
    pub(crate) is_of_sqs: bool,
    /// Its number, if the caller counts its calls.
    pub(crate) number: Option<CallNumber>,
}

/// The number of a call, from 1, by this caller, of this action, on this queue: an extension of requests in this process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallNumber(pub(crate) u32);

/// Kills a process.
type Kill = Arc<dyn Fn() + Send + Sync>;

/// The actions that are disturbed: those on messages.
const ACTIONS: [&str; 7] = [
    "ChangeMessageVisibility",
    "ChangeMessageVisibilityBatch",
    "DeleteMessage",
    "DeleteMessageBatch",
    "ReceiveMessage",
    "SendMessage",
    "SendMessageBatch",
];

/// The part of all calls that a seed disturbs, by default.
pub(crate) const DEFAULT_RATE: f64 = 0.1;

/// Errors in a row. Clients of AWS make three attempts by default.
const MAX_ERRORS: u32 = 2;

/// The seed of decisions, or their list.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    Seed {
        seed: u64,
        /// The part of all calls that are disturbed, from 0 to 1.
        rate: f64,
        /// Those that may happen.
        kinds: Vec<Disturbance>,
    },
    Plan(HashMap<CallName, Disturbance>),
}

impl Source {
    /// The decisions of a seed.
    pub(crate) fn seed(seed: u64, rate: f64, kinds: &[Disturbance]) -> Self {
        Self::Seed { seed, rate, kinds: kinds.to_vec() }
    }

    /// These decisions and no others.
    pub(crate) fn plan(plan: &SchedulePlan) -> Self {
        Self::Plan(plan.decisions.iter().map(|one| (one.call.clone(), one.disturbance)).collect())
    }

    fn decide(&self, name: &CallName, call: &Call<'_>) -> Option<Disturbance> {
        match self {
            Self::Plan(plan) => plan.get(name).copied().filter(|one| one.is_possible(call)),
            Self::Seed { seed, rate, kinds } => {
                let decided = |number: u32| {
                    let (chance, choice) = draw(*seed, &CallName { number, ..name.clone() });
                    if chance >= *rate {
                        return None;
                    }
                    // The highest wins: a kind that is not possible moves only the decisions that it would have been.
                    let possible = kinds.iter().copied().filter(|one| one.is_possible(call));
                    possible.max_by_key(|one| Seed(choice).generator(one.as_str()).u64(..))
                };
                let found = decided(name.number)?;
                let earlier =
                    (1..=MAX_ERRORS).map(|back| name.number.checked_sub(back).filter(|number| *number > 0));
                let in_a_row = earlier
                    .map(|number| number.and_then(decided))
                    .all(|one| one.is_some_and(Disturbance::is_error));
                (!(found.is_error() && in_a_row)).then_some(found)
            }
        }
    }
}

/// A number from 0 to 1, and one to choose with.
#[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
fn draw(seed: u64, name: &CallName) -> (f64, u64) {
    let mut random = Seed(seed).generator(&name.to_string());
    ((random.u64(..) >> 11) as f64 / (1_u64 << 53) as f64, random.u64(..))
}

/// Whether a name of a caller may have it, so that plans can be read back.
pub(crate) fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_".contains(&byte)
}

/// Refuses kinds and plans that need a process that can be killed, outside of this process.
///
/// # Errors
/// The first that does.
pub(crate) fn refuse_kills<'d>(
    kinds: impl IntoIterator<Item = &'d Disturbance>,
    plan: Option<&'d SchedulePlan>,
) -> Result<(), String> {
    let planned = plan.into_iter().flat_map(|plan| &plan.decisions).map(|one| &one.disturbance);
    match kinds.into_iter().chain(planned).find(|kind| kind.is_kill()) {
        Some(kill) => Err(format!("{kill} needs a process of the module explore, in Rust")),
        None => Ok(()),
    }
}

/// Decides what goes wrong, and remembers it.
#[derive(Debug)]
pub(crate) struct Schedule {
    source: Source,
    /// Whether only the calls of processes are disturbed.
    of_processes: bool,
    /// Callers whose calls are not disturbed.
    undisturbed: Vec<String>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// By caller.
    processes: HashMap<Box<str>, Kill>,
    /// The calls so far.
    calls: HashMap<[Box<str>; 3], u32>,
    made: Vec<Decision>,
    /// The undisturbed callers that have called.
    seen_undisturbed: BTreeSet<Box<str>>,
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State").field("made", &self.made).finish_non_exhaustive()
    }
}

/// A limit that bounds memory; a plan of that many decisions helps nobody.
const MAX_MADE: usize = 100_000;

/// Callers, actions and queues whose calls are counted. A limit that bounds memory; the calls of others are not disturbed.
const MAX_COUNTED: usize = 10_000;

impl Schedule {
    /// For the calls of all callers.
    pub(crate) fn new(source: Source) -> Self {
        Self { source, of_processes: false, undisturbed: Vec::new(), state: Mutex::default() }
    }

    /// Leaves the calls of these callers alone.
    pub(crate) fn undisturbed(self, callers: Vec<String>) -> Self {
        Self { undisturbed: callers, ..self }
    }

    /// For the calls of processes only.
    #[cfg(any(feature = "explore", test))]
    pub(crate) fn of_processes(source: Source) -> Self {
        Self { of_processes: true, ..Self::new(source) }
    }

    /// Makes a caller a process that can be killed.
    #[cfg(any(feature = "explore", test))]
    pub(crate) fn add_process(&self, caller: &str, kill: impl Fn() + Send + Sync + 'static) {
        self.state.lock().processes.insert(caller.into(), Arc::new(kill));
    }

    /// Names a call, and decides about it. A process that is to be killed before the call is, when this returns.
    pub(crate) fn decide(&self, call: Call<'_>) -> Option<Decision> {
        let is_known = ACTIONS.contains(&call.action) && validate::queue::name(call.queue).is_ok();
        if self.undisturbed.iter().any(|caller| caller == call.caller) {
            self.state.lock().seen_undisturbed.insert(call.caller.into());
            return None;
        }
        if (call.is_of_sqs && !is_known) || call.caller.is_empty() {
            return None;
        }
        let mut state = self.state.lock();
        let kill = state.processes.get(call.caller).map(Arc::clone);
        if self.of_processes && kill.is_none() {
            return None;
        }
        let call = Call { is_process: kill.is_some(), ..call };
        let key = [call.caller.into(), call.action.into(), call.queue.into()];
        if state.calls.len() >= MAX_COUNTED && !state.calls.contains_key(&key) {
            return None;
        }
        let number = state.calls.entry(key).or_default();
        *number = call.number.map_or(*number + 1, |CallNumber(number)| number);
        let name = CallName {
            caller: call.caller.into(),
            action: call.action.into(),
            queue: call.queue.into(),
            number: *number,
        };
        let disturbance = self.source.decide(&name, &call)?;
        let decision = Decision { call: name, disturbance };
        if state.made.len() < MAX_MADE {
            state.made.push(decision.clone());
        }
        drop(state);
        if let Some(kill) = kill.filter(|_| disturbance == Disturbance::KillBefore) {
            kill();
        }
        Some(decision)
    }

    /// The decisions so far, in their order.
    pub(crate) fn made(&self) -> SchedulePlan {
        SchedulePlan { decisions: self.state.lock().made.clone() }
    }

    /// What was decided about a call.
    #[cfg(feature = "explore")]
    pub(crate) fn decision(&self, call: &CallName) -> Option<Disturbance> {
        let state = self.state.lock();
        state.made.iter().rev().find(|made| made.call == *call).map(|made| made.disturbance)
    }

    /// The callers of calls on messages so far, and undisturbed ones that have called.
    #[cfg(feature = "cli")]
    pub(crate) fn callers(&self) -> BTreeSet<Box<str>> {
        let state = self.state.lock();
        state.calls.keys().map(|[caller, ..]| caller).chain(&state.seen_undisturbed).cloned().collect()
    }

    /// The number of calls so far that it might have disturbed.
    pub(crate) fn calls(&self) -> u64 {
        self.state.lock().calls.values().map(|calls| u64::from(*calls)).sum()
    }
}

/// How long a [slow](Disturbance::Slow) call takes.
pub(crate) const SLOW: Duration = Duration::from_secs(2);

/// After this time, a lease that [ends early](Disturbance::EndLease) is over.
pub(crate) const SHORT_LEASE: Duration = Duration::from_millis(500);

/// How much time passes for the service in a [jump](Disturbance::Jump).
pub(crate) const JUMP: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn call<'a>(action: &'a str, queue: &'a str) -> Call<'a> {
        let is_fifo = queue.ends_with(".fifo");
        Call {
            caller: "worker",
            action,
            queue,
            is_fifo,
            entries: 3,
            is_process: false,
            is_of_sqs: true,
            number: None,
        }
    }

    fn decided(schedule: &Schedule, calls: &[Call<'_>]) -> Vec<Option<Decision>> {
        calls.iter().map(|call| schedule.decide(*call)).collect()
    }

    fn by_seed(seed: u64, rate: f64) -> Schedule {
        Schedule::new(Source::seed(seed, rate, Disturbance::VARIANTS))
    }

    #[test]
    fn decision_depends_on_the_name_alone() {
        let (sends, receives) = ([call("SendMessage", "q"); 50], [call("ReceiveMessage", "q"); 50]);
        let first = by_seed(7, 0.3);
        let expected = (decided(&first, &sends), decided(&first, &receives));
        let second = by_seed(7, 0.3);
        for (at, (send, receive)) in sends.iter().zip(&receives).enumerate() {
            assert_eq!(second.decide(*receive), expected.1[at], "in another order");
            assert_eq!(second.decide(*send), expected.0[at]);
        }
        assert_ne!(decided(&by_seed(8, 0.3), &sends), expected.0);
        assert_eq!(first.calls(), 100);
    }

    #[test]
    fn kind_that_is_not_possible_moves_only_its_own_decisions() {
        let calls = vec![call("SendMessage", "q"); 500];
        let kinds = [Disturbance::Slow, Disturbance::Jump, Disturbance::KillBefore, Disturbance::KillAfter];
        let schedule = || Schedule::new(Source::seed(7, 0.3, &kinds));
        let killable = schedule();
        killable.add_process("worker", || {});
        let (with, without) = (decided(&killable, &calls), decided(&schedule(), &calls));
        let mut kills = 0;
        for (with, without) in with.iter().zip(&without) {
            match with {
                Some(made) if made.disturbance.is_kill() => kills += 1,
                _ => assert_eq!(with, without),
            }
        }
        assert!(kills > 10, "{kills}");
    }

    #[test]
    fn plan_makes_its_decisions_and_no_others() {
        let first = by_seed(7, 0.3);
        let calls: Vec<_> = (0..100).map(|at| call(ACTIONS[at % ACTIONS.len()], "q")).collect();
        let expected = decided(&first, &calls);
        let text = first.made().to_string();
        let plan: SchedulePlan = text.parse().unwrap();
        assert_eq!(plan, first.made());
        assert_eq!(decided(&Schedule::new(Source::plan(&plan)), &calls), expected);
        assert!(
            decided(&Schedule::new(Source::plan(&SchedulePlan::default())), &calls)
                .iter()
                .all(Option::is_none)
        );
    }

    #[test]
    fn rate_is_the_part_of_calls_that_are_disturbed() {
        let calls = vec![call("ReceiveMessage", "q"); 2_000];
        for (rate, range) in [(0.0, 0..=0), (0.1, 150..=250), (1.0, 1_200..=2_000)] {
            let count = decided(&by_seed(1, rate), &calls).iter().flatten().count();
            assert!(range.contains(&count), "{rate}: {count}");
        }
    }

    #[test]
    fn fifo_queues_get_only_what_they_may() {
        let calls = vec![call("ReceiveMessage", "q.fifo"); 2_000];
        let schedule = by_seed(1, 0.5);
        let kinds: HashSet<_> =
            decided(&schedule, &calls).into_iter().flatten().map(|one| one.disturbance).collect();
        assert!(
            kinds.contains(&Disturbance::Miss) && kinds.contains(&Disturbance::LoseResponse),
            "{kinds:?}"
        );
        for never in
            [Disturbance::Reorder, Disturbance::Repeat, Disturbance::EndLease, Disturbance::KillAfter]
        {
            assert!(!kinds.contains(&never), "{never}");
        }
    }

    #[test]
    fn errors_leave_the_last_attempt_of_a_client_alone() {
        let calls = vec![call("SendMessage", "q"); 5_000];
        let kinds = [Disturbance::Throttle, Disturbance::LoseResponse];
        let schedule = Schedule::new(Source::seed(3, 0.9, &kinds));
        let errors: Vec<_> = decided(&schedule, &calls).iter().map(Option::is_some).collect();
        assert!(errors.windows(2).any(|two| two == [true; 2]));
        assert!(errors.windows(3).all(|three| three != [true; 3]), "three in a row");
    }

    #[test]
    fn process_is_killed_before_the_decision_is_returned() {
        let killed = Arc::<Mutex<u32>>::default();
        let schedule = Schedule::of_processes(Source::seed(3, 1.0, &[Disturbance::KillBefore]));
        assert_eq!(schedule.decide(call("SendMessage", "q")), None, "nobody to kill");
        let count = Arc::clone(&killed);
        schedule.add_process("worker", move || *count.lock() += 1);
        assert!(schedule.decide(call("SendMessage", "q")).is_some() && *killed.lock() == 1);
        assert_eq!(schedule.decide(call("CreateQueue", "q")), None, "only calls on messages are disturbed");
    }

    #[test]
    fn malformed_decisions_are_rejected_by_name() {
        for text in ["x", "worker Send q 1: slow", "worker Send q #0: slow", "a b c d #1: slow", ": slow"] {
            assert!(
                text.parse::<Decision>().unwrap_err().to_string().contains("is not a decision"),
                "{text}"
            );
        }
        let error = "worker SendMessage q #1: explode".parse::<SchedulePlan>().unwrap_err();
        let error = error.to_string();
        assert!(error.contains("\"explode\" is not a disturbance; allowed are lose_request,"), "{error}");
        assert_eq!(" ; ".parse::<SchedulePlan>(), Ok(SchedulePlan::default()));
    }
}
