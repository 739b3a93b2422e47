//! The journal of SQS for tests: typed requests, filters and expectations.

use std::borrow::Cow;
use std::fmt;
use std::ops::{RangeFrom, RangeInclusive, RangeToInclusive};
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value};
use sqs_client::operation::{Action, Input, Operation};
use sqs_client::wire::protocol::{Form, Protocol};
use sqs_client::wire::service_error::ErrorCode;

use crate::config::file::Table;
use crate::control::arn::QueueArn;
use crate::control::clock::Timestamp;
use crate::control::journal::{Ending, Journal, Record};
use crate::control::operation::ServiceName;

/// Members that other columns show, or that are the same in all requests.
const LEFT_OUT: [&str; 4] = ["QueueUrl", "QueueName", "Action", "Version"];

/// A recorded request to SQS. Clones share it.
#[derive(Clone, Debug)]
pub struct RecordedRequest {
    record: Arc<Record>,
    protocol: Protocol,
}

/// The error of [`RecordedRequest::input`]: the request has another action, or no readable input.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NotThisInput(String);

impl RecordedRequest {
    /// `None` if it is a request to another service.
    pub(crate) fn of(record: &Arc<Record>) -> Option<Self> {
        let protocol = record.input.as_ref().filter(|_| record.service == ServiceName::Sqs)?.protocol;
        Some(Self { record: Arc::clone(record), protocol })
    }

    /// The number of the request, from 1 in the order of the responses, over all services. A reset does not restart it.
    pub fn number(&self) -> u64 {
        self.record.number
    }

    /// The request id in the response.
    pub fn request_id(&self) -> &str {
        &self.record.request_id
    }

    /// The arrival time, by the clock of the server.
    pub fn time(&self) -> Timestamp {
        self.record.time
    }

    /// The protocol.
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// The action; `None` if SQS has no such action.
    pub fn action(&self) -> Option<Action> {
        Action::from_name(self.record.operation.as_deref()?)
    }

    /// The account of the caller; `None` if the request was rejected before the account was known.
    pub fn account(&self) -> Option<&str> {
        self.record.caller.as_ref().map(|caller| &*caller.account)
    }

    /// The region of the caller; `None` if the request was rejected before the region was known.
    pub fn region(&self) -> Option<&str> {
        self.record.caller.as_ref().map(|caller| &*caller.region)
    }

    /// The end of the request.
    pub fn ending(&self) -> &Ending {
        &self.record.ending
    }

    /// The HTTP status; `None` without a complete response.
    pub fn status(&self) -> Option<u16> {
        self.record.ending.status()
    }

    /// The error code, if the request failed.
    pub fn error_code(&self) -> Option<&ErrorCode> {
        self.record.ending.error_code()
    }

    /// What the caller should know: findings of [strict mode](crate::mock::builder::MockSqsBuilder::strict), faults that were applied, a
    /// queue of this name in another region or account, the setting that refused it.
    pub fn warnings(&self) -> &[String] {
        &self.record.warnings
    }

    /// The duration until the response, in real time.
    pub fn elapsed(&self) -> Duration {
        self.record.elapsed
    }

    /// The body of AWS JSON, or the form of the Query protocol without its signature. Empty if it exceeds the size
    /// limit of the journal.
    pub fn content(&self) -> &[u8] {
        self.record.content()
    }

    /// The queue that the request addresses: by URL, by name, or as the source of a move task. `None` if it names no
    /// queue.
    pub fn queue(&self) -> Option<QueueArn> {
        let caller = self.record.caller.as_ref()?;
        let path = self.record.input.as_ref().and_then(|input| input.path.as_deref());
        let named = match self.protocol {
            Protocol::AwsJson => serde_json::from_slice(self.content()).ok()?,
            Protocol::Query => Named::in_form(&Form::parse(self.content()).ok()?, path),
        };
        let account = named.owner.as_deref().unwrap_or(&caller.account);
        let text = named.url.or(named.name).or(named.source).filter(|text| !text.is_empty())?;
        Some(QueueArn::named(&text, &caller.region, account))
    }

    /// Whether the request addresses this queue, given as in [`Requests::on`](Requests::on).
    pub(crate) fn is_on(&self, queue: &str) -> bool {
        let Some(found) = self.queue() else { return false };
        match queue.parse::<QueueArn>() {
            Ok(arn) => found == arn,
            Err(_) if queue.contains('/') => found == QueueArn::named(queue, &found.region, &found.account),
            Err(_) => *found.name == *queue,
        }
    }

    /// Decodes the input, such as a
    /// [`SendMessageInput`](sqs_client::operation::send_message::SendMessageInput).
    ///
    /// # Errors
    /// The request is for another action, cannot be decoded, or was too long to be recorded.
    pub fn input<I: Input>(&self) -> Result<I, NotThisInput> {
        let wanted = <I::Operation as Operation>::ACTION;
        if self.action() != Some(wanted) {
            return Err(NotThisInput(format!("the request is {}, not {wanted}", self.action_name())));
        }
        let content = self.record.input.as_ref().and_then(|input| input.content.as_ref());
        let content =
            content.ok_or_else(|| NotThisInput("the request was too long to be recorded".to_owned()))?;
        self.protocol.decode_request(content).map_err(|error| NotThisInput(error.to_string()))
    }

    /// The members of the input on one line, such as `MessageBody="tea" DelaySeconds=5`. An input that cannot be decoded
    /// is shown as text.
    pub(crate) fn brief(&self, at_most: usize) -> String {
        let members = match self.protocol {
            Protocol::AwsJson => members_of_json(self.content()),
            Protocol::Query => Some(members_of_form(self.content())),
        };
        let text = || String::from_utf8_lossy(self.content()).into_owned();
        one_line(&members.map_or_else(text, |members| members.join(" ")), at_most)
    }

    /// The caller, in a run under a schedule.
    #[cfg(feature = "cli")]
    pub(crate) fn caller(&self) -> &str {
        self.record.caller.as_ref().map_or("", |caller| &caller.name)
    }

    /// Input and output, as far as they are AWS JSON; else null.
    #[cfg(feature = "cli")]
    pub(crate) fn in_json(&self) -> (Value, Value) {
        let decoded = |text: &[u8]| serde_json::from_slice(text).unwrap_or_default();
        (decoded(self.content()), self.record.answer.as_deref().map(decoded).unwrap_or_default())
    }

    /// The action, or a dash.
    pub(crate) fn action_name(&self) -> &'static str {
        self.action().map_or("-", Action::as_str)
    }
}

impl fmt::Display for NotThisInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NotThisInput {}

/// The members that name a queue.
#[derive(Deserialize)]
struct Named<'a> {
    #[serde(borrow, rename = "QueueUrl")]
    url: Option<Cow<'a, str>>,
    #[serde(borrow, rename = "QueueName")]
    name: Option<Cow<'a, str>>,
    #[serde(borrow, rename = "SourceArn")]
    source: Option<Cow<'a, str>>,
    #[serde(borrow, rename = "QueueOwnerAWSAccountId")]
    owner: Option<Cow<'a, str>>,
}

impl Named<'static> {
    /// Reads a form. A path replaces a missing queue URL.
    fn in_form(form: &Form<'_>, path: Option<&str>) -> Self {
        let get =
            |name: &str| form.get(name).filter(|text| !text.is_empty()).map(str::to_owned).map(Cow::Owned);
        let path = || path.map(str::to_owned).map(Cow::Owned);
        Self {
            url: get("QueueUrl").or_else(path),
            name: get("QueueName"),
            source: get("SourceArn"),
            owner: get("QueueOwnerAWSAccountId"),
        }
    }
}

fn members_of_json(content: &[u8]) -> Option<Vec<String>> {
    let members: Map<String, Value> = serde_json::from_slice(content).ok()?;
    let shown = members.iter().filter(|(name, _)| !LEFT_OUT.contains(&name.as_str()));
    Some(shown.map(|(name, value)| format!("{name}={value}")).collect())
}

fn members_of_form(content: &[u8]) -> Vec<String> {
    let shown = form_urlencoded::parse(content).filter(|(name, _)| !LEFT_OUT.contains(&&**name));
    shown.map(|(name, value)| format!("{name}={value:?}")).collect()
}

fn one_line(text: &str, at_most: usize) -> String {
    let mut line: String = text.chars().take(at_most).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(at_most).is_some() {
        line.push_str("..");
    }
    line
}

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
    let answer = request.ending().to_string();
    let answer = match request.warnings() {
        [] => answer,
        warnings => format!("{answer} ({})", warnings.join("; ")),
    };
    [
        request.number().to_string(),
        request.time().to_string(),
        request.action_name().to_owned(),
        request.queue().map_or_else(|| "-".to_owned(), |queue| queue.name.into()),
        answer,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_truncated_and_stay_on_one_line() {
        assert_eq!(one_line("a\nbäc", 4), "a bä..");
        assert_eq!(one_line("abcd", 4), "abcd");
    }
}
