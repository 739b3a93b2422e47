//! Joins the parts of an upload into an object.

use std::io;
use std::sync::Arc;

use s3s::crypto::{Checksum as _, Md5};
use s3s::dto::CompletedPart;
use s3s::{S3Error, S3Result, s3_error};

use crate::s3::store::{Algorithm, Hashes, Object, Pieces, Record, StoredChecksum, Upload, Written, hex};

/// The smallest part, except for the last: <https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html>.
const MIN_PART: u64 = 5 << 20;

/// Joins the listed parts without copying bytes. The date of the object is that of the start of the upload:
/// <https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingMetadata.html>.
pub(super) fn assembled(upload: &Upload, wanted: &[CompletedPart]) -> S3Result<Object> {
    if wanted.is_empty() {
        return Err(s3_error!(MalformedXML, "You must specify at least one part"));
    }
    if !wanted.is_sorted_by(|one, next| one.part_number < next.part_number) {
        return Err(s3_error!(InvalidPartOrder, "The list of parts was not in ascending order."));
    }
    let (mut segments, mut files, mut md5) = (Vec::new(), Vec::new(), Md5::new());
    for (at, part) in wanted.iter().enumerate() {
        let found = part.part_number.and_then(|number| upload.parts.get(&number));
        let has_etag =
            |found: &Written| part.e_tag.as_ref().is_none_or(|etag| etag.value() == hex(found.md5));
        let found = found.filter(|found| has_etag(found)).ok_or_else(invalid_part)?;
        if at + 1 < wanted.len() && found.segment.size < MIN_PART {
            return Err(s3_error!(
                EntityTooSmall,
                "Your proposed upload is smaller than the minimum allowed size"
            ));
        }
        md5.update(&found.md5);
        segments.push(found.segment.clone());
        files.push(Arc::clone(&found.file));
    }
    let record = Record {
        key: upload.key.clone(),
        etag: format!("{}-{}", hex(md5.finalize()), wanted.len()),
        modified: upload.initiated,
        attributes: upload.attributes.clone(),
        checksum: None,
        segments,
        multipart: true,
    };
    Ok(Object { record, files })
}

fn invalid_part() -> S3Error {
    let text = "One or more of the specified parts could not be found. The part may not have been uploaded, or the \
                specified entity tag may not match the part's entity tag.";
    s3_error!(InvalidPart, "{text}")
}

pub(super) fn wanted_checksums<'a>(
    upload: &'a Upload,
    wanted: &'a [CompletedPart],
) -> impl Iterator<Item = Option<&'a StoredChecksum>> {
    wanted.iter().map(|part| upload.parts.get(&part.part_number?)?.checksum.as_ref())
}

/// Reads all bytes to compute their checksum.
pub(super) async fn checksum_of(object: &Object, algorithm: Algorithm) -> io::Result<StoredChecksum> {
    let mut hashes = Hashes::new(Some(algorithm));
    let mut pieces = Pieces::of(object, 0, object.record.size());
    while let Some(chunk) = pieces.next().await? {
        hashes.update(&chunk);
    }
    let (_, checksum) = hashes.finish();
    checksum.ok_or_else(|| io::Error::other("no checksum was computed"))
}
