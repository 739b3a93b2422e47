//! Requests that this server sends: notifications to web hooks, and invocations of functions.
//!
//! ```text
//! sns::hooks  --+                     +-> guard: is each address allowed?
//!               +-> Outgoing -> post -+-> connect: to an address that was checked
//! triggers    --+       |             +-> answer, bounded in time and size
//!                       +-> Log: /_mock/deliveries, MockSqs::deliveries
//! ```
//! Redirects are not followed. Who sends decides about retries.

pub(crate) mod connect;
pub(crate) mod guard;
pub(crate) mod log;
#[cfg(feature = "tls")]
pub(crate) mod tls;

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, HeaderValue};
use http::{HeaderMap, Method, Request, Uri};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper_util::client::legacy::{Client, Error as ClientError};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::outgoing::connect::{Connector, Refused};
use crate::outgoing::log::Log;

/// The requests at one time. Further ones wait.
const PLACES: usize = 512;

/// How long a connection without requests stays open.
const IDLE: Duration = Duration::from_secs(20);

/// The idle connections to one host.
const IDLE_CONNECTIONS: usize = 64;

/// The size of the head of an answer.
const MAX_HEAD: usize = 64 << 10;

/// Sends requests.
#[derive(Debug)]
pub(crate) struct Outgoing {
    client: Client<Connector, Full<Bytes>>,
    #[cfg_attr(not(feature = "tls"), expect(dead_code, reason = "only HTTPS changes it later"))]
    connector: Connector,
    places: Semaphore,
    pub(crate) log: Log,
}

/// A URL to which requests go.
#[derive(Clone, Eq, PartialEq)]
pub(crate) struct Target {
    pub(crate) uri: Uri,
    authorization: Option<HeaderValue>,
    /// Without its password.
    pub(crate) shown: Box<str>,
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

/// A URL without the password that it may have.
pub(crate) fn without_password(url: &str) -> String {
    let parts = url.split_once("://").and_then(|(scheme, rest)| {
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, rest) = rest.split_at(end);
        let (user, host) = authority.rsplit_once('@')?;
        let (name, _) = user.split_once(':')?;
        Some(format!("{scheme}://{name}:****@{host}{rest}"))
    });
    parts.unwrap_or_else(|| url.to_owned())
}

impl Target {
    /// Reads a URL. User and password of it are sent with basic authentication, as SNS does.
    ///
    /// # Errors
    /// Why it is not a URL to which a request can go.
    pub(crate) fn parse(url: &str) -> Result<Self, String> {
        let shown: Box<str> = without_password(url).into();
        let invalid =
            || format!("{shown:?} is not allowed; allowed is a URL such as \"http://localhost:8080/path\"");
        let uri: Uri = url.parse().map_err(|_| invalid())?;
        let mut parts = uri.into_parts();
        let is_http =
            parts.scheme.as_ref().is_some_and(|scheme| ["http", "https"].contains(&scheme.as_str()));
        let authority = parts.authority.take().filter(|authority| is_http && !authority.host().is_empty());
        let authority = authority.ok_or_else(invalid)?;
        let (user, host) = match authority.as_str().rsplit_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, authority.as_str()),
        };
        let authorization = user.map(|user| {
            let user = percent_encoding::percent_decode_str(user).collect::<Vec<_>>();
            let user = if user.contains(&b':') { user } else { [user, b":".to_vec()].concat() };
            HeaderValue::try_from(format!("Basic {}", base64_simd::STANDARD.encode_to_string(user)))
        });
        let authorization = authorization.transpose().map_err(|_| invalid())?;
        parts.authority = Some(host.parse().map_err(|_| invalid())?);
        let uri = Uri::from_parts(parts).map_err(|_| invalid())?;
        Ok(Self { uri, authorization, shown })
    }
}

/// A request to send.
#[derive(Debug)]
pub(crate) struct Post<'t> {
    pub(crate) target: &'t Target,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// The whole time, from the connection to the end of the answer.
    pub(crate) within: Duration,
    /// The maximum size of the body of the answer.
    pub(crate) at_most: usize,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) head: http::response::Parts,
    /// Or why there is none.
    pub(crate) body: Result<Bytes, Failure>,
}

/// Why there is no answer, or no complete one.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Failure {
    /// The destination is not allowed.
    Refused(String),
    /// There is no connection, or it ended.
    Broken(String),
    TimedOut(Duration),
    TooLarge(usize),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(text) | Self::Broken(text) => f.write_str(text),
            Self::TimedOut(within) => write!(f, "no answer within {}", humantime::format_duration(*within)),
            Self::TooLarge(at_most) => write!(f, "the answer has more than {at_most} bytes"),
        }
    }
}

impl Outgoing {
    /// A client that logs this many of its latest requests.
    pub(crate) fn new(connector: Connector, logged: usize) -> Self {
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .pool_max_idle_per_host(IDLE_CONNECTIONS)
            .http1_max_buf_size(MAX_HEAD)
            .build(connector.clone());
        Self { client, connector, places: Semaphore::new(PLACES), log: Log::new(logged) }
    }

    /// Also trusts the certificates of this PEM.
    #[cfg(feature = "tls")]
    pub(crate) fn trust(&self, pem: &str) {
        self.connector.trust(pem);
    }

    /// Sends a request. The time begins when it has a place among those under way.
    ///
    /// # Errors
    /// There is no answer. An answer whose body is incomplete is none.
    ///
    /// # Cancel safety
    /// If the future is dropped, the request may have arrived.
    pub(crate) async fn post(&self, post: Post<'_>) -> Result<Answer, Failure> {
        let Post { target, headers, body, within, at_most } = post;
        // The semaphore is never closed.
        let _place = self.places.acquire().await;
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = target.uri.clone();
        *request.headers_mut() = headers;
        request.headers_mut().extend(target.authorization.clone().map(|value| (AUTHORIZATION, value)));
        let mut head = None;
        let answered = timeout(within, async {
            let answer = self.client.request(request).await.map_err(|error| Failure::of(&error))?;
            let (parts, body) = answer.into_parts();
            head = Some(parts);
            let collected = Limited::new(body, at_most).collect().await;
            collected.map(http_body_util::Collected::to_bytes).map_err(|error| {
                let is_too_large = error.is::<http_body_util::LengthLimitError>();
                if is_too_large { Failure::TooLarge(at_most) } else { Failure::Broken(error.to_string()) }
            })
        });
        let body = answered.await.unwrap_or(Err(Failure::TimedOut(within)));
        match (head, body) {
            (Some(head), body) => Ok(Answer { head, body }),
            (None, Err(failure)) => Err(failure),
            (None, Ok(_)) => Err(Failure::Broken("no answer".to_owned())),
        }
    }
}

impl Failure {
    fn of(error: &ClientError) -> Self {
        let mut causes: Vec<&(dyn std::error::Error + 'static)> = vec![error];
        while let Some(cause) = causes.last().and_then(|last| last.source()) {
            causes.push(cause);
        }
        let refused = |cause: &&(dyn std::error::Error + 'static)| {
            let io = cause.downcast_ref::<std::io::Error>()?;
            io.get_ref()?.downcast_ref::<Refused>().map(ToString::to_string)
        };
        if let Some(refused) = causes.iter().find_map(refused) {
            return Self::Refused(refused);
        }
        let root = causes.last().map_or_else(String::new, ToString::to_string);
        Self::Broken(if error.is_connect() { format!("cannot connect: {root}") } else { root })
    }
}
