//! Settings of the S3 server.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{env, fs, io, process};

use s3s::path::check_bucket_name;

/// The initial bucket if the settings name none.
pub(crate) const DEFAULT_BUCKET: &str = "payloads";

/// Settings of the S3 server.
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
    /// `None` for a temporary directory.
    pub(crate) directory: Option<PathBuf>,
    pub(crate) port: u16,
    /// [`DEFAULT_BUCKET`] if empty.
    pub(crate) buckets: Vec<String>,
}

impl S3 {
    /// Keeps objects in this directory and creates it if it is missing. A later server with the same directory has the
    /// same objects. Two servers must not use one directory at the same time.
    pub fn in_dir(directory: impl Into<PathBuf>) -> Self {
        Self { directory: Some(directory.into()), port: 0, buckets: Vec::new() }
    }

    /// Keeps objects in a temporary directory, which is removed when the server stops.
    pub fn temporary() -> Self {
        Self { directory: None, port: 0, buckets: Vec::new() }
    }

    /// Sets the port, on the host of the SQS server. The default, 0, takes a free port.
    pub fn port(mut self, port: u16) -> Self {
        self.port = port;
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

    /// # Errors
    /// A name is not a valid bucket name.
    pub(crate) fn check(&self) -> io::Result<()> {
        match self.buckets.iter().find(|name| !check_bucket_name(name)) {
            Some(name) => Err(io::Error::new(io::ErrorKind::InvalidInput, no_bucket_name(name))),
            None => Ok(()),
        }
    }

    /// The directory of the objects, and whether it is temporary.
    pub(super) fn directory(&self) -> io::Result<(PathBuf, bool)> {
        match &self.directory {
            Some(directory) => Ok((directory.clone(), false)),
            None => Ok((make_temporary()?, true)),
        }
    }
}

/// The error text for an invalid bucket name.
pub(crate) fn no_bucket_name(name: &str) -> String {
    format!(
        "{name:?} is not a valid bucket name; allowed are 3 to 63 characters of a-z, 0-9, - and ., with a letter or \
         digit at both ends"
    )
}

/// Creates a directory that did not exist before.
fn make_temporary() -> io::Result<PathBuf> {
    static MADE: AtomicU64 = AtomicU64::new(0);
    loop {
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let path = env::temp_dir().join(format!("sqs-mock-s3-{}-{number}", process::id()));
        match fs::create_dir(&path) {
            Ok(()) => return Ok(path),
            // Left over from a process with the same id.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}
