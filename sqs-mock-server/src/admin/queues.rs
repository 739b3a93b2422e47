//! Queues over HTTP: all queues, one queue, its move tasks, why a receive returns nothing, and waits for numbers of
//! messages.

use std::time::Duration;

use http::StatusCode;
use serde_json::{Value, json};

use super::answer::{Answered, Refusal, json};
use super::ask::Ask;
use crate::service::arn::QueueArn;
use crate::sqs::ops::{Counts, QueueDescription, WhyEmpty};

/// As `ListMessageMoveTasks`, which returns no more.
const MAX_TASKS: usize = 10;
/// The conditions of a wait.
const WANTED: [&str; 4] = ["available", "in_flight", "delayed", "total"];
/// The maximum and the default timeout, in seconds of real time.
const LONGEST: usize = 60;
const USUAL: usize = 5;

/// `GET /_mock/queues`.
pub(super) fn list(ask: &Ask<'_>) -> Answered {
    let page = ask.parameters.page()?;
    let arns = ask.sqs().queues();
    let queues = page.of(&arns).filter_map(|arn| queue(ask, arn));
    json(&page.part("queues", arns.len(), queues))
}

/// `GET /_mock/queues/{name}`.
pub(super) fn show(ask: &Ask<'_>) -> Answered {
    let arn = queue_in_path(ask);
    json(&queue(ask, &arn).ok_or_else(|| unknown(&arn))?)
}

/// `GET /_mock/queues/{name}/why-empty`.
pub(super) fn why_empty(ask: &Ask<'_>) -> Answered {
    let why = ask.sqs().why_empty(&queue_in_path(ask));
    json(&json!({ "reason": reason(&why), "text": why.to_string() }))
}

/// `GET /_mock/queues/{name}/move-tasks`.
pub(super) fn move_tasks(ask: &Ask<'_>) -> Answered {
    let arn = queue_in_path(ask);
    ask.sqs().describe(&arn).ok_or_else(|| unknown(&arn))?;
    json(&json!({ "move_tasks": ask.sqs().move_tasks(&arn, MAX_TASKS) }))
}

/// `GET /_mock/wait`. The queue may be created later.
pub(super) async fn wait(ask: &Ask<'_>) -> Answered {
    let wanted = WANTED.map(|name| ask.parameters.number(name, 0..=usize::MAX));
    let wanted: Vec<_> = wanted.into_iter().collect::<Result<_, _>>()?;
    if wanted.iter().all(Option::is_none) {
        let all = WANTED.join(", ");
        return Err(Refusal::bad(format!("no condition; set one or more of {all}")));
    }
    let seconds = ask.parameters.number("timeout", 0..=LONGEST)?.unwrap_or(USUAL);
    let arn = queue_in_parameters(ask)?;
    let is_met = |counts: &Counts| {
        let mut pairs = wanted.iter().zip(numbers(*counts));
        pairs.all(|(wanted, number)| wanted.is_none_or(|wanted| wanted == number))
    };
    let until = ask.sqs().until(&arn, || ask.sqs().counts(&arn).filter(is_met));
    let timeout = Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
    tokio::select! {
        met = tokio::time::timeout(timeout, until) => match met {
            Ok(counts) => json(&WANTED.into_iter().zip(numbers(counts)).collect::<Value>()),
            Err(_) => Err(Refusal::new(StatusCode::CONFLICT, unmet(&arn, seconds, ask.sqs().counts(&arn)))),
        },
        () = ask.sqs().stopped() => Err(Refusal::stopping()),
    }
}

/// The numbers that [`WANTED`] names.
fn numbers(counts: Counts) -> [usize; 4] {
    let Counts { available, in_flight, delayed } = counts;
    [available, in_flight, delayed, available + in_flight + delayed]
}

fn unmet(arn: &QueueArn, seconds: usize, counts: Option<Counts>) -> String {
    match counts {
        Some(Counts { available, in_flight, delayed }) => format!(
            "waited {seconds} s for {arn}, which has {available} messages available, {in_flight} in flight and \
             {delayed} delayed"
        ),
        None => format!("waited {seconds} s for {arn}, which does not exist"),
    }
}

/// The error for a queue that does not exist.
pub(super) fn unknown(arn: &QueueArn) -> Refusal {
    Refusal::not_found(format!("there is no queue {arn}; GET /_mock/queues lists all queues"))
}

/// The queue that the path names.
fn queue_in_path(ask: &Ask<'_>) -> QueueArn {
    let (region, account) = ask.home();
    QueueArn::new(region, account, ask.name)
}

/// The queue that the parameters name.
pub(super) fn queue_in_parameters(ask: &Ask<'_>) -> Result<QueueArn, Refusal> {
    let (region, account) = ask.home();
    let queue = ask.parameters.required("queue", ": a name, a URL or an ARN")?;
    Ok(QueueArn::named(queue, region, account))
}

/// `None` if the queue was deleted in the meantime.
fn queue(ask: &Ask<'_>, arn: &QueueArn) -> Option<Value> {
    let sqs = &ask.services.sqs;
    let QueueDescription { attributes, tags, counts, arrived, oldest } = ask.sqs().describe(arn)?;
    let [.., present] = numbers(counts);
    let now = ask.sqs().clock().now();
    let sources = ask.sqs().dead_letter_sources(arn);
    let base = sqs.base_url(sqs.names().host(ask.head), &arn.region);
    Some(json!({
        "name": arn.name,
        "arn": arn,
        "url": format!("{base}/{}/{}", arn.account, arn.name),
        "messages": counts,
        // Since the queue was created. Those that left were deleted, purged, expired, or moved to another queue.
        "totals": { "arrived": arrived, "left": arrived.saturating_sub(present as u64) },
        "oldest_message_age_ms": oldest.map(|oldest| now.as_millis().saturating_sub(oldest.as_millis())),
        "dead_letter_sources": sources.iter().map(|source| &**source).collect::<Vec<_>>(),
        "attributes": attributes,
        "tags": tags,
    }))
}

/// An identifier for programs.
fn reason(why: &WhyEmpty) -> &'static str {
    match why {
        WhyEmpty::NoSuchQueue => "no_such_queue",
        WhyEmpty::NotEmpty { .. } => "not_empty",
        WhyEmpty::NoMessages => "no_messages",
        WhyEmpty::Denied { .. } => "denied",
        WhyEmpty::InFlight { .. } => "in_flight",
        WhyEmpty::Delayed { .. } => "delayed",
        WhyEmpty::InFlightOrDelayed { .. } => "in_flight_or_delayed",
        WhyEmpty::GroupsLocked { .. } => "groups_locked",
        WhyEmpty::BeyondWindow { .. } => "beyond_window",
        WhyEmpty::OnSomeServers { .. } => "on_some_servers",
        WhyEmpty::DeadLetters { .. } => "dead_letters",
        WhyEmpty::InFlightLimit { .. } => "in_flight_limit",
    }
}
