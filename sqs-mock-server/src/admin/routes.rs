//! The table of all routes. `GET /_mock` shows it.

use http::Method;
use serde_json::json;

use super::answer::{Answered, Refusal, json};
use super::ask::{Ask, Parameters};
#[cfg(feature = "s3")]
use super::buckets;
use super::topics;
use super::{clock, faults, messages, queues, quotas, requests, server};

/// A route of the admin API.
pub(super) struct Route {
    pub(super) method: &'static Method,
    /// One segment may be `{name}`, for example of a queue. After `?` follow the names of the parameters that a request
    /// may have, such as `skip&limit`, or `*` if it may have any.
    path: &'static str,
    about: &'static str,
    pub(super) handler: Handler,
}

/// The handler of a route.
#[derive(Clone, Copy)]
pub(super) enum Handler {
    /// A function that does not wait.
    Now(fn(&Ask<'_>) -> Answered),
    /// [`wait`](queues::wait), which waits.
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
    get("/health?*", server::health, "reports that the server is running"),
    get(
        "/_localstack/health?*",
        server::localstack_health,
        "the same for tools of LocalStack, with --compat localstack",
    ),
    route(&Method::GET, "/metrics?*", Handler::Metrics, "counters and gauges for Prometheus"),
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
    delete("/_mock/quotas?queue&region&account", quotas::remove, "removes all quotas, or one"),
    get("/_mock/findings", server::findings, "the findings of strict mode"),
    delete("/_mock/findings", server::forget_findings, "removes all findings"),
    get("/_mock/queues?skip&limit", queues::list, "all queues"),
    get("/_mock/queues/{name}?region&account", queues::show, "a queue"),
    get(
        "/_mock/queues/{name}/why-empty?region&account",
        queues::why_empty,
        "why a receive would return nothing",
    ),
    get("/_mock/queues/{name}/move-tasks?region&account", queues::move_tasks, "its latest move tasks"),
    get(
        "/_mock/messages?queue&region&account&state&skip&limit",
        messages::peek,
        "messages of a queue (name, URL, ARN), without receiving them; state: available, in_flight or delayed",
    ),
    delete(
        "/_mock/messages/{name}?queue&region&account",
        messages::remove,
        "deletes a message by its id, without a receipt handle",
    ),
    get("/_mock/topics?skip&limit", topics::list, "all topics with their subscriptions"),
    get(
        "/_mock/topics/{name}/published?region&account&skip&limit",
        topics::published,
        "the latest messages of a topic",
    ),
    #[cfg(feature = "s3")]
    get("/_mock/buckets", buckets::list, "all buckets of S3 with their notification rules"),
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
    route(
        &Method::GET,
        "/_mock/wait?queue&region&account&timeout&available&in_flight&delayed&total",
        Handler::Wait,
        "waits for counts of messages (timeout: seconds)",
    ),
    get(
        "/_mock/requests?service&action&queue&bucket&topic&matching&status&after&skip&limit",
        requests::list,
        "the latest requests (matching: part of a name; status none: no response; after: number)",
    ),
    get("/_mock/requests/{name}", requests::one, "a request by its number, with its response"),
    delete("/_mock/requests", requests::clear, "removes all recorded requests"),
    post(
        "/_mock/reset",
        server::reset,
        "removes queues, topics, move tasks, faults and recorded requests, ends long polls, restarts the clock",
    ),
    // It ignores the other parameters of ReceiveMessage.
    get(
        "/_aws/sqs/messages?*",
        messages::as_received,
        "messages in the format of ReceiveMessage ?QueueUrl= &ShowInvisible= &ShowDelayed=",
    ),
    post("/_aws/sqs/messages?*", messages::as_received, "the same, with a form or AWS JSON"),
];

/// `GET /_mock`.
fn index(ask: &Ask<'_>) -> Answered {
    let entry = |route: &Route| {
        let (path, parameters) = route.parts();
        let parameters: Vec<_> = parameters.split('&').filter(|name| !["", "*"].contains(name)).collect();
        json!({ "method": route.method.as_str(), "path": path, "parameters": parameters, "about": route.about })
    };
    json(&json!({
        "name": env!("CARGO_PKG_NAME"),
        "version": env!("CARGO_PKG_VERSION"),
        // As text, since JSON parsers may round 64-bit numbers.
        "seed": ask.sqs().seed().to_string(),
        "routes": ROUTES.iter().map(entry).collect::<Vec<_>>(),
    }))
}

impl Route {
    fn parts(&self) -> (&'static str, &'static str) {
        self.path.split_once('?').unwrap_or((self.path, ""))
    }

    /// The segment at `{name}`, or an empty text, if the path is one of this route.
    pub(super) fn matches<'p>(&self, path: &'p str) -> Option<&'p str> {
        let mut name = "";
        let mut given = path.trim_end_matches('/').split('/');
        for expected in self.parts().0.split('/') {
            let given = given.next()?;
            if expected == "{name}" && !given.is_empty() {
                name = given;
            } else if expected != given {
                return None;
            }
        }
        given.next().is_none().then_some(name)
    }

    /// The parameters of a request. Fails for parameters that this route does not have, and for repeated ones.
    pub(super) fn parameters<'q>(&self, query: &'q str) -> Result<Parameters<'q>, Refusal> {
        match self.parts().1 {
            "*" => Ok(Parameters::default()),
            allowed => Parameters::parse(query.as_bytes(), allowed),
        }
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
