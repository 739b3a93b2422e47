//! Notifications of SNS: without raw message delivery, the body of a message is JSON with the published message inside.
//!
//! Source: <https://docs.aws.amazon.com/sns/latest/dg/sns-message-and-json-formats.html>

use serde_json::{Map, Value};

use crate::format::pointer::{RESERVED_ATTRIBUTES, RawPointer};

const MESSAGE: &str = "Message";

const ATTRIBUTES: &str = "MessageAttributes";

/// A notification whose message is a pointer.
pub(crate) struct Notification(Map<String, Value>);

impl Notification {
    /// `None` unless the body is a notification whose message has the attribute of a pointer.
    pub(crate) fn parse(body: &str) -> Option<Self> {
        // Most bodies are not notifications. This check avoids parsing them.
        let may_be = body.trim_start().starts_with('{')
            && RESERVED_ATTRIBUTES.iter().any(|name| body.contains(name))
            && body.contains("\"Notification\"");
        let members: Map<String, Value> = may_be.then(|| serde_json::from_str(body).ok())??;
        let notification = Self(members);
        let is_one = notification.0.get("Type").and_then(Value::as_str) == Some("Notification");
        (is_one && notification.attribute().is_some() && notification.0.get(MESSAGE)?.is_string())
            .then_some(notification)
    }

    pub(crate) fn raw_pointer(&self) -> RawPointer<'_> {
        let (name, attribute) = self.attribute().unwrap_or_default();
        let text = |member: &str| attribute.and_then(|it| it.get(member)?.as_str()).unwrap_or_default();
        let body = self.0.get(MESSAGE).and_then(Value::as_str).unwrap_or_default();
        RawPointer { body, name, size: text("Value"), data_type: text("Type") }
    }

    /// The notification with this message, without the attribute of the pointer.
    pub(crate) fn with_message(mut self, message: String) -> String {
        self.0.insert(MESSAGE.to_owned(), Value::String(message));
        if let Some(attributes) = self.0.get_mut(ATTRIBUTES).and_then(Value::as_object_mut) {
            for name in RESERVED_ATTRIBUTES {
                attributes.remove(name);
            }
        }
        if self.0.get(ATTRIBUTES).and_then(Value::as_object).is_some_and(Map::is_empty) {
            self.0.remove(ATTRIBUTES);
        }
        Value::Object(self.0).to_string()
    }

    fn attribute(&self) -> Option<(&'static str, Option<&Value>)> {
        let attributes = self.0.get(ATTRIBUTES)?.as_object()?;
        RESERVED_ATTRIBUTES.iter().find_map(|name| Some((*name, Some(attributes.get(*name)?))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notification(attribute: &str) -> String {
        let pointer = r#"[\"software.amazon.payloadoffloading.PayloadS3Pointer\",{\"s3BucketName\":\"b\",\"s3Key\":\"k\"}]"#;
        format!(
            r#"{{
  "Type" : "Notification",
  "MessageId" : "dc1e94d9-56c5-5e96-808d-cc7f68faa162",
  "TopicArn" : "arn:aws:sns:us-east-2:111122223333:scans",
  "Message" : "{pointer}",
  "MessageAttributes" : {{
    "{attribute}" : {{"Type":"Number","Value":"300000"}},
    "color" : {{"Type":"String","Value":"red"}}
  }}
}}"#
        )
    }

    #[test]
    fn notification_with_a_pointer_is_recognised_by_its_attribute() {
        for name in RESERVED_ATTRIBUTES {
            let found = Notification::parse(&notification(name)).expect(name);
            let raw = found.raw_pointer();
            assert_eq!((raw.name, raw.size, raw.data_type), (name, "300000", "Number"));
            assert!(raw.body.contains(r#""s3Key":"k""#), "{}", raw.body);
        }
        for other in [
            notification("size"),
            notification("ExtendedPayloadSize").replace("Notification", "SubscriptionConfirmation"),
            "ExtendedPayloadSize \"Notification\"".to_owned(),
            r#"{"Type":"Notification","MessageAttributes":{"ExtendedPayloadSize":{}},"Message":7}"#
                .to_owned(),
        ] {
            assert!(Notification::parse(&other).is_none(), "{other}");
        }
    }

    #[test]
    fn message_replaces_the_pointer_and_other_members_stay() {
        let with_message = Notification::parse(&notification("ExtendedPayloadSize"))
            .unwrap()
            .with_message("tea \"7\"".into());
        let members: Map<String, Value> = serde_json::from_str(&with_message).unwrap();
        assert_eq!(members["Message"], "tea \"7\"");
        assert_eq!(members["TopicArn"], "arn:aws:sns:us-east-2:111122223333:scans");
        assert_eq!(
            members["MessageAttributes"],
            serde_json::json!({"color": {"Type": "String", "Value": "red"}})
        );
    }
}
