//! After any faults, each message in the queue has its object, and an event explains each object without a message.

use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;

use bytes::Bytes;
use futures_util::stream;
use proptest::prelude::*;
use sqs_client::client::{CallOptions, Execute as _, Retries};
use sqs_client::config::retry::RetryConfig;
use sqs_client::operation::Action;
use sqs_client::operation::send_message_batch::{SendMessageBatch, SendMessageBatchInput};
use sqs_client::types::{DeleteMessageBatchRequestEntry, Message, SendMessageBatchRequestEntry};
use sqs_client::wire::service_error::ErrorCode;
use sqs_extended::{ErrorKind, Event, ExtendedClientBuilder, ExtendedHandle, Payload, Pointer, Threshold};
use sqs_mock_server::faults::Fault;

use super::faulty_store::{StoreCall, StoreFault};
use super::rig::Rig;
use super::sizes::entry;

/// One operation of a schedule.
#[derive(Clone, Debug)]
enum Step {
    Send {
        is_large: bool,
    },
    /// Calls without retries, as a caller makes them that retries by itself.
    SendOnce {
        large: Vec<bool>,
        attempts: usize,
    },
    SendBatch {
        large: Vec<bool>,
    },
    /// A streamed payload, whose source fails after `breaks_after` pieces.
    SendStream {
        breaks_after: Option<usize>,
    },
    Receive,
    Delete {
        pick: usize,
    },
    DeleteBatch {
        count: usize,
    },
    Hide {
        pick: usize,
    },
}

/// The faults of one step.
#[derive(Clone, Debug)]
struct Trouble {
    store: Vec<(StoreCall, StoreFault)>,
    service: Option<Fault>,
    /// The call is dropped after this number of polls.
    polls: Option<u32>,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => any::<bool>().prop_map(|is_large| Step::Send { is_large }),
        3 => prop::collection::vec(prop::bool::weighted(0.7), 1..=5).prop_map(|large| Step::SendBatch { large }),
        2 => (prop::collection::vec(prop::bool::weighted(0.7), 1..=5), 1_usize..=3)
            .prop_map(|(large, attempts)| Step::SendOnce { large, attempts }),
        2 => prop::option::weighted(0.2, 0_usize..5).prop_map(|breaks_after| Step::SendStream { breaks_after }),
        3 => Just(Step::Receive),
        2 => any::<usize>().prop_map(|pick| Step::Delete { pick }),
        2 => (1_usize..=5).prop_map(|count| Step::DeleteBatch { count }),
        1 => any::<usize>().prop_map(|pick| Step::Hide { pick }),
    ]
}

fn store_fault() -> impl Strategy<Value = (StoreCall, StoreFault)> {
    let call = prop_oneof![Just(StoreCall::Put), Just(StoreCall::Get), Just(StoreCall::Delete)];
    let fault = prop_oneof![
        Just(StoreFault::Fail(ErrorKind::Unavailable)),
        Just(StoreFault::Fail(ErrorKind::Forbidden)),
        Just(StoreFault::Fail(ErrorKind::NotFound)),
        Just(StoreFault::LoseResponse),
        Just(StoreFault::Truncate(10)),
    ];
    (call, fault)
}

fn service_fault() -> impl Strategy<Value = Fault> {
    prop_oneof![
        Just(Fault::throttle()),
        Just(Fault::error(ErrorCode::AccessDenied)),
        Just(Fault::error(ErrorCode::InternalFailure)),
        Just(Fault::reset_before()),
        Just(Fault::reset_after()),
        Just(Fault::truncate()),
        Just(Fault::corrupt()),
        (0_usize..5).prop_map(|place| Fault::fail_entries(ErrorCode::InternalFailure).entry(place)),
        (0_usize..5).prop_map(|place| Fault::fail_entries(ErrorCode::InvalidMessageContents).entry(place)),
        (0_usize..5).prop_map(|place| Fault::omit_entries().entry(place)),
    ]
}

fn trouble() -> impl Strategy<Value = Trouble> {
    let store = prop::collection::vec(store_fault(), 0..3);
    let polls = prop::option::weighted(0.15, 1_u32..12);
    (store, prop::option::weighted(0.5, service_fault()), polls).prop_map(|(store, service, polls)| Trouble {
        store,
        service,
        polls,
    })
}

/// Waits for a call, or drops it after `polls` polls.
pub(crate) async fn within<T>(polls: Option<u32>, call: impl Future<Output = T>) -> Option<T> {
    let mut call = pin!(call);
    let mut left = polls;
    std::future::poll_fn(|context| {
        if let Some(left) = &mut left {
            if *left == 0 {
                return Poll::Ready(None);
            }
            *left -= 1;
        }
        call.as_mut().poll(context).map(Some)
    })
    .await
}

struct Run {
    rig: Rig,
    /// The number of bodies made so far. Each body begins with its number, so no two are equal.
    made: usize,
    /// The latest handle of each message that was received.
    held: BTreeMap<String, Message>,
    /// The keys of objects that may remain without a message: those of events, and of messages whose payloads were not loaded.
    explained: Arc<Mutex<BTreeSet<String>>>,
    /// The number of objects that may remain in addition, since a FIFO queue drops duplicates without telling.
    duplicates: usize,
}

/// A body above or below the threshold of these tests.
fn body(number: usize, is_large: bool) -> String {
    format!("{number:04}{}", "x".repeat(if is_large { 400 } else { 10 }))
}

/// Whether the payload of a received message was not loaded.
fn is_pointer(message: &Message) -> bool {
    Pointer::from_body(message.body().unwrap()).is_ok()
}

impl Run {
    fn make(&mut self, is_large: bool) -> String {
        self.made += 1;
        body(self.made, is_large)
    }

    fn group(&self) -> Option<String> {
        self.rig.url.ends_with(".fifo").then(|| (self.made % 3).to_string())
    }

    fn entries(&mut self, sizes: &[bool]) -> Vec<SendMessageBatchRequestEntry> {
        let entries = sizes.iter().enumerate().map(|(place, is_large)| {
            let mut entry = entry(&place.to_string(), self.make(*is_large));
            entry.message_group_id = self.group();
            entry
        });
        entries.collect()
    }

    fn pick(&self, pick: usize) -> Option<Message> {
        let place = pick.checked_rem(self.held.len())?;
        self.held.values().nth(place).cloned()
    }

    /// Deleting a message whose payload was not loaded keeps its object.
    fn explain(&self, message: &Message) {
        if let Ok(pointer) = Pointer::from_body(message.body().unwrap()) {
            self.explained.lock().unwrap().insert(pointer.key().to_owned());
        }
    }

    async fn step(&mut self, step: &Step, polls: Option<u32>) {
        let (client, url) = (self.rig.client.clone(), self.rig.url.clone());
        match step {
            Step::Send { is_large } => {
                let body = self.make(*is_large);
                let send = client.send_message().queue_url(url).message_body(body);
                let send = send.set_message_group_id(self.group()).send();
                let _ = within(polls, send).await;
            }
            Step::SendBatch { large: sizes } => {
                let entries = self.entries(sizes);
                let send = client.send_message_batch().queue_url(url).set_entries(Some(entries)).send();
                let _ = within(polls, send).await;
            }
            Step::SendOnce { large: sizes, attempts } => {
                let mut input = SendMessageBatchInput::default();
                (input.queue_url, input.entries) = (Some(url), Some(self.entries(sizes)));
                for _ in 0..*attempts {
                    let send =
                        client.execute::<SendMessageBatch>(&input, CallOptions::with_retries(Retries::Never));
                    if matches!(within(polls, send).await, Some(Ok(_))) {
                        break;
                    }
                }
                // A FIFO queue reports duplicates as sent, so the objects of repeated attempts remain.
                if self.rig.url.ends_with(".fifo") {
                    self.duplicates += sizes.len() * (attempts - 1);
                }
            }
            Step::SendStream { breaks_after } => {
                let body = Bytes::from(self.make(true));
                let pieces =
                    (0..body.len()).step_by(100).map(|at| Ok(body.slice(at..body.len().min(at + 100))));
                let mut pieces: Vec<std::io::Result<Bytes>> = pieces.collect();
                if let Some(place) = breaks_after {
                    pieces.insert(*place, Err(std::io::Error::other("injected failure")));
                }
                let mut send = client.send_stream(&url, Payload::from_stream(stream::iter(pieces)));
                if let Some(group) = self.group() {
                    send = send.message_group_id(group).message_deduplication_id(self.made.to_string());
                }
                let _ = within(polls, send.send()).await;
            }
            Step::Receive => {
                for message in self.rig.receive().await {
                    self.held.insert(message.message_id().unwrap().to_owned(), message);
                }
            }
            Step::Delete { pick } => {
                let Some(message) = self.pick(*pick) else { return };
                let delete = client.delete_message().queue_url(url);
                let delete = delete.set_receipt_handle(message.receipt_handle.clone()).send();
                self.explain(&message);
                let _ = within(polls, delete).await;
            }
            Step::DeleteBatch { count } => {
                let messages: Vec<_> = self.held.values().take(*count).cloned().collect();
                let entries = messages.iter().enumerate().map(|(place, message)| {
                    let entry = DeleteMessageBatchRequestEntry::builder().id(place.to_string());
                    entry.receipt_handle(message.receipt_handle().unwrap()).build().unwrap()
                });
                let delete =
                    client.delete_message_batch().queue_url(url).set_entries(Some(entries.collect()));
                for message in &messages {
                    self.explain(message);
                }
                let _ = within(polls, delete.send()).await;
            }
            Step::Hide { pick } => {
                let Some(message) = self.pick(*pick) else { return };
                let change = client.change_message_visibility().queue_url(url).visibility_timeout(5);
                let _ = within(polls, change.set_receipt_handle(message.receipt_handle).send()).await;
            }
        }
    }

    fn arm(&self, trouble: &Trouble) {
        self.rig.store.heal();
        self.rig.server.faults().clear();
        for (call, fault) in &trouble.store {
            self.rig.store.fail_next(*call, fault.clone());
        }
        // After a lost receive, a delete with an older handle succeeds but deletes nothing. No client can notice that,
        // so receives get no faults.
        let applies = |action: Action| action != Action::ReceiveMessage;
        if let Some(fault) = &trouble.service {
            self.rig
                .server
                .faults()
                .inject(fault.clone().times(1).when(move |request| request.action().is_some_and(applies)));
        }
    }

    async fn check(self) {
        let Self { rig, held, explained, duplicates, .. } = self;
        rig.store.heal();
        rig.server.faults().clear();
        rig.client.finish_cleanup().await;
        let live: BTreeSet<_> = rig.pointers().iter().map(|at| at.key().to_owned()).collect();
        let objects: BTreeSet<_> = rig.store.objects().iter().map(|at| at.key().to_owned()).collect();
        let lost: Vec<_> = live.difference(&objects).collect();
        assert!(lost.is_empty(), "messages without an object: {lost:?}");
        let explained = explained.lock().unwrap();
        let orphans: Vec<_> = objects.difference(&live).filter(|key| !explained.contains(*key)).collect();
        assert!(orphans.len() <= duplicates, "objects without message and event: {orphans:?}");
        // Each received body is the original one, or the unchanged pointer.
        for message in held.values() {
            let body = message.body().unwrap();
            let is_pointer = is_pointer(message);
            let number = || body[..4].parse().unwrap();
            assert!(is_pointer || self::body(number(), body.len() > 100) == body, "wrong bytes: {body}");
            let handle = ExtendedHandle::parse(message.receipt_handle().unwrap());
            assert_eq!(handle.is_some(), !is_pointer && body.len() > 100);
        }
    }
}

async fn run(name: &'static str, steps: &[(Step, Trouble)], retry: RetryConfig) {
    let explained = Arc::new(Mutex::new(BTreeSet::new()));
    let keys = Arc::clone(&explained);
    let listener = move |event: &Event<'_>| {
        if let Event::OutcomeUnknown { pointer } | Event::CleanupGivenUp { pointer, .. } = event {
            keys.lock().unwrap().insert(pointer.key().to_owned());
        }
    };
    let settings =
        |builder: ExtendedClientBuilder<_>| builder.threshold(Threshold::Bytes(100)).on_event(listener);
    let rig = Rig::retrying(name, retry, settings).await;
    let mut run = Run { rig, made: 0, held: BTreeMap::new(), explained, duplicates: 0 };
    for (step, trouble) in steps {
        run.arm(trouble);
        run.step(step, trouble.polls).await;
    }
    run.check().await;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn messages_in_the_queue_have_their_objects_after_any_faults(
        steps in prop::collection::vec((step(), trouble()), 1..16),
        retries in any::<bool>(),
        name in prop_oneof![Just("q"), Just("q.fifo")],
    ) {
        let retry = if retries { RetryConfig::standard() } else { RetryConfig::disabled() };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        runtime.block_on(run(name, &steps, retry));
    }
}
