//! Batches: errors of single entries and of whole requests.

use sqs_client::operation::change_message_visibility_batch::ChangeMessageVisibilityBatchInput;
use sqs_client::operation::delete_message_batch::DeleteMessageBatchInput;
use sqs_client::operation::send_message_batch::SendMessageBatchInput;
use sqs_client::operation::send_message_batch::builders::SendMessageBatchInputBuilder;
use sqs_client::types::BatchResultErrorEntry;
use sqs_client::types::ChangeMessageVisibilityBatchRequestEntry;
use sqs_client::types::DeleteMessageBatchRequestEntry;
use sqs_client::types::SendMessageBatchRequestEntry;
use sqs_client::types::builders::SendMessageBatchRequestEntryBuilder;

use super::*;

fn entry(id: &str, body: &str) -> SendMessageBatchRequestEntryBuilder {
    SendMessageBatchRequestEntry::builder().id(id).message_body(body)
}

fn batch(
    url: &str,
    entries: impl IntoIterator<Item = SendMessageBatchRequestEntryBuilder>,
) -> SendMessageBatchInputBuilder {
    let entries = entries.into_iter().map(|entry| entry.build().expect("an entry")).collect();
    SendMessageBatchInput::builder().queue_url(url).set_entries(Some(entries))
}

fn failures(failed: &[BatchResultErrorEntry]) -> Vec<(&str, &str, bool)> {
    failed.iter().map(|entry| (entry.id(), entry.code(), entry.sender_fault())).collect()
}

#[tokio::test]
async fn invalid_entries_of_a_batch_fail_and_others_are_sent() {
    let rig = rig();
    let url = rig.queue("orders", &[("MaximumMessageSize", "1024")]).await;
    let long = "x".repeat(1_025);
    let entries = [
        entry("good", "hello"),
        entry("characters", "\u{1}"),
        entry("long", &long),
        entry("empty", ""),
        entry("delay", "x").delay_seconds(901),
        entry("fifo-only", "x").message_deduplication_id("d"),
        entry("good-too", "world"),
    ];
    let output = rig.call(batch(&url, entries)).await.unwrap();
    let successful: Vec<_> =
        output.successful().iter().map(|entry| (entry.id(), entry.md5_of_message_body())).collect();
    let md5s = ["5d41402abc4b2a76b9719d911017c592", "7d793037a0760186574b0282f2f435e7"];
    assert_eq!(successful, [("good", md5s[0]), ("good-too", md5s[1])]);
    let expected = [
        ("characters", "InvalidMessageContents", true),
        ("long", "InvalidParameterValue", true),
        ("empty", "MissingParameter", true),
        ("delay", "InvalidParameterValue", true),
        ("fifo-only", "InvalidParameterValue", true),
    ];
    assert_eq!(failures(output.failed()), expected);
    let text = "One or more parameters cannot be validated. Reason: Message must be shorter than 1024 bytes.";
    assert_eq!(output.failed()[1].message(), Some(text));
    assert_eq!(rig.bodies(&url).await, ["hello", "world"]);
}

#[tokio::test]
async fn invalid_batch_request_sends_nothing() {
    let rig = rig();
    let url = rig.queue("orders", &[]).await;
    let half = "x".repeat(600_000);
    let table = [
        (batch(&url, []), ErrorCode::EmptyBatchRequest),
        (batch(&url, (0..11).map(|n| entry(&n.to_string(), "x"))), ErrorCode::TooManyEntriesInBatchRequest),
        (batch(&url, [entry("a", "x"), entry("b!", "x")]), ErrorCode::InvalidBatchEntryId),
        (batch(&url, [entry("a", "x"), entry("a", "y")]), ErrorCode::BatchEntryIdsNotDistinct),
        (batch(&url, [entry("a", &half), entry("b", &half)]), ErrorCode::BatchRequestTooLong),
    ];
    for (input, code) in table {
        assert_eq!(rig.refusal(input).await.0, code);
    }
    assert!(rig.bodies(&url).await.is_empty());
}

#[tokio::test]
async fn fifo_entry_without_group_or_id_fails_the_whole_batch() {
    let rig = rig();
    let url = rig.queue("orders.fifo", &[("FifoQueue", "true")]).await;
    let good = || entry("good", "x").message_group_id("g").message_deduplication_id("d");
    let no_group = batch(&url, [good(), entry("b", "x").message_deduplication_id("e")]);
    assert_eq!(rig.refusal(no_group).await.0, ErrorCode::InvalidParameterValue);
    let no_id = batch(&url, [good(), entry("b", "x").message_group_id("g")]);
    assert_eq!(rig.refusal(no_id).await.0, ErrorCode::InvalidParameterValue);
    let delayed = entry("b", "x").message_group_id("g").message_deduplication_id("e").delay_seconds(2);
    let output = rig.call(batch(&url, [good(), delayed])).await.unwrap();
    assert_eq!(failures(output.failed()), [("b", "InvalidParameterValue", true)]);
    assert_eq!(output.successful()[0].sequence_number().map(str::len), Some(20));
    assert_eq!(rig.bodies(&url).await, ["x"]);
}

#[tokio::test]
async fn delete_batch_returns_a_result_for_each_handle() {
    let rig = rig();
    let url = rig.queue("orders", &[]).await;
    rig.send(&url, "1").await;
    let handle = rig.receive(&url).await.remove(0).receipt_handle.unwrap();
    let entry = |id: &str, handle: &str| {
        DeleteMessageBatchRequestEntry::builder().id(id).receipt_handle(handle).build().expect("an entry")
    };
    let input = DeleteMessageBatchInput::builder().queue_url(&url);
    let output = rig.call(input.entries(entry("a", &handle)).entries(entry("b", "garbage"))).await.unwrap();
    assert!(matches!(output.successful(), [entry] if entry.id() == "a"));
    assert_eq!(failures(output.failed()), [("b", "ReceiptHandleIsInvalid", true)]);
    assert_eq!(rig.attribute(&url, "ApproximateNumberOfMessagesNotVisible").await.as_deref(), Some("0"));
}

#[tokio::test]
async fn visibility_batch_returns_a_result_for_each_handle() {
    let rig = rig();
    let url = rig.queue("orders", &[]).await;
    rig.send(&url, "1").await;
    let handle = rig.receive(&url).await.remove(0).receipt_handle.unwrap();
    let entry = |id: &str, handle: &str, timeout| {
        let entry = ChangeMessageVisibilityBatchRequestEntry::builder().id(id).receipt_handle(handle);
        entry.set_visibility_timeout(timeout).build().expect("an entry")
    };
    let input = ChangeMessageVisibilityBatchInput::builder()
        .queue_url(&url)
        .entries(entry("far", &handle, Some(43_201)))
        .entries(entry("none", &handle, None))
        .entries(entry("garbage", "garbage", Some(0)))
        .entries(entry("good", &handle, Some(0)));
    let output = rig.call(input).await.unwrap();
    assert!(matches!(output.successful(), [entry] if entry.id() == "good"));
    let expected = [
        ("far", "InvalidParameterValue", true),
        ("none", "MissingParameter", true),
        ("garbage", "ReceiptHandleIsInvalid", true),
    ];
    assert_eq!(failures(output.failed()), expected);
    assert_eq!(rig.bodies(&url).await, ["1"]);
}
