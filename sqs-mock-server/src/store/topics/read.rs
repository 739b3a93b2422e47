//! Reads the tables of topics.

use std::collections::BTreeMap;

use rusqlite::{Connection, Result, Row};

use crate::service::arn::TopicArn;
use crate::service::seed::Uuid;
use crate::sns::engine::arn::SubscriptionArn;
use crate::sns::engine::protocol::{Endpoint, Protocol};
use crate::sns::engine::subscription::{State, Subscription};
use crate::sns::engine::{Known, TopicNumber, TopicSettings, TopicState};
use crate::store::row::{damaged, from_json, time, unsigned};

/// All topics.
pub(in crate::store) fn read(connection: &Connection) -> Result<Vec<(TopicNumber, TopicState)>> {
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
    let attributes = from_json(row, 8)?.unwrap_or_default();
    let (protocol, endpoint, owner) = (text(2)?, text(3)?, text(4)?.into());
    Protocol::find(&protocol)
        .and_then(|protocol| Endpoint::read(protocol, &endpoint))
        .and_then(|endpoint| Subscription::restore(arn, endpoint, owner, state, &attributes))
        .map_err(|error| damaged(8, error.message))
}

fn known(row: &Row<'_>) -> Result<Known> {
    Ok(Known {
        number: unsigned(row, 1)?,
        key: (row.get(2)?, row.get(3)?),
        id: Uuid::from_bytes(row.get(4)?),
        until: time(row, 5)?,
    })
}
