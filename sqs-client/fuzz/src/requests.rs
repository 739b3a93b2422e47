//! Requests: a decoded input must not change when encoded and decoded again, in either protocol.

use sqs_client::operation::Operation;
use sqs_client::wire::protocol::{Form, Protocol};

use crate::golden_tree::Tree;
use crate::memory::within_bounds;
use crate::message::{self, Task};
use crate::shapes::through_form;

/// Checks a request. The input is the letter of an action and the body.
///
/// # Panics
/// The input changes.
pub fn request(protocol: Protocol, data: &[u8]) {
    if let Some((action, body)) = message::action(data) {
        message::run(action, Request { protocol, body });
    }
}

struct Request<'a> {
    protocol: Protocol,
    body: &'a [u8],
}

impl Task for Request<'_> {
    fn run<O: Operation>(self) {
        if self.protocol == Protocol::Query {
            let _ = Form::parse(self.body).map(|form| form.action().is_some());
        }
        let decoded = within_bounds(self.body, || self.protocol.decode_request::<O::Input>(self.body));
        match decoded {
            Ok(input) => check::<O>(&input),
            Err(error) => assert!(error.to_string().len() <= 2_000, "{error}"),
        }
    }
}

fn check<O: Operation>(input: &O::Input) {
    for (protocol, expected) in
        [(Protocol::AwsJson, input.clone()), (Protocol::Query, through_form::<O>(input))]
    {
        let encoded = protocol.encode_request(input).expect("all shapes can be encoded");
        let text = String::from_utf8_lossy(&encoded.body);
        let decoded: O::Input =
            protocol.decode_request(&encoded.body).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert_eq!(decoded, expected, "{text}");
        if protocol == Protocol::Query {
            // Panics unless lists are numbered 1, 2, .. and parameters are unique.
            let _ = Tree::of_form(&encoded.body);
        }
    }
}
