//! Queue URLs: their base, which is the host that the caller used in one of the styles of AWS; and those that identify
//! another queue on AWS, or none.

use std::net::IpAddr;

use serde::Deserialize;
use sqs_client::wire::service_error::ServiceError;
use sqs_client::wire::validate::queue::is_account;

use crate::control::arn::QueueArn;
use crate::control::caller::is_region;
use crate::sqs::findings::{Finding, FindingKind};
use crate::sqs::ops::Context;
use crate::sqs::service::Service;

/// How queue URLs name the region.
///
/// Requests may use any style: only the last two segments of a queue URL matter. The region of an unsigned request is that of its host, if
/// it has one of these forms, or that of a queue URL in the style of LocalStack: `/queue/<region>/<account>/<name>`.
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
    pub(crate) fn base(self, scheme: &str, host: &str, region: &str) -> String {
        if self == Self::Path {
            return format!("{scheme}://{host}");
        }
        let bare = Styled::of(host).map_or(host, |styled| styled.rest);
        let (domain, port) = split_port(bare);
        let domain = match domain.trim_matches(['[', ']']).parse::<IpAddr>() {
            Ok(address) if address.is_loopback() => "localhost",
            Ok(_) => return format!("{scheme}://{host}"),
            Err(_) => domain,
        };
        match self {
            Self::Legacy => format!("{scheme}://{region}.queue.{domain}{port}"),
            _ => format!("{scheme}://sqs.{region}.{domain}{port}"),
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
pub(crate) struct Styled<'h> {
    pub(crate) region: &'h str,
    /// The host without the region.
    rest: &'h str,
}

impl<'h> Styled<'h> {
    /// Reads `sqs.<region>.<rest>`, `sqs-fips.<region>.<rest>`, `<region>.queue.<rest>` and `queue.amazonaws.com`.
    pub(crate) fn of(host: &'h str) -> Option<Self> {
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
fn looks_like_aws(label: &str) -> bool {
    let mut parts = label.rsplit('-');
    let numbered =
        parts.next().is_some_and(|part| part.bytes().all(|byte| byte.is_ascii_digit()) && !part.is_empty());
    let words = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_lowercase());
    is_region(label) && numbered && parts.clone().count() >= 2 && parts.all(words)
}

/// The region in a queue URL that ends with `/queue/<region>/<account>/<name>`, as those of LocalStack do.
pub(crate) fn region_in_path(url: &str) -> Option<&str> {
    let mut segments = url.trim_end_matches('/').rsplit('/').skip(1);
    let [account, region, queue] = [(); 3].map(|()| segments.next());
    region.filter(|region| is_region(region) && queue == Some("queue") && account.is_some_and(is_account))
}

/// Reports a foreign queue URL, in strict mode.
///
/// # Errors
/// `QueueDoesNotExist`, with the text of the request's protocol.
pub(crate) fn check_url(service: &Service, context: &Context, url: Option<&str>) -> Result<(), ServiceError> {
    let Some(url) = url.filter(|_| service.is_strict()) else { return Ok(()) };
    if context.public_url.as_deref().is_some_and(|base| is_own(url, base)) {
        return Ok(());
    }
    let Some(text) = problem(url, &context.region) else { return Ok(()) };
    let queue = QueueArn::named(url, &context.region, &context.account);
    let time = service.clock().now();
    let finding = Finding { kind: FindingKind::ForeignQueueUrl, queue, time, text };
    context.trace.note_finding(service.findings().report(finding));
    Err(context.no_such_queue())
}

/// Whether this server returns such a URL to the caller. A configured base may look like one with a region.
fn is_own(url: &str, base_url: &str) -> bool {
    let path = url.strip_prefix(base_url).and_then(|rest| rest.strip_prefix('/'));
    path.and_then(|path| path.split_once('/'))
        .is_some_and(|(account, name)| is_account(account) && !name.contains('/'))
}

/// The mistake in a queue URL of a request for this region. A queue name instead of a URL is valid, as on AWS.
fn problem(url: &str, region: &str) -> Option<String> {
    let (host, path) = match url.split_once("://") {
        Some((_, rest)) => rest.split_once('/')?,
        None => ("", url.strip_prefix('/')?),
    };
    let mut segments = path.trim_end_matches('/').rsplit('/').skip(1);
    let account = segments.next().unwrap_or_default();
    let in_path = || segments.find(|segment| looks_like_aws(segment));
    let named = Styled::of(host).map(|styled| styled.region).or_else(in_path);
    if let Some(named) = named.filter(|named| *named != region) {
        return Some(format!(
            "queue URL {url:?} names region {named}, but the request is signed for {region}"
        ));
    }
    let text = || format!("queue URL {url:?} has no account; it must end with 12 digits and the queue name");
    (!is_account(account)).then(text)
}

/// The account and the name in a queue URL. Host and region are ignored: a server accepts any host for all accounts,
/// and the region is that of the caller.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Address<'a> {
    pub(crate) account: &'a str,
    pub(crate) name: &'a str,
}

impl<'a> Address<'a> {
    /// Parses `<anything>/<account>/<name>`, or a name alone. If the account is missing or invalid, as in
    /// `http://host/queue/<name>`, the account of the caller is used.
    pub(crate) fn parse(url: &'a str, own_account: &'a str) -> Self {
        let path = url.split_once("://").map_or(url, |(_, rest)| rest);
        let mut segments = path.trim_end_matches('/').rsplit('/');
        let name = segments.next().unwrap_or_default();
        let account = segments.next().filter(|segment| is_account(segment));
        Self { account: account.unwrap_or(own_account), name }
    }
}

impl Context {
    /// The URL of a queue for this caller.
    pub(crate) fn queue_url(&self, account: &str, name: &str) -> String {
        format!("{}/{account}/{name}", self.base_url)
    }
}

#[cfg(test)]
mod queue_url_tests {
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
            assert_eq!(style.base("http", host, "eu-west-1"), base, "{style:?} {host}");
        }
    }

    #[test]
    fn queue_urls_of_the_region_with_an_account_are_valid() {
        for url in [
            "http://localhost:9324/000000000000/orders",
            "http://sqs.us-east-1.localhost:9324/000000000000/orders",
            "https://sqs.us-east-1.amazonaws.com/123456789012/orders.fifo/",
            "http://us-east-1.queue.localhost:9324/000000000000/orders",
            "https://sqs.test/base/000000000000/orders",
            "http://localhost:4566/queue/us-east-1/000000000000/orders",
            "/000000000000/orders",
            "orders",
            "",
        ] {
            assert_eq!(problem(url, "us-east-1"), None, "{url}");
        }
    }

    #[test]
    fn queue_url_of_the_server_itself_is_valid_whatever_its_base_looks_like() {
        for base in ["http://proxy/team-blue-7", "http://sqs.us-east-1.corp.example"] {
            assert!(is_own(&format!("{base}/000000000000/orders"), base));
            assert!(!is_own(&format!("{base}/queue/eu-west-1/000000000000/orders"), base));
        }
        assert!(!is_own(
            "http://sqs.eu-west-1.localhost/000000000000/orders",
            "http://sqs.us-east-1.localhost"
        ));
    }

    #[test]
    fn queue_url_of_another_region_is_foreign() {
        for url in [
            "http://sqs.eu-west-1.localhost:9324/000000000000/orders",
            "https://eu-west-1.queue.amazonaws.com/000000000000/orders",
            "http://localhost:4566/queue/eu-west-1/000000000000/orders",
        ] {
            let text =
                format!("queue URL {url:?} names region eu-west-1, but the request is signed for us-east-1");
            assert_eq!(problem(url, "us-east-1"), Some(text));
        }
    }

    #[test]
    fn queue_url_without_an_account_is_foreign() {
        for url in ["http://localhost:9324/orders", "http://localhost:9324/queue/orders", "/queue/orders"] {
            let text =
                format!("queue URL {url:?} has no account; it must end with 12 digits and the queue name");
            assert_eq!(problem(url, "us-east-1"), Some(text));
        }
    }
}

#[cfg(test)]
mod address_tests {
    use super::*;

    #[test]
    fn url_with_any_host_and_prefix_yields_account_and_name() {
        let table = [
            ("http://localhost:9324/123456789012/orders", "123456789012", "orders"),
            ("https://sqs.eu-west-1.amazonaws.com/123456789012/orders.fifo", "123456789012", "orders.fifo"),
            ("http://localhost:4566/queue/us-east-1/123456789012/orders", "123456789012", "orders"),
            ("http://localhost:9324/queue/orders", "111122223333", "orders"),
            ("/123456789012/orders/", "123456789012", "orders"),
            ("orders", "111122223333", "orders"),
            ("http://orders", "111122223333", "orders"),
            ("", "111122223333", ""),
            ("///", "111122223333", ""),
        ];
        for (url, account, name) in table {
            assert_eq!(Address::parse(url, "111122223333"), Address { account, name }, "{url}");
        }
    }
}
