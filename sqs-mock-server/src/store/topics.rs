//! Topics in their tables.

use std::collections::{BTreeMap, HashMap};

use rusqlite::{Connection, Result, Row, params};

use super::row::{damaged, execute, from_json, integer, json, millis, time, unsigned};
use crate::service::arn::TopicArn;
use crate::service::query_error::QueryError;
use crate::service::seed::Uuid;
use crate::sns::engine::arn::SubscriptionArn;
use crate::sns::engine::protocol::{Endpoint, Protocol};
use crate::sns::engine::subscription::{State, Subscription};
use crate::sns::engine::subscription_attributes::Attributes;
use crate::sns::engine::{Known, TopicChange, TopicNumber, TopicSettings, TopicState};

/// Topics with new messages: how many they ever had, and the number of the last that is forgotten.
pub(super) type PublishedCounts = HashMap<i64, (u64, u64)>;

/// Writes a change. Changes of deleted topics have no effect. [`finish`] writes the counts of messages.
pub(super) fn apply(
    connection: &Connection,
    topic: TopicNumber,
    change: &TopicChange,
    messages: &mut PublishedCounts,
) -> Result<()> {
    let topic = integer(topic.0);
    match change {
        TopicChange::Created(settings) => {
            let insert = "INSERT OR REPLACE INTO topic (number, region, account, name, attributes, tags, \
                          subscriptions_deleted, messages) VALUES (?, ?, ?, ?, ?, ?, 0, 0)";
            let TopicSettings { arn, attributes, tags } = &**settings;
            let (attributes, tags) = (json(attributes)?, json(tags)?);
            let values = params![topic, arn.region, arn.account, arn.name, attributes, tags];
            execute(connection, insert, values)
        }
        TopicChange::Set(settings) => {
            let TopicSettings { attributes, tags, .. } = &**settings;
            let update = "UPDATE topic SET attributes = ?, tags = ? WHERE number = ?";
            execute(connection, update, params![json(attributes)?, json(tags)?, topic])
        }
        TopicChange::Deleted => {
            execute(connection, "DELETE FROM topic WHERE number = ?", [topic])?;
            execute(connection, "DELETE FROM subscription WHERE topic = ?", [topic])?;
            execute(connection, "DELETE FROM topic_deduplication WHERE topic = ?", [topic])
        }
        TopicChange::Subscribed(subscription) => subscribe(connection, topic, subscription),
        TopicChange::Unsubscribed { ids, deleted } => {
            for id in ids {
                let delete = "DELETE FROM subscription WHERE topic = ? AND id = ?";
                execute(connection, delete, params![topic, id])?;
            }
            let update = "UPDATE topic SET subscriptions_deleted = ? WHERE number = ?";
            execute(connection, update, params![integer(*deleted), topic])
        }
        TopicChange::Published { known, forgotten } => {
            let Known { number, key: (group, deduplication_id), id, until } = &**known;
            messages.insert(topic, (*number, *forgotten));
            let insert = "INSERT OR REPLACE INTO topic_deduplication (topic, number, message_group, \
                          deduplication_id, message_id, ends) \
                          SELECT number, ?, ?, ?, ?, ? FROM topic WHERE number = ?";
            let number = integer(*number);
            let values = params![number, group, deduplication_id, id.bytes(), millis(*until), topic];
            execute(connection, insert, values)
        }
    }
}

/// Writes the counts of messages, once in a transaction.
pub(super) fn finish(connection: &Connection, messages: &PublishedCounts) -> Result<()> {
    for (topic, (number, forgotten)) in messages {
        let update = "UPDATE topic SET messages = ? WHERE number = ?";
        execute(connection, update, [integer(*number), *topic])?;
        let delete = "DELETE FROM topic_deduplication WHERE topic = ? AND number <= ?";
        execute(connection, delete, [*topic, integer(*forgotten)])?;
    }
    Ok(())
}

fn subscribe(connection: &Connection, topic: i64, subscription: &Subscription) -> Result<()> {
    let insert = "INSERT OR REPLACE INTO subscription (topic, id, protocol, endpoint, owner, state, token, \
                  pending_since, attributes) SELECT number, ?, ?, ?, ?, ?, ?, ?, ? FROM topic WHERE number = ?";
    let Subscription { arn, endpoint, owner, .. } = subscription;
    let (state, token, since) = match &subscription.state {
        State::Confirmed => ("confirmed", None, None),
        State::Pending { token, since } => ("pending", Some(token), Some(millis(*since))),
        State::ConfirmedBy { token, is_signed: true } => ("confirmed by signed request", Some(token), None),
        State::ConfirmedBy { token, is_signed: false } => ("confirmed by token", Some(token), None),
    };
    let (protocol, endpoint) = (endpoint.protocol().as_str(), endpoint.to_string());
    let attributes = json(&subscription.attributes.set)?;
    let values = params![arn.id, protocol, endpoint, owner, state, token, since, attributes, topic];
    execute(connection, insert, values)
}

/// All topics.
pub(super) fn read(connection: &Connection) -> Result<Vec<(TopicNumber, TopicState)>> {
    let mut select = connection.prepare(
        "SELECT number, region, account, name, attributes, tags, subscriptions_deleted, messages FROM topic",
    )?;
    let mut topics = select.query_map([], topic)?.collect::<Result<BTreeMap<_, _>>>()?;
    let mut select = connection.prepare(
        "SELECT topic, id, protocol, endpoint, owner, state, token, pending_since, attributes FROM subscription",
    )?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let topic = owner(&mut topics, row, "subscription")?;
        let subscription = subscription(row, &topic.settings.arn)?;
        topic.subscriptions.insert(subscription.arn.id.clone(), subscription);
    }
    let mut select = connection.prepare(
        "SELECT topic, number, message_group, deduplication_id, message_id, ends FROM topic_deduplication \
         ORDER BY topic, number",
    )?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        owner(&mut topics, row, "deduplication id")?.known.push(known(row)?);
    }
    Ok(topics.into_iter().collect())
}

fn topic(row: &Row<'_>) -> Result<(TopicNumber, TopicState)> {
    let [region, account, name] = [1, 2, 3].map(|column| row.get::<_, String>(column));
    let mut state = TopicState::new(TopicSettings {
        arn: TopicArn::new(&region?, &account?, &name?),
        attributes: from_json(row, 4)?.unwrap_or_default(),
        tags: from_json(row, 5)?.unwrap_or_default(),
    });
    state.unsubscribed = unsigned(row, 6)?;
    state.numbered = unsigned(row, 7)?;
    Ok((TopicNumber(unsigned(row, 0)?), state))
}

/// The topic that the first column names.
fn owner<'a>(
    topics: &'a mut BTreeMap<TopicNumber, TopicState>,
    row: &Row<'_>,
    what: &str,
) -> Result<&'a mut TopicState> {
    let number = TopicNumber(unsigned(row, 0)?);
    let missing = || damaged(0, format!("a {what} belongs to topic {}, which is not there", number.0));
    topics.get_mut(&number).ok_or_else(missing)
}

fn subscription(row: &Row<'_>, topic: &TopicArn) -> Result<Subscription> {
    let text = |column| row.get::<_, String>(column);
    let state = match (&*text(5)?, row.get(6)?) {
        ("confirmed", None) => State::Confirmed,
        ("pending", Some(token)) => State::Pending { token, since: time(row, 7)? },
        ("confirmed by signed request", Some(token)) => State::ConfirmedBy { token, is_signed: true },
        ("confirmed by token", Some(token)) => State::ConfirmedBy { token, is_signed: false },
        (other, _) => return Err(damaged(5, format!("a subscription has the state {other:?}"))),
    };
    let arn = SubscriptionArn { topic: topic.clone(), id: text(1)?.into() };
    let set: BTreeMap<String, String> = from_json(row, 8)?.unwrap_or_default();
    let set: Vec<_> = set.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let (protocol, endpoint, owner) = (text(2)?, text(3)?, text(4)?.into());
    let read = || {
        let endpoint = Endpoint::read(Protocol::find(&protocol)?, &endpoint)?;
        let attributes = Attributes::create(&endpoint, topic.is_fifo(), &set)?;
        Ok(Subscription { arn, endpoint, owner, state, attributes })
    };
    read().map_err(|error: QueryError| damaged(8, error.message))
}

fn known(row: &Row<'_>) -> Result<Known> {
    Ok(Known {
        number: unsigned(row, 1)?,
        key: (row.get(2)?, row.get(3)?),
        id: Uuid::from_bytes(row.get(4)?),
        until: time(row, 5)?,
    })
}
