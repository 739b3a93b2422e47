//! Parts shared by all services of a server. Nothing here depends on a service, except for names of operations and
//! resources.

pub(crate) mod arn;
pub(crate) mod caller;
pub mod clock;
#[cfg_attr(not(feature = "durable"), expect(dead_code, reason = "only a store commits"))]
pub(crate) mod commits;
pub(crate) mod delivery;
pub mod faults;
pub(crate) mod journal;
pub(crate) mod metrics;
pub(crate) mod operation;
pub(crate) mod policies;
#[cfg_attr(
    not(any(feature = "cli", feature = "explore")),
    expect(unreachable_pub, reason = "the module explore exports its types")
)]
pub(crate) mod schedule;
pub(crate) mod seed;
pub(crate) mod session;
pub(crate) mod text;
