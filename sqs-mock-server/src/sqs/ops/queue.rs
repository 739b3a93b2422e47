//! Creating, finding, purging and deleting queues.

use sqs_client::wire::validate::Validate as _;
use std::sync::Arc;

use sqs_client::operation::create_queue::CreateQueue;
use sqs_client::operation::delete_queue::DeleteQueue;
use sqs_client::operation::get_queue_attributes::GetQueueAttributes;
use sqs_client::operation::get_queue_url::GetQueueUrl;
use sqs_client::operation::list_dead_letter_source_queues::ListDeadLetterSourceQueues;
use sqs_client::operation::list_queue_tags::ListQueueTags;
use sqs_client::operation::list_queues::ListQueues;
use sqs_client::operation::purge_queue::PurgeQueue;
use sqs_client::operation::set_queue_attributes::SetQueueAttributes;
use sqs_client::operation::tag_queue::TagQueue;
use sqs_client::operation::untag_queue::UntagQueue;
use sqs_client::operation::{Action, Operation as _};
use sqs_client::types::QueueAttributeName;
use sqs_client::wire::limits::LIST_RESULTS;
use sqs_client::wire::service_error::{ErrorCode, ServiceError};
use sqs_client::wire::validate;
use sqs_client::wire::validate::error;

use crate::control::arn::{QueueArn, is_fifo_name};
use crate::sqs::engine::attributes::{Attributes, Requested, Tags};
use crate::sqs::engine::change::{Creation, QueueId};
use crate::sqs::engine::directory::Page;
use crate::sqs::engine::queue::Queue;
use crate::sqs::engine::redrive::RedrivePolicy;
use crate::sqs::findings::Review;
use crate::sqs::locked_queue::{SharedQueue, drop_in_background};
use crate::sqs::ops::{Context, Serve, Served, built};
use crate::sqs::service::{Service, Shared};

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
            let too_soon = create(&service.shared, &arn, &attributes, &tags, &requested)?;
            service.report_too_soon(context, &arn, too_soon);
        }
        Ok(Self::Output::builder().queue_url(context.queue_url(&context.account, &name)).build())
    }

    fn queue(input: &Self::Input) -> Option<&str> {
        input.queue_name()
    }
}

/// Creates a queue, unless another request has just created it. Returns what AWS would have answered if it was too soon.
pub(crate) fn create(
    shared: &Shared,
    arn: &QueueArn,
    attributes: &Attributes,
    tags: &Tags,
    requested: &Requested,
) -> Result<Option<ServiceError>, ServiceError> {
    if let Some(policy) = &attributes.redrive {
        check_redrive(shared, arn, policy)?;
    }
    let now = shared.clock.now();
    let quota_share = shared.quota.take()?;
    let (existing, too_soon) = loop {
        let account = shared.accounts.get_or_new(&arn.region, &arn.account);
        let mut directory = account.directory.write();
        // A reset has removed the account since.
        if account.is_closed() {
            continue;
        }
        let too_soon = directory.too_soon_to_create(now, &arn.name);
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
        break (existing, too_soon);
    };
    if let Some(existing) = existing {
        check_equal(&existing, (attributes, requested), tags)?;
        return Ok(None);
    }
    shared.queues_changed.notify_waiters();
    Ok(too_soon)
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
        let now = service.shared.clock.now();
        let (purged, too_soon) = queue.with(context, |queue| {
            let too_soon = queue.too_soon_to_purge(now);
            queue.purge(now).map(|purged| (purged, too_soon))
        })??;
        drop_in_background(purged);
        service.report_too_soon(context, queue.arn(), too_soon);
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
        let queue = service.found_or_created(context, account, name).ok_or_else(|| {
            service.not_found(context, Some(&format!("{account}/{name}")));
            no_such_name(context)
        })?;
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

impl Service {
    /// Whether an action can change anything. With creation on first use, naming a queue can create it.
    pub(crate) fn changes(&self, action: Action) -> bool {
        match action {
            Action::ListQueues | Action::ListMessageMoveTasks => false,
            Action::GetQueueAttributes
            | Action::GetQueueUrl
            | Action::ListDeadLetterSourceQueues
            | Action::ListQueueTags => self.start.auto_create,
            _ => true,
        }
    }

    fn report_too_soon(&self, context: &Context, queue: &QueueArn, error: Option<ServiceError>) {
        if let Some(error) = error {
            Review { shared: &self.shared, context, now: self.shared.clock.now() }.too_soon(queue, &error);
        }
    }

    /// A queue in the caller's region. `None` if it does not exist and is not created: creation on first use is off,
    /// the name is invalid, or the queue was deleted less than 60 seconds ago and the one-minute rules hold.
    pub(crate) fn found_or_created(
        &self,
        context: &Context,
        account: &str,
        name: &str,
    ) -> Option<Arc<SharedQueue>> {
        let found = self.shared.find(&context.region, account, name);
        if found.is_some() || !self.start.auto_create || validate::queue::name(name).is_err() {
            return found;
        }
        let arn = QueueArn::new(&context.region, account, name);
        let kind = is_fifo_name(name).then(|| (QueueAttributeName::FifoQueue, "true".to_owned()));
        let attributes = Attributes::create(name, &kind.into_iter().collect()).ok()?;
        // The requested attributes are empty, so a queue that another request has just created is accepted.
        let too_soon = create(&self.shared, &arn, &attributes, &Tags::default(), &Requested::new()).ok()?;
        self.report_too_soon(context, &arn, too_soon);
        tracing::info!(name, account, region = %context.region, "created on demand");
        self.shared.find(&context.region, account, name)
    }
}

impl Serve for ListQueues {
    async fn serve(service: &Service, context: &Context, input: Self::Input) -> Served<Self> {
        input.validate()?;
        let after = input.next_token().map(read_token).transpose()?;
        let prefix = input.queue_name_prefix().unwrap_or_default();
        let page = match service.shared.account(&context.region, &context.account) {
            Some(account) => {
                account.directory.read().list(prefix, after.as_deref(), page_size(input.max_results))
            }
            None => Page::default(),
        };
        let urls = urls(context, &context.account, &page);
        Ok(Self::Output::builder()
            .set_queue_urls(Some(urls).filter(|urls| !urls.is_empty()))
            .set_next_token(next_token(&page, input.max_results))
            .build())
    }
}

impl Serve for ListDeadLetterSourceQueues {
    async fn serve(service: &Service, context: &Context, mut input: Self::Input) -> Served<Self> {
        let queue = service.queue::<Self>(context, &mut input.queue_url)?;
        input.validate()?;
        let after = input.next_token().map(read_token).transpose()?;
        let arn = queue.arn();
        let page = match service.shared.account_of(arn) {
            Some(account) => {
                account.directory.read().sources_of(&arn.name, after.as_deref(), page_size(input.max_results))
            }
            None => Page::default(),
        };
        let output = Self::Output::builder()
            .set_queue_urls(Some(urls(context, &arn.account, &page)))
            .set_next_token(next_token(&page, input.max_results));
        built(output.build())
    }
}

fn page_size(max_results: Option<i32>) -> usize {
    usize::try_from(max_results.unwrap_or(*LIST_RESULTS.end())).unwrap_or(0)
}

fn urls(context: &Context, account: &str, page: &Page) -> Vec<String> {
    page.names.iter().map(|name| context.queue_url(account, name)).collect()
}

/// The last name of the page: queues that are created or deleted meanwhile neither repeat nor hide others. A token is
/// returned only with `MaxResults`.
fn next_token(page: &Page, max_results: Option<i32>) -> Option<String> {
    let last = page.names.last().filter(|_| page.more && max_results.is_some())?;
    Some(base64_simd::STANDARD.encode_to_string(last.as_bytes()))
}

fn read_token(token: &str) -> Result<String, ServiceError> {
    let name = base64_simd::STANDARD.decode_to_vec(token).ok().and_then(|name| String::from_utf8(name).ok());
    name.ok_or_else(|| error::invalid_value("NextToken", token, "It was not returned by this service."))
}

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
pub(crate) fn check_redrive(
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
