//! Verification that a test leaves no messages behind, and reports when a server is dropped.

use std::fmt;
use std::sync::Arc;

use crate::control::arn::QueueArn;
use crate::mock::MockSqs;
use crate::mock::queue::Messages;
use crate::sqs::engine::inspect::{PeekedMessage, Visibility};
use crate::sqs::findings::{Finding, FindingKind};
use crate::sqs::journal::Latest;
use crate::sqs::service::Service;

/// The number of requests in the report of a failing test.
const LAST_REQUESTS: usize = 10;

/// The messages that may be left in the queues of a server at the end of a test. By default none.
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
/// // The drop of the server panics: the message was not received.
/// # }
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[must_use]
pub struct Verification {
    allowed: Vec<LeftoverKind>,
    allowed_findings: Vec<FindingKind>,
    denied_findings: Vec<FindingKind>,
    ignored: Vec<String>,
}

/// The state of leftover messages.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum LeftoverKind {
    /// They were received but not deleted, and are still invisible.
    InFlight,
    /// They are in a dead-letter queue.
    DeadLetters,
    /// They are visible or delayed: not received, or visible again after a receive.
    Undelivered,
}

/// The leftover messages of one queue in one state.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Leftover {
    /// The queue.
    pub queue: QueueArn,
    /// The state of the messages.
    pub kind: LeftoverKind,
    /// The messages, oldest first.
    pub messages: Vec<PeekedMessage>,
}

/// All leftover messages, and the findings that are not allowed. `Display` and `Debug` show
/// a report.
#[derive(Clone)]
pub struct Leftovers {
    messages: Vec<Leftover>,
    findings: Vec<Arc<Finding>>,
    /// The number of findings that the server counted but did not keep.
    omitted: usize,
}

impl Verification {
    /// Allows messages that were received but not deleted.
    pub fn allow_in_flight(self) -> Self {
        self.allow(LeftoverKind::InFlight)
    }

    /// Allows messages in dead-letter queues.
    pub fn allow_dead_letters(self) -> Self {
        self.allow(LeftoverKind::DeadLetters)
    }

    /// Allows visible and delayed messages.
    pub fn allow_undelivered(self) -> Self {
        self.allow(LeftoverKind::Undelivered)
    }

    /// Allows findings of this kind in [strict mode](crate::mock::builder::MockSqsBuilder::strict).
    pub fn allow_finding(mut self, kind: FindingKind) -> Self {
        self.allowed_findings.push(kind);
        self
    }

    /// Fails on findings of this kind also outside of [strict mode](crate::mock::builder::MockSqsBuilder::strict), for example on
    /// [`FindingKind::OneMinuteRule`]. Kinds that only strict mode looks for need that, too.
    pub fn deny_finding(mut self, kind: FindingKind) -> Self {
        self.denied_findings.push(kind);
        self
    }

    /// Allows any messages in queues with this name, and any findings about them.
    pub fn ignore_queue(mut self, name: impl Into<String>) -> Self {
        self.ignored.push(name.into());
        self
    }

    fn allow(mut self, kind: LeftoverKind) -> Self {
        self.allowed.push(kind);
        self
    }

    /// Checks the queues of all accounts and regions.
    pub(crate) fn verify(&self, service: &Service) -> Result<(), Leftovers> {
        let queues = service.queues().into_iter().filter(|queue| !self.is_ignored(queue));
        let messages: Vec<_> = queues.flat_map(|queue| self.left_in(service, &queue)).collect();
        let (mut findings, omitted) = service.all_findings();
        let fails = |kind| {
            self.denied_findings.contains(&kind)
                || (service.is_strict()
                    && kind != FindingKind::OneMinuteRule
                    && !self.allowed_findings.contains(&kind))
        };
        findings.retain(|finding| fails(finding.kind) && !self.is_ignored(&finding.queue));
        // Those that were not kept may be about any queue.
        let omitted = omitted.into_iter().filter(|(kind, _)| fails(*kind)).map(|(_, count)| count).sum();
        if messages.is_empty() && findings.is_empty() && omitted == 0 {
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
    /// The leftover messages by queue and state.
    pub fn all(&self) -> &[Leftover] {
        &self.messages
    }

    /// The findings that are not allowed.
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
            writeln!(f, "mistakes that fail on AWS")?;
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

/// The same as `Display`, so that `unwrap` shows the report.
impl fmt::Debug for Leftovers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl std::error::Error for Leftovers {}

impl MockSqs {
    /// Checks for leftover messages in the queues of all accounts and regions. Applies the rules of
    /// [`verify_on_drop`](crate::mock::builder::MockSqsBuilder::verify_on_drop); without them, any message is an error. Each queue is
    /// read as by [`QueueView::messages`](crate::mock::queue::QueueView::messages).
    ///
    /// # Errors
    /// There are leftover messages, or findings that are not allowed. The error lists them by queue.
    pub fn verify(&self) -> Result<(), Leftovers> {
        self.verification.clone().unwrap_or_default().verify(&self.service)
    }
}

impl Drop for MockSqs {
    /// Shuts down first, since clients without a socket, triggers and web hooks share the endpoint, and move tasks share the queues: all
    /// would outlive the server.
    ///
    /// During a panic, this prints the seed and the latest requests. Otherwise it verifies leftover messages if
    /// `verify_on_drop` was set.
    fn drop(&mut self) {
        self.services.triggers.end();
        self.services.triggers.stop();
        self.services.sns.actions.hooks.clear();
        self.services.sqs.service().shut_down();
        if std::thread::panicking() {
            eprint!("{}", failure_report(self));
        } else if let Some(Err(leftovers)) =
            self.verification.as_ref().map(|rules| rules.verify(&self.service))
        {
            panic!("sqs-mock-server: {leftovers}");
        }
    }
}

/// The seed and the latest requests, for the output of a failing test.
fn failure_report(server: &MockSqs) -> String {
    let seed = server.service.seed();
    let hint = format!("sqs-mock-server: seed {seed}; repeat with MockSqs::builder().seed({seed})\n");
    let requests = server.requests();
    if requests.is_empty() {
        return hint;
    }
    format!("{hint}the latest requests:\n{}", Latest { requests: requests.all(), rows: LAST_REQUESTS })
}
