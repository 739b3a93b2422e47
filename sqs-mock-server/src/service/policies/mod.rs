//! Access policies: their documents, and which requests they allow.
//!
//! ```text
//! text -> Document (validated, stored) -> denial(Context: who, action, resource, keys) -> allowed | Why
//! ```
//! | Module | Contents |
//! |---|---|
//! | `document` | the document of a policy, validated and serialized like AWS |
//! | `context` | the caller of a request, and the condition keys that follow from it |
//! | `condition`, `wildcard`, `variable` | condition operators; patterns with `*` and `?`; `${..}` in texts |
//! | `comparison` | whether a statement matches a request |
//! | `evaluate` | the decision about a request, and the reason of a denial |

mod comparison;
mod condition;
mod context;
mod document;
mod evaluate;
#[cfg(test)]
mod tests;
mod variable;
mod wildcard;

use serde::Deserialize;

pub(crate) use context::{Context, Principal};
pub(crate) use document::{Document, List, Principals, Statement, Version, is_action_of};
#[cfg(any(test, feature = "s3", feature = "sns"))]
pub(crate) use evaluate::Why;
pub(crate) use evaluate::{denial, explicit_denial};

/// What access policies do. It concerns deliveries by services such as SNS and S3, callers of other accounts, and
/// statements that deny.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Policies {
    /// Policies are only stored.
    Off,
    /// Requests and deliveries that AWS denies succeed. The log and the recorded request say what denies them.
    #[default]
    Warn,
    /// Requests and deliveries are denied as on AWS.
    Enforce,
}
