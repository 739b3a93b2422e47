//! Queues, groups and runtimes do not block each other.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::join_all;
use sqs_buffered::{BufferedClient, Entry, SendErrorKind};
use sqs_client::client::{CallOptions, Execute};
use sqs_client::operation::send_message_batch::SendMessageBatchInput;
use sqs_client::operation::{Action, Operation};
use sqs_client::types::MessageAttributeValue;
use sqs_mock_server::faults::Fault;
use tokio::runtime::{Builder, Runtime};
use tokio::time::Instant;

use super::rig::Rig;

async fn create(rig: &Rig, name: &str) -> String {
    rig.client.create_queue().queue_name(name).send().await.unwrap().queue_url.unwrap()
}

/// Enqueues to a queue that does not respond until there is no room for it.
async fn fill(buffered: &BufferedClient<super::base_client::BaseClient>, url: &str) -> usize {
    let mut admitted = 0;
    while let Ok(ticket) = buffered.try_enqueue(Entry::new(url, "x")) {
        drop(ticket);
        admitted += 1;
        if admitted % 10 == 0 {
            tokio::task::yield_now().await;
        }
    }
    admitted
}

/// A queue that hangs takes at most its share of the capacity.
#[tokio::test(start_paused = true)]
async fn queue_that_hangs_does_not_stop_others() {
    let rig = Rig::standard().await;
    let dead = create(&rig, "dead").await;
    rig.server.faults().inject(Fault::latency(Duration::from_mins(10)).queue("dead"));
    let buffered = rig.builder().capacity(900, 1 << 20).build().unwrap();
    assert_eq!(fill(&buffered, &dead).await, 800);
    let mut waiting: Vec<_> =
        (0..50).map(|_| Box::pin(buffered.enqueue(Entry::new(&dead, "waits")))).collect();
    let all = join_all(waiting.iter_mut().map(|waits| tokio::time::timeout(Duration::from_millis(1), waits)));
    assert!(all.await.iter().all(Result::is_err));

    let (start, requests) = (Instant::now(), rig.count(Action::SendMessageBatch));
    for _ in 0..20 {
        let sends = join_all((0..50).map(|number| buffered.send(&rig.url, number.to_string())));
        assert!(sends.await.iter().all(Result::is_ok));
    }
    assert_eq!((rig.bodies().len(), start.elapsed()), (1_000, Duration::ZERO));
    assert!(
        requests.hits() <= 105,
        "{} requests: waiters of another queue must not split batches",
        requests.hits()
    );
}

/// The requests that a service gets from one client.
#[derive(Clone)]
struct Watched {
    inner: sqs_client::Client,
    seen: Arc<Mutex<Seen>>,
}

#[derive(Default)]
struct Seen {
    in_flight: usize,
    most: usize,
    groups: HashMap<String, usize>,
    most_of_a_group: usize,
}

impl Seen {
    fn count(&mut self, input: &SendMessageBatchInput, is_begun: bool) {
        self.in_flight = if is_begun { self.in_flight + 1 } else { self.in_flight - 1 };
        self.most = self.most.max(self.in_flight);
        let mut groups: Vec<_> =
            input.entries().iter().filter_map(|entry| entry.message_group_id()).collect();
        groups.sort_unstable();
        groups.dedup();
        for group in groups {
            let requests = self.groups.entry(group.to_owned()).or_default();
            *requests = if is_begun { *requests + 1 } else { *requests - 1 };
            self.most_of_a_group = self.most_of_a_group.max(*requests);
        }
    }
}

impl Execute for Watched {
    type Error = sqs_client::Error;

    async fn execute<O: Operation>(
        &self,
        input: &O::Input,
        options: CallOptions,
    ) -> Result<O::Output, Self::Error> {
        let batch = (input as &dyn std::any::Any).downcast_ref::<SendMessageBatchInput>();
        batch.inspect(|batch| self.seen.lock().unwrap().count(batch, true));
        let result = self.inner.execute::<O>(input, options).await;
        batch.inspect(|batch| self.seen.lock().unwrap().count(batch, false));
        result
    }
}

/// No group is in two requests at a time.
#[tokio::test(start_paused = true)]
async fn requests_in_flight_stay_within_the_bound_and_one_for_each_group() {
    for (is_fifo, bound) in [(false, 100), (true, 100)] {
        let rig = if is_fifo { Rig::fifo().await } else { Rig::standard().await };
        rig.server.faults().inject(Fault::latency(Duration::from_millis(50)));
        let seen = Arc::<Mutex<Seen>>::default();
        let client = Watched { inner: rig.client.clone(), seen: Arc::clone(&seen) };
        let buffered = BufferedClient::new(client);
        let sends = (0..8_000).map(|number| {
            let entry = Entry::new(&rig.url, number.to_string());
            let group = (number % 2_000).to_string();
            let entry = if is_fifo { entry.message_group_id(group) } else { entry };
            buffered.send_entry(entry)
        });
        assert!(join_all(sends).await.iter().all(Result::is_ok));
        let seen = seen.lock().unwrap();
        assert!((20..=bound).contains(&seen.most), "{} at a time", seen.most);
        assert_eq!((seen.in_flight, seen.most_of_a_group), (0, usize::from(is_fifo)));
    }
}

#[tokio::test(start_paused = true)]
async fn batch_of_exactly_the_maximum_size_is_sent_as_one() {
    const ATTRIBUTE: usize = "name".len() + "String".len() + 90;
    let rig = Rig::standard().await;
    let (buffered, requests) = (rig.buffered(), rig.count(Action::SendMessageBatch));
    let body = |bytes: usize| "x".repeat(bytes - ATTRIBUTE);
    let entry = |bytes| {
        let value = MessageAttributeValue::string("y".repeat(90));
        Entry::new(&rig.url, body(bytes)).message_attributes("name", value)
    };
    // Ten messages of 1,048,576 bytes in all.
    let sizes = [104_857, 104_857, 104_857, 104_857, 104_857, 104_857, 104_857, 104_857, 104_860, 104_860];
    assert_eq!(sizes.iter().sum::<usize>(), 1 << 20);
    let sends = join_all(sizes.map(|bytes| buffered.send_entry(entry(bytes)))).await;
    assert!(sends.iter().all(Result::is_ok), "{sends:?}");
    assert_eq!(requests.hits(), 1);
    buffered.send_entry(entry(1 << 20)).await.unwrap();
    assert_eq!(requests.hits(), 2);
}

/// If a lane looked at all entries for each that expires, this would take many minutes.
#[tokio::test(start_paused = true)]
async fn hundred_thousand_groups_expire_one_by_one() {
    const GROUPS: usize = 100_000;
    let rig = Rig::fifo().await;
    rig.server.faults().inject(Fault::latency(Duration::from_mins(10)));
    let buffered = rig.builder().capacity(GROUPS * 2, 1 << 30).build().unwrap();
    let mut tickets = Vec::with_capacity(GROUPS);
    for number in 0..GROUPS {
        let entry = Entry::new(&rig.url, "x").message_group_id(number.to_string());
        tickets.push(buffered.try_enqueue(entry.message_deduplication_id("x")).unwrap());
        // Each entry has a different deadline.
        tokio::time::advance(Duration::from_micros(1)).await;
    }
    let summary = buffered.flush().await;
    assert_eq!(summary.failures, [(SendErrorKind::Timeout, GROUPS as u64)].into());
    for ticket in tickets {
        assert_eq!(ticket.await.unwrap_err().kind(), SendErrorKind::Timeout);
    }
}

fn runtime(is_paused: bool) -> Runtime {
    Builder::new_current_thread().enable_all().start_paused(is_paused).build().unwrap()
}

/// The runtime of the caller exists, but nothing drives it.
#[test]
fn ticket_resolves_although_the_runtime_that_admitted_its_entry_is_idle() {
    let (idle, other) = (runtime(false), runtime(true));
    let (rig, buffered, ticket) = idle.block_on(async {
        let rig = Rig::standard().await;
        let buffered = rig.buffered();
        let ticket = buffered.try_enqueue(Entry::new(&rig.url, "1")).unwrap();
        (rig, buffered, ticket)
    });
    let error = other.block_on(ticket).unwrap_err();
    assert_eq!((error.kind(), error.is_outcome_unknown()), (SendErrorKind::Timeout, true));
    drop((idle, buffered, rig));
}

#[test]
fn entries_of_a_runtime_that_is_idle_are_sent_by_another() {
    let (idle, other) = (runtime(false), runtime(false));
    let (rig, buffered, first) = idle.block_on(async {
        let rig = Rig::standard().await;
        let buffered = rig.buffered();
        let first = buffered.try_enqueue(Entry::new(&rig.url, "1")).unwrap();
        (rig, buffered, first)
    });
    other.block_on(async {
        buffered.send(&rig.url, "2").await.unwrap();
        first.await.unwrap();
    });
    assert_eq!(rig.bodies(), ["1", "2"]);
}

#[test]
fn client_with_its_own_runtime_works_without_another_runtime() {
    let (sender, caller) =
        (Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap(), runtime(false));
    let rig = sender.block_on(Rig::standard());
    let buffered = rig.builder().runtime(sender.handle().clone()).build().unwrap();
    let ticket = buffered.try_enqueue(Entry::new(&rig.url, "without a runtime of the caller")).unwrap();
    drop(caller.block_on(ticket).unwrap());
    let ticket = caller.block_on(buffered.enqueue(Entry::new(&rig.url, "2"))).unwrap();
    drop(caller);
    assert!(sender.block_on(ticket).is_ok());
}

/// A runtime that takes an entry of another runtime into its batch may not be driven afterwards.
#[test]
fn ticket_whose_entry_another_runtime_has_taken_resolves() {
    let (first, second) = (runtime(false), runtime(true));
    let rig = first.block_on(Rig::standard());
    rig.server.faults().inject(Fault::latency(Duration::from_millis(100)).times(1));
    let buffered = rig.buffered();
    let (sender, url) = (buffered.clone(), rig.url.clone());
    let mut later = None;
    first.block_on(async {
        let first = buffered.enqueue(Entry::new(&rig.url, "1")).await.unwrap();
        tokio::time::sleep(Duration::from_millis(10)).await;
        let enqueuing =
            std::thread::spawn(move || second.block_on(sender.enqueue(Entry::new(&url, "2"))).unwrap());
        later = Some(enqueuing.join().unwrap());
        first.await.unwrap();
    });
    let ticket = later.unwrap();
    let end = runtime(true).block_on(ticket);
    assert!(end.is_ok() || end.is_err_and(|error| error.kind() == SendErrorKind::Timeout));
}

#[test]
fn ticket_can_be_awaited_on_one_runtime_after_another() {
    let own = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let rig = own.block_on(Rig::standard());
    rig.server.faults().inject(Fault::latency(Duration::from_millis(100)).times(1));
    let buffered = rig.builder().runtime(own.handle().clone()).build().unwrap();
    let mut ticket = buffered.try_enqueue(Entry::new(&rig.url, "1")).unwrap();
    let first = runtime(false);
    let early = async { tokio::time::timeout(Duration::from_millis(10), &mut ticket).await.is_err() };
    assert!(first.block_on(early));
    drop(first);
    runtime(false).block_on(ticket).unwrap();
}
