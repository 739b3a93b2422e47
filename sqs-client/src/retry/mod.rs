//! Retries: whether and when to send a request again.
//!
//! The decision is a pure function of the failed attempt, the remaining time and a random number. The modes are those of
//! the AWS SDKs (<https://docs.aws.amazon.com/sdkref/latest/guide/feature-retry-behavior.html>): `standard` with a token
//! bucket, and `adaptive`, which also limits the request rate while the service throttles.

mod adaptive;
mod decision;

pub(crate) use adaptive::RateLimiter;
pub(crate) use decision::{Attempt, Decision, Failure, Policy, TokenBucket};
