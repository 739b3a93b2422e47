//! Who may know whom: the rules of the house, checked on the text of the sources.

use std::fs;
use std::path::{Path, PathBuf};

/// A folder or file below the workspace, and what may not be named in it.
const RULES: &[(&str, &[&str])] = &[
    (
        "sqs-client/src/types",
        &["crate::client", "crate::protocol", "crate::operation", "crate::config", "tokio"],
    ),
    ("sqs-client/src/limits.rs", &["crate::"]),
    ("sqs-client/src/service_error", &["crate::"]),
    (
        "sqs-client/src/validate",
        &["crate::client", "crate::protocol", "crate::operation", "crate::config", "tokio"],
    ),
    (
        "sqs-client/src/checksum",
        &["crate::client", "crate::protocol", "crate::operation", "crate::config", "tokio"],
    ),
    // Type aliases name the client, where aws-sdk-sqs has them; nothing else may.
    ("sqs-client/src/operation.rs", &["use crate::client", "crate::protocol", "crate::config", "tokio"]),
    ("sqs-client/src/protocol", &["crate::client", "crate::config", "crate::error", "tokio"]),
    (
        "sqs-client/src/sign.rs",
        &["crate::types", "crate::operation", "crate::protocol", "crate::client", "SystemTime::now"],
    ),
    ("sqs-client/src/transport", &["crate::types", "crate::operation", "crate::protocol", "crate::client"]),
    ("sqs-client/src/retry", &["crate::"]),
    (
        "sqs-mock-server/src/engine",
        &["crate::ops", "crate::http", "crate::mock", "tokio", "SystemTime::now", "sqs_client::protocol"],
    ),
    ("sqs-mock-server/src/ops", &["crate::http", "crate::mock", "sqs_client::protocol", "SystemTime::now"]),
];

fn sources(path: &Path, found: &mut Vec<PathBuf>) {
    if path.is_dir() {
        for entry in fs::read_dir(path).expect("a folder of sources") {
            sources(&entry.expect("an entry").path(), found);
        }
    } else if path.extension().is_some_and(|ending| ending == "rs") {
        found.push(path.to_owned());
    }
}

#[test]
fn no_module_knows_what_it_must_not() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let mut broken = Vec::new();
    for (place, forbidden) in RULES {
        let mut files = Vec::new();
        sources(&workspace.join(place), &mut files);
        assert!(!files.is_empty(), "{place} has no sources: has it moved?");
        for file in files.iter().filter(|file| !file.to_string_lossy().contains("tests")) {
            let text = fs::read_to_string(file).expect("a source");
            let code = text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
            // What comes after belongs to unit tests, which may know more.
            for (number, line) in code.take_while(|(_, line)| !line.contains("#[cfg(test)]")) {
                for word in forbidden.iter().filter(|word| line.contains(**word)) {
                    broken.push(format!("{}:{}: {word}", file.display(), number + 1));
                }
            }
        }
    }
    assert!(broken.is_empty(), "forbidden names:\n{}", broken.join("\n"));
}
