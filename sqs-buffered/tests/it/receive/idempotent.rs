//! Handlers that run once for each key.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sqs_buffered::{
    Attempt, BackOff, Begin, Consumer, Handler, HandlerError, IdempotencyStore, Idempotent, MemoryStore,
    MessageContext, Outcome, ReceiveEvent, State,
};
use sqs_client::operation::Action;
use sqs_client::types::Message;
use sqs_client::wire::service_error::ErrorCode;
use sqs_mock_server::faults::Fault;
use tokio::time::{Instant, sleep};

use super::rig::{Rig, millis, secs, until};

/// The number of runs of a handler.
type Runs = Arc<AtomicU32>;

/// A store with injected failures.
#[derive(Default)]
struct Flaky {
    memory: MemoryStore,
    begin_fails: AtomicBool,
    begin_hangs: AtomicBool,
    /// The number of calls that fail.
    complete_fails: AtomicU32,
}

impl IdempotencyStore for Flaky {
    async fn begin(&self, attempt: &Attempt, lease: Duration) -> Result<Begin, HandlerError> {
        if self.begin_hangs.swap(false, SeqCst) {
            std::future::pending::<()>().await;
        }
        if self.begin_fails.swap(false, SeqCst) {
            return Err("the store is down".into());
        }
        self.memory.begin(attempt, lease).await
    }

    async fn complete(&self, attempt: &Attempt) -> Result<(), HandlerError> {
        let fails = self.complete_fails.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1));
        if fails.is_ok() {
            return Err("the store went down".into());
        }
        self.memory.complete(attempt).await
    }

    async fn abandon(&self, attempt: &Attempt) -> Result<(), HandlerError> {
        self.memory.abandon(attempt).await
    }
}

async fn work(State(runs): State<Runs>) {
    runs.fetch_add(1, SeqCst);
    sleep(secs(2)).await;
}

fn context(id: &str) -> MessageContext {
    let mut message = Message::default();
    message.message_id = Some(id.to_owned());
    MessageContext::new(message)
}

/// Runs a consumer until its queue is empty. Returns the errors of handlers.
async fn run<A, S: Clone + Send + Sync + 'static>(
    rig: &Rig,
    state: S,
    handler: impl Handler<A, S>,
) -> Vec<String> {
    let errors = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&errors);
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .wait_time(secs(1))
        .back_off(BackOff::Fixed(secs(1)))
        .on_event(move |event| {
            if let ReceiveEvent::HandlerFailed { error, .. } = event {
                told.lock().unwrap().push(error.to_string());
            }
        })
        .state(state)
        .handler(handler)
        .build()
        .unwrap();
    consumer.run_until(until(|| rig.left() == 0)).await.unwrap();
    errors.lock().unwrap().clone()
}

#[tokio::test(start_paused = true)]
async fn second_delivery_waits_while_the_first_runs_and_is_deleted_after_it() {
    let store = Arc::new(MemoryStore::default());
    let begun = Instant::now();
    let of = |deadline: Duration, work: Duration| {
        let store = Arc::clone(&store);
        let handler = Idempotent::new(move || sleep(work), store);
        async move { handler.call(context("a").with_deadline(begun + deadline), &()).await.unwrap() }
    };
    let first = tokio::spawn(of(secs(30), secs(20)));
    sleep(secs(18)).await;
    assert_eq!(of(secs(99), secs(1)).await, Outcome::Retry(secs(5)));
    assert_eq!(first.await.unwrap(), Outcome::Ack);
    assert_eq!((of(secs(99), secs(1)).await, begun.elapsed()), (Outcome::Ack, secs(20)));
}

#[tokio::test(start_paused = true)]
async fn duplicates_across_consumers_run_once() {
    let rig = Rig::new("jobs").await;
    rig.server.faults().inject(Fault::redeliver().times(3));
    rig.send((0..20).map(|number| number.to_string())).await;
    let (runs, store) = (Runs::default(), Arc::new(MemoryStore::default()));
    let one = run(&rig, Arc::clone(&runs), Idempotent::new(work, Arc::clone(&store)));
    let other = run(&rig, Arc::clone(&runs), Idempotent::new(work, store));
    let (one, other) = tokio::join!(one, other);
    assert_eq!((one.len(), other.len(), runs.load(SeqCst)), (0, 0, 20));
}

#[tokio::test(start_paused = true)]
async fn duplicate_of_a_long_run_is_not_dead_lettered() {
    let rig = Rig::new("jobs").await;
    let dead = rig.dead_letter_after(2).await;
    rig.send(["soup", "soup"]).await;
    let (runs, store) = (Runs::default(), Arc::new(MemoryStore::default()));
    let handler = |store| {
        let long = async |State(runs): State<Runs>| {
            runs.fetch_add(1, SeqCst);
            sleep(secs(300)).await;
        };
        Idempotent::new(long, store)
            .key(|context| Ok(context.message().body().unwrap_or_default().to_owned()))
    };
    let one = run(&rig, Arc::clone(&runs), handler(Arc::clone(&store)));
    let other = run(&rig, Arc::clone(&runs), handler(store));
    tokio::join!(one, other);
    assert_eq!((runs.load(SeqCst), rig.server.queue(dead).messages().len()), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn message_whose_delete_failed_is_deleted_without_a_second_run() {
    let rig = Rig::new("jobs").await;
    let refused = Fault::fail_entries(ErrorCode::ReceiptHandleIsInvalid).on(Action::DeleteMessageBatch);
    rig.server.faults().inject(refused.times(2));
    rig.send(["soup"]).await;
    let runs = Runs::default();
    run(&rig, Arc::clone(&runs), Idempotent::new(work, MemoryStore::default())).await;
    assert_eq!(runs.load(SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn failed_panicked_and_undecided_runs_are_repeated_after_the_back_off() {
    let rig = Rig::new("jobs").await;
    rig.send(["soup"]).await;
    let (runs, begun) = (Runs::default(), Instant::now());
    let handler = |State(runs): State<Runs>| async move {
        match runs.fetch_add(1, SeqCst) {
            0 => Err("burnt"),
            1 => std::panic::resume_unwind(Box::new("dropped")),
            2 => Ok(Outcome::Nack(secs(1))),
            3 => Ok(Outcome::DeadLetter("there is no such queue".to_owned())),
            _ => Ok(Outcome::Ack),
        }
    };
    let errors = run(&rig, Arc::clone(&runs), Idempotent::new(handler, MemoryStore::default())).await;
    assert_eq!((errors, runs.load(SeqCst)), (vec!["burnt".to_owned()], 5));
    assert!(begun.elapsed() < secs(10), "no run waited for the end of a lease: {:?}", begun.elapsed());
}

#[tokio::test(start_paused = true)]
async fn failing_store_gives_the_message_back() {
    let rig = Rig::new("jobs").await;
    rig.send(["soup"]).await;
    let (runs, store) = (Runs::default(), Arc::new(Flaky::default()));
    store.begin_hangs.store(true, SeqCst);
    store.begin_fails.store(true, SeqCst);
    let handler = Idempotent::new(work, Arc::clone(&store)).store_timeout(secs(3));
    let errors = run(&rig, Arc::clone(&runs), handler).await;
    assert_eq!(errors, ["the idempotency store did not answer within 3s", "the store is down"]);
    assert_eq!(runs.load(SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn completion_that_fails_is_repeated_and_the_handler_is_not() {
    let rig = Rig::new("jobs").await;
    rig.send(["soup"]).await;
    let (runs, store) = (Runs::default(), Arc::new(Flaky::default()));
    store.complete_fails.store(3, SeqCst);
    let errors = run(&rig, Arc::clone(&runs), Idempotent::new(work, Arc::clone(&store))).await;
    assert_eq!((errors.len(), runs.load(SeqCst)), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn completion_that_always_fails_fails_the_handler_when_the_deadline_is_over() {
    let (store, begun) = (Arc::new(Flaky::default()), Instant::now());
    store.complete_fails.store(u32::MAX, SeqCst);
    let handler = Idempotent::new(async || (), Arc::clone(&store));
    let error = handler.call(context("a").with_deadline(begun + secs(20)), &()).await.unwrap_err();
    assert_eq!(error.to_string(), "the store went down");
    assert!((secs(17)..=secs(20)).contains(&begun.elapsed()), "{:?}", begun.elapsed());
}

#[tokio::test(start_paused = true)]
async fn message_is_retried_after_500_ms_if_its_key_expires_sooner() {
    let store = Arc::new(MemoryStore::default());
    store.begin(&Attempt::new("a"), millis(10)).await.unwrap();
    let handler = Idempotent::new(async || (), store);
    assert_eq!(handler.call(context("a"), &()).await.unwrap(), Outcome::Retry(millis(500)));
}

#[tokio::test(start_paused = true)]
async fn run_that_completes_its_attempt_itself_is_not_repeated_after_a_crash() {
    for completes in [false, true] {
        let rig = Rig::new("jobs").await;
        rig.send(["soup"]).await;
        let (runs, store) = (Runs::default(), Arc::new(MemoryStore::default()));
        let handler = move |attempt: Attempt, State((runs, store)): State<(Runs, Arc<MemoryStore>)>| async move {
            // The effect and its record are one step, as in a transaction.
            let run = runs.fetch_add(1, SeqCst);
            if completes {
                store.complete(&attempt).await?;
            }
            // A crash: the handler never returns.
            if run == 0 {
                std::future::pending::<()>().await;
            }
            Ok::<_, HandlerError>(())
        };
        let state = (Arc::clone(&runs), Arc::clone(&store));
        let first = Consumer::builder(rig.base.clone(), &rig.url)
            .state(state.clone())
            .handler(Idempotent::new(handler, Arc::clone(&store)))
            .build()
            .unwrap();
        tokio::select! {
            _ = first.run() => unreachable!(),
            () = until(|| runs.load(SeqCst) == 1) => {}
        }
        run(&rig, state, Idempotent::new(handler, store)).await;
        assert_eq!(runs.load(SeqCst), if completes { 1 } else { 2 });
    }
}

#[tokio::test(start_paused = true)]
async fn record_is_renewed_while_the_handler_runs() {
    let rig = Rig::new("jobs").await;
    rig.send(["soup"]).await;
    let (store, key) = (Arc::new(MemoryStore::default()), "soup");
    let handler = Idempotent::new(|| sleep(secs(200)), Arc::clone(&store))
        .key(|context| Ok(context.message().body().ok_or("no body")?.to_owned()));
    let watch = async {
        until(|| !store.is_empty()).await;
        while rig.left() > 0 {
            let begun = store.begin(&Attempt::new(key), secs(1)).await.unwrap();
            assert!(matches!(begun, Begin::InProgress { .. } | Begin::Completed), "{begun:?}");
            sleep(millis(500)).await;
        }
    };
    tokio::join!(run(&rig, (), handler), watch);
    assert_eq!(store.begin(&Attempt::new(key), secs(1)).await.unwrap(), Begin::Completed);
}

#[tokio::test(start_paused = true)]
async fn deduplication_key_is_group_and_deduplication_id() {
    let rig = Rig::new("jobs.fifo").await;
    let store = Arc::new(MemoryStore::default());
    let seen = Arc::new(Mutex::new(Vec::new()));
    let note = |attempt: Attempt, State(seen): State<Arc<Mutex<Vec<String>>>>| async move {
        seen.lock().unwrap().push(attempt.key().to_owned());
    };
    let send = |id: &str| {
        let send = rig.client.send_message().queue_url(&rig.url).message_body("soup");
        send.message_group_id("table").message_deduplication_id(id).send()
    };
    send("7").await.unwrap();
    let handler = || Idempotent::new(note, Arc::clone(&store)).key(MessageContext::deduplication_key);
    run(&rig, Arc::clone(&seen), handler()).await;
    // SQS has forgotten the id after five minutes; the store has not.
    sleep(secs(400)).await;
    send("7").await.unwrap();
    send("8").await.unwrap();
    assert_eq!(rig.left(), 2);
    run(&rig, Arc::clone(&seen), handler()).await;
    assert_eq!(*seen.lock().unwrap(), ["table 7", "table 8"]);
    let error = context("an id").deduplication_key().unwrap_err();
    assert_eq!(error.to_string(), "the message has no deduplication id");
}

#[tokio::test(start_paused = true)]
async fn default_key_is_the_message_id_also_on_fifo_queues() {
    let rig = Rig::new("jobs.fifo").await;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let note = |attempt: Attempt, State(seen): State<Arc<Mutex<Vec<String>>>>| async move {
        seen.lock().unwrap().push(attempt.key().to_owned());
    };
    let send = rig.client.send_message().queue_url(&rig.url).message_body("soup").message_group_id("table");
    let sent = send.message_deduplication_id("7").send().await.unwrap();
    run(&rig, Arc::clone(&seen), Idempotent::new(note, MemoryStore::default())).await;
    assert_eq!(*seen.lock().unwrap(), [sent.message_id().unwrap()]);
}

#[tokio::test(start_paused = true)]
async fn empty_key_is_an_error() {
    let handler = Idempotent::new(async || (), MemoryStore::default()).key(|_| Ok(String::new()));
    let error = handler.call(context("a"), &()).await.unwrap_err();
    assert_eq!(error.to_string(), "the idempotency key of the message is empty");
}
