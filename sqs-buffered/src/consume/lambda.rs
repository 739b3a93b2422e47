//! Runs a handler for the SQS events of AWS Lambda.
//!
//! ```text
//! event -> lines (one per FIFO group, else one per message) -> run concurrently, each line in order -> failures
//! ```

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::iter;
use sqs_client::client::Execute;
use sqs_client::lambda::{SqsBatchResponse, SqsEvent, SqsRecord};
use sqs_client::types::Message;
use tokio::time::{Instant, timeout_at};

use crate::consume::extract::MessageContext;
use crate::consume::handler::{AnyHandler, Handler, HandlerFailure, HandlerTask};
use crate::consume::settle::{HandlerError, Outcome};
use crate::span::messaging_span;
use crate::time::after;
use crate::trace_context::SenderContext;

/// How many handlers run at a time by default.
const CONCURRENCY: usize = 10;

/// The message attributes by which the extended libraries mark a body that is a pointer to the payload.
const POINTER_ATTRIBUTES: [&str; 2] = ["ExtendedPayloadSize", "SQSLargePayloadSize"];

/// Runs a [handler](Handler) for the SQS events of AWS Lambda. The same handler can run in a [`Consumer`](crate::consume::consumer::Consumer).
///
/// **Enable partial failures** in the event source mapping: `FunctionResponseTypes` = `ReportBatchItemFailures`. Without
/// it, Lambda ignores the [response](SqsBatchResponse) and deletes failed messages too.
///
/// Messages of a standard queue run concurrently, up to the [concurrency](Self::concurrency). On a FIFO queue, groups run
/// concurrently, and the messages of a group in order. After a failure, the rest of the group does not run and is reported as
/// failed, which keeps the order of the group; other groups continue.
///
/// [`Outcome::Ack`] is success. Every other outcome, an error and a panic are failures: the message becomes visible
/// again when its visibility timeout is over, and the redrive policy of the queue moves it to the dead-letter queue.
/// The pauses of [`Outcome::Nack`] and [`Outcome::Retry`] and the reason of [`Outcome::DeadLetter`] do not reach SQS.
/// If payloads are in a store, [set the client](Self::open_with) that loads them.
///
/// There is no [`Lease`](crate::receive::lease::Lease), because Lambda keeps the messages hidden while the function runs; take
/// `Option<Lease>`.
///
/// With the crate `lambda_runtime`:
///
/// ```ignore
/// use lambda_runtime::{Error, LambdaEvent, service_fn};
/// use sqs_buffered::{LambdaHandler, SqsEvent};
///
/// #[tokio::main]
/// async fn main() -> Result<(), Error> {
///     let handler = LambdaHandler::new(cook, database().await?);
///     lambda_runtime::run(service_fn(async |event: LambdaEvent<SqsEvent>| {
///         let left = event.context.deadline().duration_since(std::time::SystemTime::now())?;
///         Ok::<_, Error>(handler.handle_within(left, event.payload).await)
///     }))
///     .await
/// }
/// ```
///
/// Source: <https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html>
#[derive(Clone, Debug)]
pub struct LambdaHandler {
    handler: AnyHandler,
    opener: Option<AnyOpener>,
    concurrency: usize,
    margin: Duration,
}

type Opening = BoxFuture<'static, Result<Message, HandlerError>>;

/// Opens messages with a client of any type.
#[derive(Clone)]
struct AnyOpener(Arc<dyn Fn(Message) -> Opening + Send + Sync>);

impl fmt::Debug for AnyOpener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AnyOpener")
    }
}

impl LambdaHandler {
    /// Wraps a handler with its state. Pass `()` if the handler has no state.
    pub fn new<A, S, F>(handler: F, state: S) -> Self
    where
        F: Handler<A, S>,
        S: Send + Sync + 'static,
    {
        Self {
            handler: AnyHandler::new(handler, state),
            opener: None,
            concurrency: CONCURRENCY,
            margin: Duration::from_millis(500),
        }
    }

    /// Sets the client that opens each message before its handler runs, such as one of
    /// [sqs-extended](https://docs.rs/sqs-extended), which loads payloads from a store. A message that cannot be opened is reported as
    /// failed. Lambda deletes the handled messages itself; their stored payloads stay.
    ///
    /// Without such a client, a message with the attribute `ExtendedPayloadSize` or `SQSLargePayloadSize` fails, and its handler does not
    /// run: its body is only a pointer to the payload. A function that streams payloads itself reads
    /// the event without this type. A pointer within an SNS notification (without raw message delivery) is not detected.
    pub fn open_with<H: Execute>(mut self, client: H) -> Self {
        self.opener = Some(AnyOpener(Arc::new(move |mut message| {
            let client = client.clone();
            Box::pin(async move {
                client.open(&mut message).await?;
                Ok(message)
            })
        })));
        self
    }

    /// Sets how many messages run at a time: 10 by default; 0 counts as 1.
    pub fn concurrency(mut self, messages: usize) -> Self {
        self.concurrency = messages.max(1);
        self
    }

    /// Sets how long before the end of [`handle_within`](Self::handle_within) handlers are stopped, so that the response
    /// arrives in time: 500 ms by default.
    pub fn margin(mut self, margin: Duration) -> Self {
        self.margin = margin;
        self
    }

    /// Handles the messages of an event. A Lambda function that exceeds its timeout reports nothing, and SQS delivers
    /// all messages of the event again: prefer [`handle_within`](Self::handle_within).
    ///
    /// # Cancel safety
    /// If the future is dropped, running handlers are stopped.
    pub async fn handle(&self, event: SqsEvent) -> SqsBatchResponse {
        self.run(event, None).await
    }

    /// Handles the messages of an event within the remaining time of the invocation, minus the [margin](Self::margin). Then
    /// running handlers are stopped; their messages and those that have not started are reported as failed.
    ///
    /// # Cancel safety
    /// If the future is dropped, running handlers are stopped.
    pub async fn handle_within(&self, left: Duration, event: SqsEvent) -> SqsBatchResponse {
        self.run(event, Some(after(Instant::now(), left.saturating_sub(self.margin)))).await
    }

    async fn run(&self, event: SqsEvent, deadline: Option<Instant>) -> SqsBatchResponse {
        let records = event.records;
        let running = iter(lines(&records)).map(|line| self.run_line(line, deadline));
        let failed: Vec<_> = running.buffer_unordered(self.concurrency).concat().await;
        SqsBatchResponse::failed(failed.into_iter().map(|record| &record.message_id))
    }

    /// Runs messages one after the other. Returns the first that fails and those behind it.
    async fn run_line<'r>(&self, line: Vec<&'r SqsRecord>, deadline: Option<Instant>) -> Vec<&'r SqsRecord> {
        for (index, record) in line.iter().enumerate() {
            if let Err(error) = self.run_one(record, deadline).await {
                let not_run = line.len() - index - 1;
                tracing::warn!(message_id = record.message_id, %error, not_run, "a message is reported as failed");
                return line[index..].to_vec();
            }
        }
        Vec::new()
    }

    async fn run_one(&self, record: &SqsRecord, deadline: Option<Instant>) -> Result<(), HandlerError> {
        if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
            return Err("the invocation has no time left".into());
        }
        let message = Message::from(record.clone());
        let sender = SenderContext::of(&message);
        let queue = record.event_source_arn.rsplit(':').next().unwrap_or_default();
        let span = sender.scope(|| {
            messaging_span!(INFO "sqs.process", "consumer", "process", "process", queue,
                messaging.message.id = &*record.message_id,
                aws.xray.trace_header = record.attributes.get("AWSTraceHeader").map(String::as_str))
        });
        let (handler, opener) = (self.handler.clone(), self.opener.clone());
        // Opened in the task, so that the deadline stops it, and a panic of the client is an error of this message.
        let task = HandlerTask::spawn(sender, span, move || async move {
            let context = MessageContext::new(opened(message, opener).await?);
            handler.call(deadline.into_iter().fold(context, MessageContext::with_deadline)).await
        });
        let ended = match deadline {
            Some(deadline) => timeout_at(deadline, task).await,
            None => Ok(task.await),
        };
        match ended {
            Ok(Ok(Outcome::Ack)) => Ok(()),
            Ok(Ok(outcome)) => Err(format!("the handler returned {outcome:?}").into()),
            Ok(Err(HandlerFailure::Error(error))) => Err(error),
            Ok(Err(failure)) => Err(failure.to_string().into()),
            Err(_) => Err("the handler was stopped because the invocation has no time left".into()),
        }
    }
}

/// The message with its payload.
async fn opened(message: Message, opener: Option<AnyOpener>) -> Result<Message, HandlerError> {
    let message = match opener {
        Some(AnyOpener(open)) => open(message).await?,
        None => message,
    };
    // A client that loads the payload removes the attribute.
    let is_marked =
        |name: &&&str| message.message_attributes().is_some_and(|attributes| attributes.contains_key(**name));
    match POINTER_ATTRIBUTES.iter().find(is_marked) {
        Some(name) => Err(format!(
            "the message has the attribute {name}: its body is a pointer to the payload in a store; set the client that loads it \
             with LambdaHandler::open_with"
        )
        .into()),
        None => Ok(message),
    }
}

/// Messages that run one after the other, in the order of their first messages: the groups of FIFO queues, and on standard
/// queues the deliveries of one message.
fn lines(records: &[SqsRecord]) -> Vec<Vec<&SqsRecord>> {
    let mut lines: Vec<Vec<_>> = Vec::new();
    let mut of_names = HashMap::new();
    for record in records {
        // SQS always sends a group id. Without one, all messages form one group, so that their order is kept.
        let name = if record.is_fifo() { record.group_id() } else { Some(&*record.message_id) };
        let line = *of_names.entry((&*record.event_source_arn, name)).or_insert(lines.len());
        if line == lines.len() {
            lines.push(Vec::new());
        }
        lines[line].push(record);
    }
    lines
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn error_of_a_pointer_names_its_attribute_and_the_setting() {
        let record = json!({
            "messageId": "a",
            "body": "pointer",
            "messageAttributes": {"SQSLargePayloadSize": {"stringValue": "300000", "dataType": "Number"}},
        });
        let record: SqsRecord = serde_json::from_value(record).expect("a record");
        let handler = LambdaHandler::new(async || {}, ());
        let error = handler.run_one(&record, None).await.expect_err("a pointer").to_string();
        assert!(error.contains("the attribute SQSLargePayloadSize"), "{error}");
        assert!(error.contains("LambdaHandler::open_with"), "{error}");
    }
}
