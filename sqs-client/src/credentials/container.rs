//! Credentials for containers: ECS, Fargate and EKS Pod Identity.
//!
//! Source: <https://docs.aws.amazon.com/sdkref/latest/guide/feature-container-credentials.html>

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use aws_credential_types::provider::error::CredentialsError;
use aws_credential_types::provider::{ProvideCredentials, future};
use http::header::{ACCEPT, AUTHORIZATION, HOST, HeaderValue};
use http::uri::{Authority, Uri};

use super::Environment;
use super::environment::{Provided, blocking, named};
use super::exchange::{Answer, Request, invalid, not_configured, transient, usable};
use crate::config::CommonSettings;
use crate::endpoint::redacted;
use crate::settings::read_file;

const RELATIVE: &str = "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI";
const FULL: &str = "AWS_CONTAINER_CREDENTIALS_FULL_URI";
const TOKEN: &str = "AWS_CONTAINER_AUTHORIZATION_TOKEN";
const TOKEN_FILE: &str = "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE";
const ECS: &str = "http://169.254.170.2";
const ECS_HOST: IpAddr = IpAddr::V4(Ipv4Addr::new(169, 254, 170, 2));
const EKS_HOSTS: [IpAddr; 2] = [
    IpAddr::V4(Ipv4Addr::new(169, 254, 170, 23)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23)),
];

/// Loads credentials from the endpoint of ECS (`AWS_CONTAINER_CREDENTIALS_RELATIVE_URI`) or EKS Pod Identity
/// (`AWS_CONTAINER_CREDENTIALS_FULL_URI`).
///
/// Sends the token from `AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE`, which it reads at each call, or from
/// `AWS_CONTAINER_AUTHORIZATION_TOKEN`.
#[derive(Clone, Debug, Default)]
pub struct ContainerCredentials(Environment);

impl ContainerCredentials {
    /// A provider that reads the variables of `environment`.
    pub fn new(environment: Environment) -> Self {
        Self(environment)
    }

    async fn load(&self) -> Provided {
        let uri = self.uri()?;
        let mut request = Request::get(uri.clone());
        request.headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        if let Some(host) = uri.authority().and_then(|host| HeaderValue::from_str(host.as_str()).ok()) {
            request.headers.insert(HOST, host);
        }
        if let Some(token) = self.token().await? {
            request.headers.insert(AUTHORIZATION, token);
        }
        let encrypted = uri.scheme_str() == Some("https");
        let exchange = if encrypted {
            let mut environment = self.0.clone();
            if environment.common.tls.is_none() {
                // Files that cannot be read do not concern a container, which needs none.
                let settings = environment.read_settings().await.ok();
                environment.common.tls = settings.as_ref().and_then(CommonSettings::tls);
            }
            environment.service_exchange(&uri)?
        } else {
            self.0.metadata_exchange()?
        };
        let response = exchange.send(&request).await?;
        let origin = redacted(&uri.to_string());
        let answer = Answer::parse(response.body());
        let status = response.status();
        if !status.is_success() {
            let why = answer.ok().and_then(|answer| answer.service_error()).unwrap_or_default();
            return Err(invalid(format!("{origin}: status {} {why}", status.as_u16()).trim_end()));
        }
        let answer = answer.map_err(|why| transient(format!("{origin}: {why}")))?;
        if let Some(error) = answer.service_error() {
            return Err(transient(format!("{origin}: {error}")));
        }
        let credentials =
            answer.temporary("container").map_err(|why| transient(format!("{origin}: {why}")))?;
        Ok(usable(credentials, self.0.now(), "container"))
    }

    fn uri(&self) -> Result<Uri, CredentialsError> {
        if let Some(path) = self.0.variables.text(RELATIVE) {
            let uri =
                Some(&path).filter(|path| path.starts_with('/')).map(|path| format!("{ECS}{path}").parse());
            let wrong = || {
                invalid(format!(
                    "{RELATIVE}={:?} is invalid; allowed is a path that begins with /",
                    redacted(&path)
                ))
            };
            return uri.and_then(Result::ok).ok_or_else(wrong);
        }
        let Some(url) = self.0.variables.text(FULL) else {
            return Err(not_configured(format!("neither {RELATIVE} nor {FULL} is set")));
        };
        let uri: Option<Uri> = url.parse().ok();
        let is_allowed = |uri: &Uri| match (uri.scheme_str(), uri.authority()) {
            (Some("https"), Some(authority)) => !authority.as_str().contains('@'),
            (Some("http"), Some(authority)) => is_local(authority),
            _ => false,
        };
        uri.filter(is_allowed).ok_or_else(|| {
            invalid(format!(
                "{FULL}={:?} is invalid; allowed is an https URL, or an http URL with the host localhost, a \
                 loopback address, 169.254.170.2, 169.254.170.23 or [fd00:ec2::23]",
                redacted(&url)
            ))
        })
    }

    async fn token(&self) -> Result<Option<HeaderValue>, CredentialsError> {
        let (name, text) = if let Some(path) = self.0.variables.text(TOKEN_FILE) {
            let path = self.0.variables.expanded(&path);
            let name = format!("{TOKEN_FILE}: {}", path.display());
            let place = name.clone();
            let text = blocking(move || match read_file(&path) {
                Ok(Some(text)) => Ok(text),
                Ok(None) => Err(invalid(format!("{place} does not exist"))),
                Err(error) => Err(invalid(format!("{TOKEN_FILE}: {error}"))),
            });
            (name, text.await?)
        } else if let Some(token) = self.0.variables.text(TOKEN) {
            (TOKEN.to_owned(), token)
        } else {
            return Ok(None);
        };
        let text = text.trim();
        let header = HeaderValue::from_str(text).ok().filter(|_| !text.is_empty());
        let mut header = header
            .ok_or_else(|| invalid(format!("{name}: invalid token; allowed is one line of ASCII text")))?;
        header.set_sensitive(true);
        Ok(Some(header))
    }
}

/// Whether a token may be sent to this host without encryption.
fn is_local(authority: &Authority) -> bool {
    if authority.as_str().contains('@') {
        return false;
    }
    let host = authority.host();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    match address {
        Ok(address) => address.is_loopback() || address == ECS_HOST || EKS_HOSTS.contains(&address),
        Err(_) => host.eq_ignore_ascii_case("localhost"),
    }
}

impl ProvideCredentials for ContainerCredentials {
    fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
    where
        Self: 'a,
    {
        future::ProvideCredentials::new(async move { named("container", self.load().await) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uri(name: &'static str, value: &'static str) -> Result<Uri, CredentialsError> {
        let lookup = move |asked: &str| (asked == name).then(|| value.to_owned());
        ContainerCredentials::new(Environment::default().variables(lookup)).uri()
    }

    #[test]
    fn plain_http_is_allowed_for_local_hosts_only() {
        for good in [
            "http://localhost:1/x",
            "http://127.0.0.2/x",
            "http://[::1]:1/x",
            "http://169.254.170.2/x",
            "http://169.254.170.23/v1/credentials",
            "http://[fd00:ec2::23]/v1/credentials",
            "https://example.com/x",
        ] {
            assert_eq!(uri(FULL, good).expect(good).to_string(), good);
        }
        for bad in [
            "http://example.com/x",
            "http://169.254.169.254/x",
            "http://127.0.0.1.example.com/x",
            "http://localhost@example.com/x",
            "http://localhost@127.0.0.1/x",
            "ftp://localhost/x",
            "/x",
        ] {
            assert!(matches!(uri(FULL, bad), Err(CredentialsError::InvalidConfiguration(_))), "{bad}");
        }
    }

    #[test]
    fn relative_uri_must_be_a_path() {
        assert_eq!(uri(RELATIVE, "/v2/x").expect("a path").to_string(), "http://169.254.170.2/v2/x");
        assert!(matches!(uri(RELATIVE, "@example.com/"), Err(CredentialsError::InvalidConfiguration(_))));
    }
}
