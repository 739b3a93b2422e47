//! Writes shapes as JSON.
//!
//! The bytes are those of `serde_json`, which takes longer for texts.

mod text;

use std::io::Write as _;

use serde::ser::{self, Impossible, Serialize, Serializer};

use self::text::write_text;
use super::not_a_shape::{NotAShape, not_in_the_model};

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
mod tests;
