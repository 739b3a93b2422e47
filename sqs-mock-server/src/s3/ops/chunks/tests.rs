//! Valid and invalid bodies, in pieces of any size.

use futures_util::{FutureExt as _, stream};

use super::*;

const BODY: &[u8] =
    b"5;chunk-signature=abc\r\nhello\r\nA\r\n\r\n01234567\r\n0\r\nx-amz-checksum-crc32: AAA=\r\nx-b:1:2\r\n\r\n";

fn decoded(body: &'static [u8], step: usize) -> Result<(Vec<u8>, HeaderMap), String> {
    let pieces = body.chunks(step).map(|piece| Ok::<_, std::io::Error>(Bytes::from_static(piece)));
    let mut chunks = Chunks::new(StreamingBlob::wrap(stream::iter(pieces.collect::<Vec<_>>())), Some(15));
    let read = async {
        let mut all = Vec::new();
        while let Some(bytes) = chunks.next().await? {
            all.extend_from_slice(&bytes);
        }
        Ok::<_, StdError>((all, chunks.trailers))
    };
    read.now_or_never().unwrap().map_err(|error| error.to_string())
}

#[test]
fn chunks_and_trailers_are_decoded_from_pieces_of_any_size() {
    for step in 1..BODY.len() {
        let (bytes, trailers) = decoded(BODY, step).unwrap();
        assert_eq!(bytes, b"hello\r\n01234567", "{step}");
        assert_eq!(
            (&trailers["x-amz-checksum-crc32"], &trailers["x-b"]),
            (&"AAA=".parse().unwrap(), &"1:2".parse().unwrap())
        );
    }
}

#[test]
fn invalid_body_is_rejected() {
    for (body, expected) in [
        (&b"hello\r\n"[..], "a chunk size is not a hexadecimal number"),
        (b"1\r\nhello\r\n", "a chunk is longer than its size"),
        (b"F\r\nhello", "it ends too early"),
        (b"5\r\nhello\r\n0\r\n\r\n", "its length is not x-amz-decoded-content-length"),
        (b"F\r\n0123456789abcde\r\n0\r\n\r\nmore", "bytes follow the last chunk"),
        (b"0\r\nnonsense\r\n\r\n", "a trailer is not a valid header"),
        (&[b'1'; 5000], "a line is longer than 4096 bytes"),
    ] {
        let text = format!("the body is not valid aws-chunked encoding: {expected}");
        assert_eq!(decoded(body, 7).unwrap_err(), text);
    }
}
