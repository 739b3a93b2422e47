//! Runs all 23 actions against the mock server over HTTP, in both protocols, and compares the outcomes.

use std::collections::BTreeMap;
use std::fmt::Debug;

use sqs_client::primitives::Blob;
use sqs_client::types::{
    ChangeMessageVisibilityBatchRequestEntry, DeleteMessageBatchRequestEntry, MessageAttributeValue,
    MessageSystemAttributeName, MessageSystemAttributeNameForSends, MessageSystemAttributeValue,
    QueueAttributeName, SendMessageBatchRequestEntry,
};
use sqs_client::wire::protocol::Protocol;
use sqs_client::{Client, Error};
use sqs_mock_server::MockSqs;

use crate::actions::Actions;

/// The outcome of each step, without values that differ between runs.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Log(Vec<String>);

impl Log {
    fn note(&mut self, step: &str, outcome: impl Debug) {
        self.0.push(format!("{step}: {outcome:?}"));
    }
}

pub(crate) async fn server_and_client(protocol: Protocol) -> (MockSqs, Client) {
    let server = MockSqs::builder().seed(7).one_minute_rules(false).start().await.expect("a free port");
    let mut config = server.client_config().protocol(protocol);
    config.set_transport(None);
    let client = Client::from_conf(config.build());
    (server, client)
}

const BODY: &str = "line\r\nbreaks, \"quotes\" & <tags>, \t, ünïcödé 🦀, +%=&";

fn attributes() -> [(&'static str, MessageAttributeValue); 3] {
    let labelled =
        MessageAttributeValue::builder().data_type("Binary.png").binary_value(Blob::new([0, 1, 254, 255]));
    [
        ("text", MessageAttributeValue::string("a & b")),
        ("number", MessageAttributeValue::number("-1.50e3")),
        ("bytes", labelled.build().expect("has a type")),
    ]
}

async fn queues(client: &impl Actions<Error = Error>, log: &mut Log) -> (String, String) {
    let created = client
        .create_queue()
        .queue_name("plain")
        .attributes(QueueAttributeName::VisibilityTimeout, "40")
        .tags("team", "a+b")
        .send()
        .await;
    let plain = created.expect("created").queue_url.expect("has a URL");
    let fifo =
        client.create_queue().queue_name("ordered.fifo").attributes(QueueAttributeName::FifoQueue, "true");
    let fifo = fifo.send().await.expect("created").queue_url.expect("has a URL");
    let found = client.get_queue_url().queue_name("plain").send().await.expect("found");
    log.note("GetQueueUrl", found.queue_url() == Some(&plain));
    let listed = client.list_queues().queue_name_prefix("pl").max_results(5).send().await.expect("listed");
    log.note("ListQueues", (listed.queue_urls().len(), listed.next_token()));

    let set =
        client.set_queue_attributes().queue_url(&plain).attributes(QueueAttributeName::DelaySeconds, "0");
    log.note("SetQueueAttributes", set.send().await.is_ok());
    let get = client.get_queue_attributes().queue_url(&plain).attribute_names(QueueAttributeName::All);
    let all: BTreeMap<_, _> =
        get.send().await.expect("read").attributes.unwrap_or_default().into_iter().collect();
    let timeout = all.get(&QueueAttributeName::VisibilityTimeout);
    log.note("GetQueueAttributes", (all.len(), timeout));
    client.tag_queue().queue_url(&plain).tags("empty", "").send().await.expect("tagged");
    client.untag_queue().queue_url(&plain).tag_keys("team").send().await.expect("untagged");
    log.note(
        "ListQueueTags",
        client.list_queue_tags().queue_url(&plain).send().await.expect("listed").tags(),
    );
    let add = client.add_permission().queue_url(&plain).label("l").aws_account_ids("123456789012");
    log.note("AddPermission", add.actions("SendMessage").send().await.is_ok());
    log.note(
        "RemovePermission",
        client.remove_permission().queue_url(&plain).label("l").send().await.is_ok(),
    );
    (plain, fifo)
}

async fn messages(client: &impl Actions<Error = Error>, url: &str, log: &mut Log) {
    let trace = MessageSystemAttributeValue::builder().data_type("String").string_value("Root=1-5759e988");
    let mut send = client.send_message().queue_url(url).message_body(BODY).message_system_attributes(
        MessageSystemAttributeNameForSends::AwsTraceHeader,
        trace.build().expect("has a type"),
    );
    for (name, value) in attributes() {
        send = send.message_attributes(name, value);
    }
    let sent = send.send().await.expect("sent, every MD5 verified");
    log.note("SendMessage", (sent.md5_of_message_attributes(), sent.md5_of_message_system_attributes()));

    let receive = client.receive_message().queue_url(url).message_attribute_names("All");
    let received = receive.message_system_attribute_names(MessageSystemAttributeName::All).send().await;
    let message = received.expect("received, every MD5 verified").messages.unwrap_or_default().remove(0);
    let trace = message.attributes().and_then(|all| all.get(&MessageSystemAttributeName::AwsTraceHeader));
    let values: BTreeMap<_, _> = message.message_attributes().into_iter().flatten().collect();
    log.note("ReceiveMessage", (message.body() == Some(BODY), values, trace));
    let handle = message.receipt_handle().expect("has a handle");
    let change =
        client.change_message_visibility().queue_url(url).receipt_handle(handle).visibility_timeout(50);
    log.note("ChangeMessageVisibility", change.send().await.is_ok());
    log.note(
        "DeleteMessage",
        client.delete_message().queue_url(url).receipt_handle(handle).send().await.is_ok(),
    );
}

async fn batches(client: &impl Actions<Error = Error>, url: &str, log: &mut Log) {
    let mut send = client.send_message_batch().queue_url(url);
    for (id, body) in [("a", BODY), ("b", "second"), ("bad", "\u{1}")] {
        let mut entry = SendMessageBatchRequestEntry::builder().id(id).message_body(body);
        for (name, value) in attributes() {
            entry = entry.message_attributes(name, value);
        }
        send = send.entries(entry.build().expect("complete"));
    }
    let sent = send.send().await.expect("a partial failure is a success of the request");
    log.note("SendMessageBatch", (sent.successful().len(), sent.failed()));

    let receive = client.receive_message().queue_url(url).max_number_of_messages(10).send().await;
    let received = receive.expect("received").messages.unwrap_or_default();
    let (mut change, mut delete) = (
        client.change_message_visibility_batch().queue_url(url),
        client.delete_message_batch().queue_url(url),
    );
    let handles = received.iter().filter_map(|message| message.receipt_handle()).chain(["invalid-handle"]);
    for (number, handle) in handles.enumerate() {
        let id = format!("n{number}");
        let entry = ChangeMessageVisibilityBatchRequestEntry::builder().id(&id).receipt_handle(handle);
        change = change.entries(entry.visibility_timeout(60).build().expect("complete"));
        let entry = DeleteMessageBatchRequestEntry::builder().id(&id).receipt_handle(handle);
        delete = delete.entries(entry.build().expect("complete"));
    }
    let changed = change.send().await.expect("a partial failure is a success of the request");
    log.note("ChangeMessageVisibilityBatch", (changed.successful(), changed.failed()));
    let deleted = delete.send().await.expect("a partial failure is a success of the request");
    log.note("DeleteMessageBatch", (deleted.successful(), deleted.failed()));
}

async fn dead_letters(client: &impl Actions<Error = Error>, source: &str, log: &mut Log) {
    let dead =
        client.create_queue().queue_name("dead").send().await.expect("created").queue_url.expect("has a URL");
    let arn = "arn:aws:sqs:us-east-1:000000000000:dead";
    let policy = format!(r#"{{"deadLetterTargetArn":"{arn}","maxReceiveCount":"1"}}"#);
    let set =
        client.set_queue_attributes().queue_url(source).attributes(QueueAttributeName::RedrivePolicy, policy);
    set.send().await.expect("set");
    let sources = client.list_dead_letter_source_queues().queue_url(&dead).send().await.expect("listed");
    log.note("ListDeadLetterSourceQueues", sources.queue_urls() == [source]);

    client.send_message().queue_url(source).message_body("bad").send().await.expect("sent");
    for _ in 0..2 {
        client.receive_message().queue_url(source).visibility_timeout(0).send().await.expect("received");
    }
    let start =
        client.start_message_move_task().source_arn(arn).max_number_of_messages_per_second(1).send().await;
    let handle = start.expect("started").task_handle.expect("has a handle");
    let tasks = client.list_message_move_tasks().source_arn(arn).max_results(3).send().await.expect("listed");
    log.note(
        "ListMessageMoveTasks",
        (tasks.results().len(), tasks.results()[0].max_number_of_messages_per_second()),
    );
    let cancel = client.cancel_message_move_task().task_handle(&handle).send().await;
    // If the task has finished before the cancellation, the server returns an error with a message.
    log.note("CancelMessageMoveTask", cancel.is_ok() || cancel.is_err_and(|error| error.message().is_some()));
}

async fn deletions(client: &impl Actions<Error = Error>, plain: &str, fifo: &str, log: &mut Log) {
    log.note("PurgeQueue", client.purge_queue().queue_url(plain).send().await.is_ok());
    log.note("DeleteQueue", client.delete_queue().queue_url(fifo).send().await.is_ok());
    let error = client.delete_queue().queue_url(fifo).send().await.expect_err("deleted");
    log.note("errors", (error.code().map(str::to_owned), error.status(), error.is_queue_does_not_exist()));
    let error = client
        .delete_message()
        .queue_url(plain)
        .receipt_handle("invalid-handle")
        .send()
        .await
        .expect_err("rejected");
    log.note("errors", (error.code().map(str::to_owned), error.status(), error.message().map(str::to_owned)));
}

/// Calls every action on an empty server.
pub(crate) async fn tour(server: MockSqs, client: &impl Actions<Error = Error>) -> Log {
    let mut log = Log::default();
    let (plain, fifo) = queues(client, &mut log).await;
    messages(client, &plain, &mut log).await;
    batches(client, &plain, &mut log).await;
    dead_letters(client, &plain, &mut log).await;
    let send = client.send_message().queue_url(&fifo).message_body("m").message_group_id("g");
    let sent = send.message_deduplication_id("d").send().await.expect("sent");
    log.note("SendMessage to FIFO", sent.sequence_number().map(str::len));
    deletions(client, &plain, &fifo, &mut log).await;
    server.shutdown().await;
    log
}

#[tokio::test]
async fn all_actions_behave_the_same_in_both_protocols() {
    let (server, client) = server_and_client(Protocol::AwsJson).await;
    let json = tour(server, &client).await;
    let (server, client) = server_and_client(Protocol::Query).await;
    assert_eq!(json, tour(server, &client).await);
    assert!(
        json.0.iter().any(|step| step
            == "errors: (Some(\"ReceiptHandleIsInvalid\"), Some(404), Some(\"The input \
         receipt handle \\\"invalid-handle\\\" is not a valid receipt handle.\"))"),
        "{json:#?}"
    );
}

#[tokio::test]
async fn paginators_return_all_pages() {
    let (_server, client) = server_and_client(Protocol::AwsJson).await;
    for number in 0..7 {
        client.create_queue().queue_name(format!("q{number}")).send().await.expect("created");
    }
    let mut pages = client.list_queues().into_paginator().page_size(3).send();
    let mut sizes = Vec::new();
    while let Some(page) = pages.next().await {
        sizes.push(page.expect("a page").queue_urls().len());
    }
    assert_eq!(sizes, [3, 3, 1]);
    let urls: Result<Vec<String>, _> = client.list_queues().into_paginator().items().send().collect().await;
    assert_eq!(urls.expect("all").len(), 7);
}
