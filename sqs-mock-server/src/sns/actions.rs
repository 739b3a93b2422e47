//! Actions on topics, their policies and tags. Policies are stored, not enforced.
//!
//! Messages in forms: `Message`, `MessageAttributes.entry.1.Name`, and the same below
//! `PublishBatchRequestEntries.member.1`. Lists in pages.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use sqs_client::primitives::Blob;
use sqs_client::types::MessageAttributeValue;

use crate::control::arn::TopicArn;
use crate::control::faults::Entry;
use crate::query::form::{Form, missing};
use crate::query::{Call, Output, QueryError};
use crate::sns::engine::message::Draft;
use crate::sns::engine::settings::read_tags;
use crate::sns::engine::subscription::{Confirmation, Endpoint, Protocol, State, Subscription};
use crate::sns::engine::topic::{NewSubscription, Topic};
use crate::sns::engine::{NotCreated, invalid, invalid_value, no_subscription};
use crate::sns::{SharedTopic, Sns, deliveries, engine};

/// The parts of a tag.
const TAG: [&str; 2] = ["Key", "Value"];

/// The topic of the parameter `TopicArn`.
fn find(sns: &Sns, call: &Call<'_>) -> Result<Arc<SharedTopic>, QueryError> {
    let text = call.form.required("TopicArn")?;
    sns.topics.get(&engine::topic("TopicArn", text, call.region)?)
}

/// The topic of the parameter `TopicArn`, which is created if topics are created on first use.
pub(crate) fn find_or_create(sns: &Sns, call: &Call<'_>) -> Result<Arc<SharedTopic>, QueryError> {
    let text = call.form.required("TopicArn")?;
    sns.get_or_create(&engine::topic("TopicArn", text, call.region)?)
}

pub(crate) fn create(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
    let (place, name) = ((call.region, call.account), call.form.required("Name")?);
    let tags = call.form.pairs("Tags.member", TAG);
    let arn = sns.create_topic(place, name, &call.form.map("Attributes"), &tags)?;
    Ok(Output::of(|xml| xml.leaf("TopicArn", &arn.to_string())))
}

impl Sns {
    /// A topic. If topics are created on first use, it is created with default attributes; a name that ends in `.fifo` makes a FIFO topic.
    ///
    /// # Errors
    /// `NotFound`, or those of `CreateTopic`.
    pub(crate) fn get_or_create(&self, arn: &TopicArn) -> Result<Arc<SharedTopic>, QueryError> {
        let found = self.topics.get(arn);
        if found.is_ok() || !self.auto_create {
            return found;
        }
        let fifo = [("FifoTopic", "true")];
        let attributes = if arn.is_fifo() { &fifo[..] } else { &[] };
        match self.create_topic((&arn.region, &arn.account), &arn.name, attributes, &[]) {
            // Another request may have created it meanwhile.
            Ok(_) | Err(NotCreated::Different(_)) => self.topics.get(arn),
            Err(NotCreated::Refused(error)) => Err(error),
        }
    }

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
    ) -> Result<TopicArn, NotCreated> {
        let arn = engine::created(name, attributes, place)?;
        let tags = read_tags(tags)?;
        let known = if let Ok(known) = self.topics.get(&arn) {
            Some(known)
        } else {
            // Another request may create it meanwhile.
            let topic = Topic::new(arn.clone(), attributes, tags.clone())?;
            self.topics.add(topic, self.queues.memory_share())?
        };
        if let Some(known) = known {
            self.lock(&known).settings().check_same(attributes, &tags)?;
        }
        self.changed();
        Ok(arn)
    }

    /// Subscribes an endpoint for the settings of the server. It needs no confirmation: nobody could follow the link.
    ///
    /// # Errors
    /// Those of `Subscribe`.
    pub(crate) fn subscribe_confirmed(
        &self,
        topic: &TopicArn,
        (endpoint, owner): (Endpoint, &str),
        attributes: &[(&str, &str)],
    ) -> Result<(), NotCreated> {
        let now = self.clock.now();
        let new = NewSubscription { endpoint, owner, attributes, token: self.new_token(), id: self.new_id() };
        let topic = self.topics.get(topic)?;
        let (mut topic, _whole) = self.lock_to_deliver(&topic)?;
        if let State::Pending { token, .. } = topic.subscribe(now, new)?.state {
            topic.confirm(now, &token, Confirmation::Signed);
        }
        self.changed();
        Ok(())
    }

    /// A new token for a subscription that needs confirmation.
    fn new_token(&self) -> String {
        let mut ids = self.ids.lock();
        let digit = |_| char::from_digit(ids.u32(..16), 16).unwrap_or('0');
        (0..TOKEN).map(digit).collect()
    }
}

pub(crate) fn delete(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
    let arn = engine::topic("TopicArn", call.form.required("TopicArn")?, call.region)?;
    let topic = sns.topics.get(&arn).ok();
    sns.topics.remove(&arn);
    if let Some(topic) = topic {
        // By id, since a topic with this name may exist again.
        let topic = sns.lock(&topic);
        let removed: BTreeSet<_> = topic.subscriptions().map(|one| &*one.arn.id).collect();
        sns.hooks.forget(|id| removed.contains(id));
    }
    Ok(Output::default())
}

pub(crate) fn list_topics(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
    let arns = sns.topics.of_account(call.region, call.account);
    let page = page(arns.into_iter(), |arn| arn.name.to_string(), call.form.get("NextToken"))?;
    Ok(Output::of(|xml| {
        xml.list("Topics", &page.items, |member, arn| member.leaf("TopicArn", &arn.to_string()));
        xml.optional("NextToken", page.token.as_deref());
    }))
}

pub(crate) fn topic_attributes(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
    let topic = find(sns, call)?;
    let attributes = sns.lock(&topic).shown();
    Ok(Output::of(|xml| xml.map("Attributes", attributes)))
}

pub(crate) fn set_topic_attribute(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
    let name = call.form.required("AttributeName")?;
    let value = call.form.get("AttributeValue").unwrap_or_default();
    sns.lock(&*find(sns, call)?).set(|settings| settings.set_attribute(name, value))?;
    Ok(Output::default())
}

pub(crate) fn add_permission(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
    let label = call.form.required("Label")?;
    let (accounts, actions) = (call.form.list("AWSAccountId"), call.form.list("ActionName"));
    sns.lock(&*find(sns, call)?).set(|settings| settings.add_permission(label, &accounts, &actions))?;
    Ok(Output::default())
}

pub(crate) fn remove_permission(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
    let label = call.form.required("Label")?;
    sns.lock(&*find(sns, call)?).set(|settings| settings.remove_permission(label))?;
    Ok(Output::default())
}

/// The topic of the parameter `ResourceArn`.
fn find_tagged(sns: &Sns, call: &Call<'_>) -> Result<Arc<SharedTopic>, QueryError> {
    let arn = engine::topic("ResourceArn", call.form.required("ResourceArn")?, call.region)?;
    sns.topics.get(&arn).map_err(|_| QueryError::new(404, "ResourceNotFound", "Resource does not exist"))
}

pub(crate) fn tag(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
    let topic = find_tagged(sns, call)?;
    let tags = read_tags(&call.form.pairs("Tags.member", TAG))?;
    sns.lock(&topic).set(|settings| settings.tag(tags))?;
    Ok(Output::of(|_| {}))
}

pub(crate) fn untag(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
    let keys = call.form.list("TagKeys");
    sns.lock(&*find_tagged(sns, call)?).set(|settings| {
        settings.tags.retain(|key, _| !keys.contains(&key.as_str()));
        Ok(())
    })?;
    Ok(Output::of(|_| {}))
}

pub(crate) fn tags(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
    let topic = find_tagged(sns, call)?;
    let tags = sns.lock(&topic).settings().tags.clone();
    Ok(Output::of(|xml| {
        xml.list("Tags", &tags, |member, (key, value)| {
            member.leaf("Key", key);
            member.leaf("Value", value);
        });
    }))
}

/// The length of a token in hex digits.
const TOKEN: usize = 288;

pub(crate) fn subscribe(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
    let form = call.form;
    let topic = find_or_create(sns, call)?;
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
    let (mut topic, _whole) = sns.lock_to_deliver(&topic)?;
    let subscription = topic.subscribe(now, new)?;
    let returns_arn = form.get("ReturnSubscriptionArn") == Some("true");
    let mut notes = Vec::new();
    if let State::Pending { token, .. } = &subscription.state {
        notes = deliveries::ask_to_confirm(sns, call.origin, (&topic, &subscription), token);
    }
    let arn = if subscription.is_confirmed() || returns_arn {
        subscription.arn.to_string()
    } else {
        "pending confirmation".to_owned()
    };
    Ok(Output { notes, ..Output::of(|xml| xml.leaf("SubscriptionArn", &arn)) })
}

pub(crate) fn confirm(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
    let text = call.form.required("TopicArn")?;
    let token = call.form.required("Token")?;
    // The token decides, not the name of the topic.
    engine::topic("Topic", text, call.region).map_err(|_| invalid("Topic"))?;
    let is_token = token.len() == TOKEN && token.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_token && call.is_signed {
        return Err(QueryError::new(400, "InvalidParameter", "Invalid token"));
    }
    let by = match call.form.get("AuthenticateOnUnsubscribe") {
        _ if !call.is_signed => Confirmation::Unsigned,
        Some(text) if text.eq_ignore_ascii_case("true") => Confirmation::Protecting,
        _ => Confirmation::Signed,
    };
    let topics = sns.topics.in_region(call.region);
    let confirmed = topics.iter().find_map(|topic| {
        let mut topic = sns.lock(topic);
        topic.confirm(sns.clock.now(), token, by).map(|confirmed| confirmed.arn.to_string())
    });
    let arn = confirmed.ok_or_else(|| invalid("Token"))?;
    Ok(Output::of(|xml| xml.leaf("SubscriptionArn", &arn)))
}

pub(crate) fn unsubscribe(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
    let arn = engine::subscription(call.form.required("SubscriptionArn")?, call.region)?;
    let Ok(topic) = sns.topics.get(&arn.topic) else { return Ok(Output::default()) };
    let (mut topic, _whole) = sns.lock_to_deliver(&topic)?;
    let caller = call.is_signed.then_some(call.account);
    let Some(ended) = topic.unsubscribe(sns.clock.now(), &arn.id, caller)? else {
        return Ok(Output::default());
    };
    sns.hooks.forget(|id| *id == *arn.id);
    let told = ended.token().filter(|_| ended.is_confirmed() && !ended.belongs_to(caller));
    let told = told.and_then(|token| deliveries::tell_of_end(sns, call.origin, (&topic, &ended), token));
    Ok(Output { notes: told.into_iter().collect(), ..Output::default() })
}

pub(crate) fn subscription_attributes(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
    let arn = engine::subscription(call.form.required("SubscriptionArn")?, call.region)?;
    let topic = sns.topics.get(&arn.topic).map_err(|_| no_subscription())?;
    let topic = sns.lock(&topic);
    let attributes = topic.subscription(&arn.id)?.shown(topic.settings().delivery_policy());
    Ok(Output::of(|xml| xml.map("Attributes", attributes)))
}

pub(crate) fn set_subscription_attribute(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
    let arn = engine::subscription(call.form.required("SubscriptionArn")?, call.region)?;
    let name = call.form.required("AttributeName")?;
    let value = call.form.get("AttributeValue");
    let topic = sns.topics.get(&arn.topic).map_err(|_| no_subscription())?;
    sns.lock(&topic).set_subscription_attribute(&arn.id, (name, value))?;
    Ok(Output::default())
}

pub(crate) fn list_subscriptions(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
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

pub(crate) fn list_by_topic(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
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
            member.leaf("Protocol", subscription.protocol().into_str());
            member.leaf(
                "SubscriptionArn",
                if subscription.is_confirmed() { &arn } else { "PendingConfirmation" },
            );
            member.leaf("Owner", &subscription.owner);
            member.leaf("Endpoint", &subscription.endpoint.shown());
        });
        xml.optional("NextToken", page.token.as_deref());
    }))
}

/// The number of items of a page.
const PAGE: usize = 100;

/// Where a form has a message. The default is the place of the only message.
#[derive(Clone, Debug, Default)]
pub(crate) struct Place {
    /// The prefix of its parameters.
    prefix: String,
    /// The same in error texts.
    path: String,
}

impl Place {
    /// The places of the entries of a batch.
    pub(crate) fn entries(form: &Form) -> Vec<Self> {
        let elements = form.elements("PublishBatchRequestEntries.member");
        let place = |element: String| {
            let number = element.rsplit('.').next().unwrap_or_default();
            Self {
                path: format!("publishBatchRequestEntries.{number}.member."),
                prefix: format!("{element}."),
            }
        };
        elements.into_iter().map(place).collect()
    }

    /// The message, for faults.
    pub(crate) fn entry<'f>(&self, index: usize, form: &'f Form) -> Entry<'f> {
        let get = |name| self.get(form, name);
        Entry {
            index,
            id: get("Id"),
            body: get("Message"),
            group: get("MessageGroupId"),
            deduplication_id: get("MessageDeduplicationId"),
            ..Entry::default()
        }
    }

    fn get<'f>(&self, form: &'f Form, name: &str) -> Option<&'f str> {
        // A single message has no prefix.
        if self.prefix.is_empty() { form.get(name) } else { form.get(&format!("{}{name}", self.prefix)) }
    }

    /// A member that must be present.
    ///
    /// # Errors
    /// `ValidationError`.
    pub(crate) fn required<'f>(&self, form: &'f Form, name: &str) -> Result<&'f str, QueryError> {
        self.get(form, name).ok_or_else(|| missing(&self.path, name))
    }

    /// The message.
    ///
    /// # Errors
    /// `ValidationError` for an absent member, `ParameterValueInvalid` for binary data that is not base64.
    pub(crate) fn draft<'f>(&self, form: &'f Form) -> Result<Draft<'f>, QueryError> {
        let get = |name| self.get(form, name);
        Ok(Draft {
            text: self.required(form, "Message")?,
            subject: get("Subject"),
            structure: get("MessageStructure"),
            attributes: self.attributes(form)?,
            group: get("MessageGroupId"),
            deduplication_id: get("MessageDeduplicationId"),
        })
    }

    fn attributes(&self, form: &Form) -> Result<HashMap<String, MessageAttributeValue>, QueryError> {
        let elements = form.elements(&format!("{}MessageAttributes.entry", self.prefix));
        let attribute = |element: &String| {
            let get = |name: &str| form.get(&format!("{element}.{name}"));
            let name = get("Name").unwrap_or_default();
            let path = format!("{}messageAttributes.{name}.member.", self.path);
            let builder = MessageAttributeValue::builder()
                .data_type(get("Value.DataType").ok_or_else(|| missing(&path, "DataType"))?)
                .set_string_value(get("Value.StringValue").map(str::to_owned))
                .set_binary_value(get("Value.BinaryValue").map(|text| binary(name, text)).transpose()?);
            let value = builder.build().map_err(|error| invalid_value(error.to_string()))?;
            Ok((name.to_owned(), value))
        };
        elements.iter().map(attribute).collect()
    }
}

fn binary(name: &str, text: &str) -> Result<Blob, QueryError> {
    let decoded = base64_simd::STANDARD.decode_to_vec(text);
    decoded.map(Blob::new).map_err(|_| {
        invalid_value(format!("The binary value of the message attribute '{name}' is not valid base64."))
    })
}

/// One page of a list.
pub(crate) struct Page<T> {
    pub(crate) items: Vec<T>,
    /// For the next page; `None` on the last.
    pub(crate) token: Option<String>,
}

/// The page that begins after a token. `items` are sorted by their keys; a token contains the last key of a page, so
/// that items which are added or removed meanwhile move no others.
///
/// # Errors
/// `InvalidParameter` for a token that no page has.
pub(crate) fn page<T>(
    items: impl Iterator<Item = T>,
    key_of: impl Fn(&T) -> String,
    token: Option<&str>,
) -> Result<Page<T>, QueryError> {
    let after = token.filter(|token| !token.is_empty()).map(decoded).transpose()?;
    let is_due = |item: &T| after.as_ref().is_none_or(|after| key_of(item) > *after);
    let mut due = items.filter(is_due);
    let items: Vec<_> = due.by_ref().take(PAGE).collect();
    let has_more = due.next().is_some();
    drop(due);
    let last = items.last().filter(|_| has_more);
    let token = last.map(|item| base64_simd::URL_SAFE_NO_PAD.encode_to_string(key_of(item)));
    Ok(Page { items, token })
}

fn decoded(token: &str) -> Result<String, QueryError> {
    let bytes = base64_simd::URL_SAFE_NO_PAD.decode_to_vec(token).ok();
    bytes.and_then(|bytes| String::from_utf8(bytes).ok()).ok_or_else(|| invalid("NextToken"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_have_100_items_and_the_last_has_no_token() {
        let names: Vec<_> = (0..250).map(|number| format!("{number:03}")).collect();
        let (mut found, mut sizes, mut token) = (Vec::new(), Vec::new(), None);
        loop {
            let page = page(names.iter(), |name| (*name).clone(), token.as_deref()).unwrap();
            sizes.push(page.items.len());
            found.extend(page.items.into_iter().cloned());
            token = page.token;
            if token.is_none() {
                break;
            }
        }
        assert_eq!((found, sizes), (names.clone(), vec![100, 100, 50]));
        assert!(page(names.iter(), |name| (*name).clone(), Some("!")).is_err());
    }
}
