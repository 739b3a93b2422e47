//! Throughput quotas of FIFO queues: calls of each action and messages of each group, per second.
//!
//! A second begins with the first call after the previous second, for each action and each group separately. So a test
//! can predict the first call to be rejected. With a token bucket, the number of accepted calls would depend on their
//! speed. Both accept at most twice the quota within any one second.
//!
//! Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html>

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::time::Duration;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer, de};
use sqs_client::wire::service_error::{ErrorCode, ServiceError};

use crate::control::arn::QueueArn;
use crate::control::clock::Timestamp;

const SECOND: Duration = Duration::from_secs(1);

/// The throughput quotas of a FIFO queue, per second. A quota of 0 rejects every call.
///
/// The defaults are those of the [AWS guide][quotas]. A batch is one call, so 300 calls are up to 3,000 messages. The
/// quota for queues with high throughput differs between regions of AWS; the default is the smallest.
///
/// ```
/// use sqs_mock_server::ThroughputQuotas;
///
/// let mut quotas = ThroughputQuotas::default();
/// assert_eq!((quotas.calls, quotas.high_throughput_calls, quotas.group_messages), (300, 2_400, 300));
/// quotas.calls = 5; // a queue accepts five sends, five receives and five deletes per second
/// ```
///
/// [quotas]: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ThroughputQuotas {
    /// Calls of each action on a queue without high throughput. An action and its batch action share the quota.
    pub calls: u32,
    /// Calls of each action on a queue with high throughput, which is one with the attribute `FifoThroughputLimit` =
    /// `perMessageGroupId`.
    pub high_throughput_calls: u32,
    /// Messages sent to each message group of a queue with high throughput.
    pub group_messages: u32,
}

impl Default for ThroughputQuotas {
    fn default() -> Self {
        Self { calls: 300, high_throughput_calls: 2_400, group_messages: 300 }
    }
}

/// The scope of throughput quotas. Quotas of a queue take precedence over those of its account, which take precedence
/// over those of the server.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum QuotaScope {
    /// All queues.
    Server,
    /// The queues of an account, given by its 12 digits.
    Account(String),
    /// One queue, whether it exists or not.
    Queue(QueueArn),
}

/// Quotas by scope; `None` for no quotas.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct QuotaTable(BTreeMap<QuotaScope, Option<ThroughputQuotas>>);

impl QuotaTable {
    /// The quotas of a queue.
    pub(crate) fn of(&self, arn: &QueueArn) -> Option<ThroughputQuotas> {
        if self.0.is_empty() || !arn.is_fifo() {
            return None;
        }
        let scopes = [
            QuotaScope::Queue(arn.clone()),
            QuotaScope::Account(arn.account.to_string()),
            QuotaScope::Server,
        ];
        scopes.iter().find_map(|scope| self.0.get(scope).copied()).flatten()
    }

    /// Sets the quotas of a scope.
    pub(crate) fn set(&mut self, scope: QuotaScope, quotas: Option<ThroughputQuotas>) {
        self.0.insert(scope, quotas);
    }

    /// Removes the quotas of a scope, so that those of the next wider scope apply. Returns whether there were any.
    pub(crate) fn remove(&mut self, scope: &QuotaScope) -> bool {
        self.0.remove(scope).is_some()
    }

    /// All quotas, the widest scope first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&QuotaScope, Option<ThroughputQuotas>)> {
        self.0.iter().map(|(scope, quotas)| (scope, *quotas))
    }
}

/// Quotas as a setting: `true` for those of AWS, `false` for none, or a table of quotas.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct QuotaSetting(pub Option<ThroughputQuotas>);

impl<'de> Deserialize<'de> for QuotaSetting {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Setting;
        impl<'de> Visitor<'de> for Setting {
            type Value = QuotaSetting;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("true, false, or a table with calls, high_throughput_calls and group_messages")
            }

            fn visit_bool<E: de::Error>(self, on: bool) -> Result<QuotaSetting, E> {
                Ok(QuotaSetting(on.then(ThroughputQuotas::default)))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<QuotaSetting, A::Error> {
                let quotas = ThroughputQuotas::deserialize(MapAccessDeserializer::new(map))?;
                Ok(QuotaSetting(Some(quotas)))
            }
        }
        deserializer.deserialize_any(Setting)
    }
}

/// `false`, or the table.
impl Serialize for QuotaSetting {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            None => serializer.serialize_bool(false),
            Some(quotas) => quotas.serialize(serializer),
        }
    }
}

/// The actions that have a quota, each with its batch action.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Metered {
    /// `SendMessage`.
    Send,
    /// `ReceiveMessage`.
    Receive,
    /// `DeleteMessage`.
    Delete,
    /// `ChangeMessageVisibility`.
    ChangeVisibility,
}

impl Metered {
    /// The text of a call that is rejected with `RequestThrottled`, from logs of AWS.
    pub(crate) const fn throttle_text(self) -> &'static str {
        match self {
            Self::ChangeVisibility => {
                "Request throttled because message visibility configuration was updated too recently. Wait a short \
                 while and then retry the operation."
            }
            Self::Send | Self::Receive | Self::Delete => "Request is throttled.",
        }
    }

    fn throttled(self) -> ServiceError {
        ServiceError::new(ErrorCode::RequestThrottled, self.throttle_text())
    }
}

/// The number of accepted calls or messages within one second.
#[derive(Clone, Copy, Debug, Default)]
struct Window {
    start: Timestamp,
    accepted: u32,
}

impl Window {
    fn is_over(self, now: Timestamp) -> bool {
        self.start + SECOND <= now
    }

    /// Counts one more if it is within the quota. Returns whether it is.
    fn accepts(&mut self, now: Timestamp, quota: u32) -> bool {
        if self.accepted == 0 || self.is_over(now) {
            *self = Self { start: now, accepted: 0 };
        }
        let fits = self.accepted < quota;
        self.accepted += u32::from(fits);
        fits
    }
}

/// Recently accepted calls and messages of a queue.
#[derive(Debug)]
pub(crate) struct Throughput {
    pub(crate) quotas: ThroughputQuotas,
    actions: [Window; 4],
    groups: HashMap<Box<str>, Window>,
    /// When groups without recent messages were last removed.
    swept: Timestamp,
}

impl Throughput {
    pub(crate) fn new(quotas: ThroughputQuotas) -> Self {
        let (actions, groups, swept) = Default::default();
        Self { quotas, actions, groups, swept }
    }

    /// Counts a call. Only accepted calls count.
    ///
    /// # Errors
    /// `RequestThrottled` for a call above the quota of its action.
    pub(crate) fn accept_call(
        &mut self,
        now: Timestamp,
        action: Metered,
        is_high: bool,
    ) -> Result<(), ServiceError> {
        let ThroughputQuotas { calls, high_throughput_calls, .. } = self.quotas;
        let quota = if is_high { high_throughput_calls } else { calls };
        let fits = self.actions[action as usize].accepts(now, quota);
        if fits { Ok(()) } else { Err(action.throttled()) }
    }

    /// Counts a message of a group. Only accepted messages count.
    ///
    /// # Errors
    /// `RequestThrottled` for a message above the quota of a group.
    pub(crate) fn accept_message(&mut self, now: Timestamp, group: &str) -> Result<(), ServiceError> {
        self.forget(now);
        let quota = self.quotas.group_messages;
        let fits = match self.groups.get_mut(group) {
            Some(window) => window.accepts(now, quota),
            None => self.groups.entry(group.into()).or_default().accepts(now, quota),
        };
        if fits { Ok(()) } else { Err(Metered::Send.throttled()) }
    }

    /// Removes groups without a message in the last second. Scans all groups, but at most once a second.
    pub(crate) fn forget(&mut self, now: Timestamp) {
        if self.swept + SECOND <= now {
            self.swept = now;
            self.groups.retain(|_, window| !window.is_over(now));
            if self.groups.is_empty() {
                self.groups = HashMap::new();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ACTIONS: [Metered; 4] =
        [Metered::Send, Metered::Receive, Metered::Delete, Metered::ChangeVisibility];

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
}
