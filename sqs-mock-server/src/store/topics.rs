//! Topics in their tables.

mod read;

use std::collections::HashMap;

use rusqlite::{Connection, Params, Result, params};

use super::row::{execute, integer, json, millis};
use crate::sns::engine::subscription::{State, Subscription};
use crate::sns::engine::{Known, TopicChange, TopicNumber, TopicSettings};

pub(super) use read::read;

/// Writes changes of topics in one transaction.
pub(super) struct TopicWriter<'a> {
    transaction: &'a Connection,
    /// Topics with new messages: how many they had, and the number of the last that is forgotten.
    published: HashMap<i64, (u64, u64)>,
}

impl<'a> TopicWriter<'a> {
    pub(super) fn new(transaction: &'a Connection) -> Self {
        Self { transaction, published: HashMap::new() }
    }

    /// Writes a change. Changes of deleted topics have no effect.
    pub(super) fn apply(&mut self, topic: TopicNumber, change: &TopicChange) -> Result<()> {
        let topic = integer(topic.0);
        match change {
            TopicChange::Created(settings) => self.create(topic, settings),
            TopicChange::Set(settings) => {
                let TopicSettings { attributes, tags, .. } = &**settings;
                let update = "UPDATE topic SET attributes = ?, tags = ? WHERE number = ?";
                self.execute(update, params![json(attributes)?, json(tags)?, topic])
            }
            TopicChange::Deleted => {
                self.execute("DELETE FROM topic WHERE number = ?", [topic])?;
                self.execute("DELETE FROM subscription WHERE topic = ?", [topic])?;
                self.execute("DELETE FROM topic_deduplication WHERE topic = ?", [topic])
            }
            TopicChange::Subscribed(subscription) => self.subscribe(topic, subscription),
            TopicChange::Unsubscribed { ids, deleted } => {
                for id in ids {
                    let delete = "DELETE FROM subscription WHERE topic = ? AND id = ?";
                    self.execute(delete, params![topic, id])?;
                }
                let update = "UPDATE topic SET subscriptions_deleted = ? WHERE number = ?";
                self.execute(update, params![integer(*deleted), topic])
            }
            TopicChange::Published { known, forgotten } => self.publish(topic, known, *forgotten),
        }
    }

    /// Ends the transaction.
    pub(super) fn finish(&self) -> Result<()> {
        for (topic, (messages, forgotten)) in &self.published {
            let update = "UPDATE topic SET messages = ? WHERE number = ?";
            self.execute(update, params![integer(*messages), topic])?;
            let delete = "DELETE FROM topic_deduplication WHERE topic = ? AND number <= ?";
            self.execute(delete, params![topic, integer(*forgotten)])?;
        }
        Ok(())
    }

    fn create(&self, topic: i64, TopicSettings { arn, attributes, tags }: &TopicSettings) -> Result<()> {
        let insert = "INSERT OR REPLACE INTO topic (number, region, account, name, attributes, tags, \
                      subscriptions_deleted, messages) VALUES (?, ?, ?, ?, ?, ?, 0, 0)";
        let (attributes, tags) = (json(attributes)?, json(tags)?);
        self.execute(insert, params![topic, arn.region, arn.account, arn.name, attributes, tags])
    }

    fn subscribe(&self, topic: i64, subscription: &Subscription) -> Result<()> {
        let insert = "INSERT OR REPLACE INTO subscription (topic, id, protocol, endpoint, owner, state, token, \
                      pending_since, attributes) SELECT number, ?, ?, ?, ?, ?, ?, ?, ? FROM topic WHERE number = ?";
        let Subscription { arn, endpoint, owner, .. } = subscription;
        let (state, token, since) = match &subscription.state {
            State::Confirmed => ("confirmed", None, None),
            State::Pending { token, since } => ("pending", Some(token), Some(millis(*since))),
            State::ConfirmedBy { token, is_signed: true } => {
                ("confirmed by signed request", Some(token), None)
            }
            State::ConfirmedBy { token, is_signed: false } => ("confirmed by token", Some(token), None),
        };
        let (protocol, endpoint) = (endpoint.protocol().as_str(), endpoint.to_string());
        let attributes = json(&subscription.attributes.to_requested())?;
        self.execute(
            insert,
            params![arn.id, protocol, endpoint, owner, state, token, since, attributes, topic],
        )
    }

    fn publish(&mut self, topic: i64, known: &Known, forgotten: u64) -> Result<()> {
        self.published.insert(topic, (known.number, forgotten));
        let insert = "INSERT OR REPLACE INTO topic_deduplication (topic, number, message_group, deduplication_id, \
                      message_id, ends) SELECT number, ?, ?, ?, ?, ? FROM topic WHERE number = ?";
        let Known { number, key: (group, deduplication_id), id, until } = known;
        self.execute(
            insert,
            params![integer(*number), group, deduplication_id, id.bytes(), millis(*until), topic],
        )
    }

    fn execute(&self, statement: &str, parameters: impl Params) -> Result<()> {
        execute(self.transaction, statement, parameters)
    }
}
