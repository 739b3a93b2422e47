//! Messages that another service delivers: AWS Lambda and SNS.

use sqs_client::lambda::SqsEvent;
use sqs_client::types::Message;
use sqs_extended::{ErrorKind, ExtendedClientBuilder, MessagePayload, Pointer, PointerClass};

use super::receiving::{failure, receive_one};
use super::rig::{Rig, large};

const UUID: &str = "01234567-89ab-4cde-8f01-23456789abcd";

/// A record of a Lambda event with this message.
fn lambda_event(message: &Message) -> SqsEvent {
    let attributes = message.message_attributes().into_iter().flatten().map(|(name, value)| {
        (name.clone(), serde_json::json!({"stringValue": value.string_value(), "dataType": value.data_type}))
    });
    let event = serde_json::json!({"Records": [{
        "messageId": message.message_id(),
        "receiptHandle": message.receipt_handle(),
        "body": message.body(),
        "messageAttributes": attributes.collect::<serde_json::Map<_, _>>(),
        "eventSource": "aws:sqs",
    }]});
    serde_json::from_value(event).unwrap()
}

#[tokio::test(start_paused = true)]
async fn record_of_a_lambda_event_is_resolved_and_its_object_deleted() {
    let rig = Rig::new().await;
    for body in [large(""), "small".to_owned()] {
        rig.send(&body).await;
        let record = lambda_event(&rig.receive_plain().await.remove(0)).records.remove(0);
        let received = rig.client.resolve(record).await;
        assert_eq!(received.body().unwrap(), Some(&*body));
        assert_eq!(received.message.message_attributes(), None);
        received.delete_payload().await;
        rig.client.finish_cleanup().await;
        assert!(rig.store.objects().is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn payload_of_a_failed_or_retained_message_is_not_deleted() {
    let rig = Rig::new().await;
    rig.send(large("")).await;
    let mut record = lambda_event(&rig.receive_plain().await.remove(0)).records.remove(0);
    record.message_attributes.get_mut("ExtendedPayloadSize").unwrap().string_value = Some("7".to_owned());
    let received = rig.client.resolve(record).await;
    assert_eq!(failure(&received).kind(), ErrorKind::Damaged);
    received.delete_payload().await;
    assert_eq!(rig.store.objects().len(), 1);

    let rig = Rig::with("q", ExtendedClientBuilder::retain).await;
    rig.send(large("")).await;
    receive_one(&rig).await.delete_payload().await;
    assert_eq!(rig.store.objects().len(), 1);
}

fn notification(pointer: &Pointer, length: usize) -> String {
    serde_json::json!({
        "Type": "Notification",
        "MessageId": "dc1e94d9-56c5-5e96-808d-cc7f68faa162",
        "TopicArn": "arn:aws:sns:us-east-2:111122223333:scans",
        "Message": pointer.to_body(PointerClass::Modern),
        "MessageAttributes": {
            "ExtendedPayloadSize": {"Type": "Number", "Value": length.to_string()},
            "color": {"Type": "String", "Value": "red"},
        },
    })
    .to_string()
}

async fn following_rig() -> Rig {
    Rig::with("q", |builder| builder.sns_notifications(true)).await
}

#[tokio::test(start_paused = true)]
async fn notification_is_received_with_the_payload_and_its_object_is_kept() {
    let rig = following_rig().await;
    let pointer = Pointer::new("own", UUID);
    rig.store.overwrite(&pointer, "tea for \"two\"");
    rig.send_raw(notification(&pointer, 13), None).await;

    let message = rig.receive().await.remove(0);
    let body: serde_json::Value = serde_json::from_str(message.body().unwrap()).unwrap();
    assert_eq!((&body["Type"], &body["Message"]), (&"Notification".into(), &"tea for \"two\"".into()));
    assert_eq!(body["MessageAttributes"], serde_json::json!({"color": {"Type": "String", "Value": "red"}}));
    let md5 = sqs_client::wire::checksum::md5_of_body(message.body().unwrap());
    assert_eq!(message.md5_of_body(), Some(md5.as_str()));
    rig.client.queue(&rig.url).delete(&message).send().await.unwrap();
    rig.client.resolve(message).await.delete_payload().await;
    assert_eq!((rig.bodies().len(), rig.store.objects().len()), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn notification_is_not_followed_by_default() {
    let rig = Rig::new().await;
    let body = notification(&Pointer::new("own", UUID), 3);
    rig.send_raw(&body, None).await;
    let received = receive_one(&rig).await;
    assert!(matches!(received.payload, MessagePayload::Inline));
    assert_eq!((received.body().unwrap(), rig.store.calls().gets), (Some(&*body), 0));
}

#[tokio::test(start_paused = true)]
async fn payload_of_a_lazy_notification_is_streamed_without_the_notification() {
    let rig = following_rig().await;
    let pointer = Pointer::new("own", UUID);
    rig.store.overwrite(&pointer, "tea");
    rig.send_raw(notification(&pointer, 3), None).await;
    let received = rig.client.receive(&rig.url).lazy().send().await.unwrap().remove(0);
    assert_eq!(received.body_stream().await.unwrap().text(100).await.unwrap(), "tea");
    rig.client.queue(&rig.url).delete(&received.message).send().await.unwrap();
    received.delete_payload().await;
    assert_eq!((rig.bodies().len(), rig.store.objects().len()), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn notification_with_a_pointer_to_a_foreign_bucket_causes_no_store_call() {
    let rig = following_rig().await;
    let body = notification(&Pointer::new("foreign", UUID), 3);
    rig.send_raw(&body, None).await;
    let received = receive_one(&rig).await;
    assert_eq!(failure(&received).kind(), ErrorKind::ForeignBucket);
    assert_eq!((received.message.body(), rig.store.calls().gets), (Some(&*body), 0));
}
