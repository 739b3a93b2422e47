//! Sockets: accepting, serving and stopping gracefully.
//!
//! ```text
//! Server --owns--> task accept loop --owns--> one task per connection --calls--> site
//!    |  stop: watch channel   |                        |
//!    +------------------------+------------------------+   stop(): no new connections, requests under way
//!                                                          finish, long polls end, then the rest is cut
//! ```
//! Dropping the server ends the loop, which ends the connections.

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use hyper::body::{Body, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::{JoinHandle, JoinSet};

use super::Limits;
use super::outgoing::Break;
use super::patience::Patient;

/// Read buffer of a connection; also the largest frame of a body.
const BUFFER: usize = 128 << 10;
/// Pause after a failed accept, such as for want of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);

/// What answers the requests of a server.
pub(crate) trait Site: Send + Sync + 'static {
    /// The body of an answer.
    type Body: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static;

    /// Answers one request.
    ///
    /// # Errors
    /// A fault demands that the connection breaks.
    fn route(
        &self,
        request: Request<Incoming>,
    ) -> impl Future<Output = Result<Response<Self::Body>, Break>> + Send;

    /// A connection is there, until the answer is dropped.
    fn connected(&self) -> impl Drop + Send;
}

/// A running server.
#[derive(Debug)]
pub(crate) struct Server {
    stop: watch::Sender<bool>,
    accepting: JoinHandle<()>,
}

impl Server {
    /// Serves `site` on the connections of `listener`.
    pub(crate) fn start(listener: TcpListener, site: impl Site, limits: Limits) -> Self {
        let (stop, stopped) = watch::channel(false);
        let accept_loop = AcceptLoop {
            listener,
            site: Arc::new(site),
            limits,
            stopped,
            seats: Arc::new(Semaphore::new(limits.max_connections.clamp(1, Semaphore::MAX_PERMITS))),
            connections: JoinSet::new(),
        };
        Self { stop, accepting: tokio::spawn(accept_loop.run()) }
    }

    /// Stops gracefully, and waits for it.
    ///
    /// # Cancel safety
    /// Dropped before its end, the server stops at once.
    pub(crate) async fn stop(mut self) {
        self.stop.send_replace(true);
        // An error says that the loop was cut off before; then there is nothing to wait for.
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
    stopped: watch::Receiver<bool>,
    /// One permit a connection. Only the loop waits for them; connections give them back when they end.
    seats: Arc<Semaphore>,
    connections: JoinSet<()>,
}

impl<S: Site> AcceptLoop<S> {
    async fn run(mut self) {
        loop {
            tokio::select! {
                accepted = accept(&self.listener, &self.seats) => match accepted {
                    Ok((stream, seat)) => self.spawn(stream, seat),
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
            tracing::warn!("the grace period is over: cutting connections");
        }
    }

    fn spawn(&mut self, stream: TcpStream, seat: OwnedSemaphorePermit) {
        let (site, limits, stopped) = (Arc::clone(&self.site), self.limits, self.stopped.clone());
        self.connections.spawn(async move {
            let open = site.connected();
            serve(stream, &*site, &limits, stopped).await;
            drop((open, seat));
        });
    }
}

/// Takes a seat first: callers beyond the bound stay in the backlog of the socket.
async fn accept(
    listener: &TcpListener,
    seats: &Arc<Semaphore>,
) -> io::Result<(TcpStream, OwnedSemaphorePermit)> {
    let seat = Arc::clone(seats).acquire_owned().await.map_err(io::Error::other)?;
    let (stream, _) = listener.accept().await?;
    stream.set_nodelay(true)?;
    Ok((stream, seat))
}

async fn serve(stream: TcpStream, site: &impl Site, limits: &Limits, stopped: watch::Receiver<bool>) {
    let mut stream = Patient::new(stream, limits.write_timeout);
    let Err(error) = converse(&mut stream, site, limits, stopped).await else { return };
    if Break::behind(&error) == Some(Break::Reset) {
        // An error says that the connection is down already.
        let _ = stream.get_ref().set_zero_linger();
    }
    tracing::debug!(%error, "a connection broke");
}

async fn converse(
    stream: &mut Patient<TcpStream>,
    site: &impl Site,
    limits: &Limits,
    mut stopped: watch::Receiver<bool>,
) -> hyper::Result<()> {
    let service = service_fn(|request| site.route(request));
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
