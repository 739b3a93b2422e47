//! Tests of allowed values and of error texts.

use super::*;

fn arguments(line: &'static str) -> Arguments {
    let mut arguments = Arguments::new(line.split(' ').map(str::to_owned));
    arguments.option();
    arguments
}

fn error_of<T>(result: Result<T, BoxError>) -> String {
    result.err().map(|error| error.to_string()).unwrap_or_default()
}

#[test]
fn comma_separated_numbers_are_parsed() {
    assert_eq!(arguments("--at 1,32").numbers(1..=64).unwrap(), [1, 32]);
    assert_eq!(arguments("--seconds 0.25").seconds().unwrap(), Duration::from_millis(250));
}

#[test]
fn number_out_of_range_is_rejected_with_the_range() {
    let expected = "--at \"65\" is not allowed; allowed are numbers from 1 to 64";
    assert_eq!(error_of(arguments("--at 1,65").numbers(1..=64)), expected);
    assert_eq!(
        error_of(arguments("--at many").number(0..=9)),
        "--at \"many\" is not allowed; allowed are numbers from 0 to 9"
    );
    assert!(error_of(arguments("--seconds NaN").seconds()).contains("from 0.01 to 86400"));
}

#[test]
fn option_without_a_value_is_rejected() {
    assert_eq!(error_of(arguments("--svg").path()), "--svg requires a value");
}

#[test]
fn unknown_option_is_rejected_with_the_options_of_the_help() {
    let help = "Explains --all.\n\n  --rounds COUNT  repetitions\n                  as --above\n  --help  print this help";
    let unknown = arguments("--rouds").unknown_option(help).to_string();
    assert_eq!(unknown, "unknown option \"--rouds\"; allowed are --rounds, --help");
}

#[test]
fn unwritable_output_file_is_rejected() {
    let error = error_of(arguments("--svg /no/such/folder/plot.svg").output());
    assert!(error.starts_with("--svg /no/such/folder/plot.svg: cannot write the file: "), "{error}");
}

#[test]
fn output_file_stays_unchanged_until_it_is_written() {
    let path = std::env::temp_dir().join(format!("sqs-benchmarks-{}.svg", std::process::id()));
    let read = || {
        let words = ["--svg".to_owned(), path.display().to_string()].into_iter();
        let mut arguments = Arguments::new(words);
        arguments.option();
        arguments.output()
    };
    assert_eq!(read().unwrap(), path);
    assert!(!path.exists());
    std::fs::write(&path, "plot of another run").unwrap();
    assert_eq!(read().unwrap(), path);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "plot of another run");
    std::fs::remove_file(path).unwrap();
}
