//! Connections to destinations that are allowed.
//!
//! A connection goes to an address that was checked, so that a name which resolves to another address a moment later
//! changes nothing.

use std::future::Future;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs as _};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use std::{fmt, io};

use http::Uri;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_io_timeout::TimeoutStream;
use tower_service::Service;

use crate::outgoing::guard::{Destinations, NotAllowed};

/// The maximum time for one address of a host.
const CONNECT: Duration = Duration::from_secs(5);

/// The maximum time for a connection with all that it needs: the addresses of the host, one of them, a handshake.
const OPEN: Duration = Duration::from_secs(15);

/// How long a peer may not take what is sent to it.
const WRITE: Duration = Duration::from_secs(30);

/// The names that are resolved at one time. A resolver that does not answer holds a thread, also after the time is over.
const RESOLVING: usize = 32;

type Resolved = Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>> + Send>>;

/// Finds the addresses of a host.
pub(crate) type Resolve = dyn Fn(String, u16) -> Resolved + Send + Sync;

/// Opens connections.
#[derive(Clone)]
pub(crate) struct Connector {
    destinations: Arc<Destinations>,
    resolve: Arc<Resolve>,
    #[cfg(feature = "tls")]
    tls: crate::outgoing::tls::Roots,
}

impl fmt::Debug for Connector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connector").field("destinations", &self.destinations).finish_non_exhaustive()
    }
}

impl Connector {
    /// With the resolver of the system.
    pub(crate) fn new(destinations: Destinations) -> Self {
        let places = Arc::new(Semaphore::new(RESOLVING));
        Self::with_resolver(destinations, move |host, port| {
            Box::pin(resolved(Arc::clone(&places), host, port))
        })
    }

    pub(crate) fn with_resolver(
        destinations: Destinations,
        resolve: impl Fn(String, u16) -> Resolved + Send + Sync + 'static,
    ) -> Self {
        Self {
            destinations: Arc::new(destinations),
            resolve: Arc::new(resolve),
            #[cfg(feature = "tls")]
            tls: crate::outgoing::tls::Roots::default(),
        }
    }

    /// Also trusts the certificates of this PEM.
    #[cfg(feature = "tls")]
    pub(crate) fn trust(&self, pem: &str) {
        self.tls.add(pem);
    }

    async fn open(self, uri: Uri) -> io::Result<Link> {
        let opened = timeout(OPEN, self.connect(uri)).await;
        opened.unwrap_or_else(|_| Err(io::Error::new(io::ErrorKind::TimedOut, "no connection in time")))
    }

    async fn connect(self, uri: Uri) -> io::Result<Link> {
        let invalid = |text: &str| io::Error::new(io::ErrorKind::InvalidInput, text);
        let is_encrypted = uri.scheme_str() == Some("https");
        let host = uri.host().ok_or_else(|| invalid("the URL has no host"))?;
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let port = uri.port_u16().unwrap_or(if is_encrypted { 443 } else { 80 });
        let found = timeout(CONNECT, (self.resolve)(host.clone(), port)).await;
        let found = found
            .map_err(|_| io::Error::new(io::ErrorKind::TimedOut, "the name was not resolved in time"))??;
        let addresses: Vec<IpAddr> = found.iter().map(SocketAddr::ip).collect();
        self.destinations
            .check(&host, &addresses)
            .map_err(|refused| io::Error::new(io::ErrorKind::PermissionDenied, Refused(refused)))?;
        let stream = first(&found).await?;
        stream.set_nodelay(true)?;
        let mut stream = TimeoutStream::new(stream);
        stream.set_write_timeout(Some(WRITE));
        let stream = Box::pin(stream);
        if !is_encrypted {
            return Ok(Link(TokioIo::new(stream)));
        }
        #[cfg(feature = "tls")]
        return Ok(Link(TokioIo::new(Box::pin(self.tls.encrypt(&host, stream).await?))));
        #[cfg(not(feature = "tls"))]
        Err(invalid("HTTPS needs the feature tls of this server"))
    }
}

/// The addresses of a host, from the system.
async fn resolved(places: Arc<Semaphore>, host: String, port: u16) -> io::Result<Vec<SocketAddr>> {
    if let Ok(address) = host.parse::<IpAddr>() {
        return Ok(vec![(address, port).into()]);
    }
    if host.eq_ignore_ascii_case("localhost") {
        return Ok(vec![(Ipv4Addr::LOCALHOST, port).into(), (Ipv6Addr::LOCALHOST, port).into()]);
    }
    let place = places.acquire_owned().await.map_err(io::Error::other)?;
    let look = move || {
        let found = (host.as_str(), port).to_socket_addrs().map(Iterator::collect);
        drop(place);
        found
    };
    tokio::task::spawn_blocking(look).await.map_err(io::Error::other)?
}

/// Connects to the first address that accepts.
async fn first(addresses: &[SocketAddr]) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in addresses {
        match timeout(CONNECT, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => last = error,
            Err(_) => last = io::Error::new(io::ErrorKind::TimedOut, "no connection in time"),
        }
    }
    Err(last)
}

/// The destination is not allowed. Names may resolve to another one later.
#[derive(Debug)]
pub(crate) struct Refused(NotAllowed);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Refused {}

impl Service<Uri> for Connector {
    type Response = Link;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Link>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        Box::pin(self.clone().open(uri))
    }
}

/// A connection, which may be encrypted.
trait Stream: AsyncRead + AsyncWrite + Send {}

impl<S: AsyncRead + AsyncWrite + Send> Stream for S {}

/// An open connection.
pub(crate) struct Link(TokioIo<Pin<Box<dyn Stream>>>);

impl Connection for Link {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

impl Read for Link {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        to: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, to)
    }
}

impl Write for Link {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write_vectored(cx, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
