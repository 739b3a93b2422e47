//! Payloads in files.
//!
//! ```text
//! read:  the next block is read while the current one is used
//! write: pieces are gathered into a block while the previous one is written
//! ```
//! Blocks are read and written on threads for blocking calls, without copies.

use std::fs::File;
use std::io::{IoSlice, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::{fs, io};

use bytes::Bytes;
use futures_util::stream::Fuse;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use sqs_client::random;
use tokio::task::{JoinHandle, spawn_blocking};

use crate::error::{Error, ErrorKind};
use crate::payload::Pieces;

/// Bytes of a block.
const BLOCK: usize = 1 << 20;

/// The maximum bytes of the file name in the name of a partial file: file systems allow 255 in all.
const STEM: usize = 200;

/// Opens a file. Its length is unknown if it is a pipe or a device.
pub(crate) async fn read(path: PathBuf) -> Result<(Option<u64>, Pieces), Error> {
    let name = path.display().to_string();
    let failed = move |error: io::Error| {
        Error::new(ErrorKind::Source, format!("reading {name} failed: {error}")).caused_by(error)
    };
    let open = spawn_blocking(move || -> io::Result<_> {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        Ok((file, metadata.is_file().then_some(metadata.len())))
    });
    let (file, length) = ended(open).await.map_err(&failed)?;
    let blocks = stream::try_unfold(next_block(file), |reading| async {
        let (block, file) = ended(reading).await?;
        Ok::<_, io::Error>((!block.is_empty()).then(|| (block, next_block(file))))
    });
    Ok((length, blocks.map_err(failed).boxed()))
}

fn next_block(file: File) -> JoinHandle<io::Result<(Bytes, File)>> {
    spawn_blocking(move || {
        let mut block = Vec::with_capacity(BLOCK);
        let mut rest = file.take(BLOCK as u64);
        rest.read_to_end(&mut block)?;
        Ok((block.into(), rest.into_inner()))
    })
}

/// Writes a file, which gets its name when it is complete. Returns its length.
pub(crate) async fn write(path: &Path, pieces: Pieces) -> Result<u64, Error> {
    let failed = |error: io::Error| {
        Error::new(ErrorKind::File, format!("writing {} failed: {error}", path.display())).caused_by(error)
    };
    let (to, mut pieces) = (path.to_owned(), pieces.fuse());
    let mut writing = spawn_blocking(move || Partial::create(to));
    loop {
        let block = gather(&mut pieces).await;
        let partial = ended(writing).await.map_err(failed)?;
        let block = block?;
        if block.is_empty() {
            return ended(spawn_blocking(move || partial.complete())).await.map_err(failed);
        }
        writing = spawn_blocking(move || partial.write(&block));
    }
}

/// The next pieces, at least one block in total. Empty at the end.
async fn gather(pieces: &mut Fuse<Pieces>) -> Result<Vec<Bytes>, Error> {
    let (mut block, mut length) = (Vec::new(), 0);
    while length < BLOCK
        && let Some(piece) = pieces.try_next().await?
    {
        length += piece.len();
        block.extend((!piece.is_empty()).then_some(piece));
    }
    Ok(block)
}

/// The result of a blocking call. An error if the runtime ends.
async fn ended<T>(call: JoinHandle<io::Result<T>>) -> io::Result<T> {
    call.await.map_err(io::Error::from).flatten()
}

/// An incomplete file. It is removed on drop, even if the caller is dropped while a blocking call uses it.
struct Partial {
    file: File,
    /// In the directory of the final file.
    path: PathBuf,
    to: PathBuf,
    length: u64,
}

impl Partial {
    fn create(to: PathBuf) -> io::Result<Self> {
        let name = to.file_name().unwrap_or_default().to_string_lossy();
        let stem = &name[..name.floor_char_boundary(STEM)];
        let path = to.with_file_name(format!("{stem}.{}.partial", random::uuid()));
        Ok(Self { file: File::create_new(&path)?, path, to, length: 0 })
    }

    fn write(mut self, block: &[Bytes]) -> io::Result<Self> {
        let mut slices: Vec<_> = block.iter().map(|piece| IoSlice::new(piece)).collect();
        let mut left = slices.as_mut_slice();
        while !left.is_empty() {
            match self.file.write_vectored(left) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => {
                    self.length += u64::try_from(written).unwrap_or_default();
                    IoSlice::advance_slices(&mut left, written);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(self)
    }

    /// Renames the file to its final name. Returns its length.
    fn complete(self) -> io::Result<u64> {
        // Otherwise a crash of the machine could keep the name but lose the bytes.
        self.file.sync_all()?;
        fs::rename(&self.path, &self.to)?;
        Ok(self.length)
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // This fails after the file was renamed. There is no caller to report another failure to.
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

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
        // Windows does not open directories, other systems do not read them.
        let error = match read(directory.path().to_owned()).await {
            Ok((_, mut pieces)) => pieces.next().await.unwrap().unwrap_err(),
            Err(error) => error,
        };
        assert_eq!(error.kind(), ErrorKind::Source);
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
        let block = Bytes::from(vec![7; BLOCK]);
        let pieces = stream::iter([Ok(block.clone()), Ok(block)]).chain(stream::pending()).boxed();
        let write = tokio::time::timeout(std::time::Duration::from_millis(50), write(&path, pieces));
        assert!(write.await.is_err());
        assert_eq!(files(directory.path()), [] as [&str; 0]);
    }

    #[test]
    fn write_that_is_dropped_before_its_file_is_created_leaves_no_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("to");
        let runtime = tokio::runtime::Builder::new_current_thread().max_blocking_threads(1).build().unwrap();
        runtime.block_on(async {
            let (release, held) = std::sync::mpsc::channel::<()>();
            drop(spawn_blocking(move || held.recv()));
            assert!(write(&path, stream::pending().boxed()).now_or_never().is_none());
            release.send(()).unwrap();
            // The only thread for blocking calls has created the file before.
            spawn_blocking(|| ()).await.unwrap();
        });
        assert_eq!(files(directory.path()), [] as [&str; 0]);
    }

    #[tokio::test]
    async fn longest_name_of_a_file_is_allowed() {
        let directory = tempfile::tempdir().unwrap();
        for name in ["x".repeat(255), "ü".repeat(127)] {
            let pieces = stream::iter([Ok(Bytes::from_static(b"abc"))]).boxed();
            assert_eq!(write(&directory.path().join(name), pieces).await.unwrap(), 3);
        }
    }

    #[tokio::test]
    async fn pieces_of_any_length_are_written_in_order() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("to");
        let piece = |length: usize| Bytes::from(vec![u8::try_from(length % 251).unwrap(); length]);
        let pieces: Vec<_> = (0..3_000).map(piece).collect();
        let whole = pieces.concat();
        let length = write(&path, stream::iter(pieces.into_iter().map(Ok)).boxed()).await.unwrap();
        assert_eq!(length, whole.len() as u64);
        assert!(std::fs::read(&path).unwrap() == whole);
    }
}
