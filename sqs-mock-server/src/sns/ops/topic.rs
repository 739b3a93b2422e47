//! Actions on topics.

use std::sync::Arc;

use super::Sns;
use super::page::page;
use super::shared::SharedTopic;
use super::topics::Added;
use crate::query::{Call, Output};
use crate::service::query_error::QueryError;
use crate::sns::engine::arn;
use crate::sns::engine::tags::Tags;
use crate::sns::engine::topic::Topic;

/// The topic of the parameter `TopicArn`.
pub(super) fn find(sns: &Sns, call: &Call<'_>) -> Result<Arc<SharedTopic>, QueryError> {
    let text = call.form.required("TopicArn")?;
    sns.topics.get(&arn::topic("TopicArn", text, call.region)?)
}

pub(super) fn create(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
    let attributes = call.form.map("Attributes");
    let name = call.form.required("Name")?;
    let arn = arn::created(name, &attributes, (call.region, call.account))?;
    let tags = Tags::read(&call.form.pairs("Tags.member", ["Key", "Value"]))?;
    let known = sns.topics.get(&arn).ok();
    let known = match known {
        Some(known) => Some(known),
        None => match sns.topics.add(Topic::new(arn.clone(), &attributes, tags.clone())?)? {
            Added::New => None,
            // Another request has just created it.
            Added::Known(known) => Some(known),
        },
    };
    if let Some(known) = known {
        known.lock().check_same(&attributes, &tags)?;
    }
    Ok(Output::of(|xml| xml.leaf("TopicArn", &arn.to_string())))
}

pub(super) fn delete(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
    let text = call.form.required("TopicArn")?;
    sns.topics.remove(&arn::topic("TopicArn", text, call.region)?);
    Ok(Output::none())
}

pub(super) fn list(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
    let arns = sns.topics.of_account(call.region, call.account);
    let page = page(arns.into_iter(), |arn| arn.name.to_string(), call.form.get("NextToken"))?;
    Ok(Output::of(|xml| {
        xml.list("Topics", &page.items, |member, arn| member.leaf("TopicArn", &arn.to_string()));
        xml.optional("NextToken", page.token.as_deref());
    }))
}

pub(super) fn attributes(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
    let topic = find(sns, call)?;
    let attributes = topic.lock().shown();
    Ok(Output::of(|xml| xml.map("Attributes", attributes)))
}

pub(super) fn set_attribute(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
    let name = call.form.required("AttributeName")?;
    let value = call.form.get("AttributeValue").unwrap_or_default();
    find(sns, call)?.lock().set_attribute(name, value)?;
    Ok(Output::none())
}
