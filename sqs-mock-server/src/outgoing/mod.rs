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
use hyper::body::Body as _;
use hyper_util::client::legacy::{Client, Error as ClientError};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::outgoing::connect::{Connector, Refused};
use crate::outgoing::log::{Log, OutgoingKind};

/// The requests to web hooks at one time. Further ones wait.
const PLACES_OF_HOOKS: usize = 512;

/// The requests to functions at one time. Triggers have limits of their own; this one bounds the sockets of all.
const PLACES_OF_FUNCTIONS: usize = 2_048;

/// How long a connection without requests stays open.
const IDLE: Duration = Duration::from_secs(20);

/// The idle connections to one host: all that a publish may have used.
const IDLE_CONNECTIONS: usize = PLACES_OF_HOOKS;

/// The size of the head of an answer.
const MAX_HEAD: usize = 64 << 10;

/// Sends requests.
#[derive(Debug)]
pub(crate) struct Outgoing {
    client: Client<Connector, Full<Bytes>>,
    #[cfg_attr(not(feature = "tls"), expect(dead_code, reason = "only HTTPS changes it later"))]
    connector: Connector,
    /// Functions that hang must not keep web hooks waiting.
    hooks: Semaphore,
    functions: Semaphore,
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
        // A user without a password may be a token.
        let name = user.split_once(':').map(|(name, _)| format!("{name}:")).unwrap_or_default();
        Some(format!("{scheme}://{name}****@{host}{rest}"))
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
        let after_host = host.rsplit_once(']').map_or(host, |(_, after)| after);
        if after_host.contains(':') && authority.port_u16().is_none() {
            return Err(invalid());
        }
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
    pub(crate) kind: OutgoingKind,
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
        Self {
            client,
            connector,
            hooks: Semaphore::new(PLACES_OF_HOOKS),
            functions: Semaphore::new(PLACES_OF_FUNCTIONS),
            log: Log::new(logged),
        }
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
        let Post { kind, target, headers, body, within, at_most } = post;
        let places = if kind == OutgoingKind::Invocation { &self.functions } else { &self.hooks };
        // It is never closed.
        let _place = places.acquire().await;
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
            if body.size_hint().lower() > u64::try_from(at_most).unwrap_or(u64::MAX) {
                return Err(Failure::TooLarge(at_most));
            }
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::{TcpListener, TcpStream};

    use super::*;
    use crate::outgoing::guard::Destinations;

    const WITHIN: Duration = Duration::from_millis(300);

    fn client() -> Outgoing {
        Outgoing::new(Connector::new(Destinations::default()), 10)
    }

    /// A peer that does this with each connection, after it has read something.
    async fn peer<F: Future<Output = ()> + Send>(
        act: impl Fn(TcpStream) -> F + Send + Sync + 'static,
    ) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let _ = stream.read(&mut [0; 4096]).await;
                act(stream).await;
            }
        });
        url
    }

    async fn saying(text: &'static str) -> String {
        peer(move |mut stream| async move {
            let _ = stream.write_all(text.as_bytes()).await;
            // Until the client has had enough.
            let _ = stream.read(&mut [0; 1]).await;
        })
        .await
    }

    async fn post(outgoing: &Outgoing, url: &str) -> Result<Answer, Failure> {
        let target = Target::parse(url).unwrap();
        let headers = HeaderMap::new();
        outgoing
            .post(Post {
                kind: OutgoingKind::Notification,
                target: &target,
                headers,
                body: Bytes::new(),
                within: WITHIN,
                at_most: 1_000,
            })
            .await
    }

    #[tokio::test]
    async fn answer_is_bounded_in_time_and_size() {
        const OK: &str = "HTTP/1.1 200 OK\r\n";
        let silent = saying("").await;
        assert_eq!(post(&client(), &silent).await.unwrap_err(), Failure::TimedOut(WITHIN));
        let head = saying(OK).await;
        assert_eq!(post(&client(), &head).await.unwrap_err(), Failure::TimedOut(WITHIN));
        let trickle = peer(|mut stream| async move {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n").await;
            while stream.write_all(b"x").await.is_ok() {
                tokio::time::sleep(WITHIN / 10).await;
            }
        })
        .await;
        let answer = post(&client(), &trickle).await.unwrap();
        assert_eq!((answer.head.status.as_u16(), answer.body), (200, Err(Failure::TimedOut(WITHIN))));
        let huge = saying("HTTP/1.1 200 OK\r\ncontent-length: 10000000000\r\n\r\nx").await;
        assert_eq!(post(&client(), &huge).await.unwrap().body, Err(Failure::TooLarge(1_000)));
        let endless = peer(|mut stream| async move {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").await;
            while stream.write_all(b"64\r\n").await.is_ok() && stream.write_all(&[b'x'; 100]).await.is_ok() {
                let _ = stream.write_all(b"\r\n").await;
            }
        })
        .await;
        assert_eq!(post(&client(), &endless).await.unwrap().body, Err(Failure::TooLarge(1_000)));
        let long_head = peer(|mut stream| async move {
            let _ = stream.write_all(OK.as_bytes()).await;
            while stream.write_all(&[b"a: ".as_slice(), &[b'x'; 1_000], b"\r\n"].concat()).await.is_ok() {}
        })
        .await;
        assert!(matches!(post(&client(), &long_head).await.unwrap_err(), Failure::Broken(_)));
    }

    #[tokio::test]
    async fn garbage_and_closed_connections_are_failures_of_this_request_only() {
        let outgoing = client();
        let garbage = saying("\u{1}\u{2} no HTTP at all\r\n\r\n").await;
        assert!(matches!(post(&outgoing, &garbage).await.unwrap_err(), Failure::Broken(_)));
        let closes = peer(|stream| async move { drop(stream) }).await;
        assert!(matches!(post(&outgoing, &closes).await.unwrap_err(), Failure::Broken(_)));
        let nobody = "http://127.0.0.1:1/";
        let failure = post(&outgoing, nobody).await.unwrap_err().to_string();
        assert!(failure.starts_with("cannot connect: "), "{failure}");
        let works = saying("HTTP/1.1 204 No Content\r\n\r\n").await;
        assert_eq!(post(&outgoing, &works).await.unwrap().head.status.as_u16(), 204);
    }

    /// A name that resolves to an allowed address when it is checked, and to another one a moment later.
    #[tokio::test]
    async fn connection_goes_to_an_address_that_was_checked() {
        static CALLS: AtomicUsize = AtomicUsize::new(0);
        let works = saying("HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n").await;
        let port: u16 = works.trim_end_matches('/').rsplit_once(':').unwrap().1.parse().unwrap();
        let connector = Connector::with_resolver(Destinations::default(), move |_, _| {
            let first = CALLS.fetch_add(1, Ordering::SeqCst) == 0;
            let address = if first { [127, 0, 0, 1] } else { [169, 254, 169, 254] };
            Box::pin(async move { Ok(vec![(address, port).into()]) })
        });
        let outgoing = Outgoing::new(connector, 10);
        let url = format!("http://rebinds.example.com:{port}/");
        assert_eq!(post(&outgoing, &url).await.unwrap().head.status.as_u16(), 204);
        assert_eq!(CALLS.load(Ordering::SeqCst), 1, "nothing is resolved again after the check");
        let refused = post(&outgoing, &url).await.unwrap_err();
        let text = "rebinds.example.com resolves to 169.254.169.254, which is never allowed";
        assert_eq!(refused, Failure::Refused(text.to_owned()));
    }

    #[tokio::test]
    async fn numbers_in_other_spellings_are_the_addresses_that_they_mean() {
        let outgoing = client();
        for host in [
            "2852039166",
            "0xa9fea9fe",
            "0251.0376.0251.0376",
            "169.254.43518",
            "[::ffff:a9fe:a9fe]",
            "[::a9fe:a9fe]",
        ] {
            let failure = post(&outgoing, &format!("http://{host}/")).await.unwrap_err();
            // Some resolvers know some of the spellings; none may lead to a connection.
            let is_refused = matches!(&failure, Failure::Refused(text) if text.ends_with("is never allowed"));
            let is_unknown =
                matches!(&failure, Failure::Broken(text) if text.starts_with("cannot connect: "));
            assert!(is_refused || is_unknown, "{host}: {failure}");
        }
        assert!(matches!(post(&outgoing, "http://8.8.8.8/").await.unwrap_err(), Failure::Refused(_)));
    }

    #[test]
    fn texts_that_are_no_url_are_rejected_without_their_password() {
        for url in [
            "",
            "hooks",
            "ftp://hooks/",
            "http://",
            "http:///path",
            "http://a b/",
            "//hooks/",
            "http://a:99999/",
            "http://a:b/",
            "http://[::1]:x/",
        ] {
            assert!(Target::parse(url).unwrap_err().contains("allowed is a URL"), "{url}");
        }
        let error = Target::parse("ftp://ann:secret@hooks/").unwrap_err();
        assert!(error.contains("ann:****@hooks") && !error.contains("secret"), "{error}");
        assert_eq!(without_password("http://token@hooks/a@b"), "http://****@hooks/a@b");
        let target = Target::parse("http://ann:secret@hooks:81/a?b=c").unwrap();
        assert_eq!(
            (target.uri.to_string(), &*target.shown),
            ("http://hooks:81/a?b=c".to_owned(), "http://ann:****@hooks:81/a?b=c")
        );
    }

    #[cfg(feature = "tls")]
    #[tokio::test]
    async fn certificate_of_a_destination_must_be_trusted() {
        use crate::http::tls::Tls;
        let loaded = Tls::default().load(&[], "us-east-1").unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("https://localhost:{}/", listener.local_addr().unwrap().port());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let Ok(mut stream) = loaded.acceptor.accept(stream, Duration::from_secs(5)).await else {
                    continue;
                };
                let _ = stream.read(&mut [0; 4096]).await;
                let _ = stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await;
            }
        });
        let post = async |outgoing: &Outgoing| {
            let target = Target::parse(&url).unwrap();
            let within = Duration::from_secs(5);
            let post = Post {
                kind: OutgoingKind::Notification,
                target: &target,
                headers: HeaderMap::new(),
                body: Bytes::new(),
                within,
                at_most: 1,
            };
            outgoing.post(post).await
        };
        let failure = post(&client()).await.unwrap_err().to_string();
        assert!(failure.contains("certificate"), "{failure}");
        let trusting = client();
        trusting.trust(&loaded.root);
        assert_eq!(post(&trusting).await.unwrap().head.status.as_u16(), 204);
    }
}
