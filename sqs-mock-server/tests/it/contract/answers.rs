//! Decodes responses of both protocols into outputs and errors.
//!
//! Checks the rules of sections 3.2, 3.3 and 4.2 on every response.

use serde_json::Value;

use super::code::Code;
use super::xml::Element;
use crate::wire::Answer;

/// The nine actions without output.
const VOID: [&str; 9] = [
    "AddPermission",
    "ChangeMessageVisibility",
    "DeleteMessage",
    "DeleteQueue",
    "PurgeQueue",
    "RemovePermission",
    "SetQueueAttributes",
    "TagQueue",
    "UntagQueue",
];

const NAMESPACE: &str = "xmlns=\"http://queue.amazonaws.com/doc/2012-11-05/\"";

/// An error response.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) status: u16,
    /// Code of the Query protocol, from the header or from the XML.
    pub(super) query: String,
    /// `__type`, in AWS JSON.
    pub(super) type_name: Option<String>,
    pub(super) message: String,
}

impl Refusal {
    /// Asserts the error code; `row` names the case.
    pub(super) fn is(&self, row: &str, code: Code) {
        assert_eq!((self.status, self.query.as_str()), (code.status, code.query), "{row}: {self:?}");
        if let Some(type_name) = &self.type_name {
            assert_eq!(*type_name, format!("{}#{}", code.namespace, code.shape), "{row}: {self:?}");
        }
    }

    /// Asserts the error code and text.
    pub(super) fn says(&self, row: &str, code: Code, message: &str) {
        self.is(row, code);
        assert_eq!(self.message, message, "{row}");
    }
}

/// The names of the members of a shape, in order; empty for other values.
pub(super) fn keys(shape: &Value) -> Vec<&str> {
    shape.as_object().map(|members| members.keys().map(String::as_str).collect()).unwrap_or_default()
}

/// The text of a value; panics for other types.
pub(super) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is not a string")).to_owned()
}

fn request_id(answer: &Answer) -> String {
    let id = answer.header("x-amzn-requestid");
    let lengths: Vec<_> = id.split('-').map(str::len).collect();
    assert_eq!(lengths, [8, 4, 4, 4, 12], "{id:?} is not a UUID");
    id.to_owned()
}

pub(super) fn output_of_json(action: &str, answer: &Answer) -> Result<Value, Refusal> {
    request_id(answer);
    assert_eq!(answer.header("content-type"), "application/x-amz-json-1.0", "{action}");
    if answer.status != 200 {
        return Err(refusal_of_json(answer));
    }
    if VOID.contains(&action) {
        assert_eq!((answer.text(), answer.header("content-length")), ("", "0"), "{action} has no output");
        return Ok(Value::Null);
    }
    let output: Value = serde_json::from_slice(&answer.body).expect("output is JSON");
    assert!(output.is_object(), "{action}: {output}");
    Ok(output)
}

fn refusal_of_json(answer: &Answer) -> Refusal {
    let body: Value = serde_json::from_slice(&answer.body).expect("errors are JSON");
    let header = answer.header("x-amzn-query-error");
    let (query, fault) = header.split_once(';').expect("a code and a fault");
    assert_eq!(fault, if answer.status < 500 { "Sender" } else { "Receiver" });
    // From logs of users: only access denied errors capitalize it.
    let message = if query == "AccessDenied" { "Message" } else { "message" };
    Refusal {
        status: answer.status,
        query: query.to_owned(),
        type_name: Some(text(&body["__type"])),
        message: body[message].as_str().unwrap_or_default().to_owned(),
    }
}

pub(super) fn output_of_xml(action: &str, answer: &Answer) -> Result<Value, Refusal> {
    assert_eq!(answer.header("content-type"), "text/xml", "{action}");
    let root = Element::parse(answer.text());
    assert_eq!(root.attributes, NAMESPACE, "{action}");
    if answer.status != 200 {
        return Err(refusal_of_xml(answer, &root));
    }
    assert_eq!(root.name, format!("{action}Response"));
    let metadata = root.child("ResponseMetadata").expect("metadata");
    assert_eq!(metadata.child_text("RequestId"), request_id(answer));
    let result = root.child(&format!("{action}Result"));
    assert_eq!(result.is_none(), VOID.contains(&action), "{action}: {root:?}");
    Ok(result.map_or(Value::Null, |result| result.to_json(action)))
}

fn refusal_of_xml(answer: &Answer, root: &Element) -> Refusal {
    assert_eq!(root.name, "ErrorResponse");
    assert_eq!(root.child_text("RequestId"), request_id(answer));
    let error = root.child("Error").expect("an error");
    assert_eq!(error.child_text("Type"), if answer.status < 500 { "Sender" } else { "Receiver" });
    assert!(error.child("Detail").is_some(), "{root:?}");
    let (query, message) = (error.child_text("Code").to_owned(), error.child_text("Message").to_owned());
    Refusal { status: answer.status, query, type_name: None, message }
}
