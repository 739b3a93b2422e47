//! The signals that ask a process to stop.

use std::io;

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// SIGTERM and Ctrl-C.
#[cfg(unix)]
#[derive(Debug)]
pub(super) struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

#[cfg(unix)]
impl Signals {
    /// Listens from now on.
    pub(super) fn listen() -> io::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    /// Waits for the next signal.
    pub(super) async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// Ctrl-C.
#[cfg(windows)]
#[derive(Debug)]
pub(super) struct Signals(tokio::signal::windows::CtrlC);

#[cfg(windows)]
impl Signals {
    /// Listens from now on.
    pub(super) fn listen() -> io::Result<Self> {
        tokio::signal::windows::ctrl_c().map(Self)
    }

    /// Waits for the next signal.
    pub(super) async fn next(&mut self) {
        let _ = self.0.recv().await;
    }
}
