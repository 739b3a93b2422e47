//! Values that JSON shows as text.

use super::arn::{QueueArn, TopicArn};
use super::clock::Timestamp;
use super::seed::Uuid;

/// Serializes types as their `Display` shows them.
macro_rules! serialize_as_text {
    ($($name:ty),+) => {
        $(impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        })+
    };
}
pub(crate) use serialize_as_text;

serialize_as_text!(QueueArn, TopicArn, Timestamp, Uuid);
