//! Throughput quotas: scopes, and the actions that count as calls.

use super::*;
use crate::sqs::engine::throughput::QuotaScope;
use crate::sqs::engine::throughput::QuotaTable;
use crate::sqs::engine::throughput::ThroughputQuotas;

fn calls(calls: u32) -> ThroughputQuotas {
    ThroughputQuotas { calls, ..ThroughputQuotas::default() }
}

fn set(rig: &Rig, scope: QuotaScope, quotas: impl Into<Option<ThroughputQuotas>>) {
    let quotas = quotas.into();
    rig.service.change_quotas(|table| table.set(scope, quotas));
}

fn queue_scope(name: &str) -> QuotaScope {
    QuotaScope::Queue(QueueArn::new(REGION, ACCOUNT, name))
}

/// How many of five receives are accepted.
async fn accepted(rig: &Rig, url: &str) -> usize {
    let mut accepted = 0;
    for _ in 0..5 {
        accepted += usize::from(rig.call(receive(url)).await.is_ok());
    }
    accepted
}

#[tokio::test(start_paused = true)]
async fn long_poll_counts_as_one_call() {
    let rig = rig();
    let url = rig.fifo_queue("jobs.fifo").await;
    set(&rig, QuotaScope::Server, calls(1));
    let parked = rig.park(long_poll(&url, 20)).await;
    assert_eq!(rig.refusal(receive(&url)).await.0, ErrorCode::RequestThrottled);
    rig.send_to_group(&url, "g", "tea").await;
    assert_eq!(parked.bodies().await, ["tea"]);
}

#[tokio::test(start_paused = true)]
async fn rejected_send_is_not_stored_and_can_be_retried_after_a_second() {
    let rig = rig();
    let url = rig.fifo_queue("jobs.fifo").await;
    set(&rig, QuotaScope::Server, calls(1));
    rig.send_to_group(&url, "g", "first").await;
    let second = || send(&url, "second").message_group_id("g");
    assert_eq!(rig.refusal(second()).await.0, ErrorCode::RequestThrottled);
    rig.pass(1).await;
    rig.call(second()).await.unwrap();
    assert_eq!(rig.bodies(&url).await, ["first", "second"]);
}

#[tokio::test(start_paused = true)]
async fn quotas_of_a_narrower_scope_take_precedence() {
    let rig = rig();
    let (limited, other) = (rig.fifo_queue("limited.fifo").await, rig.fifo_queue("other.fifo").await);
    assert_eq!(accepted(&rig, &limited).await, 5, "there are no quotas by default");
    set(&rig, QuotaScope::Server, calls(4));
    set(&rig, queue_scope("limited.fifo"), calls(1));
    assert_eq!((accepted(&rig, &limited).await, accepted(&rig, &other).await), (1, 4));
    rig.pass(1).await;
    set(&rig, QuotaScope::Account(ACCOUNT.to_owned()), calls(2));
    assert_eq!((accepted(&rig, &limited).await, accepted(&rig, &other).await), (1, 2));
    rig.pass(1).await;
    set(&rig, queue_scope("limited.fifo"), None);
    assert_eq!((accepted(&rig, &limited).await, accepted(&rig, &other).await), (5, 2));
    rig.service.change_quotas(|table| *table = QuotaTable::default());
    assert_eq!(accepted(&rig, &other).await, 5);
}

#[tokio::test(start_paused = true)]
async fn quotas_apply_to_queues_that_are_created_later() {
    let rig = rig();
    set(&rig, QuotaScope::Server, calls(3));
    set(&rig, queue_scope("limited.fifo"), calls(1));
    let (limited, other) = (rig.fifo_queue("limited.fifo").await, rig.fifo_queue("other.fifo").await);
    assert_eq!((accepted(&rig, &limited).await, accepted(&rig, &other).await), (1, 3));
}

#[tokio::test(start_paused = true)]
async fn unchanged_quotas_do_not_start_a_new_second() {
    let rig = rig();
    let url = rig.fifo_queue("jobs.fifo").await;
    set(&rig, QuotaScope::Server, calls(2));
    assert_eq!(accepted(&rig, &url).await, 2);
    set(&rig, queue_scope("other.fifo"), calls(9));
    assert_eq!(accepted(&rig, &url).await, 0);
}
