//! The table of all routes. `GET /_mock` shows it.

use http::Method;
use serde_json::json;

use super::answer::{Answered, json};
use super::ask::Ask;
#[cfg(feature = "s3")]
use super::buckets;
#[cfg(feature = "sns")]
use super::topics;
use super::{backdoor, clock, faults, findings, messages, queues, quotas, requests, server};

/// A route of the admin API.
pub(super) struct Route {
    pub(super) method: &'static Method,
    /// One segment may be `{name}`, for example of a queue.
    pub(super) path: &'static str,
    pub(super) about: &'static str,
    pub(super) handler: Handler,
}

/// The handler of a route.
#[derive(Clone, Copy)]
pub(super) enum Handler {
    /// A function that does not wait.
    Now(fn(&Ask<'_>) -> Answered),
    /// [`wait`](super::wait), which waits.
    Wait,
    /// The metrics, which are collected queue by queue.
    Metrics,
    /// The [stream of changes](super::events).
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
pub(super) const ROUTES: &[Route] = &[
    get("/health", server::health, "reports that the server is running"),
    get(
        "/_localstack/health",
        server::localstack_health,
        "the same for tools of LocalStack, with --compat localstack",
    ),
    route(&Method::GET, "/metrics", Handler::Metrics, "counters and gauges for Prometheus"),
    get("/_mock", index, "version, seed and this list"),
    get("/_mock/clock", clock::show, "the time of the clock"),
    post("/_mock/clock", clock::turn, "changes the clock: {advance, now, frozen}"),
    get("/_mock/faults", faults::list, "faults and their hits"),
    post("/_mock/faults", faults::inject, "injects a fault: {effect, ..}, see docs/faults.md"),
    delete("/_mock/faults", faults::clear, "removes all faults"),
    delete("/_mock/faults/{name}", faults::remove, "removes a fault by its id"),
    get("/_mock/quotas", quotas::list, "throughput quotas of FIFO queues"),
    post(
        "/_mock/quotas",
        quotas::set,
        "sets quotas: {quotas: true, false or {calls, ..}, queue, region, account}",
    ),
    delete("/_mock/quotas", quotas::remove, "removes all quotas, or one of ?queue= &region= &account="),
    get("/_mock/findings", findings::list, "the findings of strict mode"),
    delete("/_mock/findings", findings::clear, "removes all findings"),
    get("/_mock/queues", queues::list, "all queues ?skip= &limit="),
    get("/_mock/queues/{name}", queues::show, "a queue ?region= &account="),
    get(
        "/_mock/queues/{name}/why-empty",
        queues::why_empty,
        "why a receive would return nothing ?region= &account=",
    ),
    get(
        "/_mock/queues/{name}/move-tasks",
        queues::move_tasks,
        "its move tasks, as ListMessageMoveTasks returns them ?region= &account=",
    ),
    get(
        "/_mock/messages",
        messages::peek,
        "messages, without receiving them ?queue= (name, URL, ARN) &region= &account= &state= (available, in_flight, delayed) &skip= &limit=",
    ),
    delete(
        "/_mock/messages/{name}",
        messages::remove,
        "deletes a message by its id, without a receipt handle ?queue= &region= &account=",
    ),
    #[cfg(feature = "sns")]
    get("/_mock/topics", topics::list, "all topics with their subscriptions ?skip= &limit="),
    #[cfg(feature = "sns")]
    get(
        "/_mock/topics/{name}/published",
        topics::published,
        "the latest messages of a topic ?region= &account= &skip= &limit=",
    ),
    #[cfg(feature = "s3")]
    get("/_mock/buckets", buckets::list, "all buckets of S3 with their notification rules"),
    #[cfg(feature = "s3")]
    get(
        "/_mock/objects",
        buckets::objects,
        "the objects of a bucket ?bucket= &prefix= &after= (key) &limit=",
    ),
    #[cfg(feature = "s3")]
    route(
        &Method::GET,
        "/_mock/objects/content",
        Handler::Content,
        "the beginning of an object as text ?bucket= &key=",
    ),
    route(
        &Method::GET,
        "/_mock/events",
        Handler::Events,
        "a stream of server-sent events that tells what changed",
    ),
    route(&Method::POST, "/_mock/aws", Handler::Action, "an action of SQS, SNS or STS without a signature"),
    route(
        &Method::GET,
        "/_mock/wait",
        Handler::Wait,
        "waits for counts of messages ?queue= &region= &account= &available= &in_flight= &delayed= &total= &timeout= (s)",
    ),
    get(
        "/_mock/requests",
        requests::list,
        "the latest requests ?service= &action= &queue= &bucket= &topic= &matching= (part of a name) \
         &status= (none: no response) &after= (number) &skip= &limit=",
    ),
    get("/_mock/requests/{name}", requests::one, "a request by its number, with its response"),
    delete("/_mock/requests", requests::clear, "removes all recorded requests"),
    post(
        "/_mock/reset",
        server::reset,
        "removes queues, topics, move tasks, faults and recorded requests, ends long polls, restarts the clock",
    ),
    get(
        "/_aws/sqs/messages",
        backdoor::messages,
        "messages in the format of ReceiveMessage ?QueueUrl= &ShowInvisible= &ShowDelayed=",
    ),
    post("/_aws/sqs/messages", backdoor::messages, "the same, with a form or AWS JSON"),
];

/// `GET /_mock`.
fn index(ask: &Ask<'_>) -> Answered {
    ask.parameters(&[])?;
    let entry =
        |route: &Route| json!({ "method": route.method.as_str(), "path": route.path, "about": route.about });
    json(&json!({
        "name": env!("CARGO_PKG_NAME"),
        "version": env!("CARGO_PKG_VERSION"),
        // As text, since JSON parsers may round 64-bit numbers.
        "seed": ask.services.sqs.service().seed().to_string(),
        "routes": ROUTES.iter().map(entry).collect::<Vec<_>>(),
    }))
}

impl Route {
    /// The segment at `{name}`, or an empty text, if the path is one of this route.
    pub(super) fn matches<'p>(&self, path: &'p str) -> Option<&'p str> {
        let mut name = "";
        let mut given = path.trim_end_matches('/').split('/');
        for expected in self.path.split('/') {
            let given = given.next()?;
            if expected == "{name}" && !given.is_empty() {
                name = given;
            } else if expected != given {
                return None;
            }
        }
        given.next().is_none().then_some(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_matches_segment_by_segment() {
        let route = |path| get(path, index, "");
        let table = [
            ("/_mock", "/_mock", Some("")),
            ("/_mock", "/_mock/", Some("")),
            ("/_mock", "/_mock/clock", None),
            ("/_mock/queues/{name}", "/_mock/queues/orders.fifo", Some("orders.fifo")),
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
