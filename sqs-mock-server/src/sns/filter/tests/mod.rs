//! | Module | Contents |
//! |---|---|
//! | `cases` | recorded and documented cases, in `cases.txt` |
//! | `matching` | elements of lists, absent values, hostile input |
//! | `rejections`, `limits` | invalid policies and their errors |
//! | `random`, `naive` | property test: policies match like a naive evaluator |

mod cases;
mod limits;
mod matching;
mod naive;
mod random;
mod rejections;

use super::*;

type AttributeMap = HashMap<String, MessageAttributeValue>;

fn parse(text: &str, scope: FilterScope) -> FilterPolicy {
    FilterPolicy::parse(text, scope).unwrap_or_else(|fault| panic!("{text:.200}: {fault}"))
}

fn fault(text: &str, scope: FilterScope) -> String {
    FilterPolicy::parse(text, scope).err().unwrap_or_else(|| panic!("{text:.200}"))
}

fn matches_body(policy: &str, body: &str) -> bool {
    parse(policy, FilterScope::MessageBody).matches(&FilterInput::new(body, &HashMap::new()))
}

fn matches_attributes(policy: &str, attributes: &AttributeMap) -> bool {
    parse(policy, FilterScope::MessageAttributes).matches(&FilterInput::new("{}", attributes))
}

/// Attributes from `name:type=value & …`; `-` for none.
fn attributes(text: &str) -> AttributeMap {
    let entries = text.split(" & ").filter(|entry| *entry != "-");
    let read = |entry: &str| {
        let (name, value) = entry.split_once(':').expect("a type");
        let (kind, value) = value.split_once('=').expect("a value");
        let value = match kind {
            "S" => MessageAttributeValue::string(value),
            "N" => MessageAttributeValue::number(value),
            "A" => array(value),
            other => panic!("{other} is not a type"),
        };
        (name.to_owned(), value)
    };
    entries.map(read).collect()
}

fn array(json: &str) -> MessageAttributeValue {
    MessageAttributeValue::builder().data_type("String.Array").string_value(json).build().expect("a type")
}
