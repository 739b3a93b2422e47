//! The XML responses of the Query protocol.
//!
//! Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-making-api-requests-xml.html>

use std::borrow::Cow;

use quick_xml::Reader;
use quick_xml::events::{BytesRef, Event};

use super::members::{Node, Sink, read, walk};
use super::{DecodeError, EncodeError};
use crate::wire::model::{Action, Operation};
use crate::wire::service_error::{ErrorCode, ServiceError};
use crate::wire::validate::error::{is_text, is_text_char};

const NAMESPACE: &str = "http://queue.amazonaws.com/doc/2012-11-05/";
/// Maximum nesting of elements. The deepest valid response has seven levels.
const MAX_DEPTH: usize = 32;
/// Maximum number of elements in a response. The largest valid one has about 1,000. Limits memory: `<a/>` is 4 bytes on
/// the wire and up to 400 in the tree.
const MAX_ELEMENTS: usize = 50_000;
/// Maximum bytes of a request id. A UUID has 36.
const MAX_REQUEST_ID: usize = 256;

/// Encodes a successful response.
pub(super) fn encode<O: Operation>(output: &O::Output, request_id: &str) -> Result<Vec<u8>, EncodeError> {
    let action = O::ACTION;
    let (response, result) = (format!("{action}Response"), format!("{action}Result"));
    let mut sink = XmlSink(format!("<?xml version=\"1.0\"?><{response} xmlns=\"{NAMESPACE}\">"));
    if !action.is_void() {
        sink.enter(&result, None);
        let empty = sink.0.len();
        walk(output, &mut sink).map_err(EncodeError::new)?;
        if sink.0.len() == empty {
            sink.0.truncate(empty - 1);
            sink.0.push_str("/>");
        } else {
            sink.leave(&result);
        }
    }
    sink.enter("ResponseMetadata", None);
    sink.member("RequestId", request_id);
    sink.leave("ResponseMetadata");
    sink.leave(&response);
    Ok(sink.0.into_bytes())
}

/// Encodes an error response.
pub(super) fn encode_error(error: &ServiceError, request_id: &str) -> Vec<u8> {
    let mut sink = XmlSink(format!("<?xml version=\"1.0\"?><ErrorResponse xmlns=\"{NAMESPACE}\"><Error>"));
    sink.member("Type", error.code.fault().as_str());
    sink.member("Code", error.code.query_code());
    if let Some(message) = &error.message {
        sink.member("Message", message);
    }
    sink.0.push_str("<Detail/></Error>");
    sink.member("RequestId", request_id);
    sink.0.push_str("</ErrorResponse>");
    sink.0.into_bytes()
}

struct XmlSink(String);

impl XmlSink {
    fn member(&mut self, name: &str, text: &str) {
        self.enter(name, None);
        self.text(text);
        self.leave(name);
    }
}

impl Sink for XmlSink {
    fn enter(&mut self, name: &str, _: Option<usize>) {
        self.0.push('<');
        self.0.push_str(name);
        self.0.push('>');
    }

    fn text(&mut self, text: &str) {
        // XML 1.0 cannot write these. They come from bodies that SNS delivers, and from error texts that quote a parameter.
        let readable = |c| if is_text_char(c) { c } else { '\u{FFFD}' };
        let text = if is_text(text) { Cow::Borrowed(text) } else { text.chars().map(readable).collect() };
        let mut rest = &*text;
        while let Some(at) = rest.find(['&', '<', '>', '"', '\r']) {
            let (plain, special) = rest.split_at(at);
            self.0.push_str(plain);
            self.0.push_str(match special.as_bytes().first() {
                Some(b'&') => "&amp;",
                Some(b'<') => "&lt;",
                Some(b'>') => "&gt;",
                Some(b'"') => "&quot;",
                // XML parsers convert a literal CR to LF, but keep a character reference.
                _ => "&#xD;",
            });
            rest = special.get(1..).unwrap_or_default();
        }
        self.0.push_str(rest);
    }

    fn leave(&mut self, name: &str) {
        self.0.push_str("</");
        self.0.push_str(name);
        self.0.push('>');
    }
}

/// A parsed response: the name and content of the root element.
pub(crate) struct Document<'a> {
    name: Cow<'a, str>,
    root: Node<'a>,
}

impl<'a> Document<'a> {
    /// Parses a success or error response.
    pub(crate) fn parse(body: &'a [u8]) -> Result<Self, DecodeError> {
        let text = std::str::from_utf8(body).map_err(DecodeError::new)?;
        let mut reader = Reader::from_str(text);
        reader.config_mut().expand_empty_elements = true;
        let mut open: Vec<(Cow<'a, str>, Node<'a>)> = vec![(Cow::Borrowed(""), Node::default())];
        let mut elements = 0;
        loop {
            match reader.read_event().map_err(DecodeError::new)? {
                Event::Start(start) => {
                    elements += 1;
                    if elements > MAX_ELEMENTS {
                        return Err(DecodeError::new(format!(
                            "the response has more than {MAX_ELEMENTS} XML elements"
                        )));
                    }
                    if open.len() > MAX_DEPTH {
                        return Err(DecodeError::new(format!(
                            "the XML elements of the response are nested deeper than {MAX_DEPTH} levels"
                        )));
                    }
                    let name = start.local_name().as_ref().to_owned();
                    open.push((Cow::Owned(name), Node::default()));
                }
                Event::End(_) => {
                    let closed = open.pop();
                    if let (Some(closed), Some((_, parent))) = (closed, open.last_mut()) {
                        parent.members.push(closed);
                    }
                }
                Event::Text(text) => append(&mut open, text.into_inner()),
                Event::CData(text) => append(&mut open, text.into_inner()),
                Event::GeneralRef(reference) => append(&mut open, resolve(&reference)?),
                Event::Eof => break,
                _ => {}
            }
        }
        let Some((_, document)) = open.pop().filter(|_| open.is_empty()) else {
            return Err(DecodeError::new("the XML ends inside an element"));
        };
        let Ok([(name, root)]) = <[_; 1]>::try_from(document.members) else {
            return Err(DecodeError::new("the body is not an XML document with one root element"));
        };
        Ok(Self { name, root })
    }

    /// The text of the first element with this name, at any depth.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        fn find<'n>(node: &'n Node<'_>, name: &str) -> Option<&'n str> {
            let found = node.child(name).map(|child| child.text.trim());
            found.or_else(|| node.members.iter().find_map(|(_, child)| find(child, name)))
        }
        find(&self.root, name)
    }

    /// Reads the output of an operation.
    pub(super) fn read<O: Operation>(&self) -> Result<O::Output, DecodeError> {
        match self.result(O::ACTION)? {
            Some(result) => read(result).map_err(DecodeError::new),
            None => Ok(O::Output::default()),
        }
    }

    /// The element with the members of the output, if there is one.
    fn result(&self, action: Action) -> Result<Option<&Node<'a>>, DecodeError> {
        if self.name == format!("{action}Response") {
            return Ok(self.root.child(&format!("{action}Result")));
        }
        Err(DecodeError::new(format!("expected the XML element {action}Response, found {}", self.name)))
    }

    /// Reads the error if the document is an error response.
    pub(super) fn error(&self) -> Option<ServiceError> {
        let Some(error) = self.root.child("Error") else {
            return self.bare_error();
        };
        let code = error.child("Code").filter(|code| !code.text.trim().is_empty())?;
        let message = error.child("Message").map(|node| node.text.clone().into_owned());
        Some(ServiceError { code: ErrorCode::from_name(code.text.trim()), message })
    }

    /// A request to a queue URL without an action gets a document whose root element is the error code.
    fn bare_error(&self) -> Option<ServiceError> {
        let code = ErrorCode::from_name(&self.name);
        (!matches!(code, ErrorCode::Other(_))).then_some(ServiceError::bare(code))
    }

    /// The request id. Success and error responses have it in different places.
    pub(super) fn request_id(&self) -> Option<&str> {
        let place = self.root.child("ResponseMetadata").unwrap_or(&self.root);
        let node = place.child("RequestId").or_else(|| self.root.child("RequestID"))?;
        Some(node.text.trim()).filter(|id| (1..=MAX_REQUEST_ID).contains(&id.len()))
    }
}

fn resolve<'a>(reference: &BytesRef<'_>) -> Result<Cow<'a, str>, DecodeError> {
    if let Some(character) = reference.resolve_char_ref().map_err(DecodeError::new)? {
        return Ok(Cow::Owned(character.to_string()));
    }
    let text = quick_xml::escape::resolve_predefined_entity(reference);
    text.map(Cow::Borrowed).ok_or_else(|| DecodeError::new(format!("unknown XML entity &{};", &**reference)))
}

fn append<'a>(open: &mut [(Cow<'a, str>, Node<'a>)], text: Cow<'a, str>) {
    if let Some((_, node)) = open.last_mut() {
        if node.text.is_empty() {
            node.text = text;
        } else {
            node.text.to_mut().push_str(&text);
        }
    }
}
