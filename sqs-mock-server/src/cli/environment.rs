//! Environment variables of the binary: their names, and warnings and errors about them.

use std::env;
use std::ffi::OsStr;
use std::process::exit;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, CommandFactory as _, Error, FromArgMatches as _};

use strsim::damerau_levenshtein;

use super::Arguments;

/// The prefix of all variables.
const PREFIX: &str = "SQS_MOCK_";
/// The maximum edit distance of similar names.
const TYPOS: usize = 2;

impl Arguments {
    /// Reads flags and environment, with warnings about the environment. Exits the process on invalid values and after
    /// printing help.
    pub(crate) fn read() -> (Self, Vec<String>) {
        let command = command().mut_args(without_foreign_variable);
        let matches = command.clone().try_get_matches();
        let arguments = matches.and_then(|matches| Self::from_arg_matches(&matches));
        (arguments.unwrap_or_else(|error| refuse(&command, &error)), warnings())
    }
}

/// All arguments, each with its variable.
pub(super) fn command() -> Command {
    Arguments::command().mut_args(|argument| {
        let variable = format!("{PREFIX}{}", argument.get_id().as_str().to_uppercase());
        let argument = argument.env(variable);
        match argument.get_value_names() {
            // `--one-minute-rules` is short for `--one-minute-rules=true`.
            Some([name]) if name.starts_with("BOOL") => {
                argument.num_args(0..=1).require_equals(true).default_missing_value("true")
            }
            _ => argument,
        }
    })
}

/// Ignores an empty variable, since programs started from a template cannot always omit it, and a variable that Kubernetes sets.
fn without_foreign_variable(argument: Arg) -> Arg {
    let is_foreign =
        |variable| env::var_os(variable).is_some_and(|value| value.is_empty() || is_address(&value));
    if argument.get_env().is_some_and(is_foreign) { argument.env(None::<&'static str>) } else { argument }
}

/// Whether a value is one of the variables that Kubernetes sets in each container of a namespace that has a service `sqs-mock`, such
/// as `SQS_MOCK_PORT=tcp://10.0.0.1:9324`.
///
/// Source: <https://kubernetes.io/docs/tutorials/services/connect-applications-service/#environment-variables>
fn is_address(value: &OsStr) -> bool {
    value
        .to_str()
        .is_some_and(|value| ["tcp://", "udp://", "sctp://"].iter().any(|start| value.starts_with(start)))
}

/// Whether a name is one of those of a service of Kubernetes that has no value like an address.
fn is_of_a_service(name: &str) -> bool {
    // Such as `SQS_MOCK_PORT_9324_TCP_PROTO`.
    let has_port =
        |(_, rest): (&str, &str)| rest.split('_').next().is_some_and(|port| port.parse::<u16>().is_ok());
    name.ends_with("_SERVICE_HOST")
        || name.contains("_SERVICE_PORT")
        || name.split_once("_PORT_").is_some_and(has_port)
}

fn refuse(command: &Command, error: &Error) -> ! {
    if error.kind() == ErrorKind::DisplayHelp {
        // The help lists empty variables too.
        self::command().get_matches();
    }
    // A closed standard error must not change the exit code.
    let _ = error.print();
    if let Some(variable) = origin(command, error) {
        eprintln!("\nThe value is that of the environment variable {variable}.");
    }
    exit(error.exit_code())
}

/// The variable of an invalid value, unless the value comes from a flag.
fn origin(command: &Command, error: &Error) -> Option<String> {
    let Some(ContextValue::String(shown)) = error.get(ContextKind::InvalidArg) else { return None };
    // Such as `--port <PORT>` or `--auto-create[=<BOOL>]`.
    let flag = shown.split([' ', '=', '[']).next()?;
    let argument = command.get_arguments().find(|known| known.get_long() == flag.strip_prefix("--"))?;
    let variable = argument.get_env().filter(|variable| env::var_os(variable).is_some())?;
    let is_flag = |given: &str| given.split('=').next() == Some(flag);
    let is_given = env::args_os().any(|given| given.to_str().is_some_and(is_flag));
    (!is_given).then(|| variable.to_string_lossy().into_owned())
}

fn warnings() -> Vec<String> {
    let command = command();
    let known: Vec<_> = command.get_arguments().filter_map(|argument| argument.get_env()?.to_str()).collect();
    let given = env::vars_os().filter(|(_, value)| !value.is_empty());
    let mut given: Vec<_> =
        given.filter_map(|(name, value)| Some((name.into_string().ok()?, value))).collect();
    given.sort_unstable();
    let warnings = given.iter().filter(|(name, _)| name.starts_with(PREFIX) && !is_of_a_service(name));
    let warnings = warnings.filter_map(|(name, value)| match known.contains(&name.as_str()) {
        true if is_address(value) => Some(format!(
            "the environment variable {name} is ignored: Kubernetes sets it to the address of a service, {}",
            value.display()
        )),
        true => None,
        false => Some(warning(name, &known)),
    });
    warnings.collect()
}

fn warning(name: &str, known: &[&str]) -> String {
    let close: Vec<_> = known.iter().copied().filter(|known| is_close(name, known)).collect();
    let hint = if close.is_empty() {
        "--help lists all".to_owned()
    } else {
        format!("did you mean {}?", close.join(" or "))
    };
    format!("the environment variable {name} is unknown and ignored; {hint}")
}

fn is_close(one: &str, other: &str) -> bool {
    let [one, other] = [one, other].map(|name| name.trim_start_matches(PREFIX));
    one.contains(other)
        || (!one.is_empty() && other.contains(one))
        || damerau_levenshtein(one, other) <= TYPOS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warning_suggests_similar_variables() {
        let known = ["SQS_MOCK_KEYS", "SQS_MOCK_MAX_MEMORY", "SQS_MOCK_SEED"];
        for (name, hint) in [
            ("SQS_MOCK_KEY", "did you mean SQS_MOCK_KEYS?"),
            ("SQS_MOCK_MEMORY", "did you mean SQS_MOCK_MAX_MEMORY?"),
            ("SQS_MOCK_SEES", "did you mean SQS_MOCK_KEYS or SQS_MOCK_SEED?"),
            ("SQS_MOCK_", "--help lists all"),
            ("SQS_MOCK_NONSENSE", "--help lists all"),
        ] {
            let expected = format!("the environment variable {name} is unknown and ignored; {hint}");
            assert_eq!(warning(name, &known), expected);
        }
    }
}
