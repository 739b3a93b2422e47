//! The names that a server goes by, and the callers that it admits.

use http::request::Parts;
use sqs_client::wire::sign::{Claim, VerifyError, verify_for};

use super::Guard;
use crate::service::keys::{Keys, verifiable};
use crate::service::operation::ServiceName;
use crate::service::{caller, clock};

/// Defaults for requests to all services, and the rules for callers.
#[derive(Debug)]
pub(crate) struct Names {
    /// Account of callers whose access key is not an account number.
    pub(crate) account: String,
    /// Region of callers that do not sign and whose host does not name a region.
    pub(crate) region: String,
    /// The configured URL of this server; by default the host that the caller used.
    pub(crate) public_url: Option<String>,
    /// Host for callers that send no `Host`.
    pub(crate) own_host: String,
    /// The accepted access keys; `None` accepts any caller.
    pub(crate) keys: Option<Keys>,
    /// The rules for requests of browsers.
    pub(crate) guard: Guard,
}

/// Why a request is not admitted.
#[derive(Debug)]
pub(crate) enum Denied {
    /// A page of another site makes it; the text says more.
    Guard(String),
    /// Its signature is missing or wrong.
    Signature(VerifyError),
}

impl Names {
    /// The host that a caller used.
    pub(crate) fn host<'h>(&'h self, head: &'h Parts) -> &'h str {
        caller::host(head).unwrap_or(&self.own_host)
    }

    /// The URL of the server for callers that use this host, without a slash at the end.
    pub(crate) fn base_url(&self, host: &str) -> String {
        self.public_url.clone().unwrap_or_else(|| format!("http://{host}"))
    }

    /// Rejects pages of other sites, and wrong signatures if signatures are required. Signatures are checked with the
    /// system time, not the mock clock, since callers sign with theirs.
    pub(crate) fn admit(
        &self,
        service: ServiceName,
        head: &Parts,
        body: &[u8],
        changes: bool,
    ) -> Result<Option<Claim>, Denied> {
        self.guard.check_action(head, changes).map_err(Denied::Guard)?;
        let Some(keys) = self.keys.as_ref().filter(|_| !caller::is_trusted(head)) else { return Ok(None) };
        let claim = verify_for(service.as_str(), verifiable(head, body), keys, clock::system_time());
        claim.map(Some).map_err(Denied::Signature)
    }
}
