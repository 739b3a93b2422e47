//! Small files, written all at once.

use std::path::Path;
use std::{fs, io};

use s3s::crypto::{Checksum as _, Sha256};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Ends the names of files that were not finished.
pub(super) const UNFINISHED: &str = "tmp";

/// Writes a file that is there as a whole, or not at all.
pub(super) fn write(path: &Path, value: &impl Serialize) -> io::Result<()> {
    let unfinished = path.with_extension(UNFINISHED);
    fs::write(&unfinished, serde_json::to_vec(value)?)?;
    fs::rename(&unfinished, path)
}

/// Reads such a file; errors name it.
pub(super) fn read<T: DeserializeOwned>(path: &Path) -> io::Result<T> {
    let read = fs::read(path).and_then(|bytes| Ok(serde_json::from_slice(&bytes)?));
    read.map_err(|error| io::Error::new(error.kind(), format!("{} is damaged: {error}", path.display())))
}

/// The name of the file of an object: keys have characters and lengths that names of files cannot have.
pub(super) fn name_of_key(key: &str) -> String {
    use std::fmt::Write as _;
    let mut name = String::with_capacity(64 + 5);
    for byte in Sha256::checksum(key.as_bytes()) {
        // Writing to a text cannot fail.
        let _ = write!(name, "{byte:02x}");
    }
    name + ".json"
}
