//! `sqs-mock-server explore -- COMMAND`, for commands that fail, hang, are interrupted or do not exist.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use tokio::time::Instant;

use crate::command_line::{Running, binary, run};

fn explored(arguments: &[&str]) -> Output {
    run(&[&["explore"], arguments].concat())
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn command_that_fails_without_a_disturbance_is_told_so() {
    let output = explored(&["--", "/bin/sh", "-c", "echo out of paper; exit 3"]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text.starts_with(
            "the test fails without any disturbance: it ends with exit code 3\n\n    out of paper\n"
        ),
        "{text}"
    );
    assert!(text.contains("There were no requests to SQS."), "{text}");
    let repeat = text.trim_end().lines().last().unwrap();
    assert!(repeat.ends_with(" explore --schedules 0 -- /bin/sh -c 'echo out of paper; exit 3'"), "{repeat}");
}

#[test]
fn command_that_passes_runs_under_each_schedule() {
    let output = explored(&["--schedules", "3", "--", "/bin/sh", "-c", "test -n \"$AWS_ENDPOINT_URL_SQS\""]);
    let text = stdout(&output);
    assert!(output.status.success(), "{text}");
    assert!(text.starts_with("explored 3 schedules, with 0 disturbances of 0 calls"), "{text}");
}

#[test]
fn missing_command_is_an_error() {
    let output = explored(&["--", "/no/such/program"]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains("/no/such/program: No such file"), "{error}");
    assert_eq!(output.status.code(), Some(1));
    let output = explored(&[]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("-- <COMMAND>"), "{output:?}");
}

#[test]
fn malformed_plan_is_rejected() {
    let output = explored(&["--replay", "worker slow", "--", "/bin/true"]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains("\"worker slow\" is not a decision; allowed is text such as"), "{error}");
}

/// A shell that waits for a process, whose id is in the file.
fn waits(file: &Path) -> String {
    format!("/bin/sleep 600 & echo $! > {0}.new; mv {0}.new {0}; wait", file.display())
}

/// The id in a file, once it is there.
fn process_in(file: &Path) -> String {
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        match std::fs::read_to_string(file) {
            Ok(id) => return id.trim().to_owned(),
            Err(error) if Instant::now() > end => panic!("{}: {error}", file.display()),
            Err(_) => std::thread::sleep(Duration::from_millis(10)),
        }
    }
}

/// Waits until a process is gone, or a zombie that nobody has asked for.
fn is_gone(id: &str) {
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        let shown = Command::new("ps").args(["-o", "stat=", "-p", id]).output().unwrap();
        let state = String::from_utf8_lossy(&shown.stdout).trim().to_owned();
        if state.is_empty() || state.starts_with('Z') {
            return;
        }
        assert!(Instant::now() < end, "process {id} still runs: {state}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn file(directory: &tempfile::TempDir) -> PathBuf {
    directory.path().join("process")
}

#[test]
fn command_that_hangs_is_killed_with_what_it_started() {
    let directory = tempfile::tempdir().unwrap();
    let file = file(&directory);
    let output = explored(&["--timeout", "2s", "--", "/bin/sh", "-c", &waits(&file)]);
    let text = stdout(&output);
    assert!(text.contains("without any disturbance: it has not ended within 2s"), "{text}");
    is_gone(&process_in(&file));
}

#[test]
fn interrupt_ends_the_command_with_what_it_started() {
    let directory = tempfile::tempdir().unwrap();
    let file = file(&directory);
    let mut running = Running::start(binary().args(["explore", "--", "/bin/sh", "-c", &waits(&file)]));
    let started = process_in(&file);
    let id = running.child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    assert_eq!(running.child.wait().unwrap().code(), Some(130));
    is_gone(&started);
}

#[test]
fn process_that_outlives_the_command_is_killed() {
    let directory = tempfile::tempdir().unwrap();
    let file = file(&directory);
    let leaves = format!("/bin/sleep 600 & echo $! > {}", file.display());
    let output = explored(&["--schedules", "1", "--", "/bin/sh", "-c", &leaves]);
    assert!(output.status.success(), "{output:?}");
    is_gone(&process_in(&file));
}
