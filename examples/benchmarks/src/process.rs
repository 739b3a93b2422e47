//! Time, and CPU time and memory of a process, read from `/proc` of Linux.

use std::time::{Duration, Instant};

use crate::arguments::BoxError;

/// The unit of CPU times in `/proc`; the same on all machines.
const TICK: Duration = Duration::from_millis(10);
/// Page size of the counts in `/proc`, in bytes.
const PAGE: u64 = 4096;

/// The real time of the machine.
#[expect(clippy::disallowed_methods, reason = "this measures real time")]
pub fn now() -> Instant {
    Instant::now()
}

/// User and system time of a process, with a resolution of 10 ms.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cpu {
    /// Time in user mode.
    pub user: Duration,
    /// Time in kernel mode.
    pub system: Duration,
}

impl Cpu {
    /// The CPU time of this process so far.
    ///
    /// # Errors
    /// `/proc` is not readable.
    pub fn of_this_process() -> Result<Self, BoxError> {
        Ok(Process::of(std::process::id())?.cpu)
    }

    /// The CPU time since `start`.
    pub fn since(self, start: Self) -> Self {
        let user = self.user.saturating_sub(start.user);
        Self { user, system: self.system.saturating_sub(start.system) }
    }

    /// User and system time.
    pub fn total(self) -> Duration {
        self.user + self.system
    }
}

/// A process, read from `/proc/PID/stat`.
#[derive(Clone, Copy, Debug)]
pub struct Process {
    /// Process id.
    pub id: u32,
    /// Process id of the parent.
    pub parent: u32,
    /// CPU time of the process itself.
    pub cpu: Cpu,
    /// CPU time of its ended children.
    pub ended_children: Cpu,
}

impl Process {
    /// All running processes.
    ///
    /// # Errors
    /// `/proc` is not readable.
    pub fn all() -> Result<Vec<Self>, BoxError> {
        let entries = std::fs::read_dir("/proc").map_err(|error| unreadable(&error))?;
        // Some entries are not processes, and some processes have ended meanwhile.
        Ok(entries
            .filter_map(|entry| Self::of(entry.ok()?.file_name().to_str()?.parse().ok()?).ok())
            .collect())
    }

    fn of(id: u32) -> Result<Self, BoxError> {
        let text = std::fs::read_to_string(format!("/proc/{id}/stat")).map_err(|error| unreadable(&error))?;
        Self::read(id, &text)
    }

    fn read(id: u32, stat: &str) -> Result<Self, BoxError> {
        // The program name may contain any character. It ends with the last bracket.
        let fields: Vec<_> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let field = |number: usize| -> Result<u32, BoxError> {
            Ok(fields.get(number).ok_or("/proc/PID/stat has too few fields")?.parse()?)
        };
        let time = |number| field(number).map(|ticks| TICK * ticks);
        let cpu = |first| Ok::<_, BoxError>(Cpu { user: time(first)?, system: time(first + 1)? });
        Ok(Self { id, parent: field(1)?, cpu: cpu(11)?, ended_children: cpu(13)? })
    }
}

fn unreadable(error: &std::io::Error) -> String {
    format!("cannot read CPU times from /proc, which requires Linux: {error}")
}

/// The resident memory of a process in bytes.
///
/// # Errors
/// `/proc` is not readable, or the process does not exist.
pub fn resident_bytes(process: u32) -> Result<u64, BoxError> {
    let text = std::fs::read_to_string(format!("/proc/{process}/statm"))?;
    let pages: u64 =
        text.split_whitespace().nth(1).ok_or("/proc/PID/statm has no resident pages")?.parse()?;
    Ok(pages * PAGE)
}

/// The peak resident memory of this process in KiB.
///
/// # Errors
/// `/proc` is not readable.
pub fn peak_kib() -> Result<u64, BoxError> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .ok_or("/proc/self/status has no VmHWM")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_parsed_after_any_program_name() {
        let line = "7 (a) b (c) S 3 7 7 0 -1 4194560 100 0 0 0 150 50 20 5 20 0 1 0 100 0 0";
        let process = Process::read(7, line).unwrap();
        assert_eq!((process.id, process.parent), (7, 3));
        assert_eq!((process.cpu.user, process.cpu.system), (TICK * 150, TICK * 50));
        assert_eq!(process.ended_children.total(), TICK * 25);
        assert!(Process::read(7, "7 (a) S 3").is_err());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_is_among_all() {
        let all = Process::all().unwrap();
        assert!(all.iter().any(|process| process.id == std::process::id()));
    }
}
