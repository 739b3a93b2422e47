//! The queues of a config file come into being as if a client had created them.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::pin::pin;
use std::task::{self, Poll, Waker};

use serde_json::json;
use sqs_client::operation::create_queue::{CreateQueue, CreateQueueInput};
use sqs_client::operation::set_queue_attributes::{SetQueueAttributes, SetQueueAttributesInput};
use sqs_client::types::QueueAttributeName;
use sqs_client::wire::service_error::ServiceError;

use crate::config::{Config, QueueDefinition};
use crate::service::arn::QueueArn;
use crate::sqs::ops::{Context, Serve, Service};

/// How many names are shown to whoever has one wrong.
const SUGGESTED: usize = 20;

/// Queues with the ARNs that they get.
type Planned<'c> = Vec<(QueueArn, &'c QueueDefinition)>;

/// Creates the queues of the settings. Redrive policies follow when all are there, so that the order in the file does
/// not matter.
///
/// # Errors
/// [`io::ErrorKind::InvalidInput`], with a line of text for everything that is wrong.
pub(super) fn create(service: &Service, config: &Config) -> io::Result<()> {
    let planned = plan(config);
    check(&planned)?;
    for (arn, queue) in &planned {
        let input = CreateQueueInput::builder()
            .queue_name(&*arn.name)
            .set_attributes(Some(queue.attributes.clone()))
            .set_tags(Some(queue.tags.clone()));
        let input = input.build().map_err(|error| queue.name.spot.error(error))?;
        let created = at_once(CreateQueue::serve(service, &context(arn), input));
        created.map_err(|refusal| queue.name.spot.error(text(refusal)))?;
    }
    for (arn, queue) in &planned {
        let Some(letters) = &queue.dead_letters else { continue };
        let policy = json!({
            "deadLetterTargetArn": arn.neighbour(&letters.queue.value).to_string(),
            "maxReceiveCount": letters.max_receive_count,
        });
        let input = SetQueueAttributesInput::builder()
            .queue_url(&*arn.name)
            .attributes(QueueAttributeName::RedrivePolicy, policy.to_string());
        let input = input.build().map_err(|error| letters.queue.spot.error(error))?;
        let set = at_once(SetQueueAttributes::serve(service, &context(arn), input));
        set.map_err(|refusal| letters.queue.spot.error(text(refusal)))?;
    }
    Ok(())
}

/// Where the queues of the settings are.
pub(super) fn urls(config: &Config, host: &str) -> Vec<String> {
    let base = |region: &str| match &config.public_url {
        Some(url) => url.clone(),
        None => config.queue_url_style.base(host, region),
    };
    plan(config)
        .iter()
        .map(|(arn, _)| format!("{}/{}/{}", base(&arn.region), arn.account, arn.name))
        .collect()
}

fn plan(config: &Config) -> Planned<'_> {
    config.queues.iter().map(|queue| (queue.arn(&config.region, &config.account), queue)).collect()
}

fn context(arn: &QueueArn) -> Context {
    Context { account: arn.account.to_string(), region: arn.region.to_string(), ..Context::default() }
}

/// What the queues have to do with each other.
fn check(planned: &Planned<'_>) -> io::Result<()> {
    let mut faults = Vec::new();
    let mut defined: BTreeMap<&QueueArn, &QueueDefinition> = BTreeMap::new();
    for (arn, queue) in planned {
        match defined.entry(arn) {
            Entry::Vacant(entry) => drop(entry.insert(queue)),
            Entry::Occupied(first) => {
                let text =
                    format!("there is a queue of this name already, at {}", first.get().name.spot.line());
                faults.push(queue.name.spot.fault(text));
            }
        }
    }
    let defined: BTreeSet<_> = defined.into_keys().collect();
    for (arn, queue) in planned {
        if let Some(letters) = &queue.dead_letters
            && let Some(text) = fault_of_target(arn, &arn.neighbour(&letters.queue.value), &defined)
        {
            faults.push(letters.queue.spot.fault(text));
        }
    }
    if faults.is_empty() {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, faults.join("\n")))
}

/// Why a queue cannot take the dead letters of another.
fn fault_of_target(source: &QueueArn, target: &QueueArn, defined: &BTreeSet<&QueueArn>) -> Option<String> {
    if defined.contains(target) {
        let text =
            "the dead-letter queue of a FIFO queue has to be one, that of a standard queue must not be";
        return (target.is_fifo() != source.is_fifo()).then(|| text.to_owned());
    }
    let fits = |other: &&&QueueArn| other.is_neighbour_of(source) && other.is_fifo() == source.is_fifo();
    let names: Vec<_> = defined.iter().filter(fits).map(|other| &*other.name).take(SUGGESTED).collect();
    let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    Some(format!(
        "there is no queue {:?} in region {} and account {} of this file; those that could be meant: {names}",
        target.name, target.region, target.account,
    ))
}

/// The answer of an operation that waits for nothing: servers without a runtime have queues too.
fn at_once<T>(operation: impl Future<Output = Result<T, ServiceError>>) -> Result<T, ServiceError> {
    match pin!(operation).poll(&mut task::Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => answer,
        Poll::Pending => {
            Err(sqs_client::wire::validate::error::invalid_parameter("it cannot be done at once"))
        }
    }
}

fn text(refusal: ServiceError) -> String {
    refusal.message.unwrap_or_else(|| refusal.code.to_string())
}

impl QueueDefinition {
    fn arn(&self, region: &str, account: &str) -> QueueArn {
        let region = self.region.as_deref().unwrap_or(region);
        QueueArn::new(region, self.account.as_deref().unwrap_or(account), &self.name.value)
    }
}
