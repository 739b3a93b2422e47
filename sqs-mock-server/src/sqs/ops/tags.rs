//! Operations on tags of queues.

use sqs_client::operation::list_queue_tags::ListQueueTags;
use sqs_client::operation::tag_queue::TagQueue;
use sqs_client::operation::untag_queue::UntagQueue;
use sqs_client::wire::validate::Validate;

use super::{Context, Serve, Served, Service};

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
        let tags = queue.read(context, |queue| queue.tags().clone())?;
        let tags = (!tags.is_empty()).then(|| tags.into_iter().collect());
        Ok(Self::Output::builder().set_tags(tags).build())
    }
}
