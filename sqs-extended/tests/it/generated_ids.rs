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
    assert!(rig.store.objects().is_empty());
    client.execute::<SendMessage>(&input, CallOptions::default()).await.unwrap();
    assert_eq!(rig.server.queue("o.fifo").bodies().len(), 1);
}
