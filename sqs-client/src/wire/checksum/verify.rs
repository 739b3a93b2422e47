//! Compares the checksums of a response with the sent or received messages.

use super::{Md5Hex, md5_of_attributes, md5_of_bodies, md5_of_body};
use crate::types::batch::{SendMessageBatchInput, SendMessageBatchOutput};
use crate::types::message::{
    ReceiveMessageInput, ReceiveMessageOutput, SendMessageInput, SendMessageOutput, is_fifo,
};
use crate::types::{ChecksumMismatch, DamagedMessage, HasMetadata as _};

/// How strictly the client verifies checksums.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum ChecksumPolicy {
    /// Every checksum must be present and correct. AWS sends them all.
    #[default]
    Verify,
    /// A checksum must be correct if it is present. For compatible services that omit some checksums.
    VerifyIfPresent,
    /// Checksums are not verified.
    Off,
}

/// MD5 of empty input. Some compatible services send it for messages without attributes.
const MD5_OF_EMPTY: &str = "d41d8cd98f00b204e9800998ecf8427e";

/// Compares checksums and collects the mismatches.
struct Comparison {
    policy: ChecksumPolicy,
    mismatches: Vec<ChecksumMismatch>,
}

impl Comparison {
    fn new(policy: ChecksumPolicy) -> Self {
        Self { policy, mismatches: Vec::new() }
    }

    /// `expected` is `None` if the part is absent.
    fn compare(
        &mut self,
        part: &'static str,
        id: Option<&str>,
        expected: Option<Md5Hex>,
        found: Option<&str>,
    ) {
        let agrees = match (&expected, found) {
            (None, None) => true,
            (None, Some(found)) => found == MD5_OF_EMPTY,
            (Some(_), None) => self.policy == ChecksumPolicy::VerifyIfPresent,
            (Some(expected), Some(found)) => found.eq_ignore_ascii_case(expected.as_str()),
        };
        if !agrees {
            self.mismatches.push(ChecksumMismatch {
                part,
                id: id.map(str::to_owned),
                expected: expected.map(Into::into),
                found: found.map(str::to_owned),
            });
        }
    }
}

/// The checksums in the response to a send.
struct ReceivedSums<'a> {
    body: Option<&'a str>,
    attributes: Option<&'a str>,
    system_attributes: Option<&'a str>,
}

macro_rules! compare_sent {
    ($comparison:ident, $id:expr, $body:expr, $message:expr, $sums:expr) => {{
        let sums: ReceivedSums<'_> = $sums;
        let attributes = md5_of_attributes($message.message_attributes.iter().flatten());
        let system = md5_of_attributes($message.message_system_attributes.iter().flatten());
        $comparison.compare("body", $id, Some($body), sums.body);
        $comparison.compare("message attributes", $id, attributes, sums.attributes);
        $comparison.compare("message system attributes", $id, system, sums.system_attributes);
    }};
}

pub(crate) fn send_message(
    policy: ChecksumPolicy,
    input: &SendMessageInput,
    output: &SendMessageOutput,
) -> Vec<ChecksumMismatch> {
    let mut comparison = Comparison::new(policy);
    let sums = ReceivedSums {
        body: output.md5_of_message_body(),
        attributes: output.md5_of_message_attributes(),
        system_attributes: output.md5_of_message_system_attributes(),
    };
    let body = md5_of_body(input.message_body().unwrap_or_default());
    compare_sent!(comparison, None, body, input, sums);
    comparison.mismatches
}

pub(crate) fn send_message_batch(
    policy: ChecksumPolicy,
    input: &SendMessageBatchInput,
    output: &SendMessageBatchOutput,
) -> Vec<ChecksumMismatch> {
    let mut comparison = Comparison::new(policy);
    let accepted = output.successful().iter();
    // Entries with unknown ids have no message to compare with.
    let entry = |id: &str| input.entries().iter().find(|entry| entry.id == id);
    let pairs: Vec<_> = accepted.filter_map(|accepted| Some((accepted, entry(&accepted.id)?))).collect();
    let bodies: Vec<_> = pairs.iter().map(|(_, entry)| entry.message_body()).collect();
    for ((accepted, entry), body) in pairs.into_iter().zip(md5_of_bodies(&bodies)) {
        let sums = ReceivedSums {
            body: Some(accepted.md5_of_message_body()).filter(|sum| !sum.is_empty()),
            attributes: accepted.md5_of_message_attributes(),
            system_attributes: accepted.md5_of_message_system_attributes(),
        };
        compare_sent!(comparison, Some(accepted.id()), body, entry, sums);
    }
    comparison.mismatches
}

/// Moves damaged messages from `messages` to `damaged_messages`. Returns their mismatches if the receive must fail.
pub(crate) fn receive_message(
    policy: ChecksumPolicy,
    input: &ReceiveMessageInput,
    output: &mut ReceiveMessageOutput,
) -> Vec<ChecksumMismatch> {
    let mut mismatches = mismatches_by_message(policy, output);
    if mismatches.iter().all(Vec::is_empty) {
        return Vec::new();
    }
    let all = mismatches.iter().flatten().cloned().collect();
    let mut intact = Vec::new();
    for (message, mismatches) in output.messages.take().into_iter().flatten().zip(mismatches.drain(..)) {
        if mismatches.is_empty() {
            intact.push(message);
        } else {
            output.metadata_mut().damaged.push(DamagedMessage { message, mismatches });
        }
    }
    // Later messages of a FIFO group must not overtake a damaged one.
    let fails = intact.is_empty() || input.queue_url().is_some_and(is_fifo);
    output.messages = Some(intact);
    if fails { all } else { Vec::new() }
}

fn mismatches_by_message(
    policy: ChecksumPolicy,
    output: &ReceiveMessageOutput,
) -> Vec<Vec<ChecksumMismatch>> {
    let bodies: Vec<_> = output.messages().iter().map(|message| message.body().unwrap_or_default()).collect();
    let hashes = md5_of_bodies(&bodies);
    let compared = output.messages().iter().zip(hashes).map(|(message, body)| {
        let mut comparison = Comparison::new(policy);
        let id = message.message_id();
        comparison.compare("body", id, message.body().map(|_| body), message.md5_of_body());
        let attributes = md5_of_attributes(message.message_attributes.iter().flatten());
        comparison.compare("message attributes", id, attributes, message.md5_of_message_attributes());
        comparison.mismatches
    });
    compared.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{
        Message, MessageAttributeValue, SendMessageBatchRequestEntry, SendMessageBatchResultEntry,
    };

    fn sent() -> SendMessageInput {
        let input = SendMessageInput::builder().message_body("hello");
        input.message_attributes("k", MessageAttributeValue::string("x")).build().expect("complete")
    }

    fn output(body: Option<&str>, attributes: Option<&str>) -> SendMessageOutput {
        SendMessageOutput::builder()
            .set_md5_of_message_body(body.map(Into::into))
            .set_md5_of_message_attributes(attributes.map(Into::into))
            .build()
    }

    const BODY: Option<&str> = Some("5d41402abc4b2a76b9719d911017c592");
    const ATTRIBUTES: Option<&str> = Some("a45daa70926828a2f0a1db3418e6feb4");
    const WRONG: Option<&str> = Some("00000000000000000000000000000000");

    #[test]
    fn wrong_or_missing_checksum_of_a_sent_message_is_reported() {
        let verify =
            |body, attributes| send_message(ChecksumPolicy::Verify, &sent(), &output(body, attributes));
        assert_eq!(verify(BODY, ATTRIBUTES), []);
        assert!(verify(WRONG, ATTRIBUTES)[0].to_string().contains("body"));
        assert!(verify(BODY, WRONG)[0].to_string().contains("message attributes"));
        assert!(verify(BODY, None)[0].to_string().contains("sent none"));
    }

    #[test]
    fn verify_if_present_accepts_missing_but_not_wrong_checksums() {
        let with =
            |policy, body, attributes| send_message(policy, &sent(), &output(body, attributes)).is_empty();
        assert!(with(ChecksumPolicy::VerifyIfPresent, BODY, None));
        assert!(!with(ChecksumPolicy::VerifyIfPresent, WRONG, None));
    }

    #[test]
    fn wrong_checksum_in_a_batch_names_the_entry() {
        let entry = |id: &str| SendMessageBatchRequestEntry::builder().id(id).message_body("hello").build();
        let input = SendMessageBatchInput::builder()
            .entries(entry("a").expect("complete"))
            .entries(entry("b").expect("complete"))
            .build()
            .expect("complete");
        let result = |id: &str, sum: Option<&str>| {
            let result = SendMessageBatchResultEntry::builder().id(id).message_id("m");
            result.md5_of_message_body(sum.unwrap_or_default()).build().expect("complete")
        };
        let output = |sum| {
            let output =
                SendMessageBatchOutput::builder().successful(result("b", sum)).successful(result("a", BODY));
            output.set_failed(Some(Vec::new())).build().expect("complete")
        };
        assert_eq!(send_message_batch(ChecksumPolicy::Verify, &input, &output(BODY)), []);
        let damaged = send_message_batch(ChecksumPolicy::Verify, &input, &output(WRONG));
        assert_eq!(damaged.iter().map(ChecksumMismatch::id).collect::<Vec<_>>(), [Some("b")]);
    }

    #[test]
    fn received_body_that_differs_from_its_checksum_is_reported() {
        let message =
            |body: &str| Message::builder().message_id("m1").body(body).set_md5_of_body(BODY.map(Into::into));
        let output = |body| ReceiveMessageOutput::builder().messages(message(body).build()).build();
        let input = ReceiveMessageInput::default();
        assert_eq!(receive_message(ChecksumPolicy::Verify, &input, &mut output("hello")), []);
        let damaged = receive_message(ChecksumPolicy::Verify, &input, &mut output("hellO"));
        assert_eq!(damaged.iter().map(ChecksumMismatch::id).collect::<Vec<_>>(), [Some("m1")]);
    }

    #[test]
    fn damaged_messages_are_separated_and_fail_a_fifo_receive_or_one_without_intact_messages() {
        let message = |id: &str, body: &str| {
            Message::builder().message_id(id).body(body).set_md5_of_body(BODY.map(Into::into)).build()
        };
        for (url, second, fails) in [
            ("http://h/0/q", "hello", false),
            ("http://h/0/q", "hellO", true),
            ("http://h/0/q.fifo", "hello", true),
        ] {
            let input = ReceiveMessageInput::builder().queue_url(url).build().expect("complete");
            let messages = [message("m1", "hellO"), message("m2", second)];
            let mut output = ReceiveMessageOutput::builder().set_messages(Some(messages.into())).build();
            let mismatches = receive_message(ChecksumPolicy::Verify, &input, &mut output);
            assert_eq!(!mismatches.is_empty(), fails, "{url} {second}");
            let damaged: Vec<_> =
                output.damaged_messages().iter().filter_map(|one| one.message.message_id()).collect();
            let intact: Vec<_> = output.messages().iter().filter_map(Message::message_id).collect();
            assert_eq!((damaged[0], intact.first()), ("m1", Some(&"m2").filter(|_| second == "hello")));
        }
    }

    #[test]
    fn attribute_checksum_without_attributes_is_reported() {
        let with_sum = |sum: &str| {
            let message =
                Message::builder().message_id("m1").body("hello").set_md5_of_body(BODY.map(Into::into));
            let message = message.md5_of_message_attributes(sum).build();
            let mut output = ReceiveMessageOutput::builder().messages(message).build();
            receive_message(ChecksumPolicy::Verify, &ReceiveMessageInput::default(), &mut output)
        };
        assert_eq!(with_sum(ATTRIBUTES.expect("set")).len(), 1);
        assert_eq!(with_sum(MD5_OF_EMPTY), []);
    }
}
