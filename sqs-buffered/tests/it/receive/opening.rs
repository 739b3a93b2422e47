//! A client below that opens messages, and one that does not answer.

use std::any::Any;
use std::fmt;
use std::future::pending;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::StreamExt as _;
use sqs_buffered::{BackOff, BufferedClient, Consumer, Lease, Outcome, Poison, ReceiveEvent, Receiver};
use sqs_client::Error;
use sqs_client::client::{CallOptions, Execute, OperationError, Unopened};
use sqs_client::operation::delete_message_batch::DeleteMessageBatchInput;
use sqs_client::operation::receive_message::{ReceiveMessageInput, ReceiveMessageOutput};
use sqs_client::operation::{Action, Operation};
use sqs_client::types::Message;
use sqs_client::wire::service_error::ErrorCode;
use sqs_mock_server::faults::Fault;
use tokio::time::{Instant, sleep, timeout};

use super::super::base_client::BaseClient;
use super::diary::Diary;
use super::rig::{Rig, secs, until};

/// Opens a message by a prefix of its body and of its receipt handle, in a second; in two minutes if its body starts with "slow", in 20 seconds if
/// it is "late" or starts with "long", and in 35 if it is "later". The first ones fail. A "small" one is as it should be, and returned at once.
#[derive(Clone, Debug)]
pub(crate) struct Layer {
    inner: BaseClient,
    /// How many messages with the body "bad" cannot be opened, and what to do with them.
    failures: Arc<AtomicU32>,
    policy: Unopened,
    /// How many receives are never answered.
    silent: Arc<AtomicU32>,
    /// How many messages were deleted by the handle of the opened message.
    deleted: Arc<AtomicU32>,
    /// How many messages were opened.
    opened: Arc<AtomicU32>,
}

/// The prefix of what is opened.
const OPENED: &str = "opened ";

#[derive(Clone, Debug)]
pub(crate) enum LayerError {
    Below(Error),
    Unopened(Unopened),
}

impl fmt::Display for LayerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Below(error) => error.fmt(f),
            Self::Unopened(_) => f.write_str("the payload is out of reach"),
        }
    }
}

impl std::error::Error for LayerError {}

impl From<Error> for LayerError {
    fn from(error: Error) -> Self {
        Self::Below(error)
    }
}

impl OperationError for LayerError {
    fn client_error(&self) -> Option<&Error> {
        if let Self::Below(error) = self { Some(error) } else { None }
    }

    fn unopened(&self) -> Option<Unopened> {
        if let Self::Unopened(policy) = self { Some(*policy) } else { None }
    }
}

fn takes_one(count: &AtomicU32) -> bool {
    count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
}

impl Execute for Layer {
    type Error = LayerError;

    async fn execute<O: Operation>(
        &self,
        input: &O::Input,
        options: CallOptions,
    ) -> Result<O::Output, LayerError> {
        let Some(deletes) = (input as &dyn Any).downcast_ref::<DeleteMessageBatchInput>() else {
            return Ok(self.inner.execute::<O>(input, options).await?);
        };
        let mut deletes = deletes.clone();
        for entry in deletes.entries.iter_mut().flatten() {
            if let Some(own) = entry.receipt_handle.strip_prefix(OPENED) {
                entry.receipt_handle = own.to_owned();
                self.deleted.fetch_add(1, Ordering::Relaxed);
            }
        }
        let deletes = (&deletes as &dyn Any).downcast_ref::<O::Input>().unwrap();
        Ok(self.inner.execute::<O>(deletes, options).await?)
    }

    async fn receive_unopened(
        &self,
        input: &ReceiveMessageInput,
        options: CallOptions,
    ) -> Result<ReceiveMessageOutput, LayerError> {
        if takes_one(&self.silent) {
            return pending().await;
        }
        Ok(self.inner.receive_unopened(input, options).await?)
    }

    async fn open(&self, message: &mut Message) -> Result<(), LayerError> {
        if message.body().is_some_and(|body| body.starts_with("small")) {
            return Ok(());
        }
        let seconds = match message.body() {
            Some(body) if body.starts_with("slow") => 120,
            Some("late") => 20,
            Some("later") => 35,
            Some(body) if body.starts_with("long") => 20,
            _ => 1,
        };
        sleep(secs(seconds)).await;
        if message.body().is_some_and(|body| body.starts_with("bad")) && takes_one(&self.failures) {
            return Err(LayerError::Unopened(self.policy));
        }
        self.opened.fetch_add(1, Ordering::Relaxed);
        message.body = message.body().map(|body| format!("{OPENED}{body}"));
        message.receipt_handle = message.receipt_handle().map(|handle| format!("{OPENED}{handle}"));
        // As sqs-extended removes its own.
        message.message_attributes = None;
        Ok(())
    }
}

pub(crate) fn layer(rig: &Rig, (failures, policy): (u32, Unopened)) -> Layer {
    let failures = Arc::new(AtomicU32::new(failures));
    let (silent, deleted, opened) = <(Arc<AtomicU32>, Arc<AtomicU32>, Arc<AtomicU32>)>::default();
    Layer { inner: rig.base.clone(), failures, policy, silent, deleted, opened }
}

#[tokio::test(start_paused = true)]
async fn receive_that_is_never_answered_is_retried() {
    for name in ["jobs", "jobs.fifo"] {
        let rig = Rig::new(name).await;
        rig.send_to("a", ["1", "2"]).await;
        let client = layer(&rig, (0, Unopened::Retry));
        client.silent.store(2, Ordering::Relaxed);
        let consumer = Consumer::builder(client, &rig.url)
            .message_handler(|_, _| async { Ok(Outcome::Ack) })
            .build()
            .unwrap();
        let start = Instant::now();
        let report = consumer.run_until(until(|| rig.left() == 0)).await.unwrap();
        assert_eq!((report.stats.acked, report.stats.receive_errors), (2, 2), "{name}");
        assert!((secs(60)..secs(90)).contains(&start.elapsed()), "{name}: {:?}", start.elapsed());
    }
}

#[tokio::test(start_paused = true)]
async fn handler_does_not_run_before_its_message_is_opened() {
    for name in ["jobs", "jobs.fifo"] {
        for policy in [Unopened::Retry, Unopened::Release] {
            let rig = Rig::new(name).await;
            rig.send_to("a", ["good", "bad", "last"]).await;
            let (diary, reasons) = (Diary::default(), Arc::new(Mutex::new(Vec::new())));
            let (seen, told) = (diary.clone(), Arc::clone(&reasons));
            let client = layer(&rig, (3, policy));
            let consumer = Consumer::builder(client.clone(), &rig.url)
                .back_off(BackOff::Fixed(secs(2)))
                .on_event(move |event| {
                    if let ReceiveEvent::Unopened { error, .. } = event {
                        told.lock().unwrap().push(error.to_string());
                    }
                })
                .message_handler(move |message, _| {
                    seen.start(&message);
                    async { Ok(Outcome::Ack) }
                })
                .build()
                .unwrap();
            let report = consumer.run_until(until(|| rig.left() == 0)).await.unwrap();
            let stats = report.stats;
            assert_eq!((stats.unopened, stats.acked, stats.started, stats.failed), (3, 3, 3, 0), "{name}");
            assert_eq!(*reasons.lock().unwrap(), ["the payload is out of reach"; 3]);
            assert_eq!(client.deleted.load(Ordering::Relaxed), 3);
            let mut bodies = diary.bodies();
            if name == "jobs" {
                bodies.sort_unstable();
                assert_eq!(bodies, ["opened bad", "opened good", "opened last"]);
            } else {
                assert_eq!(bodies, ["opened good", "opened bad", "opened last"], "the group waits");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn message_that_cannot_be_opened_is_deleted_or_dead_lettered_as_the_client_says() {
    for (policy, dead_letters) in [(Unopened::Delete, 0), (Unopened::DeadLetter, 1)] {
        let rig = Rig::new("jobs").await;
        let dead = rig.dead_letter_after(100).await;
        rig.send(["good", "bad"]).await;
        let consumer = Consumer::builder(layer(&rig, (9, policy)), &rig.url)
            .message_handler(|_, _| async { Ok(Outcome::Ack) })
            .build()
            .unwrap();
        let stats = consumer.run_until(until(|| rig.left() == 0)).await.unwrap().stats;
        assert_eq!((stats.acked, stats.started, stats.unopened), (1, 1, 1), "{policy:?}");
        assert_eq!((stats.dead_lettered, stats.discarded), (dead_letters, 1 - dead_letters), "{policy:?}");
        assert_eq!(rig.server.queue(dead).bodies(), vec!["bad"; usize::try_from(dead_letters).unwrap()]);
    }
}

#[tokio::test(start_paused = true)]
async fn batch_runs_without_messages_that_cannot_be_opened() {
    for name in ["jobs", "jobs.fifo"] {
        let rig = Rig::new(name).await;
        rig.send_to("a", ["1", "2", "bad", "3"]).await;
        let bodies = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&bodies);
        let consumer = Consumer::builder(layer(&rig, (2, Unopened::Retry)), &rig.url)
            .back_off(BackOff::Fixed(secs(1)))
            .batch_handler(move |batch: Vec<String>| {
                seen.lock().unwrap().extend(batch);
                async { Ok::<_, String>(()) }
            })
            .build()
            .unwrap();
        let stats = consumer.run_until(until(|| rig.left() == 0)).await.unwrap().stats;
        assert_eq!((stats.acked, stats.unopened), (4, 2), "{name}: {stats:?}");
        let mut bodies = bodies.lock().unwrap().clone();
        if name == "jobs" {
            bodies.sort_unstable();
            assert_eq!(bodies, ["opened 1", "opened 2", "opened 3", "opened bad"]);
        } else {
            assert_eq!(bodies, ["opened 1", "opened 2", "opened bad", "opened 3"]);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn receiver_yields_opened_messages_in_order() {
    let rig = Rig::new("jobs.fifo").await;
    rig.send_to("a", ["1", "bad", "2"]).await;
    let buffered = BufferedClient::new(layer(&rig, (2, Unopened::Retry)));
    let mut receiver = Receiver::builder(&buffered, &rig.url).start().await.unwrap();
    for body in ["opened 1", "opened bad", "opened 2"] {
        let received = receiver.next().await.unwrap();
        assert_eq!(received.message().body(), Some(body));
        received.ack().await.unwrap();
    }
    assert_eq!(receiver.close().await.unwrap().unopened, 2);
    assert_eq!((rig.left(), rig.in_flight()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn receiver_opens_one_message_of_each_group_at_a_time() {
    let rig = Rig::new("jobs.fifo").await;
    for group in ["a", "b", "c"] {
        rig.send_to(group, [format!("{group} 1"), format!("{group} 2")]).await;
    }
    let buffered = BufferedClient::new(layer(&rig, (0, Unopened::Retry)));
    let mut receiver = Receiver::builder(&buffered, &rig.url).start().await.unwrap();
    let first = receiver.next().await.unwrap();
    let start = Instant::now();
    let (mut held, mut bodies) = (Vec::new(), vec![first.message().body().unwrap().to_owned()]);
    held.push(first);
    while held.len() < 6 {
        let received = receiver.next().await.unwrap();
        bodies.push(received.message().body().unwrap().to_owned());
        held.push(received);
    }
    assert!(start.elapsed() < secs(2), "three at a time: {:?}", start.elapsed());
    for group in ["a", "b", "c"] {
        let place = |number: u32| bodies.iter().position(|body| *body == format!("opened {group} {number}"));
        assert!(place(1) < place(2), "{bodies:?}");
    }
    for received in held {
        received.ack().await.unwrap();
    }
    receiver.close().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn receiver_yields_nothing_behind_a_message_whose_lease_is_lost() {
    let rig = Rig::new("jobs.fifo").await;
    rig.send_to("a", ["slow", "behind"]).await;
    rig.send_to("b", ["other"]).await;
    let refused = Fault::fail_entries(ErrorCode::MessageNotInflight).on(Action::ChangeMessageVisibilityBatch);
    let refused = rig.server.faults().inject(refused);
    let buffered = BufferedClient::new(layer(&rig, (0, Unopened::Retry)));
    let mut receiver = Receiver::builder(&buffered, &rig.url).start().await.unwrap();
    let other = receiver.next().await.unwrap();
    assert_eq!(other.message().body(), Some("opened other"), "another group does not wait");
    other.ack().await.unwrap();
    assert!(timeout(secs(25), receiver.next()).await.is_err(), "the lease of the first is lost now");
    refused.remove();
    let mut bodies = Vec::new();
    while bodies.len() < 2 {
        let received = receiver.next().await.unwrap();
        bodies.push(received.message().body().unwrap().to_owned());
        received.ack().await.unwrap();
    }
    assert_eq!(bodies, ["opened slow", "opened behind"]);
    receiver.close().await.unwrap();
}

async fn handle_one_late_message(rig: &Rig) {
    rig.send(["late"]).await;
    until(|| rig.left() == 0).await;
}

/// While one message of a batch is opened, the lease of another ends.
#[tokio::test(start_paused = true)]
async fn batch_does_not_run_a_message_whose_lease_ends_while_others_are_opened() {
    for refused in 0..2 {
        let rig = Rig::new("jobs").await;
        let refuse =
            Fault::fail_entries(ErrorCode::MessageNotInflight).on(Action::ChangeMessageVisibilityBatch);
        let runs = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&runs);
        let consumer = Consumer::builder(layer(&rig, (0, Unopened::Retry)), &rig.url)
            .batch_handler(move |batch: Vec<String>| {
                seen.lock().unwrap().push(batch);
                async { Ok::<_, String>(()) }
            })
            .build()
            .unwrap();
        let end = async {
            // From here on, 20 s and 35 s are no long time.
            handle_one_late_message(&rig).await;
            rig.send(["late", "later"]).await;
            sleep(secs(22)).await;
            rig.server.faults().inject(refuse.entry(refused).times(1));
            until(|| rig.left() == 0).await;
        };
        let stats = consumer.run_until(end).await.unwrap().stats;
        let told = (stats.acked, stats.leases_lost, stats.started);
        assert_eq!(told, (3, 1, 3), "{:?}", runs.lock().unwrap());
    }
}

/// Giving a message back counts a receive of it and of its group. In an outage of the store, SQS would soon move all to the
/// dead-letter queue.
#[tokio::test(start_paused = true)]
async fn outage_of_the_store_dead_letters_nothing() {
    for name in ["jobs", "jobs.fifo"] {
        let rig = Rig::new(name).await;
        let dead = rig.dead_letter_after(3).await;
        for number in 0..20 {
            rig.send_to(&format!("g{}", number % 8), [format!("bad {number}")]).await;
            rig.send_to(&format!("s{}", number % 8), [format!("small {number}")]).await;
        }
        let client = layer(&rig, (u32::MAX, Unopened::Retry));
        let recovery = client.clone();
        let diary = Diary::default();
        let seen = diary.clone();
        let consumer = Consumer::builder(client, &rig.url)
            .message_handler(move |message, _| {
                seen.start(&message);
                async { Ok(Outcome::Ack) }
            })
            .build()
            .unwrap();
        let end = async {
            // Messages without a payload keep coming.
            for number in 20..170 {
                sleep(secs(2)).await;
                rig.send_to(&format!("s{}", number % 8), [format!("small {number}")]).await;
            }
            recovery.failures.store(0, Ordering::Relaxed);
            until(|| rig.left() == 0).await;
        };
        let stats = consumer.run_until(end).await.unwrap().stats;
        assert_eq!(rig.server.queue(dead).bodies(), Vec::<String>::new(), "{name}");
        assert_eq!((stats.started, stats.acked), (190, 190), "{name}: {stats:?}");
        assert!(!diary.bodies().iter().any(|body| body.starts_with("bad")));
    }
}

/// The store is up, and a few payloads cannot be loaded.
#[tokio::test(start_paused = true)]
async fn payloads_that_do_not_load_leave_places_for_others() {
    for concurrency in [1, 4] {
        let rig = Rig::new("jobs").await;
        rig.send((0..8).map(|number| format!("bad {number}"))).await;
        rig.send((0..40).map(|number| number.to_string())).await;
        let client = layer(&rig, (u32::MAX, Unopened::Retry));
        let acked = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&acked);
        let consumer = Consumer::builder(client, &rig.url)
            .concurrency(concurrency)
            .message_handler(move |_, _| {
                counted.fetch_add(1, Ordering::Relaxed);
                async { Ok(Outcome::Ack) }
            })
            .build()
            .unwrap();
        let start = Instant::now();
        consumer.run_until(until(|| acked.load(Ordering::Relaxed) == 40)).await.unwrap();
        // A single place is taken for a second by each attempt to open one.
        assert!(start.elapsed() < secs(600), "{concurrency}: {:?}", start.elapsed());
    }
}

/// The lease of a running message is lost, and the message is received again, unopened.
#[tokio::test(start_paused = true)]
async fn delete_by_a_later_delivery_deletes_the_payload_too() {
    for name in ["jobs", "jobs.fifo"] {
        let rig = Rig::new(name).await;
        rig.send_to("a", ["1"]).await;
        let fault = rig.server.faults().inject(Fault::throttle().on(Action::ChangeMessageVisibilityBatch));
        let client = layer(&rig, (0, Unopened::Retry));
        let consumer = Consumer::builder(client.clone(), &rig.url)
            .message_handler(|_, _| async {
                sleep(secs(60)).await;
                Ok(Outcome::Ack)
            })
            .build()
            .unwrap();
        let end = async {
            sleep(secs(29)).await;
            fault.remove();
            until(|| rig.left() == 0).await;
        };
        let stats = consumer.run_until(end).await.unwrap().stats;
        let told = (stats.started, stats.acked, stats.leases_lost);
        assert_eq!(told, (1, 1, 1), "{name}: {stats:?}");
        assert_eq!(client.deleted.load(Ordering::Relaxed), 1, "{name}");
    }
}

/// Renewals fail while the payload loads.
#[tokio::test(start_paused = true)]
async fn handler_starts_with_half_of_the_visibility_timeout_also_after_a_long_load() {
    for in_batches in [false, true] {
        let rig = Rig::new("jobs").await;
        rig.send(["late"]).await;
        let throttled =
            rig.server.faults().inject(Fault::throttle().on(Action::ChangeMessageVisibilityBatch));
        let left = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&left);
        let note = move |lease: &Lease| {
            let left = lease.deadline().map(|deadline| deadline - Instant::now());
            noted.lock().unwrap().push(left.unwrap_or_default());
        };
        let builder = Consumer::builder(layer(&rig, (0, Unopened::Retry)), &rig.url);
        let consumer = if in_batches {
            let handler = move |batch: Vec<Lease>| {
                batch.iter().for_each(&note);
                async { Outcome::Ack }
            };
            builder.batch_handler(handler).build().unwrap()
        } else {
            let handler = move |lease: Lease| {
                note(&lease);
                async { Outcome::Ack }
            };
            builder.handler(handler).build().unwrap()
        };
        let end = async {
            sleep(secs(22)).await;
            throttled.remove();
            until(|| rig.left() == 0).await;
        };
        let stats = consumer.run_until(end).await.unwrap().stats;
        assert_eq!((stats.started, stats.leases_lost), (1, 0), "batches: {in_batches}");
        assert!(left.lock().unwrap()[0] >= secs(14), "batches: {in_batches}, {left:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn outage_of_the_store_dead_letters_nothing_of_a_receiver() {
    // With a single place, the first ones are given back until it is known that no payload loads.
    for (name, limit, receives) in
        [("jobs", 10, 3), ("jobs.fifo", 10, 3), ("jobs", 1, 5), ("jobs.fifo", 1, 5)]
    {
        let rig = Rig::new(name).await;
        let dead = rig.dead_letter_after(receives).await;
        for number in 0..12 {
            rig.send_to(&format!("g{}", number % 8), [format!("bad {number}")]).await;
            rig.send_to(&format!("s{}", number % 8), [format!("small {number}")]).await;
        }
        let client = layer(&rig, (u32::MAX, Unopened::Retry));
        let recovery = client.clone();
        let buffered = BufferedClient::new(client);
        let mut receiver = Receiver::builder(&buffered, &rig.url).limit(limit).start().await.unwrap();
        tokio::spawn(async move {
            sleep(secs(60)).await;
            recovery.failures.store(0, Ordering::Relaxed);
        });
        for number in 0..24 {
            let received = timeout(secs(400), receiver.next()).await;
            let received = received.unwrap_or_else(|_| panic!("{name}, {limit}: {number} came")).unwrap();
            let body = received.message().body().unwrap_or_default().to_owned();
            assert!(body.starts_with(OPENED) || body.starts_with("small"), "{body}");
            received.ack().await.unwrap();
        }
        let stats = receiver.close().await.unwrap();
        assert_eq!(rig.server.queue(dead).bodies(), Vec::<String>::new(), "{name}, {limit}");
        assert_eq!((rig.left(), stats.acked), (0, 24), "{name}, {limit}");
    }
}

#[tokio::test(start_paused = true)]
async fn receiver_deletes_or_dead_letters_what_cannot_be_opened_as_the_client_says() {
    for name in ["jobs", "jobs.fifo"] {
        for (policy, dead_letters) in [(Unopened::Delete, 0), (Unopened::DeadLetter, 1)] {
            let rig = Rig::new(name).await;
            let dead = rig.dead_letter_after(100).await;
            rig.send_to("a", ["bad", "good"]).await;
            let buffered = BufferedClient::new(layer(&rig, (9, policy)));
            let mut receiver = Receiver::builder(&buffered, &rig.url).start().await.unwrap();
            let received = receiver.next().await.unwrap();
            assert_eq!(received.message().body(), Some("opened good"));
            received.ack().await.unwrap();
            until(|| rig.left() == 0).await;
            let stats = receiver.close().await.unwrap();
            let told = (stats.unopened, stats.dead_lettered, stats.discarded, stats.returned);
            assert_eq!(told, (1, dead_letters, 1 - dead_letters, 0), "{name} {policy:?}");
            let letters = vec!["bad"; usize::try_from(dead_letters).unwrap()];
            assert_eq!(rig.server.queue(dead).bodies(), letters, "{name} {policy:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn receiver_yields_with_half_of_the_visibility_timeout_also_after_a_long_load() {
    let rig = Rig::new("jobs").await;
    rig.send(["late"]).await;
    let throttled = rig.server.faults().inject(Fault::throttle().on(Action::ChangeMessageVisibilityBatch));
    let buffered = BufferedClient::new(layer(&rig, (0, Unopened::Retry)));
    let mut receiver = Receiver::builder(&buffered, &rig.url).start().await.unwrap();
    tokio::spawn(async move {
        sleep(secs(22)).await;
        throttled.remove();
    });
    let received = receiver.next().await.unwrap();
    let left = received.lease().deadline().unwrap() - Instant::now();
    assert!(left >= secs(14), "{left:?}");
    received.ack().await.unwrap();
    receiver.close().await.unwrap();
}

/// SQS counts a receive of the whole group when one message of it is received again.
#[tokio::test(start_paused = true)]
async fn head_whose_payload_does_not_load_becomes_a_dead_letter_alone_and_its_group_goes_on() {
    for in_batches in [false, true] {
        let rig = Rig::new("jobs.fifo").await;
        let dead = rig.dead_letter_after(3).await;
        rig.send_to("a", ["1", "bad", "2", "3", "4"]).await;
        let diary = Diary::default();
        let seen = diary.clone();
        let client = layer(&rig, (u32::MAX, Unopened::Release));
        let builder = Consumer::builder(client.clone(), &rig.url).back_off(BackOff::Fixed(secs(5)));
        let consumer = if in_batches {
            let handler = move |batch: Vec<Arc<Message>>| {
                for message in &batch {
                    seen.start(message);
                }
                async { Outcome::Ack }
            };
            builder.batch_handler(handler).build().unwrap()
        } else {
            let handler = move |message: Arc<Message>| {
                seen.start(&message);
                async { Outcome::Ack }
            };
            builder.handler(handler).build().unwrap()
        };
        let start = Instant::now();
        let stats = consumer.run_until(until(|| rig.left() == 0)).await.unwrap().stats;
        assert_eq!(diary.bodies(), ["opened 1", "opened 2", "opened 3", "opened 4"], "batches: {in_batches}");
        assert_eq!(rig.server.queue(dead).bodies(), ["bad"], "as it was received");
        let in_place = (stats.retried_in_place, stats.dead_lettered, stats.acked);
        assert_eq!(in_place, (2, 1, 4), "batches: {in_batches}");
        assert_eq!((stats.nacked, stats.returned), (0, 0), "nothing was given back");
        assert_eq!(client.deleted.load(Ordering::Relaxed), 4, "the payload of the dead letter stays");
        assert!(start.elapsed() >= secs(10), "two back-offs: {:?}", start.elapsed());
    }
}

#[tokio::test(start_paused = true)]
async fn head_whose_payload_does_not_load_is_given_back_without_a_redrive_policy_or_by_the_setting() {
    for poison in [Poison::InPlace, Poison::LeaveToSqs] {
        let rig = Rig::new("jobs.fifo").await;
        if poison == Poison::LeaveToSqs {
            rig.dead_letter_after(9).await;
        }
        rig.send_to("a", ["bad", "1"]).await;
        let consumer = Consumer::builder(layer(&rig, (2, Unopened::Release)), &rig.url)
            .back_off(BackOff::Fixed(secs(5)))
            .poison(poison)
            .message_handler(|_, _| async { Ok(Outcome::Ack) })
            .build()
            .unwrap();
        let stats = consumer.run_until(until(|| rig.left() == 0)).await.unwrap().stats;
        assert_eq!((stats.retried_in_place, stats.unopened, stats.acked), (0, 2, 2), "{poison:?}");
        assert!(stats.returned >= 2, "{poison:?}: {stats:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn payload_that_hangs_does_not_delay_the_other_messages_of_a_batch() {
    for name in ["jobs", "jobs.fifo"] {
        let rig = Rig::new(name).await;
        for (group, body) in ["slow", "1", "2", "3", "4", "5"].into_iter().enumerate() {
            rig.send_to(&group.to_string(), [body]).await;
        }
        let (runs, start) = (Arc::new(Mutex::new(Vec::new())), Instant::now());
        let seen = Arc::clone(&runs);
        let consumer = Consumer::builder(layer(&rig, (0, Unopened::Retry)), &rig.url)
            .batch_handler(move |mut batch: Vec<String>| {
                batch.sort_unstable();
                seen.lock().unwrap().push((start.elapsed().as_secs(), batch));
                async { Ok::<_, String>(()) }
            })
            .build()
            .unwrap();
        consumer.run_until(until(|| rig.left() == 0)).await.unwrap();
        let runs = runs.lock().unwrap();
        let others = (1..6).map(|number| format!("{OPENED}{number}")).collect::<Vec<_>>();
        assert!(runs[0].0 < 3, "{name}: {runs:?}");
        assert_eq!(runs[0].1, others, "{name}: still one batch");
        assert_eq!(runs[1].1, ["opened slow"], "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn shutdown_gives_back_the_messages_of_a_batch_whose_payloads_still_load() {
    for name in ["jobs", "jobs.fifo"] {
        // Before the first one is open, before the batch starts, and while those that are late load.
        for (seconds, acked) in [(0, 0), (1, 0), (10, 1)] {
            let rig = Rig::new(name).await;
            for (group, body) in ["slow", "1", "later"].into_iter().enumerate() {
                rig.send_to(&group.to_string(), [body]).await;
            }
            let consumer = Consumer::builder(layer(&rig, (0, Unopened::Retry)), &rig.url)
                .batch_handler(|_: Vec<String>| async { Outcome::Ack })
                .build()
                .unwrap();
            let observed = consumer.clone();
            let end = async {
                until(|| observed.stats().received == 3).await;
                sleep(secs(seconds) + Duration::from_millis(500)).await;
            };
            let report = consumer.run_until(end).await.unwrap();
            let stats = report.stats;
            assert_eq!((stats.acked, stats.started), (acked, acked), "{name} {seconds}: {stats:?}");
            assert!(stats.returned >= 3 - acked, "{name} {seconds}: {stats:?}");
            assert!(report.elapsed < secs(seconds + 5), "{name} {seconds}: {:?}", report.elapsed);
        }
    }
}

/// Renewals fail from the time when the first message is open until after the batch could start.
#[tokio::test(start_paused = true)]
async fn message_of_a_batch_is_renewed_again_if_its_lease_comes_near_its_end_while_others_load() {
    let rig = Rig::new("jobs").await;
    let left = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&left);
    let consumer = Consumer::builder(layer(&rig, (0, Unopened::Retry)), &rig.url)
        .batch_handler(move |batch: Vec<Lease>| {
            let deadlines = batch.iter().map(|lease| lease.deadline().unwrap_or_else(Instant::now));
            noted.lock().unwrap().extend(deadlines.map(|deadline| deadline - Instant::now()));
            async { Outcome::Ack }
        })
        .build()
        .unwrap();
    let end = async {
        handle_one_late_message(&rig).await;
        rig.send(["late", "later"]).await;
        sleep(secs(22)).await;
        let throttle = Fault::throttle().on(Action::ChangeMessageVisibilityBatch);
        let throttled = rig.server.faults().inject(throttle);
        sleep(secs(19)).await;
        throttled.remove();
        until(|| rig.left() == 0).await;
    };
    let stats = consumer.run_until(end).await.unwrap().stats;
    assert_eq!((stats.started, stats.leases_lost), (3, 0), "{left:?}");
    assert!(left.lock().unwrap().iter().all(|left| *left >= secs(14)), "{left:?}");
}

#[tokio::test(start_paused = true)]
async fn payload_that_hangs_delays_only_those_behind_it_in_its_group() {
    let rig = Rig::new("jobs.fifo").await;
    rig.send_to("a", ["1", "2", "slow", "3"]).await;
    let (runs, start) = (Arc::new(Mutex::new(Vec::new())), Instant::now());
    let seen = Arc::clone(&runs);
    let consumer = Consumer::builder(layer(&rig, (0, Unopened::Retry)), &rig.url)
        .batch_handler(move |batch: Vec<String>| {
            seen.lock().unwrap().push((start.elapsed().as_secs(), batch));
            async { Ok::<_, String>(()) }
        })
        .build()
        .unwrap();
    let stats = consumer.run_until(until(|| rig.left() == 0)).await.unwrap().stats;
    let runs = runs.lock().unwrap();
    assert_eq!(runs[0].1, ["opened 1", "opened 2"]);
    assert!(runs[0].0 < 5, "{runs:?}");
    let all: Vec<_> = runs.iter().flat_map(|(_, batch)| batch.clone()).collect();
    assert_eq!(all, ["opened 1", "opened 2", "opened slow", "opened 3"]);
    assert_eq!((stats.started, stats.acked, stats.leases_lost), (4, 4, 0));
}

#[tokio::test(start_paused = true)]
async fn payload_that_hangs_leaves_its_place_to_others() {
    for name in ["jobs", "jobs.fifo"] {
        let rig = Rig::new(name).await;
        for (group, body) in ["slow 1", "slow 2", "slow 3", "1", "2", "3"].into_iter().enumerate() {
            rig.send_to(&group.to_string(), [body]).await;
        }
        let (runs, start) = (Arc::new(Mutex::new(Vec::new())), Instant::now());
        let seen = Arc::clone(&runs);
        let consumer = Consumer::builder(layer(&rig, (0, Unopened::Retry)), &rig.url)
            .concurrency(1)
            .message_handler(move |message, _| {
                let body = message.body().unwrap_or_default().to_owned();
                seen.lock().unwrap().push((start.elapsed().as_secs(), body));
                async { Ok(Outcome::Ack) }
            })
            .build()
            .unwrap();
        let stats = consumer.run_until(until(|| rig.left() == 0)).await.unwrap().stats;
        let runs = runs.lock().unwrap();
        let (healthy, slow) = runs.split_at(3);
        // Each of the slow ones holds the place for ten seconds: nothing says how long others take.
        assert!(healthy.iter().all(|(at, body)| *at < 40 && !body.contains("slow")), "{name}: {runs:?}");
        assert!(slow.iter().all(|(at, body)| *at >= 120 && body.contains("slow")), "{name}: {runs:?}");
        assert_eq!((stats.started, stats.acked, stats.returned), (6, 6, 0), "{name}: {stats:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn payloads_that_hang_leave_their_places_before_all_places_hang() {
    let rig = Rig::new("jobs").await;
    rig.send((0..9).map(|number| format!("slow {number}"))).await;
    rig.send((0..50).map(|number| number.to_string())).await;
    let consumer = Consumer::builder(layer(&rig, (0, Unopened::Retry)), &rig.url)
        .concurrency(10)
        .message_handler(|_, _| async { Ok(Outcome::Ack) })
        .build()
        .unwrap();
    let start = Instant::now();
    let observed = consumer.clone();
    let others = until(|| observed.stats().acked == 50);
    consumer.run_until(others).await.unwrap();
    // In the beginning, only one place is free: nothing says how long others take. One place alone would take fifty seconds.
    assert!(start.elapsed() < secs(40), "{:?}", start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn receiver_that_closes_gives_back_a_message_that_was_opened_and_not_yielded() {
    let rig = Rig::new("jobs").await;
    rig.send(["1"]).await;
    let buffered = BufferedClient::new(layer(&rig, (0, Unopened::Retry)));
    let mut receiver = Receiver::builder(&buffered, &rig.url).limit(1).start().await.unwrap();
    assert!(timeout(Duration::from_millis(500), receiver.next()).await.is_err(), "it loads for a second");
    sleep(secs(5)).await;
    let start = Instant::now();
    let stats = receiver.close().await.unwrap();
    assert_eq!((stats.received, stats.returned, stats.held), (1, 1, 0));
    assert!(start.elapsed() < secs(2), "{:?}", start.elapsed());
}

/// Those that load late run in a later batch, and count then.
#[tokio::test(start_paused = true)]
async fn message_that_loads_too_late_for_its_batch_counts_once_for_the_rate_limit() {
    let rig = Rig::new("jobs").await;
    for _ in 0..10 {
        rig.send(["first"]).await;
        rig.send((0..9).map(|_| "late")).await;
    }
    let consumer = Consumer::builder(layer(&rig, (0, Unopened::Retry)), &rig.url)
        .concurrency(50)
        .rate_limit(2.0)
        .batch_handler(|_: Vec<String>| async { Outcome::Ack })
        .build()
        .unwrap();
    let start = Instant::now();
    consumer.run_until(until(|| rig.left() == 0)).await.unwrap();
    // A hundred messages take 50 s at least, and 95 s if the ninety late ones count twice.
    assert!(start.elapsed() < secs(95), "{:?}", start.elapsed());
}

/// Payloads that load while the handler is busy would wait beside it, in memory and under leases that end.
#[tokio::test(start_paused = true)]
async fn slow_loads_do_not_pile_up_beside_a_slow_handler() {
    for name in ["jobs", "jobs.fifo"] {
        let rig = Rig::new(name).await;
        for group in 0..12 {
            rig.send_to(&group.to_string(), [format!("long {group}")]).await;
        }
        let client = layer(&rig, (0, Unopened::Retry));
        let (opened, most) = (Arc::clone(&client.opened), Arc::new(AtomicU32::new(0)));
        let (handled, noted) = (Arc::new(AtomicU32::new(0)), Arc::clone(&most));
        let done = Arc::clone(&handled);
        let consumer = Consumer::builder(client, &rig.url)
            .concurrency(1)
            .message_handler(move |_, _| {
                let (opened, done, most) = (Arc::clone(&opened), Arc::clone(&done), Arc::clone(&noted));
                async move {
                    sleep(secs(250)).await;
                    let open = opened.load(Ordering::Relaxed) - done.fetch_add(1, Ordering::Relaxed);
                    most.fetch_max(open, Ordering::Relaxed);
                    Ok(Outcome::Ack)
                }
            })
            .build()
            .unwrap();
        let stats = consumer.run_until(until(|| rig.left() == 0)).await.unwrap().stats;
        assert_eq!((stats.acked, stats.leases_lost, handled.load(Ordering::Relaxed)), (12, 0, 12), "{name}");
        let most = most.load(Ordering::Relaxed);
        assert!(most <= 3, "{name}: {most} open at once");
    }
}

#[tokio::test(start_paused = true)]
async fn batch_whose_payloads_hang_leaves_its_place_to_others() {
    let rig = Rig::new("jobs").await;
    rig.send(["slow 1", "slow 2", "1", "2", "3", "4"]).await;
    let (runs, start) = (Arc::new(Mutex::new(Vec::new())), Instant::now());
    let seen = Arc::clone(&runs);
    let consumer = Consumer::builder(layer(&rig, (0, Unopened::Retry)), &rig.url)
        .concurrency(1)
        .batch_size(2)
        .batch_handler(move |batch: Vec<String>| {
            seen.lock().unwrap().extend(batch.into_iter().map(|body| (start.elapsed().as_secs(), body)));
            async { Ok::<_, String>(()) }
        })
        .build()
        .unwrap();
    let stats = consumer.run_until(until(|| rig.left() == 0)).await.unwrap().stats;
    let runs = runs.lock().unwrap();
    let (healthy, slow) = runs.split_at(4);
    assert!(healthy.iter().all(|(at, body)| *at < 20 && !body.contains("slow")), "{runs:?}");
    assert!(slow.iter().all(|(at, body)| *at >= 120 && body.contains("slow")), "{runs:?}");
    assert_eq!((stats.started, stats.acked, stats.returned), (6, 6, 0), "{stats:?}");
}

#[tokio::test(start_paused = true)]
async fn payload_that_hangs_does_not_stop_a_receiver() {
    for name in ["jobs", "jobs.fifo"] {
        let rig = Rig::new(name).await;
        for (group, body) in ["slow", "1", "2", "3"].into_iter().enumerate() {
            rig.send_to(&group.to_string(), [body]).await;
        }
        let (buffered, start) = (BufferedClient::new(layer(&rig, (0, Unopened::Retry))), Instant::now());
        let mut receiver = Receiver::builder(&buffered, &rig.url).limit(1).start().await.unwrap();
        for body in ["opened 1", "opened 2", "opened 3", "opened slow"] {
            let received = receiver.next().await.unwrap();
            assert_eq!(received.message().body(), Some(body), "{name}");
            assert_eq!(start.elapsed() < secs(30), body != "opened slow", "{name}: {body}");
            received.ack().await.unwrap();
        }
        receiver.close().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn shutdown_starts_no_handler_whose_payload_still_loads() {
    let rig = Rig::new("jobs").await;
    rig.send(["1", "2"]).await;
    let consumer = Consumer::builder(layer(&rig, (0, Unopened::Retry)), &rig.url)
        .message_handler(|_, _| async { Ok(Outcome::Ack) })
        .build()
        .unwrap();
    let observed = consumer.clone();
    let end = async {
        until(|| observed.stats().received == 2).await;
        sleep(Duration::from_millis(500)).await;
    };
    let stats = consumer.run_until(end).await.unwrap().stats;
    assert!(stats.started == 0 && stats.returned >= 2, "{stats:?}");
}

/// The payload of a message is deleted by whoever handles it.
#[tokio::test(start_paused = true)]
async fn receiver_does_not_open_a_message_that_is_being_handled() {
    let rig = Rig::new("jobs").await;
    rig.send(["1"]).await;
    rig.server.faults().inject(Fault::redeliver().times(1));
    let client = layer(&rig, (0, Unopened::Retry));
    let (opened, buffered) = (Arc::clone(&client.opened), BufferedClient::new(client));
    let mut receiver = Receiver::builder(&buffered, &rig.url).start().await.unwrap();
    let first = receiver.next().await.unwrap();
    assert!(timeout(Duration::from_millis(900), receiver.next()).await.is_err());
    let stats = receiver.stats();
    assert!(stats.duplicates > 0 && opened.load(Ordering::Relaxed) == 1, "{stats:?}");
    first.ack().await.unwrap();
    receiver.close().await.unwrap();
}
