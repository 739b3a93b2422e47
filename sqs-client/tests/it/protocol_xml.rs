//! XML variants of SQS-compatible services, and XML that is rejected.

use sqs_client::operation::receive_message::{ReceiveMessage, ReceiveMessageOutput};
use sqs_client::operation::send_message::SendMessage;
use sqs_client::types::RequestId;
use sqs_client::wire::protocol::Protocol;

use crate::protocol_damage::response;

fn receive(inner: &str) -> ReceiveMessageOutput {
    let xml = format!(
        "<ReceiveMessageResponse><ReceiveMessageResult>{inner}</ReceiveMessageResult></ReceiveMessageResponse>"
    );
    response::<ReceiveMessage>(Protocol::Query, xml.as_bytes()).unwrap()
}

#[test]
fn empty_result_element_is_an_empty_output() {
    assert_eq!(receive(""), ReceiveMessageOutput::default());
    assert_eq!(
        response::<ReceiveMessage>(
            Protocol::Query,
            b"<ReceiveMessageResponse><ReceiveMessageResult/></ReceiveMessageResponse>"
        )
        .unwrap(),
        ReceiveMessageOutput::default()
    );
}

#[test]
fn unknown_xml_elements_are_ignored() {
    let output = receive("<Later><x/>y</Later><Message><Body>a</Body><Later>b</Later></Message>");
    assert_eq!(output.messages()[0].body(), Some("a"));
}

#[test]
fn xml_declaration_prefixes_comments_and_cdata_are_supported() {
    let text = "\u{feff}<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- c -->\n<q:SendMessageResponse xmlns:q=\"urn:x\">\n  \
                <q:SendMessageResult>\n    <q:MessageId>a<!-- c -->b<![CDATA[<&>]]></q:MessageId>\n  </q:SendMessageResult>\n  \
                <q:ResponseMetadata><q:RequestId> id </q:RequestId></q:ResponseMetadata>\n</q:SendMessageResponse>\n";
    let output = response::<SendMessage>(Protocol::Query, text.as_bytes()).unwrap();
    assert_eq!(output.message_id(), Some("ab<&>"));
    assert_eq!(output.request_id(), Some("id"));
}

#[test]
fn bodies_keep_white_space() {
    // An XML parser should convert a literal CR to LF. But a service that does not escape CR includes it in the MD5.
    for (text, body) in [
        (" ", " "),
        ("\n\t", "\n\t"),
        (" a ", " a "),
        ("&#xD;\n", "\r\n"),
        ("&#13;", "\r"),
        ("a\r\nb", "a\r\nb"),
        ("&#x1F600;", "😀"),
    ] {
        let output = receive(&format!("<Message>\n<Body>{text}</Body>\n</Message>"));
        assert_eq!(output.messages()[0].body(), Some(body));
    }
}

#[test]
fn custom_and_external_entities_are_rejected() {
    let bomb = "<!DOCTYPE x [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;\"><!ENTITY f SYSTEM \"file:///etc/passwd\">]>";
    for reference in ["&b;", "&f;", "&nbsp;", "&#0;", "&#xD800;", "&#x110000;", "&#;", "&;", "& ", "&amp"] {
        let text = format!(
            "{bomb}<SendMessageResponse><SendMessageResult><MessageId>{reference}</MessageId></SendMessageResult></SendMessageResponse>"
        );
        assert!(response::<SendMessage>(Protocol::Query, text.as_bytes()).is_err(), "{reference}");
    }
}

#[test]
fn xml_with_two_roots_or_malformed_content_is_rejected() {
    let whole = "<SendMessageResponse><SendMessageResult/></SendMessageResponse>";
    assert!(response::<SendMessage>(Protocol::Query, whole.as_bytes()).is_ok());
    assert!(response::<SendMessage>(Protocol::Query, whole.repeat(2).as_bytes()).is_err());
    for inner in
        ["<MessageId><b/></MessageId>", "<MessageId>", "</MessageId>", "<MessageId></Other>", "<MessageId/ >"]
    {
        let text =
            whole.replace("<SendMessageResult/>", &format!("<SendMessageResult>{inner}</SendMessageResult>"));
        assert!(response::<SendMessage>(Protocol::Query, text.as_bytes()).is_err(), "{inner}");
    }
}
