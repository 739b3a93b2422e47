//! Trace context from senders to handlers. A separate binary, because the propagator is global, and whether a span is
//! enabled is cached for the whole process.

#![cfg(feature = "opentelemetry")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::StreamExt as _;
use opentelemetry::baggage::BaggageExt as _;
use opentelemetry::context::FutureExt as _;
use opentelemetry::propagation::TextMapCompositePropagator;
use opentelemetry::trace::{
    SpanContext, SpanId, TraceContextExt as _, TraceFlags, TraceId, TraceState, TracerProvider as _,
};
use opentelemetry::{Context, KeyValue};
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::propagation::{BaggagePropagator, TraceContextPropagator};
use opentelemetry_sdk::trace::{SdkTracerProvider, SpanData, SpanExporter};
use sqs_buffered::trace_context::extract;
use sqs_buffered::{
    BufferedClient, Consumer, LambdaHandler, Linger, MessageContext, Receiver, SqsEvent, SqsRecord,
    SqsRecordAttribute,
};
use sqs_client::Client;
use sqs_mock_server::MockSqs;
use tokio::sync::Semaphore;
use tracing::Instrument as _;
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::layer::SubscriberExt as _;

/// The spans that have ended.
#[derive(Clone, Debug, Default)]
struct Spans(Arc<Mutex<Vec<SpanData>>>);

impl SpanExporter for Spans {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        self.0.lock().unwrap().extend(batch);
        Ok(())
    }
}

impl Spans {
    /// Converts `tracing` spans into spans of OpenTelemetry while the guard lives.
    fn install(&self) -> DefaultGuard {
        let provider = SdkTracerProvider::builder().with_simple_exporter(self.clone()).build();
        let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("test"));
        tracing::subscriber::set_default(tracing_subscriber::registry().with(layer))
    }

    fn named(&self, name: &str) -> Vec<SpanData> {
        self.0.lock().unwrap().iter().filter(|span| span.name == name).cloned().collect()
    }
}

/// The contexts that handlers have seen: the current one, and that of the message.
type Seen = Arc<Mutex<Vec<(Context, Context)>>>;

fn ids(context: &Context) -> (TraceId, SpanId) {
    let span = context.span().span_context().clone();
    (span.trace_id(), span.span_id())
}

fn remote() -> Context {
    let (trace_id, span_id) = (TraceId::from_bytes([7; 16]), SpanId::from_bytes([8; 8]));
    let span = SpanContext::new(trace_id, span_id, TraceFlags::SAMPLED, false, TraceState::default());
    Context::new().with_remote_span_context(span)
}

async fn queue() -> (MockSqs, Client, String) {
    let server = MockSqs::in_process();
    let client = server.client();
    let url = client.create_queue().queue_name("orders").send().await.unwrap().queue_url.unwrap();
    (server, client, url)
}

/// Consumes this many messages.
async fn consume(client: Client, url: &str, messages: u32) -> Vec<(Context, Context)> {
    let (done, seen) = (Arc::new(Semaphore::new(0)), Seen::default());
    let (is_done, sees) = (Arc::clone(&done), Arc::clone(&seen));
    let consumer = Consumer::builder(client, url)
        .handler(move |context: MessageContext| {
            let (is_done, sees) = (Arc::clone(&is_done), Arc::clone(&sees));
            async move {
                tokio::task::yield_now().await;
                sees.lock().unwrap().push((Context::current(), context.trace_context()));
                is_done.add_permits(1);
            }
        })
        .build()
        .unwrap();
    consumer.run_until(done.acquire_many(messages)).await.unwrap();
    let seen = seen.lock().unwrap();
    seen.clone()
}

#[tokio::test(start_paused = true)]
async fn handlers_get_the_trace_context_of_senders() {
    opentelemetry::global::set_text_map_propagator(TextMapCompositePropagator::new(vec![
        Box::new(TraceContextPropagator::new()),
        Box::new(BaggagePropagator::new()),
    ]));
    handler_is_in_the_trace_of_its_sender().await;
    each_message_of_a_batch_has_the_context_of_its_own_sender().await;
    span_of_a_batch_handler_is_linked_to_all_senders().await;
    handler_runs_in_the_context_of_its_sender_without_tracing().await;
    message_outside_of_a_span_is_sent_as_it_is_and_handled_in_the_context_of_the_run().await;
    receiver_and_lambda_have_the_context().await;
}

async fn handler_is_in_the_trace_of_its_sender() {
    let spans = Spans::default();
    let _guard = spans.install();
    let (_server, client, url) = queue().await;
    let buffered = BufferedClient::new(client.clone());
    buffered.send(&url, "coffee").instrument(tracing::info_span!("order")).await.unwrap();
    // The service runs in a separate span.
    let seen = consume(client, &url, 1).instrument(tracing::info_span!("service")).await;
    let (order, process) = (spans.named("order"), spans.named("sqs.process"));
    let [(own, of_message)] = &*seen else { panic!("{seen:?}") };
    assert_eq!(ids(of_message), (order[0].span_context.trace_id(), order[0].span_context.span_id()));
    assert_eq!(ids(own), (process[0].span_context.trace_id(), process[0].span_context.span_id()));
    assert_eq!(process[0].parent_span_id, order[0].span_context.span_id());
    assert_eq!(process[0].span_context.trace_id(), order[0].span_context.trace_id());
}

async fn each_message_of_a_batch_has_the_context_of_its_own_sender() {
    let spans = Spans::default();
    let _guard = spans.install();
    let (server, client, url) = queue().await;
    let linger = Linger::Fixed(Duration::from_millis(10));
    let buffered = BufferedClient::builder(client).linger(linger).build().unwrap();
    let coffee = buffered.send(&url, "coffee").instrument(tracing::info_span!("coffee"));
    let tea = buffered.send(&url, "tea").instrument(tracing::info_span!("tea"));
    let (coffee, tea) = tokio::join!(coffee, tea);
    assert!(coffee.is_ok() && tea.is_ok());
    assert_eq!(buffered.stats().batches, 1);
    for message in server.queue("orders").messages() {
        let sender = spans.named(message.body()).remove(0).span_context;
        let expected = format!("00-{}-{}-01", sender.trace_id(), sender.span_id());
        let parent = message.payload.attributes().unwrap()["traceparent"].string_value().unwrap().to_owned();
        assert_eq!((parent, message.payload.attributes().unwrap().len()), (expected, 1));
    }
}

async fn span_of_a_batch_handler_is_linked_to_all_senders() {
    let spans = Spans::default();
    let _guard = spans.install();
    let (_server, client, url) = queue().await;
    let buffered = BufferedClient::new(client.clone());
    for name in [tracing::info_span!("coffee"), tracing::info_span!("tea")] {
        buffered.send(&url, "order").instrument(name).await.unwrap();
    }
    buffered.send(&url, "without context").await.unwrap();
    let done = Arc::new(Semaphore::new(0));
    let is_done = Arc::clone(&done);
    let consumer = Consumer::builder(client, &url)
        .batch_handler(move |messages: Vec<MessageContext>| {
            is_done.add_permits(messages.len());
            async {}
        })
        .build()
        .unwrap();
    consumer.run_until(done.acquire_many(3)).await.unwrap();
    let senders = ["coffee", "tea"].map(|name| spans.named(name).remove(0).span_context.span_id());
    let process = spans.named("sqs.process");
    let links = process.iter().flat_map(|span| span.links.iter());
    let mut linked: Vec<_> =
        links.map(|link| link.span_context.span_id()).filter(|id| senders.contains(id)).collect();
    linked.sort_by_key(|id| senders.iter().position(|sender| sender == id));
    assert_eq!((linked, process.len()), (senders.to_vec(), 1), "{process:?}");
}

async fn handler_runs_in_the_context_of_its_sender_without_tracing() {
    let (_server, client, url) = queue().await;
    let buffered = BufferedClient::new(client.clone());
    let sender = remote().with_baggage([KeyValue::new("tenant", "acme")]);
    buffered.send(&url, "coffee").with_context(sender.clone()).await.unwrap();
    let seen = consume(client, &url, 1).await;
    assert_eq!((ids(&seen[0].0), ids(&seen[0].1)), (ids(&sender), ids(&sender)));
    assert_eq!(seen[0].0.baggage().get("tenant").map(opentelemetry::StringValue::as_str), Some("acme"));
}

async fn message_outside_of_a_span_is_sent_as_it_is_and_handled_in_the_context_of_the_run() {
    let (server, client, url) = queue().await;
    BufferedClient::new(client.clone()).send(&url, "coffee").await.unwrap();
    assert!(server.queue("orders").messages()[0].payload.attributes().is_none());
    let seen = consume(client, &url, 1).with_context(remote()).await;
    assert_eq!(ids(&seen[0].0), ids(&remote()));
    assert!(!seen[0].1.has_active_span());
}

async fn receiver_and_lambda_have_the_context() {
    let (_server, client, url) = queue().await;
    let buffered = BufferedClient::new(client);
    buffered.send(&url, "coffee").with_context(remote()).await.unwrap();
    let mut receiver = Receiver::builder(&buffered, &url).start().await.unwrap();
    let received = receiver.next().await.unwrap();
    assert_eq!(ids(&received.trace_context()), ids(&remote()));
    received.ack().await.unwrap();

    let mut record = SqsRecord::default();
    record.message_id.push('1');
    let mut attribute = SqsRecordAttribute::default();
    let (trace_id, span_id) = ids(&remote());
    attribute.string_value = Some(format!("00-{trace_id}-{span_id}-01"));
    attribute.data_type.push_str("String");
    record.message_attributes.insert("traceparent".to_owned(), attribute);
    assert_eq!(ids(&extract(&record.clone().into())), ids(&remote()));
    let mut event = SqsEvent::default();
    event.records.push(record);
    let seen = Seen::default();
    let sees = Arc::clone(&seen);
    let handler = move |context: MessageContext| {
        sees.lock().unwrap().push((Context::current(), context.trace_context()));
        async {}
    };
    assert!(LambdaHandler::new(handler, ()).handle(event).await.batch_item_failures.is_empty());
    let seen = seen.lock().unwrap();
    assert_eq!((ids(&seen[0].0), ids(&seen[0].1)), (ids(&remote()), ids(&remote())));
}
