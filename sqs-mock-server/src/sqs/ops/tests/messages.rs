//! Sending, receiving and deleting single messages.

use sqs_client::operation::change_message_visibility::ChangeMessageVisibilityInput;
use sqs_client::types::MessageAttributeValue;
use sqs_client::types::MessageSystemAttributeName as Name;
use sqs_client::types::MessageSystemAttributeValue;

use super::*;

fn attributed(url: &str) -> SendMessageInputBuilder {
    send(url, "hello")
        .message_attributes("color", MessageAttributeValue::string("blue"))
        .message_attributes("count", MessageAttributeValue::number(3))
        .message_attributes("blob", MessageAttributeValue::binary([1, 2, 3]))
}

#[tokio::test]
async fn checksums_cover_sent_and_returned_attributes() {
    let rig = rig();
    let url = rig.queue("orders", &[]).await;
    let sent = rig.call(attributed(&url)).await.unwrap();
    assert_eq!(sent.md5_of_message_body(), Some("5d41402abc4b2a76b9719d911017c592"));
    assert_eq!(sent.md5_of_message_attributes(), Some("d838729972a4b70e2d2acd9d59ac847c"));
    let message =
        rig.call(receive(&url).message_attribute_names("col.*")).await.unwrap().messages.unwrap().remove(0);
    assert_eq!(message.md5_of_body, sent.md5_of_message_body);
    assert_eq!(message.md5_of_message_attributes(), Some("da1b33cc3cbfe8b1630921e78e6b9880"));
    assert_eq!(message.message_attributes().unwrap().keys().collect::<Vec<_>>(), ["color"]);
}

#[tokio::test]
async fn message_attributes_not_requested_are_omitted() {
    let rig = rig();
    let url = rig.queue("orders", &[("VisibilityTimeout", "0")]).await;
    rig.call(attributed(&url)).await.unwrap();
    let nothing_matches =
        receive(&url).message_attribute_names("none").attribute_names("SequenceNumber".into());
    for input in [receive(&url), nothing_matches] {
        let message = rig.call(input).await.unwrap().messages.unwrap().remove(0);
        assert_eq!((message.attributes, message.message_attributes), (None, None));
        assert_eq!(message.md5_of_message_attributes, None);
    }
}

#[tokio::test]
async fn plain_message_has_four_system_attributes() {
    let rig = rig();
    rig.service.clock().freeze();
    let sent = rig.now().as_millis();
    let url = rig.queue("orders", &[]).await;
    rig.send(&url, "hello").await;
    rig.pass(2).await;
    let input = receive(&url).message_system_attribute_names(Name::All);
    let attributes = rig.call(input).await.unwrap().messages.unwrap().remove(0).attributes.unwrap();
    let expected = [
        (Name::SenderId, ACCOUNT.to_owned()),
        (Name::SentTimestamp, sent.to_string()),
        (Name::ApproximateReceiveCount, "1".to_owned()),
        (Name::ApproximateFirstReceiveTimestamp, (sent + 2_000).to_string()),
    ];
    assert_eq!(attributes, expected.into());
}

#[tokio::test]
async fn fifo_message_has_group_deduplication_id_and_sequence_number() {
    let rig = rig();
    let url = rig.fifo_queue("orders.fifo").await;
    let sent = rig.call(send(&url, "same").message_group_id("g")).await.unwrap();
    let input = receive(&url).attribute_names("All".into());
    let attributes = rig.call(input).await.unwrap().messages.unwrap().remove(0).attributes.unwrap();
    assert_eq!(attributes.get(&Name::MessageGroupId).map(String::as_str), Some("g"));
    assert_eq!(attributes.get(&Name::SequenceNumber), sent.sequence_number.as_ref());
    let hash = "0967115f2813a3541eaef77de9d9d5773f1c0c04314b0bbfe4ff3b3b1c55b5d5";
    assert_eq!(attributes.get(&Name::MessageDeduplicationId).map(String::as_str), Some(hash));
    // A duplicate returns the result of the original and is not delivered.
    let repeat = rig.call(send(&url, "same").message_group_id("g")).await.unwrap();
    assert_eq!((repeat.message_id, repeat.sequence_number), (sent.message_id, sent.sequence_number));
}

#[tokio::test]
async fn trace_header_of_the_message_overrides_that_of_the_request() {
    let trace = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1";
    let mut rig = rig();
    let url = rig.queue("orders", &[]).await;
    let value =
        MessageSystemAttributeValue::builder().data_type("String").string_value(trace).build().unwrap();
    let given = send(&url, "given").message_system_attributes("AWSTraceHeader".into(), value);
    rig.context.trace_header = Some("Root=1-from-the-header".to_owned());
    let sent = rig.call(given).await.unwrap();
    assert_eq!(sent.md5_of_message_system_attributes(), Some("5ae4d5d7636402d80f4eb6d213245a88"));
    assert_eq!(rig.send(&url, "header").await.md5_of_message_system_attributes, None);
    let messages =
        rig.call(receive(&url).attribute_names("AWSTraceHeader".into())).await.unwrap().messages.unwrap();
    let traces: Vec<_> = messages
        .into_iter()
        .map(|message| message.attributes.unwrap().remove(&Name::AwsTraceHeader))
        .collect();
    assert_eq!(traces, [Some(trace.to_owned()), Some("Root=1-from-the-header".to_owned())]);
}

#[tokio::test]
async fn send_that_violates_the_rules_of_its_queue_is_rejected() {
    let rig = rig();
    let small = rig.queue("small", &[("MaximumMessageSize", "1024")]).await;
    rig.send(&small, &"x".repeat(1_024)).await;
    let text = "One or more parameters are invalid. Reason: Message must be shorter than 1024 bytes.";
    let refused = (ErrorCode::InvalidParameterValue, text.to_owned());
    assert_eq!(rig.refusal(send(&small, &"x".repeat(1_025))).await, refused);
    let fifo = rig.queue("orders.fifo", &[("FifoQueue", "true")]).await;
    assert_eq!(rig.refusal(send(&fifo, "x")).await.0, ErrorCode::MissingParameter);
    let without_id = send(&fifo, "x").message_group_id("g");
    assert_eq!(rig.refusal(without_id).await.0, ErrorCode::InvalidParameterValue);
}

/// Maintainers of a client found that AWS accepts it.
#[tokio::test]
async fn attempt_id_has_no_effect_on_a_standard_queue() {
    let rig = rig();
    let url = rig.queue("orders", &[]).await;
    rig.send(&url, "hello").await;
    let attempt = || receive(&url).receive_request_attempt_id("a");
    assert_eq!(bodies(rig.call(attempt()).await.unwrap().messages()), ["hello"]);
    assert!(rig.call(attempt()).await.unwrap().messages().is_empty());
}

#[tokio::test]
async fn deleting_twice_succeeds_and_invalid_handle_is_rejected() {
    let rig = rig();
    let url = rig.queue("orders", &[]).await;
    rig.send(&url, "hello").await;
    let message = rig.receive(&url).await.remove(0);
    rig.delete(&url, &message).await;
    rig.delete(&url, &message).await;
    let garbage = DeleteMessageInput::builder().queue_url(&url).receipt_handle("garbage");
    let text = "The input receipt handle \"garbage\" is not a valid receipt handle.";
    assert_eq!(rig.refusal(garbage).await, (ErrorCode::ReceiptHandleIsInvalid, text.to_owned()));
    let change = ChangeMessageVisibilityInput::builder().queue_url(&url).visibility_timeout(0);
    let change = change.set_receipt_handle(message.receipt_handle);
    assert_eq!(rig.refusal(change).await.0, ErrorCode::InvalidParameterValue);
}

#[tokio::test]
async fn in_flight_limit_fails_short_polls_only() {
    let rig = rig_with(Settings { max_in_flight: 1, ..Settings::default() });
    let url = rig.queue("orders", &[("VisibilityTimeout", "0")]).await;
    rig.send(&url, "1").await;
    rig.send(&url, "2").await;
    rig.call(receive(&url).visibility_timeout(60)).await.unwrap();
    assert_eq!(rig.refusal(receive(&url)).await.0, ErrorCode::OverLimit);
    let parked = rig.park(long_poll(&url, 20)).await;
    rig.pass(20).await;
    assert!(parked.bodies().await.is_empty());
    rig.pass(40).await;
    assert_eq!(rig.bodies(&url).await.len(), 1);
}

#[tokio::test]
async fn peek_does_not_change_the_queue() {
    let rig = rig();
    let url = rig.queue("orders", &[]).await;
    rig.send(&url, "1").await;
    rig.send(&url, "2").await;
    let queue = arn("orders").parse().unwrap();
    let seen = rig.service.peek(&queue, 1, 10).unwrap();
    assert_eq!(seen.iter().map(|message| &*message.payload.body).collect::<Vec<_>>(), ["2"]);
    assert_eq!(rig.service.counts(&queue).unwrap().available, 2);
    assert!(rig.service.peek(&arn("missing").parse().unwrap(), 0, 1).is_none());
}

#[tokio::test]
async fn peek_if_returns_messages_only_when_their_number_is_accepted() {
    let rig = rig();
    let url = rig.queue("orders", &[]).await;
    rig.send(&url, "1").await;
    let (queue, missing) = (arn("orders").parse().unwrap(), arn("missing").parse().unwrap());
    assert!(rig.service.peek_if(&queue, |total| total == 2).is_none());
    rig.send(&url, "2").await;
    rig.receive(&url).await;
    assert_eq!(rig.service.peek_if(&queue, |total| total == 2).unwrap().len(), 2);
    assert!(rig.service.peek_if(&missing, |total| total > 0).is_none());
    assert!(rig.service.peek_if(&missing, |total| total == 0).unwrap().is_empty());
}
