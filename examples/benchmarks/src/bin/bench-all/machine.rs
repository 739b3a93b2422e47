//! The machine of the benchmarks, and its load.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A machine with a lower load average is idle.
const IDLE: f64 = 0.5;
/// Duration of the check for idle time before each benchmark.
const IDLE_CHECK: Duration = Duration::from_secs(1);

/// The machine, its tools and the state of the repository.
#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) date: String,
    pub(crate) cpu: String,
    pub(crate) cores: usize,
    pub(crate) memory_gib: Option<u64>,
    pub(crate) kernel: String,
    pub(crate) rustc: String,
    pub(crate) commit: String,
    load: Option<LoadAverage>,
}

/// Load average over 1, 5 and 15 minutes.
#[derive(Debug, PartialEq)]
struct LoadAverage([f64; 3]);

impl Machine {
    /// The current state. Unavailable values are "unknown".
    pub(crate) fn detect() -> Self {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let cores = std::thread::available_parallelism().map_or(0, usize::from);
        let release = read("/proc/sys/kernel/osrelease");
        let unknown = || "unknown".to_owned();
        Self {
            date: date(),
            cpu: field(&read("/proc/cpuinfo"), "model name").unwrap_or_else(unknown),
            cores,
            memory_gib: memory_gib(&read("/proc/meminfo")),
            kernel: format!("{} {} {}", std::env::consts::OS, release.trim(), std::env::consts::ARCH),
            rustc: output_of("rustc", &["--version"]).unwrap_or_else(unknown),
            commit: commit().unwrap_or_else(unknown),
            load: LoadAverage::read(&read("/proc/loadavg")),
        }
    }

    /// Whether the load average is low. `true` if it is unknown.
    pub(crate) fn was_idle(&self) -> bool {
        self.load.as_ref().is_none_or(|LoadAverage([minute, ..])| *minute < IDLE)
    }

    pub(crate) fn load_average(&self) -> String {
        self.load.as_ref().map_or("unknown".to_owned(), LoadAverage::to_string)
    }
}

impl LoadAverage {
    fn read(text: &str) -> Option<Self> {
        let numbers: Vec<f64> = text.split_whitespace().take(3).map_while(|word| word.parse().ok()).collect();
        numbers.try_into().ok().map(Self)
    }
}

impl fmt::Display for LoadAverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [one, five, fifteen] = self.0;
        write!(f, "{one:.2}, {five:.2}, {fifteen:.2}")
    }
}

/// Idle share of the processors during one second, from 0 to 1.
pub(crate) async fn idle_share() -> Option<f64> {
    let read = || Jiffies::read(&std::fs::read_to_string("/proc/stat").ok()?);
    let before = read()?;
    tokio::time::sleep(IDLE_CHECK).await;
    Some(read()?.idle_since(&before))
}

/// Total time of all processors, in the unit of `/proc/stat`.
#[derive(Debug)]
struct Jiffies {
    idle: f64,
    all: f64,
}

impl Jiffies {
    /// Parses the first line: user, nice, system, idle, iowait, irq, softirq, steal.
    fn read(stat: &str) -> Option<Self> {
        let line = stat.lines().next()?.strip_prefix("cpu ")?;
        let times: Vec<f64> = line.split_whitespace().map_while(|word| word.parse().ok()).take(8).collect();
        Some(Self { idle: *times.get(3)? + *times.get(4)?, all: times.iter().sum() })
    }

    fn idle_since(&self, before: &Self) -> f64 {
        (self.idle - before.idle) / (self.all - before.all).max(1.0)
    }
}

/// The root of the repository.
pub(crate) fn repository() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.ancestors().nth(2).unwrap_or(package).to_owned()
}

#[expect(clippy::disallowed_methods, reason = "the report has the current date")]
fn date() -> String {
    humantime::format_rfc3339_seconds(std::time::SystemTime::now()).to_string()
}

fn commit() -> Option<String> {
    let commit = output_of("git", &["rev-parse", "--short=12", "HEAD"])?;
    let changes = output_of("git", &["status", "--porcelain"])?;
    Some(if changes.is_empty() { commit } else { format!("{commit}, with changes") })
}

/// The output of a program, or `None` if it fails.
fn output_of(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).current_dir(repository()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn memory_gib(meminfo: &str) -> Option<u64> {
    let kib: u64 = field(meminfo, "MemTotal")?.trim_end_matches(" kB").parse().ok()?;
    Some((kib + (1 << 19)) >> 20)
}

/// The value of a name in lines of `name: value`.
fn field(text: &str, name: &str) -> Option<String> {
    let pairs = text.lines().filter_map(|line| line.split_once(':'));
    pairs.filter(|(key, _)| key.trim() == name).map(|(_, value)| value.trim().to_owned()).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn field_is_found_despite_surrounding_blanks() {
        let text = "processor\t: 0\nmodel name\t: A Fast One @ 3 GHz\nMemTotal:       24574432 kB\n";
        assert_eq!(field(text, "model name").as_deref(), Some("A Fast One @ 3 GHz"));
        assert_eq!((memory_gib(text), memory_gib("")), (Some(23), None));
    }

    #[test]
    fn machine_with_a_load_below_one_half_is_idle() {
        let machine = |load| Machine { load: LoadAverage::read(load), ..Machine::detect() };
        assert!(machine("0.49 3.00 3.00 1/200 4711").was_idle());
        assert!(!machine("0.50 0.00 0.00 1/200 4711").was_idle());
        assert!(machine("").was_idle());
    }

    #[test]
    fn idle_time_includes_iowait() {
        let before = Jiffies::read("cpu  100 0 100 1000 0 0 0 0 0 0\ncpu0 1").unwrap();
        let after = Jiffies::read("cpu  110 0 110 1060 20 0 0 0 0 0\ncpu0 1").unwrap();
        assert!((after.idle_since(&before) - 0.8).abs() < 1e-9);
        assert!(Jiffies::read("not a line of /proc/stat").is_none());
    }
}
