//! What is compared.

use std::path::PathBuf;

use aws_sdk_s3::Client;
use aws_sdk_s3::primitives::{ByteStream, Length};
use aws_sdk_s3::types::{CompletedMultipartUpload, CompletedPart};
use futures_util::future::BoxFuture;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use sqs_client::types::MessageAttributeValue;
use sqs_extended::{ExtendedClient, Payload, Pointer, PointerClass, S3Store};
use sqs_mock_server::MockSqs;
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _, AsyncWriteExt as _};

use crate::Failed;
use crate::server::BUCKET;

/// Its name.
const READ: &str = "read";

/// The same for everybody.
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
        Box::pin(theirs_up(c, s, p, k, Parts::Path(4 << 10)))
    }),
    theirs("aws-sdk-s3, reader of 1 MiB", false, |c, s, p, k| {
        Box::pin(theirs_up(c, s, p, k, Parts::Path(1 << 20)))
    }),
    theirs("aws-sdk-s3, parts in memory", false, |c, s, p, k| Box::pin(theirs_up(c, s, p, k, Parts::Memory))),
];

pub(crate) const DOWN: &[Row] = &[
    Row {
        name: "sqs-extended, body_stream",
        is_ours: true,
        reads: true,
        run: |c, s, p, _| Box::pin(ours_down(c, s, p)),
    },
    theirs("aws-sdk-s3, one request", true, |c, _, p, _| Box::pin(theirs_down(c, p))),
    theirs("aws-sdk-s3, ranges at once", true, |c, s, p, _| Box::pin(theirs_ranges(c, s, p))),
];

const fn theirs(name: &'static str, reads: bool, run: Run) -> Row {
    Row { name, is_ours: false, reads, run }
}

/// The object that everybody reads.
pub(crate) async fn prepare(client: &Client, path: PathBuf) -> Result<(), Failed> {
    let store = S3Store::new(client.clone(), BUCKET);
    Payload::from_path(path).put(&store, &Pointer::new(BUCKET, READ)).await?;
    Ok(())
}

/// A client of queues in this process, which cost nothing beside a payload.
async fn extended(server: &MockSqs, store: S3Store) -> Result<(ExtendedClient<S3Store>, String), Failed> {
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

#[derive(Clone, Copy)]
enum Parts {
    /// The SDK reads the file, so many bytes at a time.
    Path(usize),
    /// Each part is read before it is sent.
    Memory,
}

impl Parts {
    async fn body(self, path: PathBuf, from: u64, length: u64) -> Result<ByteStream, Failed> {
        match self {
            Self::Path(buffer) => {
                let builder = ByteStream::read_from().path(path).offset(from).length(Length::Exact(length));
                Ok(builder.buffer_size(buffer).build().await?)
            }
            Self::Memory => {
                let mut file = tokio::fs::File::open(path).await?;
                file.set_max_buf_size(usize::try_from(length)?);
                file.seek(std::io::SeekFrom::Start(from)).await?;
                let mut part = vec![0; usize::try_from(length)?];
                file.read_exact(&mut part).await?;
                Ok(ByteStream::from(part))
            }
        }
    }
}

async fn theirs_up(
    client: &Client,
    set: Setting,
    path: PathBuf,
    key: String,
    how: Parts,
) -> Result<(), Failed> {
    let created = client.create_multipart_upload().bucket(BUCKET).key(&key).send().await?;
    let id = created.upload_id.ok_or("no id")?;
    let part = set.part as u64;
    let numbers = 0..i32::try_from(set.bytes.div_ceil(part))?;
    let tasks = stream::iter(numbers).map(|number| {
        let from = u64::try_from(number).unwrap_or_default() * part;
        let length = part.min(set.bytes - from);
        let request = client.upload_part().bucket(BUCKET).key(&key).upload_id(&id).part_number(number + 1);
        let path = path.clone();
        let task = tokio::spawn(async move {
            let sent = request.body(how.body(path, from, length).await?).send().await?;
            let part = CompletedPart::builder().part_number(number + 1).set_e_tag(sent.e_tag);
            Ok::<_, Failed>(part.set_checksum_crc32(sent.checksum_crc32).build())
        });
        async { task.await? }
    });
    let parts: Vec<_> = tasks.buffered(set.in_flight).try_collect().await?;
    let parts = CompletedMultipartUpload::builder().set_parts(Some(parts)).build();
    let complete = client.complete_multipart_upload().bucket(BUCKET).key(&key).upload_id(&id);
    complete.multipart_upload(parts).send().await?;
    Ok(())
}

async fn theirs_down(client: &Client, path: PathBuf) -> Result<(), Failed> {
    let mut body = client.get_object().bucket(BUCKET).key("read").send().await?.body;
    let mut file = tokio::fs::File::create(path).await?;
    while let Some(piece) = body.try_next().await? {
        file.write_all(&piece).await?;
    }
    file.flush().await?;
    Ok(file.sync_all().await?)
}

async fn theirs_ranges(client: &Client, set: Setting, path: PathBuf) -> Result<(), Failed> {
    let whole = tokio::fs::File::create(&path).await?;
    whole.set_len(set.bytes).await?;
    let part = set.part as u64;
    let tasks = stream::iter(0..set.bytes.div_ceil(part)).map(|number| {
        let (from, path) = (number * part, path.clone());
        let last = (from + part).min(set.bytes) - 1;
        let request = client.get_object().bucket(BUCKET).key("read").range(format!("bytes={from}-{last}"));
        let task = tokio::spawn(async move {
            let mut file = tokio::fs::OpenOptions::new().write(true).open(path).await?;
            file.seek(std::io::SeekFrom::Start(from)).await?;
            let mut body = request.send().await?.body;
            while let Some(piece) = body.try_next().await? {
                file.write_all(&piece).await?;
            }
            Ok::<_, Failed>(file.flush().await?)
        });
        async { task.await? }
    });
    tasks.buffered(set.in_flight).try_collect::<()>().await?;
    Ok(whole.sync_all().await?)
}
