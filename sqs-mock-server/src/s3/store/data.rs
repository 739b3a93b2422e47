//! Writes and reads data files.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::{fs, io};

use bytes::{Bytes, BytesMut};
use futures_core::Stream;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use tokio::fs::File;
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _, AsyncWriteExt as _, Take};

use super::object::DataFile;
use super::{Hashes, Object, Segment, Written};

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
    pub(super) fn create(directory: &Path) -> io::Result<Self> {
        let mut names = tempfile::Builder::new();
        let created =
            names.prefix("").rand_bytes(20).make_in(directory, |path| fs::File::create_new(path))?;
        let (file, path) = created.keep()?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let data = Arc::new(DataFile { path, is_temporary: true.into() });
        let mut file = File::from_std(file);
        file.set_max_buf_size(1 << 20);
        Ok(Self { segment: Segment { file: name, size: 0, data }, file })
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
