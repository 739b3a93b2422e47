//! Decides for a failure of an SDK HTTP client whether the request may have been sent.

use std::error::Error as StdError;
use std::io;

use aws_smithy_runtime_api::client::dns::ResolveDnsError;
use aws_smithy_runtime_api::client::result::ConnectorError;

/// Whether the service cannot have seen the request. What is not known for certain counts as sent.
pub(crate) fn was_never_sent(error: &ConnectorError) -> bool {
    if error.is_user() {
        return true;
    }
    let mut next: Option<&(dyn StdError + 'static)> = Some(error);
    while let Some(error) = next {
        if error.is::<ResolveDnsError>()
            || error.downcast_ref().is_some_and(is_unreachable)
            || is_of_connecting(error)
        {
            return true;
        }
        next = error.source();
    }
    false
}

fn is_unreachable(error: &io::Error) -> bool {
    use io::ErrorKind::{AddrNotAvailable, ConnectionRefused, HostUnreachable, NetworkUnreachable};
    matches!(error.kind(), AddrNotAvailable | ConnectionRefused | HostUnreachable | NetworkUnreachable)
}

/// Matches on the text, because the error types of the SDK's HTTP clients are private or specific to one crate version.
fn is_of_connecting(error: &dyn StdError) -> bool {
    let text = error.to_string();
    text == "client error (Connect)" || text.starts_with("HTTP connect timeout")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_without_a_connection_was_never_sent() {
        let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
        assert!(was_never_sent(&ConnectorError::io(refused.into())));
        let unknown = ResolveDnsError::new("no such host");
        assert!(was_never_sent(&ConnectorError::io(unknown.into())));
        assert!(was_never_sent(&ConnectorError::user("no URI".into())));
    }

    #[test]
    fn unknown_failure_counts_as_sent() {
        let reset = io::Error::from(io::ErrorKind::ConnectionReset);
        assert!(!was_never_sent(&ConnectorError::io(reset.into())));
        assert!(!was_never_sent(&ConnectorError::timeout("HTTP read timeout occurred after 1s".into())));
        assert!(!was_never_sent(&ConnectorError::other("unknown".into(), None)));
    }
}
