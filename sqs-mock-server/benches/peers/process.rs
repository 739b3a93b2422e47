//! A server process: its first response, CPU time and memory.

use std::ffi::OsStr;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::{Command, Stdio};
use std::time::Duration;

use sqs_benchmarks::process;
use sqs_benchmarks::server::Server;
use tokio::time::Instant;

use crate::BoxError;
use crate::wire::{Connection, request};

/// The time limit of the first response.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The command line of a server with this address.
pub(crate) type Start = Box<dyn Fn(SocketAddr) -> Command>;

/// A command line that is the program and what `set` adds.
pub(crate) fn start(program: impl AsRef<OsStr>, set: impl Fn(&mut Command, SocketAddr) + 'static) -> Start {
    let program = program.as_ref().to_owned();
    Box::new(move |address| {
        let mut command = Command::new(&program);
        set(&mut command, address);
        command
    })
}

/// A running server. Drop kills it.
#[derive(Debug)]
pub(crate) struct Process {
    server: Server,
    pub(crate) address: SocketAddr,
    /// The time from the start of the process to the first response.
    pub(crate) first_response: Duration,
}

/// The resource usage of a process and its children.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Usage {
    pub(crate) cpu: Duration,
    /// Resident bytes.
    pub(crate) memory: u64,
}

impl Process {
    pub(crate) fn start(start: &Start) -> Result<Self, BoxError> {
        // Dropping the listener frees the port.
        let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
        let mut command = start(address);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let start_time = Instant::now();
        let mut process = Self { server: Server::spawn(command)?, address, first_response: Duration::ZERO };
        let first_request = request(address, "ListQueues", "{}");
        while Connection::new(address).exchange(&first_request).is_err() {
            if let Some(status) = process.server.exit_status()? {
                return Err(format!("the server ended during startup: {status}").into());
            }
            if start_time.elapsed() > TIMEOUT {
                return Err(format!("no response within {TIMEOUT:?}").into());
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        process.first_response = start_time.elapsed();
        Ok(process)
    }

    /// The process id.
    pub(crate) fn id(&self) -> u32 {
        self.server.id()
    }

    pub(crate) fn usage(&self) -> Result<Usage, BoxError> {
        let mut usage = Usage::default();
        let mut pending = vec![self.id()];
        let all = process::Process::all()?;
        while let Some(id) = pending.pop() {
            let found = all.iter().find(|process| process.id == id).ok_or("the server has ended")?;
            usage.cpu += found.cpu.total() + found.ended_children.total();
            // A child may have ended in the meantime.
            usage.memory += process::resident_bytes(id).unwrap_or(0);
            pending.extend(all.iter().filter(|process| process.parent == id).map(|process| process.id));
        }
        Ok(usage)
    }
}
