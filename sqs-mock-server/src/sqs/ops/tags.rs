//! Operations on tags of queues.

use sqs_client::operation::Operation as _;
use sqs_client::operation::list_queue_tags::{ListQueueTags, ListQueueTagsInput, ListQueueTagsOutput};
use sqs_client::operation::tag_queue::{TagQueue, TagQueueInput, TagQueueOutput};
use sqs_client::operation::untag_queue::{UntagQueue, UntagQueueInput, UntagQueueOutput};
use sqs_client::wire::service_error::ServiceError;
use sqs_client::wire::validate::Validate;

use super::{Context, Serve, Service};

impl Serve for TagQueue {
    async fn serve(
        service: &Service,
        context: &Context,
        mut input: TagQueueInput,
    ) -> Result<TagQueueOutput, ServiceError> {
        let queue = service.queue(context, Self::ACTION, &mut input.queue_url)?;
        input.validate()?;
        queue.with(context, |queue| queue.tag(input.tags.unwrap_or_default()))??;
        Ok(TagQueueOutput::default())
    }
}

impl Serve for UntagQueue {
    async fn serve(
        service: &Service,
        context: &Context,
        mut input: UntagQueueInput,
    ) -> Result<UntagQueueOutput, ServiceError> {
        let queue = service.queue(context, Self::ACTION, &mut input.queue_url)?;
        input.validate()?;
        queue.with(context, |queue| queue.untag(input.tag_keys().iter().map(String::as_str)))?;
        Ok(UntagQueueOutput::default())
    }
}

impl Serve for ListQueueTags {
    async fn serve(
        service: &Service,
        context: &Context,
        mut input: ListQueueTagsInput,
    ) -> Result<ListQueueTagsOutput, ServiceError> {
        let queue = service.queue(context, Self::ACTION, &mut input.queue_url)?;
        let tags = queue.with(context, |queue| queue.tags().all().clone())?;
        let tags = (!tags.is_empty()).then(|| tags.into_iter().collect());
        Ok(ListQueueTagsOutput::builder().set_tags(tags).build())
    }
}
