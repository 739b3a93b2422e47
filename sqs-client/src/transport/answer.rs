//! Reads response bodies, up to a limit.

use bytes::{Bytes, BytesMut};

use super::{TransportError, TransportErrorKind};

/// The maximum response size: ten messages of 1 MiB in the longest encoding (XML, `&quot;`), plus some margin.
const MAX_ANSWER_BYTES: usize = 72 * 1_048_576;

/// A body that arrives in chunks.
pub(super) trait Chunks: Send {
    /// The announced length of the body in bytes, if known.
    fn announced(&self) -> Option<u64>;

    fn next(&mut self) -> impl Future<Output = Result<Option<Bytes>, TransportError>> + Send;
}

/// Reads the complete body. A body of one chunk is not copied.
pub(super) async fn read(body: &mut impl Chunks) -> Result<Bytes, TransportError> {
    let announced = body.announced().map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
    if announced > Some(MAX_ANSWER_BYTES) {
        return Err(too_large());
    }
    let Some(first) = body.next().await? else {
        return Ok(Bytes::new());
    };
    if Some(first.len()) == announced {
        return Ok(first);
    }
    let Some(second) = body.next().await? else {
        return Ok(first);
    };
    let mut whole = BytesMut::with_capacity(announced.unwrap_or(0).max(first.len() + second.len()));
    whole.extend_from_slice(&first);
    let mut next = Some(second);
    while let Some(chunk) = next {
        if whole.len() + chunk.len() > MAX_ANSWER_BYTES {
            return Err(too_large());
        }
        whole.extend_from_slice(&chunk);
        next = body.next().await?;
    }
    Ok(whole.freeze())
}

fn too_large() -> TransportError {
    let cause = format!("the response is longer than {MAX_ANSWER_BYTES} bytes");
    TransportError::new(TransportErrorKind::TooLarge, cause)
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    struct Script(Option<u64>, VecDeque<Bytes>);

    impl Chunks for Script {
        fn announced(&self) -> Option<u64> {
            self.0
        }

        async fn next(&mut self) -> Result<Option<Bytes>, TransportError> {
            Ok(self.1.pop_front())
        }
    }

    async fn read_chunks(
        announced: Option<u64>,
        chunks: impl IntoIterator<Item = Bytes>,
    ) -> Result<Bytes, TransportError> {
        read(&mut Script(announced, chunks.into_iter().collect())).await
    }

    #[tokio::test]
    async fn chunks_are_joined_and_a_single_chunk_is_not_copied() {
        let chunk = Bytes::from(vec![7; 1000]);
        for announced in [None, Some(1000)] {
            let whole = read_chunks(announced, [chunk.clone()]).await.expect("short");
            assert_eq!(whole.as_ptr(), chunk.as_ptr());
        }
        let parts = ["one ", "two ", "three"].map(Bytes::from);
        assert_eq!(read_chunks(Some(13), parts.clone()).await.expect("short"), "one two three");
        assert_eq!(read_chunks(None, parts).await.expect("short"), "one two three");
        let late = ["", "four"].map(Bytes::from);
        assert_eq!(read_chunks(None, late).await.expect("short"), "four");
        assert_eq!(read_chunks(None, []).await.expect("empty"), "");
    }

    #[tokio::test]
    async fn response_over_the_limit_is_too_large_whether_announced_or_not() {
        let over = u64::try_from(MAX_ANSWER_BYTES).expect("fits") + 1;
        let error = read_chunks(Some(over), []).await.expect_err("announced");
        assert_eq!(error.kind(), TransportErrorKind::TooLarge);
        let mib = Bytes::from(vec![0; 1 << 20]);
        let error = read_chunks(None, std::iter::repeat_n(mib, 73)).await.expect_err("unannounced");
        assert_eq!(error.kind(), TransportErrorKind::TooLarge);
    }
}
