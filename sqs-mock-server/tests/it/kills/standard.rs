//! A standard queue: nothing that was confirmed is lost, and no confirmed delete comes back.

use std::collections::{HashMap, HashSet};

use sqs_client::Client;
use sqs_client::types::{Message, QueueAttributeName};

use super::{Killed, Outcome, answered};

const URL: &str = "http://localhost/000000000000/orders";

/// What is known of the messages.
#[derive(Debug, Default)]
pub(super) struct Standard {
    number: u64,
    /// Bodies of confirmed sends that no delete was requested for.
    present: HashSet<String>,
    /// Bodies that may or may not be in the queue.
    unknown: HashSet<String>,
    deleted: HashSet<String>,
    /// Messages in flight, with their receipt handles.
    held: HashMap<String, String>,
    drained: usize,
}

impl Standard {
    pub(super) async fn create(&mut self, client: &Client) {
        let create = client.create_queue().queue_name("orders");
        create.attributes(QueueAttributeName::VisibilityTimeout, "43200").send().await.unwrap();
    }

    /// Sends, receives and deletes until the server dies.
    pub(super) async fn work(&mut self, client: &Client) {
        // With handles of the killed server.
        let held = std::mem::take(&mut self.held);
        for (body, handle) in held {
            if self.delete(client, body, handle).await.is_err() {
                return;
            }
        }
        while self.step(client).await.is_ok() {}
    }

    async fn step(&mut self, client: &Client) -> Outcome<()> {
        for _ in 0..3 {
            self.send(client).await?;
        }
        let receive = client.receive_message().queue_url(URL).max_number_of_messages(4);
        for message in answered(receive.send().await)?.messages() {
            let (body, handle) = self.received(message);
            if self.number.is_multiple_of(2) {
                self.held.insert(body, handle);
            } else {
                self.delete(client, body, handle).await?;
            }
        }
        Ok(())
    }

    async fn send(&mut self, client: &Client) -> Outcome<()> {
        self.number += 1;
        let body = format!("order {}", self.number);
        self.unknown.insert(body.clone());
        answered(client.send_message().queue_url(URL).message_body(&body).send().await)?;
        self.unknown.remove(&body);
        self.present.insert(body);
        Ok(())
    }

    fn received(&self, message: &Message) -> (String, String) {
        let body = message.body().unwrap().to_owned();
        assert!(!self.deleted.contains(&body), "{body:?} was deleted and came back");
        assert!(self.present.contains(&body) || self.unknown.contains(&body), "{body:?} was not sent");
        assert!(!self.held.contains_key(&body), "{body:?} is in flight and was received again");
        (body, message.receipt_handle().unwrap().to_owned())
    }

    async fn delete(&mut self, client: &Client, body: String, handle: String) -> Outcome<()> {
        self.present.remove(&body);
        self.unknown.insert(body.clone());
        let delete = client.delete_message().queue_url(URL).receipt_handle(handle);
        answered(delete.send().await)?;
        self.unknown.remove(&body);
        self.deleted.insert(body);
        Ok(())
    }

    /// Receives and deletes everything, and compares.
    pub(super) async fn drain(&mut self, client: &Client) {
        self.held.clear();
        loop {
            let receive =
                client.receive_message().queue_url(URL).max_number_of_messages(10).wait_time_seconds(0);
            let received = receive.send().await.unwrap();
            if received.messages().is_empty() {
                break;
            }
            for message in received.messages() {
                let (body, handle) = self.received(message);
                self.delete(client, body, handle)
                    .await
                    .unwrap_or_else(|Killed| panic!("nobody kills the server"));
                self.drained += 1;
            }
        }
        assert!(self.present.is_empty(), "lost: {:?}", self.present);
        // What is still unknown was not stored, or was deleted.
        self.unknown.clear();
    }

    pub(super) fn summary(&self) -> String {
        format!(
            "{} orders, {} deleted, {} of them when drained",
            self.number,
            self.deleted.len(),
            self.drained
        )
    }

    pub(super) fn assert_busy(&self, kills: u32) {
        assert!(self.number > u64::from(kills), "only {} sends", self.number);
    }
}
