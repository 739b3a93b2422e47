//! Resolves the endpoint: the AWS endpoint of a region, or a configured URL.
//!
//! Source: <https://docs.aws.amazon.com/general/latest/gr/sqs-service.html>

use std::fmt;

use http::Uri;

/// A resolved endpoint.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Endpoint {
    uri: Uri,
    host: String,
}

/// The parameters of endpoint resolution. `Debug` shows no secret.
#[derive(Clone, Copy, Default)]
pub(crate) struct EndpointParameters<'a> {
    /// The region.
    pub(crate) region: Option<&'a str>,
    /// A URL that overrides the region's endpoint. It cannot be combined with `use_fips` or `use_dual_stack`.
    pub(crate) endpoint_url: Option<&'a str>,
    /// Whether to use the FIPS endpoint.
    pub(crate) use_fips: bool,
    /// Whether to use the dual-stack endpoint (IPv4 and IPv6).
    pub(crate) use_dual_stack: bool,
}

impl fmt::Debug for EndpointParameters<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EndpointParameters")
            .field("region", &self.region)
            .field("endpoint_url", &self.endpoint_url.map(redacted))
            .field("use_fips", &self.use_fips)
            .field("use_dual_stack", &self.use_dual_stack)
            .finish()
    }
}

/// The endpoint cannot be resolved.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub(crate) enum EndpointError {
    /// Neither a region nor an endpoint URL is configured.
    NoRegion,
    /// The region is not a valid host name label: 1 to 63 letters, digits and hyphens.
    InvalidRegion(String),
    /// The endpoint URL is not an absolute `http` or `https` URL, has a user name, password or query, or its path is not
    /// normalized. The URL is shown [`redacted`].
    InvalidUrl(String),
    /// A FIPS or dual-stack endpoint is requested together with an endpoint URL, which may point to another endpoint.
    Conflict {
        /// `FIPS` or `dual-stack`.
        variant: &'static str,
        /// The endpoint URL, [`redacted`].
        url: String,
    },
}

impl fmt::Display for EndpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRegion => f.write_str(
                "no region is configured: set AWS_REGION, or call region(..) or endpoint_url(..) on the config builder",
            ),
            Self::InvalidRegion(region) => {
                write!(f, "region {region:?} is invalid; allowed are 1 to 63 letters, digits and hyphens, such as eu-west-1")
            }
            Self::InvalidUrl(url) => write!(
                f,
                "endpoint URL {url:?} is invalid; allowed is an absolute http or https URL with a normalized path and \
                 without user name, password or query, such as http://localhost:9324"
            ),
            Self::Conflict { variant, url } => {
                write!(f, "a {variant} endpoint and the endpoint URL {url:?} cannot be combined: set only one of them")
            }
        }
    }
}

impl std::error::Error for EndpointError {}

impl Endpoint {
    /// Resolves the endpoint of a service: `sqs`, or `sts`, which issues credentials for roles.
    ///
    /// # Errors
    /// See [`EndpointError`].
    pub(crate) fn resolve(service: &str, parameters: EndpointParameters<'_>) -> Result<Self, EndpointError> {
        let EndpointParameters { endpoint_url: Some(url), use_fips, use_dual_stack, .. } = parameters else {
            return Self::of_region(service, parameters);
        };
        let conflict = |variant| Err(EndpointError::Conflict { variant, url: redacted(url) });
        match (use_fips, use_dual_stack) {
            (true, _) => conflict("FIPS"),
            (_, true) => conflict("dual-stack"),
            (false, false) => Self::from_url(url),
        }
    }

    /// The URI that requests are posted to.
    pub(crate) fn uri(&self) -> &Uri {
        &self.uri
    }

    /// The region in the host name of an AWS endpoint, to sign requests if no region is configured. Supports regional
    /// endpoints, VPC endpoints (`vpce-1.sqs.eu-west-1.vpce.amazonaws.com`) and legacy endpoints
    /// (`eu-west-1.queue.amazonaws.com`).
    pub(crate) fn region(&self) -> Option<&str> {
        let host = self.host.rsplit_once(':').map_or(self.host.as_str(), |(host, _)| host);
        if host == "queue.amazonaws.com" {
            return Some("us-east-1");
        }
        let of_service = |host: &'_ str| -> Option<(usize, usize)> {
            let start = ["sqs.", "sqs-fips."].iter().find(|prefix| host.starts_with(**prefix))?.len();
            Some((start, start + host.get(start..)?.find('.')?))
        };
        let of_legacy = || host.find(".queue.").map(|end| (0, end));
        let of_vpc = || {
            let dot = host.find('.').filter(|_| host.starts_with("vpce-"))? + 1;
            of_service(host.get(dot..)?).map(|(start, end)| (start + dot, end + dot))
        };
        let (start, end) = of_service(host).or_else(of_vpc).or_else(of_legacy)?;
        let (region, domain) = (host.get(start..end)?, host.get(end + 1..)?);
        let domain = domain.strip_prefix("vpce.").or_else(|| domain.strip_prefix("queue.")).unwrap_or(domain);
        let partition = Partition::of(region);
        (domain == partition.suffix || domain == partition.dual_stack).then_some(region)
    }

    /// The value of the `Host` header. It has no port if the port is the default of the scheme.
    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    pub(crate) fn from_url(url: &str) -> Result<Self, EndpointError> {
        let invalid = || EndpointError::InvalidUrl(redacted(url));
        let uri: Uri = url.trim().parse().map_err(|_| invalid())?;
        if uri.query().is_some() {
            return Err(invalid());
        }
        Self::of_request(uri).map_err(|_| invalid())
    }

    /// The endpoint of a request to this URI, which may have a query.
    pub(crate) fn of_request(uri: Uri) -> Result<Self, EndpointError> {
        let invalid = || EndpointError::InvalidUrl(redacted(&uri.to_string()));
        let default_port = match uri.scheme_str() {
            Some("http") => 80,
            Some("https") => 443,
            _ => return Err(invalid()),
        };
        let authority = uri.authority().ok_or_else(invalid)?;
        if authority.as_str().contains('@') || authority.host().is_empty() {
            return Err(invalid());
        }
        // A port that is not a number is most likely part of a password that contains a slash.
        if authority.port_u16().is_none() && authority.as_str() != authority.host() {
            return Err(invalid());
        }
        // An HTTP client would normalize such a path after signing, and the signature would not match.
        if !is_normalized(uri.path()) {
            return Err(invalid());
        }
        let host = match authority.port_u16() {
            Some(port) if port != default_port => authority.as_str().to_owned(),
            _ => authority.host().to_owned(),
        };
        Ok(Self { uri, host: host.to_ascii_lowercase() })
    }

    fn of_region(service: &str, parameters: EndpointParameters<'_>) -> Result<Self, EndpointError> {
        let region = parameters.region.ok_or(EndpointError::NoRegion)?;
        let is_label = |c: char| c.is_ascii_alphanumeric() || c == '-';
        if region.is_empty() || region.len() > 63 || !region.chars().all(is_label) {
            return Err(EndpointError::InvalidRegion(region.to_owned()));
        }
        let partition = Partition::of(region);
        let suffix = if parameters.use_dual_stack { partition.dual_stack } else { partition.suffix };
        // In GovCloud the standard endpoint is the FIPS endpoint.
        let same_for_fips = region.starts_with("us-gov-") && !parameters.use_dual_stack;
        let fips = if parameters.use_fips && !same_for_fips { "-fips" } else { "" };
        Self::from_url(&format!("https://{service}{fips}.{region}.{suffix}"))
    }
}

/// Whether requests can be sent to this endpoint URL.
pub(crate) fn is_url(url: &str) -> bool {
    Endpoint::from_url(url).is_ok()
}

/// The URL with `***` in place of its potentially secret parts: user name with password, and query.
///
/// A password may contain any character, so everything before the last `@` is replaced. If there is a question mark in it, the
/// `@` may as well be part of the query, and nothing is shown.
pub fn redacted(url: &str) -> String {
    let scheme = ["http://", "https://"].into_iter().find(|scheme| url.starts_with(scheme)).unwrap_or("");
    let rest = url.strip_prefix(scheme).unwrap_or(url);
    let (user, rest) = match rest.rsplit_once('@') {
        Some((user, _)) if user.contains('?') => return format!("{scheme}***"),
        Some((_, rest)) => ("***@", rest),
        None => ("", rest),
    };
    match rest.split_once('?') {
        Some((path, _)) => format!("{scheme}{user}{path}?***"),
        None => format!("{scheme}{user}{rest}"),
    }
}

/// Whether HTTP clients send the path unchanged: no characters to encode, no empty or dot segments.
fn is_normalized(path: &str) -> bool {
    let is_unchanged = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/%!$&'()*+,;=:@".contains(&byte);
    let ordinary =
        |segment: &str| !matches!(segment.to_ascii_lowercase().as_str(), "." | ".." | "%2e" | "%2e%2e");
    path.bytes().all(is_unchanged) && !path.contains("//") && path.split('/').all(ordinary)
}

/// The domains of a partition, which is a group of regions.
struct Partition {
    suffix: &'static str,
    dual_stack: &'static str,
}

impl Partition {
    fn of(region: &str) -> Self {
        const PARTITIONS: [(&str, &str, &str); 8] = [
            ("cn-", "amazonaws.com.cn", "api.amazonwebservices.com.cn"),
            ("us-gov-", "amazonaws.com", "api.aws"),
            ("us-isof-", "csp.hci.ic.gov", "api.aws.hci.ic.gov"),
            ("eu-isoe-", "cloud.adc-e.uk", "api.cloud-aws.adc-e.uk"),
            ("us-isob-", "sc2s.sgov.gov", "api.aws.scloud"),
            ("us-iso-", "c2s.ic.gov", "api.aws.ic.gov"),
            ("eusc-", "amazonaws.eu", "api.amazonwebservices.eu"),
            ("", "amazonaws.com", "api.aws"),
        ];
        let found = PARTITIONS.iter().find(|(prefix, ..)| region.starts_with(prefix));
        let (_, suffix, dual_stack) = found.copied().unwrap_or_default();
        Self { suffix, dual_stack }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(region: &str, use_fips: bool, use_dual_stack: bool) -> String {
        let parameters =
            EndpointParameters { region: Some(region), endpoint_url: None, use_fips, use_dual_stack };
        Endpoint::resolve("sqs", parameters).expect("resolves").uri().to_string()
    }

    fn url(url: &str) -> Result<Endpoint, EndpointError> {
        Endpoint::resolve(
            "sqs",
            EndpointParameters { endpoint_url: Some(url), ..EndpointParameters::default() },
        )
    }

    #[test]
    fn regions_resolve_to_the_documented_endpoints() {
        assert_eq!(of("eu-west-1", false, false), "https://sqs.eu-west-1.amazonaws.com/");
        assert_eq!(of("us-east-1", true, false), "https://sqs-fips.us-east-1.amazonaws.com/");
        assert_eq!(of("us-east-1", false, true), "https://sqs.us-east-1.api.aws/");
        assert_eq!(of("us-east-1", true, true), "https://sqs-fips.us-east-1.api.aws/");
        assert_eq!(of("cn-north-1", false, false), "https://sqs.cn-north-1.amazonaws.com.cn/");
        assert_eq!(of("cn-north-1", true, true), "https://sqs-fips.cn-north-1.api.amazonwebservices.com.cn/");
        assert_eq!(of("us-gov-west-1", true, false), "https://sqs.us-gov-west-1.amazonaws.com/");
        assert_eq!(of("us-gov-east-1", true, true), "https://sqs-fips.us-gov-east-1.api.aws/");
        assert_eq!(of("us-iso-east-1", true, false), "https://sqs-fips.us-iso-east-1.c2s.ic.gov/");
        assert_eq!(of("us-isob-east-1", false, false), "https://sqs.us-isob-east-1.sc2s.sgov.gov/");
    }

    #[test]
    fn endpoint_url_overrides_the_region() {
        let endpoint = url("http://localhost:9324").expect("resolves");
        assert_eq!(endpoint.uri(), "http://localhost:9324/");
        assert_eq!(endpoint.host(), "localhost:9324");
        assert_eq!(url("https://example.com:443/sqs").expect("resolves").host(), "example.com");
        assert_eq!(url("http://[::1]:80").expect("resolves").host(), "[::1]");
    }

    #[test]
    fn fips_with_an_endpoint_url_is_rejected() {
        let parameters =
            EndpointParameters { endpoint_url: Some("http://h"), use_fips: true, ..Default::default() };
        for service in ["sqs", "sts"] {
            let error = Endpoint::resolve(service, parameters).expect_err("cannot be combined").to_string();
            assert!(error.contains("FIPS") && error.contains("http://h"), "{error}");
        }
    }

    #[test]
    fn region_is_read_from_aws_hosts_only() {
        let region = |text: &str| url(text).expect("resolves").region().map(str::to_owned);
        assert_eq!(region("https://sqs.eu-west-1.amazonaws.com").as_deref(), Some("eu-west-1"));
        assert_eq!(region("https://sqs-fips.us-east-1.api.aws").as_deref(), Some("us-east-1"));
        assert_eq!(region("http://SQS.cn-north-1.amazonaws.com.cn").as_deref(), Some("cn-north-1"));
        for (host, expected) in [
            ("sqs.us-iso-east-1.c2s.ic.gov", "us-iso-east-1"),
            ("sqs.eu-west-1.amazonaws.com:8443", "eu-west-1"),
            ("vpce-0a1b-2c3d.sqs.eu-central-1.vpce.amazonaws.com", "eu-central-1"),
            ("vpce-0a1b-2c3d-eu-central-1a.sqs.eu-central-1.vpce.amazonaws.com", "eu-central-1"),
            ("vpce-0a1b.sqs.cn-north-1.vpce.amazonaws.com.cn", "cn-north-1"),
            ("ap-south-1.queue.amazonaws.com", "ap-south-1"),
            ("queue.amazonaws.com", "us-east-1"),
        ] {
            assert_eq!(region(&format!("https://{host}")).as_deref(), Some(expected), "{host}");
        }
        for other in
            ["sqs.eu-west-1.amazonaws.com.evil.net", "sqs.local", "vpce-1.s3.eu-west-1.vpce.amazonaws.com"]
        {
            assert_eq!(region(&format!("https://{other}")), None, "{other}");
        }
        assert_eq!(region("http://localhost:9324"), None);
        assert_eq!(region("https://message-queue.api.cloud.yandex.net"), None);
    }

    #[test]
    fn password_and_query_of_a_url_are_not_shown() {
        for (bad, expected) in [
            ("http://user:hunter2@h/", "http://***@h/"),
            ("user:hunter2@h", "***@h"),
            ("https://user:hunter/2@h", "https://***@h"),
            ("user:hunter2://@h", "***@h"),
            ("http://user:hunter?2@h:x", "http://***"),
            ("http://h/x?token=hunter2", "http://h/x?***"),
            ("http://h/?token=a@hunter2", "http://***"),
            ("http://user:hunter2@h/?token=hunter2", "http://***@h/?***"),
        ] {
            let error = url(bad).expect_err("neither is allowed");
            assert_eq!(error, EndpointError::InvalidUrl(expected.to_owned()));
            assert!(error.to_string().contains(expected), "{error}");
        }
        let parameters = EndpointParameters {
            endpoint_url: Some("http://user:hunter2@h"),
            use_fips: true,
            ..EndpointParameters::default()
        };
        let error = Endpoint::resolve("sqs", parameters).expect_err("cannot be combined");
        assert!(!format!("{error} {error:?}").contains("hunter"), "{error}");
        assert!(!format!("{parameters:?}").contains("hunter"), "{parameters:?}");
    }

    #[test]
    fn endpoint_of_sts_follows_partition_and_switches() {
        let of = |region, use_fips| {
            let parameters = EndpointParameters { region: Some(region), use_fips, ..Default::default() };
            Endpoint::resolve("sts", parameters).expect("resolves").uri().to_string()
        };
        assert_eq!(of("eu-west-1", false), "https://sts.eu-west-1.amazonaws.com/");
        assert_eq!(of("cn-north-1", false), "https://sts.cn-north-1.amazonaws.com.cn/");
        assert_eq!(of("us-gov-west-1", true), "https://sts.us-gov-west-1.amazonaws.com/");
        assert_eq!(of("us-east-1", true), "https://sts-fips.us-east-1.amazonaws.com/");
    }

    #[test]
    fn error_of_invalid_url_or_region_names_it() {
        for bad in ["localhost:9324", "ftp://x", "/path", "", "http://"] {
            assert_eq!(url(bad), Err(EndpointError::InvalidUrl(bad.to_owned())), "{bad}");
        }
        let parameters = EndpointParameters { region: Some("evil.com/"), ..EndpointParameters::default() };
        assert_eq!(
            Endpoint::resolve("sqs", parameters),
            Err(EndpointError::InvalidRegion("evil.com/".into()))
        );
        assert_eq!(Endpoint::resolve("sqs", EndpointParameters::default()), Err(EndpointError::NoRegion));
    }
}
