//! Messages that other services put into queues.

use sqs_client::wire::service_error::ServiceError;
use sqs_client::wire::validate::attribute::message_attributes;

use super::Service;
use super::shared::SharedQueue;
use crate::service::delivery::{Delivery, Queues, Settled, Source, Undelivered};
use crate::service::policies::{self, Decision, Policies, Principal, Why};
use crate::sqs::engine::policy::Policy;
use crate::sqs::engine::{Checksums, NewMessage, Payload};

impl Queues for Service {
    /// AWS applies neither the maximum message size of the queue nor its throughput quotas to other services.
    fn deliver(&self, delivery: Delivery<'_>) -> Result<Option<Why>, Undelivered> {
        let queue = self.shared.find_arn(delivery.queue).ok_or(Undelivered::NoQueue)?;
        let denial = self.check_delivery(delivery.source, &queue)?;
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
        sent.ok_or(Undelivered::NoQueue)?.map_err(Undelivered::Refused)?;
        Ok(denial)
    }

    fn check_store(&self) -> Result<(), ServiceError> {
        Self::check_store(self)
    }

    fn settled(&self) -> Settled<'_> {
        Box::pin(Self::settled(self))
    }
}

impl Service {
    /// Checks that the policy of a queue allows a delivery. A service has no identity policy, so it needs a statement that
    /// allows it, also within one account. Returns why AWS denies the delivery, if it does and policies only warn.
    fn check_delivery(&self, source: Source<'_>, queue: &SharedQueue) -> Result<Option<Why>, Undelivered> {
        let setting = self.shared.settings.policies;
        if setting == Policies::Off {
            return Ok(None);
        }
        let Source { service: name, arn: source_arn, account: source_account } = source;
        let request = policies::Context {
            principal: Principal::Service { name, source_arn, source_account },
            action: "sqs:SendMessage",
            resource: &queue.arn().to_string(),
            time: self.clock().now(),
        };
        let policy = queue.policy();
        let decision = policies::evaluate(policy.as_ref().map(Policy::document), &request);
        let Decision::Denied(why) = decision else { return Ok(None) };
        // A topic can publish thousands of messages.
        if self.shared.denied_deliveries.is_new(source_arn, queue.arn()) {
            self.report_denial(queue.arn(), why.to_string());
        }
        if setting == Policies::Enforce { Err(Undelivered::Denied(why.into())) } else { Ok(Some(why)) }
    }
}
