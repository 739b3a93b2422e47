//! Files that are written, on a runtime with one thread for them, which tests can keep busy.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc;

use bytes::Bytes;
use futures_util::{FutureExt as _, StreamExt as _, stream};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};
use tokio::task::{JoinHandle, spawn_blocking};

use super::BLOCK;
use super::partial::Partial;
use super::write::{fill, write};
use crate::payload::{PayloadError, PayloadErrorKind, Pieces};

fn runtime() -> Runtime {
    Builder::new_current_thread().max_blocking_threads(1).build().unwrap()
}

/// Keeps the one thread for files busy until it is told to go on.
struct Busy(mpsc::Sender<()>, JoinHandle<()>);

impl Busy {
    fn now() -> Self {
        let (sender, receiver) = mpsc::channel();
        Self(sender, spawn_blocking(move || receiver.recv().unwrap()))
    }

    /// Lets it go on, and waits until all is done that waited for it.
    async fn end(self) {
        self.0.send(()).unwrap();
        self.1.await.unwrap();
        spawn_blocking(|| ()).await.unwrap();
    }
}

fn pieces(pieces: impl IntoIterator<Item = Result<Bytes, PayloadError>>) -> Pieces {
    stream::iter(pieces.into_iter().collect::<Vec<_>>()).boxed()
}

fn block(byte: u8) -> Bytes {
    vec![byte; BLOCK].into()
}

fn torn() -> PayloadError {
    PayloadError::new(PayloadErrorKind::Damaged, "torn")
}

/// The names in a directory.
fn names(directory: &TempDir) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// A directory with a file, the name of which others want.
fn taken() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("to");
    fs::write(&path, "old").unwrap();
    (directory, path)
}

fn is_old(directory: &TempDir, path: &Path) -> bool {
    names(directory) == ["to"] && fs::read(path).unwrap() == b"old"
}

#[test]
fn all_pieces_are_in_the_file_in_order() {
    runtime().block_on(async {
        for lengths in [vec![], vec![0], vec![1, 0, 2], vec![BLOCK - 1, 1, 1], vec![3 * BLOCK + 5, 7, BLOCK]]
        {
            let (directory, path) = taken();
            let all: Vec<_> =
                (1..).zip(&lengths).map(|(byte, length)| Bytes::from(vec![byte; *length])).collect();
            let written = write(&path, pieces(all.iter().cloned().map(Ok))).await.unwrap();
            assert_eq!(written, lengths.iter().sum::<usize>() as u64);
            assert!(fs::read(&path).unwrap() == all.concat(), "{lengths:?}");
            assert_eq!(names(&directory), ["to"], "in place of the one that was there");
        }
    });
}

#[test]
fn a_payload_that_breaks_off_leaves_what_was_there() {
    runtime().block_on(async {
        for before in [vec![], vec![block(1)], vec![block(1), block(2), Bytes::from_static(b"x")]] {
            let (directory, path) = taken();
            let error =
                write(&path, pieces(before.into_iter().map(Ok).chain([Err(torn())]))).await.unwrap_err();
            assert_eq!(error.to_string(), "torn");
            assert!(is_old(&directory, &path), "{:?}", names(&directory));
        }
    });
}

#[test]
fn a_payload_that_breaks_off_while_its_bytes_are_written_leaves_what_was_there() {
    runtime().block_on(async {
        let (directory, path) = taken();
        let partial = Partial::create(path.clone()).unwrap();
        let busy = Busy::now();
        let mut filling = Box::pin(fill(partial, pieces([Err(torn())])));
        assert!(filling.as_mut().now_or_never().is_none(), "something may be left before");
        busy.end().await;
        assert_eq!(filling.await.unwrap_err().to_string(), "torn");
        assert!(is_old(&directory, &path), "{:?}", names(&directory));
    });
}

#[test]
fn a_file_that_cannot_be_written_says_why_and_leaves_what_was_there() {
    runtime().block_on(async {
        for blocks in [1, 5] {
            let (directory, path) = taken();
            let mut partial = Partial::create(path.clone()).unwrap();
            partial.file = fs::File::open(&path).unwrap();
            let error = fill(partial, pieces((0..blocks).map(|byte| Ok(block(byte))))).await.unwrap_err();
            assert_eq!(error.kind(), PayloadErrorKind::File);
            assert_eq!(error.to_string(), format!("{} could not be written", path.display()));
            assert!(std::error::Error::source(&error).is_some());
            assert!(is_old(&directory, &path), "{:?}", names(&directory));
        }
    });
}

#[test]
fn a_name_that_cannot_be_given_leaves_nothing() {
    runtime().block_on(async {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir_all(directory.path().join("to/full")).unwrap();
        for (name, left) in [("to", 1), ("none/to", 1)] {
            let error = write(&directory.path().join(name), pieces([Ok(block(1))])).await.unwrap_err();
            assert_eq!((error.kind(), names(&directory).len()), (PayloadErrorKind::File, left), "{name}");
        }
    });
}

#[test]
fn dropped_while_its_file_is_made_it_leaves_nothing() {
    runtime().block_on(async {
        let (directory, path) = taken();
        let busy = Busy::now();
        assert!(write(&path, pieces([Ok(block(1))])).now_or_never().is_none());
        busy.end().await;
        assert!(is_old(&directory, &path), "{:?}", names(&directory));
    });
}

#[test]
fn dropped_while_its_bytes_are_written_it_leaves_nothing() {
    runtime().block_on(async {
        for count in [1, 3] {
            let (directory, path) = taken();
            let partial = Partial::create(path.clone()).unwrap();
            let busy = Busy::now();
            let more = stream::iter((0..count).map(|byte| Ok(block(byte)))).chain(stream::pending());
            assert!(fill(partial, more.boxed()).now_or_never().is_none());
            assert_eq!(names(&directory).len(), 2);
            busy.end().await;
            assert!(is_old(&directory, &path), "{:?}", names(&directory));
        }
    });
}
