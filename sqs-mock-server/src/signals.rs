//! Signals that stop the binary.

use std::io;

/// A received signal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signal {
    pub(crate) name: &'static str,
    /// The exit code of a process that this signal ended, as shells report it.
    pub(crate) exit_code: i32,
}

const INTERRUPT: Signal = Signal { name: if cfg!(windows) { "ctrl-c" } else { "SIGINT" }, exit_code: 130 };
#[cfg(unix)]
const TERMINATE: Signal = Signal { name: "SIGTERM", exit_code: 143 };

/// Receives signals. It must be created before the server reports that it runs: an unhandled signal kills the process.
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

    /// Waits for the next signal.
    #[cfg(unix)]
    pub(crate) async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.interrupt.recv() => INTERRUPT,
            _ = self.terminate.recv() => TERMINATE,
        }
    }

    /// Waits for the next signal.
    #[cfg(windows)]
    pub(crate) async fn next(&mut self) -> Signal {
        self.interrupt.recv().await;
        INTERRUPT
    }
}
