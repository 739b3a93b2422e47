//! Integration tests, in one binary so that they link once.

mod constructs;
mod errors;
mod hooks;
mod http_client;
mod no_secrets;
// Of the client's tests.
#[allow(dead_code, reason = "not all of it is used here")]
#[path = "../../../tests/it/service.rs"]
mod service;
mod settings;
