//! Reads config files.

use std::path::Path;
use std::sync::Arc;
use std::{fs, io};

use serde::Deserialize as _;
use toml::de::{DeTable, Deserializer};

use super::{Config, Problem, Source};

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
        let mut problems = config.problems();
        problems.extend(config.problems_of_entries());
        if !problems.is_empty() {
            return Err(source.refuse(problems));
        }
        config.source = Arc::new(source);
        Ok(config)
    }

    fn problems_of_entries(&self) -> Vec<Problem> {
        let mut found = Vec::new();
        for (at, queue) in self.queues.iter().enumerate() {
            found.extend(queue.problems(&format!("queues[{at}]")));
        }
        #[cfg(feature = "sns")]
        for (at, topic) in self.topics.iter().enumerate() {
            found.extend(topic.problems(&format!("topics[{at}]")));
        }
        #[cfg(feature = "sns")]
        for (at, subscription) in self.subscriptions.iter().enumerate() {
            found.extend(subscription.problems(&format!("subscriptions[{at}]")));
        }
        #[cfg(feature = "s3")]
        for (at, bucket) in self.buckets.iter().enumerate() {
            found.extend(bucket.problems(&format!("buckets[{at}]")));
        }
        found
    }

    /// The names of the queues, in the order of the file.
    pub fn queue_names(&self) -> impl Iterator<Item = &str> {
        self.queues.iter().map(|queue| queue.name.as_str())
    }
}

#[cfg(test)]
mod tests;
