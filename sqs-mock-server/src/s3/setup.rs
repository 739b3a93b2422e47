//! What can be said about the S3 beside SQS before it starts.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{env, fs, io, process};

use s3s::path::check_bucket_name;

/// The bucket that is there when nobody names one.
pub(crate) const DEFAULT_BUCKET: &str = "payloads";

/// Settings of the S3 beside SQS.
///
/// ```
/// use sqs_mock_server::s3::S3;
///
/// let settings = S3::temporary().bucket("orders").bucket("audit");
/// # let _ = settings;
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
#[must_use]
pub struct S3 {
    /// A temporary directory without it.
    pub(crate) directory: Option<PathBuf>,
    pub(crate) port: u16,
    /// The default one when there are none.
    pub(crate) buckets: Vec<String>,
}

impl S3 {
    /// Keeps objects in this directory, which is made if it is missing. They are there again when a later server has the
    /// same directory; two servers at a time must not have it.
    pub fn in_dir(directory: impl Into<PathBuf>) -> Self {
        Self { directory: Some(directory.into()), port: 0, buckets: Vec::new() }
    }

    /// Keeps objects in a directory of its own, which is removed with the server.
    pub fn temporary() -> Self {
        Self { directory: None, port: 0, buckets: Vec::new() }
    }

    /// Port to listen on, at the host of SQS; 0, which is the default, takes a free one.
    pub fn port(mut self, port: u16) -> Self {
        self.port = port;
        self
    }

    /// Creates this bucket at the start, unless it is there. Said more than once, all of them; without it, `payloads`.
    pub fn bucket(mut self, name: impl Into<String>) -> Self {
        self.buckets.push(name.into());
        self
    }

    /// Names of the buckets that are there from the start.
    pub(crate) fn buckets(&self) -> Vec<&str> {
        if self.buckets.is_empty() {
            vec![DEFAULT_BUCKET]
        } else {
            self.buckets.iter().map(String::as_str).collect()
        }
    }

    /// # Errors
    /// A bucket cannot have its name.
    pub(crate) fn check(&self) -> io::Result<()> {
        match self.buckets.iter().find(|name| !check_bucket_name(name)) {
            Some(name) => Err(io::Error::new(io::ErrorKind::InvalidInput, no_bucket_name(name))),
            None => Ok(()),
        }
    }

    /// Where objects are, and whether that is removed at the end.
    pub(super) fn directory(&self) -> io::Result<(PathBuf, bool)> {
        match &self.directory {
            Some(directory) => Ok((directory.clone(), false)),
            None => Ok((make_temporary()?, true)),
        }
    }
}

/// What is wrong with the name of a bucket.
pub(crate) fn no_bucket_name(name: &str) -> String {
    format!(
        "{name:?} is no name of a bucket; allowed are 3 to 63 of a-z, 0-9, - and ., with a letter or digit at both ends"
    )
}

/// A directory that was not there before.
fn make_temporary() -> io::Result<PathBuf> {
    static MADE: AtomicU64 = AtomicU64::new(0);
    loop {
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let path = env::temp_dir().join(format!("sqs-mock-s3-{}-{number}", process::id()));
        match fs::create_dir(&path) {
            Ok(()) => return Ok(path),
            // Left by a process that had the same number.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}
