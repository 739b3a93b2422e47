//! The form of the Query protocol: `Action=SendMessage&Version=2012-11-05&MessageAttribute.1.Name=..`.
//!
//! Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-making-api-requests-xml.html>

use std::borrow::Cow;
use std::fmt::Write as _;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode, utf8_percent_encode};

use super::DecodeError;
use super::read::read;
use super::tree::Node;
use super::walk::{Sink, walk};
use crate::operation::{Action, Input, Operation};

/// API version that requests name.
pub(super) const VERSION: &str = "2012-11-05";
/// Parameters that one request may have; the largest legal request has fewer than 1,000.
const MAX_PARAMETERS: usize = 10_000;
/// Levels that one parameter name may have; the deepest legal one has seven.
const MAX_DEPTH: usize = 12;
/// What stays as it is in a form value (RFC 3986, unreserved).
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

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
        self.form.extend(utf8_percent_encode(text, ENCODED));
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
    /// Parses `application/x-www-form-urlencoded` text, from a body or from the query of a URL.
    ///
    /// # Errors
    /// Too many parameters, names with too many levels, or text that is not UTF-8 after decoding.
    pub fn parse(text: &'a [u8]) -> Result<Self, DecodeError> {
        let mut parameters = Vec::new();
        for pair in text.split(|byte| *byte == b'&').filter(|pair| !pair.is_empty()) {
            if parameters.len() == MAX_PARAMETERS {
                return Err(DecodeError::new(format!("more than {MAX_PARAMETERS} parameters")));
            }
            let equals = pair.iter().position(|byte| *byte == b'=').unwrap_or(pair.len());
            let (name, value) = pair.split_at(equals);
            parameters.push((decode_text(name)?, decode_text(value.get(1..).unwrap_or_default())?));
        }
        // Sorted by level, parameters of one prefix are neighbours, so that each finds its node at the end.
        parameters.sort_by(|(a, _), (b, _)| a.split('.').cmp(b.split('.')));
        let mut root = Node::default();
        for (name, value) in parameters {
            insert(&mut root, &name, value)?;
        }
        Ok(Self { root })
    }

    /// A parameter without levels, such as `Action`.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.root.child(name).map(|node| node.text.as_ref())
    }

    /// The action that the form names.
    pub fn action(&self) -> Option<Result<Action, &str>> {
        let name = self.get("Action")?;
        Some(Action::from_name(name).ok_or(name))
    }

    /// Reads the input of an operation.
    ///
    /// # Errors
    /// A parameter does not have the type of its member.
    pub fn read<I: Input>(&self) -> Result<I, DecodeError> {
        read(&self.root).map_err(DecodeError::new)
    }
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
