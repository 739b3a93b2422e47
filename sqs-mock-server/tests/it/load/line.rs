//! One queue with its producers and consumers.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use sqs_client::Client;
use sqs_client::types::QueueAttributeName;
use sqs_mock_server::MockSqs;
use sqs_mock_server::clock::Clock;

use super::Plan;
use super::ledger::Ledger;

/// One queue, and the state that its producers and consumers share.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) client: Client,
    pub(super) clock: Clock,
    pub(super) name: &'static str,
    pub(super) url: String,
    pub(super) fifo: bool,
    pub(super) ledger: Ledger,
    pub(super) over: AtomicBool,
    pub(super) requests: AtomicU64,
}

impl Line {
    pub(super) async fn open(server: &MockSqs, client: &Client, name: &'static str, plan: Plan) -> Self {
        let fifo = name.ends_with(".fifo");
        let visibility = plan.visibility.as_secs().to_string();
        let mut create = client
            .create_queue()
            .queue_name(name)
            .attributes(QueueAttributeName::VisibilityTimeout, visibility);
        if fifo {
            create = create.attributes(QueueAttributeName::FifoQueue, "true");
        }
        let url = create.send().await.expect("no faults yet").queue_url.expect("a URL");
        Self {
            client: client.clone(),
            clock: server.clock().clone(),
            name,
            url,
            fifo,
            ledger: Ledger::new(name, fifo.then_some(plan.visibility), plan.producers * plan.lanes),
            over: AtomicBool::new(false),
            requests: AtomicU64::new(0),
        }
    }

    pub(super) fn request(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }
}
