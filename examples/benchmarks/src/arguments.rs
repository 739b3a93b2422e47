//! Parser of command-line options. Errors name the invalid value and the allowed ones.

use std::error::Error;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;
use std::time::Duration;

/// The error of a benchmark.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// Allowed duration of a measurement in seconds.
const SECONDS: RangeInclusive<f64> = 0.01..=86_400.0;

/// The arguments of a command line, read from the left: an option, then its value.
pub struct Arguments {
    words: Box<dyn Iterator<Item = String>>,
    /// The last option that was read, for errors.
    option: String,
}

impl Arguments {
    /// The arguments of this process, without the `--bench` that cargo adds.
    pub fn from_env() -> Self {
        Self::new(std::env::args().skip(1).filter(|word| word != "--bench"))
    }

    /// The given arguments.
    pub fn new(words: impl Iterator<Item = String> + 'static) -> Self {
        Self { words: Box::new(words), option: String::new() }
    }

    /// The next option, or `None` at the end.
    pub fn option(&mut self) -> Option<String> {
        self.option = self.words.next()?;
        Some(self.option.clone())
    }

    /// The value of the option.
    ///
    /// # Errors
    /// The value is missing.
    pub fn value(&mut self) -> Result<String, BoxError> {
        self.words.next().ok_or_else(|| format!("{} requires a value", self.option).into())
    }

    /// The path of a file or directory.
    ///
    /// # Errors
    /// The value is missing.
    pub fn path(&mut self) -> Result<PathBuf, BoxError> {
        Ok(self.value()?.into())
    }

    /// The path of an output file. Checks that it is writable, so that a long benchmark does not fail at its end. An
    /// existing file stays unchanged.
    ///
    /// # Errors
    /// The value is missing, or the file is not writable.
    pub fn output(&mut self) -> Result<PathBuf, BoxError> {
        let path = self.path()?;
        let existed = path.exists();
        let opened = std::fs::OpenOptions::new().append(true).create(true).open(&path);
        let checked = opened.and_then(|_| if existed { Ok(()) } else { std::fs::remove_file(&path) });
        checked
            .map_err(|error| format!("{} {}: cannot write the file: {error}", self.option, path.display()))?;
        Ok(path)
    }

    /// A number in a range.
    ///
    /// # Errors
    /// The value is missing, not a number, or out of range.
    pub fn number<T: FromStr + PartialOrd + Display>(
        &mut self,
        allowed: RangeInclusive<T>,
    ) -> Result<T, BoxError> {
        let text = self.value()?;
        self.within(&text, &allowed)
    }

    /// A comma-separated list of numbers in a range.
    ///
    /// # Errors
    /// The value is missing, or an item is not a number or out of range.
    pub fn numbers<T: FromStr + PartialOrd + Display>(
        &mut self,
        allowed: RangeInclusive<T>,
    ) -> Result<Vec<T>, BoxError> {
        let text = self.value()?;
        text.split(',').map(|word| self.within(word, &allowed)).collect()
    }

    /// A duration in seconds, possibly fractional.
    ///
    /// # Errors
    /// The value is missing, not a number, less than 0.01 or more than a day.
    pub fn seconds(&mut self) -> Result<Duration, BoxError> {
        Ok(Duration::try_from_secs_f64(self.number(SECONDS)?)?)
    }

    /// A parsed value.
    ///
    /// # Errors
    /// The value is missing, or the type rejects it.
    pub fn parse<T: FromStr<Err: Display>>(&mut self) -> Result<T, BoxError> {
        let text = self.value()?;
        self.parsed(&text)
    }

    /// A comma-separated list of parsed values.
    ///
    /// # Errors
    /// The value is missing, or the type rejects an item.
    pub fn parse_list<T: FromStr<Err: Display>>(&mut self) -> Result<Vec<T>, BoxError> {
        let text = self.value()?;
        text.split(',').map(|item| self.parsed(item)).collect()
    }

    /// The error for an unknown option. It lists the options at the start of lines of the help.
    pub fn unknown_option(&self, help: &str) -> BoxError {
        let options = help.lines().filter(|line| line.starts_with("  --"));
        let options: Vec<_> = options.filter_map(|line| line.split_whitespace().next()).collect();
        format!("unknown option {:?}; allowed are {}", self.option, options.join(", ")).into()
    }

    fn within<T: FromStr + PartialOrd + Display>(
        &self,
        text: &str,
        allowed: &RangeInclusive<T>,
    ) -> Result<T, BoxError> {
        let number = text.parse().ok().filter(|number| allowed.contains(number));
        let (option, from, to) = (&self.option, allowed.start(), allowed.end());
        number.ok_or_else(|| {
            format!("{option} {text:?} is not allowed; allowed are numbers from {from} to {to}").into()
        })
    }

    fn parsed<T: FromStr<Err: Display>>(&self, text: &str) -> Result<T, BoxError> {
        text.parse().map_err(|error| format!("{}: {error}", self.option).into())
    }
}

/// Converts the outcome of a benchmark to an exit code, and prints its error to standard error.
pub fn exit_code(outcome: Result<(), BoxError>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests;
