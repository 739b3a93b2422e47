//! Filters and expectations on recorded requests.

use std::fmt;
use std::ops::{RangeFrom, RangeInclusive, RangeToInclusive};

use sqs_client::operation::{Action, Input, Operation};

use super::RecordedRequest;
use crate::service::journal::Journal;
use crate::table::Table;

/// The maximum number of rows in the message of a failed expectation.
const ROWS: usize = 20;
/// The maximum number of characters of an input in such a row.
const CONTENT: usize = 80;

/// The recorded requests to SQS, in the order of their responses.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # use sqs_mock_server::MockSqs;
/// use sqs_client::operation::{Action, send_message::SendMessageInput};
///
/// let server = MockSqs::in_process();
/// let client = server.client();
/// let url = client.create_queue().queue_name("orders").send().await?.queue_url.unwrap();
/// for drink in ["tea", "milk"] {
///     client.send_message().queue_url(&url).message_body(drink).send().await?;
/// }
///
/// let sends = server.requests().of(Action::SendMessage).on("orders").expect(2);
/// let inputs: Vec<SendMessageInput> = sends.inputs();
/// assert_eq!(inputs[1].message_body(), Some("milk"));
/// server.requests().refused().expect(0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Requests {
    unfiltered: Vec<RecordedRequest>,
    matching: Vec<RecordedRequest>,
    filter: String,
}

impl Requests {
    /// The requests to SQS in a journal.
    pub(crate) fn of_sqs(journal: &Journal) -> Self {
        let all: Vec<_> = journal.records().iter().filter_map(RecordedRequest::of).collect();
        Self { matching: all.clone(), unfiltered: all, filter: String::new() }
    }

    /// Keeps requests for an action.
    pub fn of(self, action: Action) -> Self {
        self.narrow(action.as_str(), |request| request.action() == Some(action))
    }

    /// Keeps requests that address a queue, given by name, URL or ARN. A name matches queues in all accounts and
    /// regions, a URL in all regions.
    pub fn on(self, queue: &str) -> Self {
        self.narrow(&format!("on {queue}"), |request| request.is_on(queue))
    }

    /// Keeps requests that failed with an error.
    pub fn refused(self) -> Self {
        self.narrow("refused", |request| request.status().is_some_and(|status| status >= 400))
    }

    /// Keeps requests for which `accept` returns true.
    pub fn that(self, accept: impl Fn(&RecordedRequest) -> bool) -> Self {
        self.narrow("by a condition", accept)
    }

    /// The remaining requests, in the order of their responses.
    pub fn all(&self) -> &[RecordedRequest] {
        &self.matching
    }

    /// The number of remaining requests.
    pub fn len(&self) -> usize {
        self.matching.len()
    }

    /// Whether no request remains.
    pub fn is_empty(&self) -> bool {
        self.matching.is_empty()
    }

    /// The inputs of the remaining requests for one action. Omits requests that cannot be decoded.
    pub fn inputs<I: Input>(&self) -> Vec<I> {
        let action = <I::Operation as Operation>::ACTION;
        let of_action = self.matching.iter().filter(|request| request.action() == Some(action));
        of_action.filter_map(|request| request.input().ok()).collect()
    }

    /// Asserts the number of remaining requests: `3`, `1..`, `..=2` or `2..=4`.
    ///
    /// # Panics
    /// The number differs. The message shows the requests.
    #[track_caller]
    pub fn expect(self, times: impl Into<Times>) -> Self {
        let times = times.into();
        assert!(times.has(self.len()), "{}", self.unexpected(times));
        self
    }

    fn narrow(mut self, label: &str, accept: impl Fn(&RecordedRequest) -> bool) -> Self {
        self.matching.retain(|request| accept(request));
        if !self.filter.is_empty() {
            self.filter.push(' ');
        }
        self.filter.push_str(label);
        self
    }

    fn unexpected(&self, times: Times) -> String {
        let filter = if self.filter.is_empty() { "of any kind" } else { &self.filter };
        let mut text = format!("expected {times} {filter}, seen {}", self.len());
        if self.is_empty() {
            text.push_str(" of these:\n");
            return text + &latest(&self.unfiltered).to_string();
        }
        text + ":\n" + &latest(&self.matching).to_string()
    }
}

/// Shows the remaining requests as a table.
impl fmt::Display for Requests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        latest(&self.matching).fmt(f)
    }
}

/// The latest requests, in the order of their responses.
fn latest(requests: &[RecordedRequest]) -> Latest<'_> {
    Latest { requests, rows: ROWS }
}

/// A table of the latest requests.
pub(crate) struct Latest<'r> {
    pub(crate) requests: &'r [RecordedRequest],
    pub(crate) rows: usize,
}

impl fmt::Display for Latest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.requests.is_empty() {
            return f.write_str("  (no requests)\n");
        }
        let earlier = self.requests.len().saturating_sub(self.rows);
        if earlier > 0 {
            writeln!(f, "  {earlier} earlier ones, then")?;
        }
        let head = ["no.", "time", "action", "queue", "answer", "input"];
        Table::new(head, self.requests.iter().skip(earlier).map(row), self.rows).fmt(f)
    }
}

fn row(request: &RecordedRequest) -> [String; 6] {
    [
        request.number().to_string(),
        request.time().to_string(),
        request.action_name().to_owned(),
        request.queue().map_or_else(|| "-".to_owned(), |queue| queue.name.into()),
        request.ending().to_string(),
        request.brief(CONTENT),
    ]
}

/// An expected number of requests: `3`, `1..`, `..=2` or `2..=4`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Times {
    least: usize,
    most: usize,
}

impl Times {
    fn has(self, count: usize) -> bool {
        (self.least..=self.most).contains(&count)
    }
}

impl From<usize> for Times {
    fn from(count: usize) -> Self {
        Self { least: count, most: count }
    }
}

impl From<RangeFrom<usize>> for Times {
    fn from(range: RangeFrom<usize>) -> Self {
        Self { least: range.start, most: usize::MAX }
    }
}

impl From<RangeToInclusive<usize>> for Times {
    fn from(range: RangeToInclusive<usize>) -> Self {
        Self { least: 0, most: range.end }
    }
}

impl From<RangeInclusive<usize>> for Times {
    fn from(range: RangeInclusive<usize>) -> Self {
        Self { least: *range.start(), most: *range.end() }
    }
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.least, self.most) {
            (1, 1) => f.write_str("1 request"),
            (least, most) if least == most => write!(f, "{least} requests"),
            (0, most) => write!(f, "at most {most} requests"),
            (least, usize::MAX) => write!(f, "at least {least} requests"),
            (least, most) => write!(f, "{least} to {most} requests"),
        }
    }
}
