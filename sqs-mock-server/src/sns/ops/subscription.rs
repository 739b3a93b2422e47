//! Actions on subscriptions.

use super::Sns;
use super::deliver;
use super::topic::find;
use crate::query::{Call, Output};
use crate::service::arn::TopicArn;
use crate::service::query_error::QueryError;
use crate::sns::engine::arn;
use crate::sns::engine::protocol::{Endpoint, Protocol};
use crate::sns::engine::refusal::{invalid, no_subscription};
use crate::sns::engine::subscription::{State, Subscription};
use crate::sns::engine::topic::NewSubscription;
use crate::sns::wire::page;

/// The length of a token in hex digits.
const TOKEN: usize = 288;

pub(super) fn subscribe(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
    let form = call.form;
    let topic = find(sns, call)?;
    let protocol = Protocol::find(form.required("Protocol")?)?;
    let endpoint = Endpoint::read(protocol, form.get("Endpoint").unwrap_or_default())?;
    let new = NewSubscription {
        endpoint,
        owner: call.account,
        attributes: &form.map("Attributes"),
        token: sns.new_token(),
        id: sns.new_id(),
    };
    let now = sns.clock.now();
    let (mut topic, _whole) = sns.lock_to_deliver(&topic);
    let subscription = topic.subscribe(now, new)?;
    let returns_arn = form.get("ReturnSubscriptionArn") == Some("true");
    let mut notes = Vec::new();
    if let State::Pending { token, .. } = &subscription.state {
        notes = deliver::ask_to_confirm(sns, call.origin, (&topic, &subscription), token);
    }
    let arn = if subscription.is_confirmed() || returns_arn {
        subscription.arn.to_string()
    } else {
        "pending confirmation".to_owned()
    };
    Ok(Output { notes, ..Output::of(|xml| xml.leaf("SubscriptionArn", &arn)) })
}

pub(super) fn confirm(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
    let text = call.form.required("TopicArn")?;
    let token = call.form.required("Token")?;
    // The token decides, not the name of the topic.
    arn::topic("Topic", text, call.region).map_err(|_| invalid("Topic"))?;
    let is_token = token.len() == TOKEN && token.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_token && call.is_signed {
        return Err(QueryError::new(400, "InvalidParameter", "Invalid token"));
    }
    let topics = sns.topics.in_region(call.region);
    let confirmed = topics.iter().find_map(|topic| {
        let mut topic = sns.lock(topic);
        topic.confirm(token, call.is_signed).map(|confirmed| confirmed.arn.to_string())
    });
    let arn = confirmed.ok_or_else(|| invalid("Token"))?;
    Ok(Output::of(|xml| xml.leaf("SubscriptionArn", &arn)))
}

pub(super) fn unsubscribe(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
    let arn = arn::subscription(call.form.required("SubscriptionArn")?, call.region)?;
    if let Ok(topic) = sns.topics.get(&arn.topic) {
        sns.lock(&topic).unsubscribe(&arn.id);
    }
    Ok(Output::default())
}

pub(super) fn attributes(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
    let arn = arn::subscription(call.form.required("SubscriptionArn")?, call.region)?;
    let topic = sns.topics.get(&arn.topic).map_err(|_| no_subscription())?;
    let attributes = sns.lock(&topic).subscription(&arn.id)?.shown();
    Ok(Output::of(|xml| xml.map("Attributes", attributes)))
}

pub(super) fn set_attribute(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
    let arn = arn::subscription(call.form.required("SubscriptionArn")?, call.region)?;
    let name = call.form.required("AttributeName")?;
    let value = call.form.get("AttributeValue").unwrap_or_default();
    let topic = sns.topics.get(&arn.topic).map_err(|_| no_subscription())?;
    sns.lock(&topic).set_subscription_attribute(&arn.id, (name, value))?;
    Ok(Output::default())
}

pub(super) fn list(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
    let topics = sns.topics.in_region(call.region);
    let own = topics.iter().flat_map(|topic| {
        let topic = sns.lock(topic);
        let own = topic.subscriptions().filter(|subscription| *subscription.owner == *call.account);
        own.cloned().collect::<Vec<_>>()
    });
    let mut own: Vec<_> = own.collect();
    own.sort_by_cached_key(|subscription| subscription.arn.to_string());
    listed(own, call)
}

pub(super) fn list_by_topic(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
    let topic = find(sns, call)?;
    let all = sns.lock(&topic).subscriptions().cloned().collect();
    listed(all, call)
}

fn listed(sorted: Vec<Subscription>, call: &Call<'_>) -> Result<Output, QueryError> {
    let key_of = |subscription: &Subscription| subscription.arn.to_string();
    let page = page(sorted.into_iter(), key_of, call.form.get("NextToken"))?;
    Ok(Output::of(|xml| {
        xml.list("Subscriptions", &page.items, |member, subscription| {
            let arn = subscription.arn.to_string();
            member.leaf("TopicArn", &subscription.arn.topic.to_string());
            member.leaf("Protocol", subscription.protocol().as_str());
            member.leaf(
                "SubscriptionArn",
                if subscription.is_confirmed() { &arn } else { "PendingConfirmation" },
            );
            member.leaf("Owner", &subscription.owner);
            member.leaf("Endpoint", &subscription.endpoint.to_string());
        });
        xml.optional("NextToken", page.token.as_deref());
    }))
}

impl Sns {
    /// Subscribes an endpoint for the settings of the server. It needs no confirmation: nobody could follow the link.
    ///
    /// # Errors
    /// Those of `Subscribe`.
    pub(crate) fn subscribe_confirmed(
        &self,
        topic: &TopicArn,
        (endpoint, owner): (Endpoint, &str),
        attributes: &[(&str, &str)],
    ) -> Result<(), QueryError> {
        let now = self.clock.now();
        let new = NewSubscription { endpoint, owner, attributes, token: self.new_token(), id: self.new_id() };
        let topic = self.topics.get(topic)?;
        let (mut topic, _whole) = self.lock_to_deliver(&topic);
        if let State::Pending { token, .. } = topic.subscribe(now, new)?.state {
            topic.confirm(&token, true);
        }
        Ok(())
    }

    /// A new token for a subscription that needs confirmation.
    fn new_token(&self) -> String {
        let mut ids = self.ids.lock();
        let digit = |_| char::from_digit(ids.u32(..16), 16).unwrap_or('0');
        (0..TOKEN).map(digit).collect()
    }
}
