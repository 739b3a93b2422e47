//! The compared rows.

use std::path::PathBuf;

use aws_sdk_s3::Client;
use futures_util::future::BoxFuture;
use sqs_client::types::MessageAttributeValue;
use sqs_extended::{ExtendedClient, Payload, Pointer, PointerClass, S3Store};
use sqs_mock_server::MockSqs;

use crate::BoxError;
use crate::by_hand::{self, Parts};
use crate::server::BUCKET;

/// Key of the object that all downloads read.
pub(crate) const DOWNLOAD_KEY: &str = "download";

/// The settings of all rows.
#[derive(Clone, Copy)]
pub(crate) struct Setting {
    pub(crate) bytes: u64,
    pub(crate) part: usize,
    pub(crate) in_flight: usize,
}

type Run = fn(&Client, Setting, PathBuf, String) -> BoxFuture<'_, Result<(), BoxError>>;

pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) is_ours: bool,
    pub(crate) downloads: bool,
    pub(crate) run: Run,
}

pub(crate) const UPLOADS: &[Row] = &[
    Row {
        name: "sqs-extended, send_stream",
        is_ours: true,
        downloads: false,
        run: |c, s, p, _| Box::pin(upload(c, s, p)),
    },
    aws_sdk("aws-sdk-s3, buffer of 4 KiB", false, |c, s, p, k| {
        Box::pin(by_hand::upload(c, s, p, k, Parts::Path(4 << 10)))
    }),
    aws_sdk("aws-sdk-s3, buffer of 1 MiB", false, |c, s, p, k| {
        Box::pin(by_hand::upload(c, s, p, k, Parts::Path(1 << 20)))
    }),
    aws_sdk("aws-sdk-s3, parts in memory", false, |c, s, p, k| {
        Box::pin(by_hand::upload(c, s, p, k, Parts::Memory))
    }),
];

pub(crate) const DOWNLOADS: &[Row] = &[
    Row {
        name: "sqs-extended, body_stream",
        is_ours: true,
        downloads: true,
        run: |c, s, p, _| Box::pin(download(c, s, p)),
    },
    aws_sdk("aws-sdk-s3, one request", true, |c, _, p, _| Box::pin(by_hand::download(c, p))),
    aws_sdk("aws-sdk-s3, concurrent ranges", true, |c, s, p, _| Box::pin(by_hand::download_ranges(c, s, p))),
];

const fn aws_sdk(name: &'static str, downloads: bool, run: Run) -> Row {
    Row { name, is_ours: false, downloads, run }
}

/// Stores the object that all downloads read.
pub(crate) async fn put_download_object(client: &Client, path: PathBuf) -> Result<(), BoxError> {
    let body = aws_sdk_s3::primitives::ByteStream::from_path(path).await?;
    client.put_object().bucket(BUCKET).key(DOWNLOAD_KEY).body(body).send().await?;
    Ok(())
}

/// A client over queues in this process. Their cost is negligible compared with a payload.
async fn extended_client(server: &MockSqs, store: S3Store) -> Result<(ExtendedClient, String), BoxError> {
    let client = ExtendedClient::new(server.client(), store);
    let queue = client.create_queue().queue_name("q").send().await?;
    Ok((client, queue.queue_url.ok_or("the response has no queue URL")?))
}

async fn upload(client: &Client, setting: Setting, path: PathBuf) -> Result<(), BoxError> {
    let store =
        S3Store::builder(client.clone(), BUCKET).part_size(setting.part).parts_in_flight(setting.in_flight);
    let server = MockSqs::in_process();
    let (client, queue) = extended_client(&server, store.build()?).await?;
    let sent = client.send_stream(queue, Payload::from_path(path)).send().await?;
    if sent.length == setting.bytes {
        return Ok(());
    }
    Err(format!("sent {} bytes, expected {}", sent.length, setting.bytes).into())
}

async fn download(client: &Client, setting: Setting, path: PathBuf) -> Result<(), BoxError> {
    let server = MockSqs::in_process();
    let (client, queue) = extended_client(&server, S3Store::new(client.clone(), BUCKET)).await?;
    let send = client.inner().send_message().queue_url(&queue);
    let send = send.message_body(Pointer::new(BUCKET, DOWNLOAD_KEY).to_body(PointerClass::Modern));
    let size = MessageAttributeValue::number(setting.bytes);
    send.message_attributes("ExtendedPayloadSize", size).send().await?;
    let received =
        client.receive(&queue).lazy().send().await?.pop().ok_or("the queue returned no message")?;
    received.body_stream().await?.write_to_path(path).await?;
    Ok(())
}
