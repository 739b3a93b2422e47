//! Streaming with hand-written code over aws-sdk-s3, in common variants.

use std::path::PathBuf;

use aws_sdk_s3::Client;
use aws_sdk_s3::primitives::{ByteStream, Length};
use aws_sdk_s3::types::{CompletedMultipartUpload, CompletedPart};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _, AsyncWriteExt as _};

use crate::BoxError;
use crate::rows::{DOWNLOAD_KEY, Setting};
use crate::server::BUCKET;

/// The source of the parts of an upload.
#[derive(Clone, Copy)]
pub(crate) enum Parts {
    /// The SDK reads the file with a buffer of this size.
    Path(usize),
    /// The whole part is read into memory before it is sent.
    Memory,
}

impl Parts {
    async fn body(self, path: PathBuf, from: u64, length: u64) -> Result<ByteStream, BoxError> {
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

pub(crate) async fn upload(
    client: &Client,
    setting: Setting,
    path: PathBuf,
    key: String,
    parts: Parts,
) -> Result<(), BoxError> {
    let created = client.create_multipart_upload().bucket(BUCKET).key(&key).send().await?;
    let id = created.upload_id.ok_or("the response has no upload id")?;
    let part = setting.part as u64;
    let numbers = 0..i32::try_from(setting.bytes.div_ceil(part))?;
    let tasks = stream::iter(numbers).map(|number| {
        let from = u64::try_from(number).unwrap_or_default() * part;
        let length = part.min(setting.bytes - from);
        let request = client.upload_part().bucket(BUCKET).key(&key).upload_id(&id).part_number(number + 1);
        let path = path.clone();
        let task = tokio::spawn(async move {
            let sent = request.body(parts.body(path, from, length).await?).send().await?;
            let part = CompletedPart::builder().part_number(number + 1).set_e_tag(sent.e_tag);
            Ok::<_, BoxError>(part.set_checksum_crc32(sent.checksum_crc32).build())
        });
        async { task.await? }
    });
    let parts: Vec<_> = tasks.buffered(setting.in_flight).try_collect().await?;
    let parts = CompletedMultipartUpload::builder().set_parts(Some(parts)).build();
    let complete = client.complete_multipart_upload().bucket(BUCKET).key(&key).upload_id(&id);
    complete.multipart_upload(parts).send().await?;
    Ok(())
}

pub(crate) async fn download(client: &Client, path: PathBuf) -> Result<(), BoxError> {
    let mut body = client.get_object().bucket(BUCKET).key(DOWNLOAD_KEY).send().await?.body;
    let mut file = tokio::fs::File::create(path).await?;
    while let Some(chunk) = body.try_next().await? {
        file.write_all(&chunk).await?;
    }
    file.flush().await?;
    Ok(file.sync_all().await?)
}

pub(crate) async fn download_ranges(
    client: &Client,
    setting: Setting,
    path: PathBuf,
) -> Result<(), BoxError> {
    let whole = tokio::fs::File::create(&path).await?;
    whole.set_len(setting.bytes).await?;
    let part = setting.part as u64;
    let tasks = stream::iter(0..setting.bytes.div_ceil(part)).map(|number| {
        let (from, path) = (number * part, path.clone());
        let last = (from + part).min(setting.bytes) - 1;
        let request =
            client.get_object().bucket(BUCKET).key(DOWNLOAD_KEY).range(format!("bytes={from}-{last}"));
        let task = tokio::spawn(async move {
            let mut file = tokio::fs::OpenOptions::new().write(true).open(path).await?;
            file.seek(std::io::SeekFrom::Start(from)).await?;
            let mut body = request.send().await?.body;
            while let Some(chunk) = body.try_next().await? {
                file.write_all(&chunk).await?;
            }
            Ok::<_, BoxError>(file.flush().await?)
        });
        async { task.await? }
    });
    tasks.buffered(setting.in_flight).try_collect::<()>().await?;
    Ok(whole.sync_all().await?)
}
