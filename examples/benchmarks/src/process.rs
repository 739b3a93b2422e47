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
        let text = std::fs::read_to_string("/proc/self/stat")
            .map_err(|error| format!("CPU times come from /proc of Linux, which cannot be read: {error}"))?;
        // The name of the program, which may hold anything, ends with the last bracket.
        let mut fields = text.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11);
        let mut time = || -> Result<Duration, Failed> {
            let ticks: u32 = fields.next().ok_or("/proc/self/stat is too short")?.parse()?;
            Ok(TICK * ticks)
        };
        Ok(Self { user: time()?, system: time()? })
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
