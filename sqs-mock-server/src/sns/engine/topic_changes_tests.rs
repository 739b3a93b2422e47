//! A topic restored from its changes equals the original, after random operations.

use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use parking_lot::Mutex;
use strum::VariantArray as _;

use crate::control::arn::TopicArn;
use crate::control::clock::Timestamp;
use crate::control::seed::{Seed, uuid};
use crate::sns::engine::message::{Draft, Message};
use crate::sns::engine::settings::read_tags;
use crate::sns::engine::subscription::{Confirmation, Endpoint, Protocol, Subscription};
use crate::sns::engine::topic::{
    NewSubscription, Recorder, Topic, TopicChange, TopicNumber, TopicReader, TopicState, WaitingChange,
};

const ACCOUNT: &str = "000000000000";

const POLICY: &str =
    r#"{"Statement":[{"Effect":"Allow","Principal":"*","Action":["SNS:Publish"],"Resource":"*"}]}"#;

const FILTERS: [&str; 4] =
    ["", r#"{"a":["b"]}"#, r#"{"a":[{"numeric":[">",1]}],"c":[null]}"#, r#"{"a":{"b":["c"]}}"#];

/// Keeps all changes.
#[derive(Debug, Default)]
struct Changes(Mutex<Vec<TopicChange>>);

impl TopicReader for Changes {
    fn read(&self, _topic: TopicNumber, change: TopicChange) {
        self.0.lock().push(change);
    }

    fn read_waiting(&self, change: WaitingChange) {
        panic!("{change:?} is not of a topic");
    }
}

impl TopicState {
    /// Applies a change.
    fn apply(&mut self, change: TopicChange) {
        match change {
            TopicChange::Created(settings) => *self = Self::new(*settings),
            TopicChange::Set(settings) => self.settings = *settings,
            TopicChange::Deleted => panic!("a deleted topic has no state"),
            TopicChange::Subscribed(subscription) => {
                self.subscriptions.insert(subscription.arn.id.clone(), *subscription);
            }
            TopicChange::Unsubscribed { ids, deleted } => {
                self.subscriptions.retain(|id, _| !ids.contains(id));
                self.unsubscribed = deleted;
            }
            TopicChange::Published { known, forgotten } => {
                self.numbered = known.number;
                self.known.push(*known);
                self.known.retain(|known| known.number > forgotten);
            }
        }
    }
}

/// A topic under random operations.
pub(crate) struct RandomTopic {
    pub(crate) topic: Topic,
    changes: Arc<Changes>,
    /// What its changes yield.
    pub(crate) state: TopicState,
    now: Timestamp,
    random: Rng,
}

impl RandomTopic {
    /// A new topic, and the change that creates it.
    pub(crate) fn new(seed: u64, is_fifo: bool) -> (Self, TopicChange) {
        let (kind, attributes) =
            if is_fifo { (".fifo", &[("FifoTopic", "true")][..]) } else { ("", &[][..]) };
        let arn = TopicArn::new("us-east-1", ACCOUNT, &format!("t{seed}{kind}"));
        let tags = read_tags(&[("team", "kitchen")]).unwrap();
        let mut topic = Topic::new(arn, attributes, tags).unwrap();
        let changes = Arc::<Changes>::default();
        topic.record_changes(Recorder(Some((TopicNumber(1), changes.clone()))));
        let creation = changes.0.lock().remove(0);
        let TopicChange::Created(settings) = creation.clone() else { panic!("{creation:?}") };
        let (state, random) = (TopicState::new(*settings), Seed(seed).generator("topic"));
        let now = Timestamp::from_millis(1_800_000_000_000);
        (Self { topic, changes, state, now, random }, creation)
    }

    /// Does something. Errors are expected. Returns the changes, which were applied.
    pub(crate) fn step(&mut self) -> Vec<TopicChange> {
        match self.random.u8(..20) {
            0..3 => self.set(),
            3..5 => self.subscribe(),
            5..8 => self.set_of_subscription(),
            8 => self.unsubscribe(),
            9..11 => self.confirm(),
            11..18 => self.publish(),
            18 => {
                let most = if self.random.u8(..10) == 0 { 200_000 } else { 100 };
                self.now = self.now + Duration::from_secs(self.random.u64(..most));
                self.topic.forget_lapsed(self.now);
            }
            _ => {
                let changes = Recorder(Some((TopicNumber(1), self.changes.clone())));
                self.topic = Topic::restore(self.state.clone(), changes);
            }
        }
        let changes = std::mem::take(&mut *self.changes.0.lock());
        for change in &changes {
            self.state.apply(change.clone());
        }
        changes
    }

    fn set(&mut self) {
        let number = self.random.u8(..5).to_string();
        let kind = self.random.u8(..10);
        let _ = self.topic.set(|settings| match kind {
            0 => settings.set_attribute("DisplayName", &number),
            1 => settings.set_attribute("Policy", if number == "0" { "" } else { POLICY }),
            2 => settings.set_attribute("DeliveryPolicy", r#"{"http":{}}"#),
            3 => settings.set_attribute("SignatureVersion", &number),
            4 => settings.set_attribute("ContentBasedDeduplication", "true"),
            5 => settings.set_attribute("FifoThroughputScope", "MessageGroup"),
            6 => settings.add_permission(&number, &[ACCOUNT], &["Publish"]),
            7 => settings.remove_permission(&number),
            8 => settings.tag(read_tags(&[(&number, "value")]).unwrap()),
            _ => {
                settings.tags.remove(&number);
                Ok(())
            }
        });
    }

    fn subscribe(&mut self) {
        let number = self.random.u8(..4);
        let (protocol, endpoint) = match self.random.u8(..6) {
            0 => (Protocol::Http, format!("http://{number}")),
            1 => (Protocol::Lambda, number.to_string()),
            2 => (Protocol::Sqs, format!("arn:aws:sqs:us-east-1:{ACCOUNT}:q{number}")),
            3 => (Protocol::Sqs, format!("arn:aws:sqs:us-east-1:{ACCOUNT}:q{number}.fifo")),
            _ => (Protocol::Sqs, format!("arn:aws:sqs:us-east-1:111111111111:q{number}")),
        };
        let attributes = [("RawMessageDelivery", "true"), ("FilterPolicyScope", "MessageBody")];
        let new = NewSubscription {
            endpoint: Endpoint::read(protocol, &endpoint).unwrap(),
            owner: ACCOUNT,
            attributes: &attributes[..self.random.usize(..=2)],
            token: self.random.u64(..).to_string(),
            id: uuid(&mut self.random),
        };
        let _ = self.topic.subscribe(self.now, new);
    }

    /// A subscription, if there is one.
    fn any(&mut self) -> Option<Subscription> {
        let all: Vec<_> = self.topic.subscriptions().cloned().collect();
        self.random.choice(all)
    }

    fn set_of_subscription(&mut self) {
        let Some(subscription) = self.any() else { return };
        let dead = format!(r#"{{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:{ACCOUNT}:dead"}}"#);
        let attribute = match self.random.u8(..7) {
            0 => ("RawMessageDelivery", Some("true")),
            1 => ("FilterPolicyScope", Some("MessageBody")),
            2 => ("FilterPolicyScope", Some("MessageAttributes")),
            3 => ("RedrivePolicy", Some(&*dead)),
            4 => ("RedrivePolicy", None),
            5 => ("SubscriptionRoleArn", Some("role")),
            _ => ("FilterPolicy", Some(FILTERS[self.random.usize(..FILTERS.len())])),
        };
        let _ = self.topic.set_subscription_attribute(&subscription.arn.id, attribute);
    }

    fn unsubscribe(&mut self) {
        if let Some(subscription) = self.any() {
            self.topic
                .unsubscribe(self.now, &subscription.arn.id, Some(&*subscription.owner))
                .expect("the owner may");
        }
    }

    fn confirm(&mut self) {
        let token = self.any().and_then(|subscription| subscription.token().map(str::to_owned));
        if let Some(token) = token {
            let by = self.random.choice(Confirmation::VARIANTS).copied().unwrap();
            self.topic.confirm(self.now, &token, by).expect("the token is known");
        }
    }

    fn publish(&mut self) {
        let (group, id) = (self.random.u8(..3).to_string(), self.random.u8(..20).to_string());
        let deduplication_id = Some(&*id).filter(|_| self.topic.arn().is_fifo());
        let draft = Draft { text: "tea", group: Some(&group), deduplication_id, ..Draft::default() };
        let mut message = Message::new(draft).unwrap();
        self.topic.check(&message).expect("it fits the topic");
        self.topic.publish(self.now, uuid(&mut self.random), &mut message);
    }

    /// The states of the topic and from its changes. Those of the topic may lack deduplication ids that have expired.
    fn states(&self) -> [TopicState; 2] {
        [self.topic.state(), self.state.clone()].map(|mut state| {
            state.known.retain(|known| self.now < known.until);
            state
        })
    }
}

#[test]
fn topic_restored_from_its_changes_equals_the_original() {
    for seed in 0..200 {
        let (mut random, _) = RandomTopic::new(seed, seed % 2 == 0);
        for step in 0..200 {
            random.step();
            let [original, restored] = random.states();
            assert_eq!(original, restored, "seed {seed}, step {step}");
        }
    }
}

#[test]
fn plain_publish_to_a_standard_topic_is_no_change() {
    let (mut random, _) = RandomTopic::new(1, false);
    random.publish();
    assert_eq!(*random.changes.0.lock(), []);
}
