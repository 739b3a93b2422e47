//! Values that JSON shows as text, and names with typing mistakes.

use strsim::damerau_levenshtein;

/// The maximum edit distance of similar names.
const TYPOS: usize = 2;

/// The edit distance of two names, if they are similar.
pub(crate) fn typos(name: &str, known: &str) -> Option<usize> {
    if name.len().abs_diff(known.len()) > TYPOS {
        return None;
    }
    let distance = damerau_levenshtein(known, name);
    (distance <= TYPOS.min(name.len() / 3)).then_some(distance)
}

/// Serializes types as their `Display` shows them.
macro_rules! serialize_as_text {
    ($($name:ty),+) => {
        $(impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        })+
    };
}

pub(crate) use serialize_as_text;
