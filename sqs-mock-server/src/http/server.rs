//! Accepts connections, serves them and shuts down gracefully.
//!
//! ```text
//! Server --owns--> task accept loop --owns--> one task per connection --calls--> site
//!    |  stop: watch channel   |                        |
//!    +------------------------+------------------------+   stop(): no new connections, requests in progress
//!                                                          finish, long polls end, then the rest is closed
//! ```
//! Dropping the server aborts the loop and with it the connections.

use std::error::Error;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use hyper::body::{Body, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::{JoinHandle, JoinSet};
use tokio_io_timeout::TimeoutStream;

use crate::control::caller::Encrypted;
use crate::http::body::Limits;
use crate::http::reply::Break;
use crate::http::tls::Acceptor;

/// Read buffer of a connection, which is also the maximum size of a body frame.
const BUFFER: usize = 128 << 10;

/// Pause after a failed accept, for example when file descriptors run out.
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);

/// The handler of a server's requests.
pub(crate) trait Site: Send + Sync + 'static {
    /// The body of a response.
    type Body: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static;

    /// Handles one request.
    ///
    /// # Errors
    /// A fault breaks the connection.
    fn route(
        &self,
        request: Request<Incoming>,
    ) -> impl Future<Output = Result<Response<Self::Body>, Break>> + Send;

    /// Registers a connection until the returned guard is dropped.
    fn connected(&self) -> impl Drop + Send;
}

/// A running server.
#[derive(Debug)]
pub(crate) struct Server {
    stop: watch::Sender<bool>,
    accepting: JoinHandle<()>,
}

impl Server {
    /// Serves `site` on the connections of `listener`, also encrypted ones if there is an acceptor.
    pub(crate) fn start(
        listener: TcpListener,
        site: Arc<impl Site>,
        limits: Limits,
        tls: Option<Acceptor>,
    ) -> Self {
        let (stop, stopped) = watch::channel(false);
        let accept_loop = AcceptLoop {
            listener,
            site,
            limits,
            tls,
            stopped,
            permits: Arc::new(Semaphore::new(limits.max_connections.clamp(1, Semaphore::MAX_PERMITS))),
            connections: JoinSet::new(),
        };
        Self { stop, accepting: tokio::spawn(accept_loop.run()) }
    }

    /// Shuts down gracefully.
    ///
    /// # Cancel safety
    /// If the future is dropped, the server stops immediately.
    pub(crate) async fn stop(mut self) {
        self.stop.send_replace(true);
        // An error means that the loop was aborted before.
        let _ = (&mut self.accepting).await;
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

struct AcceptLoop<S> {
    listener: TcpListener,
    site: Arc<S>,
    limits: Limits,
    tls: Option<Acceptor>,
    stopped: watch::Receiver<bool>,
    /// One permit per connection. Only the loop waits for permits; connections release them when they end.
    permits: Arc<Semaphore>,
    connections: JoinSet<()>,
}

impl<S: Site> AcceptLoop<S> {
    async fn run(mut self) {
        loop {
            tokio::select! {
                accepted = accept(&self.listener, &self.permits) => match accepted {
                    Ok((stream, permit)) => self.spawn(stream, permit),
                    Err(error) => {
                        tracing::warn!(%error, "cannot accept a connection");
                        tokio::time::sleep(ACCEPT_PAUSE).await;
                    }
                },
                Some(_) = self.connections.join_next() => {}
                _ = self.stopped.changed() => break,
            }
        }
        drop(self.listener);
        let all_ended = async { while self.connections.join_next().await.is_some() {} };
        if tokio::time::timeout(self.limits.grace, all_ended).await.is_err() {
            tracing::warn!("the grace period is over: closing connections");
        }
    }

    fn spawn(&mut self, stream: TcpStream, permit: OwnedSemaphorePermit) {
        let (site, limits, stopped) = (Arc::clone(&self.site), self.limits, self.stopped.clone());
        let tls = self.tls.clone();
        self.connections.spawn(async move {
            let open = site.connected();
            serve(stream, &*site, &limits, tls.as_ref(), stopped).await;
            drop((open, permit));
        });
    }
}

/// Acquires a permit first, so that connections over the limit stay in the backlog of the socket.
async fn accept(
    listener: &TcpListener,
    permits: &Arc<Semaphore>,
) -> io::Result<(TcpStream, OwnedSemaphorePermit)> {
    let permit = Arc::clone(permits).acquire_owned().await.map_err(io::Error::other)?;
    let (stream, _) = listener.accept().await?;
    stream.set_nodelay(true)?;
    Ok((stream, permit))
}

async fn serve(
    stream: TcpStream,
    site: &impl Site,
    limits: &Limits,
    tls: Option<&Acceptor>,
    stopped: watch::Receiver<bool>,
) {
    let mut stream = TimeoutStream::new(stream);
    // For callers that do not read their responses. It applies only to pending writes, not to idle connections and long
    // polls.
    stream.set_write_timeout(Some(limits.write_timeout));
    let mut stream = pin!(stream);
    let mut stopping = stopped.clone();
    let mut is_encrypted = false;
    if tls.is_some() {
        is_encrypted = tokio::select! {
            wanted = Acceptor::is_wanted(stream.get_ref(), limits.head_timeout) => match wanted {
                Ok(is_wanted) => is_wanted,
                Err(_) => return,
            },
            _ = stopping.changed() => return,
        };
    }
    let ended = match tls.filter(|_| is_encrypted) {
        None => converse(stream.as_mut(), site, limits, stopped, false).await,
        Some(tls) => {
            let accepted = tokio::select! {
                accepted = tls.accept(stream.as_mut(), limits.head_timeout) => accepted,
                _ = stopping.changed() => return,
            };
            match accepted {
                Ok(stream) => converse(stream, site, limits, stopped, true).await,
                Err(error) => return tracing::debug!(%error, "a handshake failed"),
            }
        }
    };
    let Err(error) = ended else { return };
    if Break::behind(&error) == Some(Break::Reset) {
        // An error means that the connection is already closed.
        let _ = stream.get_ref().set_zero_linger();
    }
    tracing::debug!(%error, "a connection failed");
}

async fn converse(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    site: &impl Site,
    limits: &Limits,
    mut stopped: watch::Receiver<bool>,
    is_encrypted: bool,
) -> hyper::Result<()> {
    let service = service_fn(|mut request: Request<Incoming>| {
        if is_encrypted {
            request.extensions_mut().insert(Encrypted);
        }
        site.route(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_timeout)
        .max_buf_size(BUFFER)
        .max_header_size(limits.max_head)
        .serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    tokio::select! {
        ended = connection.as_mut() => ended,
        _ = stopped.changed() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    }
}
