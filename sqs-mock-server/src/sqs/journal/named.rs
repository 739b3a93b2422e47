//! The members of an input that name its queue.

use std::borrow::Cow;

use serde::Deserialize;
use sqs_client::wire::protocol::Form;

/// The members that name a queue.
#[derive(Deserialize)]
pub(super) struct Named<'a> {
    #[serde(borrow, rename = "QueueUrl")]
    pub(super) url: Option<Cow<'a, str>>,
    #[serde(borrow, rename = "QueueName")]
    pub(super) name: Option<Cow<'a, str>>,
    #[serde(borrow, rename = "SourceArn")]
    pub(super) source: Option<Cow<'a, str>>,
    #[serde(borrow, rename = "QueueOwnerAWSAccountId")]
    pub(super) owner: Option<Cow<'a, str>>,
}

impl Named<'static> {
    /// Reads a form. A path replaces a missing queue URL.
    pub(super) fn in_form(form: &Form<'_>, path: Option<&str>) -> Self {
        let get =
            |name: &str| form.get(name).filter(|text| !text.is_empty()).map(str::to_owned).map(Cow::Owned);
        let path = || path.map(str::to_owned).map(Cow::Owned);
        Self {
            url: get("QueueUrl").or_else(path),
            name: get("QueueName"),
            source: get("SourceArn"),
            owner: get("QueueOwnerAWSAccountId"),
        }
    }
}
