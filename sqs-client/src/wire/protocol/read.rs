//! Deserializes shapes from a tree of named nodes, for both forms and XML.

use std::fmt;

use serde::de::{self, DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer, Visitor};

use super::names::{WireName, wire_name};
use super::tree::Node;

/// Reads a shape from the members of `node`.
pub(super) fn read<T: DeserializeOwned>(node: &Node<'_>) -> Result<T, ShapeError> {
    T::deserialize(Value::of(&[node]))
}

/// The tree does not match the shape.
#[derive(Debug, PartialEq)]
pub(super) struct ShapeError(String);

impl fmt::Display for ShapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ShapeError {}

impl de::Error for ShapeError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

/// The nodes of one member. XML repeats the node for each list element.
struct Value<'n, 'a> {
    nodes: &'n [&'n Node<'a>],
    /// Names of key and value in a map entry.
    key_value: (&'static str, &'static str),
}

impl<'n, 'a> Value<'n, 'a> {
    fn of(nodes: &'n [&'n Node<'a>]) -> Self {
        Self { nodes, key_value: ("", "") }
    }

    fn text(&self) -> Result<&'n str, ShapeError> {
        match self.nodes.first() {
            Some(node) if !node.members.is_empty() => {
                Err(ShapeError("expected text, found members".to_owned()))
            }
            node => Ok(node.map_or("", |node| &node.text)),
        }
    }
}

macro_rules! parsed {
    ($($method:ident $visit:ident $type:ty, $what:literal;)*) => {
        $( fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ShapeError> {
            let text = self.text()?;
            let value = text.trim().parse::<$type>();
            visitor.$visit(value.map_err(|_| ShapeError(format!(concat!("{:?} is not ", $what), text)))?)
        } )*
    };
}

impl<'de> Deserializer<'de> for Value<'_, '_> {
    type Error = ShapeError;

    parsed! {
        deserialize_bool visit_bool bool, "true or false";
        deserialize_i32 visit_i32 i32, "a 32-bit integer";
        deserialize_i64 visit_i64 i64, "a 64-bit integer";
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ShapeError> {
        visitor.visit_str(self.text()?)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ShapeError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, ShapeError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ShapeError> {
        visitor.visit_seq(Elements { rest: Node::elements(self.nodes).into_iter() })
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ShapeError> {
        visitor.visit_map(Entries {
            rest: Node::elements(self.nodes).into_iter(),
            key_value: self.key_value,
            current: None,
        })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        shape: &'static str,
        members: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ShapeError> {
        let node = self.nodes.first().copied();
        // XML may have white space between elements.
        if node.is_some_and(|node| node.members.is_empty() && !node.text.trim().is_empty()) {
            return Err(ShapeError(format!("expected the members of {shape}, found text")));
        }
        visitor.visit_map(Members {
            node,
            shape,
            rest: members.iter(),
            found: Vec::new(),
            key_value: ("", ""),
            consumed: "",
        })
    }

    serde::forward_to_deserialize_any! {
        i8 i16 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf unit unit_struct tuple tuple_struct
        enum identifier ignored_any
    }
}

struct Elements<'n, 'a> {
    rest: std::vec::IntoIter<&'n Node<'a>>,
}

impl<'de> de::SeqAccess<'de> for Elements<'_, '_> {
    type Error = ShapeError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, ShapeError> {
        let Some(node) = self.rest.next() else {
            return Ok(None);
        };
        seed.deserialize(Value::of(&[node])).map(Some)
    }
}

struct Entries<'n, 'a> {
    rest: std::vec::IntoIter<&'n Node<'a>>,
    key_value: (&'static str, &'static str),
    current: Option<&'n Node<'a>>,
}

impl<'n, 'a> Entries<'n, 'a> {
    /// The key or the value of the current entry. Some compatible services write the names in lower case.
    fn member(&self, name: &'static str) -> Option<&'n Node<'a>> {
        let entry = self.current?;
        let mut members = entry.members.iter().filter(|(n, _)| n.eq_ignore_ascii_case(name));
        members.next().map(|(_, node)| node)
    }
}

impl<'de> de::MapAccess<'de> for Entries<'_, '_> {
    type Error = ShapeError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, ShapeError> {
        self.current = self.rest.next();
        if self.current.is_none() {
            return Ok(None);
        }
        let (key, value) = self.key_value;
        let node = self.member(key).or_else(|| self.member("Key"));
        let node = node.ok_or_else(|| ShapeError(format!("a map entry requires {key} and {value}")))?;
        seed.deserialize(Value::of(&[node])).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, ShapeError> {
        let empty = Node::default();
        let node = self.member(self.key_value.1).unwrap_or(&empty);
        seed.deserialize(Value::of(&[node]))
    }
}

struct Members<'n, 'a> {
    node: Option<&'n Node<'a>>,
    shape: &'static str,
    rest: std::slice::Iter<'static, &'static str>,
    /// Nodes of the member whose value is read next.
    found: Vec<&'n Node<'a>>,
    key_value: (&'static str, &'static str),
    /// Wire name of the previous member. Two members of `ReceiveMessageInput` share one; the first gets the values.
    consumed: &'static str,
}

impl<'n, 'a> Members<'n, 'a> {
    /// The nodes of a member, by its wire name or by its model name, which some clients use.
    fn find(&mut self, node: &'n Node<'a>, name: &'static str, member: &str) -> Vec<&'n Node<'a>> {
        if self.consumed != name {
            let found: Vec<_> = node.children(name).collect();
            if !found.is_empty() {
                self.consumed = name;
                return found;
            }
        }
        if name == member {
            return Vec::new();
        }
        // botocore sends an empty list as empty text.
        node.children(member).filter(|node| !node.is_empty()).collect()
    }
}

impl<'de> de::MapAccess<'de> for Members<'_, '_> {
    type Error = ShapeError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, ShapeError> {
        let Some(node) = self.node else { return Ok(None) };
        while let Some(member) = self.rest.next().copied() {
            let WireName { name, key_value } = wire_name(self.shape, member);
            self.found = self.find(node, name, member);
            if !self.found.is_empty() {
                self.key_value = key_value;
                return seed.deserialize(member.into_deserializer()).map(Some);
            }
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, ShapeError> {
        seed.deserialize(Value { nodes: &self.found, key_value: self.key_value })
    }
}
