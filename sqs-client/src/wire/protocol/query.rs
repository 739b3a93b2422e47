//! The form of the Query protocol: `Action=SendMessage&Version=2012-11-05&MessageAttribute.1.Name=..`.
//!
//! Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-making-api-requests-xml.html>

use std::borrow::Cow;
use std::fmt::Write as _;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode, utf8_percent_encode};

use super::DecodeError;
use super::members::{Node, Sink, read, walk};
use crate::wire::model::{Action, Input, Operation};

/// API version.
const VERSION: &str = "2012-11-05";
/// Maximum number of parameters in a request. The largest valid one has fewer than 1,000.
const MAX_PARAMETERS: usize = 10_000;
/// Maximum levels of a parameter name. The deepest valid one has seven.
const MAX_DEPTH: usize = 12;
/// Escapes all characters of a form value except the unreserved ones of RFC 3986.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// Encodes a request body.
pub(super) fn encode<I: Input>(input: &I) -> Result<Vec<u8>, super::EncodeError> {
    let action = <I::Operation as Operation>::ACTION;
    let mut sink = FormSink { form: format!("Action={action}&Version={VERSION}"), path: String::new() };
    walk(input, &mut sink).map_err(super::EncodeError::new)?;
    Ok(sink.form.into_bytes())
}

struct FormSink {
    form: String,
    path: String,
}

impl Sink for FormSink {
    fn enter(&mut self, name: &str, index: Option<usize>) {
        if !self.path.is_empty() {
            self.path.push('.');
        }
        self.path.push_str(name);
        if let Some(index) = index {
            // Writing to a `String` cannot fail.
            let _ = write!(self.path, ".{index}");
        }
    }

    fn text(&mut self, text: &str) {
        self.form.push('&');
        self.form.push_str(&self.path);
        self.form.push('=');
        self.form.extend(utf8_percent_encode(text, ESCAPED));
    }

    fn leave(&mut self, name: &str) {
        let end = self.path.rfind(name).unwrap_or(0);
        self.path.truncate(end);
        if self.path.ends_with('.') {
            self.path.pop();
        }
    }
}

/// A parsed form.
#[derive(Debug)]
pub struct Form<'a> {
    root: Node<'a>,
}

impl<'a> Form<'a> {
    /// Parses `application/x-www-form-urlencoded` text from a body or from the query of a URL.
    ///
    /// # Errors
    /// More than 10,000 parameters, a name with more than 12 levels, or decoded text that is not UTF-8.
    pub fn parse(text: &'a [u8]) -> Result<Self, DecodeError> {
        let mut parameters = parameters(text)?;
        // Sorting by levels puts parameters with the same prefix side by side, so `insert` checks only the last node.
        parameters.sort_by(|(a, _), (b, _)| a.split('.').cmp(b.split('.')));
        let mut root = Node::default();
        for (name, value) in parameters {
            insert(&mut root, &name, value)?;
        }
        Ok(Self { root })
    }

    /// The value of a parameter without levels, such as `Action`.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.root.child(name).map(|node| node.text.as_ref())
    }

    /// The action of the form. `Err` contains an unknown name.
    pub fn action(&self) -> Option<Result<Action, &str>> {
        let name = self.get("Action")?;
        Some(Action::from_name(name).ok_or(name))
    }

    /// The number of the first entry of a batch that has no `Id`, from 1. SQS refuses it with another error than an empty id, and
    /// inputs have an empty one for both.
    // For sqs-mock-server.
    #[doc(hidden)]
    pub fn entry_without_id(&self, action: Action) -> Option<usize> {
        if !action.as_str().ends_with("Batch") {
            return None;
        }
        let list: Vec<_> = self.root.children(&format!("{action}RequestEntry")).collect();
        if list.is_empty() {
            return None;
        }
        Node::elements(&list).iter().position(|entry| entry.child("Id").is_none()).map(|index| index + 1)
    }

    /// Reads the input of an operation.
    ///
    /// # Errors
    /// The type of a parameter does not match its member.
    pub fn read<I: Input>(&self) -> Result<I, DecodeError> {
        read(&self.root).map_err(DecodeError::new)
    }
}

/// A name and a value.
type Parameter<'a> = (Cow<'a, str>, Cow<'a, str>);

/// The decoded names and values of a form, in its order.
///
/// # Errors
/// More than 10,000 parameters, or decoded text that is not UTF-8.
pub fn parameters(form: &[u8]) -> Result<Vec<Parameter<'_>>, DecodeError> {
    let mut parameters = Vec::new();
    for pair in form.split(|byte| *byte == b'&').filter(|pair| !pair.is_empty()) {
        if parameters.len() == MAX_PARAMETERS {
            return Err(DecodeError::new(format!("the form has more than {MAX_PARAMETERS} parameters")));
        }
        let equals = pair.iter().position(|byte| *byte == b'=').unwrap_or(pair.len());
        let (name, value) = pair.split_at(equals);
        parameters.push((decode_text(name)?, decode_text(value.get(1..).unwrap_or_default())?));
    }
    Ok(parameters)
}

fn insert<'a>(root: &mut Node<'a>, name: &str, value: Cow<'a, str>) -> Result<(), DecodeError> {
    let mut node = root;
    for (depth, level) in name.split('.').enumerate() {
        if depth == MAX_DEPTH {
            return Err(DecodeError::new(format!("a parameter name has more than {MAX_DEPTH} levels")));
        }
        if node.members.last().is_none_or(|(last, _)| last != level) {
            node.members.push((Cow::Owned(level.to_owned()), Node::default()));
        }
        let Some((_, child)) = node.members.last_mut() else {
            return Ok(());
        };
        node = child;
    }
    node.text = value;
    Ok(())
}

fn decode_text(bytes: &[u8]) -> Result<Cow<'_, str>, DecodeError> {
    let not_utf8 = |_| DecodeError::new("a parameter is not valid UTF-8");
    if !bytes.contains(&b'+') {
        return percent_decode(bytes).decode_utf8().map_err(not_utf8);
    }
    let spaced: Vec<u8> = bytes.iter().map(|byte| if *byte == b'+' { b' ' } else { *byte }).collect();
    let decoded = percent_decode(&spaced).decode_utf8().map_err(not_utf8)?;
    Ok(Cow::Owned(decoded.into_owned()))
}
