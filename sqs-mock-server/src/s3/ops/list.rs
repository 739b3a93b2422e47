//! `ListObjectsV2`.

use s3s::dto::{
    CommonPrefix, ETag, EncodingType, ListObjectsV2Input, ListObjectsV2Output, Object as Row,
    ObjectStorageClass,
};
use s3s::{S3Request, S3Result, s3_error};

use super::page::{Query, of_token, token, url_encoded};
use super::{Operations, timestamp};
use crate::s3::store::{Object, StoredChecksum};

/// The largest page: <https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html>.
const MAX_KEYS: i32 = 1000;

/// The requested page size, limited to [`MAX_KEYS`].
fn page_size(asked: Option<i32>) -> S3Result<(i32, usize)> {
    let asked = asked.unwrap_or(MAX_KEYS).min(MAX_KEYS);
    let rows = usize::try_from(asked);
    rows.map(|rows| (asked, rows)).map_err(|_| {
        s3_error!(InvalidArgument, "Argument maxKeys must be an integer between 0 and 2147483647")
    })
}

/// Whether keys in a listing are URL-encoded.
#[derive(Clone, Copy)]
struct KeyEncoding(bool);

impl KeyEncoding {
    fn requested(encoding: Option<&EncodingType>) -> Self {
        Self(encoding.is_some_and(|encoding| encoding.as_str() == EncodingType::URL))
    }

    fn text(self, text: &str) -> String {
        if self.0 { url_encoded(text) } else { text.to_owned() }
    }

    fn prefixes(self, all: &[String]) -> Vec<CommonPrefix> {
        all.iter().map(|prefix| CommonPrefix { prefix: Some(self.text(prefix)) }).collect()
    }

    fn row(self, object: &Object) -> Row {
        let record = &object.record;
        let class = record.attributes.storage_class.clone().unwrap_or_else(|| "STANDARD".to_owned());
        let checksum = record.checksum.as_ref();
        Row {
            key: Some(self.text(&record.key)),
            e_tag: Some(ETag::Strong(record.etag.clone())),
            last_modified: Some(timestamp(record.modified)),
            size: i64::try_from(record.size()).ok(),
            storage_class: Some(ObjectStorageClass::from(class)),
            checksum_algorithm: checksum.map(|checksum| vec![checksum.algorithm.name().to_owned().into()]),
            checksum_type: StoredChecksum::fields(checksum).checksum_type,
            ..Row::default()
        }
    }
}

impl Operations {
    pub(super) fn list_objects_v2(
        &self,
        request: S3Request<ListObjectsV2Input>,
    ) -> S3Result<ListObjectsV2Output> {
        let input = request.input;
        let encoding = KeyEncoding::requested(input.encoding_type.as_ref());
        let (max_keys, limit) = page_size(input.max_keys)?;
        let unknown = || s3_error!(InvalidArgument, "The continuation token provided is incorrect");
        let resumed = input.continuation_token.as_deref().map(|token| of_token(token).ok_or_else(unknown));
        let resumed = resumed.transpose()?;
        let query = Query {
            prefix: input.prefix.as_deref().unwrap_or_default(),
            delimiter: input.delimiter.as_deref(),
            after: resumed.as_deref().or(input.start_after.as_deref()),
            limit,
        };
        let page = self.bucket(&input.bucket)?.objects(|all| query.page(all));
        Ok(ListObjectsV2Output {
            key_count: i32::try_from(page.rows.len() + page.prefixes.len()).ok(),
            max_keys: Some(max_keys),
            is_truncated: Some(page.next.is_some()),
            next_continuation_token: page.next.as_deref().map(token),
            contents: Some(page.rows.iter().map(|object| encoding.row(object)).collect()),
            common_prefixes: Some(encoding.prefixes(&page.prefixes)),
            continuation_token: input.continuation_token,
            delimiter: input.delimiter.as_deref().map(|text| encoding.text(text)),
            prefix: Some(encoding.text(query.prefix)),
            start_after: input.start_after.as_deref().map(|text| encoding.text(text)),
            encoding_type: input.encoding_type,
            name: Some(input.bucket),
            ..ListObjectsV2Output::default()
        })
    }
}
