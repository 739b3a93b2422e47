//! Options of a benchmark: words on its command line, and errors that say what is allowed.

use std::error::Error;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;
use std::time::Duration;

/// What ends a benchmark early.
pub type Failed = Box<dyn Error + Send + Sync>;

/// Seconds that a measurement may take.
const SECONDS: RangeInclusive<f64> = 0.01..=86_400.0;

/// The words of a command line, read from the left: an option, then its value.
pub struct Arguments {
    words: Box<dyn Iterator<Item = String>>,
    /// The one that was read last.
    option: String,
}

impl Arguments {
    /// Those of this process, without the `--bench` that cargo puts among them.
    pub fn of_process() -> Self {
        Self::new(std::env::args().skip(1).filter(|word| word != "--bench"))
    }

    /// Those given.
    pub fn new(words: impl Iterator<Item = String> + 'static) -> Self {
        Self { words: Box::new(words), option: String::new() }
    }

    /// The next option, until there is none.
    pub fn option(&mut self) -> Option<String> {
        self.option = self.words.next()?;
        Some(self.option.clone())
    }

    /// What follows the option.
    ///
    /// # Errors
    /// When nothing does.
    pub fn value(&mut self) -> Result<String, Failed> {
        self.words.next().ok_or_else(|| format!("{} wants a value", self.option).into())
    }

    /// The name of a file or directory.
    ///
    /// # Errors
    /// When there is none.
    pub fn path(&mut self) -> Result<PathBuf, Failed> {
        Ok(self.value()?.into())
    }

    /// The name of a file that can be written, which is tried at once: nobody measures for minutes in vain. A file that
    /// is there stays as it is.
    ///
    /// # Errors
    /// When there is none, or it cannot be written.
    pub fn output(&mut self) -> Result<PathBuf, Failed> {
        let path = self.path()?;
        let existed = path.exists();
        let tried = std::fs::OpenOptions::new().append(true).create(true).open(&path);
        let tried = tried.and_then(|_| if existed { Ok(()) } else { std::fs::remove_file(&path) });
        tried.map_err(|error| format!("{} {}: cannot be written: {error}", self.option, path.display()))?;
        Ok(path)
    }

    /// A number of a range.
    ///
    /// # Errors
    /// When it is missing, no number or out of range.
    pub fn number<T: FromStr + PartialOrd + Display>(
        &mut self,
        allowed: RangeInclusive<T>,
    ) -> Result<T, Failed> {
        let text = self.value()?;
        self.within(&text, &allowed)
    }

    /// Numbers of a range with commas between them.
    ///
    /// # Errors
    /// When one of them is no number or out of range, or none is there.
    pub fn numbers<T: FromStr + PartialOrd + Display>(
        &mut self,
        allowed: RangeInclusive<T>,
    ) -> Result<Vec<T>, Failed> {
        let text = self.value()?;
        text.split(',').map(|word| self.within(word, &allowed)).collect()
    }

    /// A time in seconds, also in fractions of one.
    ///
    /// # Errors
    /// When it is missing, no number, shorter than 0.01 s or longer than a day.
    pub fn seconds(&mut self) -> Result<Duration, Failed> {
        Ok(Duration::try_from_secs_f64(self.number(SECONDS)?)?)
    }

    /// One word that the type knows.
    ///
    /// # Errors
    /// When it is missing, and what the type says of words that it does not know.
    pub fn word<T: FromStr<Err: Display>>(&mut self) -> Result<T, Failed> {
        let text = self.value()?;
        self.known(&text)
    }

    /// Words that the type knows, with commas between them.
    ///
    /// # Errors
    /// As with [`Arguments::word`].
    pub fn words<T: FromStr<Err: Display>>(&mut self) -> Result<Vec<T>, Failed> {
        let text = self.value()?;
        text.split(',').map(|word| self.known(word)).collect()
    }

    /// What to say of an option that there is not; those that there are begin lines of the help.
    pub fn unknown(&self, help: &str) -> Failed {
        let options = help.lines().filter(|line| line.starts_with("  --"));
        let options: Vec<_> = options.filter_map(|line| line.split_whitespace().next()).collect();
        format!("{:?} is no option; there are {}", self.option, options.join(", ")).into()
    }

    fn within<T: FromStr + PartialOrd + Display>(
        &self,
        text: &str,
        allowed: &RangeInclusive<T>,
    ) -> Result<T, Failed> {
        let number = text.parse().ok().filter(|number| allowed.contains(number));
        let (option, from, to) = (&self.option, allowed.start(), allowed.end());
        number.ok_or_else(|| {
            format!("{option} {text:?} is not allowed; numbers from {from} to {to} are").into()
        })
    }

    fn known<T: FromStr<Err: Display>>(&self, text: &str) -> Result<T, Failed> {
        text.parse().map_err(|error| format!("{}: {error}", self.option).into())
    }
}

/// How a benchmark ends: what went wrong goes to standard error, on a line.
pub fn ended(outcome: Result<(), Failed>) -> ExitCode {
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
