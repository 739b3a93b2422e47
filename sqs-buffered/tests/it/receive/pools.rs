//! Several consumers with one pool.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use sqs_buffered::{Consumer, HandlerPool, Outcome};
use tokio::time::sleep;

use super::super::base_client::BaseClient;
use super::rig::{Rig, millis, secs, until};

#[derive(Debug, Default)]
struct Counts {
    running: BTreeMap<&'static str, usize>,
    done: BTreeMap<&'static str, usize>,
    most_running: usize,
}

type Shared = Arc<Mutex<Counts>>;

async fn fill(rig: &Rig, queue: &str, count: usize) {
    let url = rig.server.queue_url(queue);
    for number in 0..count {
        let send = rig.client.send_message().queue_url(&url).message_body(number.to_string());
        let group = queue.ends_with(".fifo").then(|| format!("group-{}", number % 50));
        let id = queue.ends_with(".fifo").then(|| number.to_string());
        send.set_message_group_id(group).set_message_deduplication_id(id).send().await.unwrap();
    }
}

fn consumer(
    rig: &Rig,
    (pool, weight): (&HandlerPool, u32),
    queue: &'static str,
    time: std::time::Duration,
    counts: &Shared,
) -> Consumer<BaseClient> {
    let counts = Arc::clone(counts);
    Consumer::builder(rig.base.clone(), rig.server.queue_url(queue))
        .pool(pool, weight)
        .message_handler(move |_, _| {
            let counts = Arc::clone(&counts);
            async move {
                {
                    let mut counts = counts.lock().unwrap();
                    *counts.running.entry(queue).or_default() += 1;
                    counts.most_running = counts.most_running.max(counts.running.values().sum());
                }
                sleep(time).await;
                let mut counts = counts.lock().unwrap();
                *counts.running.entry(queue).or_default() -= 1;
                *counts.done.entry(queue).or_default() += 1;
                Ok(Outcome::Ack)
            }
        })
        .build()
        .unwrap()
}

fn done(counts: &Shared, queue: &str) -> usize {
    counts.lock().unwrap().done.get(queue).copied().unwrap_or_default()
}

#[tokio::test(start_paused = true)]
async fn busy_queues_share_handlers_by_weight_and_get_the_share_of_an_idle_one() {
    let rig = Rig::new("urgent").await;
    rig.create("other.fifo").await;
    let (pool, counts) = (HandlerPool::new(8).unwrap(), Shared::default());
    let urgent = consumer(&rig, (&pool, 3), "urgent", millis(100), &counts);
    let other = consumer(&rig, (&pool, 1), "other.fifo", millis(100), &counts);
    fill(&rig, "urgent", 400).await;
    fill(&rig, "other.fifo", 400).await;
    let handles = [urgent.spawn().unwrap(), other.spawn().unwrap()];
    until(|| done(&counts, "urgent") >= 300).await;
    let share = done(&counts, "other.fifo");
    assert!((70..=120).contains(&share), "{share} of the other queue beside 300 urgent ones");
    until(|| rig.left() == 0).await;
    let (start, before) = (tokio::time::Instant::now(), done(&counts, "other.fifo"));
    until(|| done(&counts, "other.fifo") == 400).await;
    // All handlers together handle 80 per second. The share of this queue is 20.
    let (left, took) = (400 - before, start.elapsed());
    assert!(took.as_secs() * 45 < left as u64, "{left} messages took {took:?}");
    assert_eq!(counts.lock().unwrap().most_running, 8);
    for handle in handles {
        let report = handle.shutdown(secs(5)).await.unwrap();
        assert_eq!((report.stats.acked, report.stats.leases_lost), (400, 0));
    }
}

#[tokio::test(start_paused = true)]
async fn queue_with_slow_handlers_does_not_starve_another() {
    let rig = Rig::new("slow").await;
    rig.create("quick").await;
    let (pool, counts) = (HandlerPool::new(4).unwrap(), Shared::default());
    fill(&rig, "slow", 50).await;
    let slow = consumer(&rig, (&pool, 1), "slow", secs(60), &counts).spawn().unwrap();
    sleep(secs(5)).await;
    assert_eq!(counts.lock().unwrap().running["slow"], 4, "the other queue is idle");
    fill(&rig, "quick", 1_000).await;
    let quick = consumer(&rig, (&pool, 1), "quick", millis(10), &counts).spawn().unwrap();
    sleep(secs(130)).await;
    assert_eq!(done(&counts, "quick"), 1_000, "two handlers were free after a minute");
    assert!(counts.lock().unwrap().most_running <= 4);
    for handle in [slow, quick] {
        handle.shutdown(secs(0)).await.unwrap();
    }
    assert_eq!(rig.in_flight(), 0);
}

#[tokio::test(start_paused = true)]
async fn consumers_that_pause_or_end_leave_their_share_to_the_others() {
    let rig = Rig::new("one").await;
    rig.create("two").await;
    let (pool, counts) = (HandlerPool::new(6).unwrap(), Shared::default());
    for queue in ["one", "two"] {
        fill(&rig, queue, 500).await;
    }
    let one = consumer(&rig, (&pool, 1), "one", secs(1), &counts).spawn().unwrap();
    let two = consumer(&rig, (&pool, 1), "two", secs(1), &counts).spawn().unwrap();
    // Handlers that ended in 30 seconds: six at a time, of one second each.
    let rates = async || {
        let before = ["one", "two"].map(|queue| done(&counts, queue));
        sleep(secs(30)).await;
        [done(&counts, "one") - before[0], done(&counts, "two") - before[1]]
    };
    let is_half = |done: usize, of: usize| done.abs_diff(of / 2) <= 8;
    let both = rates().await;
    assert!(both.iter().all(|done| is_half(*done, 180)), "{both:?}");
    two.consumer().pause();
    sleep(secs(2)).await;
    let [first, second] = rates().await;
    assert!(first > 140 && second == 0, "two is paused: {first}, {second}");
    two.consumer().resume();
    sleep(secs(2)).await;
    pool.set_concurrency(2).unwrap();
    sleep(secs(2)).await;
    let few = rates().await;
    assert!(few.iter().all(|done| is_half(*done, 60)), "{few:?}");
    assert_eq!(pool.concurrency(), 2);
    one.shutdown(secs(5)).await.unwrap();
    let [first, second] = rates().await;
    assert!(first == 0 && second >= 45, "one has ended: {first}, {second}");
    two.shutdown(secs(5)).await.unwrap();
    assert_eq!((rig.in_flight(), counts.lock().unwrap().most_running), (0, 6));
}

#[test]
fn invalid_pools_and_weights_are_refused() {
    assert_eq!(HandlerPool::new(0).unwrap_err().setting(), "concurrency");
    let pool = HandlerPool::new(1).unwrap();
    assert_eq!(pool.set_concurrency(120_001).unwrap_err().setting(), "concurrency");
    let client = sqs_mock_server::MockSqs::in_process().client();
    let builder = Consumer::builder(client, "http://localhost/000000000000/jobs").pool(&pool, 0);
    let error = builder.message_handler(|_, _| async { Ok(Outcome::Ack) }).build().unwrap_err();
    assert_eq!(error.to_string(), "pool (weight) is 0, allowed is 1 to 1000");
}

#[tokio::test(start_paused = true)]
async fn share_of_a_queue_that_became_idle_goes_to_handlers_that_take_an_hour() {
    let rig = Rig::new("hours").await;
    rig.create("quick").await;
    let (pool, counts) = (HandlerPool::new(4).unwrap(), Shared::default());
    for queue in ["hours", "quick"] {
        fill(&rig, queue, 10).await;
    }
    let quick = consumer(&rig, (&pool, 1), "quick", secs(1), &counts).spawn().unwrap();
    sleep(millis(100)).await;
    let hours = consumer(&rig, (&pool, 1), "hours", secs(3_600), &counts).spawn().unwrap();
    until(|| done(&counts, "quick") == 10).await;
    sleep(secs(3)).await;
    assert_eq!(counts.lock().unwrap().running["hours"], 4);
    for handle in [quick, hours] {
        handle.shutdown(secs(0)).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn queue_of_a_higher_priority_goes_first() {
    let rig = Rig::new("urgent").await;
    rig.create("other").await;
    fill(&rig, "urgent", 60).await;
    fill(&rig, "other", 60).await;
    let (pool, order) = (HandlerPool::new(4).unwrap(), Arc::new(Mutex::new(Vec::new())));
    let consumer = |queue: &'static str, priority| {
        let order = Arc::clone(&order);
        Consumer::builder(rig.base.clone(), rig.server.queue_url(queue))
            .pool(&pool, 1)
            .priority(priority)
            .prefetch(10)
            .message_handler(move |_, _| {
                order.lock().unwrap().push(queue);
                async {
                    sleep(secs(1)).await;
                    Ok(Outcome::Ack)
                }
            })
            .build()
            .unwrap()
    };
    let (urgent, other) = (consumer("urgent", 1), consumer("other", 0));
    let end = || until(|| order.lock().unwrap().len() == 120);
    let (one, two) = tokio::join!(urgent.run_until(end()), other.run_until(end()));
    assert!(one.is_ok() && two.is_ok());
    let order = order.lock().unwrap();
    // Only while the first of the other queue run, and while the urgent ones are on their way, do others start.
    let early = order[..60].iter().filter(|queue| **queue == "other").count();
    assert!(early <= 10, "{early} of {order:?}");
}
