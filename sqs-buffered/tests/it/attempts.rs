//! All attempts send the same data.

use std::any::Any;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sqs_buffered::{BufferedClient, BufferedClientBuilder, Entry, Linger, SendErrorKind};
use sqs_client::client::{CallOptions, Execute, Retries};
use sqs_client::operation::send_message_batch::SendMessageBatchInput;
use sqs_client::operation::{Action, Operation};
use sqs_client::types::{
    MessageAttributeValue, MessageSystemAttributeNameForSends, MessageSystemAttributeValue,
    QueueAttributeName, SendMessageBatchRequestEntry,
};
use sqs_client::wire::checksum::md5_of_body;
use sqs_client::wire::service_error::ErrorCode;
use sqs_mock_server::faults::{Fault, Request};
use tokio::time::Instant;

use crate::rig::Rig;

/// The fate of a batch in the client below.
#[derive(Clone, Copy, Debug)]
enum Fortune {
    Panic,
    LatePanic,
    /// Never ends.
    Hang,
    /// Never ends, and panics when it is dropped.
    HangAndPanic,
}

/// Panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("on purpose");
    }
}

type Seen = SendMessageBatchRequestEntry;

/// A client that records its inputs.
#[derive(Clone)]
struct Spy {
    inner: sqs_client::Client,
    fortunes: Arc<Mutex<VecDeque<Fortune>>>,
    batches: Arc<Mutex<Vec<Vec<Seen>>>>,
}

impl Spy {
    fn new(rig: &Rig, fortunes: impl IntoIterator<Item = Fortune>) -> Self {
        let fortunes = Arc::new(Mutex::new(fortunes.into_iter().collect()));
        Self { inner: rig.client.clone(), fortunes, batches: Arc::default() }
    }

    fn look(&self, input: &dyn Any) -> Option<Fortune> {
        let batch = input.downcast_ref::<SendMessageBatchInput>()?;
        let places = batch.entries().iter().enumerate();
        assert!(places.into_iter().all(|(place, message)| message.id() == place.to_string()));
        self.batches.lock().unwrap().push(batch.entries().to_vec());
        self.fortunes.lock().unwrap().pop_front()
    }

    fn builder(&self) -> BufferedClientBuilder<Self> {
        BufferedClient::builder(self.clone())
    }

    /// All attempts of each message, by its body.
    fn attempts(&self) -> HashMap<String, Vec<Seen>> {
        let mut attempts: HashMap<String, Vec<Seen>> = HashMap::new();
        for mut seen in self.batches.lock().unwrap().iter().flatten().cloned() {
            seen.id.clear();
            attempts.entry(seen.message_body.clone()).or_default().push(seen);
        }
        attempts
    }

    /// Checks that each attempt of each message has the same data, and that a message had several.
    fn check(&self, given: &HashMap<String, Seen>, what: &str) {
        let attempts = self.attempts();
        assert_eq!(attempts.len(), given.len(), "{what}");
        assert!(attempts.values().any(|attempts| attempts.len() > 1), "{what}");
        for (body, seen) in attempts.iter().flat_map(|(body, seen)| seen.iter().map(move |seen| (body, seen)))
        {
            assert_eq!(*seen, given[body], "{what}");
        }
    }
}

impl Execute for Spy {
    type Error = sqs_client::Error;

    async fn execute<O: Operation>(
        &self,
        input: &O::Input,
        options: CallOptions,
    ) -> Result<O::Output, Self::Error> {
        if options.retries != Retries::Never {
            return self.inner.execute::<O>(input, options).await;
        }
        match self.look(input) {
            Some(Fortune::Panic) => panic!("on purpose"),
            Some(Fortune::LatePanic) => {
                tokio::time::sleep(Duration::from_secs(1)).await;
                panic!("on purpose")
            }
            Some(Fortune::Hang) => std::future::pending().await,
            Some(Fortune::HangAndPanic) => {
                let _bomb = Bomb;
                std::future::pending().await
            }
            None => self.inner.execute::<O>(input, options).await,
        }
    }
}

/// A message with all possible members.
fn message(rig: &Rig, number: usize) -> Entry {
    let mut trace = MessageSystemAttributeValue::default();
    "String".clone_into(&mut trace.data_type);
    trace.string_value = Some(format!("Root=1-5759e988-{number:024}"));
    let entry = Entry::new(&rig.url, format!("message {number} {}", "x".repeat(1_000)))
        .message_attributes("number", MessageAttributeValue::number(number))
        .message_attributes("bytes", MessageAttributeValue::binary(vec![0, 255]))
        .message_system_attributes(MessageSystemAttributeNameForSends::AwsTraceHeader, trace);
    if rig.url.ends_with(".fifo") {
        entry.message_group_id(format!("group-{number}")).message_deduplication_id(format!("id-{number}"))
    } else {
        entry.delay_seconds(0)
    }
}

fn seen(entry: &Entry) -> (String, Seen) {
    (entry.message().message_body.clone(), entry.message().clone())
}

/// Sends messages, all of which are accepted eventually.
async fn send(count: usize, rig: &Rig, spy: &Spy, what: &str) {
    let buffered = spy.builder().build().unwrap();
    let entries: Vec<_> = (0..count).map(|number| message(rig, number)).collect();
    let given: HashMap<_, _> = entries.iter().map(seen).collect();
    let md5s: Vec<_> = entries.iter().map(|entry| md5_of_body(entry.message().message_body())).collect();
    let ends = futures_util::future::join_all(entries.into_iter().map(|entry| buffered.send_entry(entry)));
    for (end, md5) in ends.await.into_iter().zip(md5s) {
        let receipt = end.unwrap_or_else(|error| panic!("{what}: {error:?}"));
        assert_eq!(receipt.md5_of_message_body, md5.as_str(), "{what}: the receipt of another message");
    }
    spy.check(&given, what);
}

#[tokio::test(start_paused = true)]
async fn each_attempt_sends_the_same_message() {
    let faults = [
        Fault::throttle(),
        Fault::error(ErrorCode::InternalFailure),
        Fault::error(ErrorCode::BatchRequestTooLong),
        Fault::status(503, "busy"),
        Fault::reset_before(),
        Fault::reset_after(),
        Fault::truncate(),
        Fault::omit_entries(),
        Fault::fail_entries(ErrorCode::InternalFailure),
    ];
    for fault in faults {
        for rig in [Rig::standard().await, Rig::fifo().await] {
            let struck = rig.server.faults().inject(fault.clone().on(Action::SendMessageBatch).times(1));
            let spy = Spy::new(&rig, []);
            send(10, &rig, &spy, &format!("{} {fault:?}", rig.url)).await;
            assert_eq!(struck.hits(), 1);
        }
    }
    for (fortune, count) in
        [(Fortune::Panic, 1), (Fortune::Panic, 10), (Fortune::LatePanic, 1), (Fortune::LatePanic, 10)]
    {
        for rig in [Rig::standard().await, Rig::fifo().await] {
            let spy = Spy::new(&rig, [fortune; 2]);
            send(count, &rig, &spy, &format!("{} {fortune:?}", rig.url)).await;
        }
    }
}

/// One message waits so long that its request is abandoned while the other has time left.
#[tokio::test(start_paused = true)]
async fn abandoned_request_returns_its_entries() {
    let rig = Rig::standard().await;
    let throttled = rig.server.faults().inject(Fault::throttle());
    let spy = Spy::new(&rig, []);
    let buffered = spy
        .builder()
        .linger(Linger::Fixed(Duration::from_secs(5)))
        .attempt_timeout(Duration::MAX)
        .build()
        .unwrap();
    let (start, entries) = (Instant::now(), [message(&rig, 0), message(&rig, 1)]);
    let given: HashMap<_, _> = entries.iter().map(seen).collect();
    let [first, second] = entries;
    let first = buffered.enqueue(first).await.unwrap();
    tokio::time::sleep(Duration::from_secs(70)).await;
    let second = buffered.enqueue(second).await.unwrap();
    throttled.remove();
    spy.fortunes.lock().unwrap().push_back(Fortune::Hang);
    let error = first.await.unwrap_err();
    assert_eq!((error.kind(), error.is_outcome_unknown()), (SendErrorKind::Timeout, true));
    assert_eq!(start.elapsed(), Duration::from_secs(180), "the deadline, and a minute");
    assert!(second.await.unwrap().maybe_duplicate);
    let both = spy.batches.lock().unwrap().iter().filter(|batch| batch.len() == 2).count();
    assert_eq!(
        (both, spy.attempts()[given.keys().max().unwrap()].len()),
        (1, 2),
        "one hangs, the next is accepted"
    );
    spy.check(&given, "given up");
}

#[tokio::test(start_paused = true)]
async fn request_that_panics_when_abandoned_does_not_end_its_lane() {
    for count in [1, 10] {
        let rig = Rig::standard().await;
        let spy = Spy::new(&rig, [Fortune::HangAndPanic]);
        let buffered = spy.builder().attempt_timeout(Duration::MAX).build().unwrap();
        let (start, sends) =
            (Instant::now(), (0..count).map(|number| buffered.send_entry(message(&rig, number))));
        for end in futures_util::future::join_all(sends).await {
            let error = end.unwrap_err();
            assert_eq!((error.kind(), error.is_outcome_unknown()), (SendErrorKind::Aborted, true));
        }
        assert_eq!((start.elapsed(), rig.bodies().len()), (Duration::from_secs(180), 0));
        buffered.send(&rig.url, "tea").await.unwrap();
        assert_eq!(buffered.stats().batches_in_flight, 0);
    }
}

/// Whether the queue has content-based deduplication, whether access to its attributes is denied, and which attempts
/// have an id. If an id is missing but required, SQS refuses the first attempt. The response to the next one is lost.
#[tokio::test(start_paused = true)]
async fn first_request_that_may_store_a_message_decides_its_deduplication_id() {
    for (by_content, is_denied, with_id) in [
        ("true", false, [false, false].as_slice()),
        ("true", true, &[false, false]),
        ("false", false, &[true, true]),
        ("false", true, &[false, true, true]),
    ] {
        let attributes = [
            (QueueAttributeName::FifoQueue, "true"),
            (QueueAttributeName::ContentBasedDeduplication, by_content),
        ];
        let rig = Rig::of("q.fifo", 7, &attributes).await;
        if is_denied {
            let denial = Fault::error(ErrorCode::AccessDenied);
            rig.server.faults().inject(denial.on(Action::GetQueueAttributes));
        }
        let is_taken = move |request: &Request<'_>| {
            by_content == "true" || request.entries.iter().all(|entry| entry.deduplication_id.is_some())
        };
        let lost = Fault::reset_after().on(Action::SendMessageBatch).when(is_taken).times(1);
        rig.server.faults().inject(lost);
        let spy = Spy::new(&rig, []);
        let entry = Entry::new(&rig.url, "tea").message_group_id("g");
        let (body, given) = seen(&entry);
        spy.builder().build().unwrap().send_entry(entry).await.unwrap();
        let attempts = spy.attempts().remove(&body).unwrap();
        let has_id = |seen: &Seen| seen.message_deduplication_id().is_some();
        assert_eq!(attempts.iter().map(has_id).collect::<Vec<_>>(), with_id, "{by_content} {is_denied}");
        let ids: HashSet<_> = attempts.iter().filter_map(|seen| seen.message_deduplication_id()).collect();
        assert!(ids.len() <= 1, "{ids:?}");
        for mut message in attempts {
            message.message_deduplication_id = None;
            assert_eq!(message, given);
        }
        assert_eq!(rig.bodies(), ["tea"]);
    }
}

#[tokio::test(start_paused = true)]
async fn client_that_generates_deduplication_ids_stores_no_second_copy() {
    let rig = Rig::of("q.fifo", 1, &crate::fifo::BY_CONTENT).await;
    let config = rig.server.client_config().deduplication_ids(sqs_client::config::DeduplicationIds::Generate);
    let lost = rig.server.faults().inject(Fault::reset_after().on(Action::SendMessageBatch).times(3));
    let buffered = sqs_buffered::BufferedClient::new(sqs_client::Client::from_conf(config.build()));
    buffered.send_entry(Entry::new(&rig.url, "tea").message_group_id("g")).await.unwrap();
    assert_eq!((lost.hits(), rig.bodies().len()), (3, 1));
}
