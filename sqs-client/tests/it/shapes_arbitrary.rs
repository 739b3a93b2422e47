//! Generates arbitrary values of any shape from bytes.
//!
//! The generator is a serde deserializer, which learns the members from the shape. It covers new members and shapes
//! automatically. The bytes determine all choices. After the last byte, everything is absent or empty, so proptest shrinks a
//! value by shrinking its bytes.

use serde::de::value::StrDeserializer;
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::shapes_choices::Choices;

type Error = serde::de::value::Error;

/// Generates a value of the shape `T`.
pub(crate) fn arbitrary<T: DeserializeOwned>(choices: &mut Choices<'_>) -> T {
    T::deserialize(ValueGenerator { choices, member: "" }).unwrap()
}

/// Generates one value. The name of the member distinguishes binary values from text.
struct ValueGenerator<'c, 'b> {
    choices: &'c mut Choices<'b>,
    member: &'static str,
}

impl<'de> Deserializer<'de> for ValueGenerator<'_, '_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_string(match self.member {
            "BinaryValue" | "BinaryListValues" => self.choices.base64(),
            _ => self.choices.text(),
        })
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_bool(self.choices.below(2) == 1)
    }

    fn deserialize_i32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_i64(self.choices.integer(&[0, i32::MAX.into(), i32::MIN.into()]))
    }

    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_i64(self.choices.integer(&[0, i64::MAX, i64::MIN]))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let left = self.choices.below(4);
        visitor.visit_seq(Elements { generator: self, left })
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let left = self.choices.below(4);
        visitor.visit_map(Elements { generator: self, left })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        shape: &'static str,
        members: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_map(Members { choices: self.choices, shape, rest: members.iter(), current: "" })
    }

    serde::forward_to_deserialize_any! {
        i8 i16 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf unit unit_struct newtype_struct tuple
        tuple_struct enum identifier ignored_any
    }
}

/// Generates the elements of a list or the entries of a map.
struct Elements<'c, 'b> {
    generator: ValueGenerator<'c, 'b>,
    left: u8,
}

impl<'b> Elements<'_, 'b> {
    fn generator(&mut self) -> ValueGenerator<'_, 'b> {
        ValueGenerator { choices: self.generator.choices, member: self.generator.member }
    }
}

impl<'de> SeqAccess<'de> for Elements<'_, '_> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        let Some(left) = self.left.checked_sub(1) else {
            return Ok(None);
        };
        self.left = left;
        seed.deserialize(self.generator()).map(Some)
    }
}

impl<'de> MapAccess<'de> for Elements<'_, '_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        self.next_element_seed(seed)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        seed.deserialize(self.generator())
    }
}

struct Members<'c, 'b> {
    choices: &'c mut Choices<'b>,
    shape: &'static str,
    rest: std::slice::Iter<'static, &'static str>,
    current: &'static str,
}

impl<'de> MapAccess<'de> for Members<'_, '_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        while let Some(member) = self.rest.next().copied() {
            self.choices.possible.insert((self.shape, member));
            if self.choices.below(4) != 0 {
                self.choices.generated.insert((self.shape, member));
                self.current = member;
                return seed.deserialize(StrDeserializer::<Error>::new(member)).map(Some);
            }
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        seed.deserialize(ValueGenerator { choices: self.choices, member: self.current })
    }
}
