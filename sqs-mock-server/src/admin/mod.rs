//! The admin API: all paths outside of SQS, for health checks, metrics and tests.
//!
//! ```text
//! router --owns(path)?--> guard --> console: a file
//!                            route --method, path--> Ask (parameters, body) --> one function of messages | queues | .. --> JSON
//!                                                     events: a stream
//!                                                     aws: an action, which the router passes to its service
//! ```
//! Sockets and the in-process transport use it alike. It requires no signature, even if SQS requests do: without an
//! admin token, everyone who can reach the server can inspect it and change its clock. Responses are JSON. Errors are
//! `{"error": "what is wrong, and what is allowed"}` with status 400, 401, 403, 404, 405, 409, 500 or 503.

#[cfg(feature = "s3")]
pub(crate) mod buckets;
pub(crate) mod console;
pub(crate) mod queues;
pub(crate) mod server;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{ALLOW, CONTENT_TYPE, HeaderName, HeaderValue, WWW_AUTHENTICATE};
use http::request::Parts;
use http::{Method, Response, StatusCode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use sqs_client::wire::service_error::ServiceError;

use crate::control::metrics::Exposition;
use crate::http::guard::Guard;
use crate::http::reply::Reply;
use crate::services::Services;
use crate::sqs::service::Service;

/// Whether a path belongs to the admin API. Paths of SQS start with an account, a queue name or nothing, so that the
/// first byte decides for almost all of them.
pub(crate) fn owns(path: &str) -> bool {
    match path.as_bytes().get(1) {
        Some(b'h') => path == "/health",
        Some(b'm') => path == "/metrics",
        Some(b'_') => ["/_mock", "/_aws", "/_localstack"].iter().any(|root| is_at_or_under(root, path)),
        _ => false,
    }
}

fn is_at_or_under(root: &str, path: &str) -> bool {
    path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// How a request is answered.
#[derive(Debug)]
pub(crate) enum Answer {
    Reply(Reply),
    /// By the service of the action in it.
    Action,
}

/// Handles a request whose path is [owned](owns).
///
/// # Cancel safety
/// Dropping the future loses nothing.
pub(crate) async fn answer(services: &Arc<Services>, head: &Parts, body: &[u8]) -> Answer {
    dispatch(services, head, body).await.unwrap_or_else(|refusal| refusal.into_response().into())
}

impl From<Response<Bytes>> for Answer {
    fn from(response: Response<Bytes>) -> Self {
        Self::Reply(response.into())
    }
}

/// Whether a path tells if the server is healthy.
fn is_health(path: &str) -> bool {
    ["/health", "/_localstack/health"].contains(&path.trim_end_matches('/'))
}

/// Health is open to everyone: health checks use any host name, and it reveals nothing. Metrics and the files of the
/// console need no token: scrapers rarely have one, and browsers ask for files without it.
fn check(guard: &Guard, head: &Parts) -> Result<(), Refusal> {
    let path = head.uri.path();
    if is_health(path) {
        return Ok(());
    }
    guard.check_admin(head).map_err(|error| Refusal::new(StatusCode::FORBIDDEN, error))?;
    if is_at_or_under(console::ROOT, path) {
        return Ok(());
    }
    if path == "/metrics" || guard.has_token(head) { Ok(()) } else { Err(Refusal::no_token()) }
}

async fn dispatch(services: &Arc<Services>, head: &Parts, body: &[u8]) -> Result<Answer, Refusal> {
    check(services.guard(), head)?;
    let path = head.uri.path();
    let method = if head.method == Method::HEAD { &Method::GET } else { &head.method };
    if method == Method::GET && is_at_or_under(console::ROOT, path) {
        return console::file(services, head).map(Answer::from);
    }
    let found: Vec<_> = ROUTES.iter().filter_map(|route| Some((route, route.matches(path)?))).collect();
    let Some((route, name)) = found.iter().find(|(route, _)| route.method == method) else {
        if found.is_empty() {
            let error = format!("unknown path {path}; GET /_mock lists all paths");
            return Err(Refusal::not_found(error));
        }
        let allowed: Vec<_> = found.iter().map(|(route, _)| route.method.as_str()).collect();
        return Err(Refusal::method(method, &allowed));
    };
    let parameters = route.parameters(head.uri.query().unwrap_or_default())?;
    let ask = Ask { services, head, body, name, parameters };
    let service = services.sqs.service();
    if method != Method::GET {
        service.check_store().map_err(Refusal::not_stored)?;
    }
    let answered = match route.handler {
        // These do not wait for a slow disk.
        Handler::Now(answer) if is_health(path) => return answer(&ask).map(Answer::from),
        Handler::Metrics => return Ok(metrics(services.metrics().await).into()),
        Handler::Action => return Ok(Answer::Action),
        Handler::Events => return console::stream(services).map(|live| Answer::Reply(Reply::Live(live))),
        Handler::Now(answer) => answer(&ask),
        Handler::Wait => queues::wait(&ask).await,
        #[cfg(feature = "s3")]
        Handler::Content => buckets::content(&ask).await,
    };
    service.settled().await.map_err(Refusal::not_stored)?;
    answered.map(Answer::from)
}

/// A route of the admin API.
pub(crate) struct Route {
    pub(crate) method: &'static Method,
    /// Segments may be parameters; the last is `{name}`, for example of a queue. After `?` follow the names of the parameters that a request
    /// may have, such as `skip&limit`, or `*` if it may have any.
    path: &'static str,
    about: &'static str,
    pub(crate) handler: Handler,
}

/// The handler of a route.
#[derive(Clone, Copy)]
pub(crate) enum Handler {
    /// A function that does not wait.
    Now(fn(&Ask<'_>) -> Answered),
    /// [`wait`](queues::wait), which waits.
    Wait,
    /// The metrics, which are collected queue by queue.
    Metrics,
    /// The [stream of changes](console).
    Events,
    /// An action of a service, which needs no signature.
    Action,
    /// The content of an object, which is read from disk.
    #[cfg(feature = "s3")]
    Content,
}

const fn route(method: &'static Method, path: &'static str, handler: Handler, about: &'static str) -> Route {
    Route { method, path, about, handler }
}

const fn get(path: &'static str, answer: fn(&Ask<'_>) -> Answered, about: &'static str) -> Route {
    route(&Method::GET, path, Handler::Now(answer), about)
}

const fn post(path: &'static str, answer: fn(&Ask<'_>) -> Answered, about: &'static str) -> Route {
    route(&Method::POST, path, Handler::Now(answer), about)
}

const fn delete(path: &'static str, answer: fn(&Ask<'_>) -> Answered, about: &'static str) -> Route {
    route(&Method::DELETE, path, Handler::Now(answer), about)
}

/// All routes.
pub(crate) const ROUTES: &[Route] = &[
    get("/health?*", server::health, "reports that the server is running"),
    get(
        "/_localstack/health?*",
        server::localstack_health,
        "the same for tools of LocalStack, with --compat localstack",
    ),
    get("/_localstack/info?*", server::localstack_info, "version and edition, with --compat localstack"),
    get(
        "/_localstack/init?*",
        server::localstack_init,
        "that all scripts are done, with --compat localstack",
    ),
    get(
        "/_localstack/init/{stage}?*",
        server::localstack_init,
        "the same for boot, start, ready or shutdown",
    ),
    post(
        "/_localstack/state/reset?*",
        server::localstack_reset,
        "as POST /_mock/reset, with --compat localstack",
    ),
    route(&Method::GET, "/metrics?*", Handler::Metrics, "counters and gauges for Prometheus"),
    get("/_mock", index, "version, seed, default region and account, and this list"),
    #[cfg(feature = "tls")]
    get("/_mock/tls-root", server::tls_root, "the certificate that clients of HTTPS must trust, in PEM"),
    get("/_mock/clock", server::show_clock, "the time of the clock"),
    post("/_mock/clock", server::turn, "changes the clock: {advance, now, frozen}"),
    get("/_mock/faults", server::list_faults, "faults and their hits"),
    post("/_mock/faults", server::inject, "injects a fault: {effect, ..}, see docs/faults.md"),
    delete("/_mock/faults", server::clear_faults, "removes all faults"),
    delete("/_mock/faults/{name}", server::remove_fault, "removes a fault by its id"),
    get("/_mock/schedule", server::show_schedule, "the disturbances that a schedule has decided on so far"),
    post(
        "/_mock/schedule",
        server::set_schedule,
        "disturbs calls by a seed or a plan: {seed, rate, kinds} or {plan: [..]}, both with undisturbed, see docs/explore.md",
    ),
    delete("/_mock/schedule", server::end_schedule, "ends the schedule"),
    get("/_mock/quotas", queues::list_quotas, "throughput quotas of FIFO queues"),
    post(
        "/_mock/quotas",
        queues::set,
        "sets quotas: {quotas: true, false or {calls, ..}, queue, region, account}",
    ),
    delete("/_mock/quotas?queue&region&account", queues::remove_quotas, "removes all quotas, or one"),
    get("/_mock/findings", server::findings, "requests that work here but are mistakes on AWS"),
    delete("/_mock/findings", server::forget_findings, "removes all findings"),
    get("/_mock/queues?skip&limit", queues::list_queues, "all queues"),
    get("/_mock/queues/{name}?region&account", queues::show_queue, "a queue"),
    get(
        "/_mock/queues/{name}/why-empty?region&account",
        queues::why_empty,
        "why a receive would return nothing",
    ),
    get("/_mock/queues/{name}/move-tasks?region&account", queues::move_tasks, "its latest move tasks"),
    get(
        "/_mock/messages?queue&region&account&state&skip&limit",
        queues::peek,
        "messages of a queue (name, URL, ARN), without receiving them; state: available (all but the others), in_flight or delayed",
    ),
    delete(
        "/_mock/messages/{name}?queue&region&account",
        queues::remove_message,
        "deletes a message by its id, without a receipt handle",
    ),
    get("/_mock/topics?skip&limit", server::list_topics, "all topics with their subscriptions"),
    get("/_mock/topics/{name}?region&account", server::show_topic, "a topic"),
    get(
        "/_mock/topics/{name}/published?region&account&after&bytes&skip&limit",
        server::published,
        "the latest messages of a topic (after: a number; bytes: at most, in total)",
    ),
    #[cfg(feature = "s3")]
    get("/_mock/buckets", buckets::list, "all buckets of S3 with their regions and notification rules"),
    #[cfg(feature = "s3")]
    get(
        "/_mock/objects?bucket&prefix&after&limit",
        buckets::objects,
        "the objects of a bucket (after: a key)",
    ),
    #[cfg(feature = "s3")]
    route(
        &Method::GET,
        "/_mock/objects/content?bucket&key",
        Handler::Content,
        "the beginning of an object as text",
    ),
    route(
        &Method::GET,
        "/_mock/events?*",
        Handler::Events,
        "a stream of server-sent events that tells what changed",
    ),
    route(&Method::POST, "/_mock/aws?*", Handler::Action, "an action of SQS, SNS or STS without a signature"),
    get(
        "/_mock/deliveries?kind&source&after&skip&limit",
        server::deliveries,
        "the latest requests to web hooks and functions (source: part of an ARN; after: number)",
    ),
    get("/_mock/triggers", server::list_triggers, "queues that invoke functions, and what they did"),
    post(
        "/_mock/triggers",
        server::add_trigger,
        "adds a trigger: {queue, url, batch_size, ..}, with the keys of the config file",
    ),
    delete("/_mock/triggers/{name}", server::remove_trigger, "removes a trigger by its id"),
    route(
        &Method::GET,
        "/_mock/wait?queue&region&account&timeout&available&in_flight&delayed&total",
        Handler::Wait,
        "waits for counts of messages (timeout: seconds)",
    ),
    get(
        "/_mock/requests?service&action&queue&bucket&topic&matching&status&after&skip&limit",
        server::list_requests,
        "the latest requests (matching: part of a name; status none: no response; after: number)",
    ),
    get("/_mock/requests/{name}", server::one, "a request by its number, with its response"),
    delete("/_mock/requests", server::clear_requests, "removes all recorded requests"),
    post(
        "/_mock/reset",
        server::reset,
        "removes queues, topics, move tasks, faults and recorded requests, ends long polls, restarts the clock",
    ),
    // It ignores the other parameters of ReceiveMessage.
    get(
        "/_aws/sqs/messages?*",
        queues::as_received,
        "messages in the format of ReceiveMessage ?QueueUrl= &ShowInvisible= &ShowDelayed=",
    ),
    get(
        "/_aws/sqs/messages/{region}/{account}/{name}?*",
        queues::as_received,
        "the same for this queue ?ShowInvisible= &ShowDelayed=",
    ),
    post("/_aws/sqs/messages?*", queues::as_received, "the same, with a form or AWS JSON"),
];

/// `GET /_mock`.
fn index(ask: &Ask<'_>) -> Answered {
    let entry = |route: &Route| {
        let (path, parameters) = route.parts();
        let parameters: Vec<_> = parameters.split('&').filter(|name| !["", "*"].contains(name)).collect();
        json!({ "method": route.method.as_str(), "path": path, "parameters": parameters, "about": route.about })
    };
    answer_json(&json!({
        "name": env!("CARGO_PKG_NAME"),
        "version": env!("CARGO_PKG_VERSION"),
        // As text, since JSON parsers may round 64-bit numbers.
        "seed": ask.sqs().seed().to_string(),
        // Of callers that name no other.
        "region": ask.home().0,
        "account": ask.home().1,
        "routes": ROUTES.iter().map(entry).collect::<Vec<_>>(),
    }))
}

impl Route {
    fn parts(&self) -> (&'static str, &'static str) {
        self.path.split_once('?').unwrap_or((self.path, ""))
    }

    /// The segment at `{name}`, or an empty text, if the path is one of this route.
    pub(crate) fn matches<'p>(&self, path: &'p str) -> Option<&'p str> {
        let mut name = "";
        let mut given = path.trim_end_matches('/').split('/');
        for expected in self.parts().0.split('/') {
            let given = given.next()?;
            if expected.starts_with('{') && !given.is_empty() {
                // The last one.
                name = given;
            } else if expected != given {
                return None;
            }
        }
        given.next().is_none().then_some(name)
    }

    /// The parameters of a request. Fails for parameters that this route does not have, and for repeated ones.
    pub(crate) fn parameters<'q>(&self, query: &'q str) -> Result<Parameters<'q>, Refusal> {
        match self.parts().1 {
            "*" => Ok(Parameters::default()),
            allowed => Parameters::parse(query.as_bytes(), allowed),
        }
    }
}

/// The maximum and the default number of entries on a page.
const MOST: usize = 1000;

const DEFAULT: usize = 100;

/// A request whose route is known.
pub(crate) struct Ask<'a> {
    pub(crate) services: &'a Arc<Services>,
    pub(crate) head: &'a Parts,
    pub(crate) body: &'a [u8],
    /// The segment of the path at `{name}`.
    pub(crate) name: &'a str,
    pub(crate) parameters: Parameters<'a>,
}

impl<'a> Ask<'a> {
    pub(crate) fn sqs(&self) -> &'a Service {
        self.services.sqs.service()
    }

    /// The body as JSON; an empty body counts as `{}`.
    pub(crate) fn content<T: DeserializeOwned>(&self) -> Result<T, Refusal> {
        let body = if self.body.is_empty() { b"{}" } else { self.body };
        if body.trim_ascii_start().first() != Some(&b'{') {
            return Err(Refusal::bad("the body must be a JSON object"));
        }
        serde_json::from_slice(body).map_err(|error| Refusal::bad(format!("the body: {error}")))
    }

    /// The account and region of the parameters; the server's own by default.
    pub(crate) fn home(&self) -> (&str, &str) {
        let names = self.services.sqs.names();
        let region = self.parameters.get("region").unwrap_or(&names.region);
        (region, self.parameters.get("account").unwrap_or(&names.account))
    }
}

/// The decoded parameters of a URL.
#[derive(Debug, Default)]
pub(crate) struct Parameters<'a>(BTreeMap<Cow<'a, str>, Cow<'a, str>>);

impl<'a> Parameters<'a> {
    /// Fails for repeated parameters, and for parameters that are not in `allowed`, such as `skip&limit`.
    pub(crate) fn parse(text: &'a [u8], allowed: &str) -> Result<Self, Refusal> {
        let mut all = BTreeMap::new();
        for (name, value) in form_urlencoded::parse(text) {
            if name.is_empty() || !allowed.split('&').any(|known| known == name) {
                let allowed = if allowed.is_empty() { "none".to_owned() } else { allowed.replace('&', ", ") };
                return Err(Refusal::bad(format!("unknown parameter {name:?}; allowed: {allowed}")));
            }
            if all.contains_key(&name) {
                return Err(Refusal::bad(format!("the parameter {name:?} is repeated")));
            }
            all.insert(name, value);
        }
        Ok(Self(all))
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(|value| &**value)
    }

    /// A parameter that must not be empty; `hint` says what it can be.
    pub(crate) fn required(&self, name: &str, hint: &str) -> Result<&str, Refusal> {
        let given = self.get(name).filter(|value| !value.is_empty());
        given.ok_or_else(|| Refusal::bad(format!("the parameter {name} is missing{hint}")))
    }

    /// A number within a range.
    pub(crate) fn number(&self, name: &str, range: RangeInclusive<usize>) -> Result<Option<usize>, Refusal> {
        let Some(text) = self.get(name) else { return Ok(None) };
        let number = text.parse().ok().filter(|number| range.contains(number));
        number.map(Some).ok_or_else(|| {
            let (least, most) = range.into_inner();
            Refusal::bad(format!("{name} must be a number from {least} to {most}, not {text:?}"))
        })
    }

    /// The page of `skip` and `limit`.
    pub(crate) fn page(&self) -> Result<Page, Refusal> {
        let skip = self.number("skip", 0..=usize::MAX)?.unwrap_or(0);
        Ok(Page { skip, limit: self.number("limit", 1..=MOST)?.unwrap_or(DEFAULT) })
    }
}

/// A part of a list.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Page {
    pub(crate) skip: usize,
    pub(crate) limit: usize,
}

impl Page {
    /// The entries of this page.
    pub(crate) fn of<T>(self, all: &[T]) -> impl Iterator<Item = &T> {
        all.iter().skip(self.skip).take(self.limit)
    }

    /// The entries of this page, counted back from the latest one, which is the last of `all`. The oldest comes first.
    pub(crate) fn latest<T>(self, all: &[T]) -> impl Iterator<Item = &T> {
        let end = all.len().saturating_sub(self.skip);
        all.iter().take(end).skip(end.saturating_sub(self.limit))
    }

    /// The response with this page of a list that has `total` entries on all pages. `next` is the `skip` of the next page;
    /// it is absent on the last page.
    pub(crate) fn part<T: Serialize>(
        self,
        list: &str,
        total: usize,
        entries: impl Iterator<Item = T>,
    ) -> Value {
        let mut part = json!({ "total": total, (list): entries.collect::<Vec<_>>() });
        let next = self.skip.saturating_add(self.limit);
        if next < total {
            part["next"] = next.into();
        }
        part
    }
}

/// Parses a boolean.
pub(crate) fn truth(name: &str, text: &str) -> Result<bool, Refusal> {
    match text {
        _ if text.eq_ignore_ascii_case("true") || text == "1" => Ok(true),
        _ if text.eq_ignore_ascii_case("false") || text == "0" => Ok(false),
        _ => Err(Refusal::bad(format!("{name} must be true or false, not {text:?}"))),
    }
}

/// The result of an admin request.
pub(crate) type Answered = Result<Response<Bytes>, Refusal>;

/// An error response.
#[derive(Debug)]
pub(crate) struct Refusal {
    status: StatusCode,
    error: String,
    header: Option<(HeaderName, HeaderValue)>,
}

/// A response with status 200.
pub(crate) fn answer_json(content: &impl Serialize) -> Answered {
    let body = serde_json::to_vec(content).map_err(|error| {
        Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, format!("cannot serialize the response: {error}"))
    })?;
    Ok(response(StatusCode::OK, body))
}

/// The response to `GET /metrics`.
pub(crate) fn metrics(text: Exposition) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from(text.into_text()));
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(crate::control::metrics::CONTENT_TYPE));
    response
}

impl Refusal {
    pub(crate) fn new(status: StatusCode, error: impl Into<String>) -> Self {
        Self { status, error: error.into(), header: None }
    }

    /// The request is invalid. The text says why, and what is allowed.
    pub(crate) fn bad(error: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, error)
    }

    /// The requested object does not exist.
    pub(crate) fn not_found(error: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, error)
    }

    /// The admin token is missing or wrong.
    pub(crate) fn no_token() -> Self {
        let error = "the header `Authorization: Bearer` with the admin token is required";
        let header = Some((WWW_AUTHENTICATE, HeaderValue::from_static("Bearer")));
        Self { header, ..Self::new(StatusCode::UNAUTHORIZED, error) }
    }

    /// The server is shutting down, so a wait ends.
    pub(crate) fn stopping() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "the server is shutting down")
    }

    /// The change may not be stored.
    pub(crate) fn not_stored(error: ServiceError) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, error.message.unwrap_or_default())
    }

    pub(crate) fn method(method: &Method, allowed: &[&str]) -> Self {
        let allowed = allowed.join(", ");
        let header = HeaderValue::from_str(&allowed).ok().map(|allowed| (ALLOW, allowed));
        let error = format!("{method} is not allowed here; allowed: {allowed}");
        Self { header, ..Self::new(StatusCode::METHOD_NOT_ALLOWED, error) }
    }

    pub(crate) fn into_response(self) -> Response<Bytes> {
        let body = serde_json::json!({ "error": self.error }).to_string();
        let mut response = response(self.status, body.into_bytes());
        response.headers_mut().extend(self.header);
        response
    }
}

fn response(status: StatusCode, mut body: Vec<u8>) -> Response<Bytes> {
    // A line end for terminals.
    body.push(b'\n');
    let mut response = Response::new(Bytes::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

#[cfg(test)]
mod routes_tests {
    use super::*;

    #[test]
    fn path_matches_segment_by_segment() {
        let route = |path| get(path, index, "");
        let table = [
            ("/_mock", "/_mock", Some("")),
            ("/_mock", "/_mock/", Some("")),
            ("/_mock", "/_mock/clock", None),
            ("/_mock/queues/{name}", "/_mock/queues/orders.fifo", Some("orders.fifo")),
            ("/_mock/queues/{name}?region", "/_mock/queues/q", Some("q")),
            ("/_mock/queues/{name}", "/_mock/queues", None),
            ("/_mock/queues/{name}", "/_mock/queues//", None),
            ("/_mock/queues/{name}/why-empty", "/_mock/queues/q/why-empty", Some("q")),
            ("/_mock/queues/{name}/why-empty", "/_mock/queues/q/why", None),
        ];
        for (pattern, path, expected) in table {
            assert_eq!(route(pattern).matches(path), expected, "{pattern} {path}");
        }
    }
}

#[cfg(test)]
mod ask_tests {
    use http::StatusCode;

    use super::*;

    fn refusal<T: std::fmt::Debug>(result: Result<T, Refusal>) -> String {
        let response = result.unwrap_err().into_response();
        assert_eq!(response.status(), StatusCode::BAD_REQUEST);
        String::from_utf8(response.into_body().to_vec()).unwrap()
    }

    #[test]
    fn parameters_are_decoded_and_checked() {
        let parameters = Parameters::parse(b"queue=a%2Bb&limit=7&deep=TRUE", "queue&limit&deep");
        let parameters = parameters.unwrap();
        assert_eq!(parameters.get("queue"), Some("a+b"));
        assert_eq!(parameters.number("limit", 1..=10).unwrap(), Some(7));
        assert_eq!(parameters.number("skip", 0..=10).unwrap(), None);
        assert!(refusal(parameters.number("limit", 1..=6)).contains("from 1 to 6, not \\\"7\\\""));
        assert!(truth("deep", "TRUE").unwrap() && !truth("deep", "0").unwrap());
        assert!(refusal(truth("deep", "very")).contains("deep must be true or false, not"));
    }

    #[test]
    fn unknown_and_repeated_parameters_are_rejected_by_name() {
        assert!(refusal(Parameters::parse(b"quue=a", "queue&limit")).contains("allowed: queue, limit"));
        assert!(refusal(Parameters::parse(b"a=1&a=2", "a")).contains("repeated"));
        for text in ["a=1", "=1"] {
            assert!(refusal(Parameters::parse(text.as_bytes(), "")).contains("allowed: none"), "{text}");
        }
    }
}
