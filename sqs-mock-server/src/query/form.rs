//! The parameters of a request: `Action=Publish&Tags.member.1.Key=..&Attributes.entry.1.key=..`.

use std::collections::{BTreeMap, BTreeSet};

use sqs_client::wire::protocol::parameters;

use crate::query::QueryError;

/// The decoded parameters of a request.
#[derive(Debug, Default)]
pub(crate) struct Form(pub(crate) BTreeMap<String, String>);

impl Form {
    /// Parses `application/x-www-form-urlencoded` text. The last of several parameters with one name counts.
    ///
    /// # Errors
    /// `MalformedInput` for more than 10,000 parameters, or text that is not UTF-8.
    pub(crate) fn parse(text: &[u8]) -> Result<Self, QueryError> {
        let parameters = parameters(text);
        let parameters =
            parameters.map_err(|error| QueryError::new(400, "MalformedInput", error.to_string()))?;
        let owned = parameters.into_iter().map(|(name, value)| (name.into_owned(), value.into_owned()));
        Ok(Self(owned.collect()))
    }

    /// A parameter.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// A parameter that must be present, although it may be empty.
    ///
    /// # Errors
    /// `ValidationError`.
    pub(crate) fn required(&self, name: &str) -> Result<&str, QueryError> {
        self.get(name).ok_or_else(|| missing("", name))
    }

    /// The names of the elements of a list, such as `Tags.member.1` for `Tags.member`, in the order of their numbers.
    pub(crate) fn elements(&self, list: &str) -> Vec<String> {
        let prefix = format!("{list}.");
        let names = self.0.range(prefix.clone()..).map(|(name, _)| name.strip_prefix(&prefix));
        let numbers =
            names.map_while(|rest| rest?.split('.').next()).filter_map(|number| number.parse().ok());
        let numbers: BTreeSet<u32> = numbers.collect();
        numbers.into_iter().map(|number| format!("{prefix}{number}")).collect()
    }

    /// A list of texts: `X.member.1`, `X.member.2`.
    pub(crate) fn list(&self, name: &str) -> Vec<&str> {
        self.elements(&format!("{name}.member")).iter().filter_map(|element| self.get(element)).collect()
    }

    /// A list of pairs, such as `X.entry.1.key` and `X.entry.1.value`; an absent half is empty.
    pub(crate) fn pairs(&self, list: &str, [key, value]: [&str; 2]) -> Vec<(&str, &str)> {
        let half = |element: &str, half| self.get(&format!("{element}.{half}")).unwrap_or_default();
        self.elements(list).iter().map(|element| (half(element, key), half(element, value))).collect()
    }

    /// A map of texts: `X.entry.1.key`, `X.entry.1.value`.
    pub(crate) fn map(&self, name: &str) -> Vec<(&str, &str)> {
        self.pairs(&format!("{name}.entry"), ["key", "value"])
    }
}

/// The error for an absent member, whose path ends with a dot. AWS names it as its service model in Java does.
pub(crate) fn missing(path: &str, name: &str) -> QueryError {
    let mut letters = name.chars();
    let first = letters.next().map(|letter| letter.to_ascii_lowercase());
    let member: String = first.into_iter().chain(letters).collect();
    QueryError::new(
        400,
        "ValidationError",
        format!(
            "1 validation error detected: Value null at '{path}{member}' failed to satisfy constraint: Member must not be \
             null"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(text: &str) -> Form {
        Form::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn lists_and_maps_are_read_in_the_order_of_their_numbers() {
        let form = form(
            "TagKeys.member.10=c&TagKeys.member.2=b&TagKeys.member.1=a&TagKeys.memberx.1=no&\
             Attributes.entry.1.key=A&Attributes.entry.1.value=x%26y&Attributes.entry.2.key=B",
        );
        assert_eq!(form.list("TagKeys"), ["a", "b", "c"]);
        assert_eq!(form.map("Attributes"), [("A", "x&y"), ("B", "")]);
        assert!(form.list("Tags").is_empty());
    }

    #[test]
    fn values_are_decoded() {
        for (text, value) in [
            ("a+b", "a b"),
            ("a%2Bb%2b", "a+b+"),
            ("%C3%A4", "ä"),
            ("100%", "100%"),
            ("%zz%4", "%zz%4"),
            ("", ""),
        ] {
            assert_eq!(form(&format!("x={text}")).get("x"), Some(value), "{text}");
        }
        assert_eq!(form("a&b=1&&").get("a"), Some(""));
    }

    #[test]
    fn text_that_is_not_utf8_or_too_many_parameters_are_rejected() {
        assert_eq!(Form::parse(b"x=%ff").unwrap_err().code, "MalformedInput");
        let many = "a=1&".repeat(10_001);
        assert!(Form::parse(many.as_bytes()).unwrap_err().message.contains("10000"));
    }

    /// Contract 1.4.
    #[test]
    fn absent_member_gets_the_validation_error_of_aws() {
        let text = "1 validation error detected: Value null at 'attributes' failed to satisfy constraint: Member must \
                    not be null";
        assert_eq!(form("").required("Attributes").unwrap_err().message, text);
    }
}
