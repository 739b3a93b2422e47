//! Values that JSON shows as text.

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
