//! Creating, finding, purging and deleting queues.

use std::sync::Arc;

use sqs_client::operation::Operation as _;
use sqs_client::operation::create_queue::CreateQueue;
use sqs_client::operation::delete_queue::DeleteQueue;
use sqs_client::operation::get_queue_url::GetQueueUrl;
use sqs_client::operation::purge_queue::PurgeQueue;
use sqs_client::wire::service_error::{ErrorCode, ServiceError};
use sqs_client::wire::validate::Validate;

use super::attributes::check_redrive;
use super::shared::{SharedQueue, drop_in_background};
use super::state::Shared;
use super::{Context, Serve, Served, Service};
use crate::service::arn::QueueArn;
use crate::sqs::engine::attributes::Requested;
use crate::sqs::engine::{Attributes, Creation, Queue, QueueId, Tags};

impl Serve for CreateQueue {
    async fn serve(service: &Service, context: &Context, input: Self::Input) -> Served<Self> {
        input.validate()?;
        let name = input.queue_name.unwrap_or_default();
        let requested = input.attributes.unwrap_or_default();
        let arn = QueueArn::new(&context.region, &context.account, &name);
        context.trace.note_queue(&Arc::new(arn.clone()));
        let attributes = Attributes::create(&name, &requested)?;
        let tags = Tags::new(input.tags.unwrap_or_default())?;
        if let Some(existing) = service.shared.find_arn(&arn) {
            check_equal(&existing, (&attributes, &requested), &tags)?;
        } else {
            create(&service.shared, &arn, &attributes, &tags, &requested)?;
        }
        Ok(Self::Output::builder().queue_url(context.queue_url(&context.account, &name)).build())
    }

    fn queue(input: &Self::Input) -> Option<&str> {
        input.queue_name()
    }
}

/// Creates a queue, unless another request has just created it.
pub(super) fn create(
    shared: &Shared,
    arn: &QueueArn,
    attributes: &Attributes,
    tags: &Tags,
    requested: &Requested,
) -> Result<(), ServiceError> {
    if let Some(policy) = &attributes.redrive {
        check_redrive(shared, arn, policy)?;
    }
    let now = shared.clock.now();
    let quota_share = shared.quota.take()?;
    let existing = loop {
        let account = shared.accounts.get_or_new(&arn.region, &arn.account);
        let mut directory = account.directory.write();
        // A reset has removed the account since.
        if account.is_closed() {
            continue;
        }
        let existing = directory.create(now, &arn.name, |incarnation| {
            let seed = shared.seed.of_queue(&arn.to_string(), incarnation);
            let (attributes, tags) = (attributes.clone(), tags.clone());
            let creation = Creation { at: now, seed, attributes, tags };
            let id = QueueId { arn: Arc::new(arn.clone()), incarnation };
            let queue = Queue::new(id, creation, shared.settings, shared.reader.is_some());
            shared.share(queue, quota_share)
        })?;
        if let (None, Some(policy)) = (&existing, &attributes.redrive) {
            directory.set_dead_letter_queue(&arn.name, Some(&policy.target.name));
        }
        break existing;
    };
    if let Some(existing) = existing {
        return check_equal(&existing, (attributes, requested), tags);
    }
    shared.queues_changed.notify_waiters();
    Ok(())
}

/// Accepts an existing queue if all requested attributes and tags equal its current values.
fn check_equal(
    existing: &SharedQueue,
    (attributes, requested): (&Attributes, &Requested),
    tags: &Tags,
) -> Result<(), ServiceError> {
    let difference = existing.look(|queue| {
        let attribute = queue.attributes().first_difference(attributes, requested);
        // The text about tags is not recorded from AWS.
        let tag = || queue.tags().first_other(tags).map(|key| format!("tag {key}"));
        attribute.map(|name| format!("attribute {name}")).or_else(tag)
    });
    let Some(different) = difference.flatten() else { return Ok(()) };
    let text = format!("A queue already exists with the same name and a different value for {different}");
    Err(ServiceError::new(ErrorCode::QueueNameExists, text))
}

impl Serve for DeleteQueue {
    async fn serve(service: &Service, context: &Context, mut input: Self::Input) -> Served<Self> {
        let queue = service.existing_queue(context, &mut input.queue_url)?;
        service.check_access(context, Self::ACTION, &queue)?;
        let arn = queue.arn();
        let account = service.shared.account_of(arn).ok_or_else(|| context.no_such_queue())?;
        {
            // Prevents a concurrent change of the redrive policy from adding a relation for a later queue of the same
            // name.
            let _no_change = account.redrive.lock();
            let now = service.shared.clock.now();
            let deleted = account.directory.write().delete(now, &arn.name);
            deleted.ok_or_else(|| context.no_such_queue())?.close(now);
        }
        service.shared.queues_changed.notify_waiters();
        account.tasks(|tasks| tasks.forget(arn));
        service.shared.denied_deliveries.forget(arn);
        Ok(Self::Output::default())
    }
}

impl Serve for PurgeQueue {
    async fn serve(service: &Service, context: &Context, mut input: Self::Input) -> Served<Self> {
        let queue = service.queue::<Self>(context, &mut input.queue_url)?;
        let purged = queue.with(context, |queue| queue.purge(service.shared.clock.now()))??;
        drop_in_background(purged);
        Ok(Self::Output::default())
    }
}

/// The error of `GetQueueUrl` for an unknown name, which has a text of its own in the Query protocol.
fn no_such_name(context: &Context) -> ServiceError {
    if !context.is_query {
        return context.no_such_queue();
    }
    let text = "The specified queue does not exist or you do not have access to it.";
    ServiceError::new(ErrorCode::QueueDoesNotExist, text)
}

impl Serve for GetQueueUrl {
    async fn serve(service: &Service, context: &Context, input: Self::Input) -> Served<Self> {
        input.validate()?;
        let account = input.queue_owner_aws_account_id().unwrap_or(&context.account);
        let name = input.queue_name().unwrap_or_default();
        let queue = service.found_or_created(context, account, name).ok_or_else(|| no_such_name(context))?;
        context.trace.note_queue(queue.arn());
        service.check_access(context, Self::ACTION, &queue)?;
        Ok(Self::Output::builder().queue_url(context.queue_url(account, name)).build())
    }

    fn queue(input: &Self::Input) -> Option<&str> {
        input.queue_name()
    }

    fn owner(input: &Self::Input) -> Option<&str> {
        input.queue_owner_aws_account_id()
    }
}
