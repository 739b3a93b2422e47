//! Writes shapes as JSON.
//!
//! `serde_json` looks at each byte of a text for itself; here blocks of a text are looked at as a whole, which compilers turn
//! into vector instructions. The bytes that come out are the same.

use std::io::Write as _;

use serde::ser::{self, Impossible, Serialize, Serializer};

use super::walk::{NotAShape, not_in_the_model};

/// Bytes of a text that are looked at together.
const BLOCK: usize = 64;

/// Appends `shape` to `json`.
pub(super) fn write(shape: &impl Serialize, json: &mut Vec<u8>) -> Result<(), NotAShape> {
    shape.serialize(Value(json))
}

/// Where one value goes.
struct Value<'v>(&'v mut Vec<u8>);

/// A list or an object that is not finished.
struct Parts<'v> {
    json: &'v mut Vec<u8>,
    end: u8,
    is_empty: bool,
}

impl<'v> Value<'v> {
    fn parts(self, begin: u8, end: u8) -> Parts<'v> {
        self.0.push(begin);
        Parts { json: self.0, end, is_empty: true }
    }
}

impl Parts<'_> {
    fn part(&mut self, value: &(impl Serialize + ?Sized)) -> Result<(), NotAShape> {
        if !std::mem::take(&mut self.is_empty) {
            self.json.push(b',');
        }
        value.serialize(Value(self.json))
    }

    fn of_name(&mut self, value: &(impl Serialize + ?Sized)) -> Result<(), NotAShape> {
        self.json.push(b':');
        value.serialize(Value(self.json))
    }
}

fn needs_escape(byte: u8) -> bool {
    byte < b' ' || byte == b'"' || byte == b'\\'
}

fn write_text(text: &[u8], json: &mut Vec<u8>) {
    json.push(b'"');
    let mut plain = 0;
    for (number, block) in text.chunks(BLOCK).enumerate() {
        if !block.iter().fold(false, |any, byte| any | needs_escape(*byte)) {
            continue;
        }
        for (offset, byte) in block.iter().enumerate().filter(|(_, byte)| needs_escape(**byte)) {
            let place = number * BLOCK + offset;
            json.extend_from_slice(&text[plain..place]);
            write_escaped(*byte, json);
            plain = place + 1;
        }
    }
    json.extend_from_slice(&text[plain..]);
    json.push(b'"');
}

fn write_escaped(byte: u8, json: &mut Vec<u8>) {
    let short = match byte {
        b'"' | b'\\' => byte,
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0c => b'f',
        _ => {
            // Writing to a vector cannot fail.
            let _ = write!(json, "\\u{byte:04x}");
            return;
        }
    };
    json.extend_from_slice(&[b'\\', short]);
}

macro_rules! plain {
    ($($method:ident $type:ty),*) => {
        $( fn $method(self, value: $type) -> Result<(), NotAShape> {
            // Writing to a vector cannot fail.
            let _ = write!(self.0, "{value}");
            Ok(())
        } )*
    };
}

impl<'v> Serializer for Value<'v> {
    type Ok = ();
    type Error = NotAShape;
    type SerializeSeq = Parts<'v>;
    type SerializeTuple = Impossible<(), NotAShape>;
    type SerializeTupleStruct = Impossible<(), NotAShape>;
    type SerializeTupleVariant = Impossible<(), NotAShape>;
    type SerializeMap = Parts<'v>;
    type SerializeStruct = Parts<'v>;
    type SerializeStructVariant = Impossible<(), NotAShape>;

    plain!(serialize_bool bool, serialize_i32 i32, serialize_i64 i64);
    not_in_the_model!();

    fn serialize_str(self, text: &str) -> Result<(), NotAShape> {
        write_text(text.as_bytes(), self.0);
        Ok(())
    }

    fn serialize_none(self) -> Result<(), NotAShape> {
        self.0.extend_from_slice(b"null");
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), NotAShape> {
        value.serialize(self)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Parts<'v>, NotAShape> {
        Ok(self.parts(b'[', b']'))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Parts<'v>, NotAShape> {
        Ok(self.parts(b'{', b'}'))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Parts<'v>, NotAShape> {
        Ok(self.parts(b'{', b'}'))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), NotAShape> {
        value.serialize(self)
    }
}

impl ser::SerializeSeq for Parts<'_> {
    type Ok = ();
    type Error = NotAShape;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NotAShape> {
        self.part(value)
    }

    fn end(self) -> Result<(), NotAShape> {
        self.json.push(self.end);
        Ok(())
    }
}

impl ser::SerializeMap for Parts<'_> {
    type Ok = ();
    type Error = NotAShape;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), NotAShape> {
        self.part(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NotAShape> {
        self.of_name(value)
    }

    fn end(self) -> Result<(), NotAShape> {
        self.json.push(self.end);
        Ok(())
    }
}

impl ser::SerializeStruct for Parts<'_> {
    type Ok = ();
    type Error = NotAShape;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        member: &'static str,
        value: &T,
    ) -> Result<(), NotAShape> {
        self.part(member)?;
        self.of_name(value)
    }

    fn end(self) -> Result<(), NotAShape> {
        self.json.push(self.end);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::write;
    use crate::operation::send_message_batch::SendMessageBatchInput;
    use crate::types::{MessageAttributeValue, SendMessageBatchRequestEntry};

    fn written(shape: &impl serde::Serialize) -> String {
        let mut json = Vec::new();
        write(shape, &mut json).expect("a shape");
        String::from_utf8(json).expect("text")
    }

    #[test]
    fn each_character_is_written_as_serde_json_writes_it_wherever_it_stands() {
        let characters = (0..=0x17f).chain([0x2028, 0x2029, 0xfffd, 0x1f600]).filter_map(char::from_u32);
        for character in characters {
            for before in [0, 1, 62, 63, 64, 127] {
                let text = format!("{}{character}{character}b", "a".repeat(before));
                assert_eq!(
                    written(&text),
                    serde_json::to_string(&text).unwrap(),
                    "{character:?} at {before}"
                );
            }
        }
    }

    proptest! {
        #[test]
        fn shapes_are_written_as_serde_json_writes_them(
            bodies in proptest::collection::vec("[ -~\\n\\t\"\\\\é]{0,200}", 0..4),
            delay in proptest::option::of(any::<i32>()),
            name in ".{0,80}",
            bytes in proptest::collection::vec(any::<u8>(), 0..80),
        ) {
            let entry = |body: String| {
                let mut entry = SendMessageBatchRequestEntry::default();
                entry.message_body = body;
                entry.delay_seconds = delay;
                let value = MessageAttributeValue::binary(bytes.clone());
                entry.message_attributes = Some(HashMap::from([(name.clone(), value)]));
                entry
            };
            let mut input = SendMessageBatchInput::default();
            input.entries = Some(bodies.into_iter().map(entry).collect());
            prop_assert_eq!(written(&input), serde_json::to_string(&input).unwrap());
        }
    }
}
