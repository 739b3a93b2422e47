//! Retries: whether and when to try again.
//!
//! The decision is pure: attempt, failure, time left and a random number go in. The modes are those of the AWS
//! SDKs (<https://docs.aws.amazon.com/sdkref/latest/guide/feature-retry-behavior.html>): `standard` with a token
//! bucket, and `adaptive`, which also slows the client down while the service throttles it.

mod adaptive;
mod decision;

pub(crate) use adaptive::RateLimiter;
pub(crate) use decision::{Attempt, Decision, Failure, Policy, TokenBucket};
