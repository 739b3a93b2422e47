//! Settings of the S3 server.

use std::path::PathBuf;

use s3s::path::check_bucket_name;
use serde::{Deserialize, Deserializer};

/// The initial bucket if the settings list none.
pub(crate) const DEFAULT_BUCKET: &str = "payloads";

/// Settings of the S3 server.
///
/// ```
/// use sqs_mock_server::s3::S3;
///
/// let settings = S3::temporary().bucket("orders").bucket("audit");
/// # let _ = settings;
/// ```
#[derive(Clone, Debug, Deserialize, Eq, PartialEq)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
#[must_use]
pub struct S3 {
    /// Where objects are kept; `None` is a temporary directory. Config files must name one.
    #[serde(deserialize_with = "named")]
    pub directory: Option<PathBuf>,
    /// Port to listen on; 0 takes a free one. The default is 0, and 9325 for the binary.
    pub port: Option<u16>,
    /// Initial buckets. If there are none, a bucket named `payloads` is created.
    #[serde(default)]
    pub buckets: Vec<String>,
}

fn named<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<PathBuf>, D::Error> {
    PathBuf::deserialize(deserializer).map(Some)
}

impl S3 {
    /// Keeps objects in this directory and creates it if it is missing. A later server with the same directory has the
    /// same objects. Two servers must not use one directory at the same time.
    pub fn in_dir(directory: impl Into<PathBuf>) -> Self {
        Self { directory: Some(directory.into()), port: None, buckets: Vec::new() }
    }

    /// Keeps objects in a temporary directory, which is removed when the server stops.
    pub fn temporary() -> Self {
        Self { directory: None, port: None, buckets: Vec::new() }
    }

    /// Sets the port, on the host of the SQS server. The default, 0, takes a free port.
    pub fn port(mut self, port: u16) -> Self {
        self.port = Some(port);
        self
    }

    /// Adds an initial bucket, which is created if it is missing. The default is one bucket named `payloads`.
    pub fn bucket(mut self, name: impl Into<String>) -> Self {
        self.buckets.push(name.into());
        self
    }

    /// The names of the initial buckets.
    pub(crate) fn buckets(&self) -> Vec<&str> {
        if self.buckets.is_empty() {
            vec![DEFAULT_BUCKET]
        } else {
            self.buckets.iter().map(String::as_str).collect()
        }
    }
}

/// Why a name is not a valid bucket name.
pub(crate) fn problem_of_bucket_name(name: &str) -> Option<String> {
    let text = || {
        format!(
            "{name:?} is not a valid bucket name; allowed are 3 to 63 characters of a-z, 0-9, - and ., with a letter or \
             digit at both ends"
        )
    };
    (!check_bucket_name(name)).then(text)
}
