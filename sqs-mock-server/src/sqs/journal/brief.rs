//! Shows the input of a request on one line, for tables.

use serde_json::{Map, Value};
use sqs_client::wire::protocol::Protocol;

use super::RecordedRequest;

/// Members that other columns show, or that are the same in all requests.
const LEFT_OUT: [&str; 4] = ["QueueUrl", "QueueName", "Action", "Version"];

/// The members of the input, such as `MessageBody="tea" DelaySeconds=5`. An input that cannot be decoded is shown as
/// text.
pub(super) fn of(request: &RecordedRequest, at_most: usize) -> String {
    let members = match request.protocol() {
        Protocol::AwsJson => members_of_json(request.content()),
        Protocol::Query => Some(members_of_form(request.content())),
    };
    let text = members
        .map_or_else(|| String::from_utf8_lossy(request.content()).into_owned(), |members| members.join(" "));
    one_line(&text, at_most)
}

fn members_of_json(content: &[u8]) -> Option<Vec<String>> {
    let members: Map<String, Value> = serde_json::from_slice(content).ok()?;
    let shown = members.iter().filter(|(name, _)| !LEFT_OUT.contains(&name.as_str()));
    Some(shown.map(|(name, value)| format!("{name}={value}")).collect())
}

fn members_of_form(content: &[u8]) -> Vec<String> {
    let shown = form_urlencoded::parse(content).filter(|(name, _)| !LEFT_OUT.contains(&&**name));
    shown.map(|(name, value)| format!("{name}={value:?}")).collect()
}

fn one_line(text: &str, at_most: usize) -> String {
    let mut line: String = text.chars().take(at_most).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(at_most).is_some() {
        line.push_str("..");
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_truncated_and_stay_on_one_line() {
        assert_eq!(one_line("a\nbäc", 4), "a bä..");
        assert_eq!(one_line("abcd", 4), "abcd");
    }
}
