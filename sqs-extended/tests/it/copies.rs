//! What is not copied, and not kept, while messages are sent.

use std::any::Any;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use sqs_client::Client;
use sqs_client::client::Execute;
use sqs_client::config::retry::RetryConfig;
use sqs_client::operation::send_message_batch::{SendMessageBatch, SendMessageBatchInput};
use sqs_client::operation::{Action, Operation};
use sqs_extended::{
    ExtendedClient, MemoryStore, Object, ObjectPage, PayloadStore, Pointer, StoreError, Upload, UploadBody,
};
use sqs_mock_server::faults::Fault;

use crate::rig::{Rig, large};
use crate::sizes::entry;

/// A client that notes where the bodies lie that it is to send.
#[derive(Clone)]
struct Spy {
    inner: Client,
    bodies: Arc<Mutex<Vec<usize>>>,
}

impl Spy {
    fn look(&self, input: &dyn Any) {
        if let Some(batch) = input.downcast_ref::<SendMessageBatchInput>() {
            let places = batch.entries().iter().map(|entry| entry.message_body().as_ptr().addr());
            self.bodies.lock().unwrap().extend(places);
        }
    }
}

impl Execute for Spy {
    type Error = sqs_client::Error;

    async fn execute<O: Operation>(&self, input: O::Input) -> Result<O::Output, Self::Error> {
        self.look(&input);
        self.inner.execute::<O>(input).await
    }

    async fn execute_once<O: Operation>(&self, input: &O::Input) -> Result<O::Output, Self::Error> {
        self.look(input);
        self.inner.execute_once::<O>(input).await
    }

    async fn execute_unrepeated<O: Operation>(
        &self,
        input: &mut O::Input,
        earlier: Option<&sqs_client::Error>,
    ) -> Result<O::Output, Self::Error> {
        self.look(input);
        self.inner.execute_unrepeated::<O>(input, earlier).await
    }
}

#[tokio::test(start_paused = true)]
async fn what_lies_in_messages_is_never_copied_not_even_for_repetitions() {
    for url in ["q", "q.fifo"] {
        let rig = Rig::retrying(url, RetryConfig::standard(), |builder| builder).await;
        let spy = Spy { inner: rig.plain.clone(), bodies: Arc::default() };
        let client = ExtendedClient::new(spy.clone(), rig.store.clone());
        let mut entries = vec![entry("a", "x".repeat(200_000)), entry("b", large("")), entry("c", "small")];
        for entry in &mut entries {
            entry.message_group_id = rig.url.ends_with(".fifo").then(|| "g".to_owned());
        }
        let places: Vec<_> = entries.iter().map(|entry| entry.message_body().as_ptr().addr()).collect();
        rig.server.faults().inject(Fault::reset_before().on(Action::SendMessageBatch).times(1));
        let batch = client.send_message_batch().queue_url(&rig.url).set_entries(Some(entries));
        assert_eq!(batch.send().await.unwrap().successful.len(), 3);
        let seen = spy.bodies.lock().unwrap();
        // The layer repeats a batch to a standard queue itself; the client below one to a FIFO queue.
        assert_eq!(seen.len(), if url == "q" { 6 } else { 3 });
        for sent in seen.chunks(3) {
            assert_eq!((sent[0], sent[2]), (places[0], places[2]));
            assert_ne!(sent[1], places[1], "this one is a pointer");
        }
    }
}

/// The input is the caller's, who gives it again.
#[tokio::test(start_paused = true)]
async fn one_attempt_copies_a_batch_only_to_change_it() {
    let rig = Rig::with("q", |builder| builder).await;
    let spy = Spy { inner: rig.plain.clone(), bodies: Arc::default() };
    let client = ExtendedClient::new(spy.clone(), rig.store.clone());
    for (body, is_copied) in [("y".repeat(200_000), false), (large(""), true)] {
        let mut input = SendMessageBatchInput::default();
        input.queue_url = Some(rig.url.clone());
        input.entries = Some(vec![entry("a", "x".repeat(40_000)), entry("b", body)]);
        let before = input.clone();
        let places: Vec<_> =
            input.entries().iter().map(|entry| entry.message_body().as_ptr().addr()).collect();
        for _ in 0..2 {
            client.execute_once::<SendMessageBatch>(&input).await.unwrap();
            let seen = std::mem::take(&mut *spy.bodies.lock().unwrap());
            assert_eq!(seen.len(), 2);
            // Of "a" nothing is changed: it moves only where the whole batch is copied.
            assert_eq!((seen[0] == places[0], seen[1] == places[1]), (!is_copied, !is_copied));
        }
        assert_eq!(input, before);
    }
    assert_eq!(
        (rig.bodies().len(), rig.store.objects().len()),
        (8, 2),
        "each attempt has objects of its own"
    );
}

/// A store that shows whether somebody else still holds what it was given.
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

    async fn put(&self, _: &Pointer, upload: Upload) -> Result<(), StoreError> {
        let UploadBody::Bytes(bytes) = upload.body else { panic!("it is given whole") };
        self.0.lock().unwrap().push(bytes);
        Ok(())
    }

    async fn get(&self, at: &Pointer, from: u64, tag: Option<&str>) -> Result<Object, StoreError> {
        MemoryStore::new("none").get(at, from, tag).await
    }

    async fn delete(&self, _: &Pointer) -> Result<(), StoreError> {
        Ok(())
    }

    async fn list(&self, _: &str, _: &str, _: Option<&str>) -> Result<ObjectPage, StoreError> {
        Ok(ObjectPage::default())
    }
}

#[tokio::test(start_paused = true)]
async fn a_payload_is_kept_only_where_it_may_have_to_be_stored_again() {
    for (name, is_once, is_kept) in
        [("q", false, true), ("q", true, false), ("q.fifo", false, false), ("q.fifo", true, false)]
    {
        let rig = Rig::with(name, |builder| builder).await;
        let store = Witness::default();
        let client = ExtendedClient::new(rig.plain.clone(), store.clone());
        let (seen, kept) = (store.clone(), Arc::new(Mutex::new(Vec::new())));
        let notes = Arc::clone(&kept);
        rig.server.faults().inject(Fault::throttle().when(move |request| {
            if [Action::SendMessage, Action::SendMessageBatch].contains(&request.action) {
                notes.lock().unwrap().push(seen.is_kept());
            }
            false
        }));
        let mut entry = entry("a", large("a"));
        entry.message_group_id = name.ends_with(".fifo").then(|| "g".to_owned());
        if is_once {
            let mut input = SendMessageBatchInput::default();
            (input.queue_url, input.entries) = (Some(rig.url.clone()), Some(vec![entry]));
            client.execute_once::<SendMessageBatch>(&input).await.unwrap();
            assert_eq!(*kept.lock().unwrap(), [is_kept], "{name}");
            continue;
        }
        let send = client.send_message().queue_url(&rig.url).message_body(large("b"));
        send.set_message_group_id(entry.message_group_id.clone()).send().await.unwrap();
        client.send_message_batch().queue_url(&rig.url).entries(entry).send().await.unwrap();
        assert_eq!(*kept.lock().unwrap(), [is_kept; 2], "{name}");
    }
}
