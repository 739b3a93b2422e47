//! Requests to SNS and STS in the journal.

use std::collections::BTreeMap;

use sqs_client::wire::service_error::ErrorCode;

use super::form::Form;
use crate::service::arn::TopicArn;
use crate::service::clock::Timestamp;
use crate::service::journal::{Journal, Record};
use crate::service::operation::ServiceName;
use crate::service::resource::Resource;

/// A recorded request to SNS or STS.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct QueryRequest {
    /// Counts from 1 in the order of the responses, over all services. A reset does not restart it.
    pub number: u64,
    /// The arrival, by the clock of the server.
    pub time: Timestamp,
    /// The name that AWS uses, such as `Publish`; empty if the service has no such action.
    pub action: String,
    /// The parameters without the signature, such as `Message`; empty if they were too long to be recorded.
    pub parameters: BTreeMap<String, String>,
    /// The topic that the request addresses.
    pub topic: Option<TopicArn>,
    /// The account of the caller; `None` if the request was rejected before the account was known.
    pub account: Option<String>,
    /// The region of the caller; `None` as with `account`.
    pub region: Option<String>,
    /// The status of the response; `None` if the connection broke or the caller disconnected.
    pub status: Option<u16>,
    /// The error code, if the request failed; `InjectedStatus` if a fault answered with a status.
    pub error: Option<String>,
    /// What happened apart from the response, such as messages that were not delivered.
    pub notes: Vec<String>,
}

impl QueryRequest {
    /// The requests to a service in a journal, oldest first.
    pub(crate) fn all(journal: &Journal, service: ServiceName) -> Vec<Self> {
        let records = journal.records();
        records.iter().filter(|record| record.service == service).map(|record| Self::of(record)).collect()
    }

    fn of(record: &Record) -> Self {
        let caller = record.caller.as_ref();
        let topic = match &record.resource {
            Some(Resource::Topic(topic)) => Some(topic.clone()),
            _ => None,
        };
        Self {
            number: record.number,
            time: record.time,
            action: record.operation.as_deref().unwrap_or_default().to_owned(),
            parameters: Form::parse(record.content()).unwrap_or_default().0,
            topic,
            account: caller.map(|caller| caller.account.to_string()),
            region: caller.map(|caller| caller.region.to_string()),
            status: record.ending.status(),
            error: record.ending.error_code().map(ErrorCode::shape).map(str::to_owned),
            notes: record.warnings.to_vec(),
        }
    }
}
