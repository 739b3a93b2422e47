//! Kills a server under load again and again. What it confirmed must survive.
//!
//! ```text
//! start --> clients work --> SIGKILL at a random moment --> start --> ..  every tenth time: drain, compare with the ledgers
//! ```
//! | Queue | What is checked |
//! |---|---|
//! | `orders` | confirmed messages are there once, confirmed deletes stay, receipt handles stay valid |
//! | `jobs.fifo` | the same, and order, group locks and deduplication |
//! | `news-1.fifo` to `news-3.fifo` | each publish to a FIFO topic is in all of them or in none; order and deduplication |
//! | a topic with a web hook | each confirmed message arrives at the hook at least once |
//! | `tasks.fifo` with a trigger | each confirmed message is handled at least once, each group in order |
//! | `retries`, `retries-dead` | each message is in exactly one of them, also while a move task runs |
//!
//! `SQS_MOCK_KILLS=2000 cargo test -p sqs-mock-server --test it kills` runs it longer.

mod fifo;
mod hooks;
mod moving;
mod standard;
mod topics;
mod triggers;

use std::time::Duration;

use fastrand::Rng;
use sqs_client::Client;
use sqs_client::config::retry::RetryConfig;
use sqs_client::config::{Config, Credentials, Region};
use sqs_client::error::ErrorKind;

use crate::command_line::{Running, binary};
use crate::wire::ask;
use fifo::Fifo;
use hooks::Hooks;
use moving::Moving;
use standard::Standard;
use topics::Topics;
use triggers::Triggers;

/// The number of kills.
const KILLS: &str = "SQS_MOCK_KILLS";
/// Kills between two comparisons.
const BETWEEN_DRAINS: u32 = 10;

/// The server was killed during the request, so its outcome is unknown.
#[derive(Debug)]
struct Killed;

type Outcome<T> = Result<T, Killed>;

/// An answer, or `Killed` if there was none. Other errors fail the test.
fn answered<T>(result: Result<T, sqs_client::Error>) -> Outcome<T> {
    result.map_err(|error| match error.kind() {
        ErrorKind::Transport | ErrorKind::Timeout | ErrorKind::Unreadable => Killed,
        _ => panic!("{error}"),
    })
}

pub(crate) fn client(endpoint: &str) -> Client {
    let config = Config::builder()
        .endpoint_url(endpoint)
        .region(Region::new("us-east-1"))
        .credentials_provider(Credentials::new("test", "test", None, None, "test"))
        .retry_config(RetryConfig::standard().with_max_attempts(1));
    Client::from_conf(config.build())
}

fn start(directory: &str, durability: &str, trigger: &str) -> (Running, String) {
    let data = ["--port", "0", "--data", directory, "--durability", durability, "--trigger", trigger];
    let mut server = Running::start(binary().args(data));
    let endpoint = server.endpoint();
    assert!(endpoint.starts_with("http://"), "the server starts again");
    (server, endpoint)
}

/// Ends all visibility timeouts.
fn pass_hours(endpoint: &str) {
    let body = r#"{"advance":"13h"}"#;
    let head = format!(
        "POST /_mock/clock HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {}",
        body.len()
    );
    let answer = ask(endpoint, &format!("{head}\r\n\r\n{body}"));
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn confirmed_changes_survive_kills() {
    let kills = std::env::var(KILLS).ok().and_then(|kills| kills.parse().ok()).unwrap_or(30);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_str().unwrap();
    let mut random = Rng::with_seed(17);
    let (mut standard, mut fifo, mut moving) = (Standard::default(), Fifo::default(), Moving::default());
    let (mut topics, mut hooks, mut triggers) =
        (Topics::default(), Hooks::start().await, Triggers::start().await);
    let trigger = triggers.flag();
    for kill in 1..=kills {
        let durability = if kill % 3 == 0 { "power" } else { "process" };
        let (mut server, endpoint) = start(path, durability, &trigger);
        let client = client(&endpoint);
        if kill == 1 {
            standard.create(&client).await;
            fifo.create(&client).await;
            moving.create(&client).await;
            topics.create(&client, &endpoint).await;
            hooks.create(&endpoint).await;
            triggers.create(&client).await;
        }
        if kill % BETWEEN_DRAINS == 0 {
            fifo.send_again(&client).await;
            topics.publish_again(&client, &endpoint).await;
            triggers.send_again(&client).await;
            pass_hours(&endpoint);
            standard.drain(&client).await;
            fifo.drain(&client).await;
            moving.drain(&client).await;
            topics.drain(&client).await;
            hooks.check().await;
            triggers.check().await;
        }
        let life = Duration::from_millis(random.u64(10..200));
        let death = async {
            tokio::time::sleep(life).await;
            server.child.kill().unwrap();
        };
        let (topics, hooks) = (topics.work(&client, &endpoint), hooks.work(&endpoint));
        let (moving, triggers) = (moving.work(&client), triggers.work(&client));
        tokio::join!(standard.work(&client), fifo.work(&client), moving, topics, hooks, triggers, death);
    }
    let summary = [
        standard.summary(),
        fifo.summary(),
        moving.summary(),
        topics.summary(),
        hooks.summary(),
        triggers.summary(),
    ];
    let summary = summary.join("; ");
    println!("{kills} kills: {summary}");
    standard.assert_busy(kills);
    topics.assert_busy(kills);
    hooks.assert_busy(kills);
    triggers.assert_busy(kills);
}
