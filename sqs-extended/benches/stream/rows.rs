//! The measured rows.

use std::path::PathBuf;

use aws_sdk_s3::Client;
use futures_util::future::BoxFuture;
use sqs_client::types::MessageAttributeValue;
use sqs_extended::{ExtendedClient, Payload, Pointer, PointerClass, S3Store};
use sqs_mock_server::MockSqs;

use crate::Failed;
use crate::by_hand::{self, Parts};
use crate::server::BUCKET;

/// The label of the rows that read.
pub(crate) const READ: &str = "read";

/// The settings that all rows share.
#[derive(Clone, Copy)]
pub(crate) struct Setting {
    pub(crate) bytes: u64,
    pub(crate) part: usize,
    pub(crate) in_flight: usize,
}

type Run = fn(&Client, Setting, PathBuf, String) -> BoxFuture<'_, Result<(), Failed>>;

pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) is_ours: bool,
    pub(crate) reads: bool,
    pub(crate) run: Run,
}

pub(crate) const UP: &[Row] = &[
    Row {
        name: "sqs-extended, send_stream",
        is_ours: true,
        reads: false,
        run: |c, s, p, _| Box::pin(ours_up(c, s, p)),
    },
    theirs("aws-sdk-s3, reader of 4 KiB", false, |c, s, p, k| {
        Box::pin(by_hand::up(c, s, p, k, Parts::Path(4 << 10)))
    }),
    theirs("aws-sdk-s3, reader of 1 MiB", false, |c, s, p, k| {
        Box::pin(by_hand::up(c, s, p, k, Parts::Path(1 << 20)))
    }),
    theirs("aws-sdk-s3, parts in memory", false, |c, s, p, k| {
        Box::pin(by_hand::up(c, s, p, k, Parts::Memory))
    }),
];

pub(crate) const DOWN: &[Row] = &[
    Row {
        name: "sqs-extended, body_stream",
        is_ours: true,
        reads: true,
        run: |c, s, p, _| Box::pin(ours_down(c, s, p)),
    },
    theirs("aws-sdk-s3, one request", true, |c, _, p, _| Box::pin(by_hand::down(c, p))),
    theirs("aws-sdk-s3, ranges at once", true, |c, s, p, _| Box::pin(by_hand::ranges(c, s, p))),
];

const fn theirs(name: &'static str, reads: bool, run: Run) -> Row {
    Row { name, is_ours: false, reads, run }
}

/// The object that all rows read.
pub(crate) async fn prepare(client: &Client, path: PathBuf) -> Result<(), Failed> {
    let body = aws_sdk_s3::primitives::ByteStream::from_path(path).await?;
    client.put_object().bucket(BUCKET).key(READ).body(body).send().await?;
    Ok(())
}

/// A client with queues in this process, whose cost is small compared with a payload.
async fn extended(server: &MockSqs, store: S3Store) -> Result<(ExtendedClient, String), Failed> {
    let client = ExtendedClient::new(server.client(), store);
    let queue = client.create_queue().queue_name("q").send().await?;
    Ok((client, queue.queue_url.ok_or("no queue")?))
}

async fn ours_up(client: &Client, set: Setting, path: PathBuf) -> Result<(), Failed> {
    let store = S3Store::builder(client.clone(), BUCKET).part_size(set.part).parts_in_flight(set.in_flight);
    let server = MockSqs::in_process();
    let (client, queue) = extended(&server, store.build()?).await?;
    let sent = client.send_stream(queue, Payload::from_path(path)).send().await?;
    if sent.length == set.bytes { Ok(()) } else { Err("another length".into()) }
}

async fn ours_down(client: &Client, set: Setting, path: PathBuf) -> Result<(), Failed> {
    let server = MockSqs::in_process();
    let (client, queue) = extended(&server, S3Store::new(client.clone(), BUCKET)).await?;
    let send = client.inner().send_message().queue_url(&queue);
    let send = send.message_body(Pointer::new(BUCKET, READ).to_body(PointerClass::Modern));
    let size = MessageAttributeValue::number(set.bytes);
    send.message_attributes("ExtendedPayloadSize", size).send().await?;
    let received = client.receive(&queue).lazy().send().await?.pop().ok_or("no message")?;
    received.body_stream().await?.write_to_path(path).await?;
    Ok(())
}
