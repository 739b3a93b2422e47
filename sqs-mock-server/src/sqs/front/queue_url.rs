//! The base of queue URLs: the host that the caller used, in one of the styles of AWS.

use std::net::IpAddr;

use serde::Deserialize;

use crate::service::caller::is_region;

/// How queue URLs name the region.
///
/// Requests may use any style: only the last two segments of a queue URL matter, and the host of an unsigned request
/// names the region if it has one of these forms.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Hash, PartialEq)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum QueueUrlStyle {
    /// Without a region: `http://<host>/<account>/<name>`.
    #[default]
    Path,
    /// The current style of AWS: `http://sqs.<region>.<host>/<account>/<name>`.
    Subdomain,
    /// The previous style of AWS: `http://<region>.queue.<host>/<account>/<name>`.
    Legacy,
}

impl QueueUrlStyle {
    /// The URL of a queue up to the slash before its account. The host may have a port, and may already have a style.
    ///
    /// Subdomains need a domain: `localhost` replaces loopback addresses, and other addresses stay unchanged, without a
    /// region.
    pub(crate) fn base(self, host: &str, region: &str) -> String {
        if self == Self::Path {
            return format!("http://{host}");
        }
        let bare = Styled::of(host).map_or(host, |styled| styled.rest);
        let (domain, port) = split_port(bare);
        let domain = match domain.trim_matches(['[', ']']).parse::<IpAddr>() {
            Ok(address) if address.is_loopback() => "localhost",
            Ok(_) => return format!("http://{host}"),
            Err(_) => domain,
        };
        match self {
            Self::Legacy => format!("http://{region}.queue.{domain}{port}"),
            _ => format!("http://sqs.{region}.{domain}{port}"),
        }
    }
}

/// The name or address, and the port with its colon.
fn split_port(host: &str) -> (&str, &str) {
    match host.rfind(':') {
        Some(colon) if !host.ends_with(']') => host.split_at(colon),
        _ => (host, ""),
    }
}

/// A host that names a region.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Styled<'h> {
    pub(super) region: &'h str,
    /// The host without the region.
    rest: &'h str,
}

impl<'h> Styled<'h> {
    /// Reads `sqs.<region>.<rest>`, `sqs-fips.<region>.<rest>`, `<region>.queue.<rest>` and `queue.amazonaws.com`.
    pub(super) fn of(host: &'h str) -> Option<Self> {
        let (first, others) = host.split_once('.')?;
        if let "sqs" | "sqs-fips" = first {
            let (region, rest) = others.split_once('.')?;
            return looks_like_aws(region).then_some(Self { region, rest });
        }
        if split_port(host).0 == "queue.amazonaws.com" {
            return Some(Self { region: "us-east-1", rest: others });
        }
        let rest = others.strip_prefix("queue.").filter(|rest| !rest.is_empty())?;
        looks_like_aws(first).then_some(Self { region: first, rest })
    }
}

/// Whether a label of a host has the form of an AWS region, such as `us-gov-west-1`.
pub(super) fn looks_like_aws(label: &str) -> bool {
    let mut parts = label.rsplit('-');
    let numbered =
        parts.next().is_some_and(|part| part.bytes().all(|byte| byte.is_ascii_digit()) && !part.is_empty());
    let words = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_lowercase());
    is_region(label) && numbered && parts.clone().count() >= 2 && parts.all(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_may_name_the_region() {
        for (host, region, rest) in [
            ("sqs.eu-west-1.amazonaws.com", "eu-west-1", "amazonaws.com"),
            ("sqs.us-gov-west-1.localhost:9324", "us-gov-west-1", "localhost:9324"),
            ("sqs-fips.us-east-2.amazonaws.com", "us-east-2", "amazonaws.com"),
            ("eu-west-1.queue.localhost:9324", "eu-west-1", "localhost:9324"),
            ("ap-south-1.queue.amazonaws.com", "ap-south-1", "amazonaws.com"),
            ("queue.amazonaws.com", "us-east-1", "amazonaws.com"),
            ("queue.amazonaws.com:443", "us-east-1", "amazonaws.com:443"),
        ] {
            assert_eq!(Styled::of(host), Some(Styled { region, rest }), "{host}");
        }
        for host in [
            "",
            "localhost",
            "127.0.0.1:9324",
            "[::1]:9324",
            "sqs",
            "sqs.test",
            "sqs.in-docker:9324",
            "sqs.us-east-1",
            "sqs.mnq.fr-par.scaleway.com",
            "queue.test",
            "mine.queue.test",
            "us-east-1.queue.",
            "sqs.-1.x",
            "sqs.a-1.x",
        ] {
            assert_eq!(Styled::of(host), None, "{host}");
        }
    }

    #[test]
    fn styles_add_the_region_before_the_domain() {
        use QueueUrlStyle::{Legacy, Path, Subdomain};
        for (style, host, base) in [
            (Path, "127.0.0.1:9324", "http://127.0.0.1:9324"),
            (Path, "sqs.us-east-1.localhost:9324", "http://sqs.us-east-1.localhost:9324"),
            (Subdomain, "127.0.0.1:9324", "http://sqs.eu-west-1.localhost:9324"),
            (Subdomain, "[::1]:9324", "http://sqs.eu-west-1.localhost:9324"),
            (Subdomain, "mock:9324", "http://sqs.eu-west-1.mock:9324"),
            (Subdomain, "mock.test", "http://sqs.eu-west-1.mock.test"),
            (Subdomain, "sqs.us-east-1.mock.test", "http://sqs.eu-west-1.mock.test"),
            (Subdomain, "us-east-1.queue.mock:1", "http://sqs.eu-west-1.mock:1"),
            (Subdomain, "10.0.0.7:9324", "http://10.0.0.7:9324"),
            (Legacy, "localhost:9324", "http://eu-west-1.queue.localhost:9324"),
            (Legacy, "queue.amazonaws.com", "http://eu-west-1.queue.amazonaws.com"),
        ] {
            assert_eq!(style.base(host, "eu-west-1"), base, "{style:?} {host}");
        }
    }
}
