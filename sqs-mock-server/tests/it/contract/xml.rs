//! Converts XML responses to AWS JSON with the table of section 4.2.
//!
//! The parser is small and strict: it accepts the XML that AWS sends, and panics on other input.

use serde_json::{Map, Value, json};

/// An element.
#[derive(Debug, Default)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) attributes: String,
    pub(super) text: String,
    pub(super) children: Vec<Element>,
}

impl Element {
    /// The root of a document.
    pub(super) fn parse(document: &str) -> Self {
        let rest = document.strip_prefix("<?xml version=\"1.0\"?>").expect("a declaration comes first");
        let mut open = vec![Self::default()];
        for part in rest.trim_start().split('<').skip(1) {
            let (tag, text) = part.split_once('>').expect("tags are closed");
            if let Some(name) = tag.strip_prefix('/') {
                let closed = open.pop().expect("an element is open");
                assert_eq!(closed.name, name, "{document}");
                open.last_mut().expect("below the document").children.push(closed);
            } else {
                let (tag, is_empty) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
                let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
                let (name, attributes) = (name.to_owned(), attributes.to_owned());
                let element = Self { name, attributes, ..Self::default() };
                if is_empty {
                    open.last_mut().expect("below the document").children.push(element);
                } else {
                    open.push(element);
                }
            }
            open.last_mut().expect("below the document").text.push_str(&unescaped(text));
        }
        let [root] = <[_; 1]>::try_from(open).expect("all elements are closed");
        let [root] = <[_; 1]>::try_from(root.children).expect("there is one root");
        root
    }

    pub(super) fn child(&self, name: &str) -> Option<&Self> {
        self.children.iter().find(|child| child.name == name)
    }

    pub(super) fn child_text(&self, name: &str) -> &str {
        self.child(name).map_or("", |child| &child.text)
    }

    /// A result of an action, with the names of AWS JSON.
    pub(super) fn to_json(&self, action: &str) -> Value {
        let mut shape = Map::new();
        for child in &self.children {
            match child.place(action) {
                Place::Pair(member, [key, value]) => {
                    let entry = child.child(value).expect("an entry has a value");
                    let value = if entry.children.is_empty() {
                        entry.text.clone().into()
                    } else {
                        entry.to_json(action)
                    };
                    shape.entry(member).or_insert_with(|| json!({}))[child.child_text(key)] = value;
                }
                Place::Element(member) => {
                    let element = if child.children.is_empty() {
                        child.text.clone().into()
                    } else {
                        child.to_json(action)
                    };
                    let list = shape.entry(member).or_insert_with(|| json!([]));
                    list.as_array_mut().expect("a list").push(element);
                }
                Place::Scalar => {
                    assert!(child.children.is_empty(), "{child:?}");
                    let value = scalar(&child.name, &child.text);
                    assert!(shape.insert(child.name.clone(), value).is_none(), "{child:?} is repeated");
                }
            }
        }
        shape.into()
    }

    fn place(&self, action: &str) -> Place {
        let pair = |member, key| Place::Pair(member, [key, "Value"]);
        match (self.name.as_str(), action) {
            ("Attribute", _) => pair("Attributes", "Name"),
            ("MessageAttribute", _) => pair("MessageAttributes", "Name"),
            ("Tag", _) => pair("Tags", "Key"),
            ("QueueUrl", "ListQueues") => Place::Element("QueueUrls"),
            ("QueueUrl", "ListDeadLetterSourceQueues") => Place::Element("queueUrls"),
            ("Message", "ReceiveMessage") => Place::Element("Messages"),
            ("ListMessageMoveTasksResultEntry", _) => Place::Element("Results"),
            ("BatchResultErrorEntry", _) => Place::Element("Failed"),
            (name, action) if name.strip_prefix(action) == Some("ResultEntry") => {
                Place::Element("Successful")
            }
            _ => Place::Scalar,
        }
    }
}

/// The place of an element in the AWS JSON output.
enum Place {
    Pair(&'static str, [&'static str; 2]),
    Element(&'static str),
    Scalar,
}

/// Values that are not strings in AWS JSON.
fn scalar(name: &str, text: &str) -> Value {
    match name {
        "SenderFault" => text.parse::<bool>().expect("true or false").into(),
        "ApproximateNumberOfMessagesMoved"
        | "ApproximateNumberOfMessagesToMove"
        | "MaxNumberOfMessagesPerSecond"
        | "StartedTimestamp" => text.parse::<i64>().expect("a number").into(),
        _ => text.into(),
    }
}

/// The text after parsing: entities are replaced, and CR becomes LF unless it was an entity.
fn unescaped(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut parts = text.split('&');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (entity, rest) = part.split_once(';').expect("entities end");
        plain.push_str(match entity {
            "lt" => "<",
            "gt" => ">",
            "amp" => "&",
            "quot" => "\"",
            "apos" => "'",
            "#xD" => "\r",
            other => panic!("unexpected entity {other:?}"),
        });
        plain.push_str(rest);
    }
    plain
}
