//! Whether a test has left something behind.

use std::fmt;
use std::sync::Arc;

use super::messages::Messages;
use crate::service::arn::QueueArn;
use crate::sqs::engine::{PeekedMessage, Visibility};
use crate::sqs::findings::{Finding, FindingKind};
use crate::sqs::ops::Service;

/// What may be left in the queues of a server when a test is over. Nothing, unless it is allowed.
///
/// ```should_panic
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// use sqs_mock_server::{MockSqs, Verification};
///
/// let strict = Verification::default().allow_dead_letters().ignore_queue("audit");
/// let server = MockSqs::builder().verify_on_drop(strict).in_process().unwrap();
/// let client = server.client();
/// let url = client.create_queue().queue_name("orders").send().await.unwrap().queue_url.unwrap();
/// client.send_message().queue_url(&url).message_body("tea").send().await.unwrap();
/// // Here the server is dropped, and panics: nobody has received the tea.
/// # }
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[must_use]
pub struct Verification {
    allowed: Vec<LeftoverKind>,
    allowed_findings: Vec<FindingKind>,
    ignored: Vec<String>,
}

/// In what way messages are left.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum LeftoverKind {
    /// They were received and not deleted, and are hidden still.
    InFlight,
    /// They are in a queue that other queues send their dead letters to.
    DeadLetters,
    /// They are visible or delayed: nobody has received them, or whoever did gave them back.
    Undelivered,
}

/// Messages of one queue that are left in one way.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Leftover {
    /// The queue.
    pub queue: QueueArn,
    /// In what way they are left.
    pub kind: LeftoverKind,
    /// They themselves, from the oldest on.
    pub messages: Vec<PeekedMessage>,
}

/// All that a test has left behind, and what [strict mode](crate::MockSqsBuilder::strict) found. It shows as a report, also by
/// `unwrap`.
#[derive(Clone)]
pub struct Leftovers {
    messages: Vec<Leftover>,
    findings: Vec<Arc<Finding>>,
    /// Findings that strict mode only counted.
    omitted: usize,
}

impl Verification {
    /// Messages may be received and not deleted.
    pub fn allow_in_flight(self) -> Self {
        self.allow(LeftoverKind::InFlight)
    }

    /// Messages may be in dead-letter queues.
    pub fn allow_dead_letters(self) -> Self {
        self.allow(LeftoverKind::DeadLetters)
    }

    /// Messages may be visible or delayed.
    pub fn allow_undelivered(self) -> Self {
        self.allow(LeftoverKind::Undelivered)
    }

    /// [Strict mode](crate::MockSqsBuilder::strict) may find this.
    pub fn allow_finding(mut self, kind: FindingKind) -> Self {
        self.allowed_findings.push(kind);
        self
    }

    /// Queues of this name may have anything left, and findings of any kind.
    pub fn ignore_queue(mut self, name: impl Into<String>) -> Self {
        self.ignored.push(name.into());
        self
    }

    fn allow(mut self, kind: LeftoverKind) -> Self {
        self.allowed.push(kind);
        self
    }

    /// Looks into all queues of all accounts and regions.
    pub(super) fn verify(&self, service: &Service) -> Result<(), Leftovers> {
        let queues = service.queues().into_iter().filter(|queue| !self.is_ignored(queue));
        let messages: Vec<_> = queues.flat_map(|queue| self.left_in(service, &queue)).collect();
        let (mut findings, omitted) = service.all_findings().unwrap_or_default();
        findings.retain(|finding| {
            !self.allowed_findings.contains(&finding.kind) && !self.is_ignored(&finding.queue)
        });
        if messages.is_empty() && findings.is_empty() {
            return Ok(());
        }
        Err(Leftovers { messages, findings, omitted })
    }

    fn is_ignored(&self, queue: &QueueArn) -> bool {
        self.ignored.iter().any(|name| **name == *queue.name)
    }

    fn left_in(&self, service: &Service, queue: &QueueArn) -> Vec<Leftover> {
        let is_dead_letter_queue = !service.dead_letter_sources(queue).is_empty();
        let messages = service.peek(queue, 0, usize::MAX).unwrap_or_default();
        let mut left: Vec<Leftover> = Vec::new();
        for message in messages {
            let kind = LeftoverKind::of(&message, is_dead_letter_queue);
            match left.iter_mut().find(|left| left.kind == kind) {
                Some(left) => left.messages.push(message),
                None => left.push(Leftover { queue: queue.clone(), kind, messages: vec![message] }),
            }
        }
        left.retain(|left| !self.allowed.contains(&left.kind));
        left.sort_by_key(|left| left.kind);
        left
    }
}

impl LeftoverKind {
    fn of(message: &PeekedMessage, is_dead_letter_queue: bool) -> Self {
        match message.visibility {
            _ if is_dead_letter_queue || message.dead_letter_source.is_some() => Self::DeadLetters,
            Visibility::InFlightUntil(_) => Self::InFlight,
            _ => Self::Undelivered,
        }
    }
}

impl Leftovers {
    /// What is left, by queue and kind.
    pub fn all(&self) -> &[Leftover] {
        &self.messages
    }

    /// What strict mode found.
    pub fn findings(&self) -> &[Arc<Finding>] {
        &self.findings
    }
}

impl fmt::Display for LeftoverKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::InFlight => "received, but not deleted",
            Self::DeadLetters => "dead letters",
            Self::Undelivered => "not received",
        })
    }
}

impl fmt::Display for Leftovers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.messages.is_empty() {
            writeln!(f, "messages are left in the queues")?;
        }
        for Leftover { queue, kind, messages } in &self.messages {
            writeln!(f, "{queue}: {} {kind}", messages.len())?;
            Messages(messages).fmt(f)?;
        }
        if !self.findings.is_empty() {
            writeln!(f, "strict mode found mistakes")?;
        }
        for finding in &self.findings {
            writeln!(f, "{}: {finding}", finding.queue)?;
        }
        if self.omitted > 0 {
            writeln!(f, "and {} more findings", self.omitted)?;
        }
        Ok(())
    }
}

/// As it shows.
impl fmt::Debug for Leftovers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl std::error::Error for Leftovers {}
