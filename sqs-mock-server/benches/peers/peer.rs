//! The servers, and how each is started.

use std::ffi::OsString;
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;

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

/// The command line of a server.
#[derive(Debug)]
pub(crate) struct Start {
    pub(crate) program: PathBuf,
    /// The arguments for an address.
    pub(crate) arguments: fn(SocketAddr) -> Vec<OsString>,
    pub(crate) environment: fn(SocketAddr) -> Vec<(&'static str, String)>,
}

impl Peer {
    pub(crate) const ALL: [Self; 5] = [Self::Floor, Self::Ours, Self::Rustack, Self::ElasticMq, Self::Moto];

    /// Installs the server. Returns its command line, or the reason why it cannot be installed.
    pub(crate) fn install(self) -> Result<Result<Start, String>, BoxError> {
        let without_environment =
            |program: PathBuf, arguments| Start { program, arguments, environment: |_| Vec::new() };
        Ok(match self {
            Self::Floor => Ok(without_environment(std::env::current_exe()?, |address| {
                vec![floor::CHILD.into(), address.port().to_string().into()]
            })),
            Self::Ours => Ok(without_environment(env!("CARGO_BIN_EXE_sqs-mock-server").into(), |address| {
                vec!["--port".into(), address.port().to_string().into()]
            })),
            Self::Rustack => obtain::rustack()?.map(|program| Start {
                program,
                arguments: |_| Vec::new(),
                // By default it logs each request, unlike the others.
                environment: |address| {
                    vec![("GATEWAY_LISTEN", address.to_string()), ("LOG_LEVEL", "warn".into())]
                },
            }),
            Self::ElasticMq => obtain::elasticmq()?.map(|java| Start {
                program: java,
                arguments: |address| {
                    let mut arguments: Vec<OsString> = vec![
                        format!("-Drest-sqs.bind-port={}", address.port()).into(),
                        "-Drest-sqs.bind-hostname=127.0.0.1".into(),
                        "-Drest-stats.enabled=false".into(),
                        "-cp".into(),
                    ];
                    arguments.push(obtain::elasticmq_classes().into());
                    arguments.push("org.elasticmq.server.Main".into());
                    arguments
                },
                environment: |_| Vec::new(),
            }),
            Self::Moto => obtain::moto()?.map(|program| {
                without_environment(program, |address| vec!["-p".into(), address.port().to_string().into()])
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
