//! Actions on topics, their policies and tags. Policies are stored, not enforced.

use std::sync::Arc;

use super::Sns;
use super::page::page;
use super::shared::SharedTopic;
use crate::query::{Call, Output};
use crate::service::arn::TopicArn;
use crate::service::query_error::QueryError;
use crate::sns::engine::arn;
use crate::sns::engine::refusal::no_resource;
use crate::sns::engine::tags::Tags;
use crate::sns::engine::topic::Topic;

/// The topic of the parameter `TopicArn`.
pub(super) fn find(sns: &Sns, call: &Call<'_>) -> Result<Arc<SharedTopic>, QueryError> {
    let text = call.form.required("TopicArn")?;
    sns.topics.get(&arn::topic("TopicArn", text, call.region)?)
}

pub(super) fn create(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
    let (attributes, tags) = (call.form.map("Attributes"), tags_of(call));
    let place = (call.region, call.account);
    let arn = sns.create_topic(place, call.form.required("Name")?, &attributes, &tags)?;
    Ok(Output::of(|xml| xml.leaf("TopicArn", &arn.to_string())))
}

impl Sns {
    /// Creates a topic in a region and an account, unless it exists with these attributes and tags.
    ///
    /// # Errors
    /// Those of `CreateTopic`.
    pub(crate) fn create_topic(
        &self,
        place: (&str, &str),
        name: &str,
        attributes: &[(&str, &str)],
        tags: &[(&str, &str)],
    ) -> Result<TopicArn, QueryError> {
        let arn = arn::created(name, attributes, place)?;
        let tags = Tags::read(tags)?;
        let known = match self.topics.get(&arn) {
            Ok(known) => Some(known),
            // Another request may create it meanwhile.
            Err(_) => self.topics.add(Topic::new(arn.clone(), attributes, tags.clone())?)?,
        };
        if let Some(known) = known {
            known.lock().check_same(attributes, &tags)?;
        }
        Ok(arn)
    }
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
    let attributes = topic.lock().shown(sns.clock.now());
    Ok(Output::of(|xml| xml.map("Attributes", attributes)))
}

pub(super) fn set_attribute(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
    let name = call.form.required("AttributeName")?;
    let value = call.form.get("AttributeValue").unwrap_or_default();
    find(sns, call)?.lock().set_attribute(name, value)?;
    Ok(Output::none())
}

pub(super) fn add_permission(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
    let label = call.form.required("Label")?;
    let (accounts, actions) = (call.form.list("AWSAccountId"), call.form.list("ActionName"));
    find(sns, call)?.lock().add_permission(label, &accounts, &actions)?;
    Ok(Output::none())
}

pub(super) fn remove_permission(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
    let label = call.form.required("Label")?;
    find(sns, call)?.lock().remove_permission(label)?;
    Ok(Output::none())
}

/// The topic of the parameter `ResourceArn`.
fn find_tagged(sns: &Sns, call: &Call<'_>) -> Result<Arc<SharedTopic>, QueryError> {
    let arn = arn::topic("ResourceArn", call.form.required("ResourceArn")?, call.region)?;
    sns.topics.get(&arn).map_err(|_| no_resource())
}

fn tags_of<'a>(call: &Call<'a>) -> Vec<(&'a str, &'a str)> {
    call.form.pairs("Tags.member", ["Key", "Value"])
}

pub(super) fn tag(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
    let topic = find_tagged(sns, call)?;
    topic.lock().tag(Tags::read(&tags_of(call))?)?;
    Ok(Output::of(|_| {}))
}

pub(super) fn untag(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
    find_tagged(sns, call)?.lock().untag(&call.form.list("TagKeys"));
    Ok(Output::of(|_| {}))
}

pub(super) fn tags(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
    let topic = find_tagged(sns, call)?;
    let tags = topic.lock().tags().clone();
    Ok(Output::of(|xml| {
        xml.list("Tags", tags.iter(), |member, (key, value)| {
            member.leaf("Key", key);
            member.leaf("Value", value);
        });
    }))
}
