//! Processes that are killed while they send: each leaves at most one orphan, and no message loses its object.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use sqs_client::Client;
use sqs_client::config::retry::RetryConfig;
use sqs_client::operation::Action;
use sqs_extended::{ExtendedClient, S3Store};
use sqs_mock_server::faults::Fault;
use tokio::sync::Notify;

use super::backend::{Backend, PREFIX};
use super::rig::{BUCKET, PART, bytes, client};
use crate::rig::large;

const CHILD: &str = "s3::killed::child_process_sends_until_it_is_killed";
const VARIABLE: &str = "SQS_EXTENDED_KILLED";

/// A child process that sends. It does not outlive the test.
struct Sender(Child);

impl Sender {
    fn start(backend: &Backend, what: &str) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args([CHILD, "--exact", "--ignored", "--nocapture", "--test-threads=1"]);
        command.envs(backend.server.environment()).env(VARIABLE, format!("{what} {}", backend.url));
        Self(command.stdout(Stdio::piped()).spawn().unwrap())
    }

    /// Waits until it prints `text`.
    async fn wait_for(&mut self, text: &'static str) {
        let output = self.0.stdout.take().unwrap();
        let lines = move || BufReader::new(output).lines().any(|line| line.unwrap().contains(text));
        assert!(tokio::task::spawn_blocking(lines).await.unwrap(), "the process ended before {text:?}");
    }

    /// Kills it with SIGKILL, so that no destructor runs.
    fn kill(mut self) {
        assert!(self.0.try_wait().unwrap().is_none(), "the process ended before it was killed");
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Delays all sends for a day and notifies of the first one. Its object exists by then.
fn hold_sends(backend: &Backend) -> Arc<Notify> {
    let came = Arc::new(Notify::new());
    let notify = Arc::clone(&came);
    let hold = Fault::latency(Duration::from_secs(86_400)).on(Action::SendMessage);
    backend.server.faults().inject(hold.when(move |_| {
        notify.notify_one();
        true
    }));
    came
}

/// Checks that the killed process left one object and no message, and that new messages keep their objects.
async fn check(backend: &Backend) {
    assert_eq!(backend.server.queue("q").bodies(), [""; 0], "the killed process sent its message");
    let left = backend.objects();
    assert_eq!((left.len(), backend.uploads().len()), (1, 0));
    backend.server.faults().clear();
    let client = backend.client(RetryConfig::disabled());
    client.send_message().queue_url(&backend.url).message_body(large("alive")).send().await.unwrap();
    client.send_stream(&backend.url, bytes(PART + 9)).send().await.unwrap();
    assert_eq!(backend.live().len(), 2);
    assert_eq!(backend.objects(), &backend.live() | &left);

    let received = client.receive_message().queue_url(&backend.url).max_number_of_messages(10);
    let received = received.send().await.unwrap().messages.unwrap();
    let mut bodies: Vec<_> = received.iter().map(|message| message.body().unwrap().as_bytes()).collect();
    bodies.sort_by_key(|body| body.len());
    assert!(bodies == [large("alive").as_bytes(), &bytes(PART + 9)]);
    for message in &received {
        client.queue(&backend.url).delete(message).send().await.unwrap();
    }
    client.finish_cleanup().await;
    assert_eq!(backend.objects(), left);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn process_killed_before_its_send_leaves_one_object_and_no_message() {
    for what in ["message", "stream"] {
        let backend = Backend::start().await;
        let came = hold_sends(&backend);
        let mut sender = Sender::start(&backend, what);
        tokio::select! {
            () = came.notified() => {}
            () = sender.wait_for("nothing of the kind") => {}
        }
        sender.kill();
        check(&backend).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
#[ignore = "the child process of the test above, which starts and kills it"]
async fn child_process_sends_until_it_is_killed() {
    let Ok(arguments) = std::env::var(VARIABLE) else { return };
    let (what, url) = arguments.split_once(' ').unwrap();
    let s3 = client(&std::env::var("AWS_ENDPOINT_URL_S3").unwrap());
    let store = S3Store::builder(s3, BUCKET).part_size(PART).parts_in_flight(1).build().unwrap();
    let client =
        ExtendedClient::builder(Client::from_env().unwrap(), store).key_prefix(PREFIX).build().unwrap();
    match what {
        "message" => drop(client.send_message().queue_url(url).message_body(large("")).send().await),
        _ => drop(client.send_stream(url, bytes(PART + 1)).send().await),
    }
}
