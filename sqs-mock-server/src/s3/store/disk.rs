//! JSON files that are replaced atomically.

use std::path::Path;
use std::{fs, io};

use s3s::crypto::{Checksum as _, Sha256};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::checksum::hex;

/// The extension of files that are being written.
pub(super) const UNFINISHED: &str = "tmp";

/// Writes a file atomically.
pub(super) fn write(path: &Path, value: &impl Serialize) -> io::Result<()> {
    let unfinished = path.with_extension(UNFINISHED);
    fs::write(&unfinished, serde_json::to_vec(value)?)?;
    fs::rename(&unfinished, path)
}

/// Reads a JSON file; an error names the file.
pub(super) fn read<T: DeserializeOwned>(path: &Path) -> io::Result<T> {
    let read = fs::read(path).and_then(|bytes| Ok(serde_json::from_slice(&bytes)?));
    read.map_err(|error| io::Error::new(error.kind(), format!("{} is damaged: {error}", path.display())))
}

/// The file name of an object record: keys may have characters and lengths that file names may not have.
pub(super) fn name_of_key(key: &str) -> String {
    hex(Sha256::checksum(key.as_bytes())) + ".json"
}
