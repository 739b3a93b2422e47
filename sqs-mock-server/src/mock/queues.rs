//! Creates the queues of a config file with the rules of `CreateQueue`.

use crate::sqs::ops::Serve as _;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::pin::pin;
use std::task::{Poll, Waker};
use std::{io, task};

use serde_json::json;
use sqs_client::operation::create_queue::{CreateQueue, CreateQueueInput};
use sqs_client::operation::set_queue_attributes::{SetQueueAttributes, SetQueueAttributesInput};
use sqs_client::types::QueueAttributeName;
use sqs_client::wire::service_error::{ErrorCode, ServiceError};

use crate::config::Config;
use crate::config::file::{Problem, Source};
use crate::config::queue::QueueDefinition;
use crate::control::arn::QueueArn;
use crate::sqs::engine::throughput::ThroughputQuotas;
use crate::sqs::ops::Context;
use crate::sqs::service::Service;

/// The maximum number of names that an error suggests.
const SUGGESTED: usize = 20;

/// A queue of the file: its path, its ARN and its definition.
type Planned<'c> = (String, QueueArn, &'c QueueDefinition);

/// Creates the queues of the settings, which have no [`problems`], also those after one that cannot be created. Missing
/// redrive policies are set when all queues exist, so that the order in the file does not matter.
///
/// A queue that exists keeps its values, with a warning if they differ: it is that of an earlier server, whose clients may have
/// changed it, or a request created it during a reset.
///
/// # Errors
/// [`io::ErrorKind::InvalidInput`], with a line for each queue that cannot be created.
pub(crate) fn create(service: &Service, config: &Config) -> io::Result<()> {
    let planned = plan(config);
    let (mut created, mut failed) = (Vec::new(), Vec::new());
    for queue in &planned {
        match create_one(service, queue) {
            Ok(is_new) => created.push((queue, is_new)),
            Err(problem) => failed.push(problem),
        }
    }
    failed.extend(created.into_iter().filter_map(|(queue, is_new)| redrive(service, queue, is_new).err()));
    config.source.check(failed)
}

/// Returns whether the queue is new.
fn create_one(service: &Service, (path, arn, queue): &Planned<'_>) -> Result<bool, Problem> {
    let problem = |text| Problem::new(format!("{path}.name"), text);
    let is_new = service.describe(arn).is_none();
    let mut attributes = queue.attributes();
    // In one step, if it can be: a start that is killed in between would leave the queue without its policy.
    let has_target = |(target, _)| service.describe(&arn.neighbour(target)).is_some();
    if is_new && queue.dead_letters().is_some_and(has_target) {
        attributes
            .extend(redrive_policy(arn, queue).map(|policy| (QueueAttributeName::RedrivePolicy, policy)));
    }
    let input = CreateQueueInput::builder()
        .queue_name(&*arn.name)
        .set_attributes(Some(attributes))
        .set_tags(Some(queue.tags.clone()));
    let input = input.build().map_err(|error| problem(error.to_string()))?;
    // Each start creates the queues of the file, also one that an earlier server deleted a moment ago.
    #[cfg(feature = "durable")]
    service.unblock(arn);
    let created = at_once(CreateQueue::serve(service, &context(arn), input));
    match created {
        Err(refusal) if refusal.code == ErrorCode::QueueNameExists => kept(arn, &text(refusal)),
        created => created.map(drop).map_err(|refusal| problem(text(refusal)))?,
    }
    Ok(is_new)
}

/// Warns that a queue, topic or subscription of the data directory differs from that of the file.
pub(crate) fn kept(what: impl Display, difference: &str) {
    tracing::warn!(
        "{what} of the config file keeps its stored values: {difference}; delete it to apply the file"
    );
}

/// Sets the redrive policy of a new queue. That of another is kept, also if a client has removed it.
fn redrive(service: &Service, (path, arn, queue): &Planned<'_>, is_new: bool) -> Result<(), Problem> {
    let Some(policy) = redrive_policy(arn, queue) else { return Ok(()) };
    let problem = |text| Problem::new(format!("{path}.dead_letter_queue"), text);
    match service.redrive_policy(arn) {
        Some(existing) if existing == policy => return Ok(()),
        Some(existing) => {
            kept(arn, &format!("the queue has the redrive policy {existing}"));
            return Ok(());
        }
        None if !is_new => {
            kept(arn, "the queue has no redrive policy");
            return Ok(());
        }
        None => {}
    }
    let input = SetQueueAttributesInput::builder()
        .queue_url(&*arn.name)
        .attributes(QueueAttributeName::RedrivePolicy, policy);
    let input = input.build().map_err(|error| problem(error.to_string()))?;
    let set = at_once(SetQueueAttributes::serve(service, &context(arn), input));
    set.map(drop).map_err(|refusal| problem(text(refusal)))
}

fn redrive_policy(arn: &QueueArn, queue: &QueueDefinition) -> Option<String> {
    let (target, count) = queue.dead_letters()?;
    let target = arn.neighbour(target).to_string();
    Some(json!({ "deadLetterTargetArn": target, "maxReceiveCount": count }).to_string())
}

/// The URLs of the queues of the settings, for the base of each region.
pub(crate) fn urls(config: &Config, base: impl Fn(&str) -> String) -> Vec<String> {
    let url = |arn: &QueueArn| format!("{}/{}/{}", base(&arn.region), arn.account, arn.name);
    plan(config).iter().map(|(_, arn, _)| url(arn)).collect()
}

/// The queues with their own throughput quotas.
pub(crate) fn quotas(config: &Config) -> Vec<(QueueArn, Option<ThroughputQuotas>)> {
    let planned = plan(config).into_iter();
    planned.filter_map(|(_, arn, queue)| Some((arn, queue.throughput_quotas?.0))).collect()
}

fn plan(config: &Config) -> Vec<Planned<'_>> {
    let queues = config.queues.iter().enumerate();
    let planned = queues.map(|(at, queue)| {
        let region = queue.region.as_deref().unwrap_or(config.region());
        let account = queue.account.as_deref().unwrap_or(config.account());
        (format!("queues[{at}]"), QueueArn::new(region, account, &queue.name), queue)
    });
    planned.collect()
}

fn context(arn: &QueueArn) -> Context {
    Context { account: arn.account.to_string(), region: arn.region.to_string(), ..Context::default() }
}

/// The ARNs of the queues of the settings.
pub(crate) fn arns(config: &Config) -> BTreeSet<QueueArn> {
    plan(config).into_iter().map(|(_, arn, _)| arn).collect()
}

/// Conflicts between queues.
pub(crate) fn problems(config: &Config) -> Vec<Problem> {
    let planned = plan(config);
    let mut found = duplicates("queue", planned.iter().map(|(path, arn, _)| (&**path, arn)), &config.source);
    let defined: BTreeSet<_> = planned.iter().map(|(_, arn, _)| arn).collect();
    for (path, arn, queue) in &planned {
        let text = queue
            .dead_letters()
            .and_then(|(target, _)| problem_of_target(arn, &arn.neighbour(target), &defined));
        found.extend(text.map(|text| Problem::new(format!("{path}.dead_letter_queue"), text)));
    }
    found
}

/// Names that occur twice.
pub(crate) fn duplicates<'p, A: Ord>(
    kind: &str,
    defined: impl Iterator<Item = (&'p str, A)>,
    source: &Source,
) -> Vec<Problem> {
    let (mut found, mut paths) = (Vec::new(), BTreeMap::new());
    for (path, arn) in defined {
        match paths.entry(arn) {
            Entry::Vacant(entry) => drop(entry.insert(path)),
            Entry::Occupied(first) => {
                let first = source.line(&format!("{}.name", first.get()));
                let text = format!("duplicate {kind} name; first defined at {first}");
                found.push(Problem::new(format!("{path}.name"), text));
            }
        }
    }
    found
}

/// Why `target` cannot be the dead-letter queue of `source`.
fn problem_of_target(source: &QueueArn, target: &QueueArn, defined: &BTreeSet<&QueueArn>) -> Option<String> {
    if defined.contains(target) {
        let text =
            "the dead-letter queue of a FIFO queue must be FIFO, that of a standard queue must be standard";
        return (target.is_fifo() != source.is_fifo()).then(|| text.to_owned());
    }
    let fits = |other: &&&QueueArn| other.is_neighbour_of(source) && other.is_fifo() == source.is_fifo();
    let candidates = defined.iter().filter(fits).map(|other| &*other.name);
    Some(absent("queue", &target.name, (&target.region, &target.account), candidates))
}

/// The text for a name that the file does not define.
pub(crate) fn absent<'n>(
    kind: &str,
    name: &str,
    (region, account): (&str, &str),
    candidates: impl Iterator<Item = &'n str>,
) -> String {
    let names: Vec<_> = candidates.take(SUGGESTED).collect();
    let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    format!(
        "there is no {kind} {name:?} in region {region} and account {account} of this file; candidates are {names}"
    )
}

/// The result of an operation that does not wait. A server without a tokio runtime can have queues too.
fn at_once<T>(operation: impl Future<Output = Result<T, ServiceError>>) -> Result<T, ServiceError> {
    match pin!(operation).poll(&mut task::Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => answer,
        Poll::Pending => {
            Err(sqs_client::wire::validate::error::invalid_parameter("the operation would wait"))
        }
    }
}

fn text(refusal: ServiceError) -> String {
    refusal.message.unwrap_or_else(|| refusal.code.to_string())
}
