//! Messages that other services put into queues.

use std::sync::Arc;

use sqs_client::operation::Action;
use sqs_client::wire::checksum::md5_of_body;
use sqs_client::wire::service_error::{ErrorCode, Fault as Blame, ServiceError};
use sqs_client::wire::validate::attribute::message_attributes;
use sqs_client::wire::validate::error::invalid_parameter;

#[cfg(feature = "s3")]
use crate::control::arn::QueueArn;
use crate::control::arn::Resource;
use crate::control::commits::Commits;
use crate::control::delivery::{Delivery, MemoryShare, Queues, Settled, Source, Undelivered, Whole};
use crate::control::faults::fault::{Damage, Failure, Rejection};
use crate::control::faults::{Entry, Request};
use crate::control::operation::ServiceName;
use crate::control::policies;
use crate::control::policies::{Policies, Principal, Why};
use crate::sqs::engine::messages::{Checksums, Payload};
use crate::sqs::engine::policy::Policy;
use crate::sqs::engine::send::NewMessage;
use crate::sqs::locked_queue::SharedQueue;
use crate::sqs::service::{Service, Share};

/// The text of a fault without one.
const INJECTED: &str = "This failure was injected.";

impl Queues for Service {
    /// AWS does not apply the throughput quotas of the queue to other services.
    ///
    /// Faults of `SendMessage` apply, except delays and failing entries. After a lost or damaged answer, the message is in
    /// the queue.
    fn deliver(&self, delivery: Delivery<'_>) -> Result<Option<Why>, Undelivered> {
        let damage = self.faults_of(delivery)?;
        let queue = self.shared.find_arn(delivery.queue).ok_or(Undelivered::NoQueue)?;
        let denial = self.check_delivery(delivery.source, &queue).inspect_err(|undelivered| {
            self.shared.denied_deliveries.lost(queue.arn(), delivery.source.arn, &undelivered.to_string());
        })?;
        delivery.attributes.map_or(Ok(()), message_attributes).map_err(Undelivered::Refused)?;
        let Delivery { body, attributes, trace_header, keeps_size_limit, .. } = delivery;
        let message = NewMessage {
            payload: Payload::new(
                body.to_owned(),
                attributes.cloned(),
                Checksums::new(md5_of_body(body), attributes),
                trace_header.map(str::to_owned),
                queue.sender(delivery.sender),
            ),
            delay: None,
            group: delivery.group.map(str::to_owned),
            deduplication_id: delivery.deduplication_id.map(str::to_owned),
        };
        let sent = queue.with_room_unless_deleted(|queue, room| {
            let limit = queue.rules().maximum_message_size;
            if keeps_size_limit && body.len() > limit {
                return Err(invalid_parameter(format!("Message must be shorter than {limit} bytes.")));
            }
            queue.send(self.shared.clock.now(), room, message)
        });
        let sent = sent.ok_or(Undelivered::NoQueue)?.map_err(undelivered)?;
        if self.shared.settings.policies == Policies::Enforce && sent.original.is_none() {
            self.shared.denied_deliveries.arrived(queue.arn(), delivery.source.arn);
        }
        if damage.is_some() {
            return Err(unavailable("A fault damaged the answer."));
        }
        Ok(denial)
    }

    fn whole(&self) -> Whole<'_> {
        self.commits().map(Commits::together)
    }

    fn memory_share(&self) -> Option<Box<dyn MemoryShare>> {
        Some(Box::new(Share::new(Arc::clone(&self.shared.memory))))
    }

    #[cfg(feature = "s3")]
    fn check(&self, queue: &QueueArn, source: Source<'_>) -> Result<Option<Why>, Undelivered> {
        let queue = self.shared.find_arn(queue).ok_or(Undelivered::NoQueue)?;
        self.check_delivery(source, &queue)
    }

    fn check_store(&self) -> Result<(), ServiceError> {
        Self::check_store(self)
    }

    fn settled(&self) -> Settled<'_> {
        Box::pin(Self::settled(self))
    }
}

impl MemoryShare for Share {
    fn fits(&self, bytes: usize) -> bool {
        bytes <= self.bytes() || self.room().fits(0, bytes)
    }

    fn set(&mut self, bytes: usize) {
        Self::set(self, bytes);
    }
}

impl Service {
    fn faults_of(&self, delivery: Delivery<'_>) -> Result<Option<Damage>, Undelivered> {
        let Delivery { queue, source, body, group, deduplication_id, .. } = delivery;
        let entry = Entry { body: Some(body), group, deduplication_id, ..Entry::default() };
        let plan = self.faults().plan(|| Request {
            service: ServiceName::Sqs,
            operation: Action::SendMessage.as_str(),
            resource: Some(Resource::Queue(queue.clone())),
            account: source.account,
            region: &queue.region,
            time: self.clock().now(),
            entries: vec![entry],
            can_redeliver: false,
            caller: "",
            number: None,
        });
        match plan.rejection {
            None => Ok(plan.damage),
            Some(Rejection::Error(Failure { code, message })) => {
                let code = code.map_or(ErrorCode::RequestThrottled, |code| ErrorCode::from_name(&code));
                let message = message.unwrap_or_else(|| INJECTED.to_owned());
                Err(undelivered(ServiceError::new(code, message)))
            }
            Some(Rejection::Status(status, _)) if status < 500 => {
                let text = format!("A fault answered with the status {status}.");
                Err(Undelivered::Refused(ServiceError::new(ErrorCode::UnsupportedOperation, text)))
            }
            Some(Rejection::Status(..) | Rejection::Reset) => Err(unavailable(INJECTED)),
        }
    }

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
        let denial = policies::denial(policy.as_ref().map(Policy::document), &request);
        let Some(why) = denial else { return Ok(None) };
        // A topic or a bucket can cause thousands of messages.
        if self.shared.denied_deliveries.is_new(source_arn, queue.arn()) {
            let is_enforced = setting == Policies::Enforce;
            let result = if is_enforced {
                "the delivery failed"
            } else {
                "AWS denies the delivery, this server does not"
            };
            self.report_denial(queue.arn(), format!("{why}; {result}"));
        }
        if setting == Policies::Enforce { Err(Undelivered::Denied(why.into())) } else { Ok(Some(why)) }
    }
}

/// Errors of the server, throttling and a full memory may end.
fn undelivered(error: ServiceError) -> Undelivered {
    let may_end = error.code.fault() == Blame::Receiver
        || matches!(error.code, ErrorCode::OverLimit | ErrorCode::RequestThrottled);
    if may_end { Undelivered::Unavailable(error) } else { Undelivered::Refused(error) }
}

fn unavailable(text: &str) -> Undelivered {
    Undelivered::Unavailable(ServiceError::new(ErrorCode::ServiceUnavailable, text))
}
