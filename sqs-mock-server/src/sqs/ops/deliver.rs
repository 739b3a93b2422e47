//! Messages that other services put into queues.

use sqs_client::wire::service_error::ServiceError;
use sqs_client::wire::validate::attribute::message_attributes;

use super::Service;
use crate::service::delivery::{Delivery, Queues, Settled, Undelivered};
use crate::sqs::engine::{Checksums, NewMessage, Payload};

impl Queues for Service {
    /// AWS applies neither the maximum message size of the queue nor its throughput quotas to other services.
    fn deliver(&self, delivery: Delivery<'_>) -> Result<(), Undelivered> {
        let queue = self.shared.find_arn(delivery.queue).ok_or(Undelivered::NoQueue)?;
        delivery.attributes.map_or(Ok(()), message_attributes).map_err(Undelivered::Refused)?;
        let Delivery { body, attributes, trace_header, .. } = delivery;
        let message = NewMessage {
            payload: Payload::new(
                body.to_owned(),
                attributes.cloned(),
                Checksums::of(body, attributes),
                trace_header.map(str::to_owned),
                queue.sender(delivery.sender),
            ),
            delay: None,
            group: delivery.group.map(str::to_owned),
            deduplication_id: delivery.deduplication_id.map(str::to_owned),
        };
        let sent =
            queue.with_room_unless_deleted(|queue, room| queue.send(self.shared.clock.now(), room, message));
        sent.ok_or(Undelivered::NoQueue)?.map_err(Undelivered::Refused).map(drop)
    }

    fn check_store(&self) -> Result<(), ServiceError> {
        Self::check_store(self)
    }

    fn settled(&self) -> Settled<'_> {
        Box::pin(Self::settled(self))
    }
}
