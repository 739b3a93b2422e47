//! A file that is sent.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::PathBuf;

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};

use super::{BLOCK, blocking};
use crate::payload::{PayloadError, PayloadErrorKind, Pieces};

/// Opens a file: its length, unless it is a pipe or a device, and its bytes.
pub(in crate::payload) async fn read(path: PathBuf) -> Result<(Option<u64>, Pieces), PayloadError> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_read_are_full_blocks() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("from");
        std::fs::write(&path, vec![7; 2 * BLOCK + 1]).unwrap();
        let (length, blocks) = read(path).await.unwrap();
        let lengths: Vec<_> = blocks.map(|block| block.unwrap().len()).collect().await;
        assert_eq!((length, lengths), (Some(2 * BLOCK as u64 + 1), vec![BLOCK, BLOCK, 1]));
    }

    #[tokio::test]
    async fn a_directory_is_no_payload() {
        let directory = tempfile::tempdir().unwrap();
        let (length, mut blocks) = read(directory.path().to_owned()).await.unwrap();
        let error = blocks.next().await.unwrap().unwrap_err();
        assert_eq!((length, error.kind()), (None, PayloadErrorKind::Source));
    }
}
