//! Files, in blocks that are worth a call.
//!
//! They have no asynchronous face: they are used on threads for that.

mod partial;
mod read;
#[cfg(test)]
mod tests;
mod write;

use std::io;

use tokio::task::{JoinHandle, spawn_blocking};

pub(super) use read::read;
pub(super) use write::write;

/// Read and written at once.
const BLOCK: usize = 1 << 20;

async fn blocking<T: Send + 'static>(call: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    done(spawn_blocking(call)).await
}

async fn done<T>(call: JoinHandle<io::Result<T>>) -> io::Result<T> {
    call.await.map_err(io::Error::other)?
}
