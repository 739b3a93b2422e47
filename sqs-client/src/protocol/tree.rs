//! One deserializer for both flattened forms: parsers make a tree of named nodes, shapes are read from it.

use std::borrow::Cow;
use std::fmt;

use serde::de::{self, DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer, Visitor};

use super::names::{WireName, wire_name};

/// An XML element, or all form parameters under one prefix.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Node<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) children: Vec<(Cow<'a, str>, Node<'a>)>,
}

impl<'a> Node<'a> {
    /// The first child of that name.
    pub(super) fn child(&self, name: &str) -> Option<&Node<'a>> {
        self.children.iter().find(|(n, _)| n == name).map(|(_, node)| node)
    }

    /// Reads a shape out of the members below this node.
    pub(super) fn read<T: DeserializeOwned>(&self) -> Result<T, BadShape> {
        T::deserialize(Value { nodes: &[self], pair: ("", "") })
    }

    /// Elements of the list or map that these nodes are.
    ///
    /// XML repeats the element. A form numbers it (`X.1`, `X.2`; numbers need not be dense), and servers of the
    /// field also take the unflattened `X.member.1` and `X.entry.1`, and a single value without a number.
    fn elements<'n>(nodes: &[&'n Node<'a>]) -> Vec<&'n Node<'a>> {
        let [node] = nodes else { return nodes.to_vec() };
        if let [(name, inner)] = node.children.as_slice()
            && (name == "member" || name == "entry")
        {
            return Self::elements(&[inner]);
        }
        let mut numbered: Vec<(u32, &Node<'a>)> =
            node.children.iter().filter_map(|(name, child)| Some((name.parse().ok()?, child))).collect();
        if numbered.is_empty() {
            return nodes.to_vec();
        }
        numbered.sort_by_key(|(number, _)| *number);
        numbered.into_iter().map(|(_, child)| child).collect()
    }
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

impl<'n> Value<'n, '_> {
    fn text(&self) -> &'n str {
        self.nodes.first().map_or("", |node| &node.text)
    }
}

macro_rules! parsed {
    ($($method:ident $visit:ident $type:ty, $what:literal;)*) => {
        $( fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, BadShape> {
            let text = self.text();
            let value = text.trim().parse::<$type>();
            visitor.$visit(value.map_err(|_| BadShape(format!("{text:?} is not {}", $what)))?)
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
        visitor.visit_str(self.text())
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, BadShape> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, BadShape> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, BadShape> {
        visitor.visit_seq(Elements { elements: Node::elements(self.nodes).into_iter() })
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, BadShape> {
        visitor.visit_map(Entries {
            entries: Node::elements(self.nodes).into_iter(),
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
        visitor.visit_map(Members { node, shape, members: members.iter(), found: Vec::new(), taken: Vec::new(), pair: ("", "") })
    }

    serde::forward_to_deserialize_any! {
        i8 i16 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf unit unit_struct tuple tuple_struct
        enum identifier ignored_any
    }
}

struct Elements<'n, 'a> {
    elements: std::vec::IntoIter<&'n Node<'a>>,
}

impl<'de> de::SeqAccess<'de> for Elements<'_, '_> {
    type Error = BadShape;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, BadShape> {
        let Some(node) = self.elements.next() else { return Ok(None) };
        seed.deserialize(Value { nodes: &[node], pair: ("", "") }).map(Some)
    }
}

struct Entries<'n, 'a> {
    entries: std::vec::IntoIter<&'n Node<'a>>,
    pair: (&'static str, &'static str),
    current: Option<&'n Node<'a>>,
}

impl<'n, 'a> Entries<'n, 'a> {
    /// One half of the current entry, whose names clones also write in lower case.
    fn half(&self, name: &'static str) -> Option<&'n Node<'a>> {
        let entry = self.current?;
        entry.children.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, node)| node)
    }
}

impl<'de> de::MapAccess<'de> for Entries<'_, '_> {
    type Error = BadShape;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, BadShape> {
        self.current = self.entries.next();
        if self.current.is_none() {
            return Ok(None);
        }
        let (key, value) = self.pair;
        let node = self.half(key).or_else(|| self.half("Key"));
        let node = node.ok_or_else(|| BadShape(format!("an entry needs {key} and {value}")))?;
        seed.deserialize(Value { nodes: &[node], pair: ("", "") }).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, BadShape> {
        let empty = Node::default();
        let node = self.half(self.pair.1).unwrap_or(&empty);
        seed.deserialize(Value { nodes: &[node], pair: ("", "") })
    }
}

struct Members<'n, 'a> {
    node: Option<&'n Node<'a>>,
    shape: &'static str,
    members: std::slice::Iter<'static, &'static str>,
    /// Nodes of the member whose value comes next.
    found: Vec<&'n Node<'a>>,
    /// Wire names already given to a member: two members of a receive share one, and the first gets it.
    taken: Vec<&'static str>,
    pair: (&'static str, &'static str),
}

impl<'de> de::MapAccess<'de> for Members<'_, '_> {
    type Error = BadShape;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, BadShape> {
        let Some(node) = self.node else { return Ok(None) };
        for member in self.members.by_ref().copied() {
            let WireName { name, pair } = wire_name(self.shape, member);
            let matching = |wanted: &str| -> Vec<_> {
                node.children.iter().filter(|(n, _)| n == wanted).map(|(_, child)| child).collect()
            };
            self.found = if self.taken.contains(&name) { Vec::new() } else { matching(name) };
            if self.found.is_empty() && name != member {
                self.found = matching(member);
            } else {
                self.taken.push(name);
            }
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
