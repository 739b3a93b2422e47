//! Deduplication ids that the base client generates.

use sqs_client::client::{CallOptions, Execute as _, Retries};
use sqs_client::config::DeduplicationIds;
use sqs_client::operation::send_message::{SendMessage, SendMessageInput};
use sqs_client::types::QueueAttributeName;

use crate::rig::{Rig, large};

/// Each attempt would get another generated id, so SQS could not recognize the duplicate.
#[tokio::test(start_paused = true)]
async fn single_attempt_generates_no_deduplication_id() {
    let rig = Rig::new().await;
    let create =
        rig.plain.create_queue().queue_name("o.fifo").attributes(QueueAttributeName::FifoQueue, "true");
    let url = create.send().await.unwrap().queue_url.unwrap();
    let generating = rig.server.client_config().deduplication_ids(DeduplicationIds::Generate).build();
    let below = sqs_client::Client::from_conf(generating);
    let client = sqs_extended::ExtendedClient::builder(below, rig.store.clone()).build().unwrap();
    let mut input = SendMessageInput::default();
    input.queue_url = Some(url);
    input.message_body = Some(large(""));
    input.message_group_id = Some("g".to_owned());
    client.execute::<SendMessage>(&input, CallOptions::with_retries(Retries::Never)).await.unwrap_err();
    client.finish_cleanup().await;
    assert!(rig.store.objects().is_empty());
    client.execute::<SendMessage>(&input, CallOptions::default()).await.unwrap();
    assert_eq!(rig.server.queue("o.fifo").bodies().len(), 1);
}

/// A message and its equal: the client gives each an id of its own, whatever their size.
#[tokio::test(start_paused = true)]
async fn equal_messages_are_distinct_whether_they_are_stored_or_not() {
    let rig = Rig::with("q.fifo", |builder| builder).await;
    let generating = rig.server.client_config().deduplication_ids(DeduplicationIds::Generate).build();
    let below = sqs_client::Client::from_conf(generating);
    let client = sqs_extended::ExtendedClient::builder(below, rig.store.clone()).build().unwrap();
    for (body, sent) in [("small".to_owned(), 2), (large("large"), 4)] {
        for _ in 0..2 {
            let send = client.send_message().queue_url(&rig.url).message_body(&body);
            send.message_group_id("g").send().await.unwrap();
        }
        assert_eq!(rig.bodies().len(), sent);
    }
    let stream = client.send_stream(&rig.url, large("large"));
    stream.message_group_id("g").send().await.unwrap();
    assert_eq!(rig.bodies().len(), 5);
}
