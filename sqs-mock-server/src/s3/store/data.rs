//! Writes and reads data files.

use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use futures_core::Stream;
use futures_util::stream;
use tokio::fs::File;
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _, AsyncWriteExt as _};

use super::{DataFile, Hashes, Object, Segment, Written};

/// Bytes per read.
const CHUNK: u64 = 256 << 10;

/// A data file that is being written.
#[derive(Debug)]
pub(in crate::s3) struct DataWriter {
    name: String,
    data: Arc<DataFile>,
    file: File,
    size: u64,
}

impl DataWriter {
    /// Creates an empty file with the first free name of `names`.
    pub(super) async fn create(directory: &Path, names: impl Fn() -> String) -> io::Result<Self> {
        loop {
            let name = names();
            let path = directory.join(&name);
            match File::create_new(&path).await {
                Ok(mut file) => {
                    file.set_max_buf_size(1 << 20);
                    return Ok(Self { name, data: Arc::new(DataFile::new(path, false)), file, size: 0 });
                }
                // A server with the same seed draws the names of an earlier run again.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    pub(in crate::s3) async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.size += bytes.len() as u64;
        self.file.write_all(bytes).await
    }

    pub(in crate::s3) async fn finish(mut self, hashes: Hashes) -> io::Result<Written> {
        self.file.flush().await?;
        let (md5, checksum) = hashes.finish();
        Ok(Written { file: self.data, segment: Segment { file: self.name, size: self.size }, md5, checksum })
    }
}

/// Reads a range of an object. Holds its data files, so that a delete does not remove them.
pub(in crate::s3) struct Pieces {
    due: VecDeque<Piece>,
    open: Option<(File, u64)>,
}

struct Piece {
    file: Arc<DataFile>,
    start: u64,
    length: u64,
}

impl Pieces {
    /// The bytes in `start..end`.
    pub(in crate::s3) fn of(object: &Object, start: u64, end: u64) -> Self {
        let mut due = VecDeque::new();
        let mut at = 0;
        for (segment, file) in object.record.segments.iter().zip(&object.files) {
            let (first, last) = (start.clamp(at, at + segment.size), end.clamp(at, at + segment.size));
            if first < last {
                due.push_back(Piece { file: Arc::clone(file), start: first - at, length: last - first });
            }
            at += segment.size;
        }
        Self { due, open: None }
    }

    /// The chunks as a stream.
    pub(in crate::s3) fn stream(self) -> impl Stream<Item = io::Result<Bytes>> + Send + Sync + 'static {
        stream::try_unfold(self, |mut pieces| async move {
            let chunk = pieces.next().await?;
            Ok(chunk.map(|chunk| (chunk, pieces)))
        })
    }

    /// All bytes, in memory.
    pub(in crate::s3) async fn read(mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        while let Some(chunk) = self.next().await? {
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes)
    }

    /// The next chunk; `None` at the end.
    pub(in crate::s3) async fn next(&mut self) -> io::Result<Option<Bytes>> {
        loop {
            if let Some((file, left)) = &mut self.open
                && *left > 0
            {
                let mut chunk = vec![0; usize::try_from((*left).min(CHUNK)).unwrap_or(usize::MAX)];
                let read = file.read(&mut chunk).await?;
                if read == 0 {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                chunk.truncate(read);
                *left -= read as u64;
                return Ok(Some(chunk.into()));
            }
            let Some(piece) = self.due.front() else { return Ok(None) };
            let mut file = File::open(&piece.file.path).await?;
            file.seek(io::SeekFrom::Start(piece.start)).await?;
            self.open = Some((file, piece.length));
            self.due.pop_front();
        }
    }
}
