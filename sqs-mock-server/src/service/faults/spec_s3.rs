//! What the JSON of a fault of S3 can say.

use s3s::S3ErrorCode;
use serde::{Deserialize, Serialize};
use sqs_client::operation::Action;
use sqs_client::wire::service_error::ErrorCode;

use super::Fault;
use super::spec::{EffectName, Spec};
use crate::s3::S3Action;

/// What a fault strikes.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ServiceName {
    Sqs,
    S3,
}

impl Spec {
    /// Whether anything says that requests to S3 are meant.
    pub(super) fn is_of_s3(&self) -> bool {
        if let Some(service) = self.service {
            return service == ServiceName::S3;
        }
        let is_of_s3 = |name: &String| S3Action::from_name(name).is_some();
        let names_s3 = self.bucket.is_some() || self.key_prefix.is_some();
        names_s3 || self.effect == EffectName::Pace || self.actions.iter().any(is_of_s3)
    }

    /// The fault with whom it strikes in S3.
    pub(super) fn with_s3(self, fault: Fault) -> Result<Fault, String> {
        self.refuse_what_is_of_sqs()?;
        let mut fault = fault.of_s3();
        for name in &self.actions {
            let action = S3Action::from_name(name).ok_or_else(|| unknown(name))?;
            fault = fault.on_s3(action);
        }
        if let Some(bucket) = self.bucket {
            fault = fault.bucket(bucket);
        }
        if let Some(start) = self.key_prefix {
            fault = fault.key_prefix(start);
        }
        Ok(fault)
    }

    /// Who names SQS cannot mean S3.
    pub(super) fn refuse_what_does_not_belong_to_s3(&self) -> Result<(), String> {
        let of_sqs = self.service == Some(ServiceName::Sqs);
        let is_pace = self.effect == EffectName::Pace;
        let table = [
            ("bucket", self.bucket.is_some() && of_sqs, "a fault of SQS"),
            ("key_prefix", self.key_prefix.is_some() && of_sqs, "a fault of SQS"),
            ("bytes_per_second", self.bytes_per_second.is_some() && !is_pace, "this effect"),
        ];
        match table.iter().find(|(_, wrong, _)| *wrong) {
            Some((field, _, what)) => Err(format!("`{field}` does not belong to {what}")),
            None if of_sqs && is_pace => Err("this effect cannot strike SQS".to_owned()),
            None => Ok(()),
        }
    }

    /// Of names that buckets and keys can have.
    pub(super) fn refuse_what_is_too_long_for_s3(&self) -> Result<(), String> {
        let table = [("bucket", &self.bucket, 63), ("key_prefix", &self.key_prefix, 1 << 10)];
        let is_too_long = |text: &Option<String>, most| text.as_ref().is_some_and(|text| text.len() > most);
        match table.iter().find(|(_, text, most)| is_too_long(text, *most)) {
            Some((field, _, most)) => Err(format!("`{field}` must have at most {most} bytes")),
            None => Ok(()),
        }
    }

    /// No request to S3 has a queue or messages.
    fn refuse_what_is_of_sqs(&self) -> Result<(), String> {
        let table = [
            ("queue", self.queue.is_some()),
            ("group", self.group.is_some()),
            ("body_contains", self.body_contains.is_some()),
            ("entries", !self.entries.is_empty()),
            ("above", self.above.is_some()),
        ];
        if let Some((field, _)) = table.iter().find(|(_, given)| *given) {
            return Err(format!("`{field}` does not belong to a fault of S3"));
        }
        match self.effect {
            EffectName::FailEntries | EffectName::OmitEntries | EffectName::Redeliver => {
                Err("this effect cannot strike S3".to_owned())
            }
            _ => Ok(()),
        }
    }
}

/// A code of S3, whatever it may mean to SQS.
pub(super) fn code(code: &str) -> Result<ErrorCode, String> {
    match S3ErrorCode::from_bytes(code.as_bytes()) {
        Some(S3ErrorCode::Custom(_)) | None => Err(format!("`code`: {code:?} is no code of S3")),
        Some(_) => Ok(ErrorCode::Other(code.to_owned())),
    }
}

fn unknown(name: &str) -> String {
    if Action::from_name(name).is_some() {
        return format!("`actions`: {name} is of SQS, and something else here is of S3");
    }
    let known: Vec<_> = S3Action::ALL.iter().map(|action| action.name()).collect();
    format!("`actions`: S3 has no {name:?} here; there are {}", known.join(", "))
}
