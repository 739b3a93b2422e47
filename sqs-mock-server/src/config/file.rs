//! Reads config files.

use std::path::Path;
use std::sync::Arc;
use std::{fs, io};

use serde::Deserialize as _;
use toml::de::{DeTable, Deserializer};

#[cfg(feature = "sns")]
use super::Problem;
use super::{Config, Source};

impl Config {
    /// Reads a TOML file.
    ///
    /// # Errors
    /// The file cannot be read; otherwise as [`parse`](Self::parse).
    pub fn read(path: impl AsRef<Path>) -> io::Result<Self> {
        let name = path.as_ref().display().to_string();
        let text = fs::read_to_string(path).map_err(|error| {
            io::Error::new(error.kind(), format!("cannot read the config file {name}: {error}"))
        })?;
        Self::parse(&text, &name)
    }

    /// Parses the text of a TOML file. Errors call the file `name`.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`], with file, line, column, path and allowed values: the first unknown setting or
    /// wrong type, or else a line for each invalid value. Conflicts between queues, topics and subscriptions are
    /// reported when the server starts.
    pub fn parse(text: &str, name: &str) -> io::Result<Self> {
        let (root, errors) = DeTable::parse_recoverable(text);
        let source = Source::new(name, text, root.get_ref());
        if let Some(error) = errors.first() {
            return Err(source.explain(error));
        }
        let lists = source.misplaced_lists();
        if !lists.is_empty() {
            return Err(source.refuse(lists));
        }
        let mut config =
            Self::deserialize(Deserializer::from(root)).map_err(|error| source.explain(&error))?;
        let queues = config.queues.iter().enumerate();
        let queues = queues.flat_map(|(at, queue)| queue.problems(&format!("queues[{at}]")));
        let problems = config.problems().into_iter().chain(queues);
        #[cfg(feature = "sns")]
        let problems = problems.chain(config.problems_of_topics());
        #[cfg(feature = "s3")]
        let problems = problems.chain(
            config
                .buckets
                .iter()
                .enumerate()
                .flat_map(|(at, bucket)| bucket.problems(&format!("buckets[{at}]"))),
        );
        let problems: Vec<_> = problems.collect();
        if !problems.is_empty() {
            return Err(source.refuse(problems));
        }
        config.source = Arc::new(source);
        Ok(config)
    }

    #[cfg(feature = "sns")]
    fn problems_of_topics(&self) -> impl Iterator<Item = Problem> {
        let topics = self.topics.iter().enumerate();
        let topics = topics.flat_map(|(at, topic)| topic.problems(&format!("topics[{at}]")));
        let subscriptions = self.subscriptions.iter().enumerate();
        topics.chain(subscriptions.flat_map(|(at, one)| one.problems(&format!("subscriptions[{at}]"))))
    }

    /// The names of the queues, in the order of the file.
    pub fn queue_names(&self) -> impl Iterator<Item = &str> {
        self.queues.iter().map(|queue| queue.name.as_str())
    }
}

#[cfg(test)]
mod tests;
