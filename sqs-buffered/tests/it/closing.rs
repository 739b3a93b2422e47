//! Flush, close, drop, and runtimes that end.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use futures_util::FutureExt as _;
use sqs_buffered::{Entry, Linger, SendErrorKind};
use sqs_client::operation::Action;
use sqs_client::wire::service_error::ErrorCode;
use sqs_mock_server::faults::Fault;
use tokio::time::Instant;

use super::rig::{Rig, SHAPES};

const LONG: Linger = Linger::Fixed(Duration::from_secs(3600));

/// A flush resolves when all entries admitted before it have ended.
#[tokio::test(start_paused = true)]
async fn flush_returns_when_all_admitted_entries_have_ended() {
    let rig = Rig::standard().await;
    rig.server.faults().inject(Fault::throttle().times(2));
    let buffered = rig.builder().linger(LONG).build().unwrap();
    for number in 0..25 {
        drop(buffered.enqueue(Entry::new(&rig.url, number.to_string())).await.unwrap());
    }
    let summary = buffered.flush().await;
    assert_eq!((rig.bodies().len(), buffered.stats().entries), (25, 0));
    assert_eq!((summary.succeeded, summary.total()), (25, 25));
    assert_eq!(buffered.flush().await.total(), 0, "no entry is left");
}

#[tokio::test(start_paused = true)]
async fn flush_and_close_return_the_results_of_the_entries() {
    let rig = Rig::standard().await;
    rig.server.faults().inject(Fault::fail_entries(ErrorCode::InvalidMessageContents).body_contains("bad"));
    let buffered = rig.builder().linger(LONG).close_grace(Duration::from_secs(3)).build().unwrap();
    for body in ["good", "bad", "good", "bad", "bad"] {
        buffered.send_detached(Entry::new(&rig.url, body)).await.unwrap();
    }
    let summary = buffered.flush().await;
    assert_eq!((summary.succeeded, summary.failed()), (2, 3));
    assert_eq!(summary.failures[&SendErrorKind::Rejected], 3);
    rig.server.faults().inject(Fault::latency(Duration::from_secs(20)));
    buffered.send_detached(Entry::new(&rig.url, "slow")).await.unwrap();
    let (closed, flushed) = tokio::join!(buffered.close(), buffered.flush());
    assert_eq!((flushed.total(), flushed.failures[&SendErrorKind::Aborted]), (1, 1));
    assert_eq!((closed.succeeded, closed.failures[&SendErrorKind::Rejected], closed.total()), (2, 3, 6));
    assert_eq!(buffered.close().await, closed);
}

#[test]
fn flush_ends_although_the_runtime_of_the_entries_is_idle() {
    let runtime = || {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_all();
        builder
    };
    let idle = runtime().build().unwrap();
    let rig = idle.block_on(Rig::standard());
    let buffered = rig.builder().linger(LONG).delivery_timeout(Duration::from_secs(1)).build().unwrap();
    idle.block_on(buffered.send_detached(Entry::new(&rig.url, "tea"))).unwrap();
    let other = runtime().start_paused(true).build().unwrap();
    let summary = other.block_on(buffered.flush());
    assert_eq!((summary.total(), summary.failures[&SendErrorKind::Timeout]), (1, 1));
    drop(idle);
}

#[tokio::test(start_paused = true)]
async fn close_sends_admitted_entries_and_admits_no_more() {
    let rig = Rig::standard().await;
    let buffered = rig.builder().linger(LONG).build().unwrap();
    let ticket = buffered.enqueue(Entry::new(&rig.url, "tea")).await.unwrap();
    buffered.close().await;
    ticket.await.unwrap();
    buffered.close().await;
    assert_eq!(buffered.send(&rig.url, "more").await.unwrap_err().kind(), SendErrorKind::Closed);
    assert_eq!(buffered.try_enqueue(Entry::new(&rig.url, "more")).unwrap_err().kind(), SendErrorKind::Closed);
    let refused = buffered.enqueue_delete(&rig.url, "handle").await.unwrap_err();
    assert_eq!((refused.kind(), refused.into_entry()), (SendErrorKind::Closed, "handle".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn close_aborts_entries_that_take_longer_than_the_grace() {
    for shape in SHAPES {
        let rig = Rig::standard().await;
        rig.server.faults().inject(Fault::latency(Duration::from_secs(20)));
        let builder = rig
            .builder()
            .in_flight(sqs_buffered::InFlight::Fixed(shape.len()))
            .close_grace(Duration::from_secs(3));
        let buffered = builder.build().unwrap();
        let flying = rig.begin(&buffered, shape).await;
        assert_eq!(buffered.stats().batches_in_flight, shape.len());
        let waiting = buffered.enqueue(Entry::new(&rig.url, "waits")).await.unwrap();
        let start = Instant::now();
        buffered.close().await;
        assert_eq!(start.elapsed(), Duration::from_secs(3));
        for ticket in flying {
            let error = ticket.await.unwrap_err();
            assert_eq!((error.kind(), error.is_outcome_unknown()), (SendErrorKind::Aborted, true));
        }
        let waiting = waiting.await.unwrap_err();
        assert_eq!((waiting.kind(), waiting.is_outcome_unknown()), (SendErrorKind::Aborted, false));
        tokio::time::sleep(Duration::from_millis(1)).await;
        let stats = buffered.stats();
        assert_eq!((stats.entries, stats.batches_in_flight), (0, 0), "{shape:?}: a request goes on");
        assert_eq!(stats.aborted, shape.iter().sum::<usize>() as u64 + 1);
    }
}

#[tokio::test(start_paused = true)]
async fn dropping_the_last_client_sends_in_the_background() {
    let rig = Rig::standard().await;
    let buffered = rig.builder().linger(LONG).build().unwrap();
    let ticket = buffered.enqueue(Entry::new(&rig.url, "tea")).await.unwrap();
    drop(buffered);
    ticket.await.unwrap();
    assert_eq!(rig.bodies(), ["tea"]);
}

/// Ends the runtime while messages wait in an open batch or are in flight, with another message of a group behind them.
fn end_runtime(is_fifo: bool, linger: Linger, shape: &[usize]) {
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let behind = |rig: &Rig, body: &str| {
        let entry = rig.message(body);
        if is_fifo { entry.message_group_id("0-0") } else { entry }
    };
    let first = runtime();
    let (rig, buffered, tickets) = first.block_on(async {
        let rig = if is_fifo { Rig::fifo().await } else { Rig::standard().await };
        rig.server.faults().inject(Fault::latency(Duration::from_secs(20)));
        let buffered = rig.builder().linger(linger).build().unwrap();
        let mut tickets = rig.begin(&buffered, shape).await;
        tickets.push(buffered.enqueue(behind(&rig, "2")).await.unwrap());
        tokio::task::yield_now().await;
        let in_flight = if linger == LONG { shape.iter().sum::<usize>() / 10 } else { shape.len() };
        assert_eq!(buffered.stats().batches_in_flight, in_flight, "{shape:?}, {linger:?}");
        (rig, buffered, tickets)
    });
    drop(first);
    runtime().block_on(async {
        for ticket in tickets {
            let kind = ticket.await.unwrap_err().kind();
            // The next message of the group was not sent, because the previous one was aborted.
            let is_expected =
                kind == SendErrorKind::Aborted || (is_fifo && kind == SendErrorKind::PrecedingFailed);
            assert!(is_expected, "{kind:?}");
        }
        rig.server.faults().clear();
        let ticket = buffered.enqueue(behind(&rig, "3")).await.unwrap();
        let flushed = tokio::time::timeout(Duration::from_secs(5), buffered.flush()).await;
        assert!(flushed.is_ok(), "is FIFO: {is_fifo}, {linger:?}, {shape:?}");
        ticket.await.unwrap();
    });
    assert_eq!(rig.bodies(), ["3"], "the new runtime sends it");
}

#[test]
fn every_ticket_resolves_when_the_runtime_ends() {
    for is_fifo in [false, true] {
        for linger in [LONG, Linger::default()] {
            for shape in SHAPES {
                end_runtime(is_fifo, linger, shape);
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn maximum_durations_are_accepted() {
    let rig = Rig::standard().await;
    rig.server.faults().inject(Fault::throttle().times(1));
    let buffered = rig
        .builder()
        .linger(Linger::Fixed(Duration::MAX))
        .delivery_timeout(Duration::MAX)
        .admission_timeout(Duration::MAX)
        .close_grace(Duration::MAX)
        .back_off(Duration::from_millis(1), Duration::MAX)
        .build()
        .unwrap();
    let ticket = buffered.enqueue(Entry::new(&rig.url, "tea")).await.unwrap();
    buffered.close().await;
    ticket.await.unwrap();
}

#[test]
fn enqueue_without_a_runtime_is_refused() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let rig = runtime.block_on(Rig::standard());
    for is_full in [false, true] {
        let buffered = rig.builder().capacity(1, 1 << 20).linger(LONG).build().unwrap();
        let first = is_full.then(|| {
            let _context = runtime.enter();
            buffered.try_enqueue(Entry::new(&rig.url, "1")).unwrap()
        });
        let refused = buffered.enqueue(Entry::new(&rig.url, "2")).now_or_never().unwrap().unwrap_err();
        assert_eq!(refused.kind(), SendErrorKind::NoRuntime, "is full: {is_full}");
        assert_eq!(refused.into_entry().message().message_body(), "2");
        let refused = buffered.try_enqueue(Entry::new(&rig.url, "2")).unwrap_err();
        let kind = if is_full { SendErrorKind::Full } else { SendErrorKind::NoRuntime };
        assert_eq!((refused.kind(), buffered.stats().entries), (kind, usize::from(is_full)));
        drop(first);
    }
}

/// Runs a future without a tokio runtime.
fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(std::thread::Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => std::thread::park(),
        }
    }
}

#[test]
fn close_without_a_runtime_waits_for_entries_of_another_runtime() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let rig = runtime.block_on(Rig::standard());
    let idle = rig.buffered();
    idle.close_within(Duration::ZERO).now_or_never().expect("there is nothing to wait for");
    let buffered = rig.builder().linger(LONG).build().unwrap();
    let ticket = runtime.block_on(buffered.enqueue(Entry::new(&rig.url, "tea"))).unwrap();
    block_on(buffered.close());
    ticket.now_or_never().expect("it has ended").unwrap();
    assert_eq!(rig.bodies(), ["tea"]);
}

#[tokio::test(start_paused = true)]
async fn idle_lane_ends_its_tasks_and_starts_others() {
    let rig = Rig::standard().await;
    let buffered = rig.buffered();
    let before = tokio::runtime::Handle::current().metrics().num_alive_tasks();
    buffered.send(&rig.url, "1").await.unwrap();
    tokio::time::sleep(Duration::from_mins(1)).await;
    assert_eq!(tokio::runtime::Handle::current().metrics().num_alive_tasks(), before);
    buffered.send(&rig.url, "2").await.unwrap();
    assert_eq!(rig.bodies(), ["1", "2"]);
}

#[test]
fn requests_that_an_ended_runtime_never_polled_end_their_entries() {
    // The first runtime polls one task before it looks after its own future again.
    let runtime = |interval| {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_all().event_interval(interval).build().unwrap()
    };
    let (first, second) = (runtime(1), runtime(61));
    let server = sqs_mock_server::MockSqs::in_process();
    server.faults().inject(Fault::latency(Duration::from_millis(50)).on(Action::SendMessageBatch));
    let (client, url) = (server.client(), server.queue_url("q"));
    second.block_on(async { client.create_queue().queue_name("q").send().await.unwrap() });
    let buffered = sqs_buffered::BufferedClient::new(client);
    let tickets = first.block_on(async {
        let mut tickets = Vec::new();
        for number in 0..30 {
            tickets.push(buffered.enqueue(sqs_buffered::Entry::new(&url, number.to_string())).await.unwrap());
        }
        // The task of the lane begins one request and spawns two, which this runtime does not poll any more.
        tokio::task::yield_now().await;
        tickets
    });
    drop(first);
    second.block_on(async {
        let ends = futures_util::future::join_all(tickets);
        let ends = tokio::time::timeout(std::time::Duration::from_secs(5), ends).await.unwrap();
        let aborted = |end: &Result<_, sqs_buffered::SendError>| {
            end.as_ref().is_err_and(|error| error.kind() == sqs_buffered::SendErrorKind::Aborted)
        };
        assert!(ends.iter().all(|end| end.is_ok() || aborted(end)) && ends.iter().any(aborted));
        assert_eq!(buffered.stats().entries, 0, "no capacity leaks");
        buffered.send(&url, "tea").await.unwrap();
    });
}
