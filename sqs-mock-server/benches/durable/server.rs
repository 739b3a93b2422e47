//! The servers and their settings.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use crate::process::{Start, start};
use crate::{BoxError, obtain};

/// A server with a setting of durability.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Server {
    /// sqs-mock-server without a data directory.
    Memory,
    Process,
    Power,
    ElasticMq,
    Fauxqs,
}

impl Server {
    pub(crate) const ALL: [Self; 5] =
        [Self::Memory, Self::Process, Self::Power, Self::ElasticMq, Self::Fauxqs];

    /// Installs the server, or returns the reason why it cannot be installed.
    pub(crate) fn install(self) -> Result<Result<(), String>, BoxError> {
        Ok(match self {
            Self::Memory | Self::Process | Self::Power => Ok(()),
            Self::ElasticMq => obtain::elasticmq()?.map(drop),
            Self::Fauxqs => obtain::fauxqs()?.map(drop),
        })
    }

    /// The command line with a data directory.
    pub(crate) fn start(self, directory: &Path) -> Start {
        let directory = directory.to_owned();
        match self {
            Self::Memory | Self::Process | Self::Power => {
                start(env!("CARGO_BIN_EXE_sqs-mock-server"), move |command, address| {
                    // The load needs neither a journal nor a limit.
                    command.args(["--max-memory", "16GiB", "--port"]).arg(address.port().to_string());
                    if self != Self::Memory {
                        command.arg("--data").arg(&directory).args(["--durability", self.name()]);
                    }
                })
            }
            Self::ElasticMq => start("java", move |command, address| {
                let directory = directory.display();
                let properties = [
                    "-Dqueues-storage.enabled=true".to_owned(),
                    format!("-Dqueues-storage.path={directory}/queues.conf"),
                    "-Dmessages-storage.enabled=true".to_owned(),
                    format!("-Dmessages-storage.uri=jdbc:h2:{directory}/messages"),
                ];
                obtain::set_elasticmq(command, address, &properties);
            }),
            Self::Fauxqs => start(obtain::node(), move |command, address| {
                command.arg(obtain::fauxqs_script()).env("FAUXQS_PORT", address.port().to_string());
                command.env("FAUXQS_HOST", "localhost");
                command.env("FAUXQS_PERSISTENCE", "true").env("FAUXQS_DATA_DIR", &directory);
            }),
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Process => "process",
            Self::Power => "power",
            Self::ElasticMq => "elasticmq",
            Self::Fauxqs => "fauxqs",
        }
    }

    /// The name and version in reports.
    pub(crate) fn title(self) -> String {
        match self {
            Self::Memory => "sqs-mock-server".to_owned(),
            Self::Process | Self::Power => format!("`--durability {self}`"),
            Self::ElasticMq => format!("ElasticMQ {}, H2", obtain::version("elasticmq")),
            Self::Fauxqs => format!("fauxqs {}, SQLite", obtain::version("fauxqs")),
        }
    }
}

impl FromStr for Server {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|server| server.name() == text);
        let allowed = Self::ALL.map(Self::name).join(", ");
        found.ok_or_else(|| format!("unknown server {text:?}; allowed are {allowed}"))
    }
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
