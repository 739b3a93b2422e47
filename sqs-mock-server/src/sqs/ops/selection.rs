//! Selects the attributes of a message that a receive returns.

use std::collections::HashMap;

use sqs_client::operation::receive_message::ReceiveMessageInput;
use sqs_client::types::{MessageAttributeValue, MessageSystemAttributeName};

/// The attributes that a receive requests.
#[derive(Clone, Copy, Debug)]
pub(super) struct Selection<'a>(&'a ReceiveMessageInput);

impl<'a> Selection<'a> {
    pub(super) fn of(input: &'a ReceiveMessageInput) -> Self {
        Self(input)
    }

    /// Whether a system attribute is requested. If both lists are present, the newer one applies; the Query protocol
    /// has only the older one.
    pub(super) fn has_system(self, name: &MessageSystemAttributeName) -> bool {
        let newer = self.0.message_system_attribute_names();
        let asked = |other: &str| other == "All" || other == name.as_str();
        if newer.is_empty() {
            self.0.attribute_names().iter().any(|other| asked(other.as_str()))
        } else {
            newer.iter().any(|other| asked(other.as_str()))
        }
    }

    /// Whether no system attribute is requested.
    pub(super) fn is_without_system(self) -> bool {
        self.0.message_system_attribute_names().is_empty() && self.0.attribute_names().is_empty()
    }

    /// Whether a message attribute is requested: by its name, by `All`, or by a prefix as `prefix.*`. An invalid name
    /// matches nothing.
    pub(super) fn has(self, name: &str) -> bool {
        self.0.message_attribute_names().iter().any(|filter| match filter.as_str() {
            "All" | "*" => true,
            other => other == name || other.strip_suffix(".*").is_some_and(|start| name.starts_with(start)),
        })
    }

    /// The requested message attributes; `None` if there are none.
    pub(super) fn message_attributes(
        self,
        all: &HashMap<String, MessageAttributeValue>,
    ) -> Option<HashMap<String, MessageAttributeValue>> {
        let chosen = all.iter().filter(|(name, _)| self.has(name));
        let chosen: HashMap<_, _> = chosen.map(|(name, value)| (name.clone(), value.clone())).collect();
        Some(chosen).filter(|chosen| !chosen.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use sqs_client::types::QueueAttributeName;

    use super::*;

    fn has(filters: &[&str], name: &str) -> bool {
        let names = filters.iter().map(|filter| (*filter).to_owned()).collect();
        let input = ReceiveMessageInput::builder().set_message_attribute_names(Some(names)).build();
        Selection::of(&input.unwrap_or_default()).has(name)
    }

    #[test]
    fn message_attributes_are_selected_by_name_prefix_or_all() {
        let table: [(&[&str], &str, bool); 12] = [
            (&["All"], "colour", true),
            (&[".*"], "colour", true),
            (&["*"], "colour", true),
            (&["colour"], "colour", true),
            (&["Colour"], "colour", false),
            (&["col.*"], "colour", true),
            (&["col.*"], "col", true),
            (&["col*"], "colour", false),
            (&["a", "col.*"], "colour", true),
            (&["not a legal name!"], "colour", false),
            (&["all"], "colour", false),
            (&[], "colour", false),
        ];
        for (filters, name, expected) in table {
            assert_eq!(has(filters, name), expected, "{filters:?} {name}");
        }
    }

    #[test]
    fn newer_list_of_system_attributes_takes_precedence() {
        use MessageSystemAttributeName as Name;
        let old = || ReceiveMessageInput::builder().attribute_names(QueueAttributeName::All);
        let old_only = old().build().unwrap();
        assert!(Selection::of(&old_only).has_system(&Name::SenderId));
        let both = old().message_system_attribute_names(Name::SentTimestamp).build().unwrap();
        assert!(Selection::of(&both).has_system(&Name::SentTimestamp));
        assert!(!Selection::of(&both).has_system(&Name::SenderId));
        let system = old().set_attribute_names(Some(vec!["SenderId".into()])).build().unwrap();
        assert!(Selection::of(&system).has_system(&Name::SenderId));
        assert!(!Selection::of(&ReceiveMessageInput::default()).has_system(&Name::SenderId));
    }
}
