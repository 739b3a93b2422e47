//! HTTPS to destinations.

use std::io;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// The certificates that are trusted: those of the system, or of the file in `SSL_CERT_FILE`, and that of this server.
#[derive(Clone, Default)]
pub(crate) struct Roots(Arc<Shared>);

#[derive(Default)]
struct Shared {
    own: Mutex<Vec<CertificateDer<'static>>>,
    /// Read when the first connection needs them.
    connector: OnceLock<Option<TlsConnector>>,
}

impl Roots {
    /// Has no effect after the first connection.
    pub(crate) fn add(&self, pem: &str) {
        let certificates = CertificateDer::pem_slice_iter(pem.as_bytes()).filter_map(Result::ok);
        self.0.own.lock().extend(certificates);
    }

    /// Encrypts a connection to a host, whose certificate must be valid.
    ///
    /// # Errors
    /// The handshake failed.
    pub(crate) async fn encrypt<S>(&self, host: &str, stream: S) -> io::Result<TlsStream<S>>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let invalid = |text: &str| io::Error::new(io::ErrorKind::InvalidInput, text);
        let name = ServerName::try_from(host.to_owned());
        let name = name.map_err(|_| invalid("the host cannot have a certificate"))?;
        // Reading the certificates of the system takes milliseconds, once.
        let connector = self.0.connector.get_or_init(|| self.connector());
        let connector = connector.as_ref().ok_or_else(|| invalid("TLS cannot be set up"))?;
        connector.connect(name, stream).await
    }

    fn connector(&self) -> Option<TlsConnector> {
        let mut roots = RootCertStore::empty();
        let system = rustls_native_certs::load_native_certs();
        for error in &system.errors {
            tracing::warn!(%error, "cannot read certificates that HTTPS destinations may need");
        }
        roots.add_parsable_certificates(system.certs);
        roots.add_parsable_certificates(self.0.own.lock().drain(..));
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let builder = builder.with_safe_default_protocol_versions().ok()?;
        let config = builder.with_root_certificates(roots).with_no_client_auth();
        Some(TlsConnector::from(Arc::new(config)))
    }
}
