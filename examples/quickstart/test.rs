//! The first program that a reader runs.

use std::process::Command;

fn quickstart(arguments: &[&str]) -> String {
    let program = Command::new(env!("CARGO_BIN_EXE_quickstart"))
        .args(arguments)
        .env_remove("AWS_ENDPOINT_URL_SQS")
        .output()
        .expect("the program runs");
    assert!(program.status.success(), "{program:?}");
    String::from_utf8_lossy(&program.stdout).into_owned()
}

#[test]
fn quickstart_receives_what_it_sends() {
    let output = quickstart(&[]);
    assert_eq!(output.lines().filter(|line| line.starts_with("received")).count(), 6, "{output}");
}

#[test]
fn help_names_the_variable_for_another_server() {
    assert!(quickstart(&["--help"]).contains("AWS_ENDPOINT_URL_SQS"));
}
