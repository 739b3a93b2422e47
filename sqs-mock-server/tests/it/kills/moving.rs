//! Dead letters: each message is in exactly one of two queues, while messages move both ways.

use std::collections::{HashMap, HashSet};

use sqs_client::Client;
use sqs_client::types::QueueAttributeName;

use super::{Outcome, answered};

const URL: &str = "http://localhost/000000000000/retries";
const DEAD_URL: &str = "http://localhost/000000000000/retries-dead";
const DEAD_ARN: &str = "arn:aws:sqs:us-east-1:000000000000:retries-dead";

/// What is known of the messages.
#[derive(Debug, Default)]
pub(super) struct Moving {
    number: u64,
    present: HashSet<String>,
    unknown: HashSet<String>,
    tasks: u64,
    drained_dead: usize,
    drained: usize,
}

impl Moving {
    pub(super) async fn create(&mut self, client: &Client) {
        client.create_queue().queue_name("retries-dead").send().await.unwrap();
        let policy = format!(r#"{{"deadLetterTargetArn":"{DEAD_ARN}","maxReceiveCount":1}}"#);
        let create =
            client.create_queue().queue_name("retries").attributes(QueueAttributeName::RedrivePolicy, policy);
        create.attributes(QueueAttributeName::VisibilityTimeout, "0").send().await.unwrap();
    }

    /// Sends, receives without deleting, and moves dead letters back, until the server dies.
    pub(super) async fn work(&mut self, client: &Client) {
        while self.step(client).await.is_ok() {}
    }

    async fn step(&mut self, client: &Client) -> Outcome<()> {
        self.number += 1;
        let body = format!("retry {}", self.number);
        self.unknown.insert(body.clone());
        answered(client.send_message().queue_url(URL).message_body(&body).send().await)?;
        self.unknown.remove(&body);
        self.present.insert(body);
        let receive = client.receive_message().queue_url(URL).max_number_of_messages(10).wait_time_seconds(0);
        answered(receive.send().await)?;
        if self.number.is_multiple_of(8) {
            match client.start_message_move_task().source_arn(DEAD_ARN).send().await {
                // The latest task still runs.
                Err(error) if error.is_invalid_parameter_value() => {}
                started => {
                    answered(started)?;
                    self.tasks += 1;
                }
            }
        }
        Ok(())
    }

    /// Receives and deletes everything from both queues, and compares.
    pub(super) async fn drain(&mut self, client: &Client) {
        let mut times: HashMap<String, u32> = HashMap::new();
        self.drained_dead += drain(client, DEAD_URL, &mut times).await;
        self.drained += drain(client, URL, &mut times).await;
        // Receives of the queue have moved messages, and so has a task that was restored.
        self.drained_dead += drain(client, DEAD_URL, &mut times).await;
        for (body, times) in &times {
            assert_eq!(*times, 1, "{body:?} was in both queues");
            assert!(self.present.contains(body) || self.unknown.contains(body), "{body:?} was not sent");
        }
        let lost: Vec<_> = self.present.iter().filter(|body| !times.contains_key(*body)).collect();
        assert!(lost.is_empty(), "lost: {lost:?}");
        self.present.clear();
        self.unknown.clear();
    }

    pub(super) fn summary(&self) -> String {
        let Self { number, tasks, drained, drained_dead, .. } = self;
        format!(
            "{number} retries, {drained_dead} of {} drained as dead letters, {tasks} move tasks",
            drained + drained_dead
        )
    }
}

/// Receives and deletes everything from a queue, and counts the bodies.
async fn drain(client: &Client, url: &str, times: &mut HashMap<String, u32>) -> usize {
    let mut drained = 0;
    loop {
        let receive = client.receive_message().queue_url(url).max_number_of_messages(10).wait_time_seconds(0);
        let received = receive.send().await.unwrap();
        if received.messages().is_empty() {
            return drained;
        }
        for message in received.messages() {
            *times.entry(message.body().unwrap().to_owned()).or_default() += 1;
            let delete =
                client.delete_message().queue_url(url).receipt_handle(message.receipt_handle().unwrap());
            delete.send().await.unwrap();
            drained += 1;
        }
    }
}
