//! Spans, with the names of OpenTelemetry's messaging conventions. A separate binary, because whether a span is enabled
//! is cached for the whole process.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sqs_buffered::{BufferedClient, Consumer, Entry, Linger, Outcome};
use sqs_client::config::retry::RetryConfig;
use sqs_client::types::{MessageSystemAttributeNameForSends, MessageSystemAttributeValue};
use sqs_client::wire::service_error::ErrorCode;
use sqs_mock_server::MockSqs;
use sqs_mock_server::faults::Fault;
use tokio::sync::Semaphore;
use tracing::span::Id;
use tracing::{Instrument as _, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::layer::{Context, SubscriberExt as _};
use tracing_subscriber::registry::LookupSpan;

/// Text written by the subscriber.
#[derive(Clone, Default)]
struct Text(Arc<Mutex<Vec<u8>>>);

impl io::Write for Text {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Which span follows from which, by name.
#[derive(Clone, Default)]
struct Links(Arc<Mutex<Vec<(&'static str, &'static str)>>>);

impl<S: Subscriber + for<'s> LookupSpan<'s>> Layer<S> for Links {
    fn on_follows_from(&self, span: &Id, follows: &Id, context: Context<'_, S>) {
        let name = |id| context.span(id).map_or("none", |span| span.name());
        self.0.lock().unwrap().push((name(span), name(follows)));
    }
}

fn line(text: &str, parts: &[&str]) -> bool {
    text.lines().any(|line| parts.iter().all(|part| line.contains(part)))
}

#[tokio::test(start_paused = true)]
async fn sends_receives_and_handlers_have_spans() {
    receive_process_and_settle().await;
    send_follows_from_its_callers().await;
    failures_that_nobody_awaits_are_logged().await;
    outage_is_one_line_at_its_start_and_one_at_its_end().await;
}

async fn outage_is_one_line_at_its_start_and_one_at_its_end() {
    let text = Text::default();
    let writer = text.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::INFO)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    let guard = tracing::subscriber::set_default(subscriber);
    let server = MockSqs::in_process();
    let client = server.client();
    let url = client.create_queue().queue_name("jobs").send().await.unwrap().queue_url.unwrap();
    let outage = server.faults().inject(Fault::status(503, "down"));
    let config = server.client_config().retry_config(RetryConfig::disabled());
    let buffered = BufferedClient::new(sqs_client::Client::from_conf(config.build()));
    let consumer = Consumer::builder_with(&buffered, &url)
        .visibility_timeout(Duration::from_secs(30))
        .concurrency(100)
        .message_handler(|_, _| async { Ok(Outcome::Ack) })
        .build()
        .unwrap();
    let end = async {
        let ticket = buffered.enqueue(Entry::new(&url, "tea")).await.unwrap();
        tokio::time::sleep(Duration::from_secs(60)).await;
        outage.remove();
        ticket.await.unwrap();
        tokio::time::sleep(Duration::from_secs(60)).await;
    };
    let report = consumer.run_until(end).await.unwrap();
    assert!(report.stats.receive_errors > 10, "{report:?}");
    drop(guard);
    let text = String::from_utf8(text.0.lock().unwrap().clone()).unwrap();
    let count =
        |parts: &[&str]| text.lines().filter(|line| parts.iter().all(|part| line.contains(part))).count();
    for parts in [
        ["WARN", "receives fail", "503"].as_slice(),
        &["INFO", "receives succeed again"],
        &["WARN", "all requests fail", "SendMessageBatch", "503"],
        &["INFO", "requests succeed again", "SendMessageBatch"],
        &["INFO", "shutting down", "receives=10"],
    ] {
        assert_eq!(count(parts), 1, "{parts:?}: {text}");
    }
    assert_eq!(count(&["WARN", "sqs_buffered"]), 2, "{text}");
}

async fn failures_that_nobody_awaits_are_logged() {
    let server = MockSqs::in_process();
    let client = server.client();
    let url = client.create_queue().queue_name("jobs").send().await.unwrap().queue_url.unwrap();
    server.faults().inject(Fault::fail_entries(ErrorCode::InvalidMessageContents));
    let entry = || Entry::new(&url, "bad");
    let watched = BufferedClient::builder(client.clone()).on_event(|_| {}).build().unwrap();
    for (buffered, is_logged) in [(BufferedClient::new(client), true), (watched, false)] {
        for (how, expected) in [("detached", 1), ("dropped before", 1), ("dropped after", 1), ("awaited", 0)]
        {
            let text = Text::default();
            let writer = text.clone();
            let subscriber = tracing_subscriber::fmt()
                .with_max_level(tracing::Level::WARN)
                .with_ansi(false)
                .with_writer(move || writer.clone())
                .finish();
            let guard = tracing::subscriber::set_default(subscriber);
            match how {
                "detached" => buffered.send_detached(entry()).await.unwrap(),
                "dropped before" => drop(buffered.enqueue(entry()).await.unwrap()),
                "dropped after" => {
                    let ticket = buffered.enqueue(entry()).await.unwrap();
                    buffered.flush().await;
                    drop(ticket);
                }
                _ => drop(buffered.enqueue(entry()).await.unwrap().await.unwrap_err()),
            }
            buffered.flush().await;
            drop(guard);
            let text = String::from_utf8(text.0.lock().unwrap().clone()).unwrap();
            let lines = text.lines().filter(|line| line.contains("nobody awaited its ticket"));
            assert_eq!(lines.count(), if is_logged { expected } else { 0 }, "{how}, {is_logged}: {text}");
        }
    }
}

async fn send_follows_from_its_callers() {
    let (text, links) = (Text::default(), Links::default());
    let writer = text.clone();
    let format = tracing_subscriber::fmt::layer()
        .with_span_events(FmtSpan::CLOSE)
        .with_ansi(false)
        .with_writer(move || writer.clone());
    let subscriber = tracing_subscriber::registry().with(format).with(links.clone());
    let guard = tracing::subscriber::set_default(subscriber);
    let server = MockSqs::in_process();
    let client = server.client();
    let url = client.create_queue().queue_name("orders").send().await.unwrap().queue_url.unwrap();
    let linger = Linger::Fixed(Duration::from_millis(10));
    let buffered = BufferedClient::builder(client).linger(linger).build().unwrap();
    let coffee = buffered.send(&url, "coffee").instrument(tracing::info_span!("coffee"));
    let tea = buffered.send(&url, "tea").instrument(tracing::info_span!("tea"));
    let (coffee, tea) = tokio::join!(coffee, tea);
    assert!(coffee.is_ok() && tea.is_ok());
    drop(guard);
    assert_eq!(*links.0.lock().unwrap(), [("sqs.batch", "coffee"), ("sqs.batch", "tea")]);
    let text = String::from_utf8(text.0.lock().unwrap().clone()).unwrap();
    let parts = [
        "sqs.batch{",
        r#"operation.name="SendMessageBatch""#,
        r#"operation.type="send""#,
        r#"destination.name="orders""#,
        "message_count=2",
    ];
    assert!(line(&text, &parts), "{text}");
}

async fn receive_process_and_settle() {
    let text = Text::default();
    let writer = text.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::DEBUG)
        .with_span_events(FmtSpan::CLOSE)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    let links = Links::default();
    let subscriber = subscriber.with(links.clone());
    let guard = tracing::subscriber::set_default(subscriber);
    let server = MockSqs::in_process();
    let client = server.client();
    let url = client.create_queue().queue_name("jobs").send().await.unwrap().queue_url.unwrap();
    let mut header = MessageSystemAttributeValue::default();
    (header.data_type, header.string_value) = ("String".into(), Some("Root=1-abc".into()));
    let send = client.send_message().queue_url(&url).message_body("1");
    let name = MessageSystemAttributeNameForSends::AwsTraceHeader;
    send.message_system_attributes(name, header).send().await.unwrap();
    let done = Arc::new(Semaphore::new(0));
    let finished = Arc::clone(&done);
    let consumer = Consumer::builder(client, &url)
        .message_handler(move |_, _| {
            let finished = Arc::clone(&finished);
            async move {
                tracing::info!("inside the handler");
                finished.add_permits(1);
                Ok(Outcome::Ack)
            }
        })
        .build()
        .unwrap();
    consumer.run_until(done.acquire()).await.unwrap();
    drop(guard);
    let text = String::from_utf8(text.0.lock().unwrap().clone()).unwrap();
    let line = |parts: &[&str]| line(&text, parts);
    assert!(line(&[
        "sqs.receive{",
        r#"operation.type="receive""#,
        r#"destination.name="jobs""#,
        "message_count=1"
    ]));
    assert!(line(&["sqs.process{", r#"operation.type="process""#, "message.id=", "inside the handler"]));
    assert!(line(&["sqs.process{", r#"aws.xray.trace_header="Root=1-abc""#]), "{text}");
    let links = links.0.lock().unwrap();
    assert!(links.contains(&("sqs.process", "sqs.receive")), "{links:?}");
    assert!(links.contains(&("sqs.batch", "sqs.settle")), "{links:?}");
    assert!(line(&["sqs.settle{", r#"operation.name="delete""#, r#"operation.type="settle""#]), "{text}");
}
