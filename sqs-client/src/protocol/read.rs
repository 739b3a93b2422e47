//! One deserializer for both flattened forms: it reads shapes from a tree of named nodes.

use std::fmt;

use serde::de::{self, DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer, Visitor};

use super::names::{WireName, wire_name};
use super::tree::Node;

/// Reads a shape, a struct of the model, out of the members below `node`.
pub(super) fn read<T: DeserializeOwned>(node: &Node<'_>) -> Result<T, BadShape> {
    T::deserialize(Value::of(&[node]))
}

/// The text does not have the shape that was asked for.
#[derive(Debug, PartialEq)]
pub(super) struct BadShape(String);

impl fmt::Display for BadShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadShape {}

impl de::Error for BadShape {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

/// All nodes that carry one member: several when XML repeats a list element.
struct Value<'n, 'a> {
    nodes: &'n [&'n Node<'a>],
    pair: (&'static str, &'static str),
}

impl<'n, 'a> Value<'n, 'a> {
    fn of(nodes: &'n [&'n Node<'a>]) -> Self {
        Self { nodes, pair: ("", "") }
    }

    fn text(&self) -> Result<&'n str, BadShape> {
        match self.nodes.first() {
            Some(node) if !node.members.is_empty() => {
                Err(BadShape("members where text is expected".to_owned()))
            }
            node => Ok(node.map_or("", |node| &node.text)),
        }
    }
}

macro_rules! parsed {
    ($($method:ident $visit:ident $type:ty, $what:literal;)*) => {
        $( fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, BadShape> {
            let text = self.text()?;
            let value = text.trim().parse::<$type>();
            visitor.$visit(value.map_err(|_| BadShape(format!(concat!("{:?} is not ", $what), text)))?)
        } )*
    };
}

impl<'de> Deserializer<'de> for Value<'_, '_> {
    type Error = BadShape;

    parsed! {
        deserialize_bool visit_bool bool, "true or false";
        deserialize_i32 visit_i32 i32, "a 32-bit integer";
        deserialize_i64 visit_i64 i64, "a 64-bit integer";
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, BadShape> {
        visitor.visit_str(self.text()?)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, BadShape> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, BadShape> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, BadShape> {
        visitor.visit_seq(Elements { rest: Node::elements(self.nodes).into_iter() })
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, BadShape> {
        visitor.visit_map(Entries {
            rest: Node::elements(self.nodes).into_iter(),
            pair: self.pair,
            current: None,
        })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        shape: &'static str,
        members: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, BadShape> {
        let node = self.nodes.first().copied();
        // White space between the elements of XML is not worth a word.
        if node.is_some_and(|node| node.members.is_empty() && !node.text.trim().is_empty()) {
            return Err(BadShape(format!("text where the members of {shape} are expected")));
        }
        visitor.visit_map(Members {
            node,
            shape,
            rest: members.iter(),
            found: Vec::new(),
            pair: ("", ""),
            taken: "",
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
    type Error = BadShape;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, BadShape> {
        let Some(node) = self.rest.next() else {
            return Ok(None);
        };
        seed.deserialize(Value::of(&[node])).map(Some)
    }
}

struct Entries<'n, 'a> {
    rest: std::vec::IntoIter<&'n Node<'a>>,
    pair: (&'static str, &'static str),
    current: Option<&'n Node<'a>>,
}

impl<'n, 'a> Entries<'n, 'a> {
    /// One half of the current entry, whose names clones also write in lower case.
    fn half(&self, name: &'static str) -> Option<&'n Node<'a>> {
        let entry = self.current?;
        let mut halves = entry.members.iter().filter(|(n, _)| n.eq_ignore_ascii_case(name));
        halves.next().map(|(_, node)| node)
    }
}

impl<'de> de::MapAccess<'de> for Entries<'_, '_> {
    type Error = BadShape;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, BadShape> {
        self.current = self.rest.next();
        if self.current.is_none() {
            return Ok(None);
        }
        let (key, value) = self.pair;
        let node = self.half(key).or_else(|| self.half("Key"));
        let node = node.ok_or_else(|| BadShape(format!("an entry needs {key} and {value}")))?;
        seed.deserialize(Value::of(&[node])).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, BadShape> {
        let empty = Node::default();
        let node = self.half(self.pair.1).unwrap_or(&empty);
        seed.deserialize(Value::of(&[node]))
    }
}

struct Members<'n, 'a> {
    node: Option<&'n Node<'a>>,
    shape: &'static str,
    rest: std::slice::Iter<'static, &'static str>,
    /// Nodes of the member whose value comes next, and what its entries are called.
    found: Vec<&'n Node<'a>>,
    pair: (&'static str, &'static str),
    /// Wire name that was read last: two members of a receive share one, and the first gets it.
    taken: &'static str,
}

impl<'n, 'a> Members<'n, 'a> {
    /// The nodes of a member, under its wire name or under the name of the model, which some clients use.
    fn find(&mut self, node: &'n Node<'a>, name: &'static str, member: &str) -> Vec<&'n Node<'a>> {
        if self.taken != name {
            let found: Vec<_> = node.children(name).collect();
            if !found.is_empty() {
                self.taken = name;
                return found;
            }
        }
        if name == member {
            return Vec::new();
        }
        // An empty text is how botocore says that a list is empty.
        node.children(member).filter(|node| !node.is_empty()).collect()
    }
}

impl<'de> de::MapAccess<'de> for Members<'_, '_> {
    type Error = BadShape;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, BadShape> {
        let Some(node) = self.node else { return Ok(None) };
        while let Some(member) = self.rest.next().copied() {
            let WireName { name, pair } = wire_name(self.shape, member);
            self.found = self.find(node, name, member);
            if !self.found.is_empty() {
                self.pair = pair;
                return seed.deserialize(member.into_deserializer()).map(Some);
            }
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, BadShape> {
        seed.deserialize(Value { nodes: &self.found, pair: self.pair })
    }
}
