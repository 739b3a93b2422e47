//! TLS on the port of HTTP: the first byte of a connection tells which it is.
//!
//! ```text
//! files, or a certificate made for this start -> Tls -> each connection: 0x16, a handshake -> the site, as without TLS
//!                                                                   `-> anything else: HTTP
//! ```

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, fs, io};

use base64_simd::URL_SAFE_NO_PAD;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// The first byte of a connection that begins with a handshake. No request of HTTP begins with it.
const HANDSHAKE: u8 = 0x16;

/// The start and the end of a certificate in PEM.
const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
const END: &str = "-----END CERTIFICATE-----";

/// The addresses in every generated certificate.
const ADDRESSES: [&str; 2] = ["127.0.0.1", "::1"];

/// The domains in every generated certificate, with their subdomains.
const DOMAINS: [&str; 2] = ["localhost", "localhost.localstack.cloud"];

/// The certificate of a server that also speaks TLS.
///
/// ```
/// use sqs_mock_server::Tls;
///
/// let generated = Tls::default(); // for localhost
/// let own = Tls::files("cert.pem", "key.pem");
/// ```
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tls {
    /// The file with the certificate, and intermediate ones, in PEM.
    pub(crate) cert: Option<PathBuf>,
    /// The file with its private key in PEM.
    pub(crate) key: Option<PathBuf>,
}

impl Tls {
    /// A certificate and its private key, in PEM. The file of the certificate may also have intermediate ones.
    pub fn files(cert: impl Into<PathBuf>, key: impl Into<PathBuf>) -> Self {
        Self { cert: Some(cert.into()), key: Some(key.into()) }
    }

    /// Reads the files, or generates a certificate for these hosts, beside those of this machine. Queue URLs may name the region in their
    /// host.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`]: a file is missing or has no certificate or key, or the two do not belong together.
    pub(crate) fn load(&self, hosts: &[String], region: &str) -> io::Result<Loaded> {
        let (chain, key, root) = match (&self.cert, &self.key) {
            (None, None) => generated(hosts, region)
                .map_err(|error| invalid(format!("cannot generate a certificate: {error}")))?,
            (Some(cert), Some(key)) => {
                let text = fs::read_to_string(cert).map_err(|error| unreadable(cert, &error))?;
                let text = certificates(&text);
                let chain = CertificateDer::pem_slice_iter(text.as_bytes()).collect::<Result<Vec<_>, _>>();
                let chain = chain.ok().filter(|chain| !chain.is_empty());
                let chain =
                    chain.ok_or_else(|| invalid(format!("{}: no certificate in PEM", cert.display())))?;
                fs::metadata(key).map_err(|error| unreadable(key, &error))?;
                let read = PrivateKeyDer::from_pem_file(key);
                (chain, read.map_err(|_| invalid(format!("{}: no private key in PEM", key.display())))?, text)
            }
            (Some(_), None) => return Err(invalid("tls: cert requires key".to_owned())),
            (None, Some(_)) => return Err(invalid("tls: key requires cert".to_owned())),
        };
        let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let config = builder
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key));
        let mut config =
            config.map_err(|error| invalid(format!("certificate and key cannot be used: {error}")))?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Loaded { acceptor: Acceptor(Arc::new(config).into()), root: root.into() })
    }
}

/// The certificates of a file, which may have a private key, too: everybody may read them.
fn certificates(text: &str) -> String {
    let blocks = text.split(BEGIN).skip(1).filter_map(|block| block.split_once(END));
    blocks.flat_map(|(block, _)| [BEGIN, block, END, "\n"]).collect()
}

fn invalid(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, text)
}

fn unreadable(file: &Path, error: &io::Error) -> io::Error {
    invalid(format!("{}: {error}", file.display()))
}

/// A certificate, its key, and the root in PEM that clients must trust. The key of the root is forgotten, so that it signs no other.
fn generated(
    hosts: &[String],
    region: &str,
) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>, String), rcgen::Error> {
    let root_key = KeyPair::generate()?;
    let mut root = CertificateParams::default();
    root.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    root.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
    // Clients that trust the roots of several servers find the right one by its name.
    let id = URL_SAFE_NO_PAD.encode_to_string(&Sha256::digest(root_key.public_key_raw())[..9]);
    root.distinguished_name.push(DnType::CommonName, format!("sqs-mock-server, a root for tests, {id}"));
    let pem = root.self_signed(&root_key)?.pem();
    // A wildcard covers one label.
    let of_domain = |domain: &str| {
        let starts = ["", "*.", "s3.", "*.s3.", &format!("sqs.{region}."), &format!("{region}.queue.")];
        starts.map(|start| format!("{start}{domain}"))
    };
    let hosts = hosts.iter().filter(|host| is_name(host)).cloned();
    let names = DOMAINS.into_iter().flat_map(of_domain).chain(ADDRESSES.map(str::to_owned)).chain(hosts);
    let mut params = CertificateParams::new(names.collect::<Vec<_>>())?;
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    params.distinguished_name.push(DnType::CommonName, "sqs-mock-server");
    let key = KeyPair::generate()?;
    let cert = params.signed_by(&key, &Issuer::new(root, root_key))?;
    let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
    Ok((vec![cert.der().clone()], key, pem))
}

/// Whether a certificate can name a host. Nobody calls the unspecified address.
fn is_name(host: &str) -> bool {
    host.parse::<IpAddr>().map_or_else(|_| host.is_ascii(), |ip| !ip.is_unspecified())
}

/// What a server with TLS needs.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) acceptor: Acceptor,
    /// The certificate that clients must trust, in PEM.
    pub(crate) root: Box<str>,
}

/// Accepts encrypted connections. Clones share it.
#[derive(Clone)]
pub(crate) struct Acceptor(TlsAcceptor);

impl fmt::Debug for Acceptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Acceptor")
    }
}

impl Acceptor {
    /// Whether a caller begins a handshake, and not a request.
    ///
    /// # Errors
    /// It sends nothing within this time, or disconnects.
    pub(crate) async fn is_wanted(stream: &TcpStream, within: Duration) -> io::Result<bool> {
        let mut first = [0];
        timeout(within, stream.peek(&mut first)).await??;
        Ok(first == [HANDSHAKE])
    }

    /// Makes the handshake.
    ///
    /// # Errors
    /// It fails or takes too long.
    pub(crate) async fn accept<S: AsyncRead + AsyncWrite + Unpin>(
        &self,
        stream: S,
        within: Duration,
    ) -> io::Result<TlsStream<S>> {
        timeout(within, self.0.accept(stream)).await?
    }
}
