//! Topics in their tables.

use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;
use std::time::Duration;

use parking_lot::{Condvar, Mutex, MutexGuard};
use rusqlite::{Connection, Result, Row, params};

use crate::control::arn::TopicArn;
use crate::control::clock::{Clock, ClockSetting};
use crate::control::commits::Commits;
use crate::control::delivery::KeptDelivery;
use crate::control::seed::Uuid;
use crate::outgoing::log::OutgoingKind;
use crate::query::QueryError;
use crate::sns::engine::SubscriptionArn;
use crate::sns::engine::backlog::Group;
use crate::sns::engine::delivery_policy::{DeliveryPolicy, PolicyOf};
use crate::sns::engine::hooks::HookRequest;
use crate::sns::engine::settings::TopicSettings;
use crate::sns::engine::subscription::{Attributes, Endpoint, Protocol, State, Subscription};
use crate::sns::engine::topic::{
    Known, TopicChange, TopicNumber, TopicReader, TopicState, WaitingChange, WaitingDelivery,
};
use crate::sqs::locked_queue::{Change, ChangeReader};
use crate::store::Durability;
use crate::store::open::{
    arn, damaged_column, execute, from_json, integer, json, millis, parse_arn, time, unsigned,
};

/// Topics with new messages: how many they ever had, and the number of the last that is forgotten.
pub(crate) type PublishedCounts = HashMap<i64, (u64, u64)>;

/// Writes a change. Changes of deleted topics have no effect. [`finish`] writes the counts of messages.
pub(crate) fn apply_topics(
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
            let values = params![number, group, deduplication_id, id.into_bytes(), millis(*until), topic];
            execute(connection, insert, values)
        }
    }
}

/// Writes the counts of messages, once in a transaction.
pub(crate) fn finish(connection: &Connection, messages: &PublishedCounts) -> Result<()> {
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
        State::ConfirmedBy { token, by } => (by.into_str(), Some(token), None),
    };
    let (protocol, endpoint) = (endpoint.protocol().into_str(), endpoint.to_string());
    let attributes = json(&subscription.attributes.set)?;
    let values = params![arn.id, protocol, endpoint, owner, state, token, since, attributes, topic];
    execute(connection, insert, values)
}

/// All topics.
pub(crate) fn read_topics(connection: &Connection) -> Result<Vec<(TopicNumber, TopicState)>> {
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
    let missing = || damaged_column(0, format!("a {what} belongs to topic {}, which is not there", number.0));
    topics.get_mut(&number).ok_or_else(missing)
}

fn subscription(row: &Row<'_>, topic: &TopicArn) -> Result<Subscription> {
    let text = |column| row.get::<_, String>(column);
    let stored = text(5)?;
    let state = match (&*stored, stored.parse().ok(), row.get(6)?) {
        ("confirmed", _, None) => State::Confirmed,
        ("pending", _, Some(token)) => State::Pending { token, since: time(row, 7)? },
        (_, Some(by), Some(token)) => State::ConfirmedBy { token, by },
        _ => return Err(damaged_column(5, format!("a subscription has the state {stored:?}"))),
    };
    let arn = SubscriptionArn { topic: topic.clone(), id: text(1)?.into() };
    let mut set: BTreeMap<String, String> = from_json(row, 8)?.unwrap_or_default();
    let is_policy = |text: &String| {
        DeliveryPolicy::parse(text, PolicyOf::Subscription, &DeliveryPolicy::default()).is_ok()
    };
    if set.get("DeliveryPolicy").is_some_and(|text| !is_policy(text)) {
        // Earlier versions accepted every object.
        set.remove("DeliveryPolicy");
    }
    let set: Vec<_> = set.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let (protocol, endpoint, owner) = (text(2)?, text(3)?, text(4)?.into());
    let read = || {
        let endpoint = Endpoint::read(Protocol::find(&protocol)?, &endpoint)?;
        let attributes = Attributes::create(&endpoint, topic.is_fifo(), &set)?;
        Ok(Subscription { arn, endpoint, owner, state, attributes })
    };
    read().map_err(|error: QueryError| damaged_column(8, error.message))
}

fn known(row: &Row<'_>) -> Result<Known> {
    Ok(Known {
        number: unsigned(row, 1)?,
        key: (row.get(2)?, row.get(3)?),
        id: Uuid::from_bytes(row.get(4)?),
        until: time(row, 5)?,
    })
}

/// Writes a change.
pub(crate) fn apply_waiting(transaction: &Connection, change: &WaitingChange) -> Result<()> {
    match change {
        WaitingChange::Added(waiting) => add(transaction, waiting),
        WaitingChange::Ended(number) => {
            execute(transaction, "DELETE FROM waiting_delivery WHERE number = ?", [integer(*number)])
        }
        WaitingChange::RequestAdded(request) => add_request(transaction, request),
        WaitingChange::RequestEnded(number) => {
            execute(transaction, "DELETE FROM hook_request WHERE number = ?", [integer(*number)])
        }
        WaitingChange::Cleared => {
            execute(transaction, "DELETE FROM waiting_delivery", [])?;
            execute(transaction, "DELETE FROM hook_request", [])
        }
    }
}

fn add(transaction: &Connection, waiting: &WaitingDelivery) -> Result<()> {
    let insert = "INSERT OR REPLACE INTO waiting_delivery (number, subscription, message_group, queue, dead_letter_queue, \
                  service, source, source_account, sender, queue_group, deduplication_id, trace_header, keeps_size_limit, attributes, body) \
                  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    let WaitingDelivery { number, group, delivery, dead_letter_queue } = waiting;
    execute(
        transaction,
        insert,
        params![
            integer(*number),
            group.as_ref().map(|group| &*group.subscription),
            group.as_ref().map(|group| &*group.name),
            delivery.queue.to_string(),
            dead_letter_queue.as_ref().map(ToString::to_string),
            delivery.service,
            delivery.source_arn,
            delivery.source_account,
            delivery.sender,
            delivery.group,
            delivery.deduplication_id,
            delivery.trace_header,
            delivery.keeps_size_limit,
            delivery.attributes.as_ref().map(json).transpose()?,
            delivery.body,
        ],
    )
}

fn add_request(transaction: &Connection, request: &HookRequest) -> Result<()> {
    let insert = "INSERT OR REPLACE INTO hook_request (number, kind, topic, subscription, url, message_id, is_raw, body, \
                  dead_letter_queue, attributes, queue_group, trace_header) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    execute(
        transaction,
        insert,
        params![
            integer(request.number),
            request.kind.as_str(),
            request.topic.to_string(),
            request.subscription,
            request.url,
            request.message_id,
            request.is_raw,
            request.body,
            request.dead_letter_queue.as_ref().map(ToString::to_string),
            request.attributes.as_ref().map(json).transpose()?,
            request.group,
            request.trace_header,
        ],
    )
}

/// All requests to web hooks without an answer, in the order of their numbers.
pub(crate) fn read_requests(connection: &Connection) -> Result<Vec<HookRequest>> {
    let mut select = connection.prepare(
        "SELECT number, kind, topic, subscription, url, message_id, is_raw, body, dead_letter_queue, attributes, \
         queue_group, trace_header FROM hook_request ORDER BY number",
    )?;
    select.query_map([], hook_request)?.collect()
}

fn hook_request(row: &Row<'_>) -> Result<HookRequest> {
    let (kind, topic) = (row.get::<_, String>(1)?, row.get::<_, String>(2)?);
    Ok(HookRequest {
        number: unsigned(row, 0)?,
        kind: OutgoingKind::of(&kind)
            .ok_or_else(|| damaged_column(1, format!("{kind:?} is not a kind of requests")))?,
        topic: TopicArn::of(&topic).ok_or_else(|| damaged_column(2, format!("{topic:?} is not an ARN")))?,
        subscription: row.get(3)?,
        url: row.get(4)?,
        message_id: row.get(5)?,
        is_raw: row.get(6)?,
        // That of its subscription, which is known later.
        policy: DeliveryPolicy::default(),
        body: row.get(7)?,
        dead_letter_queue: arn(row, 8)?,
        attributes: from_json(row, 9)?,
        group: row.get(10)?,
        trace_header: row.get(11)?,
    })
}

/// All deliveries that wait, in the order of their numbers.
pub(crate) fn read_waiting(connection: &Connection) -> Result<Vec<WaitingDelivery>> {
    let mut select = connection.prepare(
        "SELECT number, subscription, message_group, queue, dead_letter_queue, service, source, source_account, sender, \
         queue_group, deduplication_id, trace_header, keeps_size_limit, attributes, body FROM waiting_delivery ORDER BY number",
    )?;
    select.query_map([], waiting)?.collect()
}

fn waiting(row: &Row<'_>) -> Result<WaitingDelivery> {
    let group = row.get::<_, Option<Box<str>>>(1)?.zip(row.get::<_, Option<Box<str>>>(2)?);
    let delivery = KeptDelivery {
        queue: parse_arn(&row.get::<_, String>(3)?, 3)?,
        service: row.get(5)?,
        source_arn: row.get(6)?,
        source_account: row.get(7)?,
        sender: row.get(8)?,
        group: row.get(9)?,
        deduplication_id: row.get(10)?,
        trace_header: row.get(11)?,
        keeps_size_limit: row.get(12)?,
        attributes: from_json(row, 13)?,
        body: row.get(14)?,
    };
    Ok(WaitingDelivery {
        number: unsigned(row, 0)?,
        group: group.map(|(subscription, name)| Group { subscription, name }),
        delivery,
        dead_letter_queue: arn(row, 4)?,
    })
}

/// The changes that wait for the writer. Bounded by the number of requests, since each waits for its changes, and by the
/// number of messages, since background work changes each of them a few times only.
#[derive(Debug)]
pub(crate) struct Inbox {
    waiting: Mutex<Waiting>,
    /// The writer waits here.
    arrived: Condvar,
    pub(crate) commits: Commits,
    pub(crate) clock: OnceLock<Clock>,
}

#[derive(Debug, Default)]
struct Waiting {
    changes: Vec<Recorded>,
    /// Number of changes so far.
    recorded: u64,
    clock: Option<ClockSetting>,
    closed: bool,
    /// The number of changes that the writer waits for.
    wanted: usize,
}

/// A change of one of the services.
#[derive(Debug)]
pub(crate) enum Recorded {
    Sqs(Change),
    Topic(TopicNumber, TopicChange),
    Waiting(WaitingChange),
}

/// Changes for one transaction.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) changes: Vec<Recorded>,
    /// Number of changes so far, these included.
    pub(crate) recorded: u64,
}

/// The maximum wait for further changes: a commit may have taken seconds, and its clients may have gone.
const MAX_WAIT: Duration = Duration::from_millis(10);

/// A commit that has succeeded.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Committed {
    /// The number of responses that waited at its end, for it or for the next one.
    pub(crate) waiting: usize,
    pub(crate) duration: Duration,
}

impl Inbox {
    pub(crate) fn new(clock: Option<ClockSetting>, durability: Durability) -> Self {
        Self {
            waiting: Mutex::new(Waiting { clock, ..Waiting::default() }),
            arrived: Condvar::new(),
            commits: Commits::new(durability.as_str()),
            clock: OnceLock::new(),
        }
    }

    /// Waits for changes. `None` after the last.
    ///
    /// Clients often send again when they have their responses. So after the first change, this waits until there are as
    /// many changes as responses waited at the end of the last commit, but at most as long as that commit took: commits
    /// become fewer and larger, and a single client does not wait.
    pub(crate) fn next(&self, last: Committed) -> Option<Batch> {
        {
            let mut waiting = self.waiting.lock();
            self.wait(&mut waiting, 1, None);
            if waiting.changes.is_empty() {
                return None;
            }
            self.wait(&mut waiting, last.waiting, Some(last.duration.min(MAX_WAIT)));
        }
        let _between = self.commits.between();
        let mut waiting = self.waiting.lock();
        Some(Batch { changes: std::mem::take(&mut waiting.changes), recorded: waiting.recorded })
    }

    /// Waits for this number of changes, or until the inbox is closed or the time is over.
    fn wait(&self, waiting: &mut MutexGuard<'_, Waiting>, wanted: usize, at_most: Option<Duration>) {
        waiting.wanted = wanted;
        let is_missing = |waiting: &mut Waiting| waiting.changes.len() < wanted && !waiting.closed;
        match at_most {
            Some(time) => drop(self.arrived.wait_while_for(waiting, is_missing, time)),
            None => self.arrived.wait_while(waiting, is_missing),
        }
    }

    /// Waits until the inbox is closed, at most this long. Returns whether it is.
    pub(crate) fn closed_within(&self, time: Duration) -> bool {
        let mut waiting = self.waiting.lock();
        self.arrived.wait_while_for(&mut waiting, |waiting| !waiting.closed, time);
        waiting.closed
    }

    /// Ends the writer after the changes so far. Later changes fail.
    pub(crate) fn close(&self) {
        self.note_clock();
        let _between = self.commits.between();
        self.waiting.lock().closed = true;
        self.arrived.notify_one();
    }

    fn add(&self, waiting: &mut Waiting, change: Recorded) {
        let recorded = self.commits.record();
        if waiting.closed {
            // The writer must not count it among those that it stores.
            self.commits.end("the data directory is closed");
            return;
        }
        waiting.recorded = recorded;
        waiting.changes.push(change);
        if waiting.changes.len() == waiting.wanted {
            self.arrived.notify_one();
        }
    }
}

impl ChangeReader for Inbox {
    fn read(&self, change: Change) {
        self.add(&mut self.waiting.lock(), Recorded::Sqs(change));
    }

    fn note_clock(&self) {
        let Some(clock) = self.clock.get() else { return };
        let mut waiting = self.waiting.lock();
        // Under the lock, so that a later setting is noted later.
        let setting = clock.setting();
        if waiting.clock != Some(setting) {
            waiting.clock = Some(setting);
            self.add(&mut waiting, Recorded::Sqs(Change::ClockSet(setting)));
        }
    }

    fn commits(&self) -> Option<&Commits> {
        Some(&self.commits)
    }
}

impl TopicReader for Inbox {
    fn read(&self, topic: TopicNumber, change: TopicChange) {
        self.add(&mut self.waiting.lock(), Recorded::Topic(topic, change));
    }

    fn read_waiting(&self, change: WaitingChange) {
        self.add(&mut self.waiting.lock(), Recorded::Waiting(change));
    }
}
