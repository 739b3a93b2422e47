//! Shapes as members of the Query protocol, in forms and XML: names that differ from AWS JSON, a serializer (`walk`), the tree of
//! what was received (`Node`), and its deserializer (`read`).

use std::borrow::Cow;
use std::fmt;

use serde::de::{self, DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer, Visitor};
use serde::ser::{self, Impossible, Serialize, Serializer};

/// The serializer methods for types that no shape contains.
macro_rules! unsupported_types {
    () => {
        unsupported_types! {
            serialize_i8(i8) -> ();
            serialize_i16(i16) -> ();
            serialize_u8(u8) -> ();
            serialize_u16(u16) -> ();
            serialize_u32(u32) -> ();
            serialize_u64(u64) -> ();
            serialize_f32(f32) -> ();
            serialize_f64(f64) -> ();
            serialize_char(char) -> ();
            serialize_bytes(&[u8]) -> ();
            serialize_unit() -> ();
            serialize_unit_struct(&'static str) -> ();
            serialize_unit_variant(&'static str, u32, &'static str) -> ();
            serialize_tuple(usize) -> Self::SerializeTuple;
            serialize_tuple_struct(&'static str, usize) -> Self::SerializeTupleStruct;
            serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Self::SerializeTupleVariant;
            serialize_struct_variant(&'static str, u32, &'static str, usize) -> Self::SerializeStructVariant;
        }

        fn serialize_newtype_variant<T: serde::Serialize + ?Sized>(
            self,
            _: &'static str,
            _: u32,
            _: &'static str,
            _: &T,
        ) -> Result<(), UnsupportedType> {
            Err(UnsupportedType::new("serialize_newtype_variant"))
        }
    };
    ($($method:ident($($arg:ty),*) -> $ok:ty;)*) => {
        $( fn $method(self, $(_: $arg),*) -> Result<$ok, UnsupportedType> {
            Err(UnsupportedType::new(stringify!($method)))
        } )*
    };
}

pub(super) use unsupported_types;

/// Writes members. The form sink keeps a path of names; the XML sink writes elements.
pub(super) trait Sink {
    /// Begins a member. List elements and map entries have a number, from 1.
    fn enter(&mut self, name: &str, index: Option<usize>);
    /// Writes the text of a member.
    fn text(&mut self, text: &str);
    /// Ends the current member.
    fn leave(&mut self, name: &str);
}

/// Serializes `shape` to `sink`.
pub(super) fn walk(shape: &impl Serialize, sink: &mut impl Sink) -> Result<(), UnsupportedType> {
    shape.serialize(ValueSerializer { state: &mut State { sink, last_list: ("", 0) }, member: None })
}

/// State of the serialization of one shape.
struct State<'s, S> {
    sink: &'s mut S,
    /// Name and length of the latest list. Two lists of `ReceiveMessageInput` share one name; the second continues the
    /// numbering of the first.
    last_list: (&'static str, usize),
}

/// The name and number of a member.
#[derive(Clone, Copy)]
struct Member {
    wire: WireName,
    index: Option<usize>,
}

/// Serializes one value.
struct ValueSerializer<'w, 's, S> {
    state: &'w mut State<'s, S>,
    /// `None` for the outermost struct, which has no name.
    member: Option<Member>,
}

impl<S: Sink> ValueSerializer<'_, '_, S> {
    fn leaf(self, text: &str) {
        if let Some(Member { wire, index }) = self.member {
            self.state.sink.enter(wire.name, index);
            self.state.sink.text(text);
            self.state.sink.leave(wire.name);
        }
    }
}

macro_rules! leaves {
    ($($method:ident $type:ty),*) => {
        $( fn $method(self, value: $type) -> Result<(), UnsupportedType> {
            self.leaf(&value.to_string());
            Ok(())
        } )*
    };
}

impl<'w, 's, S: Sink> Serializer for ValueSerializer<'w, 's, S> {
    type Ok = ();
    type Error = UnsupportedType;
    type SerializeSeq = List<'w, 's, S>;
    type SerializeTuple = Impossible<(), UnsupportedType>;
    type SerializeTupleStruct = Impossible<(), UnsupportedType>;
    type SerializeTupleVariant = Impossible<(), UnsupportedType>;
    type SerializeMap = Map<'w, 's, S>;
    type SerializeStruct = Struct<'w, 's, S>;
    type SerializeStructVariant = Impossible<(), UnsupportedType>;

    leaves!(serialize_bool bool, serialize_i32 i32, serialize_i64 i64);

    fn serialize_str(self, value: &str) -> Result<(), UnsupportedType> {
        self.leaf(value);
        Ok(())
    }

    fn serialize_none(self) -> Result<(), UnsupportedType> {
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), UnsupportedType> {
        value.serialize(self)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<List<'w, 's, S>, UnsupportedType> {
        let wire = self.member.map(|member| member.wire).unwrap_or_default();
        if self.state.last_list.0 != wire.name {
            self.state.last_list = (wire.name, 0);
        }
        let count = self.state.last_list.1;
        Ok(List { state: self.state, wire, count })
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Map<'w, 's, S>, UnsupportedType> {
        let wire = self.member.map(|member| member.wire).unwrap_or_default();
        Ok(Map { state: self.state, wire, count: 0 })
    }

    fn serialize_struct(self, shape: &'static str, _: usize) -> Result<Struct<'w, 's, S>, UnsupportedType> {
        if let Some(Member { wire, index }) = self.member {
            self.state.sink.enter(wire.name, index);
        }
        // Lists in different structs are numbered separately.
        self.state.last_list = ("", 0);
        Ok(Struct { state: self.state, member: self.member, shape })
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), UnsupportedType> {
        value.serialize(self)
    }

    unsupported_types!();
}

/// Serializes a list: one numbered member per element.
struct List<'w, 's, S> {
    state: &'w mut State<'s, S>,
    wire: WireName,
    count: usize,
}

impl<S: Sink> ser::SerializeSeq for List<'_, '_, S> {
    type Ok = ();
    type Error = UnsupportedType;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), UnsupportedType> {
        self.count += 1;
        value.serialize(ValueSerializer {
            state: self.state,
            member: Some(Member { wire: self.wire, index: Some(self.count) }),
        })
    }

    fn end(self) -> Result<(), UnsupportedType> {
        self.state.last_list = (self.wire.name, self.count);
        Ok(())
    }
}

/// Serializes a map: one numbered member per entry, with key and value.
struct Map<'w, 's, S> {
    state: &'w mut State<'s, S>,
    wire: WireName,
    count: usize,
}

impl<S: Sink> Map<'_, '_, S> {
    fn member<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), UnsupportedType> {
        let member = Member { wire: WireName { name, ..WireName::default() }, index: None };
        value.serialize(ValueSerializer { state: self.state, member: Some(member) })
    }
}

impl<S: Sink> ser::SerializeMap for Map<'_, '_, S> {
    type Ok = ();
    type Error = UnsupportedType;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), UnsupportedType> {
        self.count += 1;
        self.state.sink.enter(self.wire.name, Some(self.count));
        self.member(self.wire.key_value.0, key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), UnsupportedType> {
        self.member(self.wire.key_value.1, value)?;
        self.state.sink.leave(self.wire.name);
        Ok(())
    }

    fn end(self) -> Result<(), UnsupportedType> {
        Ok(())
    }
}

/// Serializes the members of a struct.
struct Struct<'w, 's, S> {
    state: &'w mut State<'s, S>,
    member: Option<Member>,
    shape: &'static str,
}

impl<S: Sink> ser::SerializeStruct for Struct<'_, '_, S> {
    type Ok = ();
    type Error = UnsupportedType;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        member: &'static str,
        value: &T,
    ) -> Result<(), UnsupportedType> {
        let wire = wire_name(self.shape, member);
        value.serialize(ValueSerializer { state: self.state, member: Some(Member { wire, index: None }) })
    }

    fn end(self) -> Result<(), UnsupportedType> {
        if let Some(Member { wire, .. }) = self.member {
            self.state.sink.leave(wire.name);
        }
        Ok(())
    }
}

/// A serializer got a type that no shape contains.
#[derive(Debug)]
pub(super) struct UnsupportedType(String);

impl UnsupportedType {
    pub(super) fn new(method: &str) -> Self {
        Self(format!("{method} is not supported: no shape contains this type"))
    }
}

impl fmt::Display for UnsupportedType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UnsupportedType {}

impl ser::Error for UnsupportedType {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

/// The names of a member in forms and XML.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct WireName {
    pub(super) name: &'static str,
    /// Names of key and value in a map entry.
    pub(super) key_value: (&'static str, &'static str),
}

/// Lists and maps are *flattened*: XML repeats the singular name of a list, a form numbers it. A map is a list of key and value
/// pairs. The service model defines the names below; all other members keep their JSON names.
const NAME_VALUE: (&str, &str) = ("Name", "Value");
const KEY_VALUE: (&str, &str) = ("Key", "Value");

/// The names of `member` of `shape`.
fn wire_name(shape: &str, member: &'static str) -> WireName {
    let (name, key_value) = match (shape, member) {
        (
            "CreateQueueInput" | "SetQueueAttributesInput" | "GetQueueAttributesOutput" | "Message",
            "Attributes",
        ) => ("Attribute", NAME_VALUE),
        ("CreateQueueInput", "tags") | ("TagQueueInput" | "ListQueueTagsOutput", "Tags") => {
            ("Tag", KEY_VALUE)
        }
        ("UntagQueueInput", "TagKeys") => ("TagKey", KEY_VALUE),
        ("GetQueueAttributesInput" | "ReceiveMessageInput", "AttributeNames")
        | ("ReceiveMessageInput", "MessageSystemAttributeNames") => ("AttributeName", NAME_VALUE),
        ("ReceiveMessageInput", "MessageAttributeNames") => ("MessageAttributeName", NAME_VALUE),
        ("SendMessageInput" | "SendMessageBatchRequestEntry" | "Message", "MessageAttributes") => {
            ("MessageAttribute", NAME_VALUE)
        }
        ("SendMessageInput" | "SendMessageBatchRequestEntry", "MessageSystemAttributes") => {
            ("MessageSystemAttribute", NAME_VALUE)
        }
        ("MessageAttributeValue" | "MessageSystemAttributeValue", "StringListValues") => {
            ("StringListValue", NAME_VALUE)
        }
        ("MessageAttributeValue" | "MessageSystemAttributeValue", "BinaryListValues") => {
            ("BinaryListValue", NAME_VALUE)
        }
        ("AddPermissionInput", "AWSAccountIds") => ("AWSAccountId", NAME_VALUE),
        ("AddPermissionInput", "Actions") => ("ActionName", NAME_VALUE),
        ("SendMessageBatchInput", "Entries") => ("SendMessageBatchRequestEntry", NAME_VALUE),
        ("DeleteMessageBatchInput", "Entries") => ("DeleteMessageBatchRequestEntry", NAME_VALUE),
        ("ChangeMessageVisibilityBatchInput", "Entries") => {
            ("ChangeMessageVisibilityBatchRequestEntry", NAME_VALUE)
        }
        ("ListQueuesOutput", "QueueUrls") | ("ListDeadLetterSourceQueuesOutput", "queueUrls") => {
            ("QueueUrl", NAME_VALUE)
        }
        ("ReceiveMessageOutput", "Messages") => ("Message", NAME_VALUE),
        ("SendMessageBatchOutput", "Successful") => ("SendMessageBatchResultEntry", NAME_VALUE),
        ("DeleteMessageBatchOutput", "Successful") => ("DeleteMessageBatchResultEntry", NAME_VALUE),
        ("ChangeMessageVisibilityBatchOutput", "Successful") => {
            ("ChangeMessageVisibilityBatchResultEntry", NAME_VALUE)
        }
        (
            "SendMessageBatchOutput" | "DeleteMessageBatchOutput" | "ChangeMessageVisibilityBatchOutput",
            "Failed",
        ) => ("BatchResultErrorEntry", NAME_VALUE),
        ("ListMessageMoveTasksOutput", "Results") => ("ListMessageMoveTasksResultEntry", NAME_VALUE),
        (_, member) => (member, NAME_VALUE),
    };
    WireName { name, key_value }
}

/// An XML element, or all form parameters with the same prefix.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Node<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) members: Vec<(Cow<'a, str>, Node<'a>)>,
}

impl<'a> Node<'a> {
    /// The first member with this name.
    pub(super) fn child(&self, name: &str) -> Option<&Node<'a>> {
        self.children(name).next()
    }

    /// All members with this name.
    pub(super) fn children<'n>(&'n self, name: &str) -> impl Iterator<Item = &'n Node<'a>> {
        self.members.iter().filter(move |(n, _)| n == name).map(|(_, node)| node)
    }

    /// The elements of a list or map.
    ///
    /// XML repeats the element. A form numbers it: `X.1`, `X.2`, gaps are allowed. Also accepts the unflattened `X.member.1`
    /// and `X.entry.1` and a single value without a number, as other SQS-compatible servers do.
    pub(super) fn elements<'n>(nodes: &[&'n Node<'a>]) -> Vec<&'n Node<'a>> {
        let [node] = nodes else { return nodes.to_vec() };
        if let [(name, inner)] = node.members.as_slice()
            && (name == "member" || name == "entry")
        {
            return Self::elements(&[inner]);
        }
        let mut numbered: Vec<(u64, &Node<'a>)> =
            node.members.iter().filter_map(|(name, child)| Some((name.parse().ok()?, child))).collect();
        if numbered.is_empty() {
            return nodes.to_vec();
        }
        numbered.sort_by_key(|(number, _)| *number);
        numbered.into_iter().map(|(_, child)| child).collect()
    }

    /// Whether the node has neither text nor members.
    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty() && self.members.is_empty()
    }
}

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
