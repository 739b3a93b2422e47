//! Rules for requests of browsers. Without them, any web page could use the server through the browser of its visitor,
//! even on the loopback address. With DNS rebinding (a name that first resolves to the page's server, then to this one)
//! a page could also read the responses.
//!
//! | Request | Recognized by | Allowed |
//! |---|---|---|
//! | of a program: SDK, curl, another container | no browser header | everything, at an allowed host where one is required |
//! | of a page in `--cors-origin` | `Origin` | everything; the page may read the responses |
//! | of this server's own page, or of the address bar | `Origin` is an allowed `Host`, or is absent | everything except changes by GET |
//! | of any other page | another `Origin`, or `Sec-Fetch-Site` `cross-site` or `same-site` | no action; of other paths, reads whose responses the page cannot see |
//!
//! Browsers send an `Origin` with every POST, and pages cannot remove it. A GET may lack it, and browsers send
//! `Sec-Fetch-Site` only to addresses that they trust, such as the loopback address. A GET is therefore also recognized
//! by its `User-Agent`, which a page cannot change in requests to other sites. After DNS rebinding it can, so reads
//! also check the host.
//!
//! `/_mock`, `/_aws`, `/metrics`, actions by GET, and S3 reads without `--auth` require an allowed host, also from
//! programs. Actions by POST accept every host: SDKs use many names for the server, and a page after DNS rebinding is
//! recognized by its `Origin`. Allowed hosts are:
//! - no host at all: every browser sends one;
//! - IP addresses: DNS rebinding needs a name;
//! - names without a dot (containers, machines in the local network) and names that end in `.localhost`, `.internal`,
//!   `.local`, `.test`, `.svc`, `.lan`, `.home.arpa` or `.consul`: public DNS does not resolve them. The DNS of the
//!   local network is trusted;
//! - `localhost.localstack.cloud` and its subdomains, which resolve to the loopback address;
//! - the host that the server listens on, the host of the public URL, hosts of `--allow-host`, and their subdomains.
//!
//! CORS headers for pages of listed origins.
//!
//! Source: <https://fetch.spec.whatwg.org/#http-cors-protocol>

use std::net::IpAddr;

use bytes::Bytes;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, AUTHORIZATION, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN,
    USER_AGENT, VARY,
};
use http::request::Parts;
use http::{Method, Response, StatusCode};
use sqs_client::wire::sign::{Claim, VerifyError, verify_for};

use crate::control::caller::{Keys, Secret, verifiable};
use crate::control::operation::ServiceName;
use crate::control::{caller, clock};

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The admin token, for clients that need `Authorization` for their signature.
const TOKEN: HeaderName = HeaderName::from_static("x-sqs-mock-token");

/// Top-level domains that public DNS never resolves.
const PRIVATE_TOPS: [&str; 8] =
    [".localhost", ".internal", ".local", ".test", ".svc", ".lan", ".home.arpa", ".consul"];

/// A public name that resolves to the loopback address. Only its owner can change that.
const LOCALSTACK: &str = "localhost.localstack.cloud";

/// The accepted origins and hosts, and the admin token.
#[derive(Clone, Debug, Default)]
pub(crate) struct Guard {
    /// Such as `http://localhost:3000`.
    pub(crate) cors_origins: Vec<String>,
    /// Names in lower case, without a port.
    pub(crate) hosts: Vec<String>,
    /// The token that `/_mock` and `/_aws` require.
    pub(crate) admin_token: Option<Secret>,
}

impl Guard {
    /// Checks a request to a path outside of SQS, such as `/_mock`.
    ///
    /// # Errors
    /// The request is not allowed; the text says why.
    pub(crate) fn check_admin(&self, head: &Parts) -> Result<(), String> {
        self.check_host(head)?;
        if only_reads(head) { Ok(()) } else { self.check_origin(head) }
    }

    /// Checks an action of SQS.
    ///
    /// # Errors
    /// The request is not allowed; the text says why.
    pub(crate) fn check_action(&self, head: &Parts, changes: bool) -> Result<(), String> {
        // Reads too: they are recorded, and count for faults.
        self.check_origin(head)?;
        if head.method != Method::GET {
            return Ok(());
        }
        self.check_host(head)?;
        if changes && is_of_browser(head) && self.listed_origin(head).is_none() {
            return Err("Browsers can use GET only for actions that change nothing; use POST.".to_owned());
        }
        Ok(())
    }

    /// Checks a request to S3. A page cannot sign requests, so with signature verification programs may use any host.
    ///
    /// # Errors
    /// The request is not allowed; the text says why.
    #[cfg(feature = "s3")]
    pub(crate) fn check_s3(&self, head: &Parts, is_open: bool) -> Result<(), String> {
        let needs_host = is_of_browser(head) || (only_reads(head) && is_open);
        if needs_host && self.listed_origin(head).is_none() {
            self.check_host(head)?;
        }
        if only_reads(head) { Ok(()) } else { self.check_origin(head) }
    }

    /// Whether a request has the token, if one is required.
    pub(crate) fn has_token(&self, head: &Parts) -> bool {
        let Some(expected) = &self.admin_token else { return true };
        let text = |name: HeaderName| head.headers.get(name).and_then(|value| value.to_str().ok());
        let bearer = text(AUTHORIZATION).and_then(|value| value.split_once(' '));
        let bearer = bearer.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        let given = bearer.map(|(_, token)| token).or_else(|| text(TOKEN));
        given.is_some_and(|token| is_equal(token.trim(), expected.as_str()))
    }

    /// Rejects pages of other sites.
    fn check_origin(&self, head: &Parts) -> Result<(), String> {
        let site = head.headers.get(SEC_FETCH_SITE);
        let is_foreign = match head.headers.get(ORIGIN) {
            Some(origin) => !self.is_own(origin, head) && self.listed_origin(head).is_none(),
            None => site.is_some_and(|site| site == "cross-site" || site == "same-site"),
        };
        if is_foreign { Err(foreign(head)) } else { Ok(()) }
    }

    fn is_own(&self, origin: &HeaderValue, head: &Parts) -> bool {
        let origin = origin.to_str().ok().and_then(|origin| Some(origin.split_once("://")?.1));
        let host = host(head);
        origin.is_some() && origin == host && host.is_some_and(|host| self.allows(host))
    }

    fn check_host(&self, head: &Parts) -> Result<(), String> {
        match host(head) {
            Some(host) if !self.allows(host) => {
                let name = name_of(host);
                Err(format!("The host {name:?} is not allowed here; --allow-host {name} allows it."))
            }
            _ => Ok(()),
        }
    }

    fn allows(&self, host: &str) -> bool {
        let name = name_of(host).trim_end_matches('.').to_ascii_lowercase();
        let is_below = |top: &str| name.strip_suffix(top).is_some_and(|rest| rest.ends_with('.'));
        name.parse::<IpAddr>().is_ok()
            || !name.contains('.')
            || PRIVATE_TOPS.iter().any(|top| name.ends_with(top))
            || name == LOCALSTACK
            || is_below(LOCALSTACK)
            || self.hosts.iter().any(|known| name == *known || is_below(known))
    }

    /// The response to a CORS preflight; `None` for other requests.
    pub(crate) fn preflight(&self, head: &Parts) -> Option<Response<Bytes>> {
        let asks = head.method == Method::OPTIONS && head.headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD);
        let (true, Some(_)) = (asks, head.headers.get(ORIGIN)) else { return None };
        let mut response = Response::new(Bytes::new());
        if self.listed_origin(head).is_none() {
            *response.status_mut() = StatusCode::FORBIDDEN;
            *response.body_mut() = Bytes::from(foreign(head) + "\n");
            return Some(response);
        }
        *response.status_mut() = StatusCode::NO_CONTENT;
        let headers = response.headers_mut();
        headers
            .insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, HEAD, POST, PUT, DELETE"));
        if let Some(names) = head.headers.get(ACCESS_CONTROL_REQUEST_HEADERS) {
            headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, names.clone());
        }
        if head.headers.contains_key(REQUEST_PRIVATE_NETWORK) {
            headers.insert(ALLOW_PRIVATE_NETWORK, HeaderValue::from_static("true"));
        }
        headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static(PREFLIGHT_SECONDS));
        self.allow_reading(head, headers);
        Some(response)
    }

    /// Adds the headers that allow a listed page to read the response.
    pub(crate) fn allow_reading(&self, head: &Parts, answer: &mut HeaderMap) {
        self.allow_reader(self.listed_origin(head).cloned(), answer);
    }

    /// Like [`allow_reading`](Self::allow_reading), for the listed origin of a request, if there is one.
    pub(crate) fn allow_reader(&self, origin: Option<HeaderValue>, answer: &mut HeaderMap) {
        if self.cors_origins.is_empty() {
            return;
        }
        // Responses to other pages too: a cache must not give them to this one.
        answer.append(VARY, HeaderValue::from_static("origin"));
        if let Some(origin) = origin {
            answer.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
            answer.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED));
        }
    }

    /// The origin of a request, if it is listed.
    pub(crate) fn listed_origin<'h>(&self, head: &'h Parts) -> Option<&'h HeaderValue> {
        let origin = head.headers.get(ORIGIN)?;
        self.cors_origins.iter().any(|listed| listed.as_bytes() == origin.as_bytes()).then_some(origin)
    }
}

fn only_reads(head: &Parts) -> bool {
    head.method == Method::GET || head.method == Method::HEAD
}

/// Whether the request comes from a browser. `PowerShell` also calls itself Mozilla.
fn is_of_browser(head: &Parts) -> bool {
    let agent = head.headers.get(USER_AGENT).and_then(|agent| agent.to_str().ok()).unwrap_or_default();
    let is_browser = agent.starts_with("Mozilla/") && !agent.contains("PowerShell/");
    is_browser || head.headers.contains_key(ORIGIN) || head.headers.contains_key(SEC_FETCH_SITE)
}

/// The `Host` of a request, with its port. An unreadable host is not allowed.
fn host(head: &Parts) -> Option<&str> {
    match head.uri.authority() {
        Some(authority) => Some(authority.as_str()),
        None => head.headers.get(HOST).map(|host| host.to_str().unwrap_or("?.?")),
    }
}

/// A host without its port and without the brackets of an IPv6 address.
pub(crate) fn name_of(host: &str) -> &str {
    match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    }
}

/// The error text for a page of another site.
pub(crate) fn foreign(head: &Parts) -> String {
    match head.headers.get(ORIGIN).and_then(|origin| origin.to_str().ok()) {
        Some(origin) if origin != "null" => {
            format!("Pages of {origin} cannot use this server; --cors-origin {origin} allows them.")
        }
        _ => "Pages of other sites cannot use this server; --cors-origin allows the origins that it lists."
            .to_owned(),
    }
}

/// Compares in constant time for tokens of equal length.
fn is_equal(given: &str, expected: &str) -> bool {
    let differences = given.bytes().zip(expected.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
    given.len() == expected.len() && differences == 0
}

/// Whether a text is an origin in the form that browsers send: `http://localhost:3000`, in lower case, without a path.
pub(crate) fn is_origin(text: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-._:[]+".contains(&byte);
    let is_legal = |part: &str| !part.is_empty() && part.bytes().all(legal);
    text.split_once("://").is_some_and(|(scheme, host)| is_legal(scheme) && is_legal(host))
}

/// Whether a text is a host name or address without a port.
pub(crate) fn is_host(text: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    text.parse::<IpAddr>().is_ok() || (!text.is_empty() && text.bytes().all(legal))
}

const REQUEST_PRIVATE_NETWORK: HeaderName = HeaderName::from_static("access-control-request-private-network");

const ALLOW_PRIVATE_NETWORK: HeaderName = HeaderName::from_static("access-control-allow-private-network");

/// Scripts in browsers may read all headers: ids, error codes, dates, checksums and metadata of objects.
const EXPOSED: &str = "*";

/// The maximum time that Chromium caches a preflight.
const PREFLIGHT_SECONDS: &str = "7200";

/// Defaults for requests to all services, and the rules for callers.
#[derive(Debug)]
pub(crate) struct Names {
    /// Account of callers whose access key is not an account number.
    pub(crate) account: String,
    /// Region of callers that do not sign and whose host does not name a region.
    pub(crate) region: String,
    /// The configured URL of this server; by default the host that the caller used.
    pub(crate) public_url: Option<String>,
    /// Host for callers that send no `Host`.
    pub(crate) own_host: String,
    /// The accepted access keys; `None` accepts any caller.
    pub(crate) keys: Option<Keys>,
    /// The rules for requests of browsers.
    pub(crate) guard: Guard,
}

/// Why a request is not admitted.
#[derive(Debug)]
pub(crate) enum Denied {
    /// A page of another site makes it; the text says more.
    Guard(String),
    /// Its signature is missing or wrong.
    Signature(VerifyError),
}

impl Names {
    /// The host that a caller used.
    pub(crate) fn host<'h>(&'h self, head: &'h Parts) -> &'h str {
        caller::host(head).unwrap_or(&self.own_host)
    }

    /// The URL of the server for callers that use this scheme and host, without a slash at the end.
    pub(crate) fn base_url(&self, scheme: &str, host: &str) -> String {
        self.public_url.clone().unwrap_or_else(|| format!("{scheme}://{host}"))
    }

    /// Rejects pages of other sites, and wrong signatures if signatures are required. Signatures are checked with the
    /// system time, not the mock clock, since callers sign with theirs. Returns what the signature proves; `None` if it is not
    /// verified.
    pub(crate) fn admit(
        &self,
        service: ServiceName,
        head: &Parts,
        body: &[u8],
        changes: bool,
    ) -> Result<Option<Claim>, Denied> {
        self.guard.check_action(head, changes).map_err(Denied::Guard)?;
        let Some(keys) = self.keys.as_ref().filter(|_| !caller::is_trusted(head)) else { return Ok(None) };
        let claim = verify_for(service.as_str(), verifiable(head, body), keys, clock::system_time());
        claim.map(Some).map_err(Denied::Signature)
    }
}
