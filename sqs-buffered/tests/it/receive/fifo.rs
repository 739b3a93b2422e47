//! FIFO queues: order within groups, concurrent groups.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use sqs_buffered::{BackOff, Consumer, GroupAdvance, Outcome};
use sqs_client::operation::Action;
use sqs_client::types::MessageSystemAttributeName as Name;
use sqs_client::wire::service_error::ErrorCode;
use sqs_mock_server::faults::Fault;
use tokio::time::{Instant, sleep};

use super::diary::Diary;
use super::meddler::{damaging_once, ignoring, meddling};
use super::rig::{Rig, Sent, millis, secs, until};

fn numbered(group: &str, count: u32) -> Vec<String> {
    (0..count).map(|number| format!("{group}{number}")).collect()
}

#[tokio::test(start_paused = true)]
async fn groups_run_concurrently_and_their_messages_in_order() {
    let rig = Rig::new("jobs.fifo").await;
    for group in ["a", "b", "c"] {
        rig.send_to(group, numbered(group, 12)).await;
    }
    let diary = Diary::default();
    let seen = diary.clone();
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .concurrency(30)
        .message_handler(move |message, _| {
            let page = seen.start(&message);
            async move {
                sleep(millis(100)).await;
                drop(page);
                Ok(Outcome::Ack)
            }
        })
        .build()
        .unwrap();
    let report = consumer.run_until(until(|| rig.left() == 0)).await.unwrap();
    for group in ["a", "b", "c"] {
        assert_eq!(diary.of_group(group), numbered(group, 12));
    }
    assert_eq!((diary.most_running(), report.stats.acked), (3, 36));
}

/// ElasticMQ before 1.6.2, LocalStack before June 2024 and ministack are such services.
#[tokio::test(start_paused = true)]
async fn service_that_knows_only_attribute_names_returns_groups_and_receive_counts() {
    let rig = Rig::new("jobs.fifo").await;
    for group in ["a", "b"] {
        rig.send_to(group, numbered(group, 5)).await;
    }
    let diary = Diary::default();
    let seen = diary.clone();
    let client = ignoring(&rig, "MessageSystemAttributeNames", |_, answer| answer);
    let consumer = Consumer::builder(client, &rig.url)
        .message_handler(move |message, _| {
            let page = seen.start(&message);
            async move {
                sleep(millis(100)).await;
                drop(page);
                let receives = message.attributes().and_then(|all| all.get(&Name::ApproximateReceiveCount));
                assert_eq!(receives.map(String::as_str), Some("1"));
                Ok(Outcome::Ack)
            }
        })
        .build()
        .unwrap();
    let report = consumer.run_until(until(|| rig.left() == 0)).await.unwrap();
    assert_eq!((diary.of_group("a"), diary.of_group("b")), (numbered("a", 5), numbered("b", 5)));
    assert_eq!((diary.most_running(), report.stats.acked), (2, 10));
}

#[tokio::test(start_paused = true)]
async fn fifo_messages_without_a_group_are_handled_one_by_one_in_order() {
    let rig = Rig::new("jobs.fifo").await;
    for number in 0..6 {
        rig.send_to(["a", "b", "c"][number % 3], [number.to_string()]).await;
    }
    let diary = Diary::default();
    let seen = diary.clone();
    let client = meddling(&rig, |_, answer| {
        let mut answer: serde_json::Value = serde_json::from_slice(&answer).unwrap();
        for message in answer["Messages"].as_array_mut().into_iter().flatten() {
            message["Attributes"].as_object_mut().unwrap().remove("MessageGroupId");
        }
        answer.to_string().into()
    });
    let consumer = Consumer::builder(client, &rig.url)
        .message_handler(move |message, _| {
            let page = seen.start(&message);
            async move {
                sleep(millis(100)).await;
                drop(page);
                Ok(Outcome::Ack)
            }
        })
        .build()
        .unwrap();
    let report = consumer.run_until(until(|| rig.left() == 0)).await.unwrap();
    assert_eq!(diary.bodies(), ["0", "1", "2", "3", "4", "5"]);
    assert_eq!((diary.most_running(), report.stats.acked), (1, 6));
}

/// After a lost response, another consumer may have received and deleted the messages.
#[tokio::test(start_paused = true)]
async fn receive_gets_a_new_attempt_id_when_sqs_refuses_the_old_one() {
    let rig = Rig::new("jobs.fifo").await;
    rig.send_to("a", numbered("a", 1)).await;
    let text = "Value x for parameter ReceiveRequestAttemptId is invalid. Reason: The receiveRequestAttemptId is not \
                valid anymore since the receive call is not retryable.";
    let refused = Fault::error(ErrorCode::InvalidParameterValue).message(text).on(Action::ReceiveMessage);
    let refused = rig.server.faults().inject(refused.times(1));
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .message_handler(|_, _| async { Ok(Outcome::Ack) })
        .build()
        .unwrap();
    let report = consumer.run_until(until(|| rig.left() == 0)).await.unwrap();
    assert_eq!((refused.hits(), report.stats.acked), (1, 1));
    let receives = rig.sent_of(Action::ReceiveMessage);
    assert_ne!(receives[0].body["ReceiveRequestAttemptId"], receives[1].body["ReceiveRequestAttemptId"]);
}

#[tokio::test(start_paused = true)]
async fn busy_group_leaves_places_to_other_groups() {
    let rig = Rig::new("jobs.fifo").await;
    rig.send_to("hot", numbered("hot", 30)).await;
    for group in ["b", "c", "d", "e", "f", "g", "h", "i", "j"] {
        rig.send_to(group, numbered(group, 1)).await;
    }
    let diary = Diary::default();
    let seen = diary.clone();
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .concurrency(10)
        .message_handler(move |message, _| {
            let page = seen.start(&message);
            let count = &message.attributes().unwrap()[&Name::ApproximateReceiveCount];
            assert_eq!(count, "1", "nothing is given back and received again");
            async move {
                sleep(secs(10)).await;
                drop(page);
                Ok(Outcome::Ack)
            }
        })
        .build()
        .unwrap();
    let watch = async {
        sleep(secs(9)).await;
        assert_eq!(diary.most_running(), 10, "{:?}", diary.bodies());
        until(|| rig.left() == 0).await;
    };
    let report = consumer.run_until(watch).await.unwrap();
    assert_eq!((diary.of_group("hot"), report.stats.panicked), (numbered("hot", 30), 0));
}

#[tokio::test(start_paused = true)]
async fn after_a_failure_the_rest_of_the_group_is_given_back_from_its_end_and_then_the_message() {
    let rig = Rig::new("jobs.fifo").await;
    rig.send_to("a", numbered("a", 4)).await;
    let diary = Diary::default();
    let seen = diary.clone();
    let failures = Arc::new(AtomicU32::new(0));
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .back_off(BackOff::Fixed(secs(3)))
        .message_handler(move |message, _| {
            seen.start(&message);
            let fails = message.body() == Some("a1") && failures.fetch_add(1, Ordering::Relaxed) == 0;
            async move { if fails { Err("not now")? } else { Ok(Outcome::Ack) } }
        })
        .build()
        .unwrap();
    let report = consumer.run_until(until(|| rig.left() == 0)).await.unwrap();
    assert_eq!(diary.bodies(), ["a0", "a1", "a1", "a2", "a3"]);
    assert_eq!((report.stats.acked, report.stats.nacked, report.stats.returned), (4, 1, 2));

    let received: Vec<String> = {
        // The handles in the order of the messages, from the first receive with all four.
        let deletes = rig.sent_of(Action::DeleteMessageBatch);
        deletes.iter().flat_map(Sent::handles).map(|(handle, _)| handle).collect()
    };
    let changes: Vec<_> =
        rig.sent_of(Action::ChangeMessageVisibilityBatch).iter().flat_map(Sent::handles).collect();
    let timeouts: Vec<_> = changes.iter().map(|(_, seconds)| *seconds).collect();
    assert_eq!(timeouts, [Some(0), Some(0), Some(3)], "the rest at once, then the head after its back-off");
    assert!(changes.iter().all(|(handle, _)| !received.contains(handle)), "each was received again");
}

#[tokio::test(start_paused = true)]
async fn rest_of_a_group_is_released_in_reverse_order() {
    let rig = Rig::new("jobs.fifo").await;
    rig.send_to("a", numbered("a", 5)).await;
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .message_handler(|_, _| async { Ok(Outcome::Nack(secs(60))) })
        .build()
        .unwrap();
    consumer.run_until(sleep(secs(1))).await.unwrap();
    let bodies = rig.received();
    let changes = rig.sent_of(Action::ChangeMessageVisibilityBatch);
    let given_back: Vec<_> = changes
        .iter()
        .flat_map(Sent::handles)
        .map(|(handle, seconds)| (&*bodies[&handle], seconds))
        .collect();
    let at_once = Some(0);
    let reverse = [("a4", at_once), ("a3", at_once), ("a2", at_once), ("a1", at_once), ("a0", Some(60))];
    assert_eq!(given_back, reverse);
    assert_eq!(rig.in_flight(), 1, "the head alone is hidden");
}

#[tokio::test(start_paused = true)]
async fn next_message_of_a_group_waits_for_the_delete_by_default() {
    for (pace, waits) in [(GroupAdvance::AfterDelete, true), (GroupAdvance::AfterHandler, false)] {
        let rig = Rig::new("jobs.fifo").await;
        rig.send_to("a", numbered("a", 3)).await;
        rig.server.faults().inject(Fault::latency(secs(1)).on(Action::DeleteMessageBatch));
        let starts = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&starts);
        let consumer = Consumer::builder(rig.base.clone(), &rig.url)
            .group_advance(pace)
            .message_handler(move |_, _| {
                seen.lock().unwrap().push(Instant::now());
                async move { Ok(Outcome::Ack) }
            })
            .build()
            .unwrap();
        consumer.run_until(until(|| rig.left() == 0)).await.unwrap();
        let starts = starts.lock().unwrap();
        let gaps: Vec<_> = starts.windows(2).map(|pair| pair[1] - pair[0] >= secs(1)).collect();
        assert_eq!(gaps, [waits, waits], "{pace:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn failed_delete_stops_the_group_until_the_message_is_redelivered() {
    let rig = Rig::new("jobs.fifo").await;
    rig.send_to("a", numbered("a", 3)).await;
    let fault = Fault::fail_entries(ErrorCode::InvalidAddress).on(Action::DeleteMessageBatch);
    rig.server.faults().inject(fault.skip(1).times(1));
    let diary = Diary::default();
    let seen = diary.clone();
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .message_handler(move |message, _| {
            seen.start(&message);
            async { Ok(Outcome::Ack) }
        })
        .build()
        .unwrap();
    let report = consumer.run_until(until(|| rig.left() == 0)).await.unwrap();
    assert_eq!(diary.bodies(), ["a0", "a1", "a1", "a2"], "a2 never before a1 is done");
    assert_eq!((report.stats.settle_errors, report.stats.unsettled, report.stats.returned), (1, 0, 2));
}

#[tokio::test(start_paused = true)]
async fn receive_with_lost_response_is_retried_with_the_same_attempt_id() {
    let rig = Rig::new("jobs.fifo").await;
    rig.send_to("a", numbered("a", 3)).await;
    rig.server.faults().inject(Fault::reset_after().on(Action::ReceiveMessage).times(4));
    let diary = Diary::default();
    let seen = diary.clone();
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .concurrency(3)
        .message_handler(move |message, _| {
            seen.start(&message);
            async { Ok(Outcome::Ack) }
        })
        .build()
        .unwrap();
    let start = Instant::now();
    let report = consumer.run_until(until(|| rig.left() == 0)).await.unwrap();
    assert!(start.elapsed() < secs(29 + 20), "nobody waited for a visibility timeout: {:?}", start.elapsed());
    assert_eq!(diary.bodies(), numbered("a", 3));
    assert_eq!(report.stats.receive_errors, 4, "the client below does not try again by itself");
    let ids: Vec<_> = rig
        .sent_of(Action::ReceiveMessage)
        .iter()
        .map(|sent| sent.body["ReceiveRequestAttemptId"].as_str().unwrap().to_owned())
        .collect();
    assert!(ids[..5].iter().all(|id| *id == ids[0]), "{ids:?}");
    assert!(ids[5..].iter().all(|id| *id != ids[0]), "a new receive has a new id: {ids:?}");
}

#[tokio::test(start_paused = true)]
async fn message_that_is_redelivered_while_it_runs_is_deleted_by_its_latest_handle() {
    let rig = Rig::new("jobs.fifo").await;
    rig.send_to("a", numbered("a", 3)).await;
    // The clock of the service is ahead of ours: for the service, the visibility timeout is over while the first
    // handler runs.
    let clock = rig.server.clock().clone();
    tokio::spawn(async move {
        sleep(secs(1) / 2).await;
        clock.advance(secs(31));
    });
    let diary = Diary::default();
    let seen = diary.clone();
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .concurrency(20)
        .message_handler(move |message, _| {
            let page = seen.start(&message);
            async move {
                sleep(secs(1)).await;
                drop(page);
                Ok(Outcome::Ack)
            }
        })
        .build()
        .unwrap();
    let report = consumer.run_until(until(|| rig.left() == 0)).await.unwrap();
    assert_eq!(diary.bodies(), numbered("a", 3), "each once, in order");
    assert_eq!((report.stats.duplicates, report.stats.received, report.stats.held), (3, 6, 0));
}

#[tokio::test(start_paused = true)]
async fn damaged_message_is_not_overtaken_by_its_group() {
    for damaged in ["a0", "a1"] {
        let rig = Rig::new("jobs.fifo").await;
        rig.send_to("a", numbered("a", 3)).await;
        rig.send_to("b", numbered("b", 1)).await;
        let diary = Diary::default();
        let seen = diary.clone();
        let consumer = Consumer::builder(damaging_once(&rig, damaged), &rig.url)
            .message_handler(move |message, _| {
                seen.start(&message);
                async { Ok(Outcome::Ack) }
            })
            .build()
            .unwrap();
        let report = consumer.run_until(until(|| rig.left() == 0)).await.unwrap();
        assert_eq!((diary.of_group("a"), diary.of_group("b")), (numbered("a", 3), numbered("b", 1)));
        let behind = if damaged == "a0" { 2 } else { 1 };
        assert_eq!(
            (report.stats.damaged, report.stats.returned),
            (1, 1 + behind),
            "the others were handed out"
        );
    }
}
