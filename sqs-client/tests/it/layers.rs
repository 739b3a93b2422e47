//! Checks the dependency rules between modules in the source text.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// A folder or file, relative to the workspace, and the names that it must not contain.
const RULES: &[(&str, &[&str])] = &[
    (
        "sqs-client/src/wire",
        &[
            "crate::client",
            "crate::Client",
            "crate::config",
            "crate::credentials",
            "crate::error",
            "crate::operation::",
            "crate::retry",
            "crate::transport",
            "tokio",
        ],
    ),
    ("sqs-client/src/wire/types", &["crate::wire::protocol", "crate::wire::model"]),
    ("sqs-client/src/wire/limits.rs", &["crate::"]),
    ("sqs-client/src/wire/service_error", &["crate::"]),
    ("sqs-client/src/wire/validate", &["crate::wire::protocol", "crate::wire::model"]),
    ("sqs-client/src/wire/checksum", &["crate::wire::protocol", "crate::wire::model"]),
    ("sqs-client/src/wire/model.rs", &["crate::wire::protocol"]),
    (
        "sqs-client/src/wire/sign",
        &["crate::types", "crate::wire::model", "crate::wire::protocol", "SystemTime::now"],
    ),
    // Type aliases name the client, as in aws-sdk-sqs.
    ("sqs-client/src/operation.rs", &["crate::wire::protocol", "crate::config", "crate::error", "tokio"]),
    ("sqs-client/src/client", &["crate::operation"]),
    (
        "sqs-client/src/transport",
        &[
            "crate::types",
            "crate::operation",
            "crate::wire::model",
            "crate::wire::protocol",
            "crate::client",
            "crate::config",
            "crate::error",
        ],
    ),
    ("sqs-client/src/config", &["crate::client", "crate::aws_sdk"]),
    ("sqs-client/src/client", &["crate::aws_sdk"]),
    ("sqs-client/src/aws_sdk", &["crate::config", "crate::credentials", "crate::wire::sign"]),
    (
        "sqs-client/src/credentials",
        &[
            "crate::client",
            "crate::wire::protocol",
            "crate::operation",
            "crate::wire::model",
            "crate::config",
        ],
    ),
    (
        "sqs-client/src/settings",
        &["crate::client", "crate::config", "crate::credentials", "crate::transport", "tokio"],
    ),
    ("sqs-client/src/endpoint.rs", &["crate::"]),
    ("sqs-client/src/client", &["crate::sdk"]),
    ("sqs-client/src/runtime_components.rs", &["crate::"]),
    ("sqs-client/src/sdk/error", &["crate::client", "sdk::client", "sdk::config", "tokio"]),
    ("sqs-client/src/sdk/config", &["crate::client", "sdk::client", "tokio::"]),
    ("sqs-client/src/time.rs", &["crate::"]),
    ("sqs-client/src/error", &["crate::client", "crate::config", "tokio"]),
    ("sqs-client/src/observe.rs", &["crate::client", "crate::config", "tokio"]),
    (
        "sqs-mock-server/src/http",
        &["crate::mock", "crate::sqs", "crate::s3", "crate::admin", "crate::router"],
    ),
    (
        "sqs-mock-server/src/service",
        &[
            "crate::sqs",
            "crate::s3",
            "crate::http",
            "crate::mock",
            "crate::admin",
            "crate::router",
            "crate::config",
        ],
    ),
    ("sqs-mock-server/src/service/faults", &["tokio"]),
    ("sqs-mock-server/src/admin", &["crate::mock", "crate::router", "crate::config"]),
    (
        "sqs-mock-server/src/s3",
        &["crate::mock", "crate::sqs", "crate::admin", "crate::router", "crate::config"],
    ),
    (
        "sqs-mock-server/src/query",
        &[
            "crate::mock",
            "crate::sqs",
            "crate::sns",
            "crate::sts",
            "crate::admin",
            "crate::router",
            "crate::config",
        ],
    ),
    (
        "sqs-mock-server/src/sns",
        &[
            "crate::mock",
            "crate::sqs",
            "crate::s3",
            "crate::sts",
            "crate::http",
            "crate::admin",
            "crate::router",
            "crate::config",
            "SystemTime::now",
        ],
    ),
    ("sqs-mock-server/src/sns/engine", &["sns::ops", "sns::wire", "crate::query", "tokio"]),
    (
        "sqs-mock-server/src/sts",
        &["crate::mock", "crate::sqs", "crate::sns", "crate::http", "crate::admin", "crate::config"],
    ),
    (
        "sqs-mock-server/src/sqs/front",
        &["crate::mock", "crate::admin", "crate::router", "crate::config", "crate::s3"],
    ),
    (
        "sqs-mock-server/src/sqs/journal",
        &["sqs::front", "sqs::ops", "crate::http", "crate::mock", "crate::admin"],
    ),
    ("sqs-client/src/retry", &["crate::"]),
    ("sqs-client/src/random.rs", &["crate::"]),
    // The layers use the client's random module.
    ("sqs-buffered/src/consume/pool/shares.rs", &["tokio::sync", "Instant::now"]),
    ("sqs-buffered/src/consume/pool/adaptive.rs", &["tokio::sync", "Instant::now"]),
    ("sqs-buffered/src", &["fastrand"]),
    ("sqs-extended/src", &["fastrand"]),
    (
        "sqs-mock-server/src/sqs/engine",
        &[
            "sqs::ops",
            "sqs::front",
            "crate::http",
            "crate::mock",
            "crate::config",
            "tokio",
            "SystemTime::now",
            "sqs_client::wire::protocol",
        ],
    ),
    ("sqs-buffered/src/time.rs", &["crate::", "tokio::time::sleep"]),
    ("sqs-buffered/src/metrics.rs", &["crate::", "tokio"]),
    ("sqs-buffered/src/meter", &["crate::produce", "crate::consume", "tokio"]),
    ("sqs-buffered/src/trace_context", &["crate::produce", "crate::consume", "tokio"]),
    ("sqs-buffered/src/produce", &["crate::consume"]),
    ("sqs-buffered/src/produce/lane", &["Instant::now", "spawn", "async", "crate::produce::client"]),
    ("sqs-buffered/src/consume/lease/schedule.rs", &["Instant::now", "crate::consume", "super::"]),
    ("sqs-buffered/src/consume/lease/table.rs", &["Instant::now", "crate::", "spawn", "async"]),
    ("sqs-buffered/src/consume/credit/credits.rs", &["crate::", "tokio"]),
    ("sqs-buffered/src/consume/handler", &["consume::consumer", "consume::receive", "consume::pool"]),
    ("sqs-buffered/src/consume/idempotent/records.rs", &["Instant::now", "async", "spawn"]),
    ("sqs-buffered/src/consume/consumer/groups.rs", &["crate::", "tokio"]),
    ("sqs-buffered/src/consume/back_off.rs", &["crate::", "tokio"]),
    ("sqs-extended/src/pointer.rs", &["crate::", "tokio"]),
    (
        "sqs-extended/src/format",
        &["crate::client", "crate::config", "crate::payload", "crate::store", "tokio", "async"],
    ),
    ("sqs-extended/src/send/decision.rs", &["crate::client", "crate::config", "tokio", "async"]),
    ("sqs-extended/src/sweep/rules.rs", &["crate::client", "tokio", "async", "SystemTime::now"]),
    ("sqs-extended/src/store", &["crate::client", "crate::send", "crate::receive", "crate::config"]),
    (
        "sqs-mock-server/src/sqs/ops",
        &[
            "crate::http",
            "sqs::front",
            "crate::mock",
            "crate::config",
            "sqs_client::wire::protocol",
            "SystemTime::now",
        ],
    ),
    (
        "sqs-mock-server/src/store",
        &[
            "crate::mock",
            "crate::http",
            "crate::admin",
            "crate::router",
            "crate::config",
            "sqs::front",
            "tokio",
        ],
    ),
    ("sqs-mock-server/src/config.rs", &["crate::mock", "sqs::ops"]),
    ("sqs-mock-server/src/config", &["crate::mock", "sqs::ops", "crate::admin", "crate::router"]),
];

fn sources(path: &Path, found: &mut Vec<PathBuf>) {
    if path.is_dir() {
        for entry in fs::read_dir(path).expect("a folder of sources") {
            sources(&entry.expect("an entry").path(), found);
        }
    } else if path.extension().is_some_and(|ending| ending == "rs") && !is_test(path) {
        found.push(path.to_owned());
    }
}

/// Whether a file is `tests.rs`, `x_tests.rs` or in a folder `tests`. The rules do not apply to tests. Checks only the last two
/// components, because the path of the workspace may contain `tests`.
fn is_test(path: &Path) -> bool {
    let is_tests = |name: Option<&OsStr>| name.is_some_and(|name| name == "tests");
    let stem = path.file_stem();
    is_tests(path.parent().and_then(Path::file_name))
        || is_tests(stem)
        || stem.is_some_and(|stem| stem.to_string_lossy().ends_with("_tests"))
}

/// Finds forbidden names and their line numbers. Skips comments and a unit test module at the end of the file.
fn violations<'w>(text: &str, forbidden: &[&'w str]) -> Vec<(usize, &'w str)> {
    let mut found = Vec::new();
    let mut lines = text.lines().enumerate().peekable();
    while let Some((number, line)) = lines.next() {
        let tests_follow = line.trim() == "#[cfg(test)]";
        if tests_follow
            && lines.peek().is_some_and(|(_, next)| next.starts_with("mod ") && next.ends_with('{'))
        {
            break;
        }
        if !line.trim_start().starts_with("//") {
            found.extend(
                forbidden.iter().filter(|word| line.contains(**word)).map(|word| (number + 1, *word)),
            );
        }
    }
    found
}

#[test]
fn modules_do_not_use_forbidden_modules() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let mut broken = Vec::new();
    for (place, forbidden) in RULES {
        let mut files = Vec::new();
        sources(&workspace.join(place), &mut files);
        assert!(!files.is_empty(), "{place} has no source files; update RULES if it was moved");
        for file in files {
            let text = fs::read_to_string(&file).expect("a source");
            let found = violations(&text, forbidden).into_iter();
            broken.extend(found.map(|(line, word)| format!("{}:{line}: {word}", file.display())));
        }
    }
    assert!(broken.is_empty(), "modules contain forbidden names:\n{}", broken.join("\n"));
}

#[test]
fn violation_in_code_is_found() {
    let text = "// crate::http\n#[cfg(test)]\nmod tests;\nuse crate::http;\n#[cfg(test)]\nmod t {\nuse crate::http;\n}";
    assert_eq!(violations(text, &["crate::http"]), [(4, "crate::http")]);
}
