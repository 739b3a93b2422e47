//! Whatever is done in whatever order, two queues do what their naive models do.
//!
//! | Module | What it holds |
//! |---|---|
//! | `naive`, `noise` | the model: lists and scans; fair tenants |
//! | `pair` | both queues beside their models, step by step |

mod naive;
mod noise;
mod pair;

use proptest::prelude::*;

use super::*;
use crate::service::seed::Uuid;
use pair::Pair;

const GROUPS: u8 = 4;

/// What does not change in a case. Bounds are small enough to matter.
#[derive(Clone, Copy, Debug)]
struct Shape {
    fifo: bool,
    /// Deduplication ids are unique within their group only.
    by_group: bool,
    window: usize,
    max_in_flight: usize,
    /// The dead-letter queue has a dead-letter queue itself: the source.
    mutual: bool,
}

/// One of the two queues.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum At {
    Source,
    Dead,
}

#[derive(Clone, Copy, Debug)]
struct Ask {
    at_most: usize,
    timeout: u64,
    attempt: Option<u8>,
    /// The target of dead letters goes away before they are there.
    target_goes: bool,
}

#[derive(Clone, Debug)]
enum Step {
    Send { at: At, group: u8, content: u8, delay: u64 },
    Receive { at: At, ask: Ask },
    Delete { receive: usize },
    Hide { receive: usize, timeout: u64 },
    Pass { millis: u64 },
    SetDelay { at: At, seconds: u64 },
    SetRetention { at: At, seconds: u64 },
    Move { at: At, anywhere: bool, destination_goes: bool },
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

fn ask() -> impl Strategy<Value = Ask> {
    (1_usize..=5, timeout(), prop::option::weighted(0.3, 0..3_u8), prop::bool::weighted(0.1))
        .prop_map(|(at_most, timeout, attempt, target_goes)| Ask { at_most, timeout, attempt, target_goes })
}

fn timeout() -> impl Strategy<Value = u64> {
    prop_oneof![3 => Just(0), 4 => 1_u64..30, 1 => 30_u64..200, 1 => Just(43_200)]
}

fn step() -> impl Strategy<Value = Step> {
    let seconds = || prop_oneof![3 => Just(0), 1 => 1_u64..20];
    // Mostly one of the latest receives; now and then an old one.
    let receive = || prop_oneof![4 => 0_usize..4, 1 => 0_usize..50];
    let rarely = || prop::bool::weighted(0.2);
    prop_oneof![
        12 => (at(), 0..GROUPS, 0..40_u8, seconds())
            .prop_map(|(at, group, content, delay)| Step::Send { at, group, content, delay }),
        12 => (at(), ask()).prop_map(|(at, ask)| Step::Receive { at, ask }),
        8 => receive().prop_map(|receive| Step::Delete { receive }),
        6 => (receive(), timeout()).prop_map(|(receive, timeout)| Step::Hide { receive, timeout }),
        10 => prop_oneof![60 => 0_u64..20_000, 10 => 0_u64..400_000, 1 => Just(43_200_000)].prop_map(|millis| Step::Pass { millis }),
        2 => (at(), seconds()).prop_map(|(at, seconds)| Step::SetDelay { at, seconds }),
        1 => (at(), 60_u64..600).prop_map(|(at, seconds)| Step::SetRetention { at, seconds }),
        4 => (at(), any::<bool>(), rarely())
            .prop_map(|(at, anywhere, destination_goes)| Step::Move { at, anywhere, destination_goes }),
        1 => at().prop_map(|at| Step::Purge { at }),
        1 => (at(), any::<u8>()).prop_map(|(at, value)| Step::Tag { at, value }),
        2 => at().prop_map(|at| Step::Restart { at }),
    ]
}

/// As many cases as this, or as the environment variable `PROPTEST_CASES` says.
const CASES: u32 = 3_000;

fn config() -> ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig::with_cases(asked.unwrap_or(CASES))
}

proptest! {
    #![proptest_config(config())]

    /// The changes give the state of the queue, and a queue restored from this state behaves as before.
    #[test]
    fn queues_and_their_restored_states_do_what_the_model_does(shape in shape(), steps in prop::collection::vec(step(), 1..120)) {
        Pair::new(shape).run(&steps);
    }
}
