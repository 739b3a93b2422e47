//! Rules for single settings, which apply to files, flags and the builder.

use http::Uri;
use sqs_client::wire::validate::queue::is_account;

use super::{Config, Problem};
use crate::http::{is_host, is_origin};
use crate::service::caller::is_region;
use crate::service::keys::Secret;

/// A rule for the text of a setting.
struct Rule {
    is_legal: fn(&str) -> bool,
    allowed: &'static str,
}

const ACCOUNT: Rule = Rule { is_legal: is_account, allowed: "allowed are 12 digits" };
const REGION: Rule =
    Rule { is_legal: is_region, allowed: "allowed are 1 to 32 of a-z, 0-9 and -, such as \"eu-west-1\"" };
const URL: Rule = Rule { is_legal: is_base_url, allowed: "allowed is a URL such as \"http://host:port\"" };
const HOST: Rule = Rule { is_legal: is_host, allowed: "allowed is a host name or address without a port" };
const ORIGIN: Rule =
    Rule { is_legal: is_origin, allowed: "allowed is an origin such as \"http://localhost:3000\"" };

/// The problems of the region and the account of a queue or a topic, whose path in the file is `at`.
pub(super) fn problems_of_home(at: &str, region: Option<&str>, account: Option<&str>) -> Vec<Problem> {
    let region = region.and_then(|region| REGION.check(format!("{at}.region"), region));
    let account = account.and_then(|account| ACCOUNT.check(format!("{at}.account"), account));
    region.into_iter().chain(account).collect()
}

impl Rule {
    fn check(&self, path: impl Into<String>, given: &str) -> Option<Problem> {
        let text = || format!("{given:?} is not allowed; {}", self.allowed);
        (!(self.is_legal)(given)).then(|| Problem::new(path, text()))
    }

    fn check_list(&self, path: &str, given: &[String]) -> impl Iterator<Item = Problem> {
        given.iter().enumerate().filter_map(move |(at, given)| self.check(format!("{path}[{at}]"), given))
    }
}

fn is_base_url(text: &str) -> bool {
    let Ok(uri) = text.parse::<Uri>() else { return false };
    matches!(uri.scheme_str(), Some("http" | "https")) && uri.authority().is_some() && uri.query().is_none()
}

impl Config {
    /// The problems of single settings, and of each queue, topic, subscription and bucket.
    pub(super) fn problems(&self) -> Vec<Problem> {
        let texts = [
            ("account", &self.account, ACCOUNT),
            ("region", &self.region, REGION),
            ("public_url", &self.public_url, URL),
        ];
        let texts = texts.into_iter().filter_map(|(path, text, rule)| rule.check(path, text.as_deref()?));
        let hosts = HOST.check_list("allow_hosts", &self.allow_hosts);
        let origins = ORIGIN.check_list("cors_origins", &self.cors_origins);
        let mut found: Vec<_> = texts.chain(hosts).chain(origins).collect();
        found.extend(self.zero_limits());
        for (id, _) in self.keys.iter().filter(|(_, secret)| secret.as_str().is_empty()) {
            found.push(Problem::new(format!("keys.{id}"), "allowed is a secret that is not empty"));
        }
        let token = self.admin_token.as_ref().map(Secret::as_str);
        if token.is_some_and(|token| token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic())) {
            found.push(Problem::new("admin_token", "allowed is one or more visible ASCII characters"));
        }
        #[cfg(feature = "cli")]
        found.extend(self.log.as_deref().and_then(problem_of_log));
        #[cfg(feature = "s3")]
        if let Some(s3) = &self.s3 {
            if s3.directory.as_ref().is_some_and(|directory| directory.as_os_str().is_empty()) {
                found.push(Problem::new("s3.directory", "it is empty; allowed is the path of a directory"));
            }
            for (at, bucket) in s3.buckets.iter().enumerate() {
                let text = crate::s3::problem_of_bucket_name(bucket);
                found.extend(text.map(|text| Problem::new(format!("s3.buckets[{at}]"), text)));
            }
        }
        for (at, queue) in self.queues.iter().enumerate() {
            found.extend(queue.problems(&format!("queues[{at}]")));
        }
        for (at, topic) in self.topics.iter().enumerate() {
            found.extend(topic.problems(&format!("topics[{at}]")));
        }
        for (at, subscription) in self.subscriptions.iter().enumerate() {
            found.extend(subscription.problems(&format!("subscriptions[{at}]")));
        }
        #[cfg(feature = "s3")]
        for (at, bucket) in self.buckets.iter().enumerate() {
            found.extend(bucket.problems(&format!("buckets[{at}]")));
        }
        found
    }

    /// Limits of 0 that would make the server useless.
    fn zero_limits(&self) -> impl Iterator<Item = Problem> {
        let limits = &self.limits;
        let table = [
            ("max_memory", limits.max_memory == 0, "no message could be sent"),
            ("max_queues", limits.max_queues == 0, "no queue could be created"),
            ("max_connections", limits.max_connections == 0, "no client could connect"),
            ("max_body", limits.max_body == 0, "no request could have a body"),
            ("max_bodies", limits.max_bodies == 0, "no request could have a body"),
            ("max_head", limits.max_head == 0, "no request could have a head"),
            ("head_timeout", limits.head_timeout.is_zero(), "no request could arrive"),
            ("body_timeout", limits.body_timeout.is_zero(), "no request could arrive"),
            ("body_idle_timeout", limits.body_idle_timeout.is_zero(), "no large request could arrive"),
            ("write_timeout", limits.write_timeout.is_zero(), "no response could be sent"),
        ];
        let zero = table.into_iter().filter(|(_, is_zero, _)| *is_zero);
        zero.map(|(name, _, why)| {
            Problem::new(format!("limits.{name}"), format!("0 is not allowed: {why}; allowed is more than 0"))
        })
    }
}

/// Only the binary can parse log directives.
#[cfg(feature = "cli")]
fn problem_of_log(directives: &str) -> Option<Problem> {
    let error = directives.parse::<tracing_subscriber::filter::Targets>().err()?;
    let text = format!(
        "{directives:?} is not allowed: {error}; allowed is error, warn, info, debug, trace, off, or directives such \
         as \"sqs_mock_server=debug\""
    );
    Some(Problem::new("log", text))
}
