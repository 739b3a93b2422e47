//! One serializer for both flattened forms: it walks a shape and tells a sink what it meets.

use serde::ser::{self, Impossible, Serialize, Serializer};

use super::names::{WireName, wire_name};
use super::not_a_shape::{NotAShape, not_in_the_model};

/// Writes members of a flattened form: a form sink keeps a path, an XML sink opens elements.
pub(super) trait Sink {
    /// A member begins; list elements and map entries carry their number, from 1.
    fn enter(&mut self, name: &str, index: Option<usize>);
    /// The text of a member.
    fn text(&mut self, text: &str);
    /// The member that was entered last ends.
    fn leave(&mut self, name: &str);
}

/// Serializes `shape`, a struct of the model, into `sink`.
pub(super) fn walk(shape: &impl Serialize, sink: &mut impl Sink) -> Result<(), NotAShape> {
    shape.serialize(Place { walk: &mut Walk { sink, last_list: ("", 0) }, at: None })
}

/// What all places of one shape share.
struct Walk<'s, S> {
    sink: &'s mut S,
    /// Name of the latest list and how many elements it has: two members of a receive share one name, and
    /// the second goes on counting where the first stopped.
    last_list: (&'static str, usize),
}

/// Where the next value goes.
#[derive(Clone, Copy)]
struct At {
    wire: WireName,
    index: Option<usize>,
}

/// A serializer of one value.
struct Place<'w, 's, S> {
    walk: &'w mut Walk<'s, S>,
    /// `None` for the outermost struct, which has no name of its own.
    at: Option<At>,
}

impl<S: Sink> Place<'_, '_, S> {
    fn leaf(self, text: &str) {
        if let Some(At { wire, index }) = self.at {
            self.walk.sink.enter(wire.name, index);
            self.walk.sink.text(text);
            self.walk.sink.leave(wire.name);
        }
    }
}

macro_rules! leaves {
    ($($method:ident $type:ty),*) => {
        $( fn $method(self, value: $type) -> Result<(), NotAShape> {
            self.leaf(&value.to_string());
            Ok(())
        } )*
    };
}

impl<'w, 's, S: Sink> Serializer for Place<'w, 's, S> {
    type Ok = ();
    type Error = NotAShape;
    type SerializeSeq = List<'w, 's, S>;
    type SerializeTuple = Impossible<(), NotAShape>;
    type SerializeTupleStruct = Impossible<(), NotAShape>;
    type SerializeTupleVariant = Impossible<(), NotAShape>;
    type SerializeMap = Map<'w, 's, S>;
    type SerializeStruct = Struct<'w, 's, S>;
    type SerializeStructVariant = Impossible<(), NotAShape>;

    leaves!(serialize_bool bool, serialize_i32 i32, serialize_i64 i64);

    fn serialize_str(self, value: &str) -> Result<(), NotAShape> {
        self.leaf(value);
        Ok(())
    }

    fn serialize_none(self) -> Result<(), NotAShape> {
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), NotAShape> {
        value.serialize(self)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<List<'w, 's, S>, NotAShape> {
        let wire = self.at.map(|at| at.wire).unwrap_or_default();
        if self.walk.last_list.0 != wire.name {
            self.walk.last_list = (wire.name, 0);
        }
        let count = self.walk.last_list.1;
        Ok(List { walk: self.walk, wire, count })
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Map<'w, 's, S>, NotAShape> {
        let wire = self.at.map(|at| at.wire).unwrap_or_default();
        Ok(Map { walk: self.walk, wire, count: 0 })
    }

    fn serialize_struct(self, shape: &'static str, _: usize) -> Result<Struct<'w, 's, S>, NotAShape> {
        if let Some(At { wire, index }) = self.at {
            self.walk.sink.enter(wire.name, index);
        }
        // Lists of two structs of one shape have the same name and nothing else in common.
        self.walk.last_list = ("", 0);
        Ok(Struct { walk: self.walk, at: self.at, shape })
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), NotAShape> {
        value.serialize(self)
    }

    not_in_the_model!();
}

/// A list: one numbered member per element.
struct List<'w, 's, S> {
    walk: &'w mut Walk<'s, S>,
    wire: WireName,
    count: usize,
}

impl<S: Sink> ser::SerializeSeq for List<'_, '_, S> {
    type Ok = ();
    type Error = NotAShape;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NotAShape> {
        self.count += 1;
        value.serialize(Place { walk: self.walk, at: Some(At { wire: self.wire, index: Some(self.count) }) })
    }

    fn end(self) -> Result<(), NotAShape> {
        self.walk.last_list = (self.wire.name, self.count);
        Ok(())
    }
}

/// A map: one numbered member per entry, with a key and a value in it.
struct Map<'w, 's, S> {
    walk: &'w mut Walk<'s, S>,
    wire: WireName,
    count: usize,
}

impl<S: Sink> Map<'_, '_, S> {
    fn half<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), NotAShape> {
        let at = At { wire: WireName { name, ..WireName::default() }, index: None };
        value.serialize(Place { walk: self.walk, at: Some(at) })
    }
}

impl<S: Sink> ser::SerializeMap for Map<'_, '_, S> {
    type Ok = ();
    type Error = NotAShape;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), NotAShape> {
        self.count += 1;
        self.walk.sink.enter(self.wire.name, Some(self.count));
        self.half(self.wire.pair.0, key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NotAShape> {
        self.half(self.wire.pair.1, value)?;
        self.walk.sink.leave(self.wire.name);
        Ok(())
    }

    fn end(self) -> Result<(), NotAShape> {
        Ok(())
    }
}

/// A struct: its members.
struct Struct<'w, 's, S> {
    walk: &'w mut Walk<'s, S>,
    at: Option<At>,
    shape: &'static str,
}

impl<S: Sink> ser::SerializeStruct for Struct<'_, '_, S> {
    type Ok = ();
    type Error = NotAShape;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        member: &'static str,
        value: &T,
    ) -> Result<(), NotAShape> {
        let wire = wire_name(self.shape, member);
        value.serialize(Place { walk: self.walk, at: Some(At { wire, index: None }) })
    }

    fn end(self) -> Result<(), NotAShape> {
        if let Some(At { wire, .. }) = self.at {
            self.walk.sink.leave(wire.name);
        }
        Ok(())
    }
}
