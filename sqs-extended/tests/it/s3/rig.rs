//! An S3 server with its own port and directory.

use std::sync::OnceLock;
use std::time::Duration;

use aws_sdk_s3::config::retry::RetryConfig;
use aws_sdk_s3::config::timeout::TimeoutConfig;
use aws_sdk_s3::config::{BehaviorVersion, Credentials, Region};
use aws_sdk_s3::{Client, Config};
use bytes::Bytes;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use s3s::auth::SimpleAuth;
use s3s::service::S3ServiceBuilder;
use sqs_extended::{Pointer, S3Store};
use tempfile::TempDir;
use tokio::net::TcpListener;

use super::fault::{Effect, Faults};

pub(crate) const BUCKET: &str = "payloads";
pub(crate) const PART: usize = 5 << 20;

pub(crate) struct Rig {
    pub(crate) client: Client,
    pub(crate) faults: Faults,
    #[cfg(feature = "object_store")]
    pub(crate) url: String,
    directory: TempDir,
}

impl Rig {
    pub(crate) async fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join(BUCKET)).unwrap();
        let mut builder = S3ServiceBuilder::new(s3s_fs::FileSystem::new(directory.path()).unwrap());
        builder.set_auth(SimpleAuth::from_single("id", "secret"));
        let (s3, faults) = (builder.build(), Faults::default());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let layer = faults.clone();
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let (s3, layer) = (s3.clone(), layer.clone());
                let service = service_fn(move |request| layer.clone().call(request, s3.clone()));
                tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(socket), service));
            }
        });
        Self {
            client: client(&url),
            faults,
            #[cfg(feature = "object_store")]
            url,
            directory,
        }
    }

    pub(crate) fn store(&self) -> S3Store {
        S3Store::builder(self.client.clone(), BUCKET).part_size(PART).build().unwrap()
    }

    /// Applies `effect` to the next `times` requests of this name.
    pub(crate) fn fail(&self, name: &'static str, effect: Effect, times: usize) {
        self.faults.inject(name, effect, 0, times);
    }

    /// The names of all requests so far.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        self.faults.seen().iter().map(super::fault::Seen::name).collect()
    }

    pub(crate) fn count(&self, name: &str) -> usize {
        self.names().iter().filter(|seen| **seen == name).count()
    }

    /// Waits until `count` requests of this name have arrived.
    pub(crate) async fn wait_for(&self, name: &str, count: usize) {
        let waiting = async {
            loop {
                let woken = self.faults.wake.notified();
                if self.count(name) >= count {
                    return;
                }
                woken.await;
            }
        };
        let most = Duration::from_secs(20);
        let in_time = tokio::time::timeout(most, waiting).await;
        in_time.unwrap_or_else(|_| panic!("fewer than {count} {name} requests: {:?}", self.names()));
    }

    /// The files of uploads that are neither completed nor aborted. s3s-fs cannot list these uploads.
    pub(crate) fn left_over(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.directory.path()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.contains("upload")).collect()
    }

    /// Waits until all uploads are aborted. The rig sees an abort request before s3s-fs handles it, so this polls.
    pub(crate) async fn wait_until_clean(&self) {
        self.wait_for("Abort", 1).await;
        for _ in 0..1_000 {
            if self.left_over().is_empty() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        panic!("unfinished uploads: {:?}", self.left_over());
    }

    /// The path of a file of the server.
    pub(crate) fn path(&self, name: &str) -> std::path::PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) async fn object(&self, at: &Pointer) -> Option<Bytes> {
        let request = self.client.get_object().bucket(at.bucket()).key(at.key());
        Some(request.send().await.ok()?.body.collect().await.unwrap().into_bytes())
    }
}

pub(crate) fn at(key: &str) -> Pointer {
    Pointer::new(BUCKET, key)
}

/// Text that repeats at no distance of a part, so that misplaced parts are noticed.
pub(crate) fn bytes(length: usize) -> Bytes {
    static LONGEST: OnceLock<Bytes> = OnceLock::new();
    let longest = LONGEST.get_or_init(|| {
        // Numbered blocks: a debug build takes seconds to write number after number.
        let block = (0..8_192).map(|number| format!("{number:x} ")).collect::<Vec<_>>().concat();
        let blocks = (0..=4 * PART / block.len()).map(|number| format!("{number:x} {block}"));
        blocks.collect::<Vec<_>>().concat().into()
    });
    longest.slice(..length)
}

pub(crate) fn client(url: &str) -> Client {
    let config = Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .endpoint_url(url)
        .region(Region::new("us-east-1"))
        .credentials_provider(Credentials::new("id", "secret", None, None, "test"))
        .force_path_style(true)
        .retry_config(RetryConfig::standard().with_initial_backoff(Duration::from_millis(1)))
        .timeout_config(TimeoutConfig::disabled())
        .http_client(aws_smithy_http_client::Builder::new().build_http());
    Client::from_conf(config.build())
}
