//! How often, how fast and in which form SNS sends messages to web hooks.
//!
//! ```text
//! the policy of a subscription, else of its topic, else the default -> DeliveryPolicy
//!
//! failure -> retries without delay -> with the least delay -> with growing delays -> with the most delay -> given up
//! ```
//! Source: <https://docs.aws.amazon.com/sns/latest/dg/sns-message-delivery-retries.html>

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::time::Duration;

use serde_json::{Map, Value, json};
use strum::{EnumString, IntoStaticStr};

use crate::sns::engine::json_object;

/// The content type of notifications, unless a policy has another.
pub(crate) const CONTENT_TYPE: &str = "text/plain; charset=UTF-8";

/// The content types that a policy can have. Those after the second need raw delivery.
const CONTENT_TYPES: [&str; 12] = [
    "application/json",
    "text/plain",
    "application/atom+xml",
    "application/octet-stream",
    "application/soap+xml",
    "application/x-www-form-urlencoded",
    "application/xhtml+xml",
    "application/xml",
    "text/css",
    "text/csv",
    "text/html",
    "text/xml",
];

/// A limit of AWS on the time of all retries.
const MAX_TOTAL: Duration = Duration::from_secs(3_600);

const MAX_DELAY: u32 = 3_600;

const MAX_RETRIES: u32 = 100;

/// When failed deliveries are tried again.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Schedule {
    /// The retries of each phase.
    no_delay: u32,
    min_delay: u32,
    backoff: u32,
    max_delay: u32,
    /// Delays of the second phase and of the last. Those in between grow from one to the other.
    min: Duration,
    max: Duration,
    function: BackoffFunction,
}

/// How delays grow between the least and the most. AWS documents their shapes as a picture: of two functions in this order,
/// the later one has shorter delays until the end.
#[derive(Clone, Copy, Debug, EnumString, Eq, IntoStaticStr, PartialEq)]
#[strum(const_into_str, serialize_all = "lowercase")]
pub(crate) enum BackoffFunction {
    /// By the same number of seconds each time.
    Linear,
    /// By a number of seconds that grows by the same amount each time.
    Arithmetic,
    /// By the same factor each time.
    Geometric,
    /// By twice as many seconds as the time before.
    Exponential,
}

impl BackoffFunction {
    /// The delay at a step; the last step has the greatest.
    #[expect(clippy::cast_possible_wrap, reason = "a policy has at most 100 steps")]
    fn delay(self, step: u32, last: u32, min: Duration, max: Duration) -> Duration {
        if last == 0 {
            return min;
        }
        let (i, n) = (f64::from(step), f64::from(last));
        let part = match self {
            Self::Linear => i / n,
            Self::Arithmetic => i * (i + 1.0) / (n * (n + 1.0)),
            Self::Geometric => return min.mul_f64((max.as_secs_f64() / min.as_secs_f64()).powf(i / n)),
            Self::Exponential => (2_f64.powi(step as i32) - 1.0) / (2_f64.powi(last as i32) - 1.0),
        };
        min + max.saturating_sub(min).mul_f64(part)
    }
}

impl Schedule {
    /// For endpoints of AWS, such as queues: 100,015 retries over 23 days.
    pub(crate) const MANAGED: Self = Self {
        no_delay: 3,
        min_delay: 2,
        backoff: 10,
        max_delay: 100_000,
        min: Duration::from_secs(1),
        max: Duration::from_secs(20),
        function: BackoffFunction::Geometric,
    };

    /// For web hooks without a policy.
    const HTTP: Self = Self {
        no_delay: 0,
        min_delay: 0,
        backoff: 3,
        max_delay: 0,
        min: Duration::from_secs(20),
        max: Duration::from_secs(20),
        function: BackoffFunction::Linear,
    };

    /// The pause before the next retry, after this number of retries; `None` if that was the last.
    pub(crate) fn pause(&self, retries: u32) -> Option<Duration> {
        let Some(slow) = retries.checked_sub(self.no_delay) else { return Some(Duration::ZERO) };
        let Some(step) = slow.checked_sub(self.min_delay) else { return Some(self.min) };
        let Some(late) = step.checked_sub(self.backoff) else {
            return Some(self.function.delay(step, self.backoff.saturating_sub(1), self.min, self.max));
        };
        (late < self.max_delay).then_some(self.max)
    }

    /// How many of the retries with the last pause fit into a time, and how long they take. None before them.
    pub(crate) fn skipped(&self, retries: u32, time: Duration) -> (u32, Duration) {
        let Some(late) = retries.checked_sub(self.no_delay + self.min_delay + self.backoff) else {
            return (0, Duration::ZERO);
        };
        let fitting = u32::try_from(time.as_secs() / self.max.as_secs().max(1)).unwrap_or(u32::MAX);
        let skipped = fitting.min(self.max_delay.saturating_sub(late));
        (skipped, self.max.saturating_mul(skipped))
    }

    fn total(&self) -> Duration {
        (0..).map_while(|retries| self.pause(retries)).sum()
    }
}

/// What applies to the messages for a web hook.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct DeliveryPolicy {
    pub(crate) schedule: Schedule,
    /// The least time between two requests, if they are limited.
    pub(crate) interval: Option<Duration>,
    pub(crate) content_type: Box<str>,
}

impl Default for DeliveryPolicy {
    fn default() -> Self {
        Self { schedule: Schedule::HTTP, interval: None, content_type: CONTENT_TYPE.into() }
    }
}

/// The resource of a policy. Topics and subscriptions use different names for the same members.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum PolicyOf {
    Topic,
    Subscription,
}

impl PolicyOf {
    /// The names of the members for retries, throttling and requests.
    const fn names(self) -> [&'static str; 3] {
        match self {
            Self::Topic => ["defaultHealthyRetryPolicy", "defaultThrottlePolicy", "defaultRequestPolicy"],
            Self::Subscription => ["healthyRetryPolicy", "throttlePolicy", "requestPolicy"],
        }
    }

    /// Members that SNS accepts and does not apply.
    const fn others(self) -> &'static [&'static str] {
        match self {
            Self::Topic => &["defaultSicklyRetryPolicy", "disableSubscriptionOverrides"],
            Self::Subscription => &["sicklyRetryPolicy", "guaranteed"],
        }
    }

    /// The object with the members.
    fn members(self, text: &str) -> Result<Map<String, Value>, String> {
        let mut document = json_object(text)?;
        if self == Self::Subscription {
            return Ok(document);
        }
        let members = document.remove("http");
        check_names("", &document, &[])?;
        match members {
            None => Ok(Map::new()),
            Some(Value::Object(members)) => Ok(members),
            Some(_) => Err("http must be an object".to_owned()),
        }
    }
}

impl DeliveryPolicy {
    /// Reads the attribute `DeliveryPolicy`. Parts that it does not have are those of `base`.
    ///
    /// # Errors
    /// It is not one; the text follows the name of the attribute.
    pub(crate) fn parse(text: &str, of: PolicyOf, base: &Self) -> Result<Self, String> {
        let members = of.members(text)?;
        let [retries, throttle, request] = of.names();
        check_names("", &members, &[&[retries, throttle, request][..], of.others()].concat())?;
        let mut policy = base.clone();
        if let Some(part) = part(&members, retries)? {
            policy.schedule = schedule(retries, part)?;
        }
        if let Some(part) = part(&members, throttle)? {
            check_names(throttle, part, &["maxReceivesPerSecond"])?;
            let most = number(throttle, part, "maxReceivesPerSecond", 1..=u32::MAX)?;
            // Whole milliseconds, as the clock has; so no rate is over a thousand.
            policy.interval = most.map(|most| Duration::from_millis(1_000_u64.div_ceil(most.into())));
        }
        if let Some(part) = part(&members, request)? {
            check_names(request, part, &["headerContentType"])?;
            match part.get("headerContentType") {
                None | Some(Value::Null) => {}
                Some(Value::String(given)) if is_content_type(given) => {
                    policy.content_type = given.as_str().into();
                }
                Some(given) => {
                    let allowed = CONTENT_TYPES.join(", ");
                    return Err(format!(
                        "{request}.headerContentType {given} is not allowed; allowed are {allowed}"
                    ));
                }
            }
        }
        Ok(policy)
    }

    /// The policy of a subscription, from the attributes of both.
    pub(crate) fn effective(topic: Option<&str>, subscription: Option<&str>) -> Self {
        let read = |text: Option<&str>, of, base: Self| match text {
            // Texts were checked when they were set.
            Some(text) => Self::parse(text, of, &base).unwrap_or(base),
            None => base,
        };
        let own = subscription.filter(|_| !topic.is_some_and(disables_overrides));
        read(own, PolicyOf::Subscription, read(topic, PolicyOf::Topic, Self::default()))
    }

    /// The content type of messages with and without an envelope. Most types are for messages without one.
    pub(crate) fn content_type(&self, is_raw: bool) -> &str {
        let is_limited = |known: &&str| media_type(&self.content_type).eq_ignore_ascii_case(known);
        if is_raw || CONTENT_TYPES[..2].iter().any(is_limited) { &self.content_type } else { CONTENT_TYPE }
    }
}

fn disables_overrides(topic: &str) -> bool {
    let members = PolicyOf::Topic.members(topic).unwrap_or_default();
    members.get("disableSubscriptionOverrides") == Some(&Value::Bool(true))
}

/// The attribute `DeliveryPolicy` of a topic as SNS returns it.
pub(crate) fn shown_of_topic(text: &str) -> String {
    let mut members = PolicyOf::Topic.members(text).unwrap_or_default();
    members.entry("disableSubscriptionOverrides").or_insert(Value::Bool(false));
    json!({ "http": members }).to_string()
}

/// The attribute `EffectiveDeliveryPolicy` of a topic.
pub(crate) fn effective_of_topic(text: Option<&str>) -> String {
    let mut members = text.and_then(|text| PolicyOf::Topic.members(text).ok()).unwrap_or_default();
    let defaults = [
        ("defaultHealthyRetryPolicy", default_retries()),
        ("disableSubscriptionOverrides", Value::Bool(false)),
        ("defaultRequestPolicy", json!({ "headerContentType": CONTENT_TYPE })),
    ];
    for (name, default) in defaults {
        let member = members.entry(name).or_insert(Value::Null);
        match (member, default) {
            // AWS returns the parts of a retry policy that were not given, too.
            (Value::Object(given), Value::Object(defaults)) => {
                for (name, value) in defaults {
                    given.entry(name).or_insert(value);
                }
            }
            (member @ Value::Null, default) => *member = default,
            _ => {}
        }
    }
    json!({ "http": members }).to_string()
}

/// The attribute `DeliveryPolicy` of a subscription as SNS returns it: with all parts.
pub(crate) fn shown_of_subscription(own: &str) -> String {
    let own = PolicyOf::Subscription.members(own).unwrap_or_default();
    complete(|of| own.get(of[0]).cloned())
}

/// The attribute `EffectiveDeliveryPolicy` of a subscription, from the policies of its topic and its own.
pub(crate) fn effective_of_subscription(topic: Option<&str>, own: Option<&str>) -> String {
    let own = own.filter(|_| !topic.is_some_and(disables_overrides));
    let own = own.and_then(|text| PolicyOf::Subscription.members(text).ok()).unwrap_or_default();
    let topic = topic.and_then(|text| PolicyOf::Topic.members(text).ok()).unwrap_or_default();
    complete(|[name, of_topic]| {
        own.get(name).filter(|part| !part.is_null()).or_else(|| topic.get(of_topic)).cloned()
    })
}

/// All parts of the policy of a subscription, each given by its name there and in the policy of a topic.
fn complete(part: impl Fn([&'static str; 2]) -> Option<Value>) -> String {
    let [retries, throttle, request] = PolicyOf::Subscription.names();
    let [of_retries, of_throttle, of_request] = PolicyOf::Topic.names();
    let retries = part([retries, of_retries]).unwrap_or_default();
    let throttle = part([throttle, of_throttle]).unwrap_or_default();
    let request = part([request, of_request]).filter(|request| !request.is_null());
    let request = request.unwrap_or_else(|| json!({ "headerContentType": CONTENT_TYPE }));
    // In the order of AWS.
    format!(
        r#"{{"healthyRetryPolicy":{retries},"sicklyRetryPolicy":null,"throttlePolicy":{throttle},"requestPolicy":{request},"guaranteed":false}}"#
    )
}

fn default_retries() -> Value {
    json!({
        "minDelayTarget": 20,
        "maxDelayTarget": 20,
        "numRetries": 3,
        "numMaxDelayRetries": 0,
        "numNoDelayRetries": 0,
        "numMinDelayRetries": 0,
        "backoffFunction": "linear",
    })
}

fn schedule(name: &str, part: &Map<String, Value>) -> Result<Schedule, String> {
    const NAMES: [&str; 7] = [
        "minDelayTarget",
        "maxDelayTarget",
        "numRetries",
        "numNoDelayRetries",
        "numMinDelayRetries",
        "numMaxDelayRetries",
        "backoffFunction",
    ];
    check_names(name, part, &NAMES)?;
    let number = |member, range| number(name, part, member, range);
    let max = number("maxDelayTarget", 1..=MAX_DELAY)?;
    let min = number("minDelayTarget", 1..=MAX_DELAY)?.unwrap_or_else(|| max.unwrap_or(20).min(20));
    let max = max.unwrap_or_else(|| min.max(20));
    if min > max {
        return Err(format!("{name}.minDelayTarget {min} is greater than maxDelayTarget {max}"));
    }
    let retries = number("numRetries", 0..=MAX_RETRIES)?.unwrap_or(3);
    let [no_delay, min_delay, max_delay] = ["numNoDelayRetries", "numMinDelayRetries", "numMaxDelayRetries"]
        .map(|member| number(member, 0..=MAX_RETRIES).map(Option::unwrap_or_default));
    let (no_delay, min_delay, max_delay) = (no_delay?, min_delay?, max_delay?);
    let phases = no_delay + min_delay + max_delay;
    let backoff = retries.checked_sub(phases).ok_or_else(|| {
        format!("{name}: the phases have {phases} retries, more than the {retries} of numRetries")
    })?;
    let function = match part.get("backoffFunction") {
        None | Some(Value::Null) => BackoffFunction::Linear,
        Some(given) => given.as_str().and_then(|text| text.parse().ok()).ok_or_else(|| {
            format!(
                "{name}.backoffFunction {given} is not allowed; allowed are linear, arithmetic, geometric and exponential"
            )
        })?,
    };
    let [min, max] = [min, max].map(|seconds| Duration::from_secs(seconds.into()));
    let schedule = Schedule { no_delay, min_delay, backoff, max_delay, min, max, function };
    let total = schedule.total();
    if total > MAX_TOTAL {
        let (total, most) = (total.as_secs(), MAX_TOTAL.as_secs());
        return Err(format!("{name}: the retries take {total} seconds; at most {most} are allowed"));
    }
    Ok(schedule)
}

/// A part of a policy, if it has it.
fn part<'m>(members: &'m Map<String, Value>, name: &str) -> Result<Option<&'m Map<String, Value>>, String> {
    match members.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Object(part)) => Ok(Some(part)),
        Some(_) => Err(format!("{name} must be an object")),
    }
}

fn number(
    path: &str,
    part: &Map<String, Value>,
    name: &str,
    range: RangeInclusive<u32>,
) -> Result<Option<u32>, String> {
    let given = match part.get(name) {
        None | Some(Value::Null) => return Ok(None),
        Some(given) => given,
    };
    let number = given.as_u64().and_then(|number| u32::try_from(number).ok());
    number.filter(|number| range.contains(number)).map(Some).ok_or_else(|| {
        let (least, most) = range.into_inner();
        format!("{path}.{name} {given} is not allowed; allowed are whole numbers from {least} to {most}")
    })
}

fn check_names(path: &str, members: &Map<String, Value>, known: &[&str]) -> Result<(), String> {
    let unknown = members.keys().find(|name| !known.contains(&name.as_str()));
    let dot = if path.is_empty() { "" } else { "." };
    let text = |name: &dyn Display| format!("Unexpected JSON member: {path}{dot}{name}");
    unknown.map_or(Ok(()), |name| Err(text(name)))
}

fn media_type(text: &str) -> &str {
    text.split(';').next().unwrap_or_default().trim()
}

fn is_content_type(text: &str) -> bool {
    let is_header = text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    is_header && CONTENT_TYPES.iter().any(|known| media_type(text).eq_ignore_ascii_case(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(schedule: &Schedule) -> Vec<u64> {
        (0..).map_while(|retries| schedule.pause(retries)).map(|pause| pause.as_secs()).collect()
    }

    fn of_subscription(text: &str) -> Result<DeliveryPolicy, String> {
        DeliveryPolicy::parse(text, PolicyOf::Subscription, &DeliveryPolicy::default())
    }

    fn retries(parts: &str) -> Vec<u64> {
        seconds(&of_subscription(&format!(r#"{{"healthyRetryPolicy":{{{parts}}}}}"#)).unwrap().schedule)
    }

    #[test]
    fn default_is_three_retries_after_20_seconds_each() {
        assert_eq!(seconds(&DeliveryPolicy::default().schedule), [20, 20, 20]);
        assert_eq!(retries(""), [20, 20, 20]);
    }

    #[test]
    fn phases_follow_each_other() {
        let phases = r#""minDelayTarget":2,"maxDelayTarget":10,"numRetries":9,"numNoDelayRetries":2,
            "numMinDelayRetries":2,"numMaxDelayRetries":2"#;
        assert_eq!(retries(phases), [0, 0, 2, 2, 2, 6, 10, 10, 10]);
    }

    #[test]
    fn functions_grow_from_the_least_delay_to_the_most_in_their_shapes() {
        let table = [
            ("linear", [4, 15, 26, 37, 48, 60]),
            ("arithmetic", [4, 7, 15, 26, 41, 60]),
            ("geometric", [4, 6, 11, 20, 34, 60]),
            ("exponential", [4, 5, 9, 16, 31, 60]),
        ];
        for (function, expected) in table {
            let policy = format!(
                r#""minDelayTarget":4,"maxDelayTarget":60,"numRetries":6,"backoffFunction":"{function}""#
            );
            assert_eq!(retries(&policy), expected, "{function}");
        }
        assert_eq!(retries(r#""minDelayTarget":4,"maxDelayTarget":60,"numRetries":1"#), [4]);
        assert_eq!(retries(r#""numRetries":0"#), [0; 0]);
    }

    /// Contract 3.7.
    #[test]
    fn managed_endpoints_get_100015_retries_over_23_days() {
        let all: Vec<_> = (0..).map_while(|retries| Schedule::MANAGED.pause(retries)).collect();
        assert_eq!(all.len(), 100_015);
        assert_eq!(Schedule::MANAGED.total().as_secs() / 86_400, 23);
        assert_eq!(seconds(&Schedule::MANAGED)[..16], [0, 0, 0, 1, 1, 1, 1, 1, 2, 3, 5, 7, 10, 14, 20, 20]);
    }

    #[test]
    fn policies_that_make_no_sense_are_rejected_by_name() {
        let table = [
            (r#"{"healthyRetryPolicy":{"numRetries":101}}"#, "healthyRetryPolicy.numRetries 101"),
            (r#"{"healthyRetryPolicy":{"numRetries":"3"}}"#, r#"healthyRetryPolicy.numRetries "3""#),
            (
                r#"{"healthyRetryPolicy":{"minDelayTarget":30,"maxDelayTarget":10}}"#,
                "minDelayTarget 30 is greater",
            ),
            (r#"{"healthyRetryPolicy":{"numRetries":1,"numNoDelayRetries":2}}"#, "the phases have 2 retries"),
            (
                r#"{"healthyRetryPolicy":{"backoffFunction":"cubic"}}"#,
                r#"backoffFunction "cubic" is not allowed"#,
            ),
            (
                r#"{"healthyRetryPolicy":{"minDelayTarget":3600,"maxDelayTarget":3600,"numRetries":2}}"#,
                "the retries take 7200 seconds; at most 3600",
            ),
            (r#"{"throttlePolicy":{"maxReceivesPerSecond":0}}"#, "throttlePolicy.maxReceivesPerSecond 0"),
            (r#"{"requestPolicy":{"headerContentType":"image/png"}}"#, r#"headerContentType "image/png""#),
            (r#"{"requestPolicy":{"headerContentType":"text/plain\n"}}"#, "headerContentType"),
            (r#"{"http":{}}"#, "Unexpected JSON member: http"),
            (r#"{"healthyRetryPolicy":{"retries":1}}"#, "Unexpected JSON member: healthyRetryPolicy.retries"),
            (r#"{"healthyRetryPolicy":7}"#, "healthyRetryPolicy must be an object"),
            ("[]", "failed to parse JSON"),
        ];
        for (text, expected) in table {
            let error = of_subscription(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
        let topic = |text| DeliveryPolicy::parse(text, PolicyOf::Topic, &DeliveryPolicy::default());
        assert!(topic(r#"{"healthyRetryPolicy":{}}"#).unwrap_err().contains("Unexpected JSON member"));
        assert!(topic(r#"{"http":{"defaultSicklyRetryPolicy":null}}"#).is_ok());
    }

    #[test]
    fn subscription_overrides_its_topic_part_by_part_unless_that_is_disabled() {
        let topic = r#"{"http":{"defaultHealthyRetryPolicy":{"numRetries":1},"defaultThrottlePolicy":
            {"maxReceivesPerSecond":4}}}"#;
        let own = r#"{"healthyRetryPolicy":{"numRetries":2},"requestPolicy":{"headerContentType":"application/json"}}"#;
        let policy = DeliveryPolicy::effective(Some(topic), Some(own));
        assert_eq!(seconds(&policy.schedule), [20, 20]);
        assert_eq!(policy.interval, Some(Duration::from_millis(250)));
        assert_eq!(&*policy.content_type, "application/json");
        assert_eq!(seconds(&DeliveryPolicy::effective(Some(topic), None).schedule), [20]);
        let fixed = topic.replace(r#"{"http":{"#, r#"{"http":{"disableSubscriptionOverrides":true,"#);
        assert_eq!(seconds(&DeliveryPolicy::effective(Some(&fixed), Some(own)).schedule), [20]);
    }

    #[test]
    fn types_other_than_text_and_json_need_raw_delivery() {
        let csv = of_subscription(r#"{"requestPolicy":{"headerContentType":"text/csv"}}"#).unwrap();
        assert_eq!((csv.content_type(true), csv.content_type(false)), ("text/csv", CONTENT_TYPE));
        let json =
            of_subscription(r#"{"requestPolicy":{"headerContentType":"application/json; charset=UTF-8"}}"#);
        assert_eq!(json.unwrap().content_type(false), "application/json; charset=UTF-8");
    }

    /// Contract 2.3 and 2.5.
    #[test]
    fn effective_policies_are_those_of_aws() {
        let same = |one: &str, other: &str| {
            let parse = |text: &str| serde_json::from_str::<Value>(text).unwrap();
            assert_eq!(parse(one), parse(other));
        };
        let default = r#"{"http":{"defaultHealthyRetryPolicy":{"minDelayTarget":20,"maxDelayTarget":20,"numRetries":3,"numMaxDelayRetries":0,"numNoDelayRetries":0,"numMinDelayRetries":0,"backoffFunction":"linear"},"disableSubscriptionOverrides":false,"defaultRequestPolicy":{"headerContentType":"text/plain; charset=UTF-8"}}}"#;
        same(&effective_of_topic(None), default);
        let own = r#"{"http":{"defaultRequestPolicy":{"headerContentType":"application/json"}}}"#;
        same(
            &effective_of_topic(Some(own)),
            &default.replace("text/plain; charset=UTF-8", "application/json"),
        );
        same(
            &shown_of_topic(own),
            r#"{"http":{"disableSubscriptionOverrides":false,"defaultRequestPolicy":{"headerContentType":"application/json"}}}"#,
        );
        let csv = r#"{"requestPolicy":{"headerContentType":"text/csv"}}"#;
        let complete = r#"{"healthyRetryPolicy":null,"sicklyRetryPolicy":null,"throttlePolicy":null,"requestPolicy":{"headerContentType":"text/csv"},"guaranteed":false}"#;
        assert_eq!(shown_of_subscription(csv), complete);
        assert_eq!(effective_of_subscription(None, Some(csv)), complete);
        let topic = r#"{"http":{"defaultHealthyRetryPolicy":{"numRetries":1},"defaultRequestPolicy":{"headerContentType":"application/json"}}}"#;
        let effective = effective_of_subscription(Some(topic), Some(csv));
        assert!(effective.contains(r#""numRetries":1"#) && effective.contains("text/csv"), "{effective}");
        let fixed = topic.replace(r#"{"http":{"#, r#"{"http":{"disableSubscriptionOverrides":true,"#);
        assert!(effective_of_subscription(Some(&fixed), Some(csv)).contains("application/json"));
    }
}
