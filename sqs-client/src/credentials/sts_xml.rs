//! Parses XML responses of STS: credentials, or an error code and a message.

use std::collections::HashMap;

use quick_xml::Reader;
use quick_xml::events::Event;

/// The elements to read, at any depth. Each name has only one meaning in a response.
const ELEMENTS: [&str; 6] =
    ["AccessKeyId", "SecretAccessKey", "SessionToken", "Expiration", "Code", "Message"];

/// The texts of [`ELEMENTS`]. Errors never quote the response: it contains a secret.
pub(super) fn texts(body: &[u8]) -> Result<HashMap<&'static str, String>, String> {
    let not_xml = "the response is not XML from STS";
    let text = std::str::from_utf8(body).map_err(|_| not_xml.to_owned())?;
    let mut reader = Reader::from_str(text);
    let mut found: HashMap<&'static str, String> = HashMap::new();
    let mut open: Option<&'static str> = None;
    let mut depth = 0_usize;
    let mut elements = 0_usize;
    loop {
        let piece = match reader.read_event().map_err(|_| not_xml.to_owned())? {
            Event::Start(start) => {
                (depth, elements) = (depth + 1, elements + 1);
                let name = start.local_name();
                open = ELEMENTS.into_iter().find(|element| *element == name.as_ref());
                continue;
            }
            Event::End(_) => {
                depth = depth.saturating_sub(1);
                open = None;
                continue;
            }
            Event::Text(text) => text.into_inner().into_owned(),
            Event::CData(text) => text.into_inner().into_owned(),
            Event::GeneralRef(reference) => match reference.resolve_char_ref() {
                Ok(Some(character)) => character.to_string(),
                _ => quick_xml::escape::resolve_predefined_entity(&reference).unwrap_or_default().to_owned(),
            },
            Event::Eof if depth == 0 && elements > 0 => return Ok(found),
            Event::Eof => return Err(not_xml.to_owned()),
            _ => continue,
        };
        if let Some(name) = open {
            found.entry(name).or_default().push_str(&piece);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_and_errors_are_parsed() {
        let answer = "<AssumeRoleResponse xmlns=\"x\"><AssumeRoleResult><Credentials><AccessKeyId>AK</AccessKeyId>\
                      <SessionToken>a&amp;b</SessionToken></Credentials></AssumeRoleResult></AssumeRoleResponse>";
        let texts_of = |body: &str| texts(body.as_bytes()).expect("XML");
        assert_eq!(texts_of(answer).get("SessionToken").map(String::as_str), Some("a&b"));
        let error =
            "<ErrorResponse><Error><Code>AccessDenied</Code><Message>no</Message></Error></ErrorResponse>";
        assert_eq!(texts_of(error).get("Code").map(String::as_str), Some("AccessDenied"));
    }

    proptest::proptest! {
        #[test]
        fn arbitrary_text_never_panics(text in "(<a>|</a>|<Code>|&amp;|&#x0;|&|<!\\[CDATA\\[|\\]\\]>|\\PC){0,20}") {
            let _ = texts(text.as_bytes());
        }
    }

    #[test]
    fn error_for_invalid_xml_quotes_nothing() {
        for garbage in ["", "hunter2", "{\"hunter2\":1}", "<a><b>hunter2", "<a>hunter2</b>"] {
            let error = texts(garbage.as_bytes()).expect_err(garbage);
            assert!(!error.contains("hunter2"), "{error}");
        }
        assert!(texts(&[0xff, 0xfe]).is_err());
    }
}
