//! TLS settings: the trusted root certificates.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

/// The trusted root certificates: those of the platform by default.
///
/// The first `https` request loads the certificates, once for this value and all its clones. The certificates of
/// [`TlsConfig::default`] are loaded once per process. Later changes of a file are ignored. While a file is invalid, calls
/// fail with an error of kind [`Tls`](super::TransportErrorKind::Tls); the first call after it is fixed loads it.
///
/// ```
/// use sqs_client::transport::TlsConfig;
///
/// let with_company_proxy = TlsConfig::default().add_root_file("/etc/ssl/company-proxy.pem");
/// let only_company = TlsConfig::no_roots().add_root_file("/etc/ssl/company.pem");
/// let config = sqs_client::Config::builder().tls_config(with_company_proxy).build();
/// ```
#[derive(Clone)]
pub struct TlsConfig(pub(super) Arc<Settings>);

pub(super) struct Settings {
    pub(super) roots: Roots,
    pub(super) added: Vec<Pem>,
    #[cfg(feature = "__rustls")]
    pub(super) loaded: super::rustls::Loaded,
}

#[derive(Clone, Debug)]
pub(super) enum Roots {
    Platform,
    #[cfg(all(feature = "__rustls", feature = "webpki-roots"))]
    Bundled,
    None,
    /// A configuration of rustls. It cannot be extended: which certificates it trusts is not visible.
    #[cfg(feature = "__rustls")]
    Given(GivenConfig),
}

/// A configuration of rustls, without its content in `Debug`: it may have a private key.
#[cfg(feature = "__rustls")]
#[derive(Clone)]
pub(super) struct GivenConfig(pub(super) Arc<::rustls::ClientConfig>);

#[cfg(feature = "__rustls")]
impl fmt::Debug for GivenConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("rustls::ClientConfig")
    }
}

/// Certificates in PEM format, not yet parsed.
#[derive(Clone)]
pub(super) enum Pem {
    Bytes(Arc<[u8]>),
    File(PathBuf),
}

impl TlsConfig {
    pub(super) fn new(roots: Roots, added: Vec<Pem>) -> Self {
        Self(Arc::new(Settings {
            roots,
            added,
            #[cfg(feature = "__rustls")]
            loaded: super::rustls::Loaded::default(),
        }))
    }

    /// Trusts the root certificates of the platform. This is the default.
    ///
    /// On Linux, these are the files of the package `ca-certificates`, or those in `SSL_CERT_FILE` and `SSL_CERT_DIR`. On
    /// other platforms, the operating system verifies certificates.
    pub fn platform_roots() -> Self {
        static PLATFORM: LazyLock<TlsConfig> = LazyLock::new(|| TlsConfig::new(Roots::Platform, Vec::new()));
        PLATFORM.clone()
    }

    /// Trusts Mozilla's root certificates, which are compiled into the program. Use it in images without certificates.
    /// Update the crate `webpki-roots` to get new certificates.
    #[cfg(all(feature = "__rustls", feature = "webpki-roots"))]
    pub fn bundled_roots() -> Self {
        static BUNDLED: LazyLock<TlsConfig> = LazyLock::new(|| TlsConfig::new(Roots::Bundled, Vec::new()));
        BUNDLED.clone()
    }

    /// Trusts only the certificates that you add.
    pub fn no_roots() -> Self {
        Self::new(Roots::None, Vec::new())
    }

    /// Trusts only the certificates of a PEM file. `AWS_CA_BUNDLE` has the same effect: the file replaces the platform's
    /// certificates, as in the AWS CLI.
    pub fn ca_bundle(path: impl Into<PathBuf>) -> Self {
        Self::no_roots().add_root_file(path)
    }

    /// Also trusts the root certificates of a PEM file of up to 16 MiB. Other PEM sections are ignored.
    ///
    /// It cannot be combined with `from_rustls`: every `https` request then fails with an error that says so.
    pub fn add_root_file(self, path: impl Into<PathBuf>) -> Self {
        self.add(Pem::File(path.into()))
    }

    /// Also trusts these root certificates in PEM format. Other PEM sections are ignored. Like
    /// [`add_root_file`](Self::add_root_file), it cannot be combined with `from_rustls`.
    pub fn add_root_pem(self, pem: impl AsRef<[u8]>) -> Self {
        self.add(Pem::Bytes(pem.as_ref().into()))
    }

    fn add(self, pem: Pem) -> Self {
        let mut added = self.0.added.clone();
        added.push(pem);
        Self::new(self.0.roots.clone(), added)
    }

    /// Whether both values share their loaded certificates.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Default for TlsConfig {
    fn default() -> Self {
        Self::platform_roots()
    }
}

impl fmt::Debug for TlsConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsConfig").field("roots", &self.0.roots).field("added", &self.0.added).finish()
    }
}

impl fmt::Debug for Pem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => write!(f, "{} bytes", bytes.len()),
            Self::File(path) => write!(f, "{}", path.display()),
        }
    }
}
