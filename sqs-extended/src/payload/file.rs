//! Files, in blocks that are worth a call.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use tokio::task::{JoinHandle, spawn_blocking};

use super::{PayloadError, PayloadErrorKind, Pieces};
use crate::random;

/// Read and written at once.
const BLOCK: usize = 1 << 20;

/// Opens a file: its length, unless it is a pipe or a device, and its bytes.
pub(super) async fn read(path: PathBuf) -> Result<(Option<u64>, Pieces), PayloadError> {
    let name = path.display().to_string();
    let opened = blocking(move || {
        let file = File::open(&path)?;
        let metadata = file.metadata()?;
        Ok((metadata.is_file().then_some(metadata.len()), file))
    });
    let failed = move |error| {
        PayloadError::caused_by(PayloadErrorKind::Source, format!("{name} could not be read"), error)
    };
    let (length, file) = opened.await.map_err(&failed)?;
    let blocks = stream::try_unfold(file, |file| async {
        let (block, file) = blocking(move || block(&file).map(|block| (block, file))).await?;
        Ok((!block.is_empty()).then_some((Bytes::from(block), file)))
    });
    Ok((length, blocks.map(move |block: io::Result<Bytes>| block.map_err(&failed)).boxed()))
}

/// The next block, full but at the end.
fn block(file: &File) -> io::Result<Vec<u8>> {
    let mut block = vec![0; BLOCK];
    let mut length = 0;
    while let Some(room) = block.get_mut(length..).filter(|room| !room.is_empty()) {
        match (&*file).read(room) {
            Ok(0) => break,
            Ok(count) => length += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    block.truncate(length);
    Ok(block)
}

/// Writes a file that has its name only when all of it is there. While one batch is written, the next one comes.
pub(super) async fn write(path: &Path, mut pieces: Pieces) -> Result<u64, PayloadError> {
    let failed = |error| {
        let says = format!("{} could not be written", path.display());
        PayloadError::caused_by(PayloadErrorKind::File, says, error)
    };
    let partial = Partial::beside(path);
    let target = partial.path.clone();
    // It is there before anything can fail, so that whoever removes it finds it.
    let file = blocking(move || File::create_new(target)).await.map_err(failed)?;
    let mut writing = append(file, Vec::new());
    let (mut batch, mut held, mut length) = (Vec::new(), 0, 0);
    while let Some(piece) = pieces.next().await {
        let piece = piece?;
        held += piece.len();
        length += u64::try_from(piece.len()).unwrap_or_default();
        batch.push(piece);
        if held >= BLOCK {
            held = 0;
            let file = done(writing).await.map_err(failed)?;
            writing = append(file, std::mem::take(&mut batch));
        }
    }
    let file = done(writing).await.map_err(failed)?;
    done(append(file, batch)).await.map_err(failed)?;
    partial.rename(path).await.map_err(failed)?;
    Ok(length)
}

fn append(mut file: File, batch: Vec<Bytes>) -> JoinHandle<io::Result<File>> {
    spawn_blocking(move || batch.iter().try_for_each(|piece| file.write_all(piece)).map(|()| file))
}

/// A file that is removed unless it got its name.
struct Partial {
    path: PathBuf,
    is_named: bool,
}

impl Partial {
    fn beside(path: &Path) -> Self {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.partial", random::uuid()));
        Self { path: path.with_file_name(name), is_named: false }
    }

    async fn rename(mut self, path: &Path) -> io::Result<()> {
        let (from, to) = (self.path.clone(), path.to_owned());
        blocking(move || std::fs::rename(from, to)).await?;
        self.is_named = true;
        Ok(())
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if !self.is_named {
            // It may not have been made; there is nobody to tell otherwise.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Files have no asynchronous face: they are used on threads for that.
async fn blocking<T: Send + 'static>(call: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    done(spawn_blocking(call)).await
}

async fn done<T>(call: JoinHandle<io::Result<T>>) -> io::Result<T> {
    call.await.map_err(io::Error::other)?
}
