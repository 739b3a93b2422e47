//! Retries: what a failure means (`classify`), and whether and when to try again (`decision`).
//!
//! The decision is pure: attempt, failure, time left and a random number go in. The modes are those of the AWS
//! SDKs (<https://docs.aws.amazon.com/sdkref/latest/guide/feature-retry-behavior.html>): `standard` with a token
//! bucket, and `adaptive`, which also slows the client down while the service throttles it.

mod adaptive;
mod classify;
mod decision;

pub(crate) use adaptive::RateLimiter;
pub(crate) use classify::{Failure, classify};
pub(crate) use decision::{Decision, Policy, TokenBucket};
