//! The rustls configuration of TLS settings, and root certificates from PEM files.

use std::error::Error as StdError;
use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use ::rustls::crypto::CryptoProvider;
use ::rustls::{CertificateError, ClientConfig, ConfigBuilder, RootCertStore, WantsVerifier};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject as _;
use rustls_platform_verifier::Verifier;

use super::tls::{GivenConfig, Pem, Roots, TlsConfig};
use super::{TransportError, TransportErrorKind};

/// The most frequent solution for an untrusted certificate.
const TRUST: &str = "To trust a private root certificate, use TlsConfig::add_root_file(..) or AWS_CA_BUNDLE";
/// The error for settings without any certificate.
const NO_ROOTS: &str =
    "TlsConfig::no_roots() trusts no certificate: add one with add_root_file(..) or add_root_pem(..)";

/// Locked while certificates are loaded, which takes some milliseconds. First requests of other clients wait.
pub(super) type Loaded = Mutex<Option<Arc<ClientConfig>>>;

impl TlsConfig {
    /// Uses a rustls configuration, for settings without a method here, such as client certificates. Its ALPN protocols are
    /// removed, because requests use HTTP/1.1.
    pub fn from_rustls(config: impl Into<Arc<ClientConfig>>) -> Self {
        let mut config = config.into();
        if !config.alpn_protocols.is_empty() {
            Arc::make_mut(&mut config).alpn_protocols.clear();
        }
        Self::new(Roots::Given(GivenConfig(config)), Vec::new())
    }

    /// The rustls configuration. The first successful call loads it.
    pub(super) fn client_config(&self) -> Result<Arc<ClientConfig>, TransportError> {
        let mut loaded = self.0.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(config) = &*loaded {
            return Ok(Arc::clone(config));
        }
        let config = load(&self.0.roots, &self.0.added)?;
        *loaded = Some(Arc::clone(&config));
        Ok(config)
    }
}

/// The configuration for a transport without TLS connections.
#[cfg(any(feature = "reqwest", test))]
pub(super) fn unused() -> Result<ClientConfig, TransportError> {
    Ok(builder(provider())?.with_root_certificates(RootCertStore::empty()).with_no_client_auth())
}

#[cfg(feature = "aws-lc")]
fn provider() -> Arc<CryptoProvider> {
    Arc::new(::rustls::crypto::aws_lc_rs::default_provider())
}

#[cfg(all(feature = "rustls", not(feature = "aws-lc")))]
fn provider() -> Arc<CryptoProvider> {
    Arc::new(::rustls::crypto::ring::default_provider())
}

fn builder(
    provider: Arc<CryptoProvider>,
) -> Result<ConfigBuilder<ClientConfig, WantsVerifier>, TransportError> {
    ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().map_err(unusable)
}

fn load(roots: &Roots, added: &[Pem]) -> Result<Arc<ClientConfig>, TransportError> {
    if matches!(roots, Roots::Given(_)) && !added.is_empty() {
        return Err(unusable(
            "TlsConfig::from_rustls(..) cannot be combined with add_root_file(..) or add_root_pem(..): add the root \
             certificates to the rustls configuration",
        ));
    }
    let mut certificates = Vec::new();
    for pem in added {
        certificates.extend(pem.roots(|root| RootCertStore::empty().add(root.clone()))?);
    }
    let provider = provider();
    let builder = builder(Arc::clone(&provider))?;
    let config = match roots {
        Roots::Platform => {
            let verifier = Verifier::new_with_extra_roots(certificates, provider)
                .map_err(|error| no_platform_roots(&error))?;
            builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier))
        }
        #[cfg(feature = "webpki-roots")]
        Roots::Bundled => {
            let mut store = store(certificates);
            store.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
            builder.with_root_certificates(store)
        }
        Roots::None if certificates.is_empty() => return Err(unusable(NO_ROOTS)),
        Roots::None => builder.with_root_certificates(store(certificates)),
        Roots::Given(GivenConfig(config)) => return validated(Arc::clone(config)),
    };
    validated(Arc::new(config.with_no_client_auth()))
}

fn validated(config: Arc<ClientConfig>) -> Result<Arc<ClientConfig>, TransportError> {
    if cfg!(feature = "fips") && !config.fips() {
        return Err(unusable(
            "the feature `fips` is enabled, but the TLS configuration is not FIPS validated",
        ));
    }
    Ok(config)
}

fn store(certificates: Vec<CertificateDer<'static>>) -> RootCertStore {
    let mut store = RootCertStore::empty();
    store.add_parsable_certificates(certificates);
    store
}

fn unusable(cause: impl Into<Box<dyn StdError + Send + Sync>>) -> TransportError {
    TransportError::new(TransportErrorKind::Tls, cause)
}

fn no_platform_roots(cause: &::rustls::Error) -> TransportError {
    unusable(format!(
        "the platform's root certificates cannot be used ({cause}). Install the package `ca-certificates`, or set \
         AWS_CA_BUNDLE or SSL_CERT_FILE to a PEM file, or enable the feature `webpki-roots` of sqs-client and set \
         tls_config(TlsConfig::bundled_roots())"
    ))
}

/// Searches the chain of sources for a TLS error.
pub(super) fn handshake_error(cause: &(dyn StdError + 'static)) -> Option<TransportError> {
    let error = find(cause)?;
    Some(match error {
        ::rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer) => {
            unusable(format!("{error}: no trusted root signed the server's certificate. {TRUST}"))
        }
        _ => unusable(error.clone()),
    })
}

fn find<'e>(cause: &'e (dyn StdError + 'static)) -> Option<&'e ::rustls::Error> {
    let wrapped = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    let found = cause.downcast_ref().or_else(|| find(wrapped?));
    found.or_else(|| find(cause.source()?))
}

/// The bundles of the major Linux distributions are smaller than 1 MiB.
const MAX_FILE_BYTES: u64 = 16 * 1_048_576;

impl Pem {
    /// The usable root certificates, at least one. Real bundles contain certificates that a TLS library cannot parse; those
    /// are skipped.
    pub(super) fn roots<E: fmt::Display>(
        &self,
        check: impl Fn(&CertificateDer<'static>) -> Result<(), E>,
    ) -> Result<Vec<CertificateDer<'static>>, TransportError> {
        let mut certificates = self.certificates()?;
        let mut skipped = None;
        certificates.retain(|certificate| {
            let problem = check(certificate).err();
            let usable = problem.is_none();
            skipped = problem.or(skipped.take());
            usable
        });
        if let Some(problem) = skipped {
            let error = self.unusable(format!("not a root certificate: {problem}"));
            if certificates.is_empty() {
                return Err(error);
            }
            tracing::warn!(%error, "skipped a root certificate");
        }
        Ok(certificates)
    }

    fn certificates(&self) -> Result<Vec<CertificateDer<'static>>, TransportError> {
        match self {
            Self::Bytes(bytes) => parse(bytes).map_err(|problem| self.unusable(problem)),
            Self::File(path) => {
                let bytes = read(path).map_err(|error| self.unusable(format!("cannot be read: {error}")))?;
                parse(&bytes).map_err(|problem| self.unusable(problem))
            }
        }
    }

    /// An error with the name of the file.
    fn unusable(&self, problem: impl fmt::Display) -> TransportError {
        let text = match self {
            Self::Bytes(_) => format!("added root certificates: {problem}"),
            Self::File(path) => format!("root certificate file {}: {problem}", path.display()),
        };
        TransportError::new(TransportErrorKind::Tls, text)
    }
}

/// Reads regular files only, because opening a pipe could block forever.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    if !path.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "longer than 16 MiB"));
    }
    Ok(bytes)
}

fn parse(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, String> {
    let mut certificates = Vec::new();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let number = certificates.len() + 1;
        certificates.push(certificate.map_err(|error| format!("certificate {number} is damaged: {error}"))?);
    }
    if certificates.is_empty() {
        return Err("no PEM section `-----BEGIN CERTIFICATE-----` found".to_owned());
    }
    Ok(certificates)
}

#[cfg(test)]
mod rustls_tests {
    use super::*;

    #[test]
    fn default_certificates_are_loaded_once_per_process() {
        let defaults = [TlsConfig::default(), TlsConfig::platform_roots(), TlsConfig::default().clone()];
        assert!(defaults.iter().all(|tls| tls.is_same(&defaults[0])));
        // Where a machine has no certificates, each call says so.
        match defaults.map(|tls| tls.client_config()) {
            [Ok(first), Ok(second), Ok(third)] => {
                assert!(Arc::ptr_eq(&first, &second) && Arc::ptr_eq(&first, &third));
            }
            others => assert!(others.iter().all(Result::is_err), "{others:?}"),
        }
    }

    #[test]
    fn added_certificates_are_loaded_once_for_all_clones() {
        let root = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("generated");
        let tls = TlsConfig::no_roots().add_root_pem(root.cert.pem());
        let [first, second] = [tls.clone(), tls].map(|tls| tls.client_config().expect("loaded"));
        assert!(Arc::ptr_eq(&first, &second));
    }

    #[test]
    fn clones_of_other_settings_are_loaded_once() {
        let empty = TlsConfig::from_rustls(unused().expect("no roots"));
        let [first, second] = [empty.clone(), empty].map(|tls| tls.client_config().expect("given"));
        assert!(Arc::ptr_eq(&first, &second));
    }
}
