//! S3 requests in the journal.

use crate::service::journal::{Journal, Record};
use crate::service::operation::ServiceName;
use crate::service::resource::Resource;

/// A request to S3 that was answered or aborted.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct S3Request {
    /// Counts from 1 in the order of the responses, over all services. A reset does not restart it.
    pub number: u64,
    /// The name that AWS uses, such as `GetObject`; empty if the request was rejected before the operation was known.
    pub operation: String,
    /// The bucket, if the request names one.
    pub bucket: Option<String>,
    /// The key, if the request names one.
    pub key: Option<String>,
    /// The status of the response; `None` if the connection broke or the caller disconnected.
    pub status: Option<u16>,
}

impl S3Request {
    /// The requests to S3 in a journal, oldest first.
    pub(super) fn all(journal: &Journal) -> Vec<Self> {
        let records = journal.records();
        records
            .iter()
            .filter(|record| record.service == ServiceName::S3)
            .map(|record| Self::of(record))
            .collect()
    }

    fn of(record: &Record) -> Self {
        let resource = record.resource.as_ref();
        Self {
            number: record.number,
            operation: record.operation.as_deref().unwrap_or_default().to_owned(),
            bucket: resource.and_then(Resource::bucket).map(str::to_owned),
            key: resource.and_then(Resource::key).map(str::to_owned),
            status: record.ending.status(),
        }
    }
}
