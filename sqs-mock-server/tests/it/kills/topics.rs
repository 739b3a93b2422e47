//! A FIFO topic with three FIFO queues: each publish is in all queues or in none, once and in order.

use sqs_client::Client;
use sqs_client::types::{DeleteMessageBatchRequestEntry, QueueAttributeName};

use super::{Killed, Outcome, answered};
use crate::sns::{RAW, form, queue_arn, topic_arn};
use crate::wire::{Answer, FORM, Wire};

const TOPIC: &str = "news.fifo";
const QUEUES: [&str; 3] = ["news-1.fifo", "news-2.fifo", "news-3.fifo"];
const GROUPS: [&str; 3] = ["a", "b", "c"];

/// What is known of the messages.
#[derive(Debug, Default)]
pub(super) struct Topics {
    /// The number of the latest message of each group.
    numbers: [u64; GROUPS.len()],
    /// The messages of the request whose outcome is unknown. It is repeated until it is confirmed.
    attempt: Vec<News>,
    /// Confirmed messages that are in the queues.
    present: Vec<News>,
    /// The latest sequence number.
    sequence: String,
    requests: u64,
    messages: usize,
    repeated: u64,
}

/// A message.
#[derive(Clone, Debug, Eq, PartialEq)]
struct News {
    group: &'static str,
    /// Also the deduplication id.
    body: String,
}

impl Topics {
    pub(super) async fn create(&mut self, client: &Client, endpoint: &str) {
        let mut wire = Wire::open(endpoint).await.unwrap();
        let attribute = [("Attributes.entry.1.key", "FifoTopic"), ("Attributes.entry.1.value", "true")];
        ask(&mut wire, "CreateTopic", &[&[("Name", TOPIC)][..], &attribute].concat()).await.unwrap();
        let topic = topic_arn(TOPIC);
        for name in QUEUES {
            let create = client.create_queue().queue_name(name);
            create.attributes(QueueAttributeName::FifoQueue, "true").send().await.unwrap();
            let queue = queue_arn(name);
            let subscription = [("TopicArn", &*topic), ("Protocol", "sqs"), ("Endpoint", &*queue)];
            let raw = [("Attributes.entry.1.key", RAW.0), ("Attributes.entry.1.value", RAW.1)];
            ask(&mut wire, "Subscribe", &[subscription.as_slice(), &raw].concat()).await.unwrap();
        }
    }

    /// Publishes until the server dies.
    pub(super) async fn work(&mut self, client: &Client, endpoint: &str) {
        let _killed = self.work_until_killed(client, endpoint).await;
    }

    async fn work_until_killed(&mut self, client: &Client, endpoint: &str) -> Outcome<()> {
        self.check_whole(client).await?;
        let mut wire = Wire::open(endpoint).await.map_err(|_| Killed)?;
        loop {
            if self.attempt.is_empty() {
                self.attempt = self.next();
            } else {
                self.repeated += 1;
            }
            self.publish(&mut wire).await?;
        }
    }

    /// Resolves the unknown outcome, within the deduplication window.
    pub(super) async fn publish_again(&mut self, client: &Client, endpoint: &str) {
        let again = async {
            self.check_whole(client).await?;
            let mut wire = Wire::open(endpoint).await.map_err(|_| Killed)?;
            if self.attempt.is_empty() { Ok(()) } else { self.publish(&mut wire).await }
        };
        again.await.unwrap_or_else(|Killed| panic!("nobody kills the server"));
    }

    /// Checks that all queues have the confirmed messages, and all or none of those with the unknown outcome.
    async fn check_whole(&self, client: &Client) -> Outcome<()> {
        let (confirmed, unknown) = (self.present.len(), self.attempt.len());
        let mut counts = Vec::new();
        for name in QUEUES {
            let attributes = client.get_queue_attributes().queue_url(url(name));
            let count = QueueAttributeName::ApproximateNumberOfMessages;
            let answer = answered(attributes.attribute_names(count.clone()).send().await)?;
            counts.push(answer.attributes.unwrap()[&count].parse::<usize>().unwrap());
        }
        let legal = [[confirmed; QUEUES.len()], [confirmed + unknown; QUEUES.len()]];
        assert!(legal.iter().any(|legal| *legal == *counts), "{counts:?} of {confirmed} + {unknown}");
        Ok(())
    }

    /// The messages of the next request: one, two of a group, or one of each group.
    fn next(&mut self) -> Vec<News> {
        self.requests += 1;
        let one = usize::try_from(self.requests / 3).unwrap() % GROUPS.len();
        let groups = match self.requests % 3 {
            0 => vec![one],
            1 => vec![one, one],
            _ => vec![0, 1, 2],
        };
        let news = |group: usize| {
            self.numbers[group] += 1;
            News { group: GROUPS[group], body: format!("{}-{}", GROUPS[group], self.numbers[group]) }
        };
        groups.into_iter().map(news).collect()
    }

    async fn publish(&mut self, wire: &mut Wire) -> Outcome<()> {
        let topic = topic_arn(TOPIC);
        let (action, entries) = match &*self.attempt {
            [news] => ("Publish", news.parameters("")),
            all => {
                let entries = (1..).zip(all);
                let entries = entries.flat_map(|(number, news)| {
                    let prefix = format!("PublishBatchRequestEntries.member.{number}.");
                    let id = (format!("{prefix}Id"), &*news.body);
                    news.parameters(&prefix).into_iter().chain([id])
                });
                ("PublishBatch", entries.collect())
            }
        };
        let entries = entries.iter().map(|(name, value)| (name.as_str(), *value));
        let parameters: Vec<_> = entries.chain([("TopicArn", &*topic)]).collect();
        let answer = ask(wire, action, &parameters).await?;
        for sequence in answer.values("SequenceNumber") {
            assert!(sequence > self.sequence, "{sequence} follows {}", self.sequence);
            self.sequence = sequence;
        }
        self.messages += self.attempt.len();
        self.present.append(&mut self.attempt);
        Ok(())
    }

    /// Receives and deletes everything, and compares.
    pub(super) async fn drain(&mut self, client: &Client) {
        for queue in QUEUES {
            let found = drain(client, &url(queue)).await;
            assert_eq!(found.len(), self.present.len(), "{queue}");
            for group in GROUPS {
                let of_group = |news: &&News| news.group == group;
                let expected = self.present.iter().filter(of_group).map(|news| &news.body);
                let received = found.iter().filter(|body| body.starts_with(group));
                assert!(received.eq(expected), "group {group} of {queue}");
            }
        }
        self.present.clear();
    }

    pub(super) fn summary(&self) -> String {
        let Self { requests, messages, repeated, .. } = self;
        format!("{messages} messages in {requests} publishes, {repeated} of them repeated")
    }

    pub(super) fn assert_busy(&self, kills: u32) {
        assert!(self.requests > u64::from(kills), "only {} publishes", self.requests);
    }
}

impl News {
    fn parameters(&self, prefix: &str) -> Vec<(String, &str)> {
        let Self { group, body } = self;
        let fields = [("Message", &**body), ("MessageGroupId", *group), ("MessageDeduplicationId", &**body)];
        fields.map(|(name, value)| (format!("{prefix}{name}"), value)).into()
    }
}

fn url(queue: &str) -> String {
    format!("http://localhost/000000000000/{queue}")
}

/// Calls an action of SNS that succeeds, or is cut off.
pub(super) async fn ask(wire: &mut Wire, action: &str, parameters: &[(&str, &str)]) -> Outcome<Answer> {
    let common = [("Action", action), ("Version", "2010-03-31")];
    let body = form(&[&common, parameters].concat());
    wire.request("POST /", FORM, body.as_bytes()).await.map_err(|_| Killed)?;
    let answer = wire.answer().await.ok_or(Killed)?;
    assert_eq!(answer.status, 200, "{action}: {}", answer.text());
    Ok(answer)
}

/// Receives and deletes everything from a queue. Returns the bodies in order.
async fn drain(client: &Client, url: &str) -> Vec<String> {
    let mut found = Vec::new();
    loop {
        let receive = client.receive_message().queue_url(url).max_number_of_messages(10).wait_time_seconds(0);
        let messages = receive.send().await.unwrap().messages.unwrap_or_default();
        if messages.is_empty() {
            return found;
        }
        let entries = messages.iter().map(|message| {
            let entry = DeleteMessageBatchRequestEntry::builder().id(message.message_id().unwrap());
            entry.receipt_handle(message.receipt_handle().unwrap()).build().unwrap()
        });
        let delete = client.delete_message_batch().queue_url(url).set_entries(Some(entries.collect()));
        assert!(delete.send().await.unwrap().failed().is_empty());
        found.extend(messages.into_iter().filter_map(|message| message.body));
    }
}
