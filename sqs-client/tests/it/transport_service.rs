//! A service for transport tests. It keeps connections open, counts them, and supports TLS.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::PrivatePkcs8KeyDer;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use crate::service::{HELLO_MD5, is_whole_request};

pub(crate) struct Service {
    address: SocketAddr,
    accepted: Arc<AtomicUsize>,
}

impl Service {
    /// Responds to each request as to a successful `SendMessage`.
    pub(crate) async fn plain() -> Self {
        Self::start(None, Answer::Whole).await
    }

    /// Like [`encrypted`](Self::encrypted), but breaks the TLS connection after reading a request.
    pub(crate) async fn damaging() -> (Self, String) {
        let (config, root) = certified();
        (Self::start(Some(config.into()), Answer::Damaged).await, root)
    }

    /// Like [`plain`](Self::plain), with TLS and a certificate for 127.0.0.1. Returns the root certificate in PEM format.
    pub(crate) async fn encrypted() -> (Self, String) {
        let (config, root) = certified();
        (Self::start(Some(config.into()), Answer::Whole).await, root)
    }

    async fn start(acceptor: Option<TlsAcceptor>, answer: Answer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("bound");
        let accepted = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&accepted);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(serve(stream, acceptor.clone(), answer));
            }
        });
        Self { address, accepted }
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    pub(crate) fn http(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn https(&self) -> String {
        format!("https://{}", self.address)
    }

    /// The number of accepted connections.
    pub(crate) fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }
}

#[derive(Clone, Copy)]
enum Answer {
    Whole,
    Damaged,
}

async fn serve(stream: TcpStream, acceptor: Option<TlsAcceptor>, with: Answer) {
    let Some(acceptor) = acceptor else { return answer(stream).await };
    // A client that does not trust the certificate aborts the handshake.
    let Ok(mut stream) = acceptor.accept(stream).await else { return };
    match with {
        Answer::Whole => answer(stream).await,
        Answer::Damaged => {
            let _ = stream.read(&mut [0; 4096]).await;
            let _ = stream.get_mut().0.write_all(b"this is no TLS record").await;
        }
    }
}

async fn answer(mut stream: impl AsyncRead + AsyncWrite + Unpin) {
    let body = format!(r#"{{"MessageId":"m-1","MD5OfMessageBody":"{HELLO_MD5}"}}"#);
    let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    let mut seen = Vec::new();
    let mut chunk = [0; 4096];
    while let Ok(length @ 1..) = stream.read(&mut chunk).await {
        seen.extend_from_slice(&chunk[..length]);
        if is_whole_request(&seen) {
            seen.clear();
            if stream.write_all(answer.as_bytes()).await.is_err() {
                return;
            }
        }
    }
}

static AUTHORITIES: AtomicUsize = AtomicUsize::new(0);

fn certified() -> (Arc<ServerConfig>, String) {
    let mut params = CertificateParams::new(Vec::new()).expect("no names");
    // Roots with the same name would be confused.
    params
        .distinguished_name
        .push(DnType::CommonName, AUTHORITIES.fetch_add(1, Ordering::Relaxed).to_string());
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().expect("a key");
    let root = params.self_signed(&key).expect("a root").pem();
    let authority = Issuer::new(params, key);

    let params = CertificateParams::new(["127.0.0.1".to_owned()]).expect("an address");
    let key = KeyPair::generate().expect("a key");
    let certificate = params.signed_by(&key, &authority).expect("a certificate").der().clone();
    let key = PrivatePkcs8KeyDer::from(key.serialize_der()).into();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(vec![certificate], key))
        .expect("a certificate and its key");
    (Arc::new(config), root)
}
