//! The actions on messages over a socket, in both protocols.

use std::collections::HashMap;

use sqs_client::operation::{
    cancel_message_move_task::CancelMessageMoveTaskInput,
    change_message_visibility::ChangeMessageVisibilityInput,
    change_message_visibility_batch::ChangeMessageVisibilityBatchInput, delete_message::DeleteMessageInput,
    delete_message_batch::DeleteMessageBatchInput,
    list_dead_letter_source_queues::ListDeadLetterSourceQueuesInput,
    list_message_move_tasks::ListMessageMoveTasksInput, purge_queue::PurgeQueueInput,
    receive_message::ReceiveMessageInput, send_message::SendMessageInput,
    send_message_batch::SendMessageBatchInput, start_message_move_task::StartMessageMoveTaskInput,
};
use sqs_client::types::{
    ChangeMessageVisibilityBatchRequestEntry, DeleteMessageBatchRequestEntry, MessageAttributeValue,
    MessageSystemAttributeName, QueueAttributeName, SendMessageBatchRequestEntry,
    SendMessageBatchResultEntry,
};
use sqs_client::wire::checksum::{md5_of_attributes, md5_of_body};

use crate::session::{BOTH, Session};

fn attributes() -> HashMap<String, MessageAttributeValue> {
    HashMap::from([
        ("text".to_owned(), MessageAttributeValue::string("Zürich <&> \"€\"\r\n")),
        ("number".to_owned(), MessageAttributeValue::number("-1.50e3")),
        ("bytes".to_owned(), MessageAttributeValue::binary([0, 1, 254, 255])),
    ])
}

#[tokio::test]
async fn message_is_received_complete_with_correct_checksums() {
    for protocol in BOTH {
        let mut session = Session::start(protocol).await;
        let url = session.create("q", &[]).await;
        let body = "№ 42 <&> \"ž\"\r\n\t 🦀";
        let message = SendMessageInput::builder().queue_url(&url).message_body(body);
        let sent = session.call(message.set_message_attributes(Some(attributes())).build().unwrap()).await;
        let hash = md5_of_attributes(&attributes()).map(String::from);
        assert_eq!(sent.md5_of_message_body(), Some(md5_of_body(body).as_str()));
        assert_eq!(sent.md5_of_message_attributes, hash);
        let everything = ReceiveMessageInput::builder().queue_url(&url).message_attribute_names("All");
        let everything = everything.message_system_attribute_names(MessageSystemAttributeName::All);
        let received = session.call(everything.build().unwrap()).await;
        let [message] = received.messages() else { panic!("one message, not {:?}", received.messages()) };
        assert_eq!(message.body(), Some(body));
        assert_eq!(message.message_id(), sent.message_id());
        assert_eq!(message.message_attributes, Some(attributes()));
        assert_eq!(message.md5_of_message_attributes, hash);
        let system = message.attributes().expect("all were requested");
        assert_eq!(system[&MessageSystemAttributeName::ApproximateReceiveCount], "1");
    }
}

#[tokio::test]
async fn visibility_changes_and_messages_are_deleted_and_purged() {
    for protocol in BOTH {
        let mut session = Session::start(protocol).await;
        let url = session.create("q", &[]).await;
        session.send(&url, "x").await;
        let (_, handle) = session.receive(&url).await.remove(0);
        assert!(session.receive(&url).await.is_empty());
        let change = ChangeMessageVisibilityInput::builder().queue_url(&url).receipt_handle(handle);
        session.call(change.visibility_timeout(0).build().unwrap()).await;
        let (body, handle) = session.receive(&url).await.remove(0);
        assert_eq!(body, "x");
        let delete = DeleteMessageInput::builder().queue_url(&url).receipt_handle(handle);
        session.call(delete.build().unwrap()).await;
        session.send(&url, "y").await;
        session.call(PurgeQueueInput::builder().queue_url(&url).build().unwrap()).await;
        let count = session.attribute(&url, QueueAttributeName::ApproximateNumberOfMessages).await;
        assert_eq!(count.as_deref(), Some("0"));
    }
}

#[tokio::test]
async fn batches_return_a_result_for_each_entry() {
    for protocol in BOTH {
        let mut session = Session::start(protocol).await;
        let url = session.create("q", &[]).await;
        let entry = |id: &str, body: &str| {
            SendMessageBatchRequestEntry::builder().id(id).message_body(body).build().unwrap()
        };
        let batch = SendMessageBatchInput::builder().queue_url(&url);
        let batch = batch.entries(entry("a", "one")).entries(entry("b", "\u{1}")).entries(entry("c", "two"));
        let sent = session.call(batch.build().unwrap()).await;
        let ids: Vec<_> = sent.successful().iter().map(SendMessageBatchResultEntry::id).collect();
        assert_eq!(ids, ["a", "c"]);
        let [failed] = sent.failed() else { panic!("one entry fails: {sent:?}") };
        assert_eq!(
            (failed.id(), failed.code(), failed.sender_fault()),
            ("b", "InvalidMessageContents", true)
        );

        let handles: Vec<_> = session.receive(&url).await.into_iter().map(|(_, handle)| handle).collect();
        let mut change = ChangeMessageVisibilityBatchInput::builder().queue_url(&url);
        let mut delete = DeleteMessageBatchInput::builder().queue_url(&url);
        for (id, handle) in ["0", "1"].into_iter().zip(&handles) {
            let entry = ChangeMessageVisibilityBatchRequestEntry::builder().id(id).receipt_handle(handle);
            change = change.entries(entry.visibility_timeout(60).build().unwrap());
            let entry = DeleteMessageBatchRequestEntry::builder().id(id).receipt_handle(handle);
            delete = delete.entries(entry.build().unwrap());
        }
        let changed = session.call(change.build().unwrap()).await;
        assert_eq!((changed.successful().len(), changed.failed().len()), (2, 0));
        let deleted = session.call(delete.build().unwrap()).await;
        assert_eq!((deleted.successful().len(), deleted.failed().len()), (2, 0));
    }
}

#[tokio::test]
async fn dead_letters_are_listed_and_moved_back() {
    for protocol in BOTH {
        let mut session = Session::start(protocol).await;
        let dead = session.create("dead", &[]).await;
        let arn = session.attribute(&dead, QueueAttributeName::QueueArn).await.unwrap();
        let policy = format!(r#"{{"deadLetterTargetArn":"{arn}","maxReceiveCount":1}}"#);
        let redrive =
            [(QueueAttributeName::RedrivePolicy, &*policy), (QueueAttributeName::VisibilityTimeout, "0")];
        let source = session.create("source", &redrive).await;
        let sources = ListDeadLetterSourceQueuesInput::builder().queue_url(&dead).build().unwrap();
        assert_eq!(session.call(sources).await.queue_urls(), std::slice::from_ref(&source));

        session.send(&source, "poison").await;
        assert_eq!(session.receive(&source).await.len(), 1);
        assert!(session.receive(&source).await.is_empty(), "the second receive moves the message");
        let start =
            StartMessageMoveTaskInput::builder().source_arn(&arn).max_number_of_messages_per_second(1);
        let handle = session.call(start.build().unwrap()).await.task_handle.unwrap();
        let list = ListMessageMoveTasksInput::builder().source_arn(&arn).build().unwrap();
        let tasks = session.call(list).await.results.expect("there is a task");
        assert_eq!((tasks.len(), tasks[0].source_arn()), (1, Some(&*arn)));
        // The task may have ended by now, which is an error; both are valid responses of this action.
        let cancel = CancelMessageMoveTaskInput::builder().task_handle(handle).build().unwrap();
        let _ = session.wire.call(protocol, cancel).await;
    }
}
