//! Queue URLs that identify another queue on AWS, or none.

use sqs_client::wire::service_error::ServiceError;
use sqs_client::wire::validate::permission::is_account;

use super::queue_url::{Styled, looks_like_aws};
use crate::service::arn::QueueArn;
use crate::sqs::findings::{Finding, FindingKind};
use crate::sqs::ops::{Context, Service};

/// Reports a foreign queue URL, in strict mode.
///
/// # Errors
/// `QueueDoesNotExist`, with the text of the request's protocol.
pub(super) fn check(service: &Service, context: &Context, url: Option<&str>) -> Result<(), ServiceError> {
    let Some((findings, url)) = service.findings().zip(url) else { return Ok(()) };
    if context.public_url.as_deref().is_some_and(|base| is_own(url, base)) {
        return Ok(());
    }
    let Some(text) = problem(url, &context.region) else { return Ok(()) };
    let queue = QueueArn::named(url, &context.region, &context.account);
    let time = service.clock().now();
    let finding = Finding { kind: FindingKind::ForeignQueueUrl, queue, time, text };
    context.trace.note_finding(findings.report(finding));
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

#[cfg(test)]
mod tests {
    use super::*;

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
