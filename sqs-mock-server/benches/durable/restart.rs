//! Memory and file of many messages, and the time to restore them.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use tokio::time::Instant;

use crate::BoxError;
use crate::load;
use crate::process::Process;
use crate::report::{Restarted, Restored};
use crate::server::Server;

/// The maximum duration of the sends.
const FILL: Duration = Duration::from_secs(60);
/// A server that restores nothing for this long has restored what it can.
const STILL: Duration = Duration::from_secs(30);

pub(crate) fn measure(server: Server, directory: &Path, messages: usize) -> Result<Restarted, BoxError> {
    eprint!("\r\x1b[K{server}: sending {messages} messages");
    let start = server.start(directory);
    let process = Process::start(&start)?;
    let empty = process.usage()?.memory;
    let queue = load::create_queue(process.address)?;
    let messages = load::fill(process.address, &queue, messages, FILL)?;
    let memory = process.usage()?.memory.saturating_sub(empty);
    // Kills it.
    drop(process);
    let (file, mut restored) = (bytes(directory)?, None);
    if server != Server::Memory {
        eprint!("\r\x1b[K{server}: restarting");
        let start_time = Instant::now();
        let process = Process::start(&start)?;
        let found = count(process.address, &queue_at(&queue, process.address), messages);
        restored = Some(Restored { messages: found.messages, time: found.at - start_time });
    }
    eprint!("\r\x1b[K");
    Ok(Restarted { server, messages, memory, file, restored })
}

/// The messages that a server had restored at a time.
struct Found {
    messages: usize,
    at: Instant,
}

/// Waits until a server has restored all messages, or none more for a while. A queue that is not there has none.
fn count(address: SocketAddr, queue: &str, all: usize) -> Found {
    let mut found = Found { messages: 0, at: Instant::now() };
    while found.messages < all && found.at.elapsed() < STILL {
        let messages = load::available(address, queue).unwrap_or(0);
        if messages > found.messages {
            found = Found { messages, at: Instant::now() };
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    found
}

/// The URL of a queue at the address of the new process.
fn queue_at(queue: &str, address: SocketAddr) -> String {
    let path = queue.splitn(4, '/').nth(3).unwrap_or_default();
    format!("http://{address}/{path}")
}

/// Bytes of all files of a directory.
fn bytes(directory: &Path) -> Result<u64, BoxError> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(directory)? {
        bytes += entry?.metadata()?.len();
    }
    Ok(bytes)
}
