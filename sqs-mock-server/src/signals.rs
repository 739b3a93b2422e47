//! Signals that ask the binary to stop.

use std::io;

/// One that came.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signal {
    pub(crate) name: &'static str,
    /// What a process exits with that was ended by it, as shells count.
    pub(crate) exit_code: i32,
}

const INTERRUPT: Signal = Signal { name: if cfg!(windows) { "ctrl-c" } else { "SIGINT" }, exit_code: 130 };
#[cfg(unix)]
const TERMINATE: Signal = Signal { name: "SIGTERM", exit_code: 143 };

/// All of them. They are listened for from the making on, which has to be before anybody is told that the server runs:
/// a signal that nobody listens for kills.
#[derive(Debug)]
pub(crate) struct Signals {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(windows)]
    interrupt: tokio::signal::windows::CtrlC,
}

impl Signals {
    #[cfg(unix)]
    pub(crate) fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    #[cfg(windows)]
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self { interrupt: tokio::signal::windows::ctrl_c()? })
    }

    /// Waits for the next one.
    #[cfg(unix)]
    pub(crate) async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.interrupt.recv() => INTERRUPT,
            _ = self.terminate.recv() => TERMINATE,
        }
    }

    /// Waits for the next one.
    #[cfg(windows)]
    pub(crate) async fn next(&mut self) -> Signal {
        self.interrupt.recv().await;
        INTERRUPT
    }
}
