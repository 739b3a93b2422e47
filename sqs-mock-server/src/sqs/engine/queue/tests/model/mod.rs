//! Property test: after any sequence of steps, two queues match their naive models.
//!
//! | Module | Contents |
//! |---|---|
//! | `naive`, `noise` | the model: lists and scans; noisy tenants |
//! | `pair` | the two queues and their models, compared after each step |

mod naive;
mod noise;
mod pair;

use proptest::prelude::*;

use super::*;
use crate::control::seed::Uuid;
use crate::sqs::engine::queue::tests::model::pair::Pair;

const GROUPS: u8 = 4;

/// Fixed parameters of a case. Limits are small, so that cases reach them.
#[derive(Clone, Copy, Debug)]
struct Shape {
    fifo: bool,
    /// Deduplication ids are unique within their group only.
    by_group: bool,
    window: usize,
    max_in_flight: usize,
    /// The source is the dead-letter queue of the dead-letter queue.
    mutual: bool,
}

/// One of the two queues.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum At {
    Source,
    Dead,
}

#[derive(Clone, Copy, Debug)]
struct ReceiveParams {
    at_most: usize,
    timeout: u64,
    attempt: Option<u8>,
    /// The target of dead letters is deleted before they arrive.
    target_deleted: bool,
}

#[derive(Clone, Debug)]
enum Step {
    Send { at: At, group: u8, content: u8, delay: u64 },
    Receive { at: At, params: ReceiveParams },
    Delete { receive: usize },
    Hide { receive: usize, timeout: u64 },
    Pass { millis: u64 },
    SetDelay { at: At, seconds: u64 },
    SetRetention { at: At, seconds: u64 },
    Move { at: At, anywhere: bool, destination_deleted: bool },
    Purge { at: At },
    Tag { at: At, value: u8 },
    Restart { at: At },
}

fn shape() -> impl Strategy<Value = Shape> {
    let bound = || prop_oneof![2 => Just(1000_usize), 1 => 1_usize..8];
    (any::<bool>(), any::<bool>(), bound(), bound(), any::<bool>()).prop_map(
        |(fifo, by_group, window, max_in_flight, mutual)| Shape {
            fifo,
            by_group,
            window,
            max_in_flight,
            mutual,
        },
    )
}

fn at() -> impl Strategy<Value = At> {
    prop_oneof![4 => Just(At::Source), 1 => Just(At::Dead)]
}

fn params() -> impl Strategy<Value = ReceiveParams> {
    (1_usize..=5, timeout(), prop::option::weighted(0.3, 0..3_u8), prop::bool::weighted(0.1)).prop_map(
        |(at_most, timeout, attempt, target_deleted)| ReceiveParams {
            at_most,
            timeout,
            attempt,
            target_deleted,
        },
    )
}

fn timeout() -> impl Strategy<Value = u64> {
    prop_oneof![3 => Just(0), 4 => 1_u64..30, 1 => 30_u64..200, 1 => Just(43_200)]
}

fn step() -> impl Strategy<Value = Step> {
    let seconds = || prop_oneof![3 => Just(0), 1 => 1_u64..20];
    // Mostly one of the latest receives, sometimes an old one.
    let receive = || prop_oneof![4 => 0_usize..4, 1 => 0_usize..50];
    let rarely = || prop::bool::weighted(0.2);
    prop_oneof![
        12 => (at(), 0..GROUPS, 0..40_u8, seconds())
            .prop_map(|(at, group, content, delay)| Step::Send { at, group, content, delay }),
        12 => (at(), params()).prop_map(|(at, params)| Step::Receive { at, params }),
        8 => receive().prop_map(|receive| Step::Delete { receive }),
        6 => (receive(), timeout()).prop_map(|(receive, timeout)| Step::Hide { receive, timeout }),
        10 => prop_oneof![60 => 0_u64..20_000, 10 => 0_u64..400_000, 1 => Just(43_200_000)].prop_map(|millis| Step::Pass { millis }),
        2 => (at(), seconds()).prop_map(|(at, seconds)| Step::SetDelay { at, seconds }),
        1 => (at(), 60_u64..600).prop_map(|(at, seconds)| Step::SetRetention { at, seconds }),
        4 => (at(), any::<bool>(), rarely())
            .prop_map(|(at, anywhere, destination_deleted)| Step::Move { at, anywhere, destination_deleted }),
        1 => at().prop_map(|at| Step::Purge { at }),
        1 => (at(), any::<u8>()).prop_map(|(at, value)| Step::Tag { at, value }),
        2 => at().prop_map(|at| Step::Restart { at }),
    ]
}

/// Default number of cases; the environment variable `PROPTEST_CASES` overrides it.
const CASES: u32 = 600;

/// This many cases, or as many as the environment variable says.
pub(super) fn cases(default: u32) -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig::with_cases(cases.unwrap_or(default))
}

proptest! {
    #![proptest_config(cases(CASES))]

    /// Applying the changes yields the state of the queue, and a queue restored from that state behaves the same.
    #[test]
    fn queues_and_restored_queues_match_the_model(shape in shape(), steps in prop::collection::vec(step(), 1..120)) {
        Pair::new(shape).run(&steps);
    }
}
