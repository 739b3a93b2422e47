//! The environment of one test: variables, a home directory, a clock, fake services.

use std::collections::HashMap;
use std::error::Error as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use aws_smithy_types::DateTime;
use aws_smithy_types::date_time::Format;
use sqs_client::config::Credentials;
use sqs_client::config::ProvideCredentials;
use sqs_client::config::credentials::{CredentialsError, Environment};
use sqs_client::time::{SystemClock, TimeSource};
use sqs_client::transport::{PoolConfig, ReqwestTransport, Transport, TransportFuture};
use tempfile::TempDir;
use tokio::net::TcpListener;
use wiremock::ResponseTemplate;

/// A secret that must never be shown.
pub(super) const SECRET: &str = "hunter2-secret";

/// The variables and files of one test.
pub(super) struct World {
    home: Arc<TempDir>,
    variables: Arc<Mutex<HashMap<String, String>>>,
}

impl World {
    /// An empty home directory, and no access to the metadata service of the test machine.
    pub(super) fn new() -> Self {
        let world = Self { home: Arc::new(TempDir::new().expect("a folder")), variables: Arc::default() };
        world.set("HOME", &world.home.path().display().to_string());
        world.set("AWS_EC2_METADATA_DISABLED", "true");
        world
    }

    pub(super) fn with(self, name: &str, value: &str) -> Self {
        self.set(name, value);
        self
    }

    pub(super) fn set(&self, name: &str, value: &str) {
        self.variables.lock().expect("not poisoned").insert(name.to_owned(), value.to_owned());
    }

    /// Writes a file below the home directory.
    pub(super) fn file(self, name: &str, text: &str) -> Self {
        self.write(name, text);
        self
    }

    pub(super) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, text).expect("written");
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// An environment with retry pauses of a millisecond and the default timeouts.
    pub(super) fn environment(&self) -> Environment {
        let (variables, home) = (Arc::clone(&self.variables), Arc::clone(&self.home));
        let lookup = move |name: &str| {
            // Keeps the directory until the environment is dropped.
            let _ = &home;
            variables.lock().expect("not poisoned").get(name).cloned()
        };
        Environment::default().variables(lookup).retry_pause(Duration::from_millis(1))
    }

    /// An environment with short timeouts, for services that do not respond.
    pub(super) fn impatient(&self) -> Environment {
        let limit = Duration::from_millis(20);
        self.environment().metadata_timeout(limit).service_timeout(limit)
    }
}

pub(super) async fn given(provider: &impl ProvideCredentials) -> Credentials {
    provider.provide_credentials().await.unwrap_or_else(|error| panic!("{}", text(&error)))
}

/// The error and the text of its source. Neither may contain the secret.
pub(super) async fn refused(provider: &impl ProvideCredentials) -> (CredentialsError, String) {
    let error = provider.provide_credentials().await.expect_err("there are no credentials");
    let text = text(&error);
    assert!(!format!("{text} {error:?}").contains(SECRET), "{text}");
    (error, text)
}

/// The text of an error of invalid configuration.
pub(super) async fn invalid(provider: &impl ProvideCredentials) -> String {
    let (error, text) = refused(provider).await;
    assert!(matches!(error, CredentialsError::InvalidConfiguration(_)), "{error:?}");
    text
}

/// The text of a retryable error.
pub(super) async fn passing(provider: &impl ProvideCredentials) -> String {
    let (error, text) = refused(provider).await;
    assert!(matches!(error, CredentialsError::ProviderError(_)), "{error:?}");
    text
}

/// The text of the error of a source that is not configured.
pub(super) async fn skipped(provider: &impl ProvideCredentials) -> String {
    let (error, text) = refused(provider).await;
    assert!(matches!(error, CredentialsError::CredentialsNotLoaded(_)), "{error:?}");
    text
}

fn text(error: &CredentialsError) -> String {
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}

pub(super) fn assert_contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is missing in {text:?}");
    }
}

/// `2026-11-22T10:00:00Z`.
pub(super) fn stamp(time: SystemTime) -> String {
    DateTime::from(time).fmt(Format::DateTime).expect("a time")
}

pub(super) fn in_an_hour() -> SystemTime {
    SystemClock.now() + Duration::from_secs(3_600)
}

/// The response of a metadata service.
pub(super) fn metadata(key: &str, expiry: SystemTime) -> ResponseTemplate {
    let expiry = stamp(expiry);
    let body = format!(
        r#"{{"Code":"Success","AccessKeyId":"{key}","SecretAccessKey":"{SECRET}","Token":"{SECRET}-token","Expiration":"{expiry}"}}"#
    );
    ResponseTemplate::new(200).set_body_raw(body, "application/json")
}

/// The response of STS.
pub(super) fn assumed(action: &str, key: &str, expiry: SystemTime) -> ResponseTemplate {
    let expiry = stamp(expiry);
    let body = format!(
        "<{action}Response xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><{action}Result><AssumedRoleUser>\
         <Arn>arn:aws:sts::123456789012:assumed-role/r/s</Arn></AssumedRoleUser><Credentials>\
         <AccessKeyId>{key}</AccessKeyId><SecretAccessKey>{SECRET}</SecretAccessKey>\
         <SessionToken>{SECRET}-token</SessionToken><Expiration>{expiry}</Expiration></Credentials>\
         </{action}Result></{action}Response>"
    );
    ResponseTemplate::new(200).set_body_raw(body, "text/xml")
}

/// An error response of STS.
pub(super) fn denied(status: u16, code: &str, message: &str) -> ResponseTemplate {
    let body = format!(
        "<ErrorResponse><Error><Type>Sender</Type><Code>{code}</Code><Message>{message}</Message></Error>\
         <RequestId>r</RequestId></ErrorResponse>"
    );
    ResponseTemplate::new(status).set_body_raw(body, "text/xml")
}

/// A URL that refuses connections.
pub(super) async fn nowhere() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    format!("http://{}", listener.local_addr().expect("bound"))
}

/// Redirects requests for the fixed addresses of metadata services to a fake.
#[derive(Debug)]
pub(super) struct Rerouted {
    inner: ReqwestTransport,
    pub(super) fake: Arc<Mutex<String>>,
    pub(super) hosts: Arc<Mutex<Vec<String>>>,
}

impl Rerouted {
    pub(super) fn to(fake: &str) -> Self {
        let inner = ReqwestTransport::plain_http(PoolConfig::default()).expect("no TLS");
        Self { inner, fake: Arc::new(Mutex::new(fake.to_owned())), hosts: Arc::default() }
    }
}

impl Transport for Rerouted {
    fn send(&self, mut request: http::Request<bytes::Bytes>) -> TransportFuture<'_> {
        let uri = request.uri();
        let host = uri.host().unwrap_or_default().to_owned();
        self.hosts.lock().expect("not poisoned").push(host);
        let fake = self.fake.lock().expect("not poisoned").clone();
        *request.uri_mut() = format!("{fake}{}", uri.path()).parse().expect("a URI");
        self.inner.send(request)
    }
}

/// A clock that tests control.
#[derive(Clone, Debug)]
pub(super) struct Clock(Arc<Mutex<SystemTime>>);

impl Clock {
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new(SystemClock.now())))
    }

    pub(super) fn advance(&self, seconds: u64) {
        *self.0.lock().expect("not poisoned") += Duration::from_secs(seconds);
    }
}

impl TimeSource for Clock {
    fn now(&self) -> SystemTime {
        *self.0.lock().expect("not poisoned")
    }
}
