//! The servers. Each one is a separate process of this program.

use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use aws_sdk_s3::config::{BehaviorVersion, Credentials, Region};
use aws_sdk_s3::{Client, Config};
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use s3s::auth::SimpleAuth;
use s3s::service::S3ServiceBuilder;
use sqs_benchmarks::server::{Server as Process, wait_for_input_end};
use tokio::net::TcpListener;

use crate::{BoxError, sink};

pub(crate) const BUCKET: &str = "payloads";
/// Subdirectory of the buckets.
const STORE: &str = "store";

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    Sink,
    S3s,
}

impl FromStr for Kind {
    type Err = BoxError;

    fn from_str(text: &str) -> Result<Self, BoxError> {
        match text {
            "sink" => Ok(Self::Sink),
            "s3s" => Ok(Self::S3s),
            other => Err(format!("unknown server {other:?}; allowed are sink and s3s").into()),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sink => "sink",
            Self::S3s => "s3s",
        })
    }
}

pub(crate) struct Server {
    _process: Process,
    client: Client,
    directory: PathBuf,
}

impl Server {
    pub(crate) fn start(kind: Kind, bytes: u64) -> Result<Self, BoxError> {
        let mut process =
            Process::spawn_self(["--serve", &kind.to_string(), &bytes.to_string()].map(str::to_owned))?;
        let (url, directory) = (process.read_line()?, process.read_line()?.into());
        Ok(Self { _process: process, client: client(&url), directory })
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// A directory for files. The server removes it when it ends, also after Ctrl-c.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }
}

fn client(url: &str) -> Client {
    let config = Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .endpoint_url(url)
        .region(Region::new("us-east-1"))
        .credentials_provider(Credentials::new("id", "secret", None, None, "bench"))
        .force_path_style(true)
        .http_client(aws_smithy_http_client::Builder::new().build_http());
    Client::from_conf(config.build())
}

/// Runs a server in the child process.
pub(crate) fn run(kind: Kind, bytes: u64) -> Result<(), BoxError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let directory = tempfile::tempdir()?;
    let address = runtime.block_on(async {
        match kind {
            Kind::Sink => Ok(sink::serve(bytes).await?),
            Kind::S3s => serve(&directory.path().join(STORE)).await,
        }
    })?;
    println!("http://{address}\n{}", directory.path().display());
    wait_for_input_end();
    runtime.shutdown_background();
    Ok(())
}

async fn serve(directory: &Path) -> Result<SocketAddr, BoxError> {
    std::fs::create_dir_all(directory.join(BUCKET))?;
    let files = s3s_fs::FileSystem::new(directory).map_err(|error| format!("{error:?}"))?;
    let mut builder = S3ServiceBuilder::new(files);
    builder.set_auth(SimpleAuth::from_single("id", "secret"));
    let service = builder.build();
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(socket), service.clone()));
        }
    });
    Ok(address)
}
