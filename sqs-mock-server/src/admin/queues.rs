//! Queues over HTTP: all queues, one queue, its move tasks, why a receive returns nothing, and waits for numbers of
//! messages.
//!
//! Messages over HTTP, without receiving them.
//!
//! `LocalStack` has a path that shows them in the format of `ReceiveMessage`:
//! ```text
//! curl 'http://localhost:9324/_aws/sqs/messages?QueueUrl=http://localhost:9324/000000000000/orders&ShowInvisible=true'
//! aws --endpoint-url http://localhost:9324/_aws/sqs/messages sqs receive-message --queue-url ..
//! ```
//! The parameters are in the URL, in a form, or in AWS JSON. All other parameters of `ReceiveMessage` are ignored. The
//! response is that of `ReceiveMessage` in the protocol of the request: XML, or JSON if the request accepts it.
//!
//! Source: <https://docs.localstack.cloud/aws/services/sqs/>
//!
//! Throughput quotas over HTTP.
//!
//! ```text
//! POST   /_mock/quotas {"quotas": true}                                  quotas of AWS for all FIFO queues; false for none
//! POST   /_mock/quotas {"quotas": {"calls": 5}, "queue": "jobs.fifo"}    for a queue; with "account" alone for an account
//! GET    /_mock/quotas                                                   all that are set, in the form of the POST
//! DELETE /_mock/quotas?queue=jobs.fifo                                   the queue inherits again; without a query: all
//! ```

use std::time::Duration;

use http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sqs_client::operation::receive_message::ReceiveMessage;
use sqs_client::wire::protocol::{Detected, Form, Protocol};
use sqs_client::wire::validate::queue::is_account;

use crate::admin::{Answered, Refusal, answer_json};
use crate::admin::{Ask, truth};
use crate::control::arn::QueueArn;
use crate::control::caller::{Caller, scheme};
use crate::http::body::form_text;
use crate::sqs::engine::inspect::{PeekedMessage, QueueDescription, Visibility, WhyEmpty};
use crate::sqs::engine::messages::Counts;
use crate::sqs::engine::throughput::{QuotaScope, QuotaSetting, QuotaTable, ThroughputQuotas};
use crate::sqs::front;
use crate::sqs::front::Style;
use crate::sqs::ops::inspect::{Kinds, fitting};

/// As `ListMessageMoveTasks`, which returns no more.
const MAX_TASKS: usize = 10;

/// The conditions of a wait.
const WANTED: [&str; 4] = ["available", "in_flight", "delayed", "total"];

/// The maximum and the default timeout, in seconds of real time.
const LONGEST: usize = 60;

const USUAL: usize = 5;

/// `GET /_mock/queues`.
pub(crate) fn list_queues(ask: &Ask<'_>) -> Answered {
    let page = ask.parameters.page()?;
    let arns = ask.sqs().queues();
    let queues = page.of(&arns).filter_map(|arn| queue(ask, arn));
    answer_json(&page.part("queues", arns.len(), queues))
}

/// `GET /_mock/queues/{name}`.
pub(crate) fn show_queue(ask: &Ask<'_>) -> Answered {
    let arn = queue_in_path(ask);
    answer_json(&queue(ask, &arn).ok_or_else(|| unknown(&arn))?)
}

/// `GET /_mock/queues/{name}/why-empty`.
pub(crate) fn why_empty(ask: &Ask<'_>) -> Answered {
    let arn = queue_in_path(ask);
    let (why, triggers) = (ask.sqs().why_empty(&arn), ask.services.triggers.of_queue(&arn));
    let mut answer = json!({ "reason": reason(&why), "text": why.to_string() });
    if !triggers.is_empty() {
        answer["text"] = format!("{why}; a trigger takes its messages to {}", triggers.join(", ")).into();
        answer["triggers"] = triggers.into();
    }
    answer_json(&answer)
}

/// `GET /_mock/queues/{name}/move-tasks`.
pub(crate) fn move_tasks(ask: &Ask<'_>) -> Answered {
    let arn = queue_in_path(ask);
    ask.sqs().describe(&arn).ok_or_else(|| unknown(&arn))?;
    answer_json(&json!({ "move_tasks": ask.sqs().move_tasks(&arn, MAX_TASKS) }))
}

/// `GET /_mock/wait`. The queue may be created later.
pub(crate) async fn wait(ask: &Ask<'_>) -> Answered {
    let wanted = WANTED.map(|name| ask.parameters.number(name, 0..=usize::MAX));
    let wanted: Vec<_> = wanted.into_iter().collect::<Result<_, _>>()?;
    if wanted.iter().all(Option::is_none) {
        let all = WANTED.join(", ");
        return Err(Refusal::bad(format!("no condition; set one or more of {all}")));
    }
    let seconds = ask.parameters.number("timeout", 0..=LONGEST)?.unwrap_or(USUAL);
    let arn = queue_in_parameters(ask)?;
    let is_met = |counts: &Counts| {
        let mut pairs = wanted.iter().zip(numbers(*counts));
        pairs.all(|(wanted, number)| wanted.is_none_or(|wanted| wanted == number))
    };
    let until = ask.sqs().until(&arn, || ask.sqs().counts(&arn).filter(is_met));
    let timeout = Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
    tokio::select! {
        met = tokio::time::timeout(timeout, until) => match met {
            Ok(counts) => answer_json(&WANTED.into_iter().zip(numbers(counts)).collect::<Value>()),
            Err(_) => Err(Refusal::new(StatusCode::CONFLICT, unmet(&arn, seconds, ask.sqs().counts(&arn)))),
        },
        () = ask.sqs().stopped() => Err(Refusal::stopping()),
    }
}

/// The numbers that [`WANTED`] names.
fn numbers(counts: Counts) -> [usize; 4] {
    let Counts { available, in_flight, delayed } = counts;
    [available, in_flight, delayed, available + in_flight + delayed]
}

fn unmet(arn: &QueueArn, seconds: usize, counts: Option<Counts>) -> String {
    match counts {
        Some(Counts { available, in_flight, delayed }) => format!(
            "waited {seconds} s for {arn}, which has {available} messages available, {in_flight} in flight and \
             {delayed} delayed"
        ),
        None => format!("waited {seconds} s for {arn}, which does not exist"),
    }
}

/// The error for a queue that does not exist.
pub(crate) fn unknown(arn: &QueueArn) -> Refusal {
    Refusal::not_found(format!("there is no queue {arn}; GET /_mock/queues lists all queues"))
}

/// The queue that the path names.
fn queue_in_path(ask: &Ask<'_>) -> QueueArn {
    let (region, account) = ask.home();
    QueueArn::new(region, account, ask.name)
}

/// The queue that the parameters name.
pub(crate) fn queue_in_parameters(ask: &Ask<'_>) -> Result<QueueArn, Refusal> {
    let (region, account) = ask.home();
    let queue = ask.parameters.required("queue", ": a name, a URL or an ARN")?;
    Ok(QueueArn::named(queue, region, account))
}

/// `None` if the queue was deleted in the meantime.
fn queue(ask: &Ask<'_>, arn: &QueueArn) -> Option<Value> {
    let sqs = &ask.services.sqs;
    let QueueDescription { attributes, tags, counts, arrived, oldest } = ask.sqs().describe(arn)?;
    let [.., present] = numbers(counts);
    let now = ask.sqs().clock().now();
    let sources = ask.sqs().dead_letter_sources(arn);
    let base = sqs.base_url(scheme(ask.head), sqs.names().host(ask.head), &arn.region);
    Some(json!({
        "name": arn.name,
        "arn": arn,
        "url": format!("{base}/{}/{}", arn.account, arn.name),
        "messages": counts,
        // Since the queue was created. Those that left were deleted, purged, expired, or moved to another queue.
        "totals": { "arrived": arrived, "left": arrived.saturating_sub(present as u64) },
        "oldest_message_age_ms": oldest.map(|oldest| now.as_millis().saturating_sub(oldest.as_millis())),
        "dead_letter_sources": sources.iter().map(|source| &**source).collect::<Vec<_>>(),
        "attributes": attributes,
        "tags": tags,
    }))
}

/// An identifier for programs.
fn reason(why: &WhyEmpty) -> &'static str {
    match why {
        WhyEmpty::NoSuchQueue => "no_such_queue",
        WhyEmpty::NotEmpty { .. } => "not_empty",
        WhyEmpty::NoMessages => "no_messages",
        WhyEmpty::Denied { .. } => "denied",
        WhyEmpty::OneMinuteRule { .. } => "one_minute_rule",
        WhyEmpty::InFlight { .. } => "in_flight",
        WhyEmpty::Delayed { .. } => "delayed",
        WhyEmpty::InFlightOrDelayed { .. } => "in_flight_or_delayed",
        WhyEmpty::GroupsLocked { .. } => "groups_locked",
        WhyEmpty::BeyondWindow { .. } => "beyond_window",
        WhyEmpty::OnSomeServers { .. } => "on_some_servers",
        WhyEmpty::DeadLetters { .. } => "dead_letters",
        WhyEmpty::InFlightLimit { .. } => "in_flight_limit",
    }
}

/// `GET /_mock/messages`.
pub(crate) fn peek(ask: &Ask<'_>) -> Answered {
    let page = ask.parameters.page()?;
    let kinds = kinds(ask.parameters.get("state"))?;
    let arn = queue_in_parameters(ask)?;
    let total = kinds.count(ask.sqs().counts(&arn).ok_or_else(|| unknown(&arn))?);
    let peeked = ask.sqs().peek_at(&arn, (page.skip, page.limit), |visibility| kinds.include(visibility));
    let peeked = peeked.ok_or_else(|| unknown(&arn))?;
    let fitting = fitting(&peeked);
    let mut part = page.part("messages", total, peeked.iter().take(fitting).map(message));
    if fitting < peeked.len() {
        part["next"] = json!(page.skip + fitting);
    }
    part["queue"] = json!(arn);
    answer_json(&part)
}

/// `DELETE /_mock/messages/{name}`.
pub(crate) fn remove_message(ask: &Ask<'_>) -> Answered {
    let arn = queue_in_parameters(ask)?;
    let id = ask.name.parse().map_err(|_| Refusal::bad(format!("{:?} is not a message id", ask.name)))?;
    match ask.sqs().discard(&arn, id) {
        Some(true) => answer_json(&json!({ "deleted": true })),
        Some(false) => Err(Refusal::not_found(format!("{arn} has no message {id}"))),
        None => Err(unknown(&arn)),
    }
}

/// The messages of one of the three counts, or all.
fn kinds(state: Option<&str>) -> Result<Kinds, Refusal> {
    match state {
        None => Ok(Kinds { available: true, in_flight: true, delayed: true }),
        Some("available") => Ok(Kinds { available: true, ..Kinds::default() }),
        Some("in_flight") => Ok(Kinds { in_flight: true, ..Kinds::default() }),
        Some("delayed") => Ok(Kinds { delayed: true, ..Kinds::default() }),
        Some(other) => Err(Refusal::bad(format!(
            "state must be available (visible, group_locked and beyond_window), in_flight or delayed, not {other:?}"
        ))),
    }
}

/// Fields that only some messages have are absent in the others.
fn message(peeked: &PeekedMessage) -> Value {
    let (state, until, by) = match peeked.visibility {
        Visibility::Visible => ("visible", None, None),
        Visibility::BeyondWindow => ("beyond_window", None, None),
        Visibility::DelayedUntil(until) => ("delayed", Some(until), None),
        Visibility::InFlightUntil(until) => ("in_flight", Some(until), None),
        Visibility::GroupLockedBy { id, until } => ("group_locked", Some(until), Some(id)),
    };
    let mut shown = json!({
        "id": peeked.id,
        "body": peeked.body(),
        "attributes": peeked.payload.attributes(),
        "state": state,
        "until": until,
        "by": by,
        "receive_count": peeked.receive_count,
        "sent": peeked.sent,
        "sender": &*peeked.payload.sender,
        "group": peeked.group.as_deref(),
        "deduplication_id": peeked.deduplication_id.as_deref(),
        "sequence_number": peeked.sequence_number,
        "dead_letter_source": peeked.dead_letter_source.as_deref(),
    });
    if let Some(fields) = shown.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    shown["first_received"] = json!(peeked.first_received);
    shown
}

/// The parameters of `/_aws/sqs/messages`, as in AWS JSON.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct Asked {
    queue_url: Option<String>,
    show_invisible: bool,
    show_delayed: bool,
}

/// `GET` and `POST /_aws/sqs/messages`, and `GET /_aws/sqs/messages/{region}/{account}/{name}`.
pub(crate) fn as_received(ask: &Ask<'_>) -> Answered {
    let detected = Detected::from_headers(&ask.head.headers);
    let style = Style::of(&detected, ask.head);
    let asked = match style.protocol {
        Protocol::AwsJson => ask.content()?,
        Protocol::Query => from_form(ask)?,
    };
    let service = ask.sqs();
    let mut context = ask.services.sqs.context(ask.head, Caller::of(ask.head), style.protocol);
    let kinds = Kinds { available: true, in_flight: asked.show_invisible, delayed: asked.show_delayed };
    let in_path = || Some(format!("/queue/{}", ask.head.uri.path().strip_prefix("/_aws/sqs/messages/")?));
    let url = asked.queue_url.filter(|url| !url.is_empty()).or_else(in_path);
    let url = url.ok_or_else(|| Refusal::bad("QueueUrl is missing"))?;
    if let Some(region) = context.region_of(Some(&url)) {
        context.region = region;
    }
    let request_id = service.request_id();
    let encoded = service
        .peek_as_received(&context, Some(url), kinds)
        .and_then(|output| style.output::<ReceiveMessage>(&output, &request_id));
    Ok(match encoded {
        Ok(encoded) => front::answer(encoded),
        Err(error) => front::refuse(style, &error, &request_id),
    })
}

fn from_form(ask: &Ask<'_>) -> Result<Asked, Refusal> {
    let text = form_text(ask.head, ask.body);
    let form = Form::parse(&text).map_err(|error| Refusal::bad(error.to_string()))?;
    let flag = |name: &str| form.get(name).map_or(Ok(false), |text| truth(name, text));
    Ok(Asked {
        queue_url: form.get("QueueUrl").map(str::to_owned),
        show_invisible: flag("ShowInvisible")?,
        show_delayed: flag("ShowDelayed")?,
    })
}

/// The quotas of a scope, in requests and responses.
#[derive(Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    quotas: QuotaSetting,
    #[serde(skip_serializing_if = "Option::is_none")]
    queue: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    account: Option<String>,
}

/// Limit of quotas that are set over HTTP, so that they cannot fill the memory.
const AT_MOST: usize = 1_000;

/// `GET /_mock/quotas`.
pub(crate) fn list_quotas(ask: &Ask<'_>) -> Answered {
    let table = ask.sqs().quotas();
    answer_json(&table.iter().map(|(scope, quotas)| show_quotas(scope, quotas)).collect::<Vec<_>>())
}

/// `POST /_mock/quotas`.
pub(crate) fn set(ask: &Ask<'_>) -> Answered {
    let Entry { quotas: QuotaSetting(quotas), queue, region, account } = ask.content()?;
    let scope = scope(ask, [queue.as_deref(), region.as_deref(), account.as_deref()])?;
    let table = ask.sqs().quotas();
    if table.iter().count() >= AT_MOST && !table.iter().any(|(known, _)| *known == scope) {
        return Err(Refusal::bad(format!("{AT_MOST} quotas are set already; DELETE some first")));
    }
    ask.sqs().change_quotas(|table| table.set(scope, quotas));
    list_quotas(ask)
}

/// `DELETE /_mock/quotas`.
pub(crate) fn remove_quotas(ask: &Ask<'_>) -> Answered {
    match scope(ask, ["queue", "region", "account"].map(|name| ask.parameters.get(name)))? {
        QuotaScope::Server => ask.sqs().change_quotas(|table| *table = QuotaTable::default()),
        scope => ask.sqs().change_quotas(|table| table.remove(&scope)).then_some(()).ok_or_else(|| {
            Refusal::not_found("no quotas are set for this; GET /_mock/quotas lists all quotas")
        })?,
    }
    list_quotas(ask)
}

fn scope(ask: &Ask<'_>, place: [Option<&str>; 3]) -> Result<QuotaScope, Refusal> {
    let names = ask.services.sqs.names();
    match place {
        [Some(queue), region, account] => {
            let (region, account) = (region.unwrap_or(&names.region), account.unwrap_or(&names.account));
            let arn = QueueArn::named(queue, region, account);
            if arn.is_fifo() {
                return Ok(QuotaScope::Queue(arn));
            }
            Err(Refusal::bad(format!("queue {queue:?} has no quotas; allowed are names that end in .fifo")))
        }
        [None, Some(_), _] => Err(Refusal::bad("region requires queue")),
        [None, None, Some(account)] if is_account(account) => Ok(QuotaScope::Account(account.to_owned())),
        [None, None, Some(account)] => {
            Err(Refusal::bad(format!("account {account:?} is not allowed; allowed are 12 digits")))
        }
        [None, None, None] => Ok(QuotaScope::Server),
    }
}

fn show_quotas(scope: &QuotaScope, quotas: Option<ThroughputQuotas>) -> Entry {
    let quotas = QuotaSetting(quotas);
    match scope {
        QuotaScope::Server => Entry { quotas, ..Entry::default() },
        QuotaScope::Account(account) => Entry { quotas, account: Some(account.clone()), ..Entry::default() },
        QuotaScope::Queue(QueueArn { name, region, account, .. }) => Entry {
            quotas,
            queue: Some(name.to_string()),
            region: Some(region.to_string()),
            account: Some(account.to_string()),
        },
    }
}
