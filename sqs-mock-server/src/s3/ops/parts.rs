//! `UploadPart` and `ListMultipartUploads`.

use std::collections::BTreeMap;

use s3s::dto::{
    ChecksumAlgorithm, ETag, ListMultipartUploadsInput, ListMultipartUploadsOutput, MultipartUpload,
    StorageClass, UploadPartInput, UploadPartOutput,
};
use s3s::{S3Request, S3Result, s3_error};

use super::body::ExpectedChecksum;
use super::list::{KeyEncoding, page_size};
use super::multipart::{no_such_upload, upload};
use super::page::Query;
use super::put::hex;
use super::{Failed, Operations, set_checksum, timestamp};
use crate::s3::store::{Algorithm, Part, Upload};

/// Valid part numbers: <https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html>.
const NUMBERS: std::ops::RangeInclusive<i32> = 1..=10_000;

fn named(algorithm: Algorithm) -> ChecksumAlgorithm {
    ChecksumAlgorithm::from_static(algorithm.name())
}

impl Operations {
    pub(super) async fn upload_part(
        &self,
        mut request: S3Request<UploadPartInput>,
    ) -> S3Result<UploadPartOutput> {
        let body = request.input.body.take();
        let input = &request.input;
        if !NUMBERS.contains(&input.part_number) {
            let text = "Part number must be an integer between 1 and 10000, inclusive";
            return Err(s3_error!(InvalidArgument, "{text}"));
        }
        let bucket = self.bucket(&input.bucket)?;
        let head = upload(&bucket, &input.upload_id, &input.key)?.head;
        let written = ExpectedChecksum::of(&request, head.algorithm).store(&bucket, body).await?;
        let part = Part {
            number: input.part_number,
            md5: written.md5,
            checksum: written.checksum.clone(),
            modified: self.now(),
            segment: written.segment,
        };
        if !bucket.add_part(&head.id, part, &written.file).map_err(Failed::from)? {
            return Err(no_such_upload());
        }
        let mut output =
            UploadPartOutput { e_tag: Some(ETag::Strong(hex(&written.md5))), ..UploadPartOutput::default() };
        set_checksum!(output, written.checksum.as_ref());
        Ok(output)
    }

    pub(super) fn list_multipart_uploads(
        &self,
        request: S3Request<ListMultipartUploadsInput>,
    ) -> S3Result<ListMultipartUploadsOutput> {
        let input = request.input;
        let encoding = KeyEncoding::requested(input.encoding_type.as_ref());
        let (max_uploads, limit) = page_size(input.max_uploads)?;
        let all = self.bucket(&input.bucket)?.uploads().into_iter();
        let all: BTreeMap<_, _> =
            all.map(|upload| (place(&upload.head.key, &upload.head.id), upload)).collect();
        // Without an id, the marker follows all uploads of its key.
        let key_marker = input.key_marker.as_deref().filter(|marker| !marker.is_empty());
        let id_marker = input.upload_id_marker.as_deref().filter(|marker| !marker.is_empty());
        let after = key_marker.map(|key| place(key, id_marker.unwrap_or("\u{10ffff}")));
        let prefix = input.prefix.as_deref().unwrap_or_default();
        let query = Query { prefix, delimiter: input.delimiter.as_deref(), after: after.as_deref(), limit };
        let page = query.page(&all);
        let (next_key, next_id) = page.next.as_deref().map(split).unzip();
        Ok(ListMultipartUploadsOutput {
            is_truncated: Some(page.next.is_some()),
            next_key_marker: next_key.map(|key| encoding.text(key)),
            next_upload_id_marker: next_id.map(str::to_owned),
            uploads: Some(page.rows.iter().map(|upload| upload_row(encoding, upload)).collect()),
            common_prefixes: Some(encoding.prefixes(&page.prefixes)),
            max_uploads: Some(max_uploads),
            bucket: Some(input.bucket),
            prefix: Some(encoding.text(prefix)),
            delimiter: input.delimiter,
            key_marker: input.key_marker,
            upload_id_marker: input.upload_id_marker,
            encoding_type: input.encoding_type,
            ..ListMultipartUploadsOutput::default()
        })
    }
}

/// Sorts uploads by key, then by id.
fn place(key: &str, id: &str) -> String {
    format!("{key}\0{id}")
}

fn split(place: &str) -> (&str, &str) {
    place.rsplit_once('\0').unwrap_or((place, ""))
}

fn upload_row(encoding: KeyEncoding, upload: &Upload) -> MultipartUpload {
    MultipartUpload {
        key: Some(encoding.text(&upload.head.key)),
        upload_id: Some(upload.head.id.clone()),
        initiated: Some(timestamp(upload.head.initiated)),
        checksum_algorithm: upload.head.algorithm.map(named),
        storage_class: Some(StorageClass::from_static(StorageClass::STANDARD)),
        ..MultipartUpload::default()
    }
}
