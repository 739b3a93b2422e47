//! Writes shapes as JSON. The output equals that of `serde_json`; long strings are faster.

mod text;

use std::io::Write as _;

use serde::ser::{self, Impossible, Serialize, Serializer};

use self::text::write_text;
use super::unsupported::{UnsupportedType, unsupported_types};

/// Appends `shape` to `json`.
pub(super) fn write(shape: &impl Serialize, json: &mut Vec<u8>) -> Result<(), UnsupportedType> {
    shape.serialize(Value(json))
}

/// Writes one value.
struct Value<'v>(&'v mut Vec<u8>);

/// Writes the elements of a list or the members of an object.
struct Collection<'v> {
    json: &'v mut Vec<u8>,
    end: u8,
    is_empty: bool,
}

impl<'v> Value<'v> {
    fn collection(self, begin: u8, end: u8) -> Collection<'v> {
        self.0.push(begin);
        Collection { json: self.0, end, is_empty: true }
    }
}

impl Collection<'_> {
    fn element(&mut self, value: &(impl Serialize + ?Sized)) -> Result<(), UnsupportedType> {
        if !std::mem::take(&mut self.is_empty) {
            self.json.push(b',');
        }
        value.serialize(Value(self.json))
    }

    fn member_value(&mut self, value: &(impl Serialize + ?Sized)) -> Result<(), UnsupportedType> {
        self.json.push(b':');
        value.serialize(Value(self.json))
    }
}

macro_rules! plain {
    ($($method:ident $type:ty),*) => {
        $( fn $method(self, value: $type) -> Result<(), UnsupportedType> {
            // Writing to a vector cannot fail.
            let _ = write!(self.0, "{value}");
            Ok(())
        } )*
    };
}

impl<'v> Serializer for Value<'v> {
    type Ok = ();
    type Error = UnsupportedType;
    type SerializeSeq = Collection<'v>;
    type SerializeTuple = Impossible<(), UnsupportedType>;
    type SerializeTupleStruct = Impossible<(), UnsupportedType>;
    type SerializeTupleVariant = Impossible<(), UnsupportedType>;
    type SerializeMap = Collection<'v>;
    type SerializeStruct = Collection<'v>;
    type SerializeStructVariant = Impossible<(), UnsupportedType>;

    plain!(serialize_bool bool, serialize_i32 i32, serialize_i64 i64);
    unsupported_types!();

    fn serialize_str(self, text: &str) -> Result<(), UnsupportedType> {
        write_text(text.as_bytes(), self.0);
        Ok(())
    }

    fn serialize_none(self) -> Result<(), UnsupportedType> {
        self.0.extend_from_slice(b"null");
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), UnsupportedType> {
        value.serialize(self)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Collection<'v>, UnsupportedType> {
        Ok(self.collection(b'[', b']'))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Collection<'v>, UnsupportedType> {
        Ok(self.collection(b'{', b'}'))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Collection<'v>, UnsupportedType> {
        Ok(self.collection(b'{', b'}'))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), UnsupportedType> {
        value.serialize(self)
    }
}

impl ser::SerializeSeq for Collection<'_> {
    type Ok = ();
    type Error = UnsupportedType;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), UnsupportedType> {
        self.element(value)
    }

    fn end(self) -> Result<(), UnsupportedType> {
        self.json.push(self.end);
        Ok(())
    }
}

impl ser::SerializeMap for Collection<'_> {
    type Ok = ();
    type Error = UnsupportedType;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), UnsupportedType> {
        self.element(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), UnsupportedType> {
        self.member_value(value)
    }

    fn end(self) -> Result<(), UnsupportedType> {
        self.json.push(self.end);
        Ok(())
    }
}

impl ser::SerializeStruct for Collection<'_> {
    type Ok = ();
    type Error = UnsupportedType;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        member: &'static str,
        value: &T,
    ) -> Result<(), UnsupportedType> {
        self.element(member)?;
        self.member_value(value)
    }

    fn end(self) -> Result<(), UnsupportedType> {
        self.json.push(self.end);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
