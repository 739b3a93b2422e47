//! What is allowed, and what is said of the rest.

use super::*;

fn arguments(line: &'static str) -> Arguments {
    let mut arguments = Arguments::new(line.split(' ').map(str::to_owned));
    arguments.option();
    arguments
}

fn said<T>(outcome: Result<T, Failed>) -> String {
    outcome.err().map(|error| error.to_string()).unwrap_or_default()
}

#[test]
fn numbers_are_read_from_a_list() {
    assert_eq!(arguments("--at 1,32").numbers(1..=64).unwrap(), [1, 32]);
    assert_eq!(arguments("--seconds 0.25").seconds().unwrap(), Duration::from_millis(250));
}

#[test]
fn numbers_out_of_range_are_refused_with_the_range() {
    let expected = "--at \"65\" is not allowed; numbers from 1 to 64 are";
    assert_eq!(said(arguments("--at 1,65").numbers(1..=64)), expected);
    assert_eq!(
        said(arguments("--at many").number(0..=9)),
        "--at \"many\" is not allowed; numbers from 0 to 9 are"
    );
    assert!(said(arguments("--seconds NaN").seconds()).contains("from 0.01 to 86400"));
}

#[test]
fn options_without_a_value_are_refused() {
    assert_eq!(said(arguments("--svg").path()), "--svg wants a value");
}

#[test]
fn unknown_options_are_refused_with_those_of_the_help() {
    let help =
        "Says how --this works.\n\n  --rounds COUNT  how often\n                  as --said\n  --help  this";
    let unknown = arguments("--rouds").unknown(help).to_string();
    assert_eq!(unknown, "\"--rouds\" is no option; there are --rounds, --help");
}

#[test]
fn files_that_cannot_be_written_are_refused_before_anything_is_measured() {
    let error = said(arguments("--svg /no/such/folder/plot.svg").output());
    assert!(error.starts_with("--svg /no/such/folder/plot.svg: cannot be written: "), "{error}");
}

#[test]
fn files_are_left_as_they_were_until_there_is_a_plot() {
    let path = std::env::temp_dir().join(format!("sqs-benchmarks-{}.svg", std::process::id()));
    let read = || {
        let words = ["--svg".to_owned(), path.display().to_string()].into_iter();
        let mut arguments = Arguments::new(words);
        arguments.option();
        arguments.output()
    };
    assert_eq!(read().unwrap(), path);
    assert!(!path.exists());
    std::fs::write(&path, "that of another run").unwrap();
    assert_eq!(read().unwrap(), path);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "that of another run");
    std::fs::remove_file(path).unwrap();
}
