//! Reading and changing attributes and tags of queues.

use sqs_client::operation::get_queue_attributes::GetQueueAttributes;
use sqs_client::operation::list_queue_tags::ListQueueTags;
use sqs_client::operation::set_queue_attributes::SetQueueAttributes;
use sqs_client::operation::tag_queue::TagQueue;
use sqs_client::operation::untag_queue::UntagQueue;
use sqs_client::types::QueueAttributeName;
use sqs_client::wire::service_error::ServiceError;
use sqs_client::wire::validate::Validate;

use super::state::Shared;
use super::{Context, Serve, Served, Service};
use crate::service::arn::QueueArn;
use crate::sqs::engine::RedrivePolicy;

impl Serve for GetQueueAttributes {
    async fn serve(service: &Service, context: &Context, mut input: Self::Input) -> Served<Self> {
        let queue = service.queue::<Self>(context, &mut input.queue_url)?;
        input.validate()?;
        let now = service.shared.clock.now();
        let attributes = queue.read(context, |queue| queue.render(now, input.attribute_names()))?;
        let attributes = Some(attributes).filter(|attributes| !attributes.is_empty());
        Ok(Self::Output::builder().set_attributes(attributes).build())
    }
}

impl Serve for SetQueueAttributes {
    async fn serve(service: &Service, context: &Context, mut input: Self::Input) -> Served<Self> {
        let queue = service.queue::<Self>(context, &mut input.queue_url)?;
        input.validate()?;
        let requested = input.attributes.unwrap_or_default();
        let redrive = requested.get(&QueueAttributeName::RedrivePolicy);
        let policy =
            redrive.filter(|text| !text.is_empty()).map(|text| RedrivePolicy::parse(text)).transpose()?;
        if let Some(policy) = &policy {
            check_redrive(&service.shared, queue.arn(), policy)?;
        }
        let change = || {
            queue.with(context, |queue| queue.change_attributes(service.shared.clock.now(), &requested))?
        };
        match redrive {
            Some(_) => change_redrive(&service.shared, queue.arn(), policy.as_ref(), change)?,
            None => change()?,
        }
        Ok(Self::Output::default())
    }
}

/// Changes the attributes of a queue and its dead-letter relation in the directory, in one step.
fn change_redrive(
    shared: &Shared,
    source: &QueueArn,
    policy: Option<&RedrivePolicy>,
    change: impl FnOnce() -> Result<(), ServiceError>,
) -> Result<(), ServiceError> {
    // Without an account, the queue was deleted; `change` returns the error.
    let Some(account) = shared.account_of(source) else {
        return change();
    };
    let _one_at_a_time = account.redrive.lock();
    change()?;
    let target = policy.map(|policy| &*policy.target.name);
    account.directory.write().set_dead_letter_queue(&source.name, target);
    Ok(())
}

/// Checks a redrive policy against the queue that it names.
pub(super) fn check_redrive(
    shared: &Shared,
    source: &QueueArn,
    policy: &RedrivePolicy,
) -> Result<(), ServiceError> {
    // A queue can be its own dead-letter queue, even while it is being created.
    let allows_source = if *policy.target == *source {
        Some(true)
    } else {
        let target = shared.find_arn(&policy.target);
        target.map(|target| target.attribute(|attributes| attributes.allows_source(source)))
    };
    policy.check(source, allows_source)
}

impl Serve for TagQueue {
    async fn serve(service: &Service, context: &Context, mut input: Self::Input) -> Served<Self> {
        let queue = service.queue::<Self>(context, &mut input.queue_url)?;
        input.validate()?;
        queue.with(context, |queue| queue.tag(input.tags.unwrap_or_default()))??;
        Ok(Self::Output::default())
    }
}

impl Serve for UntagQueue {
    async fn serve(service: &Service, context: &Context, mut input: Self::Input) -> Served<Self> {
        let queue = service.queue::<Self>(context, &mut input.queue_url)?;
        input.validate()?;
        queue.with(context, |queue| queue.untag(input.tag_keys().iter().map(String::as_str)))?;
        Ok(Self::Output::default())
    }
}

impl Serve for ListQueueTags {
    async fn serve(service: &Service, context: &Context, mut input: Self::Input) -> Served<Self> {
        let queue = service.queue::<Self>(context, &mut input.queue_url)?;
        let tags = queue.read(context, |queue| queue.tags().all().clone())?;
        let tags = (!tags.is_empty()).then(|| tags.into_iter().collect());
        Ok(Self::Output::builder().set_tags(tags).build())
    }
}
