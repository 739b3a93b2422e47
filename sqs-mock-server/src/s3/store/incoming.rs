//! Bytes that come.

use std::io;
use std::sync::Arc;

use super::data::Draft;
use super::{DataFile, Hashes, Segment, Sum, Written};

/// Bytes on their way into a file of this bucket.
pub(in crate::s3) struct Incoming(Draft);

impl Incoming {
    pub(super) fn new(draft: Draft) -> Self {
        Self(draft)
    }

    pub(in crate::s3) async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write(bytes).await
    }

    pub(in crate::s3) async fn finish(self, hashes: Hashes) -> io::Result<Written> {
        let (file, segment): (Arc<DataFile>, Segment) = self.0.finish().await?;
        let (md5, sum): ([u8; 16], Option<Sum>) = hashes.finish();
        Ok(Written { file, segment, md5, sum })
    }
}
