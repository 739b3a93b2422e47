//! That the server runs, and what it can be asked.

use serde::Serialize;

use super::answer::{Answered, json};
use super::ask::Ask;
use super::routes::ROUTES;

const VERSION: &str = env!("CARGO_PKG_VERSION");

#[derive(Serialize)]
struct Health {
    status: &'static str,
    version: &'static str,
}

#[derive(Serialize)]
struct Index {
    name: &'static str,
    version: &'static str,
    /// As text: readers of JSON may round numbers of 64 bits.
    seed: String,
    routes: Vec<Entry>,
}

#[derive(Serialize)]
struct Entry {
    method: &'static str,
    path: &'static str,
    about: &'static str,
}

/// `GET /health`. Parameters are let pass: some load balancers add their own.
pub(super) fn health(_: &Ask<'_>) -> Answered {
    json(&Health { status: "ok", version: VERSION })
}

/// `GET /_mock`.
pub(super) fn index(ask: &Ask<'_>) -> Answered {
    ask.parameters(&[])?;
    let entry =
        |route: &super::Route| Entry { method: route.method.as_str(), path: route.path, about: route.about };
    json(&Index {
        name: env!("CARGO_PKG_NAME"),
        version: VERSION,
        seed: ask.endpoint.service().seed().to_string(),
        routes: ROUTES.iter().map(entry).collect(),
    })
}
