//! The settings of a data directory.

use std::fmt;
use std::path::PathBuf;

use serde::Deserialize;

/// The name of the file.
const FILE: &str = "sqs.db";

/// Where a server keeps queues, messages and topics, and what they survive.
///
/// ```
/// use sqs_mock_server::{Data, Durability};
///
/// let data = Data::new("./data").durability(Durability::Power);
/// ```
#[derive(Clone, Debug, Deserialize, Eq, PartialEq)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Data {
    /// The directory. It is created if it is missing.
    #[serde(rename = "dir")]
    pub directory: PathBuf,
    /// What acknowledged changes survive.
    #[serde(default)]
    pub durability: Durability,
}

/// What an acknowledged change survives.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Durability {
    /// The end of the process, including SIGKILL.
    #[default]
    Process,
    /// Loss of power, too: each commit waits for the disk.
    Power,
}

impl Data {
    /// A directory whose changes survive the end of the process.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into(), durability: Durability::default() }
    }

    /// Sets what acknowledged changes survive.
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// The path of the SQLite file. Copy it only while no server uses it.
    pub fn file(&self) -> PathBuf {
        self.directory.join(FILE)
    }
}

impl<P: Into<PathBuf>> From<P> for Data {
    fn from(directory: P) -> Self {
        Self::new(directory)
    }
}

impl Durability {
    /// The name in settings.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Process => "process",
            Self::Power => "power",
        }
    }
}

impl fmt::Display for Durability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
