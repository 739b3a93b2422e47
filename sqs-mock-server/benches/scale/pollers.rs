//! Long polls that wait at one queue. Each message wakes one of them.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::Instant;

use sqs_benchmarks::figures::median;
use sqs_benchmarks::plot::Line;

use crate::wire::{Rig, micros, send, thousands};

const MESSAGES: u32 = 500;

pub(crate) fn woken(_quick: bool) -> Vec<Line> {
    println!("| Waiting long polls | From send to delivery | Task wake-ups per message |");
    println!("|--:|--:|--:|");
    for waiting in [1, 100, 1_000] {
        eprintln!("  {} long polls", thousands(waiting));
        let rig = Rig::new();
        let url = rig.queue("orders");
        let (time, polls) = rig.runtime.block_on(send_one_by_one(&rig, &url, waiting));
        println!("| {} | {} µs | {:.2} |", thousands(waiting), micros(time), polls);
    }
    println!();
    Vec::new()
}

/// Sends messages one by one. Each ends one long poll, which a new one replaces.
async fn send_one_by_one(rig: &Rig, url: &str, waiting: usize) -> (Duration, f64) {
    let polls = Arc::new(AtomicUsize::new(0));
    let mut pollers = JoinSet::new();
    let start_poll = |pollers: &mut JoinSet<()>| {
        let input = format!(r#"{{"QueueUrl":"{url}","WaitTimeSeconds":20}}"#);
        let (transport, polls) = (rig.server.transport(), Arc::clone(&polls));
        pollers.spawn(counted(polls, async move { drop(send(transport, "ReceiveMessage", input).await) }));
    };
    for _ in 0..waiting {
        start_poll(&mut pollers);
    }
    let (mut times, mut woken) = (Vec::new(), 0);
    for _ in 0..MESSAGES {
        for _ in 0..5 {
            tokio::task::yield_now().await;
        }
        polls.store(0, Ordering::Relaxed);
        let start = Instant::now();
        let input = format!(r#"{{"QueueUrl":"{url}","MessageBody":"x"}}"#);
        send(rig.server.transport(), "SendMessage", input).await;
        pollers.join_next().await;
        times.push(start.elapsed());
        tokio::task::yield_now().await;
        woken += polls.load(Ordering::Relaxed);
        start_poll(&mut pollers);
    }
    let woken = u32::try_from(woken).unwrap_or(u32::MAX);
    (median(times, Ord::cmp).unwrap_or_default(), f64::from(woken) / f64::from(MESSAGES))
}

/// Counts the polls of a future.
async fn counted<F: Future>(polls: Arc<AtomicUsize>, future: F) -> F::Output {
    let mut future = pin!(future);
    poll_fn(|context| {
        polls.fetch_add(1, Ordering::Relaxed);
        future.as_mut().poll(context)
    })
    .await
}
