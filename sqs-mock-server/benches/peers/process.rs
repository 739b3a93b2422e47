//! A server as a process: its first answer, its CPU time and its memory.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::{Command, Stdio};
use std::time::Duration;

use sqs_benchmarks::server::Server;
use tokio::time::Instant;

use crate::Failed;
use crate::peer::Start;
use crate::wire::{Connection, request};

/// How long a server may take for its first answer.
const PATIENCE: Duration = Duration::from_secs(60);
/// The unit of CPU times in `/proc`, which is the same on all machines.
const TICK: Duration = Duration::from_millis(10);

/// A server that runs until this is dropped.
#[derive(Debug)]
pub(crate) struct Process {
    server: Server,
    pub(crate) address: SocketAddr,
    /// From the start of the process.
    pub(crate) first_answer: Duration,
}

/// What a process and its children have used so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Usage {
    pub(crate) cpu: Duration,
    /// Bytes that are resident.
    pub(crate) memory: u64,
}

impl Process {
    pub(crate) fn start(start: &Start) -> Result<Self, Failed> {
        // The port is free again once the listener is dropped.
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
            if started.elapsed() > PATIENCE {
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
        let stats: Vec<_> = std::fs::read_dir("/proc")?.filter_map(|entry| Stat::of(&entry.ok()?)).collect();
        while let Some(id) = left.pop() {
            let stat = stats.iter().find(|stat| stat.id == id).ok_or("the server has ended")?;
            usage.cpu += stat.cpu;
            usage.memory += resident(id);
            left.extend(stats.iter().filter(|stat| stat.parent == id).map(|stat| stat.id));
        }
        Ok(usage)
    }
}

/// Of `/proc/PID/stat`.
struct Stat {
    id: u32,
    parent: u32,
    /// Its own and that of children that have ended.
    cpu: Duration,
}

impl Stat {
    fn of(entry: &std::fs::DirEntry) -> Option<Self> {
        let id = entry.file_name().to_str()?.parse().ok()?;
        let text = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        // The name before it may hold anything.
        let (_, fields) = text.rsplit_once(')')?;
        let fields: Vec<_> = fields.split_whitespace().collect();
        let ticks = fields.get(11..15)?.iter().map(|field| field.parse().unwrap_or(0)).sum();
        Some(Self { id, parent: fields.get(1)?.parse().ok()?, cpu: TICK * ticks })
    }
}

fn resident(id: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|number| number.parse::<u64>().ok()).unwrap_or(0) << 10
}
