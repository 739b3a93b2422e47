//! Messages whose payloads are streamed, on an embedded server and a real S3.

use bytes::Bytes;
use futures_util::stream;
use sqs_client::Client;
use sqs_client::operation::Action;
use sqs_client::types::{MessageAttributeValue, QueueAttributeName};
use sqs_extended::{ErrorKind, ExtendedClient, Payload, Pointer};
use sqs_mock_server::MockSqs;
use sqs_mock_server::faults::Fault;

use super::fault::Effect;
use super::rig::{BUCKET, PART, Rig, bytes};

struct Both {
    s3: Rig,
    sqs: MockSqs,
    plain: Client,
    client: ExtendedClient,
    url: String,
}

async fn both() -> Both {
    let (s3, sqs) = (Rig::start().await, MockSqs::start().await);
    let retry = sqs_client::config::retry::RetryConfig::disabled();
    let plain = Client::from_conf(sqs.client_config().retry_config(retry).build());
    let url = plain.create_queue().queue_name("q").send().await.unwrap().queue_url.unwrap();
    let client = ExtendedClient::new(plain.clone(), s3.store());
    Both { s3, sqs, plain, client, url }
}

impl Both {
    async fn objects(&self) -> usize {
        let listed = self.s3.client.list_objects_v2().bucket(BUCKET).send().await.unwrap();
        listed.contents.unwrap_or_default().len()
    }
}

#[tokio::test]
async fn stream_is_received_as_it_was_sent() {
    let both = both().await;
    let length = 2 * PART + 77;
    let pieces = stream::iter([Ok::<_, std::io::Error>(bytes(length))]);
    let sent = both.client.send_stream(&both.url, Payload::from_stream(pieces));
    let sent = sent.message_attributes("kind", MessageAttributeValue::string("film")).send().await.unwrap();
    assert_eq!(sent.length, u64::try_from(length).unwrap());
    assert_eq!(sent.pointer.bucket(), BUCKET);

    let plain = both.plain.receive_message().queue_url(&both.url).message_attribute_names("All");
    let message = plain.send().await.unwrap().messages.unwrap().remove(0);
    assert_eq!(Pointer::from_body(message.body().unwrap()).unwrap(), sent.pointer);
    let attributes = message.message_attributes().unwrap();
    assert_eq!(attributes["ExtendedPayloadSize"].string_value(), Some(length.to_string().as_str()));
    assert_eq!(attributes["kind"].string_value(), Some("film"));

    let body = both.client.body_stream(&message).await.unwrap();
    assert!(body.collect(length).await.unwrap() == bytes(length));
}

#[tokio::test]
async fn small_and_empty_payloads_are_streamed() {
    let both = both().await;
    for text in ["", "x"] {
        both.client.send_stream(&both.url, text).send().await.unwrap();
        let message = both.client.receive(&both.url).lazy().send().await.unwrap().remove(0).message;
        let body = both.client.body_stream(&message).await.unwrap();
        assert_eq!(body.collect(1).await.unwrap(), text);
        both.client.queue(&both.url).delete(&message).send().await.unwrap();
    }
    both.client.finish_cleanup().await;
    assert_eq!(both.objects().await, 0, "deleted with their messages");
}

#[tokio::test]
async fn inline_body_is_read_as_a_stream() {
    let both = both().await;
    both.client.send_message().queue_url(&both.url).message_body("hi").send().await.unwrap();
    let message = both.client.receive(&both.url).send().await.unwrap().remove(0).message;
    let body = both.client.body_stream(&message).await.unwrap();
    assert_eq!(body.collect(9).await.unwrap(), "hi");
}

#[tokio::test]
async fn rejected_message_leaves_no_object() {
    let both = both().await;
    let error = both.client.send_stream(format!("{}-other", both.url), bytes(10)).send().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Client);
    assert!(error.client_error().unwrap().is_queue_does_not_exist(), "{error}");
    assert_eq!(both.objects().await, 0);
}

#[tokio::test]
async fn message_keeps_its_object_if_the_response_is_lost() {
    let both = both().await;
    both.sqs.faults().inject(Fault::reset_after().on(Action::SendMessage).times(1));
    let error = both.client.send_stream(&both.url, bytes(10)).send().await.unwrap_err();
    assert!(error.is_outcome_unknown(), "{error}");
    assert_eq!(both.objects().await, 1);
    let message = both.client.receive(&both.url).send().await.unwrap().remove(0);
    assert_eq!(message.body().unwrap().unwrap().as_bytes(), bytes(10));
}

#[tokio::test]
async fn streamed_message_is_retried_only_with_a_deduplication_id() {
    let both = both().await;
    let retrying = ExtendedClient::new(both.sqs.client(), both.s3.store());
    both.sqs.faults().inject(Fault::reset_after().on(Action::SendMessage).times(1));
    let error = retrying.send_stream(&both.url, bytes(10)).send().await.unwrap_err();
    assert!(error.is_outcome_unknown(), "{error}");
    assert_eq!((both.sqs.queue("q").bodies().len(), both.objects().await), (1, 1));

    let fifo =
        both.plain.create_queue().queue_name("q.fifo").attributes(QueueAttributeName::FifoQueue, "true");
    let fifo = fifo.send().await.unwrap().queue_url.unwrap();
    both.sqs.faults().inject(Fault::reset_after().on(Action::SendMessage).times(1));
    let send = retrying.send_stream(&fifo, bytes(10)).message_group_id("g").message_deduplication_id("d");
    send.send().await.unwrap();
    assert_eq!((both.sqs.queue("q.fifo").bodies().len(), both.objects().await), (1, 2));
}

#[tokio::test]
async fn failed_upload_sends_no_message() {
    let both = both().await;
    both.s3.fail("UploadPart", Effect::Answer(403, "AccessDenied"), 9);
    let error = both.client.send_stream(&both.url, bytes(2 * PART)).send().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Forbidden, "{error}");
    let error = both.client.send_stream(&both.url, Bytes::from_static(b"\xff")).send().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotText, "{error}");
    let error =
        both.client.send_stream(&both.url, Payload::from("xy").max_length(1)).send().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TooLarge, "{error}");
    assert_eq!(both.sqs.queue("q").bodies(), [""; 0]);
    both.client.finish_cleanup().await;
    assert_eq!((both.objects().await, both.s3.left_over().len()), (0, 0));
}

#[tokio::test]
async fn reserved_attribute_is_rejected_before_the_upload() {
    let both = both().await;
    let send = both.client.send_stream(&both.url, bytes(10));
    let reserved = send.message_attributes("ExtendedPayloadSize", MessageAttributeValue::number(1));
    assert_eq!(reserved.send().await.unwrap_err().kind(), ErrorKind::ReservedAttribute);
    assert_eq!(both.s3.names(), [""; 0]);
}

#[tokio::test]
async fn dropped_send_aborts_its_upload() {
    let both = both().await;
    let endless = stream::repeat_with(|| Ok::<_, std::io::Error>(bytes(100_000)));
    tokio::select! {
        result = both.client.send_stream(&both.url, Payload::from_stream(endless)).send() => panic!("{result:?}"),
        () = both.s3.wait_for("UploadPart", 2) => {}
    }
    both.s3.wait_until_clean().await;
    both.client.finish_cleanup().await;
    assert_eq!(both.objects().await, 0);
    assert_eq!(both.sqs.queue("q").bodies(), [""; 0]);
}

#[tokio::test]
async fn pointer_to_a_foreign_bucket_is_not_streamed() {
    let both = both().await;
    let body = Pointer::new("foreign", "k").to_body(sqs_extended::PointerClass::Modern);
    let send = both.plain.send_message().queue_url(&both.url).message_body(body);
    send.message_attributes("ExtendedPayloadSize", MessageAttributeValue::number(1)).send().await.unwrap();
    let message = both.client.receive(&both.url).lazy().send().await.unwrap().remove(0).message;
    let error = both.client.body_stream(&message).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ForeignBucket);
    assert_eq!(both.s3.names(), [""; 0]);
}

#[tokio::test]
async fn deleted_payload_is_not_found_and_a_denied_one_is_forbidden() {
    let both = both().await;
    let sent = both.client.send_stream(&both.url, "x").send().await.unwrap();
    let message = both.client.receive(&both.url).lazy().send().await.unwrap().remove(0).message;
    both.s3.fail("GetObject", Effect::Answer(403, "AccessDenied"), 1);
    assert_eq!(both.client.body_stream(&message).await.unwrap_err().kind(), ErrorKind::Forbidden);
    both.s3.client.delete_object().bucket(BUCKET).key(sent.pointer.key()).send().await.unwrap();
    let error = both.client.body_stream(&message).await.unwrap_err();
    assert_eq!((error.kind(), error.pointer()), (ErrorKind::NotFound, Some(&sent.pointer)));
}
