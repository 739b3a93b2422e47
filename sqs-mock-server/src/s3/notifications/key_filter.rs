//! The keys that a rule selects.

use serde::{Deserialize, Serialize};

use super::fault::Fault;

/// The maximum length of a prefix or suffix in bytes, which is that of a key.
const MAX_VALUE: usize = 1024;

/// The keys of a rule. An empty text differs from an absent one only in the configuration that is returned.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct KeyFilter {
    pub(crate) prefix: Option<String>,
    pub(crate) suffix: Option<String>,
}

impl KeyFilter {
    /// The filter of complete filter rules, whose names have any case.
    pub(super) fn of(rules: Vec<(Option<String>, Option<String>)>) -> Result<Self, Fault> {
        let mut filter = Self::default();
        for (name, value) in rules {
            let name = name.unwrap_or_default();
            let (side, repeated) = match name.to_ascii_lowercase().as_str() {
                "prefix" => (&mut filter.prefix, "Cannot specify more than one prefix rule in a filter."),
                "suffix" => (&mut filter.suffix, "Cannot specify more than one suffix rule in a filter."),
                _ => {
                    let text = "filter rule name must be either prefix or suffix";
                    return Err(Fault::argument(text, "FilterRule.Name", &name));
                }
            };
            if side.is_some() {
                return Err(Fault::argument(repeated, "FilterRule.Name", &name));
            }
            if let Some(value) = value.as_deref().filter(|value| value.len() > MAX_VALUE) {
                let text = "Size of filter rule value cannot exceed 1024 bytes in UTF-8 representation";
                return Err(Fault::argument(text, "FilterRule.Value", value));
            }
            *side = value;
        }
        Ok(filter)
    }

    /// Whether a key starts with the prefix and ends with the suffix, which may share characters.
    pub(super) fn matches(&self, key: &str) -> bool {
        let (prefix, suffix) = self.sides();
        key.starts_with(prefix) && key.ends_with(suffix)
    }

    fn sides(&self) -> (&str, &str) {
        (self.prefix.as_deref().unwrap_or_default(), self.suffix.as_deref().unwrap_or_default())
    }

    /// Whether a key can match both filters.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        let ((prefix, suffix), (other_prefix, other_suffix)) = (self.sides(), other.sides());
        (prefix.starts_with(other_prefix) || other_prefix.starts_with(prefix))
            && (suffix.ends_with(other_suffix) || other_suffix.ends_with(suffix))
    }
}
