//! What can be set before a server starts, with defaults and checks.

#[cfg(feature = "config-file")]
mod file;
#[cfg(feature = "config-file")]
mod size;

use std::io;
use std::time::SystemTime;

use http::Uri;
use sqs_client::wire::validate::permission::is_account;

use crate::http::{AdminToken, Limits, is_host, is_origin};
use crate::mock::Verification;
use crate::service::faults::Fault;
use crate::service::keys::Keys;
use crate::sqs::engine::DeliveryMode;
use crate::sqs::front::{QueueUrlStyle, is_region};

#[cfg(feature = "config-file")]
pub(crate) use file::QueueDefinition;
#[cfg(all(feature = "config-file", feature = "s3"))]
pub use file::S3Section;
#[cfg(feature = "config-file")]
pub use file::{Auth, ConfigFile, LogFormat, Secret};
#[cfg(feature = "config-file")]
pub use size::{ByteSize, NotASize};

/// Account of callers who do not choose one.
pub(crate) const DEFAULT_ACCOUNT: &str = "000000000000";
/// Region of callers who do not name one.
pub(crate) const DEFAULT_REGION: &str = "us-east-1";

/// The settings of one server.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) account: String,
    pub(crate) region: String,
    pub(crate) public_url: Option<String>,
    pub(crate) queue_url_style: QueueUrlStyle,
    pub(crate) auto_create_queues: bool,
    pub(crate) relaxed_timing: bool,
    pub(crate) delivery: DeliveryMode,
    pub(crate) seed: Option<u64>,
    pub(crate) clock_start: Option<SystemTime>,
    pub(crate) clock_frozen: bool,
    pub(crate) limits: Limits,
    pub(crate) keys: Option<Keys>,
    pub(crate) allowed_hosts: Vec<String>,
    pub(crate) cors_origins: Vec<String>,
    pub(crate) admin_token: Option<AdminToken>,
    pub(crate) faults: Vec<Fault>,
    pub(crate) journal: usize,
    pub(crate) verification: Option<Verification>,
    /// S3 beside SQS.
    #[cfg(feature = "s3")]
    pub(crate) s3: Option<crate::s3::S3>,
    /// Queues that are there from the start.
    #[cfg(feature = "config-file")]
    pub(crate) queues: Vec<QueueDefinition>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            host: "127.0.0.1".to_owned(),
            port: 0,
            account: DEFAULT_ACCOUNT.to_owned(),
            region: DEFAULT_REGION.to_owned(),
            public_url: None,
            queue_url_style: QueueUrlStyle::default(),
            auto_create_queues: false,
            relaxed_timing: false,
            delivery: DeliveryMode::default(),
            seed: None,
            clock_start: None,
            clock_frozen: false,
            limits: Limits::default(),
            keys: None,
            allowed_hosts: Vec::new(),
            cors_origins: Vec::new(),
            admin_token: None,
            faults: Vec::new(),
            journal: crate::service::journal::DEFAULT_CAPACITY,
            verification: None,
            #[cfg(feature = "s3")]
            s3: None,
            #[cfg(feature = "config-file")]
            queues: Vec::new(),
        }
    }
}

impl Config {
    /// The settings, when they can be served with.
    pub(crate) fn checked(mut self) -> io::Result<Self> {
        if !is_account(&self.account) {
            return Err(invalid(format!("the account must be 12 digits, not {:?}", self.account)));
        }
        if !is_region(&self.region) {
            return Err(invalid(format!("{:?} is not the name of a region", self.region)));
        }
        if let Some(url) = &mut self.public_url {
            if !is_base_url(url) {
                let message = format!("the public URL must look like http://host:port, not {url:?}");
                return Err(invalid(message));
            }
            url.truncate(url.trim_end_matches('/').len());
        }
        self.check_guard()?;
        self.refuse_no_room()?;
        #[cfg(feature = "s3")]
        self.s3.as_ref().map_or(Ok(()), crate::s3::S3::check)?;
        if self.keys.as_ref().is_some_and(|keys| keys.first().is_none()) {
            return Err(invalid("signatures cannot be asked for without a single key".to_owned()));
        }
        Ok(self)
    }

    fn check_guard(&self) -> io::Result<()> {
        if let Some(host) = self.allowed_hosts.iter().find(|host| !is_host(host)) {
            return Err(invalid(format!("an allowed host must be a name without a port, not {host:?}")));
        }
        if let Some(origin) = self.cors_origins.iter().find(|origin| !is_origin(origin)) {
            let message = format!("a CORS origin must look like http://host:port, not {origin:?}");
            return Err(invalid(message));
        }
        if self.admin_token.as_ref().is_some_and(|token| !token.is_legal()) {
            return Err(invalid(
                "the admin token must have visible ASCII characters only, and at least one".to_owned(),
            ));
        }
        Ok(())
    }

    /// A server without any room would run, and serve nobody.
    fn refuse_no_room(&self) -> io::Result<()> {
        let Limits { max_connections, max_queues, max_memory, .. } = self.limits;
        let table = [
            ("max_connections", max_connections, "nobody could connect"),
            ("max_queues", max_queues, "no queue could be created"),
            ("max_memory", max_memory, "no message could be sent"),
        ];
        match table.iter().find(|(_, most, _)| *most == 0) {
            Some((name, _, why)) => Err(invalid(format!("{name} must be at least 1, not 0: {why}"))),
            None => Ok(()),
        }
    }
}

fn is_base_url(text: &str) -> bool {
    let Ok(uri) = text.parse::<Uri>() else { return false };
    matches!(uri.scheme_str(), Some("http" | "https")) && uri.authority().is_some() && uri.query().is_none()
}

fn invalid(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_valid() {
        assert!(Config::default().checked().is_ok());
    }

    #[test]
    fn bad_settings_are_named_in_the_error() {
        let account = Config { account: "12".to_owned(), ..Config::default() };
        assert_eq!(account.checked().unwrap_err().to_string(), "the account must be 12 digits, not \"12\"");
        let region = Config { region: "Ireland".to_owned(), ..Config::default() };
        assert!(region.checked().unwrap_err().to_string().contains("Ireland"));
        for url in ["sqs:9324", "/queue", "ftp://sqs", "http://", "http://sqs/?x=1", ""] {
            let config = Config { public_url: Some(url.to_owned()), ..Config::default() };
            assert!(config.checked().is_err(), "{url}");
        }
    }

    #[test]
    fn hosts_and_origins_that_match_nothing_are_refused() {
        for host in ["", "sqs:9324", "http://sqs", "a b", "*.example.com"] {
            let config = Config { allowed_hosts: vec![host.to_owned()], ..Config::default() };
            let text = format!("an allowed host must be a name without a port, not {host:?}");
            assert_eq!(config.checked().unwrap_err().to_string(), text);
        }
        for origin in ["*", "null", "localhost:3000", "http://localhost:3000/", "HTTP://LOCALHOST", "http://"]
        {
            let config = Config { cors_origins: vec![origin.to_owned()], ..Config::default() };
            let text = format!("a CORS origin must look like http://host:port, not {origin:?}");
            assert_eq!(config.checked().unwrap_err().to_string(), text);
        }
        for token in ["", "a b", "\u{e4}"] {
            let config = Config { admin_token: Some(AdminToken(token.to_owned())), ..Config::default() };
            assert!(config.checked().unwrap_err().to_string().starts_with("the admin token must"));
        }
    }

    #[test]
    fn limits_that_leave_no_room_are_refused_by_name() {
        let zero = |set: fn(&mut Limits)| {
            let mut config = Config::default();
            set(&mut config.limits);
            config.checked().unwrap_err().to_string()
        };
        let table = [
            (zero(|limits| limits.max_connections = 0), "max_connections", "nobody could connect"),
            (zero(|limits| limits.max_queues = 0), "max_queues", "no queue could be created"),
            (zero(|limits| limits.max_memory = 0), "max_memory", "no message could be sent"),
        ];
        for (text, name, why) in table {
            assert_eq!(text, format!("{name} must be at least 1, not 0: {why}"));
        }
    }

    #[test]
    fn public_url_loses_its_trailing_slash() {
        let config = Config { public_url: Some("https://sqs.test/base/".to_owned()), ..Config::default() };
        assert_eq!(config.checked().unwrap().public_url.as_deref(), Some("https://sqs.test/base"));
    }
}
