//! A service with the Query protocol.

use std::future::Future;

use super::form::Form;
use super::xml::Xml;
use crate::service::faults::{Entry, FailingEntry};
use crate::service::operation::ServiceName;
use crate::service::query_error::QueryError;
use crate::service::resource::Resource;

/// The actions of a service.
pub(crate) trait Api: Sync {
    /// The name in credential scopes.
    const SERVICE: ServiceName;
    /// The XML namespace of responses.
    const NAMESPACE: &'static str;
    /// One of the actions.
    type Kind: Copy + Send + Sync;

    /// Finds an action.
    fn action(name: &str) -> Option<Action<Self::Kind>>;

    /// The resource that a request addresses.
    fn resource(_: &Call<'_>) -> Option<Resource> {
        None
    }

    /// The entries of a batch, for faults. Other requests have none.
    fn entries(_: Self::Kind, _: &Form) -> Vec<Entry<'_>> {
        Vec::new()
    }

    /// Runs an action.
    fn serve(
        &self,
        action: Action<Self::Kind>,
        call: &Call<'_>,
    ) -> impl Future<Output = Result<Output, QueryError>> + Send;
}

/// An action of a service.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Action<K> {
    pub(crate) kind: K,
    pub(crate) name: &'static str,
    pub(crate) access: Access,
}

/// Who may call an action.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Access {
    /// It changes nothing, so that a browser may call it by GET.
    Read,
    /// It changes something.
    Change,
    /// It also works as a link, without a signature: a parameter is a secret.
    Link,
}

/// A request whose caller is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call<'a> {
    pub(crate) form: &'a Form,
    /// 12 digits.
    pub(crate) account: &'a str,
    pub(crate) region: &'a str,
    pub(crate) origin: Origin<'a>,
    /// Whether the request has a signature, valid or not.
    pub(crate) is_signed: bool,
    /// Entries of its batch that fail by a fault.
    pub(crate) failing: &'a [FailingEntry],
    /// Ids of entries that the response leaves out, by a fault.
    pub(crate) omitted: &'a [String],
}

/// What a message tells about the request that sends it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin<'a> {
    /// The URL of this server for the caller, without a slash at the end.
    pub(crate) base_url: &'a str,
    /// The header `X-Amzn-Trace-Id`.
    pub(crate) trace_header: Option<&'a str>,
}

/// A successful response. The default has no result element.
#[derive(Debug, Default)]
pub(crate) struct Output {
    /// The content of the result element. `None` for actions without one.
    pub(crate) result: Option<Xml>,
    /// What the recorded request says about its effects.
    pub(crate) notes: Vec<String>,
}

impl Output {
    /// A response with a result.
    pub(crate) fn of(write: impl FnOnce(&mut Xml)) -> Self {
        let mut xml = Xml::default();
        write(&mut xml);
        Self { result: Some(xml), notes: Vec::new() }
    }
}
