//! The servers, and how each is started.

use std::fmt;
use std::str::FromStr;

use crate::process::{Start, start};
use crate::{BoxError, floor, obtain};

/// A server.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Peer {
    /// Bare hyper.
    Floor,
    Ours,
    Rustack,
    ElasticMq,
    Moto,
}

impl Peer {
    pub(crate) const ALL: [Self; 5] = [Self::Floor, Self::Ours, Self::Rustack, Self::ElasticMq, Self::Moto];

    /// Installs the server. Returns its command line, or the reason why it cannot be installed.
    pub(crate) fn install(self) -> Result<Result<Start, String>, BoxError> {
        Ok(match self {
            Self::Floor => Ok(start(std::env::current_exe()?, |command, address| {
                command.arg(floor::CHILD).arg(address.port().to_string());
            })),
            Self::Ours => Ok(start(env!("CARGO_BIN_EXE_sqs-mock-server"), |command, address| {
                command.arg("--port").arg(address.port().to_string());
            })),
            Self::Rustack => obtain::rustack()?.map(|program| {
                start(program, |command, address| {
                    // By default it logs each request, unlike the others.
                    command.env("GATEWAY_LISTEN", address.to_string()).env("LOG_LEVEL", "warn");
                })
            }),
            Self::ElasticMq => obtain::elasticmq()?
                .map(|java| start(java, |command, address| obtain::set_elasticmq(command, address, &[]))),
            Self::Moto => obtain::moto()?.map(|program| {
                start(program, |command, address| {
                    command.arg("-p").arg(address.port().to_string());
                })
            }),
        })
    }
}

impl FromStr for Peer {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|peer| peer.name() == text);
        let allowed = Self::ALL.map(Self::name).join(", ");
        found.ok_or_else(|| format!("unknown server {text:?}; allowed are {allowed}"))
    }
}

impl Peer {
    const fn name(self) -> &'static str {
        match self {
            Self::Floor => "floor",
            Self::Ours => "sqs-mock-server",
            Self::Rustack => "rustack",
            Self::ElasticMq => "elasticmq",
            Self::Moto => "moto",
        }
    }

    pub(crate) const fn colour(self) -> usize {
        match self {
            Self::Floor => 6,
            Self::Ours => 0,
            Self::Rustack => 1,
            Self::ElasticMq => 2,
            Self::Moto => 3,
        }
    }

    /// The name and version in reports.
    pub(crate) fn title(self) -> String {
        match self {
            Self::Floor => "bare hyper".to_owned(),
            Self::Ours => "sqs-mock-server".to_owned(),
            Self::Rustack => format!("rustack {}", obtain::version("rustack")),
            Self::ElasticMq => format!("ElasticMQ {}", obtain::version("elasticmq")),
            Self::Moto => format!("moto {}", obtain::version("moto")),
        }
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
