//! Without the feature `tls`, no server has an acceptor.

use std::io;
use std::time::Duration;

use tokio::net::TcpStream;

#[derive(Clone, Debug)]
pub(crate) enum Acceptor {}

#[expect(clippy::unused_async, reason = "as with the feature")]
impl Acceptor {
    pub(crate) async fn is_wanted(_: &TcpStream, _: Duration) -> io::Result<bool> {
        Ok(false)
    }

    pub(crate) async fn accept<S>(&self, _: S, _: Duration) -> io::Result<S> {
        match *self {}
    }
}
