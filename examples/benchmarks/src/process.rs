//! Time, and what a process has used of processor and memory, as `/proc` of Linux tells it.

use std::time::{Duration, Instant};

use crate::arguments::Failed;

/// The unit of CPU times in `/proc`, which is the same on all machines.
const TICK: Duration = Duration::from_millis(10);
/// Bytes of the pages that `/proc` counts.
const PAGE: u64 = 4096;

/// The time of the machine: benchmarks measure nothing else.
#[expect(clippy::disallowed_methods, reason = "this measures real time")]
pub fn now() -> Instant {
    Instant::now()
}

/// User and system time of a process, in steps of a hundredth of a second.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cpu {
    /// What it spent itself.
    pub user: Duration,
    /// What the kernel spent for it.
    pub system: Duration,
}

impl Cpu {
    /// What this process has spent so far.
    ///
    /// # Errors
    /// Where there is no `/proc`.
    pub fn of_this_process() -> Result<Self, Failed> {
        Ok(Process::of(std::process::id())?.cpu)
    }

    /// What was spent after another moment.
    pub fn since(self, start: Self) -> Self {
        let user = self.user.saturating_sub(start.user);
        Self { user, system: self.system.saturating_sub(start.system) }
    }

    /// User and system together.
    pub fn total(self) -> Duration {
        self.user + self.system
    }
}

/// A process among others, of `/proc/PID/stat`.
#[derive(Clone, Copy, Debug)]
pub struct Process {
    /// Its number.
    pub id: u32,
    /// Who started it.
    pub parent: u32,
    /// What it spent itself.
    pub cpu: Cpu,
    /// What its children spent that have ended.
    pub ended_children: Cpu,
}

impl Process {
    /// Those that there are now.
    ///
    /// # Errors
    /// Where there is no `/proc`.
    pub fn all() -> Result<Vec<Self>, Failed> {
        let entries = std::fs::read_dir("/proc").map_err(|error| unreadable(&error))?;
        // Some are no processes, and some have ended by the time that they are read.
        Ok(entries
            .filter_map(|entry| Self::of(entry.ok()?.file_name().to_str()?.parse().ok()?).ok())
            .collect())
    }

    fn of(id: u32) -> Result<Self, Failed> {
        let text = std::fs::read_to_string(format!("/proc/{id}/stat")).map_err(|error| unreadable(&error))?;
        Self::read(id, &text)
    }

    fn read(id: u32, stat: &str) -> Result<Self, Failed> {
        // The name of the program, which may hold anything, ends with the last bracket.
        let fields: Vec<_> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let field = |number: usize| -> Result<u32, Failed> {
            Ok(fields.get(number).ok_or("a line of /proc/PID/stat is too short")?.parse()?)
        };
        let time = |number| field(number).map(|ticks| TICK * ticks);
        let cpu = |first| Ok::<_, Failed>(Cpu { user: time(first)?, system: time(first + 1)? });
        Ok(Self { id, parent: field(1)?, cpu: cpu(11)?, ended_children: cpu(13)? })
    }
}

fn unreadable(error: &std::io::Error) -> String {
    format!("CPU times come from /proc of Linux, which cannot be read: {error}")
}

/// Bytes of memory that a process has in use.
///
/// # Errors
/// Where there is no `/proc`, or no such process.
pub fn resident(process: u32) -> Result<u64, Failed> {
    let text = std::fs::read_to_string(format!("/proc/{process}/statm"))?;
    let pages: u64 = text.split_whitespace().nth(1).ok_or("no resident pages in /proc")?.parse()?;
    Ok(pages * PAGE)
}

/// The most memory that this process has had in use, in KiB.
///
/// # Errors
/// Where there is no `/proc`.
pub fn peak_kib() -> Result<u64, Failed> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM in /proc")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_found_behind_any_name() {
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
