//! Actions on topics, their policies and tags. Policies are stored, not enforced.

use std::sync::Arc;

use super::Sns;
use super::topics::SharedTopic;
use crate::query::{Call, Output};
use crate::service::arn::TopicArn;
use crate::service::query_error::QueryError;
use crate::sns::engine::arn;
use crate::sns::engine::settings::read_tags;
use crate::sns::engine::topic::Topic;
use crate::sns::wire::page;

/// The parts of a tag.
const TAG: [&str; 2] = ["Key", "Value"];

/// The topic of the parameter `TopicArn`.
pub(super) fn find(sns: &Sns, call: &Call<'_>) -> Result<Arc<SharedTopic>, QueryError> {
    let text = call.form.required("TopicArn")?;
    sns.topics.get(&arn::topic("TopicArn", text, call.region)?)
}

pub(super) fn create(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
    let (place, name) = ((call.region, call.account), call.form.required("Name")?);
    let tags = call.form.pairs("Tags.member", TAG);
    let arn = sns.create_topic(place, name, &call.form.map("Attributes"), &tags)?;
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
        let tags = read_tags(tags)?;
        let known = match self.topics.get(&arn) {
            Ok(known) => Some(known),
            // Another request may create it meanwhile.
            Err(_) => self.topics.add(Topic::new(arn.clone(), attributes, tags.clone())?)?,
        };
        if let Some(known) = known {
            self.lock(&known).settings().check_same(attributes, &tags)?;
        }
        Ok(arn)
    }
}

pub(super) fn delete(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
    let text = call.form.required("TopicArn")?;
    sns.topics.remove(&arn::topic("TopicArn", text, call.region)?);
    Ok(Output::default())
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
    let attributes = sns.lock(&topic).shown();
    Ok(Output::of(|xml| xml.map("Attributes", attributes)))
}

pub(super) fn set_attribute(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
    let name = call.form.required("AttributeName")?;
    let value = call.form.get("AttributeValue").unwrap_or_default();
    sns.lock(&*find(sns, call)?).set(|settings| settings.set_attribute(name, value))?;
    Ok(Output::default())
}

pub(super) fn add_permission(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
    let label = call.form.required("Label")?;
    let (accounts, actions) = (call.form.list("AWSAccountId"), call.form.list("ActionName"));
    sns.lock(&*find(sns, call)?).set(|settings| settings.add_permission(label, &accounts, &actions))?;
    Ok(Output::default())
}

pub(super) fn remove_permission(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
    let label = call.form.required("Label")?;
    sns.lock(&*find(sns, call)?).set(|settings| settings.remove_permission(label))?;
    Ok(Output::default())
}

/// The topic of the parameter `ResourceArn`.
fn find_tagged(sns: &Sns, call: &Call<'_>) -> Result<Arc<SharedTopic>, QueryError> {
    let arn = arn::topic("ResourceArn", call.form.required("ResourceArn")?, call.region)?;
    sns.topics.get(&arn).map_err(|_| QueryError::new(404, "ResourceNotFound", "Resource does not exist"))
}

pub(super) fn tag(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
    let topic = find_tagged(sns, call)?;
    let tags = read_tags(&call.form.pairs("Tags.member", TAG))?;
    sns.lock(&topic).set(|settings| settings.tag(tags))?;
    Ok(Output::of(|_| {}))
}

pub(super) fn untag(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
    let keys = call.form.list("TagKeys");
    sns.lock(&*find_tagged(sns, call)?).set(|settings| {
        settings.tags.retain(|key, _| !keys.contains(&key.as_str()));
        Ok(())
    })?;
    Ok(Output::of(|_| {}))
}

pub(super) fn tags(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
    let topic = find_tagged(sns, call)?;
    let tags = sns.lock(&topic).settings().tags.clone();
    Ok(Output::of(|xml| {
        xml.list("Tags", &tags, |member, (key, value)| {
            member.leaf("Key", key);
            member.leaf("Value", value);
        });
    }))
}
