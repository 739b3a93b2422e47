//! Operations from the caller's side, with a virtual clock.

mod access;
mod batches;
mod bounds;
mod changes;
mod dead_letters;
mod deliveries;
mod fortnight;
mod lists;
mod messages;
mod move_tasks;
mod parked;
mod polls;
mod queues;
mod threads;
mod throughput;

use std::sync::Arc;
use std::time::Duration;

use sqs_client::operation::Input;
use sqs_client::operation::InputBuilder;
use sqs_client::operation::Operation;
use sqs_client::operation::create_queue::CreateQueueInput;
use sqs_client::operation::delete_message::DeleteMessageInput;
use sqs_client::operation::get_queue_attributes::GetQueueAttributesInput;
use sqs_client::operation::receive_message::ReceiveMessageInput;
use sqs_client::operation::receive_message::ReceiveMessageOutput;
use sqs_client::operation::receive_message::builders::ReceiveMessageInputBuilder;
use sqs_client::operation::send_message::SendMessageInput;
use sqs_client::operation::send_message::SendMessageOutput;
use sqs_client::operation::send_message::builders::SendMessageInputBuilder;
use sqs_client::types::Message;
use sqs_client::wire::service_error::ErrorCode;
use sqs_client::wire::service_error::ServiceError;
use tokio::task::JoinHandle;

use crate::control::arn::QueueArn;
use crate::control::clock::Timestamp;
use crate::control::seed::Seed;
use crate::sqs::engine::Settings;
use crate::sqs::ops::Context;
use crate::sqs::ops::Serve;
use crate::sqs::service::Service;
use crate::sqs::service::Start;

const ACCOUNT: &str = "000000000000";
const REGION: &str = "us-east-1";
const START: Timestamp = Timestamp::from_millis(1_800_000_000_000);

type Answer<B> =
    Result<<<<B as InputBuilder>::Input as Input>::Operation as Operation>::Output, ServiceError>;

/// A service and a caller.
#[derive(Clone)]
struct Rig {
    service: Arc<Service>,
    context: Context,
}

fn rig() -> Rig {
    rig_with(Settings::default())
}

fn start() -> Start {
    Start { seed: Some(1), time: Some(START), frozen: false, auto_create: false }
}

fn rig_with(settings: Settings) -> Rig {
    let service = Service::new(start(), settings, None);
    let context = Context {
        account: ACCOUNT.to_owned(),
        region: REGION.to_owned(),
        base_url: "http://sqs.test".to_owned(),
        ..Context::default()
    };
    Rig { service: Arc::new(service), context }
}

impl Rig {
    async fn call<B>(&self, input: B) -> Answer<B>
    where
        B: InputBuilder,
        <B::Input as Input>::Operation: Serve,
    {
        let input = input.build().expect("an input");
        <B::Input as Input>::Operation::serve(&self.service, &self.context, input).await
    }

    async fn refusal<B>(&self, input: B) -> (ErrorCode, String)
    where
        B: InputBuilder,
        <B::Input as Input>::Operation: Serve,
    {
        let error = self.call(input).await.expect_err("an error");
        (error.code, error.message.unwrap_or_default())
    }

    /// Creates a queue and returns its URL.
    async fn queue(&self, name: &str, attributes: &[(&str, &str)]) -> String {
        let attributes =
            attributes.iter().map(|(name, value)| ((*name).into(), (*value).to_owned())).collect();
        let input = CreateQueueInput::builder().queue_name(name).set_attributes(Some(attributes));
        self.call(input).await.expect("a queue").queue_url.expect("its URL")
    }

    async fn fifo_queue(&self, name: &str) -> String {
        self.queue(name, &[("FifoQueue", "true"), ("ContentBasedDeduplication", "true")]).await
    }

    async fn send(&self, url: &str, body: &str) -> SendMessageOutput {
        self.call(send(url, body)).await.expect("an accepted message")
    }

    async fn send_to_group(&self, url: &str, group: &str, body: &str) {
        self.call(send(url, body).message_group_id(group)).await.expect("an accepted message");
    }

    /// Receives up to ten messages without waiting.
    async fn receive(&self, url: &str) -> Vec<Message> {
        self.call(receive(url)).await.expect("an answer").messages.unwrap_or_default()
    }

    async fn bodies(&self, url: &str) -> Vec<String> {
        bodies(&self.receive(url).await)
    }

    async fn delete(&self, url: &str, message: &Message) {
        let handle = message.receipt_handle().expect("a handle");
        let input = DeleteMessageInput::builder().queue_url(url).receipt_handle(handle);
        self.call(input).await.expect("a delete");
    }

    async fn attribute(&self, url: &str, name: &str) -> Option<String> {
        let input = GetQueueAttributesInput::builder().queue_url(url).attribute_names(name.into());
        self.call(input).await.expect("attributes").attributes?.remove(&name.into())
    }

    /// Receives in a separate task, which is parked when this returns.
    async fn park(&self, input: ReceiveMessageInputBuilder) -> Parked {
        let rig = self.clone();
        let parked = Parked(tokio::spawn(async move { rig.call(input).await }));
        let_others_run().await;
        parked
    }

    async fn pass(&self, seconds: u64) {
        self.service.clock().advance(Duration::from_secs(seconds));
        let_others_run().await;
    }

    fn now(&self) -> Timestamp {
        self.service.clock().now()
    }
}

/// A receive in another task.
struct Parked(JoinHandle<Result<ReceiveMessageOutput, ServiceError>>);

impl Parked {
    fn is_parked(&self) -> bool {
        !self.0.is_finished()
    }

    async fn answer(self) -> Result<ReceiveMessageOutput, ServiceError> {
        self.0.await.expect("the task does not panic")
    }

    async fn bodies(self) -> Vec<String> {
        bodies(self.answer().await.expect("an answer").messages())
    }
}

/// Yields often enough for woken tasks to run; the clock does not advance.
async fn let_others_run() {
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
}

fn send(url: &str, body: &str) -> SendMessageInputBuilder {
    SendMessageInput::builder().queue_url(url).message_body(body)
}

fn receive(url: &str) -> ReceiveMessageInputBuilder {
    ReceiveMessageInput::builder().queue_url(url).max_number_of_messages(10)
}

fn long_poll(url: &str, seconds: i32) -> ReceiveMessageInputBuilder {
    ReceiveMessageInput::builder().queue_url(url).wait_time_seconds(seconds)
}

fn bodies(messages: &[Message]) -> Vec<String> {
    messages.iter().map(|message| message.body().unwrap_or_default().to_owned()).collect()
}

fn arn(name: &str) -> String {
    QueueArn::new(REGION, ACCOUNT, name).to_string()
}

fn redrive_to(name: &str, max_receive_count: u32) -> String {
    format!(r#"{{"deadLetterTargetArn":"{}","maxReceiveCount":{max_receive_count}}}"#, arn(name))
}
