//! A server process: its first response, CPU time and memory.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::{Command, Stdio};
use std::time::Duration;

use sqs_benchmarks::process;
use sqs_benchmarks::server::Server;
use tokio::time::Instant;

use crate::Failed;
use crate::peer::Start;
use crate::wire::{Connection, request};

/// The time limit of the first response.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A running server. Drop stops it.
#[derive(Debug)]
pub(crate) struct Process {
    server: Server,
    pub(crate) address: SocketAddr,
    /// The time from the start of the process to the first response.
    pub(crate) first_answer: Duration,
}

/// The resource usage of a process and its children.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Usage {
    pub(crate) cpu: Duration,
    /// Resident bytes.
    pub(crate) memory: u64,
}

impl Process {
    pub(crate) fn start(start: &Start) -> Result<Self, Failed> {
        // Dropping the listener frees the port.
        let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
        let mut command = Command::new(&start.program);
        command.args((start.arguments)(address)).envs((start.environment)(address));
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let started = Instant::now();
        let mut process = Self { server: Server::of(command)?, address, first_answer: Duration::ZERO };
        let hello = request(address, "ListQueues", "{}");
        while Connection::new(address).exchange(&hello).is_err() {
            if let Some(status) = process.server.ended()? {
                return Err(format!("it ended at its start: {status}").into());
            }
            if started.elapsed() > TIMEOUT {
                return Err("it does not answer".into());
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        process.first_answer = started.elapsed();
        Ok(process)
    }

    pub(crate) fn usage(&self) -> Result<Usage, Failed> {
        let mut usage = Usage::default();
        let mut left = vec![self.server.id()];
        let all = process::Process::all()?;
        while let Some(id) = left.pop() {
            let found = all.iter().find(|process| process.id == id).ok_or("the server has ended")?;
            usage.cpu += found.cpu.total() + found.ended_children.total();
            // A child may have ended in the meantime.
            usage.memory += process::resident(id).unwrap_or(0);
            left.extend(all.iter().filter(|process| process.parent == id).map(|process| process.id));
        }
        Ok(usage)
    }
}
