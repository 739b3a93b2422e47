//! Sends leave their input unchanged and keep a payload in memory only for a retry.

use std::future::ready;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use sqs_client::client::{CallOptions, Execute, Retries};
use sqs_client::operation::Action;
use sqs_client::operation::send_message_batch::{SendMessageBatch, SendMessageBatchInput};
use sqs_extended::{
    Error, ErrorKind, ExtendedClient, Object, PayloadStore, Pointer, StoreFuture, Upload, UploadBody,
};
use sqs_mock_server::faults::Fault;

use super::rig::{Rig, large};
use super::sizes::entry;

#[tokio::test(start_paused = true)]
async fn attempt_leaves_its_input_unchanged_and_stores_its_own_objects() {
    let rig = Rig::with("q", |builder| builder).await;
    let client = ExtendedClient::new(rig.base.clone(), rig.store.clone());
    for body in ["y".repeat(200_000), large("")] {
        let mut input = SendMessageBatchInput::default();
        input.queue_url = Some(rig.url.clone());
        input.entries = Some(vec![entry("a", "x".repeat(40_000)), entry("b", body)]);
        let before = input.clone();
        for _ in 0..2 {
            let once = CallOptions::with_retries(Retries::Never);
            client.execute::<SendMessageBatch>(&input, once).await.unwrap();
        }
        assert_eq!(input, before);
    }
    assert_eq!((rig.bodies().len(), rig.store.objects().len()), (8, 2));
}

/// A store that shows whether the client still holds a payload after its upload.
#[derive(Clone, Default)]
struct Witness(Arc<Mutex<Vec<Bytes>>>);

impl Witness {
    fn is_kept(&self) -> bool {
        let given = self.0.lock().unwrap();
        assert!(!given.is_empty());
        !given.iter().all(Bytes::is_unique)
    }
}

impl PayloadStore for Witness {
    fn bucket(&self) -> &'static str {
        "own"
    }

    fn put<'a>(&'a self, _: &'a Pointer, upload: Upload) -> StoreFuture<'a, ()> {
        let UploadBody::Bytes(bytes) = upload.body else { panic!("the payload is a stream") };
        self.0.lock().unwrap().push(bytes);
        Box::pin(ready(Ok(())))
    }

    fn get<'a>(
        &'a self,
        _: &'a Pointer,
        _: Option<Range<u64>>,
        _: Option<&'a str>,
    ) -> StoreFuture<'a, Object> {
        Box::pin(ready(Err(Error::new(ErrorKind::NotFound, "it keeps nothing"))))
    }

    fn delete<'a>(&'a self, _: &'a Pointer) -> StoreFuture<'a, ()> {
        Box::pin(ready(Ok(())))
    }
}

#[tokio::test(start_paused = true)]
async fn payload_is_kept_in_memory_only_if_a_retry_may_store_it_again() {
    for (name, is_once, is_kept) in
        [("q", false, true), ("q", true, false), ("q.fifo", false, false), ("q.fifo", true, false)]
    {
        let rig = Rig::with(name, |builder| builder).await;
        let store = Witness::default();
        let client = ExtendedClient::new(rig.base.clone(), store.clone());
        let (seen, kept) = (store.clone(), Arc::new(Mutex::new(Vec::new())));
        let notes = Arc::clone(&kept);
        rig.server.faults().inject(Fault::throttle().when(move |request| {
            if matches!(request.action(), Some(Action::SendMessage | Action::SendMessageBatch)) {
                notes.lock().unwrap().push(seen.is_kept());
            }
            false
        }));
        let mut entry = entry("a", large("a"));
        entry.message_group_id = name.ends_with(".fifo").then(|| "g".to_owned());
        if is_once {
            let mut input = SendMessageBatchInput::default();
            (input.queue_url, input.entries) = (Some(rig.url.clone()), Some(vec![entry]));
            client
                .execute::<SendMessageBatch>(&input, CallOptions::with_retries(Retries::Never))
                .await
                .unwrap();
            assert_eq!(*kept.lock().unwrap(), [is_kept], "{name}");
            continue;
        }
        let send = client.send_message().queue_url(&rig.url).message_body(large("b"));
        send.set_message_group_id(entry.message_group_id.clone()).send().await.unwrap();
        client.send_message_batch().queue_url(&rig.url).entries(entry).send().await.unwrap();
        assert_eq!(*kept.lock().unwrap(), [is_kept; 2], "{name}");
    }
}
