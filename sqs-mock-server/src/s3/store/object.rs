//! Objects and uploads, and the data files of both.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{fs, io};

use base64_simd::STANDARD;
use bytes::{Bytes, BytesMut};
use futures_core::Stream;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use s3s::checksum::ChecksumHasher;
use s3s::crypto::{Checksum as _, Md5};
use s3s::dto::{Checksum, ChecksumType, Metadata, ServerSideEncryption, StorageClass};
use serde::{Deserialize, Serialize};
use tokio::fs::File;
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _, AsyncWriteExt as _, Take};

/// Headers of an object, returned as the caller sent them. The names are those of the inputs and outputs of s3s.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub(crate) struct Attributes {
    pub(crate) metadata: Option<Metadata>,
    pub(crate) cache_control: Option<String>,
    pub(crate) content_disposition: Option<String>,
    pub(crate) content_encoding: Option<String>,
    pub(crate) content_language: Option<String>,
    pub(crate) content_type: Option<String>,
    pub(crate) storage_class: Option<StorageClass>,
    pub(crate) server_side_encryption: Option<ServerSideEncryption>,
    #[serde(rename = "kms_key_id")]
    pub(crate) ssekms_key_id: Option<String>,
}

impl Attributes {
    /// Removes `aws-chunked` from the `Content-Encoding`: it describes only the request.
    pub(crate) fn remove_chunks(&mut self) {
        let encoding = self.content_encoding.take().unwrap_or_default();
        let kept: Vec<_> = encoding.split(',').map(str::trim).filter(|part| *part != "aws-chunked").collect();
        self.content_encoding = Some(kept.join(",")).filter(|kept| !kept.is_empty());
    }
}

/// Tags of an object, each a key and a value.
pub(crate) type Tags = BTreeMap<String, String>;

/// An object; its JSON is the record on disk.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Object {
    pub(crate) key: String,
    pub(crate) etag: String,
    /// In milliseconds since the epoch.
    pub(crate) modified: u64,
    pub(crate) attributes: Attributes,
    /// Records of earlier versions have none.
    #[serde(default)]
    pub(crate) tags: Tags,
    pub(crate) checksum: Option<StoredChecksum>,
    pub(crate) segments: Vec<Segment>,
    /// Whether the object is the result of a multipart upload.
    pub(crate) multipart: bool,
}

impl Object {
    /// The size of the object in bytes.
    pub(crate) fn size(&self) -> u64 {
        self.segments.iter().map(|segment| segment.size).sum()
    }

    /// Sets whether the drop of the last reader leaves the data files on disk.
    pub(crate) fn keep_files(&self, keeps: bool) {
        self.segments.iter().for_each(|segment| segment.data.is_temporary.store(!keeps, Ordering::Release));
    }
}

/// A part of an object: the whole body, or one part of a multipart upload.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Segment {
    /// The name of the data file.
    pub(crate) file: String,
    /// In bytes.
    pub(crate) size: u64,
    #[serde(skip)]
    pub(crate) data: Arc<DataFile>,
}

impl Segment {
    /// Makes a data file with the same bytes in another directory: a hard link, since both files stay as they are. File
    /// systems without links get a copy, which some of them make without copying bytes. Blocks.
    pub(crate) fn copy_to(&self, directory: &Path) -> io::Result<Self> {
        let source = &self.data.path;
        let linked = create_unique(directory, |path| fs::hard_link(source, path));
        let ((), path) = linked.or_else(|_| copy_file(source, directory))?;
        Ok(Self::new(path, self.size))
    }

    /// A data file that no record refers to yet.
    fn new(path: PathBuf, size: u64) -> Self {
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Self { file, size, data: Arc::new(DataFile { path, is_temporary: true.into() }) }
    }
}

/// Copies a file into a directory.
fn copy_file(source: &Path, directory: &Path) -> io::Result<((), PathBuf)> {
    create_unique(directory, |path| {
        fs::File::create_new(path)?;
        fs::copy(source, path).map(drop).inspect_err(|_| drop(fs::remove_file(path)))
    })
}

/// Creates a file with a random name.
fn create_unique<T>(
    directory: &Path,
    create: impl FnMut(&Path) -> io::Result<T>,
) -> io::Result<(T, PathBuf)> {
    let created = tempfile::Builder::new().prefix("").rand_bytes(20).make_in(directory, create)?;
    Ok(created.keep()?)
}

/// A data file. A reader holds it until it is done.
#[derive(Debug, Default)]
pub(crate) struct DataFile {
    pub(crate) path: PathBuf,
    /// Whether the drop removes it, since no record on disk refers to it.
    pub(crate) is_temporary: AtomicBool,
}

impl Drop for DataFile {
    fn drop(&mut self) {
        if *self.is_temporary.get_mut() {
            // If this fails, the next start removes the file.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// A complete data file that no record refers to yet.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    pub(crate) segment: Segment,
    pub(crate) md5: [u8; 16],
    pub(crate) checksum: Option<StoredChecksum>,
}

/// A multipart upload in progress. It is only in memory: no record on disk refers to the data files of its parts.
#[derive(Clone, Debug)]
pub(crate) struct Upload {
    pub(crate) id: String,
    pub(crate) key: String,
    /// In milliseconds since the epoch.
    pub(crate) initiated: u64,
    pub(crate) attributes: Attributes,
    pub(crate) tags: Tags,
    pub(crate) algorithm: Option<Algorithm>,
    /// Whether the checksum covers the whole object; otherwise it is a composite of the checksums of the parts.
    pub(crate) whole: bool,
    pub(crate) parts: BTreeMap<i32, Part>,
}

impl Upload {
    /// The type of the checksum of the object, if it has one.
    pub(crate) fn checksum_type(&self) -> ChecksumType {
        ChecksumType::from_static(if self.whole {
            ChecksumType::FULL_OBJECT
        } else {
            ChecksumType::COMPOSITE
        })
    }
}

/// A part of an upload.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) written: Written,
    /// In milliseconds since the epoch.
    pub(crate) modified: u64,
}

/// Bytes per read.
const CHUNK: usize = 256 << 10;

/// A data file that is being written.
#[derive(Debug)]
pub(crate) struct DataWriter {
    segment: Segment,
    file: File,
}

impl DataWriter {
    /// Creates an empty file with a random name.
    pub(crate) fn create(directory: &Path) -> io::Result<Self> {
        let (file, path) = create_unique(directory, |path| fs::File::create_new(path))?;
        let mut file = File::from_std(file);
        file.set_max_buf_size(1 << 20);
        Ok(Self { segment: Segment::new(path, 0), file })
    }

    pub(crate) async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.segment.size += bytes.len() as u64;
        self.file.write_all(bytes).await
    }

    pub(crate) async fn finish(mut self, hashes: Hashes) -> io::Result<Written> {
        self.file.flush().await?;
        let (md5, checksum) = hashes.finish();
        Ok(Written { segment: self.segment, md5, checksum })
    }
}

/// Reads a range of an object. Holds the data files until they are open, so that a delete does not remove them.
pub(crate) fn read(
    object: &Object,
    range: Range<u64>,
) -> impl Stream<Item = io::Result<Bytes>> + Send + Sync + 'static {
    let mut pieces = Vec::new();
    let mut at = 0;
    for Segment { data, size, .. } in &object.segments {
        let within = |position: u64| position.clamp(at, at + size) - at;
        pieces.push((Arc::clone(data), within(range.start)..within(range.end)));
        at += size;
    }
    pieces.retain(|(_, piece)| !piece.is_empty());
    let files = stream::iter(pieces).then(|(data, piece)| async move {
        let mut file = File::open(&data.path).await?;
        file.seek(io::SeekFrom::Start(piece.start)).await?;
        Ok::<_, io::Error>(chunks(file.take(piece.end - piece.start)))
    });
    files.try_flatten()
}

fn chunks(file: Take<File>) -> impl Stream<Item = io::Result<Bytes>> {
    stream::try_unfold(file, |mut file| async move {
        let mut chunk = BytesMut::with_capacity(usize::try_from(file.limit()).unwrap_or(CHUNK).min(CHUNK));
        match file.read_buf(&mut chunk).await? {
            0 if file.limit() > 0 => Err(io::ErrorKind::UnexpectedEof.into()),
            0 => Ok(None),
            _ => Ok(Some((chunk.freeze(), file))),
        }
    })
}

/// Reads a range of an object into memory.
pub(crate) async fn read_all(object: &Object, range: Range<u64>) -> io::Result<Vec<u8>> {
    read(object, range).map_ok(Vec::from).try_concat().await
}

/// A checksum algorithm.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) enum Algorithm {
    Crc32,
    Crc32c,
    Crc64Nvme,
    Sha1,
    Sha256,
}

impl Algorithm {
    pub(crate) const ALL: [Self; 5] = [Self::Crc32, Self::Crc32c, Self::Crc64Nvme, Self::Sha1, Self::Sha256];

    /// The name in `x-amz-checksum-algorithm`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Crc32 => "CRC32",
            Self::Crc32c => "CRC32C",
            Self::Crc64Nvme => "CRC64NVME",
            Self::Sha1 => "SHA1",
            Self::Sha256 => "SHA256",
        }
    }

    /// The header or trailer of the checksum.
    pub(crate) fn header(self) -> String {
        format!("x-amz-checksum-{}", self.name().to_ascii_lowercase())
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|algorithm| algorithm.name().eq_ignore_ascii_case(name))
    }
}

/// The checksum of an object or a part.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct StoredChecksum {
    pub(crate) algorithm: Algorithm,
    /// Base64; a composite checksum ends in `-` and the number of parts.
    pub(crate) value: String,
}

impl StoredChecksum {
    /// The composite checksum of parts; `None` if a part has another algorithm or no checksum.
    pub(crate) fn of_checksums<'a>(
        algorithm: Algorithm,
        parts: impl Iterator<Item = Option<&'a Self>>,
    ) -> Option<Self> {
        let mut hashes = Hashes::new(Some(algorithm));
        let mut count = 0_usize;
        for part in parts {
            let part = part.filter(|part| part.algorithm == algorithm)?;
            hashes.update(&STANDARD.decode_to_vec(&part.value).ok()?);
            count += 1;
        }
        let (_, checksum) = hashes.finish();
        checksum.map(|checksum| Self { value: format!("{}-{count}", checksum.value), ..checksum })
    }

    /// The checksum fields of a response.
    pub(crate) fn fields(this: Option<&Self>) -> Checksum {
        let mut fields = Checksum::default();
        let Some(Self { algorithm, value }) = this else { return fields };
        let kind = if value.contains('-') { ChecksumType::COMPOSITE } else { ChecksumType::FULL_OBJECT };
        fields.checksum_type = Some(ChecksumType::from_static(kind));
        let place = match algorithm {
            Algorithm::Crc32 => &mut fields.checksum_crc32,
            Algorithm::Crc32c => &mut fields.checksum_crc32c,
            Algorithm::Crc64Nvme => &mut fields.checksum_crc64nvme,
            Algorithm::Sha1 => &mut fields.checksum_sha1,
            Algorithm::Sha256 => &mut fields.checksum_sha256,
        };
        *place = Some(value.clone());
        fields
    }
}

/// Lower-case hexadecimal digits.
pub(crate) fn hex(bytes: impl AsRef<[u8]>) -> String {
    bytes.as_ref().iter().fold(String::new(), |mut text, byte| {
        // Writing to a `String` cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Computes MD5, and a checksum if an algorithm is set.
pub(crate) struct Hashes {
    md5: Md5,
    algorithm: Option<Algorithm>,
    hasher: ChecksumHasher,
}

impl Hashes {
    pub(crate) fn new(algorithm: Option<Algorithm>) -> Self {
        let mut hasher = ChecksumHasher::default();
        match algorithm {
            Some(Algorithm::Crc32) => hasher.crc32 = Some(s3s::crypto::Crc32::new()),
            Some(Algorithm::Crc32c) => hasher.crc32c = Some(s3s::crypto::Crc32c::new()),
            Some(Algorithm::Crc64Nvme) => hasher.crc64nvme = Some(s3s::crypto::Crc64Nvme::new()),
            Some(Algorithm::Sha1) => hasher.sha1 = Some(s3s::crypto::Sha1::new()),
            Some(Algorithm::Sha256) => hasher.sha256 = Some(s3s::crypto::Sha256::new()),
            None => {}
        }
        Self { md5: Md5::new(), algorithm, hasher }
    }

    /// Reads all bytes of an object.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub(crate) async fn of(
        object: &Object,
        algorithm: Option<Algorithm>,
    ) -> io::Result<([u8; 16], Option<StoredChecksum>)> {
        let mut hashes = Self::new(algorithm);
        let mut chunks = pin!(read(object, 0..object.size()));
        while let Some(chunk) = chunks.try_next().await? {
            hashes.update(&chunk);
        }
        Ok(hashes.finish())
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.md5.update(bytes);
        self.hasher.update(bytes);
    }

    /// The MD5 digest, and the checksum if an algorithm is set.
    pub(crate) fn finish(self) -> ([u8; 16], Option<StoredChecksum>) {
        let all = self.hasher.finalize();
        let value = all.checksum_crc32.or(all.checksum_crc32c).or(all.checksum_crc64nvme);
        let value = value.or(all.checksum_sha1).or(all.checksum_sha256);
        (
            self.md5.finalize(),
            self.algorithm.zip(value).map(|(algorithm, value)| StoredChecksum { algorithm, value }),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copy_of_a_data_file_is_independent_of_it_with_and_without_links() {
        let directory = tempfile::tempdir().unwrap();
        let (source, target) = (directory.path().join("source"), directory.path().join("target"));
        fs::create_dir(&target).unwrap();
        fs::write(&source, "tea").unwrap();
        let segment = Segment::new(source.clone(), 3);
        let linked = segment.copy_to(&target).unwrap();
        let ((), copied) = copy_file(&source, &target).unwrap();
        // No record refers to it.
        drop(segment);
        assert!(!source.exists());
        for path in [&linked.data.path, &copied] {
            assert_eq!(fs::read_to_string(path).unwrap(), "tea");
        }
        assert!(target.join(&linked.file).exists());
        drop(linked);
        assert_eq!(fs::read_dir(&target).unwrap().count(), 1);
        copy_file(&source, &target).unwrap_err();
        assert_eq!(fs::read_dir(&target).unwrap().count(), 1, "a failed copy leaves no file");
    }
}
