//! FIFO queues: order despite failures, and one copy of each message.

use std::collections::HashMap;
use std::time::Duration;

use sqs_buffered::{AfterFailure, DedupId, Entry, FifoOrdering, SendError, SendErrorKind, SendReceipt};
use sqs_client::operation::Action;
use sqs_client::types::QueueAttributeName;
use sqs_client::wire::service_error::ErrorCode;
use sqs_mock_server::faults::Fault;

use super::base_client::{Base, BaseClient};
use super::rig::{Rig, number};

fn entry(url: &str, group: &str, body: impl Into<String>) -> Entry {
    Entry::new(url, body).message_group_id(group)
}

/// A server that fails in every way, but seldom enough for four attempts.
fn misfortune<C>(rig: &Rig<C>, share: f64) {
    let all = [
        Fault::throttle(),
        Fault::error(ErrorCode::InternalFailure),
        Fault::reset_before(),
        Fault::reset_after(),
        Fault::truncate(),
        Fault::fail_entries(ErrorCode::InternalFailure),
        Fault::omit_entries(),
        Fault::fail_entries(ErrorCode::InvalidMessageContents),
        Fault::latency_between(Duration::ZERO, Duration::from_millis(300)),
    ];
    for fault in all {
        rig.server.faults().inject(fault.on(Action::SendMessageBatch).probability(share));
    }
}

/// Over the whole path, accepted messages of a group are in order, and none is stored twice.
async fn order_is_kept<C: Base>(seed: u64, ordering: FifoOrdering, after: AfterFailure) {
    const GROUPS: usize = 20;
    let rig = Rig::<C>::over("q.fifo", seed, &[(QueueAttributeName::FifoQueue, "true")]).await;
    misfortune(&rig, 0.04);
    let buffered = rig.builder().fifo_ordering(ordering).after_failure(after).build().unwrap();
    let mut tickets = Vec::new();
    for number in 0..600_usize {
        let group = (number % GROUPS).to_string();
        tickets.push((number, buffered.enqueue(entry(&rig.url, &group, number.to_string())).await.unwrap()));
    }
    let mut accepted = Vec::new();
    for (number, ticket) in tickets {
        match ticket.await {
            Ok(_) => accepted.push(number),
            Err(error) => {
                let is_gap = matches!(error.kind(), SendErrorKind::OrderGap | SendErrorKind::OutOfOrder);
                assert!(ordering == FifoOrdering::Grouped || !is_gap, "seed {seed}: {error}");
            }
        }
    }
    let stored: Vec<usize> = rig.bodies().iter().map(|body| body.parse().unwrap()).collect();
    let places: HashMap<_, _> = stored.iter().enumerate().map(|(place, number)| (*number, place)).collect();
    assert_eq!(places.len(), stored.len(), "seed {seed}: a message is stored twice");
    for group in 0..GROUPS {
        let of_group = accepted.iter().filter(|number| *number % GROUPS == group);
        let places: Vec<_> = of_group.map(|number| places[number]).collect();
        assert!(places.is_sorted(), "seed {seed}: group {group}: {places:?}");
    }
    assert!(accepted.len() > 50, "seed {seed}: {}", accepted.len());
}

#[tokio::test(start_paused = true)]
async fn accepted_messages_of_a_group_are_in_order_when_requests_fail() {
    check_order::<BaseClient>(number("SCHEDULES").unwrap_or(8)).await;
}

pub(crate) async fn check_order<C: Base>(seeds: u64) {
    for seed in 0..seeds {
        for ordering in [FifoOrdering::Strict, FifoOrdering::Grouped] {
            for after in [AfterFailure::FailGroup, AfterFailure::Continue] {
                order_is_kept::<C>(seed, ordering, after).await;
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn ten_groups_fill_a_batch_and_one_group_does_not() {
    for (groups, ordering, requests) in [
        (10, FifoOrdering::Strict, 10..=10),
        (1, FifoOrdering::Strict, 100..=100),
        (1, FifoOrdering::Grouped, 10..=11),
    ] {
        let rig = Rig::fifo().await;
        let sent = rig.count(Action::SendMessageBatch);
        let buffered = rig.builder().fifo_ordering(ordering).dedup_id(DedupId::GenerateUuid).build().unwrap();
        let mut tickets = Vec::new();
        for number in 0..100_usize {
            let group = (number % groups).to_string();
            tickets.push(buffered.enqueue(entry(&rig.url, &group, number.to_string())).await.unwrap());
        }
        for ticket in tickets {
            ticket.await.unwrap();
        }
        assert!(requests.contains(&sent.hits()), "{groups} groups, {ordering:?}: {}", sent.hits());
        assert!(rig.bodies().iter().map(|body| body.parse::<usize>().unwrap()).is_sorted() || groups > 1);
    }
}

#[tokio::test(start_paused = true)]
async fn failure_ends_waiting_entries_of_its_group_and_no_others() {
    for (after, kept) in
        [(AfterFailure::FailGroup, vec!["b2", "b3"]), (AfterFailure::Continue, vec!["a2", "b2", "b3"])]
    {
        let rig = Rig::fifo().await;
        rig.server.faults().inject(Fault::fail_entries(ErrorCode::InvalidMessageContents).body_contains("1"));
        let buffered = rig.builder().after_failure(after).dedup_id(DedupId::GenerateUuid).build().unwrap();
        let mut tickets = Vec::new();
        for body in ["a1", "a2", "b2", "b3"] {
            tickets.push(buffered.enqueue(entry(&rig.url, &body[..1], body)).await.unwrap());
        }
        let mut kinds = Vec::new();
        for ticket in tickets {
            kinds.push(ticket.await.err().map(|error| error.kind()));
        }
        let second = (after == AfterFailure::FailGroup).then_some(SendErrorKind::PrecedingFailed);
        assert_eq!(kinds, [Some(SendErrorKind::Rejected), second, None, None]);
        let mut stored = rig.bodies();
        stored.sort();
        assert_eq!(stored, kept);
        buffered.send_entry(entry(&rig.url, "a", "a4")).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn retry_after_a_lost_response_stores_one_copy() {
    for by_content in ["true", "false"] {
        let attributes = [
            (QueueAttributeName::FifoQueue, "true"),
            (QueueAttributeName::ContentBasedDeduplication, by_content),
        ];
        let rig = Rig::of("q.fifo", 1, &attributes).await;
        let lost = rig.server.faults().inject(Fault::reset_after().on(Action::SendMessageBatch).times(2));
        rig.buffered().send_entry(entry(&rig.url, "g", "tea")).await.unwrap();
        assert_eq!((lost.hits(), rig.bodies()), (2, vec!["tea".to_owned()]));
    }
}

#[tokio::test(start_paused = true)]
async fn content_based_deduplication_is_looked_up_once() {
    for (by_content, stored) in [("true", 1), ("false", 2)] {
        let attributes = [
            (QueueAttributeName::FifoQueue, "true"),
            (QueueAttributeName::ContentBasedDeduplication, by_content),
        ];
        let rig = Rig::of("q.fifo", 1, &attributes).await;
        let (buffered, asked) = (rig.buffered(), rig.count(Action::GetQueueAttributes));
        for _ in 0..2 {
            buffered.send_entry(entry(&rig.url, "g", "tea")).await.unwrap();
        }
        assert_eq!((asked.hits(), rig.bodies().len()), (1, stored));
    }
}

pub(crate) const BY_CONTENT: [(QueueAttributeName, &str); 2] =
    [(QueueAttributeName::FifoQueue, "true"), (QueueAttributeName::ContentBasedDeduplication, "true")];

#[tokio::test(start_paused = true)]
async fn queue_with_denied_attributes_gets_ids_only_if_it_requires_them() {
    let denial = Fault::error(ErrorCode::AccessDenied).on(Action::GetQueueAttributes);
    let rig = Rig::fifo().await;
    rig.server.faults().inject(denial.clone());
    let (buffered, sent) = (rig.buffered(), rig.count(Action::SendMessageBatch));
    for _ in 0..3 {
        buffered.send_entry(entry(&rig.url, "g", "tea")).await.unwrap();
    }
    assert_eq!((sent.hits(), rig.bodies().len()), (4, 3), "it refuses once");

    let rig = Rig::of("q.fifo", 1, &BY_CONTENT).await;
    let (asked, buffered) = (rig.server.faults().inject(denial), rig.buffered());
    for _ in 0..3 {
        buffered.send_entry(entry(&rig.url, "g", "tea")).await.unwrap();
    }
    assert_eq!((asked.hits(), rig.bodies().len()), (1, 1), "it is not asked before each batch");
}

#[tokio::test(start_paused = true)]
async fn transient_failure_to_read_attributes_is_retried() {
    let passing = [
        Fault::throttle(),
        Fault::reset_after(),
        Fault::error(ErrorCode::InternalFailure),
        Fault::error(ErrorCode::ExpiredToken),
        Fault::error(ErrorCode::OverLimit),
    ];
    for fault in passing {
        let rig = Rig::fifo().await;
        let fault = rig.server.faults().inject(fault.on(Action::GetQueueAttributes).times(2));
        rig.buffered().send_entry(entry(&rig.url, "g", "tea")).await.unwrap();
        assert_eq!((fault.hits(), rig.bodies().len()), (2, 1));
    }
}

#[tokio::test(start_paused = true)]
async fn permanent_failure_to_read_attributes_fails_the_message_unsent() {
    let rig = Rig::fifo().await;
    rig.server
        .faults()
        .inject(Fault::error(ErrorCode::InvalidClientTokenId).on(Action::GetQueueAttributes).times(1));
    let (buffered, sent) = (rig.buffered(), rig.count(Action::SendMessageBatch));
    let error = buffered.send_entry(entry(&rig.url, "g", "tea")).await.unwrap_err();
    assert_eq!((error.code(), error.is_outcome_unknown()), (Some("InvalidClientTokenId"), false));
    assert_eq!((error.is_retryable(), sent.hits()), (false, 0));
    buffered.send_entry(entry(&rig.url, "g", "tea")).await.unwrap();
}

async fn make_ids(rig: &Rig, by_content: bool) {
    let set = rig.client.set_queue_attributes().queue_url(&rig.url);
    let value = by_content.to_string();
    set.attributes(QueueAttributeName::ContentBasedDeduplication, value).send().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn cached_content_based_deduplication_expires_and_is_corrected() {
    for waits in [true, false] {
        let rig = Rig::of("q.fifo", 1, &BY_CONTENT).await;
        let buffered = rig.buffered();
        buffered.send_entry(entry(&rig.url, "g", "tea")).await.unwrap();
        make_ids(&rig, false).await;
        if waits {
            tokio::time::sleep(Duration::from_mins(5)).await;
        }
        let sent = rig.count(Action::SendMessageBatch);
        for body in ["coffee", "milk"] {
            buffered.send_entry(entry(&rig.url, "g", body)).await.unwrap();
        }
        assert_eq!(rig.bodies(), ["tea", "coffee", "milk"]);
        assert_eq!(sent.hits(), if waits { 2 } else { 3 }, "what is refused for lack of an id gets one");
    }
}

/// The response to a stored message is lost. Before the retry, the queue changes, so the cached attribute is outdated.
async fn change_between_attempts(by_content: bool) -> (Rig, Result<SendReceipt, SendError>) {
    let rig = Rig::fifo().await;
    make_ids(&rig, by_content).await;
    let buffered = rig.buffered();
    buffered.send_entry(entry(&rig.url, "w", "warm")).await.unwrap();
    tokio::time::sleep(Duration::from_secs(299)).await;
    let lost = rig.server.faults().inject(Fault::reset_after().on(Action::SendMessageBatch).times(1));
    let ticket = buffered.enqueue(entry(&rig.url, "g", "once")).await.unwrap();
    while lost.hits() == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let down = rig.server.faults().inject(Fault::throttle().on(Action::SendMessageBatch));
    make_ids(&rig, !by_content).await;
    let beside = buffered.enqueue(entry(&rig.url, "h", "beside")).await.unwrap();
    tokio::time::sleep(Duration::from_secs(10)).await;
    down.remove();
    let result = ticket.await;
    beside.await.unwrap();
    (rig, result)
}

#[tokio::test(start_paused = true)]
async fn retry_sends_the_same_deduplication_id() {
    let (rig, result) = change_between_attempts(false).await;
    assert_eq!(
        (result.is_ok(), rig.bodies()),
        (true, ["warm", "once", "beside"].map(str::to_owned).to_vec())
    );
}

#[tokio::test(start_paused = true)]
async fn message_that_was_sent_without_an_id_is_retried_without_one() {
    let (rig, result) = change_between_attempts(true).await;
    let error = result.unwrap_err();
    assert_eq!((error.kind(), error.is_outcome_unknown()), (SendErrorKind::Request, true), "{error}");
    assert_eq!(rig.bodies(), ["warm", "once", "beside"]);
}
