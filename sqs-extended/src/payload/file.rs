//! Payloads in files.

use std::io;
use std::path::{Path, PathBuf};

use futures_util::{StreamExt as _, TryStreamExt as _};
use tokio::fs::{self, File};
use tokio::io::{AsyncWriteExt as _, BufWriter};
use tokio_util::io::ReaderStream;

use super::Pieces;
use crate::error::{Error, ErrorKind};
use crate::random;

/// Read and written at a time: each call runs on a thread for blocking calls.
const BLOCK: usize = 1 << 20;

/// Opens a file. Its length is unknown if it is a pipe or a device.
pub(super) async fn read(path: PathBuf) -> Result<(Option<u64>, Pieces), Error> {
    let name = path.display().to_string();
    let failed = move |error: io::Error| {
        Error::new(ErrorKind::Source, format!("reading {name} failed: {error}")).caused_by(error)
    };
    let mut file = File::open(&path).await.map_err(&failed)?;
    file.set_max_buf_size(BLOCK);
    let metadata = file.metadata().await.map_err(&failed)?;
    let pieces = ReaderStream::with_capacity(file, BLOCK).map_err(failed).boxed();
    Ok((metadata.is_file().then_some(metadata.len()), pieces))
}

/// Writes a file, which gets its name when it is complete. Returns its length.
pub(super) async fn write(path: &Path, pieces: Pieces) -> Result<u64, Error> {
    let failed = |error: io::Error| {
        Error::new(ErrorKind::File, format!("writing {} failed: {error}", path.display())).caused_by(error)
    };
    let partial = Partial::beside(path);
    let mut file = File::create_new(&partial.0).await.map_err(failed)?;
    file.set_max_buf_size(BLOCK);
    let mut file = BufWriter::with_capacity(BLOCK, file);
    let (mut pieces, mut length) = (pieces, 0);
    while let Some(piece) = pieces.try_next().await? {
        length += u64::try_from(piece.len()).unwrap_or_default();
        file.write_all(&piece).await.map_err(failed)?;
    }
    file.flush().await.map_err(failed)?;
    // Otherwise the name could survive a crash of the machine without the bytes.
    file.get_ref().sync_all().await.map_err(failed)?;
    fs::rename(&partial.0, path).await.map_err(failed)?;
    Ok(length)
}

/// A file that is not complete. It is removed on drop, unless it has been renamed.
struct Partial(PathBuf);

impl Partial {
    fn beside(path: &Path) -> Self {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.partial", random::uuid()));
        Self(path.with_file_name(name))
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // It fails after the file was renamed; nobody could be told of another failure.
        let _ = std::fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use futures_util::stream;

    use super::*;

    fn files(directory: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(directory).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[tokio::test]
    async fn file_is_read_with_its_length() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("from");
        let bytes = vec![7; 2 * BLOCK + 1];
        std::fs::write(&path, &bytes).unwrap();
        let (length, pieces) = read(path).await.unwrap();
        let read: Vec<Bytes> = pieces.try_collect().await.unwrap();
        assert_eq!((length, read.concat()), (Some(2 * BLOCK as u64 + 1), bytes));
    }

    #[tokio::test]
    async fn missing_file_and_directory_are_errors_with_their_paths() {
        let directory = tempfile::tempdir().unwrap();
        let missing = directory.path().join("missing");
        let Err(error) = read(missing.clone()).await else { panic!("a missing file was read") };
        assert_eq!(error.kind(), ErrorKind::Source);
        assert!(error.to_string().contains(missing.to_str().unwrap()), "{error}");
        let (length, mut pieces) = read(directory.path().to_owned()).await.unwrap();
        let error = pieces.next().await.unwrap().unwrap_err();
        assert_eq!((length, error.kind()), (None, ErrorKind::Source));
    }

    #[tokio::test]
    async fn complete_write_replaces_the_file_and_a_failed_one_keeps_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("to");
        std::fs::write(&path, "old").unwrap();
        let broken = Error::new(ErrorKind::Damaged, "damaged");
        let pieces = stream::iter([Ok(Bytes::from_static(b"half")), Err(broken)]).boxed();
        assert_eq!(write(&path, pieces).await.unwrap_err().kind(), ErrorKind::Damaged);
        assert_eq!(
            (std::fs::read(&path).unwrap(), files(directory.path())),
            (b"old".to_vec(), vec!["to".to_owned()])
        );
        let pieces = stream::iter([Ok(Bytes::from_static(b"ne")), Ok(Bytes::from_static(b"w"))]).boxed();
        assert_eq!(write(&path, pieces).await.unwrap(), 3);
        assert_eq!(
            (std::fs::read(&path).unwrap(), files(directory.path())),
            (b"new".to_vec(), vec!["to".to_owned()])
        );
    }

    #[tokio::test]
    async fn dropped_write_removes_its_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("to");
        let pieces = stream::iter([Ok(Bytes::from_static(b"half"))]).chain(stream::pending()).boxed();
        let write = tokio::time::timeout(std::time::Duration::from_millis(50), write(&path, pieces));
        assert!(write.await.is_err());
        assert_eq!(files(directory.path()), [] as [&str; 0]);
    }
}
