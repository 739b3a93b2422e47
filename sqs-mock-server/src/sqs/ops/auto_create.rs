//! Queues that are created on first use, if the server is configured to.

use std::sync::Arc;

use sqs_client::operation::Action;
use sqs_client::types::QueueAttributeName;
use sqs_client::wire::validate;

use super::queue::create;
use super::shared::SharedQueue;
use super::{Context, Service};
use crate::service::arn::{QueueArn, is_fifo_name};
use crate::sqs::engine::attributes::Requested;
use crate::sqs::engine::{Attributes, Tags};

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

    /// A queue in the caller's region. `None` if it does not exist and is not created: creation on first use is off,
    /// the name is invalid, or the queue was deleted less than 60 seconds ago.
    pub(super) fn found_or_created(
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
        create(&self.shared, &arn, &attributes, &Tags::default(), &Requested::new()).ok()?;
        tracing::info!(name, account, region = %context.region, "created on demand");
        self.shared.find(&context.region, account, name)
    }
}
