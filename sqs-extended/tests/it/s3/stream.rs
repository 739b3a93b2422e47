//! Messages with streamed payloads, with an embedded SQS and an S3 server.

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

struct Setup {
    s3: Rig,
    sqs: MockSqs,
    plain: Client,
    client: ExtendedClient,
    url: String,
}

async fn setup() -> Setup {
    let (s3, sqs) = (Rig::start().await, MockSqs::start().await);
    let retry = sqs_client::config::retry::RetryConfig::disabled();
    let plain = Client::from_conf(sqs.client_config().retry_config(retry).build());
    let url = plain.create_queue().queue_name("q").send().await.unwrap().queue_url.unwrap();
    // The object of a dropped upload is deleted once more after an eighth of it.
    let timeout = std::time::Duration::from_secs(16);
    let client = ExtendedClient::builder(plain.clone(), s3.store()).store_timeout(timeout).build().unwrap();
    Setup { s3, sqs, plain, client, url }
}

impl Setup {
    async fn objects(&self) -> usize {
        let listed = self.s3.client.list_objects_v2().bucket(BUCKET).send().await.unwrap();
        listed.contents.unwrap_or_default().len()
    }
}

#[tokio::test]
async fn stream_is_received_as_it_was_sent() {
    let setup = setup().await;
    let length = 2 * PART + 77;
    let pieces = stream::iter([Ok::<_, std::io::Error>(bytes(length))]);
    let sent = setup.client.send_stream(&setup.url, Payload::from_stream(pieces));
    let sent = sent.message_attributes("kind", MessageAttributeValue::string("film")).send().await.unwrap();
    assert_eq!(sent.length, u64::try_from(length).unwrap());
    assert_eq!(sent.pointer.bucket(), BUCKET);

    let plain = setup.plain.receive_message().queue_url(&setup.url).message_attribute_names("All");
    let message = plain.send().await.unwrap().messages.unwrap().remove(0);
    assert_eq!(Pointer::from_body(message.body().unwrap()).unwrap(), sent.pointer);
    let attributes = message.message_attributes().unwrap();
    assert_eq!(attributes["ExtendedPayloadSize"].string_value(), Some(length.to_string().as_str()));
    assert_eq!(attributes["kind"].string_value(), Some("film"));

    let body = setup.client.body_stream(&message).await.unwrap();
    assert!(body.collect(length).await.unwrap() == bytes(length));
}

#[tokio::test]
async fn small_and_empty_payloads_are_streamed() {
    let setup = setup().await;
    for text in ["", "x"] {
        setup.client.send_stream(&setup.url, text).send().await.unwrap();
        let message = setup.client.receive(&setup.url).lazy().send().await.unwrap().remove(0).message;
        let body = setup.client.body_stream(&message).await.unwrap();
        assert_eq!(body.collect(1).await.unwrap(), text);
        setup.client.queue(&setup.url).delete(&message).send().await.unwrap();
    }
    setup.client.finish_cleanup().await;
    assert_eq!(setup.objects().await, 0, "the objects outlived their messages");
}

#[tokio::test]
async fn inline_body_is_read_as_a_stream() {
    let setup = setup().await;
    setup.client.send_message().queue_url(&setup.url).message_body("hi").send().await.unwrap();
    let message = setup.client.receive(&setup.url).send().await.unwrap().remove(0).message;
    let body = setup.client.body_stream(&message).await.unwrap();
    assert_eq!(body.collect(9).await.unwrap(), "hi");
}

#[tokio::test]
async fn rejected_message_leaves_no_object() {
    let setup = setup().await;
    let error = setup.client.send_stream(format!("{}-other", setup.url), bytes(10)).send().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Client);
    assert!(error.client_error().unwrap().is_queue_does_not_exist(), "{error}");
    setup.client.finish_cleanup().await;
    assert_eq!(setup.objects().await, 0);
}

#[tokio::test]
async fn message_keeps_its_object_if_the_response_is_lost() {
    let setup = setup().await;
    setup.sqs.faults().inject(Fault::reset_after().on(Action::SendMessage).times(1));
    let error = setup.client.send_stream(&setup.url, bytes(10)).send().await.unwrap_err();
    assert!(error.is_outcome_unknown(), "{error}");
    assert_eq!(setup.objects().await, 1);
    let message = setup.client.receive(&setup.url).send().await.unwrap().remove(0);
    assert_eq!(message.body().unwrap().unwrap().as_bytes(), bytes(10));
}

#[tokio::test]
async fn upload_that_a_proxy_repeats_is_sent_and_leaves_no_orphan() {
    let setup = setup().await;
    for (name, length) in [("PutObject", 10), ("Complete", PART + 10)] {
        setup.s3.fail(name, Effect::Repeat, 1);
        setup.client.send_stream(&setup.url, bytes(length)).send().await.unwrap();
        assert_eq!((setup.s3.count(name), setup.objects().await), (1, 1), "{name}");
        let received = setup.client.receive(&setup.url).send().await.unwrap().remove(0);
        assert!(received.body().unwrap().unwrap().as_bytes() == bytes(length), "{name}");
        setup.client.queue(&setup.url).delete(&received.message).send().await.unwrap();
        setup.client.finish_cleanup().await;
        assert_eq!(setup.objects().await, 0, "{name}");
    }
}

#[tokio::test]
async fn streamed_message_is_retried_only_with_a_deduplication_id() {
    let setup = setup().await;
    let retrying = ExtendedClient::new(setup.sqs.client(), setup.s3.store());
    setup.sqs.faults().inject(Fault::reset_after().on(Action::SendMessage).times(1));
    let error = retrying.send_stream(&setup.url, bytes(10)).send().await.unwrap_err();
    assert!(error.is_outcome_unknown(), "{error}");
    assert_eq!((setup.sqs.queue("q").bodies().len(), setup.objects().await), (1, 1));

    let fifo =
        setup.plain.create_queue().queue_name("q.fifo").attributes(QueueAttributeName::FifoQueue, "true");
    let fifo = fifo.send().await.unwrap().queue_url.unwrap();
    setup.sqs.faults().inject(Fault::reset_after().on(Action::SendMessage).times(1));
    let send = retrying.send_stream(&fifo, bytes(10)).message_group_id("g").message_deduplication_id("d");
    send.send().await.unwrap();
    assert_eq!((setup.sqs.queue("q.fifo").bodies().len(), setup.objects().await), (1, 2));
}

#[tokio::test]
async fn failed_upload_sends_no_message() {
    let setup = setup().await;
    setup.s3.fail("UploadPart", Effect::Answer(403, "AccessDenied"), 9);
    let error = setup.client.send_stream(&setup.url, bytes(2 * PART)).send().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Forbidden, "{error}");
    let error = setup.client.send_stream(&setup.url, Bytes::from_static(b"\xff")).send().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotText, "{error}");
    let error =
        setup.client.send_stream(&setup.url, Payload::from("xy").max_length(1)).send().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TooLarge, "{error}");
    assert_eq!(setup.sqs.queue("q").bodies(), [""; 0]);
    setup.client.finish_cleanup().await;
    assert_eq!((setup.objects().await, setup.s3.left_over().len()), (0, 0));
}

#[tokio::test]
async fn reserved_attribute_is_rejected_before_the_upload() {
    let setup = setup().await;
    let send = setup.client.send_stream(&setup.url, bytes(10));
    let reserved = send.message_attributes("ExtendedPayloadSize", MessageAttributeValue::number(1));
    assert_eq!(reserved.send().await.unwrap_err().kind(), ErrorKind::ReservedAttribute);
    assert_eq!(setup.s3.names(), [""; 0]);
}

#[tokio::test]
async fn dropped_send_aborts_its_upload() {
    let setup = setup().await;
    let piece = bytes(100_000);
    let endless = stream::repeat_with(move || Ok::<_, std::io::Error>(piece.clone()));
    let send = setup.client.send_stream(&setup.url, Payload::from_stream(endless)).send();
    tokio::select! {
        result = send => panic!("{result:?}"),
        () = setup.s3.wait_for("UploadPart", 2) => {}
    }
    setup.s3.wait_until_clean().await;
    setup.client.finish_cleanup().await;
    assert_eq!(setup.objects().await, 0);
    assert_eq!(setup.sqs.queue("q").bodies(), [""; 0]);
}

#[tokio::test]
async fn pointer_to_a_foreign_bucket_is_not_streamed() {
    let setup = setup().await;
    let body = Pointer::new("foreign", "k").to_body(sqs_extended::PointerClass::Modern);
    let send = setup.plain.send_message().queue_url(&setup.url).message_body(body);
    send.message_attributes("ExtendedPayloadSize", MessageAttributeValue::number(1)).send().await.unwrap();
    let message = setup.client.receive(&setup.url).lazy().send().await.unwrap().remove(0).message;
    let error = setup.client.body_stream(&message).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ForeignBucket);
    assert_eq!(setup.s3.names(), [""; 0]);
}

#[tokio::test]
async fn deleted_payload_is_not_found_and_a_denied_one_is_forbidden() {
    let setup = setup().await;
    let sent = setup.client.send_stream(&setup.url, "x").send().await.unwrap();
    let message = setup.client.receive(&setup.url).lazy().send().await.unwrap().remove(0).message;
    setup.s3.fail("GetObject", Effect::Answer(403, "AccessDenied"), 1);
    assert_eq!(setup.client.body_stream(&message).await.unwrap_err().kind(), ErrorKind::Forbidden);
    setup.s3.client.delete_object().bucket(BUCKET).key(sent.pointer.key()).send().await.unwrap();
    let error = setup.client.body_stream(&message).await.unwrap_err();
    assert_eq!((error.kind(), error.pointer()), (ErrorKind::NotFound, Some(&sent.pointer)));
}
