//! The table of all that can be asked. `GET /_mock` shows it.

use http::Method;

use super::answer::Answered;
use super::ask::Ask;
use super::{about, clock};

/// Something that can be asked.
pub(super) struct Route {
    pub(super) method: &'static Method,
    /// One segment may be `{name}`: the name of a queue.
    pub(super) path: &'static str,
    pub(super) about: &'static str,
    pub(super) answer: fn(&Ask<'_>) -> Answered,
}

const GET: &Method = &Method::GET;
const POST: &Method = &Method::POST;

/// All of it.
pub(super) const ROUTES: &[Route] = &[
    Route { method: GET, path: "/health", about: "says that the server runs", answer: about::health },
    Route { method: GET, path: "/_mock", about: "version, seed and this list", answer: about::index },
    Route { method: GET, path: "/_mock/clock", about: "what the clock shows", answer: clock::show },
    Route {
        method: POST,
        path: "/_mock/clock",
        about: "turns it: {advance, now, frozen}",
        answer: clock::turn,
    },
];

impl Route {
    /// Whether a path is this one's; if so, with what stands for `{name}`, or with nothing.
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
        let route = |path| Route { method: GET, path, about: "", answer: about::index };
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
