//! Actions on the tags of topics.

use std::sync::Arc;

use super::Sns;
use super::shared::SharedTopic;
use crate::query::{Call, Output};
use crate::service::query_error::QueryError;
use crate::sns::engine::arn;
use crate::sns::engine::refusal::no_resource;
use crate::sns::engine::tags::Tags;

fn find(sns: &Sns, call: &Call<'_>) -> Result<Arc<SharedTopic>, QueryError> {
    let arn = arn::topic("ResourceArn", call.form.required("ResourceArn")?, call.region)?;
    sns.topics.get(&arn).map_err(|_| no_resource())
}

pub(super) fn add(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
    let topic = find(sns, call)?;
    let tags = Tags::read(&call.form.pairs("Tags.member", ["Key", "Value"]))?;
    topic.lock().tag(tags)?;
    Ok(Output::of(|_| {}))
}

pub(super) fn remove(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
    find(sns, call)?.lock().untag(&call.form.list("TagKeys"));
    Ok(Output::of(|_| {}))
}

pub(super) fn list(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
    let topic = find(sns, call)?;
    let tags = topic.lock().tags().clone();
    Ok(Output::of(|xml| {
        xml.list("Tags", tags.iter(), |member, (key, value)| {
            member.leaf("Key", key);
            member.leaf("Value", value);
        });
    }))
}
