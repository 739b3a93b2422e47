//! Serializes shapes to a sink, for both forms and XML.

use serde::ser::{self, Impossible, Serialize, Serializer};

use super::names::{WireName, wire_name};
use super::unsupported::{UnsupportedType, unsupported_types};

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
