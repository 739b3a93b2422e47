use proptest::prelude::*;

use super::*;

const ACTIONS: [Metered; 4] = [Metered::Send, Metered::Receive, Metered::Delete, Metered::ChangeVisibility];

fn at(millis: u64) -> Timestamp {
    Timestamp::from_millis(1_700_000_000_000 + millis)
}

fn quotas(calls: u32, high_throughput_calls: u32, group_messages: u32) -> ThroughputQuotas {
    ThroughputQuotas { calls, high_throughput_calls, group_messages }
}

fn throughput(calls: u32, high_throughput_calls: u32, group_messages: u32) -> Throughput {
    Throughput::new(quotas(calls, high_throughput_calls, group_messages))
}

#[test]
fn calls_above_the_quota_are_rejected_until_the_second_ends() {
    let mut throughput = throughput(2, 9, 9);
    let mut accepts = |millis| throughput.accept_call(at(millis), Metered::Send, false).is_ok();
    assert_eq!([0, 600, 601, 999].map(&mut accepts), [true, true, false, false]);
    assert_eq!([1000, 1001, 1999, 2000].map(accepts), [true, true, false, true]);
}

#[test]
fn second_begins_with_the_first_call_after_the_last_second() {
    let mut throughput = throughput(1, 9, 9);
    let mut accepts = |millis| throughput.accept_call(at(millis), Metered::Send, false).is_ok();
    assert_eq!([0, 1700, 2100, 2699, 2700].map(&mut accepts), [true, true, false, false, true]);
}

#[test]
fn high_throughput_has_its_own_quota_of_calls() {
    let mut throughput = throughput(1, 3, 9);
    let accepted = (0..5).filter(|_| throughput.accept_call(at(0), Metered::Send, true).is_ok()).count();
    assert_eq!(accepted, 3);
}

#[test]
fn rejected_calls_have_the_code_and_texts_of_aws() {
    let mut throughput = throughput(0, 0, 0);
    let mut text = |action| {
        let error = throughput.accept_call(at(0), action, false).unwrap_err();
        assert_eq!(error.code, ErrorCode::RequestThrottled);
        error.message.unwrap()
    };
    for action in [Metered::Send, Metered::Receive, Metered::Delete] {
        assert_eq!(text(action), "Request is throttled.");
    }
    assert!(text(Metered::ChangeVisibility).starts_with("Request throttled because message visibility"));
    assert_eq!(throughput.accept_message(at(0), "a").unwrap_err().code, ErrorCode::RequestThrottled);
}

#[test]
fn groups_without_recent_messages_are_removed() {
    let mut throughput = throughput(9, 9, 1);
    for number in 0..5_000 {
        throughput.accept_message(at(number), &number.to_string()).unwrap();
        assert!(throughput.groups.len() <= 2_000, "{}", throughput.groups.len());
    }
    throughput.forget(at(9_000));
    assert_eq!(throughput.groups.capacity(), 0);
}

/// A call or a message: milliseconds since the previous one, the action, and the group of a message.
type Step = (u64, usize, Option<u8>);

/// The times of all accepted calls and messages.
#[derive(Default)]
struct Naive {
    starts: HashMap<String, Vec<u64>>,
}

impl Naive {
    /// Counts the accepted times in the current second, whose start is computed from all times.
    fn accepts(&mut self, millis: u64, key: String, quota: usize) -> bool {
        let accepted = self.starts.entry(key).or_default();
        let (mut start, mut within) = (None, 0);
        for time in accepted.iter().copied().chain([millis]) {
            if start.is_none_or(|start| time >= start + 1000) {
                (start, within) = (Some(time), 0);
            }
            within += 1;
        }
        let fits = within <= quota;
        if fits {
            accepted.push(millis);
        }
        fits
    }
}

proptest! {
    #[test]
    fn quotas_match_a_naive_counter(
        steps in prop::collection::vec((0..400u64, 0..4usize, prop::option::of(0..3u8)), 0..200),
        calls in 0..5u32,
        high in any::<bool>(),
    ) {
        let steps: Vec<Step> = steps;
        let mut throughput = if high { throughput(99, calls, 2) } else { throughput(calls, 99, 2) };
        let (mut naive, mut now) = (Naive::default(), 0);
        for (pause, action, group) in steps {
            now += pause;
            let (accepted, expected) = match group {
                None => (
                    throughput.accept_call(at(now), ACTIONS[action], high).is_ok(),
                    naive.accepts(now, format!("action {action}"), calls as usize),
                ),
                Some(group) => (
                    throughput.accept_message(at(now), &group.to_string()).is_ok(),
                    naive.accepts(now, format!("group {group}"), 2),
                ),
            };
            prop_assert_eq!(accepted, expected, "at {}", now);
        }
    }
}
