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
    assert!(
        repeat.ends_with(" explore --seed 0 --schedules 0 -- /bin/sh -c 'echo out of paper; exit 3'"),
        "{repeat}"
    );
}

/// The command of other tests: sends a message, three times at most.
#[tokio::test]
#[ignore = "it needs a server"]
async fn sends_a_message() {
    let client = sqs_client::Client::load().await.unwrap();
    let queue = client.create_queue().queue_name("orders").send().await.unwrap();
    client.send_message().set_queue_url(queue.queue_url).message_body("tea").send().await.unwrap();
}

fn sending() -> Vec<String> {
    let program = std::env::current_exe().unwrap().display().to_string();
    let words = ["--exact", "--ignored", "explore_command::sends_a_message"].map(str::to_owned);
    [vec![program], words.to_vec()].concat()
}

#[test]
fn command_that_passes_runs_under_each_schedule() {
    let arguments =
        ["--schedules", "3", "--rate", "0.5", "--kinds", "lose_response", "--"].map(str::to_owned);
    let arguments = [arguments.to_vec(), sending()].concat();
    let output = explored(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    let text = stdout(&output);
    assert!(output.status.success(), "{text} {output:?}");
    assert!(text.starts_with("explored 3 schedules, with ") && text.contains("lose_response"), "{text}");
}

#[test]
fn replay_says_what_took_place() {
    let plan = "test SendMessage orders #1: lose_response; test SendMessage orders #9: slow";
    let arguments = ["--replay", plan, "--"].map(str::to_owned);
    let arguments = [arguments.to_vec(), sending()].concat();
    let output = explored(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    let text = stdout(&output);
    assert_eq!(text.trim_end(), "the plan does not break the test; 1 of 2 disturbances took place");
    let output = explored(&["--replay", plan, "--", "/bin/sh", "-c", "exit 1"]);
    let text = stdout(&output);
    assert!(text.starts_with("the plan breaks the test: it ends with exit code 1"), "{text}");
    assert!(text.contains("0 of 2 disturbances took place:"), "{text}");
}

#[test]
fn undisturbed_caller_is_left_alone_and_must_make_calls() {
    let of = |caller: &str| {
        let arguments = ["--rate", "1", "--undisturbed", caller, "--schedules", "1", "--"].map(str::to_owned);
        let arguments = [arguments.to_vec(), sending()].concat();
        explored(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let text = stdout(&of("test"));
    assert!(text.contains("what is tested needs an access key that is not in --undisturbed"), "{text}");
    assert!(text.contains(" explore --undisturbed test --seed 0 --schedules 0 -- "), "{text}");
    assert_eq!(text.matches("--undisturbed test").count(), 1, "{text}");
    let text = stdout(&explored(&["--undisturbed", "test", "--", "/bin/sh", "-c", "exit 3"]));
    assert!(text.contains("it ends with exit code 3"), "{text}");
    let text = stdout(&explored(&["--undisturbed", "test", "--", "/bin/true"]));
    assert!(text.contains("must use the endpoint in AWS_ENDPOINT_URL"), "{text}");
    let misspelled = of("tset");
    let error = String::from_utf8_lossy(&misspelled.stderr);
    let expected = r#"no call to SQS has the access key "tset" of --undisturbed; keys of calls: test"#;
    assert!(error.contains(expected), "{error}");
    assert_eq!(misspelled.status.code(), Some(2));
}

#[test]
fn command_that_does_not_use_the_server_is_told_so() {
    let output = explored(&["--", "/bin/sh", "-c", "exit 0"]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(1));
    assert!(text.contains("without any disturbance: it made no call to SQS that can be disturbed"), "{text}");
}

#[test]
fn settings_that_make_no_sense_are_rejected() {
    let output = explored(&["--kinds", "slow,kill_before", "--", "/bin/true"]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains("kill_before needs a process of the module explore, in Rust"), "{error}");
    let directory = tempfile::tempdir().unwrap();
    let output = run(&["--data", directory.path().to_str().unwrap(), "explore", "--", "/bin/true"]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains("explore cannot be combined with a data directory"), "{error}");
    assert_eq!(output.status.code(), Some(2));
    let output = explored(&["--replay", "test SendMessage q #1: kill_after", "--", "/bin/true"]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains("kill_after needs a process of the module explore, in Rust"), "{error}");
}

#[test]
fn repeat_line_has_the_flags_of_the_server() {
    let words = ["--region", "explore", "explore", "--seed=3", "--timeout", "9s", "--compat", "localstack"];
    let output = run(&[&words[..], &["--", "/bin/sh", "-c", "exit 1"]].concat());
    let text = stdout(&output);
    let expected = " --region explore --compat localstack explore --timeout 9s --seed 3 --schedules 0 -- /bin/sh -c 'exit 1'";
    assert!(text.trim_end().ends_with(expected), "{text}");
}

/// A process that leaves the group keeps the output open.
#[cfg(target_os = "linux")]
#[test]
fn daemon_of_a_command_does_not_hold_up_its_end() {
    let began = Instant::now();
    explored(&["--schedules", "0", "--", "/bin/sh", "-c", "/usr/bin/setsid /bin/sleep 20 & exit 1"]);
    assert!(began.elapsed() < Duration::from_secs(15), "it waited for the daemon");
}

#[test]
fn missing_command_is_an_error() {
    let output = explored(&["--", "/no/such/program"]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains("/no/such/program: No such file"), "{error}");
    assert_eq!(output.status.code(), Some(2), "not that of a schedule that breaks it");
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
    explored(&["--schedules", "0", "--", "/bin/sh", "-c", &leaves]);
    is_gone(&process_in(&file));
}
