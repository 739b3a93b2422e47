//! One table of a config file: its keys are asked for by name, and what nobody asked for is a fault.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::spot::{Source, Spotted};
use super::value::Read;

/// A table that is being read.
#[derive(Debug)]
pub(super) struct Section<'s, 't> {
    source: &'s Source<'t>,
    /// Such as `queues[2].`; empty for the file itself.
    prefix: String,
    span: Range<usize>,
    table: &'s DeTable<'t>,
    known: Vec<&'static str>,
}

/// A table as a whole.
#[derive(Debug)]
pub(super) struct Whole<'s, 't> {
    source: &'s Source<'t>,
    span: Range<usize>,
    path: String,
}

impl Whole<'_, '_> {
    pub(super) fn fault(&self, text: impl std::fmt::Display) {
        self.source.fault(&self.span, &self.path, text);
    }
}

impl<'s, 't> Section<'s, 't> {
    pub(super) fn root(source: &'s Source<'t>, table: &'s Spanned<DeTable<'t>>) -> Self {
        Self { source, prefix: String::new(), span: table.span(), table: table.get_ref(), known: Vec::new() }
    }

    /// The value of a key, when it is there and legal.
    pub(super) fn get<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&DeValue<'t>) -> Read<T>,
    ) -> Option<T> {
        self.spotted(key, read).map(|spotted| spotted.value)
    }

    /// As [`get`](Self::get), with its place.
    pub(super) fn spotted<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&DeValue<'t>) -> Read<T>,
    ) -> Option<Spotted<T>> {
        let value = self.find(key)?;
        let path = self.path(key);
        match read(value.get_ref()) {
            Ok(read) => Some(Spotted { value: read, spot: self.source.spot(&value.span(), &path) }),
            Err(text) => {
                self.source.fault(&value.span(), &path, text);
                None
            }
        }
    }

    /// As [`spotted`](Self::spotted), for a key that has to be there.
    pub(super) fn required<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&DeValue<'t>) -> Read<T>,
    ) -> Option<Spotted<T>> {
        if !self.has(key) {
            self.fault(format!("{key} is missing"));
        }
        self.spotted(key, read)
    }

    /// The table of a key.
    pub(super) fn section(&mut self, key: &'static str) -> Option<Self> {
        let value = self.find(key)?;
        let path = self.path(key);
        self.enter(value, &path)
    }

    /// The tables of a key that has a list of them.
    pub(super) fn sections(&mut self, key: &'static str) -> Vec<Self> {
        let elements = self.elements(key);
        elements.into_iter().filter_map(|(path, value)| self.enter(value, &path)).collect()
    }

    /// The legal values of a list of tables, each read as a whole.
    pub(super) fn list<T>(&mut self, key: &'static str, read: impl Fn(&DeValue<'t>) -> Read<T>) -> Vec<T> {
        let mut list = Vec::new();
        for (path, value) in self.elements(key) {
            match read(value.get_ref()) {
                Ok(value) => list.push(value),
                Err(text) => self.source.fault(&value.span(), &path, text),
            }
        }
        list
    }

    /// What is in a list of tables, with paths such as `queues[2]`.
    fn elements(&mut self, key: &'static str) -> Vec<(String, &'s Spanned<DeValue<'t>>)> {
        let Some(value) = self.find(key) else { return Vec::new() };
        let path = self.path(key);
        let Some(values) = value.get_ref().as_array() else {
            let text = format!("each needs two brackets, as in [[{key}]]");
            self.source.fault(&value.span(), &path, text);
            return Vec::new();
        };
        values.iter().enumerate().map(|(at, value)| (format!("{path}[{at}]"), value)).collect()
    }

    /// All keys with their values, where the keys are up to the user.
    pub(super) fn entries<T>(self, read: impl Fn(&DeValue<'t>) -> Read<T>) -> Vec<(String, T)> {
        let mut entries = Vec::new();
        for (key, value) in self.table {
            match read(value.get_ref()) {
                Ok(value) => entries.push((key.get_ref().to_string(), value)),
                Err(text) => self.source.fault(&value.span(), &self.path(key.get_ref()), text),
            }
        }
        entries
    }

    /// Where to note what is wrong with the table as a whole, also once it was read.
    pub(super) fn whole(&self) -> Whole<'s, 't> {
        Whole { source: self.source, span: self.span.clone(), path: self.own_path().to_owned() }
    }

    /// Whether a key is there, legal or not.
    pub(super) fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// Notes that something is wrong with the table as a whole.
    pub(super) fn fault(&self, text: impl std::fmt::Display) {
        self.whole().fault(text);
    }

    /// Notes that something is wrong with a key that is there.
    pub(super) fn fault_at(&self, key: &str, text: impl std::fmt::Display) {
        let span = self.table.get(key).map_or(self.span.clone(), Spanned::span);
        self.source.fault(&span, &self.path(key), text);
    }

    /// Notes all keys that were not asked for.
    pub(super) fn finish(self) {
        for key in self.table.keys().filter(|key| !self.known.contains(&&**key.get_ref())) {
            let name = key.get_ref();
            let meant = self.known.iter().find(|known| plain(known) == plain(name));
            let hint = match meant {
                Some(known) => format!("it is called {known} here"),
                None => format!("known are {}", self.known_names()),
            };
            self.source.fault(&key.span(), &self.path(name), format!("there is no such setting; {hint}"));
        }
    }

    fn known_names(&self) -> String {
        let mut known = self.known.clone();
        known.sort_unstable();
        known.join(", ")
    }

    fn find(&mut self, key: &'static str) -> Option<&'s Spanned<DeValue<'t>>> {
        self.known.push(key);
        self.table.get(key)
    }

    fn enter(&self, value: &'s Spanned<DeValue<'t>>, path: &str) -> Option<Self> {
        let Some(table) = value.get_ref().as_table() else {
            self.source.fault(&value.span(), path, "it has to be a table");
            return None;
        };
        let prefix = format!("{path}.");
        Some(Self { source: self.source, prefix, span: value.span(), table, known: Vec::new() })
    }

    fn own_path(&self) -> &str {
        self.prefix.trim_end_matches('.')
    }

    fn path(&self, key: &str) -> String {
        format!("{}{key}", self.prefix)
    }
}

/// `DelaySeconds`, `delay_seconds` and `delay` are the same to whoever looks for the name of a setting.
fn plain(name: &str) -> String {
    name.to_ascii_lowercase().replace(['_', '-'], "").trim_end_matches("seconds").to_owned()
}
