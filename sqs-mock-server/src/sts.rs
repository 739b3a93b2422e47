//! AWS STS: the identity of the caller, which SDKs and provisioning tools ask for when they start.
//!
//! The server knows accounts, but no users: every caller is the root user of its account.

use crate::control::arn::root;
use crate::control::operation::{GET_CALLER_IDENTITY, ServiceName};
use crate::front::Access;
use crate::query::{Action, Actions, Call, Output, QueryError};

/// STS.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sts;

impl Actions for Sts {
    const SERVICE: ServiceName = ServiceName::Sts;
    const NAMESPACE: &'static str = "https://sts.amazonaws.com/doc/2011-06-15/";
    /// There is only one.
    type Kind = ();

    fn action(name: &str) -> Option<Action<()>> {
        let action = Action { kind: (), name: GET_CALLER_IDENTITY, access: Access::Read };
        (name == GET_CALLER_IDENTITY).then_some(action)
    }

    async fn serve(&self, _: Action<()>, call: &Call<'_>) -> Result<Output, QueryError> {
        Ok(Output::of(|xml| {
            xml.leaf("Arn", &root(call.region, call.account));
            xml.leaf("UserId", call.account);
            xml.leaf("Account", call.account);
        }))
    }
}
