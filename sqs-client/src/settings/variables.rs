//! Environment variables of the process, or a replacement for them.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

type Lookup = dyn Fn(&str) -> Option<String> + Send + Sync;

/// Looks up environment variables.
#[derive(Clone)]
pub(crate) struct Variables(Arc<Lookup>);

impl Variables {
    pub(crate) fn new(lookup: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(lookup))
    }

    /// Reads the variables of the process at each lookup.
    pub(crate) fn of_process() -> Self {
        Self::new(|name| std::env::var(name).ok())
    }

    /// The trimmed value. An empty value counts as unset.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        (self.0)(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
    }

    /// The path in the variable, else the default path below the home directory.
    pub(crate) fn path(&self, name: &str, below_home: &str) -> Option<PathBuf> {
        match self.text(name) {
            Some(path) => Some(self.expanded(&path)),
            None => self.home().map(|home| home.join(below_home)),
        }
    }

    /// The path with a leading `~/` replaced by the home directory.
    pub(crate) fn expanded(&self, path: &str) -> PathBuf {
        let below_home = path.strip_prefix("~/").and_then(|rest| Some(self.home()?.join(rest)));
        below_home.unwrap_or_else(|| PathBuf::from(path))
    }

    fn home(&self) -> Option<PathBuf> {
        let found = self.text("HOME").or_else(|| self.text("USERPROFILE"));
        found.or_else(|| Some(self.text("HOMEDRIVE")? + &self.text("HOMEPATH")?)).map(PathBuf::from)
    }
}

impl fmt::Debug for Variables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Variables")
    }
}
