//! A payload that becomes a file.
//!
//! ```text
//! pieces -> batch (at most a block and a piece) -> a thread writes it, while the next batch comes
//! ```

use std::io;
use std::path::Path;

use bytes::Bytes;
use futures_util::StreamExt as _;
use tokio::task::{JoinHandle, spawn_blocking};

use super::partial::Partial;
use super::{BLOCK, blocking, done};
use crate::payload::{PayloadError, PayloadErrorKind, Pieces};

/// Writes a file that has its name only when all of it is there, and says how many bytes it has.
pub(in crate::payload) async fn write(path: &Path, pieces: Pieces) -> Result<u64, PayloadError> {
    let name = path.to_owned();
    let partial = blocking(move || Partial::create(name)).await.map_err(|error| failed(path, error))?;
    fill(partial, pieces).await
}

pub(super) async fn fill(partial: Partial, mut pieces: Pieces) -> Result<u64, PayloadError> {
    let name = partial.name().to_owned();
    let failed = |error| failed(&name, error);
    let mut writing = append(partial, Vec::new());
    let (mut batch, mut held, mut length) = (Vec::new(), 0, 0);
    while let Some(piece) = pieces.next().await {
        let piece = match piece {
            Ok(piece) => piece,
            Err(error) => {
                discard(writing).await;
                return Err(error);
            }
        };
        held += piece.len();
        length += u64::try_from(piece.len()).unwrap_or_default();
        batch.push(piece);
        if held >= BLOCK {
            held = 0;
            let partial = done(writing).await.map_err(failed)?;
            writing = append(partial, std::mem::take(&mut batch));
        }
    }
    let partial = done(writing).await.map_err(failed)?;
    blocking(move || partial.append(&batch)?.finish()).await.map_err(failed)?;
    Ok(length)
}

fn append(partial: Partial, batch: Vec<Bytes>) -> JoinHandle<io::Result<Partial>> {
    spawn_blocking(move || partial.append(&batch))
}

/// Waits until nothing is left of it.
async fn discard(writing: JoinHandle<io::Result<Partial>>) {
    // What could not be written is removed already.
    if let Ok(partial) = done(writing).await {
        let _ = spawn_blocking(move || drop(partial)).await;
    }
}

fn failed(name: &Path, error: io::Error) -> PayloadError {
    let says = format!("{} could not be written", name.display());
    PayloadError::caused_by(PayloadErrorKind::File, says, error)
}
