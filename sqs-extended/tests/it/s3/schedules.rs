//! After any faults, each message with a streamed payload has its object, even if its process ended. An event names each
//! object without a message.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use proptest::prelude::*;
use sqs_client::Client;
use sqs_client::config::retry::RetryConfig;
use sqs_client::operation::Action;
use sqs_client::wire::service_error::ErrorCode;
use sqs_extended::{Event, ExtendedClient, ExtendedClientBuilder, Payload};
use sqs_mock_server::faults::Fault;
use sqs_mock_server::s3::S3Action;
use tokio::runtime::Runtime;

use super::backend::Backend;
use super::rig::{BUCKET, PART, bytes};
use crate::schedules::within;

/// A streamed payload and the faults of its send.
#[derive(Clone, Debug)]
struct Send {
    /// Whether it has more than one part.
    is_large: bool,
    /// The source fails after this number of pieces.
    breaks_after: Option<usize>,
    /// The call is dropped after this number of polls.
    polls: Option<u32>,
    store: Vec<Fault>,
    service: Option<Fault>,
}

const PIECE: usize = 512 << 10;

impl Send {
    fn length(&self) -> usize {
        if self.is_large { PART + 4_321 } else { 1_234 }
    }

    fn is_fault_free(&self) -> bool {
        let Self { breaks_after, polls, store, service, .. } = self;
        breaks_after.is_none() && polls.is_none() && store.is_empty() && service.is_none()
    }
}

/// A payload begins with its number, so that no two are equal.
fn payload(number: usize, length: usize) -> Bytes {
    Bytes::from([format!("{number:04}").as_bytes(), &bytes(length)[4..]].concat())
}

fn store_fault() -> impl Strategy<Value = Fault> {
    let action = prop_oneof![
        Just(S3Action::PutObject),
        Just(S3Action::CreateMultipartUpload),
        Just(S3Action::UploadPart),
        Just(S3Action::CompleteMultipartUpload),
        Just(S3Action::AbortMultipartUpload),
        Just(S3Action::HeadObject),
        Just(S3Action::DeleteObject),
    ];
    let fault = prop_oneof![
        Just(Fault::s3_error("AccessDenied")),
        Just(Fault::s3_error("InternalError")),
        Just(Fault::status(503, "busy")),
        Just(Fault::reset_before()),
        Just(Fault::reset_after()),
        Just(Fault::truncate()),
    ];
    // The SDK makes three attempts: the caller does not see one failure, but sees four.
    let times = prop_oneof![Just(1_u64), Just(4), Just(9)];
    (action, fault, times, 0_u64..2)
        .prop_map(|(action, fault, times, skip)| fault.on_s3(action).times(times).skip(skip))
}

fn service_fault() -> impl Strategy<Value = Fault> {
    let fault = prop_oneof![
        Just(Fault::throttle()),
        Just(Fault::error(ErrorCode::AccessDenied)),
        Just(Fault::error(ErrorCode::InternalFailure)),
        Just(Fault::reset_before()),
        Just(Fault::reset_after()),
        Just(Fault::truncate()),
        Just(Fault::corrupt()),
    ];
    (fault, 1_u64..4).prop_map(|(fault, times)| fault.on(Action::SendMessage).times(times))
}

fn send() -> impl Strategy<Value = Send> {
    let store = prop::collection::vec(store_fault(), 0..4);
    let service = prop::option::weighted(0.3, service_fault());
    let breaks_after = prop::option::weighted(0.15, 0_usize..11);
    let polls = prop::option::weighted(0.3, 1_u32..40);
    (prop::bool::weighted(0.6), breaks_after, polls, store, service).prop_map(
        |(is_large, breaks_after, polls, store, service)| Send {
            is_large,
            breaks_after,
            polls,
            store,
            service,
        },
    )
}

async fn stream_one(backend: &Backend, client: &ExtendedClient, number: usize, send: &Send) {
    backend.server.faults().clear();
    for fault in send.store.iter().chain(&send.service) {
        backend.server.faults().inject(fault.clone());
    }
    let body = payload(number, send.length());
    let pieces = (0..body.len()).step_by(PIECE).map(|at| body.slice(at..body.len().min(at + PIECE)));
    let mut pieces: Vec<std::io::Result<Bytes>> = pieces.map(Ok).collect();
    if let Some(place) = send.breaks_after {
        pieces.insert(place.min(pieces.len()), Err(std::io::Error::other("injected failure")));
    }
    let payload = Payload::from_stream(stream::iter(pieces)).binary();
    let call = Box::pin(client.send_stream(&backend.url, payload).send());
    let _ = within(send.polls, call).await;
}

/// Waits until S3 has closed all connections, so that no request is pending.
async fn wait_until_closed(backend: &Backend) {
    for _ in 0..4_000 {
        if backend.s3().connections() == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("connections are still open: {:?}", backend.s3().requests());
}

async fn check(
    backend: &Backend,
    lengths: &BTreeMap<usize, usize>,
    named: &BTreeSet<String>,
    is_fault_free: bool,
) {
    backend.server.faults().clear();
    let (live, objects) = (backend.live(), backend.objects());
    for key in &live {
        let stored = backend.s3().bytes(BUCKET, key).await;
        let stored = stored.unwrap_or_else(|error| panic!("message without its object {key}: {error}"));
        let number = std::str::from_utf8(&stored[..4]).unwrap().parse().unwrap();
        assert!(payload(number, lengths[&number]) == stored, "wrong bytes in {key}");
    }
    if is_fault_free {
        assert_eq!((&live, live.len(), backend.uploads().len()), (&objects, lengths.len(), 0));
    }
    let orphans: BTreeSet<_> = objects.difference(&live).cloned().collect();
    let unnamed: Vec<_> = orphans.difference(named).collect();
    assert!(unnamed.is_empty(), "{unnamed:?} of {orphans:?} have no event: {named:?}");
}

fn run(sends: &[Send], retries: bool, finishes: bool) {
    let server = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let backend = server.block_on(Backend::start());
    let sender: Runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let pause = Duration::from_millis(1);
    let retry = RetryConfig::standard().with_initial_backoff(pause).with_max_backoff(pause);
    let retry = if retries { retry } else { RetryConfig::disabled() };
    let named = Arc::new(Mutex::new(BTreeSet::new()));
    let keys = Arc::clone(&named);
    let listener = move |event: &Event<'_>| {
        if let Event::OutcomeUnknown { pointer } | Event::CleanupGivenUp { pointer, .. } = event {
            keys.lock().unwrap().insert(pointer.key().to_owned());
        }
    };
    sender.block_on(async {
        // The object of a dropped upload is deleted again after an eighth of this.
        let settings = |builder: ExtendedClientBuilder<Client>| {
            builder.on_event(listener).store_timeout(Duration::from_secs(4))
        };
        let client = backend.client_with(retry, settings);
        for (number, send) in sends.iter().enumerate() {
            stream_one(&backend, &client, number, send).await;
        }
        backend.server.faults().clear();
        if finishes {
            client.finish_cleanup().await;
        }
    });
    // Dropping the runtime ends all background work, as the end of a process does.
    drop(sender);
    let named = named.lock().unwrap().clone();
    let lengths = sends.iter().map(Send::length).enumerate().collect();
    server.block_on(async {
        wait_until_closed(&backend).await;
        check(&backend, &lengths, &named, sends.iter().all(Send::is_fault_free)).await;
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 64, ..ProptestConfig::default() })]

    #[test]
    fn streamed_messages_keep_their_objects_and_events_name_the_rest(
        sends in prop::collection::vec(send(), 1..6),
        retries in any::<bool>(),
        finishes in any::<bool>(),
    ) {
        run(&sends, retries, finishes);
    }
}
