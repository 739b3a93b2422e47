//! A client below that stores the bodies of messages before they are sent.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::join_all;
use sqs_buffered::{BufferedClient, Entry, SendErrorKind};
use sqs_client::Error;
use sqs_client::client::{CallOptions, Execute};
use sqs_client::error::BuildError;
use sqs_client::operation::list_queues::{ListQueues, ListQueuesInput};
use sqs_client::operation::{Action, Operation};
use sqs_client::types::SendMessageBatchRequestEntry;
use sqs_client::wire::service_error::ErrorCode;
use sqs_mock_server::faults::Fault;
use tokio::time::{Instant, sleep};

use super::base_client::BaseClient;
use super::rig::Rig;

/// What is left of a stored body.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kept {
    Stored,
    /// Its message may have been sent.
    InDoubt,
}

/// Stores bodies under numbers.
#[derive(Clone, Debug)]
struct Storing {
    inner: BaseClient,
    takes: Duration,
    stored: Arc<Mutex<BTreeMap<String, Kept>>>,
    puts: Arc<AtomicU32>,
    is_down: Arc<AtomicBool>,
    tries: Arc<AtomicU32>,
}

impl Storing {
    fn new(rig: &Rig, takes: Duration) -> Self {
        Self {
            inner: rig.base.clone(),
            takes,
            stored: Arc::default(),
            puts: Arc::default(),
            is_down: Arc::default(),
            tries: Arc::default(),
        }
    }

    fn stored(&self) -> Vec<Kept> {
        self.stored.lock().unwrap().values().copied().collect()
    }

    fn puts(&self) -> u32 {
        self.puts.load(Ordering::Relaxed)
    }

    async fn store(&self, body: &str) -> Result<String, Error> {
        self.tries.fetch_add(1, Ordering::Relaxed);
        sleep(self.takes).await;
        if self.is_down.load(Ordering::Relaxed) {
            // The store of this client is SQS itself.
            self.inner.execute::<ListQueues>(&ListQueuesInput::default(), CallOptions::default()).await?;
        }
        if body == "bad" {
            return Err(BuildError::missing_field("bucket", "store").into());
        }
        let key = format!("{body} under {}", self.puts.fetch_add(1, Ordering::Relaxed));
        self.stored.lock().unwrap().insert(key.clone(), Kept::Stored);
        Ok(key)
    }
}

impl Execute for Storing {
    type Error = Error;

    async fn execute<O: Operation>(
        &self,
        input: &O::Input,
        options: CallOptions,
    ) -> Result<O::Output, Error> {
        self.inner.execute::<O>(input, options).await
    }

    async fn prepare(
        &self,
        _: &str,
        entry: &SendMessageBatchRequestEntry,
    ) -> Result<Option<SendMessageBatchRequestEntry>, Error> {
        let mut prepared = entry.clone();
        prepared.message_body = self.store(&entry.message_body).await?;
        Ok(Some(prepared))
    }

    async fn discard(&self, entry: &SendMessageBatchRequestEntry, is_maybe_sent: bool) {
        let mut stored = self.stored.lock().unwrap();
        if is_maybe_sent {
            stored.insert(entry.message_body.clone(), Kept::InDoubt);
        } else {
            assert!(stored.remove(&entry.message_body).is_some(), "discarded twice");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn body_is_stored_once_over_all_attempts() {
    for rig in [Rig::standard().await, Rig::fifo().await] {
        rig.server.faults().inject(Fault::throttle().on(Action::SendMessageBatch).times(3));
        // Storing takes longer than an attempt may.
        let client = Storing::new(&rig, Duration::from_secs(40));
        let buffered = BufferedClient::new(client.clone());
        buffered.send_entry(rig.message("tea")).await.unwrap();
        assert_eq!(
            (client.puts(), client.stored(), rig.bodies()),
            (1, vec![Kept::Stored], vec!["tea under 0".into()])
        );
    }
}

#[tokio::test(start_paused = true)]
async fn message_that_may_be_sent_twice_is_stored_twice() {
    for rig in [Rig::standard().await, Rig::fifo().await] {
        let is_fifo = rig.url.ends_with(".fifo");
        rig.server.faults().inject(Fault::reset_after().on(Action::SendMessageBatch).times(1));
        let client = Storing::new(&rig, Duration::ZERO);
        BufferedClient::new(client.clone()).send_entry(rig.message("tea")).await.unwrap();
        let (kept, bodies) = if is_fifo {
            (vec![Kept::Stored], vec!["tea under 0"])
        } else {
            (vec![Kept::InDoubt, Kept::Stored], vec!["tea under 0", "tea under 1"])
        };
        assert_eq!((client.stored(), rig.bodies()), (kept, bodies.into_iter().map(str::to_owned).collect()));
    }
}

#[tokio::test(start_paused = true)]
async fn message_that_cannot_be_stored_holds_back_no_other() {
    for rig in [Rig::standard().await, Rig::fifo().await] {
        let client = Storing::new(&rig, Duration::from_secs(1));
        let buffered = BufferedClient::new(client.clone());
        let sends = ["0", "1", "bad", "3"].map(|body| buffered.send_entry(rig.message(body)));
        let ends = join_all(sends).await;
        let error = ends[2].as_ref().unwrap_err();
        assert_eq!((error.kind(), error.is_outcome_unknown()), (SendErrorKind::Rejected, false));
        assert!(format!("{error:?}").contains("bucket"), "{error:?}");
        assert_eq!(ends.iter().filter(|end| end.is_ok()).count(), 3);
        assert_eq!((client.stored().len(), rig.bodies().len()), (3, 3));
    }
}

#[tokio::test(start_paused = true)]
async fn refused_message_leaves_nothing_stored() {
    for count in [1, 10] {
        let rig = Rig::standard().await;
        rig.server.faults().inject(Fault::error(ErrorCode::AccessDenied).on(Action::SendMessageBatch));
        let client = Storing::new(&rig, Duration::ZERO);
        let buffered = BufferedClient::new(client.clone());
        let sends = (0..count).map(|number| buffered.send(&rig.url, number.to_string()));
        assert!(join_all(sends).await.iter().all(Result::is_err));
        assert_eq!((client.puts(), client.stored()), (count, vec![]));
    }
}

#[tokio::test(start_paused = true)]
async fn message_that_ends_before_it_is_sent_leaves_nothing_stored() {
    for (takes, throttled) in [(Duration::ZERO, true), (Duration::from_secs(5), false)] {
        let rig = Rig::standard().await;
        if throttled {
            rig.server.faults().inject(Fault::throttle().on(Action::SendMessageBatch));
        }
        let client = Storing::new(&rig, takes);
        let buffered = BufferedClient::new(client.clone());
        let mut tickets = Vec::new();
        for number in 0..10 {
            tickets.push(buffered.enqueue(Entry::new(&rig.url, number.to_string())).await.unwrap());
        }
        sleep(Duration::from_secs(1)).await;
        let start = Instant::now();
        buffered.close_within(Duration::from_secs(2)).await;
        for ticket in tickets {
            assert_eq!(ticket.await.unwrap_err().kind(), SendErrorKind::Aborted);
        }
        assert_eq!((start.elapsed().as_secs(), client.stored(), rig.bodies()), (2, vec![], vec![]));
    }
}

#[tokio::test(start_paused = true)]
async fn fifo_message_that_may_be_stored_keeps_its_body_whatever_follows() {
    let rig = Rig::fifo().await;
    rig.server.faults().inject(Fault::reset_after().on(Action::SendMessageBatch).times(1));
    rig.server.faults().inject(Fault::throttle().on(Action::SendMessageBatch));
    let client = Storing::new(&rig, Duration::ZERO);
    let buffered = BufferedClient::new(client.clone());
    let ticket = buffered.enqueue(rig.message("tea")).await.unwrap();
    sleep(Duration::from_secs(1)).await;
    buffered.close_within(Duration::from_secs(1)).await;
    let error = ticket.await.unwrap_err();
    assert_eq!((error.kind(), error.is_outcome_unknown()), (SendErrorKind::Aborted, true));
    assert_eq!((client.stored(), rig.bodies()), (vec![Kept::InDoubt], vec!["tea under 0".into()]));
}

/// A queue is down, and so is the store of one of its messages: the lane tries one batch at a time all the same.
#[tokio::test(start_paused = true)]
async fn outage_of_the_store_holds_the_lane_back() {
    let rig = Rig::standard().await;
    let client = Storing::new(&rig, Duration::ZERO);
    client.is_down.store(true, Ordering::Relaxed);
    let outage = Fault::error(ErrorCode::InternalError).on(Action::ListQueues);
    rig.server.faults().inject(outage);
    let buffered = BufferedClient::new(client.clone());
    let sends = (0..200).map(|number| buffered.send(&rig.url, number.to_string()));
    let recovery = async {
        sleep(Duration::from_secs(20)).await;
        client.is_down.store(false, Ordering::Relaxed);
    };
    let (ends, ()) = tokio::join!(join_all(sends), recovery);
    assert!(ends.iter().all(Result::is_ok));
    let tries = client.tries.load(Ordering::Relaxed);
    assert!(tries < 200 + 10 * 60, "{tries} tries, one batch at a time");
}
