//! A FIFO queue: per group, order, lock and deduplication survive.

use std::collections::{BTreeMap, HashSet};

use sqs_client::Client;
use sqs_client::types::{Message, QueueAttributeName};

use super::{Killed, Outcome, answered};

const URL: &str = "http://localhost/000000000000/jobs.fifo";
const GROUPS: [&str; 3] = ["a", "b", "c"];

/// What is known of the groups.
#[derive(Debug, Default)]
pub(super) struct Fifo {
    groups: BTreeMap<&'static str, Group>,
    /// Receipt handles of messages in flight, which lock their groups, with group and number.
    held: Vec<(&'static str, u64, String)>,
    received: u64,
}

#[derive(Debug, Default)]
struct Group {
    /// The number of the last send that was confirmed.
    sent: u64,
    /// The number of the last message that was received in order; a delete was requested or it is held.
    received: u64,
    /// The last number whose delete was confirmed. Later ones may come again.
    deleted: u64,
}

impl Fifo {
    pub(super) async fn create(&mut self, client: &Client) {
        let create =
            client.create_queue().queue_name("jobs.fifo").attributes(QueueAttributeName::FifoQueue, "true");
        create.attributes(QueueAttributeName::VisibilityTimeout, "43200").send().await.unwrap();
        self.groups = GROUPS.map(|group| (group, Group::default())).into();
    }

    /// Sends, receives and deletes until the server dies.
    pub(super) async fn work(&mut self, client: &Client) {
        let _killed = self.work_until_killed(client).await;
    }

    async fn work_until_killed(&mut self, client: &Client) -> Outcome<()> {
        self.receive(client).await?;
        for (group, number, handle) in std::mem::take(&mut self.held) {
            self.delete(client, group, number, &handle).await?;
        }
        loop {
            for group in GROUPS {
                self.send(client, group).await?;
            }
            if self.held.is_empty() {
                self.receive(client).await?;
            }
            // Every other time, the groups stay locked for a while.
            if self.groups["a"].sent.is_multiple_of(2) {
                for (group, number, handle) in std::mem::take(&mut self.held) {
                    self.delete(client, group, number, &handle).await?;
                }
            }
        }
    }

    /// Sends the next number. After a kill, it is the number with the unknown outcome again: at most one of both is
    /// stored.
    async fn send(&mut self, client: &Client, group: &'static str) -> Outcome<()> {
        let number = self.groups[group].sent + 1;
        let body = format!("{group}-{number}");
        let send =
            client.send_message().queue_url(URL).message_group_id(group).message_deduplication_id(&body);
        answered(send.message_body(&body).send().await)?;
        self.group(group).sent = number;
        Ok(())
    }

    /// Resolves all unknown outcomes, within the deduplication window.
    pub(super) async fn send_again(&mut self, client: &Client) {
        for group in GROUPS {
            self.send(client, group).await.unwrap_or_else(|Killed| panic!("nobody kills the server"));
        }
    }

    async fn receive(&mut self, client: &Client) -> Outcome<()> {
        let locked: HashSet<_> = self.held.iter().map(|(group, ..)| *group).collect();
        let receive = client.receive_message().queue_url(URL).max_number_of_messages(10).wait_time_seconds(0);
        for message in answered(receive.send().await)?.messages() {
            let (group, number) = self.check(message);
            assert!(!locked.contains(group), "group {group} is locked, and {number} was received");
            self.held.push((group, number, message.receipt_handle().unwrap().to_owned()));
        }
        Ok(())
    }

    fn check(&mut self, message: &Message) -> (&'static str, u64) {
        let (group, number) = message.body().unwrap().split_once('-').unwrap();
        let (group, number) =
            (*GROUPS.iter().find(|known| **known == group).unwrap(), number.parse().unwrap());
        let state = self.group(group);
        assert!(number > state.deleted, "{group} {number} was deleted and came back");
        assert!(number <= state.sent + 1, "{group} {number} was not sent");
        let again = number <= state.received;
        assert!(again || number == state.received + 1, "{group} {number} follows {}", state.received);
        state.received = number;
        self.received += 1;
        (group, number)
    }

    async fn delete(
        &mut self,
        client: &Client,
        group: &'static str,
        number: u64,
        handle: &str,
    ) -> Outcome<()> {
        let delete = client.delete_message().queue_url(URL).receipt_handle(handle);
        answered(delete.send().await)?;
        self.group(group).deleted = number;
        Ok(())
    }

    fn group(&mut self, group: &'static str) -> &mut Group {
        self.groups.entry(group).or_default()
    }

    /// Receives and deletes everything, and compares.
    pub(super) async fn drain(&mut self, client: &Client) {
        loop {
            self.held.clear();
            // All visibility timeouts have ended: messages whose delete is not confirmed may come again.
            self.receive(client).await.unwrap_or_else(|Killed| panic!("nobody kills the server"));
            if self.held.is_empty() {
                break;
            }
            for (group, number, handle) in std::mem::take(&mut self.held) {
                let deleted = self.delete(client, group, number, &handle).await;
                deleted.unwrap_or_else(|Killed| panic!("nobody kills the server"));
            }
        }
        for (name, group) in &mut self.groups {
            assert_eq!(group.received, group.sent, "group {name} has lost messages");
            group.deleted = group.received;
        }
    }

    pub(super) fn summary(&self) -> String {
        let sent: u64 = self.groups.values().map(|group| group.sent).sum();
        format!("{sent} jobs in order, received {} times", self.received)
    }
}
